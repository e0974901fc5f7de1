"""Rows of runs in a table, one row group after the other, every fault named with its row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import columns, examples, shown
from pt_reuse._errors import InputError, Option, Part
from pt_reuse.arrays import tokens
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.frame_columns import LONGEST_NAME
from pt_reuse.data.tables import Table, arrow, listed_runs, opened
from pt_reuse.data.trec import NO_ORDER

#: what can be wrong with a cell; 0 is nothing
MISSING, EMPTY, NUL, LONG, NOT_FINITE = range(1, 6)


class WrongTypeError(Exception):
    """A column of another type than is needed; the message says which types would do."""


@dataclass(frozen=True)
class NameColumn:
    """A column of names.

    Attributes:
        words: (names, k) names, some of them perhaps more than once or of no row.
        codes: (rows,) which of them each row has.
        flaws: (rows,) what is wrong with the name of each row.
    """

    words: Words
    codes: NDArray[np.int64]
    flaws: NDArray[np.int8]

    def taken(self, rows: NDArray[np.int64]) -> Words:
        """Return the names of some rows."""
        return self.words.take(self.codes[rows], axis=0)

    def numbered(self, rows: NDArray[np.int64], known: dict[str, int]) -> NDArray[np.int64]:
        """Return numbers for the names of some rows: those that are known, and further ones, which are added there."""
        codes = self.codes[rows]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.words)))
        same, first = tokens.factorize(self.words.take(used, axis=0))
        names = tokens.decode(tokens.as_tokens(self.words.take(used[first], axis=0)))
        numbers = np.zeros(len(self.words), dtype=np.int64)
        numbers[used] = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)[same]
        return numbers[codes]


def name_column(pa: Any, column: Any) -> NameColumn:
    """Return a column of names of a pyarrow table: text, bytes or whole numbers, dictionary-encoded or not."""
    return _joined([_names(pa, chunk) for chunk in column.chunks])


def _names(pa: Any, chunk: Any) -> NameColumn:
    if pa.types.is_dictionary(chunk.type):
        distinct = _names(pa, chunk.dictionary)
        missing = chunk.indices.is_null().to_numpy(zero_copy_only=False)
        codes = chunk.indices.fill_null(0).cast(pa.int64()).to_numpy(zero_copy_only=False)
        if not len(distinct.codes):
            # all rows are without a name, and have a place to point at
            distinct = NameColumn(np.zeros((1, 1), "<u8"), np.zeros(1, np.int64), np.zeros(1, np.int8))
        return NameColumn(distinct.words, codes, np.where(missing, MISSING, distinct.flaws[codes]).astype(np.int8))
    if pa.types.is_integer(chunk.type):
        chunk = chunk.cast(pa.string())
    elif not _is_text(pa, chunk.type):
        raise WrongTypeError("text or whole numbers")
    return _plain(pa, chunk.cast(pa.large_binary()))


def _is_text(pa: Any, kind: Any) -> bool:
    tests = ("is_string", "is_large_string", "is_string_view", "is_binary", "is_large_binary", "is_binary_view")
    return any(getattr(pa.types, test)(kind) for test in tests if hasattr(pa.types, test))


def _plain(pa: Any, chunk: Any) -> NameColumn:
    _, bounds, data = chunk.buffers()
    n = len(chunk)
    offsets = np.zeros(1, dtype=np.int64)
    if n:
        offsets = np.frombuffer(bounds, dtype=np.int64)[chunk.offset : chunk.offset + n + 1]
    size = int(offsets[-1] - offsets[0])
    buffer = np.zeros(size + 8, dtype=np.uint8)
    if size:
        buffer[:size] = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    starts, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
    lengths = ends - starts
    flaws = np.where(lengths > LONGEST_NAME, LONG, np.where(lengths == 0, EMPTY, 0)).astype(np.int8)
    nuls = np.flatnonzero(buffer[:size] == 0)
    # the last row that begins at a byte is the one that holds it
    flaws[np.searchsorted(starts, nuls, side="right") - 1] = NUL
    flaws[chunk.is_null().to_numpy(zero_copy_only=False)] = MISSING
    words = tokens.words_at(buffer, starts, np.where(flaws == 0, ends, starts))
    return NameColumn(words, np.arange(n), flaws)


def _joined(parts: Sequence[NameColumn]) -> NameColumn:
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.words) for part in parts)])
    codes = [part.codes + start for part, start in zip(parts, before.tolist(), strict=False)]
    return NameColumn(
        tokens.stacked([part.words for part in parts]),
        np.concatenate([np.zeros(0, dtype=np.int64), *codes]),
        np.concatenate([np.zeros(0, dtype=np.int8), *(part.flaws for part in parts)]),
    )


def number_column(pa: Any, column: Any) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return a column of numbers of a pyarrow table, and what is wrong with each."""
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise WrongTypeError("numbers (float or integer)")
    nothing = np.zeros(0)
    chunks = [chunk.to_numpy(zero_copy_only=False).astype(np.float64, copy=False) for chunk in column.chunks]
    values = np.concatenate([nothing, *chunks]) if len(chunks) != 1 else chunks[0]
    flaws = np.where(np.isfinite(values), 0, NOT_FINITE).astype(np.int8)
    if column.null_count:
        missing = [chunk.is_null().to_numpy(zero_copy_only=False) for chunk in column.chunks]
        flaws[np.concatenate(missing)] = MISSING
    return values, flaws


