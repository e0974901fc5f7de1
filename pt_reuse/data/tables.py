"""Tables of runs: Parquet and Arrow files, read row group by row group, every fault named with its row."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import columns, examples, flag, shown
from pt_reuse._files import check_writable, checked_path, open_file, replacing
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.frame_columns import LONGEST_NAME
from pt_reuse.data.lines import RunPart
from pt_reuse.data.metadata import given_metadata, is_missing
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.packed_files import (
    ANY_UNPACKED,
    LONGEST_START,
    MOST_TIMES,
    DamagedFileError,
    TooLargeError,
    UnreadableError,
    give_back,
    kind_of_table,
)
from pt_reuse.errors import InputError, located, warn
from pt_reuse.options import ORDERS

_LARGE = 1 << 20  # bytes of a row group that are given back before the next one is read
_ROW_BYTES = 24  # that a row takes in memory at least
#: threads, and columns that are read ahead, take more memory and hardly less time
_PARQUET = {"page_checksum_verification": True, "pre_buffer": False, "buffer_size": 1 << 16}


def is_table(path: Path) -> bool:
    """Return whether a file is a table by its first bytes."""
    try:
        with open_file(path, buffering=0) as file:
            return kind_of_table(file.read(LONGEST_START)) is not None
    except OSError:
        # whoever reads the file says what is wrong with it
        return False


def arrow(what: str) -> Any:
    """Return pyarrow with its readers and writers, or say that what the user wants needs it."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(f"{what} needs pyarrow; `pip install 'pt-reuse[parquet]'` brings it.") from error
    return pa


@dataclass(frozen=True)
class _Table:
    """A Parquet or Arrow file that is open."""

    pa: Any
    kind: str
    columns: Sequence[str]
    metadata: Mapping[bytes, bytes]
    file: IO[bytes]
    size: int

    @property
    def part(self) -> str:
        return "row group" if self.kind == "Parquet" else "record batch"

    def groups(self, wanted: Sequence[str], fits: Callable[[int, int], None]) -> Iterator[Any]:
        """Yield some columns of one row group (record batch) after the other, each as a checked pyarrow table."""
        most = left = max(ANY_UNPACKED, MOST_TIMES * self.size)
        for i, (rows, size, read) in enumerate(
            self._parquet(wanted) if self.kind == "Parquet" else self._arrow(wanted)
        ):
            _check_size(size, left, most, self.size)
            with located(f"{self.part} {i + 1:,}"):
                fits(rows, size)
                with _reading(self.kind):
                    group = read()
                    # numbers that lead out of its buffers would be followed
                    group.validate(full=True)
                fits(group.num_rows, group.nbytes)
            left -= max(size, group.nbytes)
            _check_size(0, left, most, self.size)
            yield group
            large = group.nbytes > _LARGE
            del group  # before the next one is read
            if large:
                self.pa.default_memory_pool().release_unused()
                give_back()

    def _parquet(self, wanted: Sequence[str]) -> Iterator[tuple[int, int, Callable[[], Any]]]:
        # the rows and the size that each part claims, and what reads it
        with _reading(self.kind):
            file = self.pa.parquet.ParquetFile(self.file)
            paths = [file.schema.column(i).path for i in range(len(file.schema))]
            # names that repeat from row to row are read as numbers of the distinct ones
            repeated = [path for path in paths if path in ("qid", "name")]
            file = self.pa.parquet.ParquetFile(self.file, read_dictionary=repeated, **_PARQUET)
            groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
            if sum(group.num_rows for group in groups) != file.metadata.num_rows:
                raise ValueError("it has another number of rows than it says")
            # of its columns nothing is asked: where they are damaged, pyarrow ends the process
            sizes = [(group.num_rows, max(group.total_byte_size, group.num_rows * _ROW_BYTES)) for group in groups]
        for i, (rows, size) in enumerate(sizes):
            yield rows, size, partial(file.read_row_group, i, columns=list(wanted), use_threads=False)

    def _arrow(self, wanted: Sequence[str]) -> Iterator[tuple[int, int, Callable[[], Any]]]:
        chosen = [i for i, name in enumerate(self.columns) if name in wanted]
        options = self.pa.ipc.IpcReadOptions(included_fields=chosen)
        self.file.seek(0)
        with _reading(self.kind):
            if self.kind == "Arrow":
                reader = self.pa.ipc.open_file(self.file, options=options)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                batches = iter(self.pa.ipc.open_stream(self.file, options=options))
        while True:
            with _reading(self.kind):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch.num_rows, batch.get_total_buffer_size(), partial(self.pa.Table.from_batches, [batch])


