"""Files for people who judge: their sheets, the labels they may give, and the manifest that says what went out."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from pt_reuse._check import listed, shown
from pt_reuse._files import read_file, replacing
from pt_reuse._saving import CsvReader
from pt_reuse.data.csv_files import separator_of
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.errors import InputError, located
from pt_reuse.judge import is_label

#: what a spreadsheet may take for the beginning of a formula, as letters of full width, too
_FORMULA = "=+-@＝＋－＠"
#: what keeps a cell a text
_GUARD = "'"
#: characters that a cell holds in the spreadsheets in use; a longer one is cut, or spills into the next
LONGEST_CELL = 32_767
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


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


def storable(text: str) -> str:
    """Return a text with a mark for what databases, JSON and XML cannot hold: NUL, control characters, stray bytes."""
    text = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def sheet_text(text: str) -> str:
    """Return a text as a cell can hold it: cut where it is too long, without what no file can hold."""
    text = storable(text)
    if len(text) < LONGEST_CELL:
        return text
    kept = LONGEST_CELL - 60
    return f"{text[:kept]} [cut here: {len(text) - kept:,} more characters]"


def write_sheet(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows of texts as CSV; it begins with the mark by which spreadsheets know UTF-8."""
    held = io.StringIO(newline="")
    writer = csv.writer(held)
    writer.writerow(header)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return held.getvalue().encode("utf-8-sig")


def read_sheet(data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the cells of each row of a CSV file, as whatever program saved it, but for empty rows."""
    # what a spreadsheet writes above the header to say how cells are separated becomes an empty line
    text = re.sub(r"\Asep=.(?=[\r\n])", "", _decoded(data).replace("\0", ""))
    first = next((line for line in text.splitlines() if line.strip()), "")
    reader = CsvReader(io.StringIO(text, newline=""), delimiter=separator_of(first), strict=True)
    header, line = list[str](), 0
    try:
        for row in reader:
            at, line = line + 1, reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip() for cell in row]
                if header.count("label") != 1:
                    break
                continue
            if any(cell.strip() for cell in row[len(header) :]):
                problem = f"{len(row)} cells under a header of {len(header)}. "
                advice = "Save the sheet as CSV once more, with quotes around texts."
                raise InputError(f"{problem}{advice}", place=f"line {at:,}")
            # programs leave out empty cells at the end
            yield at, dict(zip(header, [*row, *[""] * len(header)], strict=False))
    except csv.Error as error:
        problem = f"no CSV from here on ({error}). Save the sheet as CSV once more."
        raise InputError(problem, place=f"line {line + 1:,}") from error
    if header.count("label") != 1:
        problem = "no header that has 'label' once. Keep the first line as it was written."
        raise InputError(problem, place=f"line {line:,}")


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


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
        """Return a user's ``labels=``, or say what is wrong with them."""
        if is_judgments(labels):
            highest = max(int(as_qrels(labels, "labels").arrays.labels.max(initial=0)), 1)
            labels = DEFAULT if highest == 1 else {label: f"grade {label}" for label in range(highest + 1)}
        words = dict(labels) if isinstance(labels, Mapping) else {}
        odd = [label for label, word in words.items() if not (is_label(label) and label != -1 and _is_word(word))]
        plain = [] if odd else [_plain(word) for word in words.values()]
        if len(words) < 2 or odd or len(set(plain)) < len(plain):
            got = f"{shown(odd[0])}: {shown(words[odd[0]])}" if odd else shown(labels)
            what = f"a dict of two whole numbers or more (-1 means not judged) -> a word each, such as {DEFAULT}"
            raise InputError(f"labels must be {what}, got {got}.", argument="labels")
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


def is_judgments(labels: Any) -> bool:
    """Return whether labels are given by judgments that have them."""
    return isinstance(labels, Qrels | pd.DataFrame) or hasattr(labels, "to_qrels")


def _is_word(word: Any) -> bool:
    stripped = word.strip() if isinstance(word, str) else ""
    return bool(stripped and word.isprintable() and not _NUMBERED.fullmatch(stripped))


def _plain(word: str) -> str:
    return " ".join(word.split()).casefold()


#: the file that makes a folder one of tasks, and where files go that come back
MANIFEST, RETURNED = "tasks.json", "returned"
#: the forms of the files that people get
SHEET, LABEL_STUDIO = "csv", "label-studio"
_KIND = "tasks for people who judge"
#: a topic and a document
Key: TypeAlias = "tuple[str, str]"


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
    further: Mapping[str, Any]  # what else the pool knows of it

    @property
    def key(self) -> Key:
        return self.qid, self.docno

    @property
    def words(self) -> str:
        return f"topic {shown(self.qid)}, document {shown(self.docno)}"


@dataclass(frozen=True)
class Manifest:
    """What is known of a folder of tasks."""

    task: str  # that every file and every row bears, by which those of another task are known
    form: str
    scale: Scale
    instructions: str
    annotators: tuple[str, ...]  # who was named in any round; none where anybody may answer
    rounds: int
    files: Mapping[str, str | None]  # file -> the annotator whose it is
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

    def write(self, folder: Path) -> None:
        """Write it; what was there stays until all of it is written."""
        body = {field.name: getattr(self, field.name) for field in fields(self)}
        body |= {"kind": _KIND, "scale": self.scale.words, "pairs": [vars(pair) for pair in self.pairs]}
        text = json.dumps(body, indent=0)
        with replacing(folder / MANIFEST) as file:
            file.write(json.dumps({"checksum": _checksum(text), **json.loads(text)}, indent=0).encode("ascii"))


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder of tasks."""
    with located(str(folder)):
        try:
            found = json.loads(read_file(folder / MANIFEST))
            checksum, kind = found.pop("checksum"), found["kind"]
            if kind != _KIND or checksum != _checksum(json.dumps(found, indent=0)):
                raise ValueError("not as it was written")
        except (FileNotFoundError, NotADirectoryError):
            problem = f"no tasks: it has no {MANIFEST}" if folder.is_dir() else "there is no such folder"
            raise InputError(f"{problem}. Give a folder that export_tasks() wrote.", argument="folder") from None
        except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            problem = f"its {MANIFEST}, which says what was asked of whom, was changed or is damaged. "
            raise InputError(f"{problem}Put back the file as it was written.", argument="folder") from error
    del found["kind"]
    found["scale"] = Scale({int(label): word for label, word in found["scale"].items()})
    pairs = tuple(Pair(**{**pair, "asked": tuple(pair["asked"])}) for pair in found["pairs"])
    return Manifest(**{**found, "annotators": tuple(found["annotators"]), "pairs": pairs})


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
