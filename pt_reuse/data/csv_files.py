"""The one reader of CSV files: bytes, packed or not, into a frame of texts whose rows know their lines."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, listed, shown
from pt_reuse._files import user_path
from pt_reuse._saving import CsvReader
from pt_reuse.arrays import tokens
from pt_reuse.data.frame_columns import plain_decimal
from pt_reuse.data.packed_files import UnreadableError, read_bytes, read_members
from pt_reuse.errors import InputError

#: what stands between the cells; in many languages a spreadsheet writes semicolons
SEPARATORS = (",", ";", "\t", "|")
#: white space of bytes; a no-break space may be part of a name
WHITE = " \t\n\r\v\f"
#: what a frame of labels of several annotators must have
LABEL_COLUMNS = ("qid", "docno", "label", "annotator")
#: columns that say how long a label took, or when it was given
TIMES = ("seconds", "lead_time", "start", "end", "time")
_BOM = b"\xef\xbb\xbf"
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class CsvTable:
    """The rows of a CSV file."""

    frame: pd.DataFrame  # a text in every cell, an empty one where nothing stands
    lines: NDArray[np.int64]  # (rows,) the line on which each row begins

    def place(self, row: int, column: str | None = None) -> str:
        """Return the line of a row in words, and the column."""
        return f"line {int(self.lines[row]):,}" + ("" if column is None else f", column {shown(column)}")

    def of_judgments(self) -> CsvTable:
        """Return the same with our names of columns of judgments."""
        return replace(self, frame=self.frame.rename(columns=judgment_header(list(self.frame.columns))))

    def need(self, columns: Iterable[str], argument: str | None = None) -> None:
        """Raise where the file has no such column."""
        lacking = [column for column in columns if column not in self.frame]
        if lacking:
            problem = f"there is no column {examples(lacking)} among {examples(self.frame.columns, 12)}. Name the "
            raise InputError(f"{problem}columns in the first line.", argument=argument)

    def check_filled(self, *columns: str, argument: str | None = None) -> None:
        """Raise where a cell of some columns is empty."""
        for column in columns:
            blank = np.flatnonzero([not cell.strip(WHITE) for cell in self.frame[column]])
            if len(blank):
                place = self.place(int(blank[0]), column)
                raise InputError("the cell is empty. Fill it in or drop the line.", argument=argument, place=place)

    def numbers(self, column: str, argument: str | None = None) -> NDArray[np.float64]:
        """Return a column of numbers, NaN for an empty cell."""
        cells = [cell.strip(WHITE) for cell in self.frame[column]]
        values = np.array([plain_decimal(cell.encode("utf-8", "replace")) for cell in cells], dtype=np.float64)
        odd = [row for row in np.flatnonzero(~np.isfinite(values)).tolist() if cells[row]]
        if odd:
            problem = f"expected a finite decimal number, got {shown(cells[odd[0]])}. Mend the line."
            raise InputError(problem, argument=argument, place=self.place(odd[0], column))
        return values


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file that may be packed, an archive of one file included; an UnreadableError says why not.

    Bytes that are not UTF-8 are kept as in run files.
    """
    file = user_path(path)
    try:
        if "\0" in str(file) or not file.exists():
            raise UnreadableError("does not exist")
        if file.is_dir():
            raise UnreadableError("is a folder")
    except OSError as error:
        raise UnreadableError(f"cannot be looked up: {error.strerror or error}") from error
    data = read_bytes(file)
    if data.startswith(_ZIP):
        # programs of macOS put files of their own beside what they pack
        members = list(
            read_members(file, lambda name: not any(part.startswith((".", "__MACOSX")) for part in name.parts))
        )
        if len(members) != 1:
            raise UnreadableError(f"is an archive of {count(len(members), 'file')}; an archive of one can be read")
        data = members[0][1]
    if b"\0" in data:
        raise UnreadableError("has a NUL byte, so it is not a plain text file of UTF-8 (UTF-16?)")
    if not data.strip():
        raise UnreadableError("is empty")
    return tokens.as_texts([data.removeprefix(_BOM)])[0]


def read_csv(path: str | os.PathLike[str], argument: str | None = None, *, utf8: bool = False) -> CsvTable:
    """Read CSV with a header; with `utf8`, bytes that are not UTF-8 are refused."""
    return parse_csv(lines_of(read_utf8(path, argument, any_bytes=not utf8)), argument)