def _check_size(size: int, left: int, most: int, packed: int) -> None:
    if size > left:
        raise TooLargeError(
            f"unpacks to more than {most:,} bytes, from {packed:,}, which is taken for damage or an attack "
            f"(write its columns qid, docno, score, rank and name alone if it is right)"
        )


@contextmanager
def _opened(path: Path) -> Generator[_Table, None, None]:
    try:
        file = open_file(path)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    with file:
        kind, size = kind_of_table(file.read(LONGEST_START)) or "Parquet", file.seek(0, 2)
        file.seek(0)
        pa = arrow(f"reading {path.name}, {'an' if kind.startswith('Arrow') else 'a'} {kind} file,")
        with _reading(kind):
            if kind == "Parquet":
                parquet = pa.parquet.ParquetFile(file)
                schema, metadata = parquet.schema_arrow, parquet.metadata.metadata
            else:
                schema = (pa.ipc.open_file if kind == "Arrow" else pa.ipc.open_stream)(file).schema
                metadata = schema.metadata
            names = schema.names
        yield _Table(pa, kind, names, metadata or {}, file, size)


@contextmanager
def _reading(kind: str) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise UnreadableError(f"is a damaged {kind} file, or does not fit in memory") from error
    except Exception as error:
        # pyarrow has many classes for what it finds wrong; all of them mean that the file cannot be used
        said = str(error).split("\n", 1)[0].rstrip(".")
        raise DamagedFileError(f"is a damaged or truncated {kind} file ({said})") from error


#: under which the notes stand in the metadata of a file
KEY = b"pt_reuse"
_VERSION = 1


@dataclass(frozen=True)
class TableNotes:
    """What a table says of its runs beside their rows."""

    order: str
    pool_order: str | None
    pool_depth: int | None
    runs: Sequence[Mapping[str, Any]]

    def packed(self) -> bytes:
        """Return them as ASCII text with a checksum."""
        said = {"version": _VERSION, **asdict(self)}
        return json.dumps({**said, "check": _digest(said)}).encode("ascii")

    @staticmethod
    def unpacked(data: bytes) -> TableNotes:
        """Return what :meth:`packed` was given; a ValueError where it is something else."""
        try:
            said = json.loads(data)
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        if not isinstance(said, dict) or said.pop("version", None) != _VERSION:
            raise ValueError(f"it is not of version {_VERSION}")
        if said.pop("check", None) != _digest({"version": _VERSION, **said}):
            raise ValueError("it is damaged")
        return TableNotes(**said)


