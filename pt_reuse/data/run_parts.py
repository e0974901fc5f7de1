"""A run file read chunk by chunk, none of it ever whole in memory, and where rows and documents stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import InputError
from pt_reuse.arrays.places import FileRows
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.lines import (
    BOM,
    RUN_LINE,
    SKIP_FILE,
    SKIP_LINES,
    Fields,
    RunLines,
    as_told,
    bad_number,
    fields_of_part,
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
    """The rows of a part of a run file, topic by topic, each topic as it stands in the file.

    Attributes:
        topics: which topics of the run these are, by number.
        before: (topics,) rows of each that stand before this part.
        starts: (topics + 1,) into the rows.
        docs: (rows, k) words of the document names.
        scores: (rows,) as read.
        other: the rows whose ranks do not count the rows of their topic, ascending.
        ranks: of each of these, NaN for what is no number.
    """

    topics: NDArray[np.int64]
    before: NDArray[np.int64]
    starts: NDArray[np.int64]
    docs: Words
    scores: NDArray[np.float64]
    other: NDArray[np.int64]
    ranks: NDArray[np.float64]


class RunParts:
    """A run file that comes in parts, each of whole lines.

    Args:
        order: the ranking order.
        skip: whether to leave out lines that are no run line.
        before: lines of the file that are not read, as they were read before.

    Attributes:
        topics: the topics, in the order in which they appear.
        sizes: (topics,) rows of each so far; there may be room for more.
        from_zero: (topics,) whether the ranks of each count from 0; there may be room for more.
        tags: each tag of the last column with the line on which it stands first.
        longer: how many lines have text after the sixth column, and the first of them.
        bad: the lines that were left out, from 1, in arrays.
        reasons: why each of them was.
        commented: whether the file begins with a comment.
        n_rows: rows so far.
        n_lines: lines so far.
        has_run_lines: whether any of them is a run line.
    """

    def __init__(self, order: str, *, skip: bool, before: int = 0):
        self.order, self.skip = order, skip
        self._number: dict[str, int] = {}
        self.sizes, self.from_zero = np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.bool_)
        self.tags: dict[str, int] = {}
        self.longer = (0, 0)
        self.bad: list[NDArray[np.int64]] = []
        self.reasons: list[str] = []
        self.commented = False
        self.n_rows, self.n_lines = 0, before
        self._begun, self._blank = not before, True
        self._empty, self._only_comments, self.has_run_lines = True, True, False
        self._fault: tuple[tuple[int, ...], InputError] | None = None
        # says what is wrong with a file of which nothing is left
        self._strict = RunParts(order, skip=False, before=before) if skip else None

    @property
    def topics(self) -> list[str]:
        """Return the topics, in the order in which they appear."""
        return list(self._number)

    def take(self, data: bytes) -> RunPart | None:
        """Read the next part; None where it has no rows, or the file has a fault."""
        if self._strict is not None and not self.n_rows:
            self._strict.take(data)
        if self._begun:
            self._begun, self.commented = False, is_commented(data)
            data = data.removeprefix(BOM)
        self._empty &= not data
        part = None
        if data and not data.isspace():
            self._blank = False
            part = self._read(data)
            if self._fault is None:
                self.has_run_lines |= part is not None
            elif not self.has_run_lines:
                self.has_run_lines = self._any_run_line(data)
        self.n_lines += data.count(b"\n")
        return part if self._fault is None else None

    def finish(self) -> None:
        """Say that this was the last part.

        Raises:
            InputError: the file has a fault, the one of which reading it at once tells.
        """
        if self._strict is not None and not self.n_rows:
            self._strict.finish()
        if self._blank:
            raise nothing_in("is empty" if self._empty else "holds nothing but white space", 6, RUN_LINE)
        if self._fault is None and not self.n_rows:
            raise nothing_in("holds nothing but comments", 6, RUN_LINE)
        if self._fault is not None:
            error = self._fault[1]
            lines = as_told(SKIP_LINES)
            if error.parts[-len(lines) :] == lines and not self.has_run_lines:
                error.parts = (*error.parts[: -len(lines)], *as_told(SKIP_FILE))
            raise error

    def _any_run_line(self, data: bytes) -> bool:
        fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=True)
        return len(lines_of_run(fields, self.order, skip=True).fields) > 0

    def _tell(self, error: InputError, *rank: int) -> None:
        # of several faults the one of which reading the file at once tells: the kind first, then where
        if self._fault is None or rank < self._fault[0]:
            self._fault = (rank, error)

    def _read(self, data: bytes) -> RunPart | None:
        try:
            first = self._only_comments
            fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=self.skip, before=self.n_lines, first=first)
        except InputError as error:
            self._only_comments = False
            self._tell(error, 0 if b"\0" in data else 1, self.n_lines)
            return None
        lines = lines_of_run(fields, self.order, skip=self.skip)
        if len(lines.bad):
            self.bad.append(lines.bad)
            self.reasons += lines.reasons
        if len(fields.longer):
            # those of lines that are left out count, too
            self.longer = (self.longer[0] + len(fields.longer), self.longer[1] or int(fields.longer[0]))
        if not len(fields):
            return None
        self._only_comments = False
        return self._columns(lines)

    def _columns(self, lines: RunLines) -> RunPart | None:
        fields = lines.fields
        found: list[Words] = []
        for kind, column, what in ((2, 0, "qid"), (3, 2, "docno")):
            try:
                found.append(names_in(fields, column, what))
            except InputError as error:
                starts, ends = fields.column(column)
                self._tell(error, kind, -int((ends - starts).max()))
                return None
        if lines.wrong is not None:
            self._tell(bad_number(fields, lines.wrong, "score"), 4, self.n_lines)
            return None
        for tag, line in tags_in(fields).items():
            self.tags.setdefault(tag, line)
        names, topic = topics_in(fields)
        numbers = self._numbers(names)
        rows = FileRows(names, topic, lambda rows: found[1].take(rows, axis=0), lines.scores)
        before, lengths = self.sizes[numbers], np.diff(rows.starts)
        new = before == 0
        self.from_zero[numbers[new]] = count_from_zero(fields, rows)[new]
        zero = self.from_zero[numbers]
        other, ranks = other_ranks(fields, rows, zero, before)
        other, ranks = _not_counting(rows, other, ranks, before + ~zero)
        if self.order == "rank":
            self._tell_of_ranks(fields, rows, numbers, other[np.isnan(ranks)])
        self.sizes[numbers] += lengths
        self.n_rows += len(fields)
        docs = found[1] if rows.grouping is None else found[1].take(rows.grouping, axis=0)
        return RunPart(numbers, before, rows.starts, docs, rows.grouped(lines.scores), other, ranks)

    def _numbers(self, names: list[str]) -> NDArray[np.int64]:
        numbers = np.array([self._number.setdefault(name, len(self._number)) for name in names], dtype=np.int64)
        if len(self._number) > len(self.sizes):
            room = 2 * len(self._number) - len(self.sizes)
            self.sizes, self.from_zero = np.pad(self.sizes, (0, room)), np.pad(self.from_zero, (0, room))
        return numbers

    def _tell_of_ranks(
        self, fields: Fields, rows: FileRows, numbers: NDArray[np.int64], wrong: NDArray[np.int64]
    ) -> None:
        # the first topic of the file with such a rank, and the first of its rows
        if len(wrong):
            t = np.searchsorted(rows.starts, wrong, side="right") - 1
            row = int(wrong[np.argmin(numbers[t])])
            topic = int(numbers[t].min())
            place = row if rows.grouping is None else int(rows.grouping[row])
            self._tell(bad_number(fields, place, "rank"), 5, topic, self.n_lines)


def _not_counting(
    rows: FileRows, other: NDArray[np.int64], ranks: NDArray[np.float64], firsts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    # of rows whose ranks are written otherwise those whose ranks are others
    t = np.searchsorted(rows.starts, other, side="right") - 1
    odd = ranks != firsts[t] + other - rows.starts[t]
    return other[odd], ranks[odd]


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
    """Return the lines, from 1, on which rows of a run stand that was read leaving out bad lines or none.

    Args:
        chunks: the text of the file, in chunks of whole lines.
        order: the ranking order in which it was read.
        topics: (n,) the topic of each row.
        places: (n,) its place among the rows of the topic as they stand in the file, from 1.
    """
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
            lines = lines_of_run(fields, order, skip=True)
            if len(fields):
                names, topic = topics_in(fields)
                rows = FileRows(names, topic, lambda rows: np.zeros((len(rows), 1), dtype="<u8"), lines.scores)
                local = {name: t for t, name in enumerate(names) if name in number}
                starts, sizes = np.zeros((2, len(number)), dtype=np.int64)
                for name, t in local.items():
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