RUN_TABLE = "a row per document with the columns qid, docno and score"
SKIP_ROWS: tuple[Part, ...] = (" Pass ", Option("bad_lines", "skip"), " to leave out bad rows.")
SKIP_FILE: tuple[Part, ...] = (" Pass ", Option("other_files", "skip"), " to leave out files without a row of a run.")
#: the columns that make a bad row, in the order in which they are looked at
_CHECKED = ("qid", "docno", "score", "rank")
_FLAWS = 8  # kinds of flaws of a column, and some to spare
_REASONS = {
    MISSING: "no {column}",
    EMPTY: "an empty {column}",
    NUL: "a NUL byte in its {column}",
    LONG: f"a {{column}} of more than {LONGEST_NAME:,} bytes",
    NOT_FINITE: "a {column} that is no finite number",
}
_ENDING = re.compile(r"\.(parquet|pq|arrow|feather|ipc)$")


def run_of_file(path: Path) -> str:
    """Return what the run of a table without a column ``name`` is called: as its file, without the ending."""
    return _ENDING.sub("", path.name).removeprefix("input.") or path.name


class NoRunError(InputError):
    """A table without any row of a run."""


@dataclass(frozen=True)
class RowGroup:
    """The rows of one row group.

    Attributes:
        run: (rows,) the run of each row that can be used; they are in the order of the file.
        topic: (rows,) its topic.
        docs: (rows, k) words of its document name.
        scores: (rows,) finite.
        ranks: (rows,) as they stand, not finite where there is none; None in a table without such a column.
        row: (rows,) which row of the file it is, from 1.
        bad_run: (m,) the run of each row that cannot be used.
        bad_row: (m,) which row of the file it is.
        bad_why: (m,) what is wrong, see :func:`reason`.
        first_bad: what is wrong with the first of them, and its place; None where there is none.
    """

    run: NDArray[np.int64]
    topic: NDArray[np.int64]
    docs: Words
    scores: NDArray[np.float64]
    ranks: NDArray[np.float64] | None
    row: NDArray[np.int64]
    bad_run: NDArray[np.int64]
    bad_row: NDArray[np.int64]
    bad_why: NDArray[np.int64]
    first_bad: tuple[str, str] | None


def reason(why: int) -> str:
    """Return in words why a row was left out."""
    column, flaw = divmod(why, _FLAWS)
    return _REASONS[flaw].format(column=_CHECKED[column])