def _digest(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()


def notes_of(path: Path) -> TableNotes | None:
    """Return what a table says of its runs, None where it says nothing; with a warning where that cannot be used."""
    try:
        with _opened(path) as table:
            data = table.metadata.get(KEY)
    except UnreadableError:
        # whoever reads the runs says what is wrong with it
        return None
    try:
        return None if data is None else TableNotes.unpacked(data)
    except ValueError as error:
        warn(f"what it says of its runs is left aside: {error}.", place=str(path))
        return None


class _Names(NamedTuple):
    """A column of names."""

    words: Words  # (names, k), some of them perhaps more than once or of no row
    codes: NDArray[np.int64]  # (rows,) which of them each row has
    bad: NDArray[np.bool_]  # (rows,) whether the row has none that can be used

    def numbered(self, rows: NDArray[np.int64], known: dict[str, int]) -> NDArray[np.int64]:
        """Return numbers for the names of some rows: those that are known, and further ones, which are added there."""
        codes = self.codes[rows]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.words)))
        same, first = tokens.factorize(self.words.take(used, axis=0))
        names = tokens.decode(tokens.as_tokens(self.words.take(used[first], axis=0)))
        numbers = np.zeros(len(self.words), dtype=np.int64)
        numbers[used] = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)[same]
        return numbers[codes]


def _name_column(pa: Any, column: Any) -> _Names:
    coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if coded else column.type
    if not pa.types.is_integer(kind) and not any(test(kind) for test in _text_tests(pa)):
        raise TypeError("text or whole numbers")
    if not coded or column.num_chunks > 1:
        column = column.cast(kind)
        column = column.cast(pa.string()) if pa.types.is_integer(kind) else column
        return _plain(column.cast(pa.large_binary()).combine_chunks())
    chunk = column.chunk(0)
    missing = chunk.indices.is_null().to_numpy(zero_copy_only=False)
    codes = chunk.indices.fill_null(0).cast(pa.int64()).to_numpy(zero_copy_only=False)
    words, _, bad = _name_column(pa, pa.chunked_array([chunk.dictionary]))
    if not len(bad):
        # all rows are without a name, and have a place to point at
        words, bad = np.zeros((1, 1), "<u8"), np.ones(1, dtype=np.bool_)
    return _Names(words, codes, missing | bad[codes])


def _text_tests(pa: Any) -> list[Callable[[Any], bool]]:
    names = ("is_string", "is_large_string", "is_string_view", "is_binary", "is_large_binary", "is_binary_view")
    return [getattr(pa.types, name) for name in names if hasattr(pa.types, name)]


def _plain(texts: Any) -> _Names:
    _, bounds, data = texts.buffers()
    n = len(texts)
    if not n:
        return _Names(np.zeros((0, 1), "<u8"), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_))
    offsets = np.frombuffer(bounds, dtype=np.int64)[texts.offset : texts.offset + n + 1]
    size = int(offsets[-1] - offsets[0])
    buffer = np.zeros(size + 8, dtype=np.uint8)
    if size:
        buffer[:size] = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    starts, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
    bad = (ends == starts) | (ends - starts > LONGEST_NAME)
    # the last row that begins at a byte is the one that holds it
    bad[np.searchsorted(starts, np.flatnonzero(buffer[:size] == 0), side="right") - 1] = True
    bad |= texts.is_null().to_numpy(zero_copy_only=False)
    return _Names(tokens.words_at(buffer, starts, np.where(bad, starts, ends)), np.arange(n), bad)


def _number_column(pa: Any, column: Any) -> NDArray[np.float64]:
    """Return numbers, NaN where there is none."""
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise TypeError("numbers (float or integer)")
    chunks = [chunk.to_numpy(zero_copy_only=False).astype(np.float64, copy=False) for chunk in column.chunks]
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


RUN_TABLE = "a row per document with the columns qid, docno and score"
SKIP_ROWS = " Pass bad_lines='skip' to leave out bad rows."
SKIP_FILE = " Pass other_files='skip' to leave out files without a row of a run."
#: the columns that make a bad row, in the order in which they are looked at
_CHECKED = ("qid", "docno", "score", "rank")
_NAME, _NUMBER = f"text of 1 to {LONGEST_NAME:,} bytes without NUL", "a finite number"
_ENDING = re.compile(r"\.(parquet|pq|arrow|feather|ipc)\Z")


class NoRunError(InputError):
    """A table without any row of a run."""