def read_utf8(path: str | os.PathLike[str], argument: str | None = None, *, any_bytes: bool = False) -> str:
    """Return the text of a file as :func:`read_text` does; what is no UTF-8 is an InputError, except with any_bytes."""
    try:
        text = read_text(path)
    except UnreadableError as error:
        raise InputError(f"the file {error}. Give text in UTF-8.", argument=argument) from error
    if not any_bytes and (odd := re.search("[\udc80-\udcff]", text)):
        problem = f"the byte 0x{ord(odd[0]) - 0xDC00:02X} is no UTF-8. Save the file as UTF-8."
        raise InputError(problem, argument=argument, place=f"line {text.count(chr(10), 0, odd.start()) + 1:,}")
    return text


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, whichever system wrote it; a carriage return alone ends none."""
    return [line.removesuffix("\r") for line in text.split("\n")]


#: our name of a column of judgments -> what files call it, without case, spaces and marks, the likeliest first
_ROLES = {
    "qid": ("qid", "queryid", "topicid", "topic", "query", "q"),
    "docno": ("docno", "docid", "corpusid", "documentid", "passageid", "pid", "did", "document", "doc"),
    "label": ("label", "relevance", "rel", "grade", "judgment", "judgement", "qrel", "score"),
}
#: columns of results, beside which a score is no label
_OF_RESULTS = {"rank", "name", "system", "run", "runid", "tag"}
#: of judgments known by a header, further columns that have a name of ours
_OTHERS = {"iter": "iteration", "q0": "iteration"}
#: how far a header is looked for, in bytes
BEGINNING = 1 << 16


def judgment_header(cells: Sequence[str]) -> dict[str, str]:
    """Return the names of columns of judgments -> ours, nothing where they do not name topic, document and label."""
    plain = {re.sub(r"[\s_-]", "", cell.strip(' "')).lower(): cell for cell in reversed(cells)}
    found: dict[str, str] = {}
    for ours, names in _ROLES.items():
        there = next((plain[name] for name in names if name in plain), None)
        if there is None or there in found or (plain.get("score") == there and _OF_RESULTS & set(plain)):
            return {}
        found[there] = ours
    free = {theirs: ours for theirs, ours in _OTHERS.items() if theirs in plain and ours not in plain}
    return found | {plain[theirs]: ours for theirs, ours in free.items()}


def headed_judgments(data: bytes) -> list[str] | None:
    """Return the names in the first line of judgments, where it has names in place of values, else None."""
    for line in data[:BEGINNING].removeprefix(_BOM).split(b"\n"):
        if line.strip() and not line.lstrip().startswith(b"#"):
            header = line.decode("utf-8", "replace").rstrip("\r")
            separator = separator_of(header)
            cells = [cell.strip(' "') for cell in (header.split(separator) if separator in header else header.split())]
            return cells if judgment_header(cells) else None
    return None


def read_judgment_rows(data: bytes, argument: str | None = None) -> CsvTable:
    """Return judgments that have a header as ``qid docno label`` and what else stands there."""
    lines = lines_of(tokens.as_texts([data.removeprefix(_BOM)])[0])
    first = next(i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    lines = lines[first:]
    if separator_of(lines[0]) not in lines[0]:
        lines = ["\t".join(line.split()) for line in lines]
    return parse_csv(lines, argument, first_line=first + 1).of_judgments()


def separator_of(header: str) -> str:
    """Return what stands between the cells of a header: a tab where it has one, else what it has most of."""
    return "\t" if "\t" in header else max(SEPARATORS, key=header.count)


def parse_csv(lines: Sequence[str], argument: str | None = None, *, first_line: int = 1) -> CsvTable:
    """Return the rows of CSV; the first line that is not blank is the header."""
    blank = next((i for i, line in enumerate(lines) if line.strip(WHITE)), 0)
    lines, first_line = lines[blank:], first_line + blank
    header: list[str] | None = None
    rows: list[list[str]] = []
    at: list[int] = []
    reader = CsvReader((f"{line}\n" for line in lines), delimiter=separator_of(lines[0]), strict=True)
    line = 0
    try:
        for row in reader:
            if header is None:
                header = [cell.strip(WHITE) for cell in row]
            elif any(cell.strip(WHITE) for cell in row):
                if len(row) != len(header):
                    raise csv.Error(f"{count(len(row), 'cell')} where the header has {len(header):,}")
                rows.append(row)
                at.append(first_line + line)
            # the next row begins here
            line = reader.line_num
    except csv.Error as error:
        problem = f"the line cannot be read as CSV ({error}). Mend it."
        raise InputError(problem, argument=argument, place=f"line {first_line + line:,}") from error
    header = header or []
    columns = {i: pd.Series([row[i] for row in rows], dtype=object) for i in range(len(header))}
    # spreadsheets write separators behind the last column
    kept = [i for i, name in enumerate(header) if name or any(cell.strip(WHITE) for cell in columns[i])]
    frame = pd.DataFrame({i: columns[i] for i in kept}).set_axis([header[i] for i in kept], axis=1)
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise InputError(f"more than one column {examples(twice)}.", argument=argument, place=f"line {first_line:,}")
    return CsvTable(frame, np.array(at, dtype=np.int64))


def read_csv_labels(path: Path) -> pd.DataFrame:
    """Return ``qid docno label``, and ``annotator`` and times where they are there, as texts; None where empty."""
    table = read_csv(path, "files").of_judgments()
    frame = table.frame
    check_label_columns(frame, LABEL_COLUMNS[:3], "a CSV file of labels", "files")
    table.check_filled(*(name for name in ("qid", "docno", "annotator") if name in frame), argument="files")
    table.numbers("label", "files")
    kept = frame[[column for column in (*LABEL_COLUMNS, *TIMES) if column in frame]]
    return kept.apply(lambda cells: cells.where(cells.str.strip() != "", None) if cells.name != "annotator" else cells)


def check_label_columns(frame: pd.DataFrame, needed: Sequence[str], what: str, argument: str) -> None:
    """Raise where a frame of labels lacks a column."""
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        problem = f"{examples(missing)} not among {examples(frame.columns, 12)}"
        raise InputError(f"{what} must have the columns {listed(LABEL_COLUMNS)}; {problem}.", argument=argument)