class TableReading:
    """One reading of the runs in a table; rows of each run may stand anywhere."""

    def __init__(self, path: Path, order: str, fits: Callable[[int, int], None] = lambda rows, size: None):
        self.path, self.order, self._fits = path, order, fits
        self.names: dict[str, int] = {}
        self.topics: dict[str, int] = {}
        self.ends: list[int] = []
        self.part = "row group"
        self._listed: dict[str, int] = {}
        self._first_bad: tuple[str, str] | None = None
        #: of each run whether it has a row that can be used, and the first of those that cannot
        self._good: set[int] = set()
        self._bad: dict[int, tuple[int, int]] = {}

    def ordered(self) -> list[str]:
        """Return the runs found so far as the writer of the table lists them, else in order of appearance."""
        return sorted(self.names, key=lambda name: self._listed.get(name, len(self._listed)))

    def groups(self) -> Iterator[RowGroup]:
        """Yield the row groups that have rows."""
        with opened(self.path) as table:
            wanted = self._columns(table)
            self.part = table.part
            self._listed = {name: i for i, name in enumerate(listed_runs(table.metadata))}
            for group in table.groups(wanted, self._fits):
                before = self.ends[-1] if self.ends else 0
                self.ends.append(before + group.num_rows)
                if group.num_rows:
                    found = self._checked(group, before)
                    self._note(found)
                    yield found
                    del found
                del group  # before the next one is read

    def check(self, *, skip: bool) -> None:
        """Raise unless what was read is runs; all row groups must have been read."""
        if not self._good:
            if self._first_bad is not None:
                raise NoRunError(self._first_bad[0], *SKIP_FILE, place=self._first_bad[1])
            raise NoRunError(f"the table has no rows; expected {RUN_TABLE}.", *SKIP_FILE)
        if self._first_bad is not None and not skip:
            raise InputError(self._first_bad[0], *SKIP_ROWS, place=self._first_bad[1])
        for name, run in self.names.items():
            if run not in self._good:
                row, why = self._bad[run]
                raise InputError(
                    f"all rows of run {shown(name)} are bad, the first for {reason(why)}. Mend them or drop the run.",
                    place=self.place(row),
                )

    def _note(self, group: RowGroup) -> None:
        self._good.update(np.flatnonzero(np.bincount(group.run)).tolist())
        if group.first_bad is None:
            return
        self._first_bad = self._first_bad or group.first_bad
        for run, i in zip(*(found.tolist() for found in np.unique(group.bad_run, return_index=True)), strict=True):
            self._bad.setdefault(run, (int(group.bad_row[i]), int(group.bad_why[i])))

    def place(self, row: int) -> str:
        """Return in words where a row is that was read."""
        return f"row {row:,} ({self.part} {int(np.searchsorted(self.ends, row)) + 1:,})"

    def _columns(self, table: Table) -> list[str]:
        found = list(table.columns)
        needed = ("qid", "docno", "score", *(["rank"] if self.order == "rank" else []))
        try:
            columns("a table of runs", found, needed)
        except InputError as error:
            raise NoRunError(*error.parts, *SKIP_FILE) from None
        wanted = [*needed, *(column for column in ("rank", "name") if column in found and column not in needed)]
        twice = [column for column in wanted if found.count(column) > 1]
        if twice:
            raise NoRunError(f"more than one column {examples(twice)}. Drop or rename one.", *SKIP_FILE)
        return wanted

    def _checked(self, group: Any, before: int) -> RowGroup:
        qids, docnos = self._column(group, "qid", name_column), self._column(group, "docno", name_column)
        scores, no_score = self._column(group, "score", number_column)
        ranks, no_rank = self._column(group, "rank", number_column) if "rank" in group.column_names else (None, None)
        flaws = [qids.flaws, docnos.flaws, no_score, *([no_rank] if self.order == "rank" else [])]
        runs = self._runs(group, before)
        why = np.zeros(group.num_rows, dtype=np.int64)
        for column in reversed(range(len(flaws))):
            why = np.where(flaws[column] > 0, column * _FLAWS + flaws[column], why)
        # of the first column a flaw counts from 1 on, so 0 is no flaw
        good, bad = np.flatnonzero(why == 0), np.flatnonzero(why)
        return RowGroup(
            run=runs[good],
            topic=qids.numbered(good, self.topics) if len(good) else good,
            docs=docnos.taken(good),
            scores=scores[good],
            ranks=None if ranks is None else ranks[good],
            row=good + before + 1,
            bad_run=runs[bad],
            bad_row=bad + before + 1,
            bad_why=why[bad],
            first_bad=self._bad_row(group, int(bad[0]), before, int(why[bad[0]]), runs) if len(bad) else None,
        )

    def _column(self, group: Any, column: str, read: Callable[[Any, Any], Any]) -> Any:
        try:
            return read(arrow("reading tables"), group[column])
        except WrongTypeError as error:
            raise NoRunError(
                f"the column {column!r} must hold {error}, got {group[column].type}. Write it as such.", *SKIP_FILE
            ) from None

    def _runs(self, group: Any, before: int) -> NDArray[np.int64]:
        rows = np.arange(group.num_rows)
        if "name" not in group.column_names:
            return np.full(group.num_rows, self.names.setdefault(run_of_file(self.path), 0))
        found: NameColumn = self._column(group, "name", name_column)
        odd = np.flatnonzero(found.flaws)
        if len(odd):
            row = int(odd[0])
            raise InputError(
                f"{_REASONS[int(found.flaws[row])].format(column='name')}, so nobody can tell of which run the row is "
                f"(topic {_cell(group, 'qid', row)}, document {_cell(group, 'docno', row)}). Give it the name of its "
                f"run, or drop the column where all rows are of one run.",
                place=self.place(before + row + 1),
            )
        return found.numbered(rows, self.names)

    def _bad_row(self, group: Any, row: int, before: int, why: int, runs: NDArray[np.int64]) -> tuple[str, str]:
        what = _CHECKED[why // _FLAWS]
        cells = {"topic": "qid", "document": "docno"}
        told = ", ".join(f"{noun} {_cell(group, other, row)}" for noun, other in cells.items())
        must = "a finite number" if what in ("score", "rank") else f"text of 1 to {LONGEST_NAME:,} bytes without NUL"
        run = list(self.names)[int(runs[row])]
        problem = (
            f"the {what} of run {shown(run)}, {told}, must be {must}, got {_cell(group, what, row)}. Mend the row, or "
            f"leave the document out of the run."
        )
        return problem, self.place(before + row + 1)


def _cell(group: Any, column: str, row: int) -> str:
    value = group[column][row].as_py()
    if value is None:
        return "nothing"
    return shown(value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value)


def rows_of_runs(run: NDArray[np.int64], n_runs: int) -> list[NDArray[np.int64]]:
    """Return the rows of each run, in the order in which they stand."""
    small = run.astype(np.min_scalar_type(max(n_runs, 1)), copy=False)
    order = np.argsort(small, kind="stable")
    return np.split(order, np.cumsum(np.bincount(run, minlength=n_runs))[:-1])


_NONE = -1  # the key of a list of which no row was seen yet


def _lists(
    reading: TableReading, group: RowGroup, lists: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a row group by run and topic, and where those of some lists begin and end among them."""
    names, topics = reading.names, reading.topics
    keys = np.array(
        [(names[run] << 32) | topics[topic] if run in names and topic in topics else _NONE for run, topic in lists],
        dtype=np.int64,
    )
    held = (group.run << 32) | group.topic
    order = np.argsort(held, kind="stable")
    return order, *(np.searchsorted(held[order], keys, side) for side in ("left", "right"))


def find_in_table(path: Path, order: str, wanted: Sequence[tuple[str, str, str]], most: int) -> list[str]:
    """Return in words the rows on which documents stand."""
    reading, found = TableReading(path, order), [list[int]() for _ in wanted]
    lists = [(run, topic) for run, topic, _ in wanted]
    for group in reading.groups():
        order_of, begins, ends = _lists(reading, group, lists)
        for i, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            rows = order_of[begin:end]
            docnos = tokens.decode(tokens.as_tokens(group.docs.take(rows, axis=0)))
            same = [row for row, docno in zip(group.row[rows].tolist(), docnos, strict=True) if docno == wanted[i][2]]
            found[i] += same[: most - len(found[i])]
    return [", ".join(map(reading.place, rows)) for rows in found]


def rows_in_table(
    reading: TableReading, lists: Sequence[tuple[str, str]], places: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], RowGroup, NDArray[np.int64]]]:
    """Yield which of some documents stand in a row group, the row group, and their rows in it.

    Args:
        reading: of the table, not begun.
        lists: (n,) the run and topic of each document.
        places: (n,) its place among the rows of its list as they stand in the file, from 1.
    """
    before = np.zeros(len(lists), dtype=np.int64)
    for group in reading.groups():
        order, begins, ends = _lists(reading, group, lists)
        here = np.flatnonzero((before < places) & (places <= before + ends - begins))
        if len(here):
            yield here, group, order[(begins + places - before - 1)[here]]
        before += ends - begins


def tied_row(run: str, topic: str, docs: NDArray[np.uint64], rank: float, place: str) -> InputError:
    """Return what is wrong with a rank that two documents of a list have."""
    docno = tokens.decode(tokens.as_tokens(docs))[0]
    return InputError(
        f"run {shown(run)}, topic {shown(topic)}, document {shown(docno)} has rank {shown(rank)}, which another "
        f"document of the topic has too, so ",
        *NO_ORDER,
        place=place,
    )
