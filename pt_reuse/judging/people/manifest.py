"""Files for people who judge: their sheets, the texts in them, and the manifest that says what went out."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, examples, listed, shown, told
from pt_reuse._errors import Argument, Call, InputError, located, warn
from pt_reuse._files import read_file, replacing
from pt_reuse._saving import CsvReader
from pt_reuse.data.frame_columns import LABELS
from pt_reuse.judging.annotators.labels import SEPARATORS


def drawn(seed: int, *names: str) -> str:
    """Return a random text for some names; to sort by it is to shuffle.

    Whoever sorts by what is drawn for each thing gets an order that tells nothing of the one in which they came.
    """
    # a length before each name, so that no two lists of names are one text
    parts = [f"{len(name)}:{name}" for name in (str(seed), *names)]
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


#: what a spreadsheet may take for the beginning of a formula, as letters of full width, too
_FORMULA = "=+-@＝＋－＠"
#: what keeps a cell a text
_GUARD = "'"
#: characters that a cell holds in the spreadsheets in use; a longer one is cut, or spills into the next
LONGEST_CELL = 32_767
#: digits of a number that a spreadsheet keeps, and digits of one that it shows without an exponent
_KEPT, _SHOWN = 15, 11
#: the largest exponent of a number of a spreadsheet
_LARGEST = 308
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*"
_BETWEEN = r"[-/. ]+"
#: what may be taken for a date, and what a date is written as
_DATE = re.compile(
    rf"\d{{1,4}}{_BETWEEN}\d{{1,2}}({_BETWEEN}\d{{1,4}})?|{_MONTH}[-/. ]*\d+|\d+[-/. ]*{_MONTH}({_BETWEEN}\d+)?",
    re.IGNORECASE,
)


def guarded(cell: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula; :func:`restored` gives it back.

    Source: the first characters are those of OWASP's "CSV Injection".
    """
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


