"""Sessions: what a judge has answered, in a file that only grows, so that judging goes on where it was stopped."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._files import Alone, alone, checked_path
from pt_reuse._version import __version__
from pt_reuse.data.frame_columns import PROVENANCE, now, plain
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, listed, located, shown, warn
from pt_reuse.judge import Judge
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.pooling.adaptive.bandits import TopicLists
from pt_reuse.pooling.scorers import digest

#: the file of a session's folder
JOURNAL = "journal.jsonl"
#: of the lines; to be raised when what is in them, or how they are replayed, changes
FORMAT = 3

Record = Mapping[str, Any]


class Journal:
    """A file of JSON lines that only grows; each line is on the disk before the call that wrote it returns."""

    def __init__(self, path: Path, kind: str, belongs: Record, *, argument: str):
        self.path, self._argument, self._handle = path, argument, -1
        heading = {"kind": kind, "format": FORMAT, "by": __version__, "belongs": belongs}
        self._heading: dict[str, Any] = json.loads(json.dumps(heading))
        self._end = self._n_lines = 0  # what was read of the file

    @contextmanager
    def open(self, *, patience: float = 0.0) -> Iterator[list[dict[str, Any]]]:
        """Yield the records that were written since this object had the file open; meanwhile nobody else writes."""
        with ExitStack() as until_closed:
            with located(str(self.path)):
                try:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    writer = until_closed.enter_context(alone(self.path.parent, patience=patience))
                    self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
                except OSError as error:
                    why = error.strerror or error
                    raise self._refused(f"cannot be written to: {why}. Name another folder.") from error
                until_closed.callback(os.close, self._handle)
                if writer is Alone.NO:
                    raise self._refused("somebody else is writing to it. Wait for it to end, or close it.")
                try:
                    records = self._unread()
                except BaseException:
                    self._end = self._n_lines = 0
                    raise
            yield records

    def append(self, records: Iterable[Record]) -> None:
        """Write records, all of them in one go; when this returns they are on the disk."""
        with located(str(self.path)):
            self._write([json.dumps(record, allow_nan=False) for record in records])

    def _write(self, lines: Sequence[str]) -> None:
        data = "".join(f"{line}\n" for line in lines).encode("ascii")
        try:
            os.ftruncate(self._handle, self._end)
            os.lseek(self._handle, self._end, os.SEEK_SET)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._handle, rest) :]
            os.fsync(self._handle)
        except BaseException as error:
            os.ftruncate(self._handle, self._end)
            if not isinstance(error, OSError):
                raise
            problem = f"it cannot be written to: {error.strerror or error}. What it held before is kept."
            raise self._refused(problem) from error
        self._end, self._n_lines = self._end + len(data), self._n_lines + len(lines)

    def _unread(self) -> list[dict[str, Any]]:
        size = os.fstat(self._handle).st_size
        if size < self._end:
            self._end = self._n_lines = 0
        with os.fdopen(os.dup(self._handle), "rb") as file:
            file.seek(self._end)
            *lines, torn = file.read().split(b"\n")
        if not self._end and not lines and json.dumps(self._heading).encode("ascii").startswith(torn):
            # new, or a writer was killed within the first line
            self._write([json.dumps(self._heading)])
            with suppress(OSError):  # the name of the file, too; Windows opens no folders
                folder = os.open(self.path.parent, os.O_RDONLY)
                os.fsync(folder)
                os.close(folder)
            return []
        records = []
        for place, line in enumerate(lines):
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError
            except ValueError:
                number = f"line {self._n_lines + 1:,}"
                if not self._n_lines or place < len(lines) - 1 or torn:
                    advice = "Name another folder; or, of a damaged file, remove this line and all after it."
                    raise self._refused(f"no line of a journal of pt_reuse. {advice}", number) from None
                warn("the last line is damaged, and is left out.", place=number)
                break
            if not self._n_lines:
                self._check_heading(record)
            else:
                records.append(record)
            self._end, self._n_lines = self._end + len(line) + 1, self._n_lines + 1
        if not self._n_lines:
            self._check_heading({})
        os.ftruncate(self._handle, self._end)
        return records

    def _check_heading(self, heading: Record) -> None:
        then, now = ({**each.get("belongs", {}), **each, "belongs": 0, "by": 0} for each in (heading, self._heading))
        other = [key for key in dict.fromkeys([*then, *now]) if then.get(key) != now.get(key)]
        if other:
            each = (f"its {key} was {shown(then.get(key))}, and is {shown(now.get(key))} now" for key in other)
            changed = listed(list(each))
            begun = f"this was begun otherwise, by pt_reuse {heading.get('by')} ({__version__} now): {changed}"
            raise self._refused(f"{begun}. Give what it was begun with, or another folder.")

    def _refused(self, message: str, place: str | None = None) -> InputError:
        return InputError(message, argument=self._argument, place=place)


@dataclass(frozen=True)
class Judged:
    """A document that was chosen in a round of its topic, from 1, by a strategy, why, and what the judge said of it."""

    qid: str
    docno: str
    round: int
    strategy: str
    reason: str
    label: int | None = None
    judge: str | None = None
    time: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_label(self) -> bool:
        """Whether the document got a label: one below 0 (not judged, junk) is none."""
        return self.label is not None and self.label >= 0

    @classmethod
    def read(cls, record: Record) -> Judged:
        more = {column: tuple(cell) if isinstance(cell, list) else cell for column, cell in record["more"].items()}
        return cls(**{**record, "more": more})

    def to_record(self) -> dict[str, Any]:
        record = asdict(self)
        try:
            # JSON makes texts of numbers that are keys, and lists of tuples within others
            kept = Judged.read(json.loads(json.dumps(record, allow_nan=False))) == self
        except (TypeError, ValueError):
            kept = False
        if not kept:
            problem = f"the judge says something of a label that a session cannot keep: {shown(record['more'])}. "
            raise InputError(f"{problem}Let it say texts and finite numbers alone.", argument="judge")
        return record


class Session:
    """Puts documents before a judge, and keeps what it says; what is kept is not asked again."""

    def __init__(
        self,
        judge: Judge,
        topics: TopicTexts,
        journal: Journal | None = None,
        kept: Iterable[Judged] = (),
        *,
        batch_size: int | None = None,
    ):
        self._judge, self._topics, self._journal, self._batch_size = judge, topics, journal, batch_size
        self._kept: dict[str, deque[Judged]] = {}
        for answer in kept:
            self._kept.setdefault(answer.qid, deque()).append(answer)

    def judged(self, chosen: Sequence[Judged]) -> Iterator[list[Judged]]:
        """Yield documents with what the judge says: first those that are kept, then batches, when they are kept."""
        kept, asked = [], []
        for document in chosen:
            if left := self._kept.get(document.qid):
                kept.append(_same(left.popleft(), document))
            else:
                asked.append(document)
        yield kept
        size = self._batch_size or max(len(asked), 1)
        for start in range(0, len(asked), size):
            answers = self._ask(asked[start : start + size])
            if self._journal is not None:
                self._journal.append([answer.to_record() for answer in answers])
            yield answers

    def _ask(self, asked: Sequence[Judged]) -> list[Judged]:
        ids = [(document.qid, document.docno) for document in asked]
        pairs = self._topics.beside(pd.DataFrame(ids, columns=["qid", "docno"], dtype=object))
        given = self._judge.transform(pairs)
        # why a document was chosen is known here; the rest the judge says
        more = [column for column in map(str, given) if column not in (*pairs.columns, "label", *PROVENANCE)]
        cells = {column: [_plain(cell) for cell in given[column]] for column in ("label", "judge", "time", *more)}
        return [
            replace(
                document,
                label=None if cells["label"][row] is None else int(cells["label"][row]),
                judge=cells["judge"][row],
                time=cells["time"][row] or now(),
                more={**{column: cells[column][row] for column in more}, **document.more},
            )
            for row, document in enumerate(asked)
        ]


def _same(kept: Judged, chosen: Judged) -> Judged:
    if kept.docno != chosen.docno:
        now = f"topic {shown(chosen.qid)}: document {shown(chosen.docno)} is chosen in round {chosen.round}"
        then = f"where the session has {shown(kept.docno)}. Was code changed that chooses or scores?"
        raise InputError(f"{now}, {then} Begin another session.", argument="session")
    return kept


def _plain(cell: Any) -> Any:
    """Return a cell of the judge's answer as JSON can hold it, where it can; None for one that is missing."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    cell = plain(cell)
    missing = cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell)
    return None if missing else tuple(cell) if isinstance(cell, list) else cell


