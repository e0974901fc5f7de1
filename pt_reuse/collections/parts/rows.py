"""Rows of a user's own file, such as documents or topics: JSON lines, CSV or tab-separated lines, packed or not."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import keyword
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError
from pt_reuse.formats.files import packed_with

#: ending of a file -> its format
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".csv": "csv"}
_OPENERS: dict[str | None, Any] = {None: open, "gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error)

Row = dict[str, Any]


class Columns(NamedTuple):
    """The columns of tab-separated lines: names of the first in a header, all without one, and tabs in the last."""

    ids: Sequence[str]
    names: Sequence[str]
    spill: bool = False


def format_by_ending(path: Path) -> str | None:
    """Return ``"jsonl"``, ``"tsv"`` or ``"csv"`` by the ending of a file, ``.gz`` aside; None for others."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in (".gz", ".bz2", ".xz"):
        suffixes.pop()
    return ENDINGS.get(suffixes[-1]) if suffixes else None


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that may be packed, as its first bytes say, to be read piece by piece.

    Raises:
        InputError: a packing that cannot be read so, or a damaged file.
    """
    try:
        with path.open("rb") as file:
            packed = packed_with(file.read(16))
        if packed not in _OPENERS:
            raise InputError(f"packed with {packed}. Unpack it, or pack it with gzip.", place=str(path))
        with _OPENERS[packed](path, "rb") as file:
            yield file
    except _BROKEN as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read, or is damaged ({why}).", place=str(path)) from error


def read_rows(file: IO[bytes], kind: str, path: Path, columns: Columns) -> Iterator[tuple[str, Row]]:
    """Yield where each row stands, and the row: name -> value.

    Args:
        file: the bytes.
        kind: ``"jsonl"``, ``"csv"`` (with a header) or ``"tsv"``.
        path: of the file, for errors.
        columns: of a file of kind ``"tsv"``.

    Raises:
        InputError: a file that is none of that kind, with its line.
    """
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text:
        lines = _Lines(text)
        try:
            rows = _json(lines) if kind == "jsonl" else _csv(lines) if kind == "csv" else _tabs(lines, columns)
            for row in rows:
                yield f"{path}, line {lines.number:,}", row
        except (csv.Error, ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            what = "no UTF-8" if isinstance(error, UnicodeDecodeError) else f"cannot be read as {kind}"
            raise InputError(f"{what}: {error}. Mend the file.", place=f"{path}, line {lines.number:,}") from error


def with_id(row: Row, names: Sequence[str], what: str, place: str) -> tuple[str, Row]:
    """Return the id of a row, from the first of the names that it has, and the rest of the row.

    Raises:
        InputError: no id, or one that no run or qrels file could hold.
    """
    key = next((name for name in names if name in row), None)
    if key is None:
        raise InputError(f"no {what} id. Expected a field {names[0]!r}, it has {examples(row, 12)}.", place=place)
    value = str(row[key]) if isinstance(row[key], int) and not isinstance(row[key], bool) else row[key]
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"no id of the {what}, got {value!r}.", place=place)
    if len(value.split()) != 1 or value != value.strip():
        raise InputError(f"the id {value!r} of the {what} has white space, which run files cannot hold.", place=place)
    return value, {name: cell for name, cell in row.items() if name != key}


def is_field(name: str) -> bool:
    """Return whether a name can be a field of ir_datasets' records."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


class _Lines:
    """Lines of a text, with the number of the one that was read last."""

    def __init__(self, text: IO[str]):
        self._text, self.number = text, 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self.number += 1
        return next(self._text)


def _json(lines: _Lines) -> Iterator[Row]:
    for line in lines:
        if line.strip():
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"expected one object a line, got {type(row).__name__}")
            yield row


def _csv(lines: _Lines) -> Iterator[Row]:
    reader = csv.DictReader(lines, strict=True)
    reader.fieldnames = header = [name.strip() for name in reader.fieldnames or ()]
    if len(set(header)) < len(header):
        raise ValueError(f"a column stands twice in the header {examples(header, 12)}")
    for row in reader:
        if None in row or None in row.values():
            raise ValueError(f"expected {count(len(header), 'cell')}, as the header has")
        if any(cell.strip() for cell in row.values()):
            yield row


def _tabs(lines: _Lines, columns: Columns) -> Iterator[Row]:
    names = columns.names
    for line in lines:
        cells = line.rstrip("\r\n").split("\t", len(names) - 1 if columns.spill else -1)
        if lines.number == 1 and cells[0].strip().lower() in columns.ids:
            names = [cell.strip().lower() for cell in cells]
        elif line.strip():
            if len(cells) != len(names):
                raise ValueError(f"expected {', tab, '.join(names)}; got {count(len(cells), 'cell')}")
            yield dict(zip(names, cells, strict=True))