def read_sheet(data: bytes, needed: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the line and the cells of each row of a CSV file, as whatever program saved it; empty rows are left out.

    UTF-8 and UTF-16 are known by their marks, else a file that is no UTF-8 is taken for one of Western Europe. Commas,
    semicolons and tabs are known by the header.
    """
    text = _decoded(data).replace("\0", "")
    # what a spreadsheet writes above the header to say how cells are separated
    said = re.match(r"sep=.(\r\n|\n|\r)", text)
    line = 1 if said else 0
    text = text[said.end() :] if said else text
    return list(_rows(text, *_header(text, needed), line))


def _rows(text: str, header: list[str], separator: str, above: int) -> Iterator[tuple[int, dict[str, str]]]:
    reader = CsvReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line, is_header = above, True
    try:
        for row in reader:
            at, line = line + 1, reader.line_num + above
            if not any(cell.strip() for cell in row):
                continue
            if is_header:
                is_header = False
                continue
            if any(cell.strip() for cell in row[len(header) :]):
                raise InputError(
                    f"{len(row)} cells under a header of {len(header)}. Save the sheet as CSV once more, with quotes "
                    "around texts.",
                    place=f"line {at:,}",
                )
            # programs leave out empty cells at the end
            yield at, dict(zip(header, [*row, *[""] * len(header)], strict=False))
    except csv.Error as error:
        raise InputError(
            f"no CSV from here on ({error}). Save the sheet as CSV once more.", place=f"line {line + 1:,}"
        ) from error


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _header(text: str, needed: Sequence[str]) -> tuple[list[str], str]:
    for separator in SEPARATORS:
        reader = CsvReader(io.StringIO(text, newline=""), delimiter=separator)
        try:
            found = next((row for row in reader if any(cell.strip() for cell in row)), [])
        except csv.Error:
            continue
        names = [cell.strip() for cell in found]
        if set(needed) <= set(names):
            twice = [name for name in needed if names.count(name) > 1]
            if twice:
                raise InputError(
                    f"the header has {examples(twice)} more than once. Keep one column of each.", place="line 1"
                )
            return names, separator
    raise InputError(
        f"no header with {examples(needed, len(needed))}. Keep the first line as it was written.", place="line 1"
    )


def changed_by_sheet(cell: str, was: str) -> bool:
    """Return whether a cell is what a spreadsheet can make of an id: a number, a date, capitals, marks for letters."""
    cell, was = cell.strip().removeprefix(_GUARD), was.strip()
    if cell.casefold() == was.casefold():
        return True
    number, old = _number(cell), _number(was)
    if number is not None and old is not None:
        return number == old or _rounded(cell, number, was, old)
    if _DATE.fullmatch(was) and (_DATE.fullmatch(cell) or number is not None):
        return True
    if len(cell) != len(was) or cell.isascii() == was.isascii():
        return False
    return all(
        a == b or (a in "?\N{REPLACEMENT CHARACTER}" and not b.isascii()) for a, b in zip(cell, was, strict=True)
    )


def _rounded(cell: str, number: Decimal, was: str, old: Decimal) -> bool:
    """Return whether a number is what a spreadsheet keeps of a long one, or shows of it: 1.23457E+15."""
    if not was.isdecimal() or len(was) <= _SHOWN:
        return False
    if "e" in cell.casefold():
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int) or abs(number.adjusted()) > _LARGEST:
            # no number of a spreadsheet, nor one that can be computed with
            return False
        return abs(number - old) * 2 <= Decimal(10) ** exponent
    return len(was) > _KEPT and cell == was[:_KEPT] + "0" * (len(was) - _KEPT)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.replace(",", ".") if text.count(",") == 1 else text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


#: the scale where nobody gives another
DEFAULT = {0: "not relevant", 1: "relevant"}
#: what means "in the pool, not judged" in judgments, and so cannot be what somebody says
_UNJUDGED = -1
#: a number, and perhaps its word behind it: "1", "1.0", "1: relevant", "1 = relevant"
_NUMBERED = re.compile(r"(-?\d{1,5})(?:[.,]0+)?(?:\s*[-:=.)–—]?\s*(\D.*))?", re.DOTALL)


@dataclass(frozen=True)
class Scale:
    """The labels that people may give."""

    words: Mapping[int, str]

    @classmethod
    def of(cls, labels: Any) -> Scale:
        """Return the scale that a user gives as label -> word."""
        if not isinstance(labels, Mapping) or len(labels) < 2:
            raise _refused("must be a dict of at least two labels and their words", told(labels))
        words: dict[int, str] = {}
        for label, word in labels.items():
            if isinstance(label, bool) or not isinstance(label, int | np.integer):
                raise _refused("must have whole numbers as labels", told(label))
            if not LABELS[0] <= label <= LABELS[1] or label == _UNJUDGED:
                raise _refused(
                    f"must have labels from {LABELS[0]} to {LABELS[1]}, and not -1, which means pooled and not judged",
                    str(label),
                )
            if not isinstance(word, str) or not word.strip() or not word.isprintable():
                raise _refused(f"must have a word, on one line, for label {label}", told(word))
            if _NUMBERED.fullmatch(word.strip()):
                raise _refused(f"must have words that are no numbers, for label {label}", told(word))
            words[int(label)] = " ".join(word.split())
        alike = [word for word in words.values() if sum(_plain(word) == _plain(other) for other in words.values()) > 1]
        if alike:
            raise _refused("must have a different word for each label", f"{shown(alike[0])} more than once")
        return cls(dict(sorted(words.items())))

    @cached_property
    def _by_word(self) -> dict[str, int]:
        return {_plain(word): label for label, word in self.words.items()}

    def read(self, said: Any) -> int | None:
        """Return the label that somebody's answer means, None where it is none of the scale."""
        if isinstance(said, bool) or not isinstance(said, str | int | float):
            return None
        if not isinstance(said, str):
            return int(said) if said in self.words else None
        by_word = self._by_word
        if _plain(said) in by_word:
            return by_word[_plain(said)]
        found = _NUMBERED.fullmatch(said.strip())
        if found is None or int(found[1]) not in self.words:
            return None
        label = int(found[1])
        return label if found[2] is None or by_word.get(_plain(found[2])) == label else None

    def __str__(self) -> str:
        return listed([f"{label} ({word})" for label, word in self.words.items()])


def _plain(word: str) -> str:
    return " ".join(word.split()).casefold()


def _refused(requirement: str, got: str) -> InputError:
    return InputError(Argument("labels"), f" {requirement}, such as {DEFAULT}, got {got}.", argument="labels")


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
        """Return what ends the names of the files."""
        return {"csv": "csv", "jsonl": "jsonl", "doccano": "jsonl", "label-studio": "json"}[self.value]

    @property
    def filled_in_place(self) -> bool:
        """Return whether people write their labels into the files that they get."""
        return self in (TaskFormat.CSV, TaskFormat.JSONL)


@dataclass(frozen=True)
class Pair:
    """A document to be judged for a topic.

    Attributes:
        name: what it is called in the files; no spreadsheet takes it for a number or a date.
        qid: the topic.
        docno: the document.
        wanted: how many people are to judge it.
        asked: who was asked; empty where anybody may answer.
        strategy: how it was chosen, None where nobody says.
        round: in which round, from 1.
        reason: why, None where nobody says.
        further: what else the pool knows of it: column -> value.
    """

    name: str
    qid: str
    docno: str
    wanted: int
    asked: tuple[str, ...]
    strategy: str | None
    round: int
    reason: str | None
    further: Mapping[str, Cell]

    @property
    def key(self) -> Key:
        """Return topic and document."""
        return self.qid, self.docno


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
    """What is known of a folder of tasks.

    Attributes:
        task: a name that every file and every row bears, by which those of another task are told.
        form: of the files.
        scale: the labels.
        instructions: what people were told, "" for nothing.
        named: whether annotators were named; else anybody may answer.
        rounds: the exports.
        pairs: the pairs of all rounds.
    """

    task: str
    form: TaskFormat
    scale: Scale
    instructions: str
    named: bool
    rounds: tuple[Round, ...]
    pairs: tuple[Pair, ...]

    @cached_property
    def by_name(self) -> dict[str, Pair]:
        """Return name of the pair -> pair."""
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
        """Return (topic, document) -> pair."""
        return {pair.key: pair for pair in self.pairs}

    @cached_property
    def annotators(self) -> tuple[str, ...]:
        """Return who was named in any round, in order of appearance."""
        return tuple(dict.fromkeys(annotator for each in self.rounds for annotator in each.annotators))

    @cached_property
    def files(self) -> dict[str, TaskFile]:
        """Return name of the file -> file."""
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


def pair_name(task: str, key: Key) -> str:
    """Return what a pair is called: a letter that no number has before sixteen digits."""
    return "p" + drawn(0, task, *key)[:15]


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder of tasks."""
    with located(str(folder)):
        if not folder.is_dir():
            raise InputError(
                "there is no such folder. Give one that ", Call("export_tasks"), " wrote.", argument="folder"
            )
        try:
            found = json.loads(read_file(folder / MANIFEST))
        except FileNotFoundError:
            raise InputError(
                f"no tasks: it has no {MANIFEST}. Give a folder that ",
                Call("export_tasks"),
                " wrote.",
                argument="folder",
            ) from None
        except (ValueError, RecursionError) as error:
            raise _changed("no JSON") from error
        except OSError as error:
            raise _changed(error.strerror) from error
        if not isinstance(found, dict) or found.get("kind") != _KIND:
            raise InputError(f"its {MANIFEST} is none of tasks for people.", argument="folder")
        version = found.get("format")
        if isinstance(version, int) and version > FORMAT:
            raise InputError(
                f"written by a newer version of pt_reuse (format {version}; this one reads up to {FORMAT}). Update "
                "pt_reuse.",
                argument="folder",
            )
        body = {name: value for name, value in found.items() if name != "checksum"}
        if found.get("checksum") != _checksum(body):
            raise _changed("its checksum is another")
        try:
            return _manifest(body)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _changed(error) from error


def _manifest(body: Mapping[str, Any]) -> Manifest:
    return Manifest(
        task=body["task"],
        form=TaskFormat(body["form"]),
        scale=Scale({int(label): word for label, word in body["labels"].items()}),
        instructions=body["instructions"],
        named=body["named"],
        rounds=tuple(
            Round(
                **{
                    **each,
                    "annotators": tuple(each["annotators"]),
                    "files": tuple(TaskFile(**f) for f in each["files"]),
                }
            )
            for each in body["rounds"]
        ),
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


#: what is shown of a topic, in this order, where topics have it
TOPIC_FIELDS = ("query", "title", "description", "narrative")
#: what is shown of a document, in this order, where a corpus has it; else all its texts
_DOC_FIELDS = ("title", "text")


def topic_texts(topics: Any, qids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return topic -> field -> what people read of it; each topic has a query."""
    if isinstance(topics, Mapping):
        topics = pd.DataFrame({"qid": list(topics), "query": list(topics.values())}, dtype=object)
    if isinstance(topics, pd.DataFrame) and "query" not in topics and "title" in topics:
        # as ir_datasets has topics of several fields
        topics = topics.rename(columns={"title": "query"})
    if not isinstance(topics, pd.DataFrame) or not {"qid", "query"} <= set(topics.columns):
        got = list(topics.columns) if isinstance(topics, pd.DataFrame) else topics
        raise InputError(
            Argument("topics"),
            f" must be a frame with 'qid' and 'query', or a dict of qid -> query, got {told(got)}.",
            argument="topics",
        )
    shown = [field for field in TOPIC_FIELDS if field in topics.columns]
    found: dict[str, dict[str, str]] = {}
    for qid, *values in topics[["qid", *shown]].itertuples(index=False, name=None):
        texts = {field: value for field, value in zip(shown, values, strict=True) if isinstance(value, str)}
        found.setdefault(str(qid), {field: text for field, text in texts.items() if text.strip()})
    lacking = [qid for qid in qids if "query" not in found.get(qid, {})]
    if lacking:
        raise InputError(
            f"{count(len(lacking), 'topic')} of the pool without a query: {examples(lacking)}. People cannot judge "
            "what they do not know.",
            argument="topics",
        )
    return {qid: found[qid] for qid in qids}


def document_texts(texts: Any, keys: Sequence[Key], queries: Mapping[str, str], *, verbose: bool) -> dict[Key, str]:
    """Return (topic, document) -> what people read of the document."""
    if isinstance(texts, pd.DataFrame):
        texts = texts.to_dict("records")
    if isinstance(texts, pt.Transformer):
        found = _from_transformer(texts, keys, queries)
    elif isinstance(texts, Mapping):
        if isinstance(texts, dict):
            # a document may be called by a number, where its name is a text
            texts = {str(docno): text for docno, text in texts.items()}
        by_docno = {docno: _text(texts[docno], docno) for docno in dict.fromkeys(d for _, d in keys) if docno in texts}
        found = {key: by_docno[key[1]] for key in keys if key[1] in by_docno}
    elif isinstance(texts, Iterable) and not isinstance(texts, str | bytes):
        by_docno = _from_corpus(texts, {docno for _, docno in keys}, verbose=verbose)
        found = {key: by_docno[key[1]] for key in keys if key[1] in by_docno}
    else:
        raise InputError(
            Argument("texts"),
            " must be a dict of docno -> text, the documents of a corpus as dicts with 'docno' and 'text', or a "
            f"transformer that adds 'text', got {told(texts)}.",
            argument="texts",
        )
    lacking = [docno for _, docno in keys if (_, docno) not in found]
    if lacking:
        raise InputError(
            f"{count(len(lacking), 'document')} of {len(keys):,} without a text: {examples(lacking)}. Give the texts "
            "of all documents of the pool.",
            argument="texts",
        )
    blank = [docno for (_, docno), text in found.items() if not text.strip()]
    if blank:
        warn(f"{count(len(blank), 'document')} of {len(keys):,} with an empty text: {examples(blank)}.")
    return found


def _from_transformer(texts: pt.Transformer, keys: Sequence[Key], queries: Mapping[str, str]) -> dict[Key, str]:
    frame = pd.DataFrame(
        {"qid": [q for q, _ in keys], "query": [queries[q] for q, _ in keys], "docno": [d for _, d in keys]},
        dtype=object,
    )
    got = texts(frame)
    if not isinstance(got, pd.DataFrame) or not {"qid", "docno", "text"} <= set(got.columns):
        columns = list(got.columns) if isinstance(got, pd.DataFrame) else type(got).__name__
        raise InputError(
            Argument("texts"),
            f" is a transformer that must return 'qid', 'docno' and 'text', got {told(columns)}.",
            argument="texts",
        )
    rows = got[["qid", "docno", "text"]].itertuples(index=False, name=None)
    return {(str(qid), str(docno)): text for qid, docno, text in rows if isinstance(text, str)}


def _from_corpus(texts: Iterable[Any], wanted: set[str], *, verbose: bool) -> dict[str, str]:
    left, found = set(wanted), {}
    for document in pt.tqdm(texts, desc="texts", unit=" documents", disable=not verbose):
        if not isinstance(document, Mapping) or "docno" not in document:
            raise InputError(
                Argument("texts"),
                f" must be documents as dicts with 'docno' and 'text', got {told(document)}.",
                argument="texts",
            )
        docno = str(document["docno"])
        if docno in left:
            found[docno] = _text(document, docno)
            left.remove(docno)
            if not left:
                break
    return found


def _text(document: Any, docno: str) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, Mapping):
        fields = {field: value for field, value in document.items() if isinstance(value, str) and field != "docno"}
        chosen = _DOC_FIELDS if "text" in fields else tuple(fields)
        return "\n\n".join(fields[field] for field in chosen if fields.get(field, "").strip())
    raise InputError(f"the text of document {shown(docno)} must be text, got {told(document)}.", argument="texts")