def checked_folder(session: Any) -> Path | None:
    """Return a user's ``session=`` as a path, or say that it is none."""
    folder = None if session is None else checked_path(session, "session")
    if folder is not None and folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file. Give a folder; it is made if missing.", argument="session")
    return folder


@contextmanager
def open_session(
    folder: Path | None, kind: str, belongs: Record, judge: Judge, topics: TopicTexts, **options: Any
) -> Iterator[Session]:
    """Open the session of a folder, or begin it; without a folder nothing is kept."""
    if folder is None:
        yield Session(judge, topics, **options)
        return
    journal = Journal(folder / JOURNAL, kind, belongs, argument="session")
    with journal.open() as records:
        yield Session(judge, topics, journal, map(Judged.read, records), **options)


def field_marks(lists: Sequence[TopicLists]) -> dict[str, Any]:
    """Return by what a field is known again: its runs, in whatever order, and of each topic a mark of their lists."""
    runs = lists[0].names if lists else ()
    order = np.argsort(np.array(runs, dtype=object)).astype(np.int64)
    of_topics = ((topic.qid, topic.in_order(order)) for topic in lists)
    marks = {qid: digest(topic.docnos, topic.starts, topic.codes, topic.scores) for qid, topic in of_topics}
    return {"runs": dict.fromkeys(sorted(runs), ""), "topics": marks}


def qrels_of(judged: Iterable[Judged], topics: Iterable[str], rel: int | None) -> Qrels:
    """Return labels as judgments with their provenance; documents without a label are left out."""
    rows = [document for document in judged if document.label is not None]
    frame = labels_frame(rows)
    for column in dict.fromkeys(column for row in rows for column in row.more):
        frame[column] = _column([row.more.get(column) for row in rows])
    return Qrels(frame, topics=topics, rel=rel)


def labels_frame(judged: Iterable[Judged]) -> pd.DataFrame:
    """Return ``qid docno label judge time strategy round reason`` of documents with a label, one a row."""
    columns = ["qid", "docno", "label", *PROVENANCE]
    rows = [[getattr(document, column) for column in columns] for document in judged if document.label is not None]
    return pd.DataFrame(rows, columns=columns, dtype=object).astype({"label": "int64", "round": "int64"})


def _column(cells: list[Any]) -> pd.Series:
    """Return whole numbers as Int64, numbers as float64, True and False as boolean, all else as it is."""
    kinds = {type(cell) for cell in cells if cell is not None}
    for some, dtype in (({int}, "Int64"), ({int, float}, "float64"), ({bool}, "boolean")):
        # a whole number that 64 bits do not hold stays as it is
        if kinds and kinds <= some and all(isinstance(c, float) or -(2**63) <= (c or 0) < 2**63 for c in cells):
            return pd.Series(cells, dtype=dtype)
    return pd.Series(cells, dtype=object)