@dataclass(frozen=True)
class RowGroup:
    """The rows of one row group, in the order of the file."""

    part: RunPart  # those that can be used
    row: NDArray[np.int64]  # (rows,) which row of the file each of them is, from 1
    bad: NDArray[np.int64]  # (3, m) of those that cannot: the run, the row of the file, and why, see :func:`reason`


def reason(why: int) -> str:
    """Return in words why a row was left out."""
    return f"a {_CHECKED[why]} that is not {_must_be(_CHECKED[why])}"


def _must_be(column: str) -> str:
    return _NUMBER if column in ("score", "rank") else _NAME


class TableReading:
    """One reading of the runs in a table; rows of each run may stand anywhere."""

    def __init__(self, path: Path, order: str, fits: Callable[[int, int], None] = lambda rows, size: None):
        self.path, self.order, self._fits = path, order, fits
        self.names: dict[str, int] = {}
        self.topics: dict[str, int] = {}
        self.part = "row group"
        self._ends: list[int] = []
        self._listed: dict[str, int] = {}
        self._first_bad: tuple[str, str] | None = None
        self._good: set[int] = set()  # the runs that have a row that can be used
        self._bad: dict[int, tuple[int, int]] = {}  # of each run the first row that cannot, and why

    def ordered(self) -> list[str]:
        """Return the runs found so far as the writer of the table lists them, else in order of appearance."""
        return sorted(self.names, key=lambda name: self._listed.get(name, len(self._listed)))

    def groups(self) -> Iterator[RowGroup]:
        """Yield the row groups that have rows."""
        with _opened(self.path) as table:
            wanted = self._columns(table.columns)
            self.part = table.part
            try:
                runs = TableNotes.unpacked(table.metadata[KEY]).runs
                self._listed = {str(run["name"]): i for i, run in enumerate(runs)}
            except (KeyError, ValueError):
                self._listed = {}
            for group in table.groups(wanted, self._fits):
                before = self._ends[-1] if self._ends else 0
                self._ends.append(before + group.num_rows)
                if group.num_rows:
                    yield self._checked(table.pa, group, before)
                del group  # before the next one is read

    def check(self, *, skip: bool) -> None:
        """Raise unless what was read is runs; all row groups must have been read."""
        if not self._good and self._first_bad is None:
            raise NoRunError(f"the table has no rows; expected {RUN_TABLE}.{SKIP_FILE}")
        if self._first_bad is not None and not (skip and self._good):
            kind, advice = (InputError, SKIP_ROWS) if self._good else (NoRunError, SKIP_FILE)
            raise kind(f"{self._first_bad[0]}{advice}", place=self._first_bad[1])
        for name, run in self.names.items():
            if run not in self._good:
                row, why = self._bad[run]
                raise InputError(
                    f"all rows of run {shown(name)} are bad, the first for {reason(why)}. Mend them or drop the run.",
                    place=self.place(row),
                )

    def place(self, row: int) -> str:
        """Return in words where a row is that was read."""
        return f"row {row:,} ({self.part} {int(np.searchsorted(self._ends, row)) + 1:,})"

    def _columns(self, there: Sequence[str]) -> list[str]:
        needed = ("qid", "docno", "score", *(["rank"] if self.order == "rank" else []))
        try:
            columns("a table of runs", list(there), needed)
        except InputError as error:
            raise NoRunError(f"{error.text}{SKIP_FILE}") from None
        wanted = [*needed, *(column for column in ("rank", "name") if column in there and column not in needed)]
        twice = [column for column in wanted if list(there).count(column) > 1]
        if twice:
            raise NoRunError(f"more than one column {examples(twice)}. Drop or rename one.{SKIP_FILE}")
        return wanted

    def _checked(self, pa: Any, group: Any, before: int) -> RowGroup:
        def column(name: str, read: Callable[[Any, Any], Any]) -> Any:
            try:
                return read(pa, group[name])
            except TypeError as error:
                problem = f"the column {name!r} must hold {error}, got {group[name].type}. Write it as such."
                raise NoRunError(f"{problem}{SKIP_FILE}") from None

        qids, docnos, scores = (
            column("qid", _name_column),
            column("docno", _name_column),
            column("score", _number_column),
        )
        ranks = column("rank", _number_column) if "rank" in group.column_names else None
        if "name" in group.column_names:
            runs = self._runs(group, column("name", _name_column), before)
        else:
            own = _ENDING.sub("", self.path.name).removeprefix("input.") or self.path.name
            runs = np.full(group.num_rows, self.names.setdefault(own, 0))
        numbers = [scores] if ranks is None or self.order != "rank" else [scores, ranks]
        flaws = np.stack([qids.bad, docnos.bad, *(~np.isfinite(values) for values in numbers)])
        why, none = flaws.argmax(axis=0), ~flaws.any(axis=0)
        good, bad = np.flatnonzero(none), np.flatnonzero(~none)
        self._good.update(np.unique(runs[good]).tolist())
        self._note_bad(group, bad, why[bad], runs[bad], before)
        topic = qids.numbered(good, self.topics) if len(good) else good
        part = RunPart(
            topics=list(self.topics),
            topic=topic,
            docs=docnos.words.take(docnos.codes[good], axis=0),
            scores=scores[good],
            ranks=None if ranks is None else ranks[good],
            run=runs[good],
        )
        return RowGroup(part, good + before + 1, np.stack([runs[bad], bad + before + 1, why[bad]]))

    def _runs(self, group: Any, names: _Names, before: int) -> NDArray[np.int64]:
        odd = np.flatnonzero(names.bad)
        if len(odd):
            row = int(odd[0])
            raise InputError(
                f"the name of a run must be {_NAME}, got {_cell(group, 'name', row)} "
                f"(topic {_cell(group, 'qid', row)}, document {_cell(group, 'docno', row)}). "
                f"Give the row the name of its run, or drop the column where all rows are of one run.",
                place=self.place(before + row + 1),
            )
        return names.numbered(np.arange(group.num_rows), self.names)

    def _note_bad(
        self, group: Any, bad: NDArray[np.int64], why: NDArray[np.int64], runs: NDArray[np.int64], before: int
    ) -> None:
        for run, i in zip(*(part.tolist() for part in np.unique(runs, return_index=True)), strict=True):
            self._bad.setdefault(run, (int(bad[i]) + before + 1, int(why[i])))
        if len(bad) and self._first_bad is None:
            row, what = int(bad[0]), _CHECKED[int(why[0])]
            problem = (
                f"the {what} of run {shown(list(self.names)[int(runs[0])])}, topic {_cell(group, 'qid', row)}, "
                f"document {_cell(group, 'docno', row)}, must be {_must_be(what)}, got {_cell(group, what, row)}. "
                f"Mend the row, or leave the document out of the run."
            )
            self._first_bad = problem, self.place(before + row + 1)


