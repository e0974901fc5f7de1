"""A run file read chunk by chunk, none of it ever whole in memory, and where rows and documents stand in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.places import FileRows
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.lines import (
    BOM,
    RUN_LINE,
    Fields,
    RunLines,
    bad_number,
    fields_of_part,
    has_run_lines,
    is_commented,
    lines_of_run,
    names_in,
    nothing_in,
    tags_in,
    topics_in,
)
from pt_reuse.data.trec import count_from_zero, other_ranks


@dataclass
class RunPart:
    """The rows of a chunk of a run, topic by topic, or of a row group of a table, as they stand there."""

    topics: list[str]  # topic names, each once
    topic: NDArray[np.int64]  # (rows,) the topic of each row, as a position among the topics
    docs: Words  # (rows, k) words of the document names
    scores: NDArray[np.float64]  # (rows,) finite
    ranks: NDArray[np.float64] | None  # (rows,) NaN where there is none; None without such a column
    run: NDArray[np.int64] | int = 0  # (rows,) the run of each row


class RunParts:
    """A run file that comes in chunks of whole lines; what is said of the file holds once the last was read."""

    def __init__(self, chunks: Callable[[], Iterator[bytes]], order: str, *, skip: bool):
        self._chunks, self.order, self.skip = chunks, order, skip
        self.tags: dict[str, int] = {}
        self.longer = (0, 0)
        self.bad: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self.reasons: list[str] = []
        self.commented = False
        self.n_rows = 0

    def has_run_lines(self) -> bool:
        """Return whether any line of the file is a run line."""
        return self.n_rows > 0 or any(has_run_lines(data, self.order) for data in self._chunks())

    def read(self) -> Iterator[RunPart]:
        """Yield the rows of each chunk; a fault is that of the first chunk with one."""
        what, n_lines, last = "is empty", 0, b""
        for i, data in enumerate(_without_mark(self._chunks())):
            n_lines, last = n_lines + last.count(b"\n"), data
            self.commented |= i == 0 and is_commented(data)
            if data and not data.isspace():
                what = "holds nothing but comments"
                first = not self.n_rows
                fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=self.skip, before=n_lines, first=first)
                yield from self._parts(lines_of_run(fields, self.order, skip=self.skip))
            elif data and what == "is empty":
                what = "holds nothing but white space"
        if not self.n_rows and self.skip:
            # what is said where nothing is left out
            yield from RunParts(self._chunks, self.order, skip=False).read()
        if not self.n_rows:
            raise nothing_in(what, 6, RUN_LINE)

    def _parts(self, lines: RunLines) -> Iterator[RunPart]:
        fields = lines.fields
        self.bad.append(lines.bad)
        self.reasons += lines.reasons
        if len(fields.longer):
            self.longer = (self.longer[0] + len(fields.longer), self.longer[1] or int(fields.longer[0]))
        if not len(fields):
            return
        topics, topic = topics_in(fields)
        docs = names_in(fields, 2, "docno")
        if lines.wrong is not None:
            raise bad_number(fields, lines.wrong, "score")
        for tag, line in tags_in(fields).items():
            self.tags.setdefault(tag, line)
        rows = FileRows(topics, topic, docs, lines.scores)
        ranks = self._ranks(fields, rows)
        self.n_rows += len(fields)
        docs = docs if rows.grouping is None else docs.take(rows.grouping, axis=0)
        yield RunPart(topics, rows.grouped(topic), docs, rows.grouped(lines.scores), ranks)

    def _ranks(self, fields: Fields, rows: FileRows) -> NDArray[np.float64]:
        # those that count the rows of this chunk need not be parsed
        zero = count_from_zero(fields, rows)
        ranks = ranges((~zero).astype(np.int64), np.diff(rows.starts)).astype(np.float64)
        other, written = other_ranks(fields, rows, zero)
        ranks[other] = written
        wrong = np.flatnonzero(np.isnan(ranks))
        if self.order == "rank" and len(wrong):
            row = int(wrong[0])
            raise bad_number(fields, row if rows.grouping is None else int(rows.grouping[row]), "rank")
        return ranks


def find_document(chunks: Iterable[bytes], topic: str, docno: str, most: int) -> list[int]:
    """Return the first lines, from 1, on which a document stands for a topic."""
    wanted = [name.encode("utf-8", "surrogateescape") for name in (topic, docno)]
    found: list[int] = []
    before = 0
    for data in _without_mark(chunks):
        lines = data.split(b"\n")
        if wanted[1] in data:
            found += [before + i for i, line in enumerate(lines, 1) if line.split()[:3:2] == wanted]
        if len(found) >= most:
            break
        before += len(lines) - 1
    return found[:most]


def lines_of_rows(
    chunks: Iterable[bytes], order: str, topics: Sequence[str], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return (n,) lines, from 1, of rows that are given by topic and place among the rows of the topic."""
    lines = np.zeros(len(topics), dtype=np.int64)
    for fields, wanted, rows in rows_in_file(chunks, order, topics, places):
        lines[wanted] = fields.lines_of(rows)
    return lines


def rows_in_file(
    chunks: Iterable[bytes], order: str, topics: Sequence[str], places: NDArray[np.int64]
) -> Iterator[tuple[Fields, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the fields of each chunk that has some of the rows, which rows these are, and which of the fields'."""
    number = {name: t for t, name in enumerate(dict.fromkeys(topics))}
    topic_of = np.array([number[name] for name in topics], dtype=np.int64)
    before, n_lines = np.zeros(len(number), dtype=np.int64), 0
    for data in _without_mark(chunks):
        if data and not data.isspace():
            fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=True, before=n_lines)
            scores = lines_of_run(fields, order, skip=True).scores
            names, topic = topics_in(fields) if len(fields) else ([], np.zeros(0, dtype=np.int64))
            rows = FileRows(names, topic, np.zeros((len(scores), 1), dtype="<u8"), scores)
            starts, sizes = np.zeros((2, len(number)), dtype=np.int64)
            for t, name in enumerate(names):
                if name in number:
                    starts[number[name]], sizes[number[name]] = rows.starts[t], rows.starts[t + 1] - rows.starts[t]
            here = places - before[topic_of]
            wanted = np.flatnonzero((here >= 1) & (here <= sizes[topic_of]))
            grouped = starts[topic_of[wanted]] + here[wanted] - 1
            if len(wanted):
                yield fields, wanted, grouped if rows.grouping is None else rows.grouping[grouped]
            before += sizes
        n_lines += data.count(b"\n")


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for i, data in enumerate(chunks):
        yield data if i else data.removeprefix(BOM)
