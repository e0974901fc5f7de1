"""Files for people who judge: their sheets, the labels they may give, and the manifest that says what went out."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pt_reuse._check import examples, listed, shown
from pt_reuse._files import read_file, replacing
from pt_reuse._saving import CsvReader
from pt_reuse.data.csv_files import SEPARATORS
from pt_reuse.data.frame_columns import LABELS
from pt_reuse.errors import InputError, located

#: what a spreadsheet may take for the beginning of a formula, as letters of full width, too
_FORMULA = "=+-@＝＋－＠"
#: what keeps a cell a text
_GUARD = "'"
#: characters that a cell holds in the spreadsheets in use; a longer one is cut, or spills into the next
LONGEST_CELL = 32_767
#: digits of a number that a spreadsheet keeps, and digits of one that it shows without an exponent
_KEPT, _SHOWN = 15, 11
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*"
_BETWEEN = r"[-/. ]+"
#: what may be taken for a date, and what a date is written as
_DATE = re.compile(
    rf"\d{{1,4}}{_BETWEEN}\d{{1,2}}({_BETWEEN}\d{{1,4}})?|{_MONTH}[-/. ]*\d+|\d+[-/. ]*{_MONTH}({_BETWEEN}\d+)?",
    re.IGNORECASE,
)


def drawn(seed: int, *names: str) -> str:
    """Return a random text for some names; an order by it tells nothing of the one in which things came."""
    # a length before each name, so that no two lists of names are one text
    parts = [f"{len(name)}:{name}" for name in (str(seed), *names)]
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def guarded(cell: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula (OWASP, "CSV Injection")."""
    begins = cell.lstrip()[:1]
    needs = cell[:1] in ("\t", "\r", "\n", _GUARD) or (begins and begins in _FORMULA)
    return _GUARD + cell if cell and needs else cell


def restored(cell: str) -> str:
    """Return the text of a cell that was guarded."""
    return cell.removeprefix(_GUARD)


def sheet_text(text: str) -> str:
    """Return a text as a cell can hold it: cut where it is too long, without what no file can hold."""
    text = storable(text)
    if len(text) < LONGEST_CELL:
        return text
    kept = LONGEST_CELL - 60
    return f"{text[:kept]} [cut here: {len(text) - kept:,} more characters]"