def _cell(group: Any, column: str, row: int) -> str:
    value = group[column][row].as_py()
    if value is None:
        return "nothing"
    return shown(value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value)


def rows_in_table(
    reading: TableReading, lists: Sequence[tuple[str, str]], places: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], RowGroup, NDArray[np.int64]]]:
    """Yield which of some documents stand in a row group, the row group, and their rows in it."""
    before = np.zeros(len(lists), dtype=np.int64)
    for group in reading.groups():
        order, begins, ends = _rows_of_lists(reading, group, lists)
        here = np.flatnonzero((before < places) & (places <= before + ends - begins))
        if len(here):
            yield here, group, order[(begins + places - before - 1)[here]]
        before += ends - begins


def find_in_table(path: Path, order: str, wanted: Sequence[tuple[str, str, str]], most: int) -> list[str]:
    """Return in words the rows on which documents stand."""
    reading, rows_of = TableReading(path, order), [list[int]() for _ in wanted]
    for group in reading.groups():
        rows, begins, ends = _rows_of_lists(reading, group, [(run, topic) for run, topic, _ in wanted])
        for i, (_, _, docno) in enumerate(wanted):
            own = rows[begins[i] : ends[i]]
            docnos = tokens.decode(tokens.as_tokens(group.part.docs.take(own, axis=0)))
            same = [row for row, name in zip(group.row[own].tolist(), docnos, strict=True) if name == docno]
            rows_of[i] += same[: most - len(rows_of[i])]
    return [", ".join(map(reading.place, rows)) for rows in rows_of]


def _rows_of_lists(
    reading: TableReading, group: RowGroup, lists: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a row group by run and topic, and where those of some lists begin and end among them."""
    names, topics = reading.names, reading.topics
    # -1 is the key of a list of which no row was seen yet
    keys = np.array(
        [(names[run] << 32) | topics[topic] if run in names and topic in topics else -1 for run, topic in lists],
        dtype=np.int64,
    )
    held = (group.part.run << 32) | group.part.topic
    order = np.argsort(held, kind="stable")
    return order, np.searchsorted(held[order], keys), np.searchsorted(held[order], keys, "right")


@dataclass(frozen=True)
class TableLabels:
    """What tables say of their runs."""

    notes: Mapping[Path, TableNotes]

    @staticmethod
    def of(paths: Sequence[Path]) -> TableLabels:
        """Return what the tables among some files say."""
        said = {path: notes_of(path) for path in paths if is_table(path)}
        return TableLabels({path: notes for path, notes in said.items() if notes is not None})

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs in which anything stands of some of them."""
        cells = [cell for notes in self.notes.values() for run in notes.runs for cell in run.items()]
        return {column for column, value in cells if value is not None} - {"name"}

    def base(self, names: Sequence[str], paths: Sequence[Path]) -> pd.DataFrame | None:
        """Return the table of some runs as far as their files say what stands in it; None where no file does."""
        said = {(path, str(run["name"])): run for path, notes in self.notes.items() for run in notes.runs}
        if not self.notes.keys() & set(paths):
            return None
        rows = [said.get(key, {}) for key in zip(paths, names, strict=True)]
        table = given_metadata().table(names)
        for column in dict.fromkeys(column for row in rows for column in row if column != "name"):
            table[column] = _as_column([row.get(column) for row in rows], column)
        return table

    def how_pooled(self, given: HowPooled) -> HowPooled:
        """Return how the runs were pooled: what the user gives, and where this is nothing, what the tables say."""
        order = given.order or self._agreed("pool_order")
        return HowPooled(order, given.depth or self._agreed("pool_depth"))

    def _agreed(self, option: str) -> Any:
        said = {getattr(notes, option): path for path, notes in self.notes.items()}
        said.pop(None, None)
        if len(said) > 1:
            (mine, one), (theirs, other) = list(said.items())[:2]
            raise InputError(
                f"the runs in {one} were pooled with {option}={mine!r} by what it says, those in {other} with "
                f"{theirs!r}. Give both the same {option}=.",
                argument=option,
            )
        return next(iter(said), None)

    def tell(self, order: str) -> None:
        """Warn where the default order, which nobody had to choose, is another than that of a table."""
        others = [(path, notes.order) for path, notes in self.notes.items() if notes.order != order]
        if order == next(iter(ORDERS)) and others:
            path, written = others[0]
            warn(
                f"its runs were in the order {written!r} when they were written, and are ranked here by {order!r}. "
                "order='rank' keeps the ranks that they have in it.",
                place=str(path),
            )


def _plain_cell(value: Any) -> Any:
    # what is no text, number or flag is a text
    if is_missing(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | bool | int | float) else str(value)


def _as_column(values: list[Any], column: str) -> pd.Series:
    if column == "pooled":
        return pd.Series(values, dtype="boolean")
    kinds = {type(value) for value in values if value is not None}
    texts = column in ("team", "type") or str in kinds or len(kinds) != 1
    return pd.Series(values, dtype=object if texts else None)


_ENDINGS = (".parquet", ".arrow", ".feather")
_ROWS_AT_ONCE = 1 << 18  # of a row group; a topic that has more is a row group of its own
_PAGE = 8 << 20  # bytes of the distinct names of a row group that are kept once


def write_table(
    field: AnyField, table: pd.DataFrame, order: str, how_pooled: HowPooled, path: str | Path, *, overwrite: bool
) -> Path:
    """Write runs as one file; see :meth:`RunSet.write_table`."""
    flag("overwrite", overwrite)
    target = checked_path(path)
    if target.suffix not in _ENDINGS:
        problem = f"the file must end in {examples(_ENDINGS)}, which says what it is, got {target.name!r}."
        raise InputError(problem, argument="path")
    pa = arrow(f"writing {target.name}")
    check_writable(target.parent, [target.name], overwrite=overwrite, argument="path")
    names = table["name"].tolist()
    empty = [names[r] for r in np.flatnonzero(field.lengths.sum(axis=0) == 0)]
    if empty:
        raise InputError(
            f"{examples(empty)} has no documents, so no row of the table would be its own. Leave it out: "
            f"runs.select(...)."
        )
    labels = [{str(column): _plain_cell(value) for column, value in row.items()} for row in table.to_dict("records")]
    notes = TableNotes(order, how_pooled.order, how_pooled.depth, labels)
    columns = {"qid": pa.string(), "docno": pa.string(), "score": pa.float64(), "rank": pa.int64(), "name": pa.string()}
    schema = pa.schema([pa.field(*column, nullable=False) for column in columns.items()], {KEY: notes.packed()})
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as file, _writer(pa, file, schema, target.suffix) as writer:
            for topics in _row_groups(field.lengths.sum(axis=1).tolist()):
                rows = pa.concat_tables([_topic_rows(pa, schema, field, t, names) for t in topics]).combine_chunks()
                writer.write_table(rows, rows.num_rows)
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name {shown(error.object)} is no UTF-8, which all text of a table is. Write run files, which hold "
            "any bytes: runs.write(folder)."
        ) from error
    except OSError as error:
        problem = f"{target} cannot be written: {error.strerror or error}. What was there is as it was."
        raise InputError(problem, argument="path") from error
    return target