def storable(text: str) -> str:
    """Return a text with a mark for what databases, JSON and XML cannot hold: NUL, control characters, stray bytes."""
    text = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def write_sheet(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows of texts as CSV; it begins with the mark by which spreadsheets know UTF-8."""
    held = io.StringIO(newline="")
    writer = csv.writer(held)
    writer.writerow(header)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return held.getvalue().encode("utf-8-sig")


def read_sheet(data: bytes, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the cells of each row of a CSV file, as whatever program saved it, but for empty rows."""
    text = _decoded(data).replace("\0", "")
    # what a spreadsheet writes above the header to say how cells are separated
    about = re.match(r"sep=.(\r\n|\n|\r)", text)
    above = 1 if about else 0
    text = text[about.end() :] if about else text
    header, separator = _header(text, needed)
    reader, line, is_header = _csv(text, separator, strict=True), above, True
    try:
        for row in reader:
            at, line = line + 1, reader.line_num + above
            if not any(cell.strip() for cell in row):
                continue
            if any(cell.strip() for cell in row[len(header) :]):
                problem = f"{len(row)} cells under a header of {len(header)}. "
                advice = "Save the sheet as CSV once more, with quotes around texts."
                raise InputError(f"{problem}{advice}", place=f"line {at:,}")
            if not is_header:
                # programs leave out empty cells at the end
                yield at, dict(zip(header, [*row, *[""] * len(header)], strict=False))
            is_header = False
    except csv.Error as error:
        problem = f"no CSV from here on ({error}). Save the sheet as CSV once more."
        raise InputError(problem, place=f"line {line + 1:,}") from error


def _csv(text: str, separator: str, **options: Any) -> Any:
    return CsvReader(io.StringIO(text, newline=""), delimiter=separator, **options)


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _header(text: str, needed: Sequence[str]) -> tuple[list[str], str]:
    for separator in SEPARATORS:
        try:
            found: list[str] = next((row for row in _csv(text, separator) if any(map(str.strip, row))), [])
        except csv.Error:
            continue
        names = [cell.strip() for cell in found]
        if all(names.count(name) == 1 for name in needed):
            return names, separator
    missing = f"no header that has {examples(needed, len(needed))} once"
    raise InputError(f"{missing}. Keep the first line as it was written.", place="line 1")


def changed_by_sheet(cell: str, was: str) -> bool:
    """Return whether a cell is what a spreadsheet can make of an id: a number, a date, capitals, marks for letters."""
    cell, was = cell.strip().removeprefix(_GUARD), was.strip()
    if cell.casefold() == was.casefold():
        return True
    number, old = _number(cell), _number(was)
    if number is not None and old is not None:
        if number == old or not was.isdecimal() or len(was) <= _SHOWN:
            return number == old
        shown_short = "e" in cell.casefold() and math.isclose(number, old, rel_tol=5e-6)
        return shown_short or cell == was[:_KEPT].ljust(len(was), "0")
    if _DATE.fullmatch(was) and (_DATE.fullmatch(cell) or number is not None):
        return True
    alike = zip(cell, was, strict=False)
    unknown = "?\N{REPLACEMENT CHARACTER}"
    return (
        len(cell) == len(was)
        and cell.isascii() != was.isascii()
        and all(a == b or (a in unknown and not b.isascii()) for a, b in alike)
    )


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.replace(",", ".") if text.count(",") == 1 else text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


#: the scale where nobody gives another
DEFAULT = {0: "not relevant", 1: "relevant"}
#: a number, and perhaps its word behind it: "1", "1.0", "1: relevant", "1 = relevant"
_NUMBERED = re.compile(r"(-?\d{1,5})(?:[.,]0+)?(?:\s*[-:=.)–—]?\s*(\D.*))?", re.DOTALL)


@dataclass(frozen=True)
class Scale:
    """The labels that people may give."""

    words: Mapping[int, str]

    @classmethod
    def of(cls, labels: Any) -> Scale:
        words = dict(labels) if isinstance(labels, Mapping) else {}
        odd = [label for label, word in words.items() if not (_is_label(label) and _is_word(word))]
        plain = [_plain(word) for word in words.values()] if not odd else []
        if len(words) < 2 or odd or len(set(plain)) < len(plain):
            got = f"{shown(odd[0])}: {shown(words[odd[0]])}" if odd else shown(labels)
            raise InputError(
                f"labels must be a dict of two labels or more and a different word for each, such as {DEFAULT}: "
                f"labels are whole numbers from {LABELS[0]} to {LABELS[1]} but -1, which means pooled and not "
                f"judged, words stand on one line and are no numbers; got {got}.",
                argument="labels",
            )
        return cls({int(label): " ".join(words[label].split()) for label in sorted(words)})

    def read(self, answer: Any) -> int | None:
        """Return the label that somebody's answer means, None where it is none of the scale."""
        if not isinstance(answer, str):
            number = isinstance(answer, int | float) and not isinstance(answer, bool)
            return int(answer) if number and answer in self.words else None
        by_word = {_plain(word): label for label, word in self.words.items()}
        if _plain(answer) in by_word:
            return by_word[_plain(answer)]
        found = _NUMBERED.fullmatch(answer.strip())
        label = int(found[1]) if found else None
        right = found and (found[2] is None or by_word.get(_plain(found[2])) == label)
        return label if right and label in self.words else None

    def __str__(self) -> str:
        return listed([f"{label} ({word})" for label, word in self.words.items()])


def _is_label(label: Any) -> bool:
    whole = isinstance(label, int | np.integer) and not isinstance(label, bool)
    return bool(whole and LABELS[0] <= label <= LABELS[1] and label != -1)


def _is_word(word: Any) -> bool:
    stripped = word.strip() if isinstance(word, str) else ""
    return bool(stripped and word.isprintable() and not _NUMBERED.fullmatch(stripped))


def _plain(word: str) -> str:
    return " ".join(word.split()).casefold()


#: the file that makes a folder one of tasks
MANIFEST = "tasks.json"
#: where files go that come back
RETURNED = "returned"
#: to be raised when what the file holds changes its meaning
FORMAT = 1
_KIND = "tasks for people who judge"
#: a topic and a document
Key: TypeAlias = "tuple[str, str]"
#: what a cell that a pool has of a document can be
Cell: TypeAlias = "str | int | float | bool | None"


class TaskFormat(Enum):
    """The form of the files that people get; the value is what a user calls it."""

    CSV = "csv"
    JSONL = "jsonl"
    DOCCANO = "doccano"
    LABEL_STUDIO = "label-studio"

    @property
    def ending(self) -> str:
        return {"csv": "csv", "jsonl": "jsonl", "doccano": "jsonl", "label-studio": "json"}[self.value]

    @property
    def filled_in_place(self) -> bool:
        return self in (TaskFormat.CSV, TaskFormat.JSONL)


@dataclass(frozen=True)
class Pair:
    """A document to be judged for a topic."""

    name: str  # in the files; no spreadsheet takes it for a number or a date
    qid: str
    docno: str
    wanted: int  # how many people are to judge it
    asked: tuple[str, ...]  # who was asked; empty where anybody may answer
    strategy: str | None
    round: int
    reason: str | None
    further: Mapping[str, Cell]  # what else the pool knows of it

    @property
    def key(self) -> Key:
        return self.qid, self.docno

    @property
    def words(self) -> str:
        return f"topic {shown(self.qid)}, document {shown(self.docno)}"


@dataclass(frozen=True)
class TaskFile:
    """A file that was written for people."""

    name: str
    annotator: str | None
    pairs: int
    sha256: str


@dataclass(frozen=True)
class Round:
    """One export into the folder."""

    number: int
    seed: int
    overlap: float
    annotators: tuple[str, ...]
    files: tuple[TaskFile, ...]
    pool: Mapping[str, str]


@dataclass(frozen=True)
class Manifest:
    """What is known of a folder of tasks."""

    task: str  # that every file and every row bears, by which those of another task are known
    form: TaskFormat
    scale: Scale
    instructions: str
    named: bool  # whether annotators were named; else anybody may answer
    rounds: tuple[Round, ...]
    pairs: tuple[Pair, ...]

    @cached_property
    def by_name(self) -> dict[str, Pair]:
        return {pair.name: pair for pair in self.pairs}

    @cached_property
    def by_ids(self) -> dict[Key, list[Pair]]:
        """Return (topic, document) as files have them -> the pairs that look like that there, mostly one."""
        found: dict[Key, list[Pair]] = {}
        for pair in self.pairs:
            found.setdefault((storable(pair.qid), storable(pair.docno)), []).append(pair)
        return found

    @cached_property
    def by_key(self) -> dict[Key, Pair]:
        return {pair.key: pair for pair in self.pairs}

    @cached_property
    def annotators(self) -> tuple[str, ...]:
        """Return who was named in any round, in order of appearance."""
        return tuple(dict.fromkeys(annotator for each in self.rounds for annotator in each.annotators))

    @cached_property
    def files(self) -> dict[str, TaskFile]:
        return {file.name: file for each in self.rounds for file in each.files}

    def write(self, folder: Path) -> None:
        """Write it; what was there stays until all of it is written."""
        body: dict[str, Any] = {
            "kind": _KIND,
            "format": FORMAT,
            "task": self.task,
            "form": self.form.value,
            "labels": {str(label): word for label, word in self.scale.words.items()},
            "instructions": self.instructions,
            "named": self.named,
            "rounds": [asdict(each) for each in self.rounds],
            # a pair is flat but for what the pool knows of it, and there may be many
            "pairs": [{**vars(pair), "further": dict(pair.further)} for pair in self.pairs],
        }
        parts = {**body, "checksum": _checksum(body)}
        # a line for each part, and for each pair
        pairs = ",\n".join(map(json.dumps, body["pairs"]))
        lines = [f'"{name}": ' + (f"[\n{pairs}\n]" if name == "pairs" else json.dumps(parts[name])) for name in parts]
        with replacing(folder / MANIFEST) as file:
            file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii"))


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder of tasks."""
    with located(str(folder)):
        try:
            found = json.loads(read_file(folder / MANIFEST))
        except (FileNotFoundError, NotADirectoryError):
            problem = f"no tasks: it has no {MANIFEST}" if folder.is_dir() else "there is no such folder"
            advice = ". Give a folder that export_tasks() wrote."
            raise InputError(f"{problem}{advice}", argument="folder") from None
        except (ValueError, RecursionError) as error:
            raise _changed("no JSON") from error
        except OSError as error:
            raise _changed(error.strerror) from error
        if not isinstance(found, dict) or found.get("kind") != _KIND:
            raise InputError(f"its {MANIFEST} is none of tasks for people.", argument="folder")
        version = found.get("format")
        if isinstance(version, int) and version > FORMAT:
            versions = f"format {version}; this one reads up to {FORMAT}"
            raise InputError(f"written by a newer pt_reuse ({versions}). Update pt_reuse.", argument="folder")
        if found.pop("checksum", None) != _checksum(found):
            raise _changed("its checksum is another")
        try:
            return _manifest(found)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _changed(error) from error


def _manifest(body: Mapping[str, Any]) -> Manifest:
    rounds = []
    for each in body["rounds"]:
        files = tuple(TaskFile(**file) for file in each["files"])
        rounds.append(Round(**{**each, "annotators": tuple(each["annotators"]), "files": files}))
    return Manifest(
        task=body["task"],
        form=TaskFormat(body["form"]),
        scale=Scale({int(label): word for label, word in body["labels"].items()}),
        instructions=body["instructions"],
        named=body["named"],
        rounds=tuple(rounds),
        pairs=tuple(Pair(**{**pair, "asked": tuple(pair["asked"])}) for pair in body["pairs"]),
    )


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _changed(what: object) -> InputError:
    return InputError(
        f"{MANIFEST} was changed or is damaged ({what}). Put back the file as it was written: it says what was asked "
        "of whom.",
        argument="folder",
    )