def _row_groups(rows: Sequence[int]) -> Iterator[range]:
    # consecutive topics of not much more than _ROWS_AT_ONCE rows together
    start, held = 0, 0
    for t, n in enumerate(rows):
        if held and held + n > _ROWS_AT_ONCE:
            yield range(start, t)
            start, held = t, 0
        held += n
    if held:
        yield range(start, len(rows))


def _topic_rows(pa: Any, schema: Any, field: AnyField, t: int, names: Sequence[str]) -> Any:
    """Return the rows of one topic: run by run, each list as it is ranked."""
    block, at = field.of(t)
    rows, lengths = block.rows(at), field.lengths[t]
    docnos = pa.array(tokens.decode(block.vocabulary[block.docs(at)]), pa.string())
    columns = [
        pa.repeat(pa.scalar(field.topics[t], pa.string()), int(lengths.sum())),
        docnos.take(pa.array(block.codes[rows])),
        pa.array(block.scores[rows]),
        pa.array(ranges(np.zeros_like(lengths), lengths)),
        pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), lengths))),
    ]
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def _writer(pa: Any, file: IO[bytes], schema: Any, ending: str) -> Iterator[Any]:
    if ending == ".parquet":
        repeated = [name for name in schema.names if name != "score"]
        options = {"use_dictionary": repeated, "dictionary_pagesize_limit": _PAGE, "write_page_checksum": True}
        writer = pa.parquet.ParquetWriter(file, schema, compression="zstd", **options)
    else:
        writer = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    with writer:
        yield writer
