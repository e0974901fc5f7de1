"""Reading runs within a bound of memory: rows go to the disk as they are parsed, and are coded block by block.

A file is parsed chunk by chunk (a table row group by row group) into a spool. When all topics and their sizes are
known, the rows are sorted into one file for each block of neighbouring topics, and each of these is coded.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import count, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Repeats, build_field
from pt_reuse.arrays.lists import natural_order, neighbours
from pt_reuse.arrays.open_field import OpenField
from pt_reuse.arrays.places import FileRows, RunRows
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.array_file import StoredBlocks, block_name, checksums, write_block
from pt_reuse.data.coding import repeat_faults
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.lines import RunPart
from pt_reuse.data.packed_files import LONGEST_START, chunks_of_lines, give_back, read_beginning
from pt_reuse.data.parsing import (
    Conventions,
    FileRun,
    Kept,
    LinesInFiles,
    ReadField,
    RunFiles,
    TiedError,
    changed,
    field_of_files,
    in_ranking_order,
    of_files,
    run_names_of,
    tied_line,
    tied_row,
)
from pt_reuse.data.tables import is_table
from pt_reuse.errors import InputError, located

#: bytes of the least that can be given
LEAST = 64 * 10**6
_UNITS = {"": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_TEXT = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)
#: bytes that reading a chunk takes, for each of its own
_OF_CHUNK = 16
#: bytes of the largest chunk, beyond which nothing is faster, and of the least
_LARGEST, _SMALLEST = 1 << 22, 1 << 19
#: bytes that reading a row of a table takes, and for each byte of its columns
_OF_TABLE_ROW, _OF_TABLE_BYTE = 120, 5
_TABLE_ROW = 60  # bytes of a row of a table, about
#: bytes that coding a row takes, and for each word of the longest document name
_OF_ROW, _OF_WORD = 144, 72
#: of the memory what is left to what nobody counts: tables of topics, buffers of the system
_SPARE = 0.15
#: how many times its file a block takes when a study works with it
_OF_BLOCK = 4


def memory_bytes(memory: Any) -> int:
    """Return a user's ``memory=`` in bytes, be it a number or a text such as ``"1.5 GiB"``, or say what is wrong."""
    if isinstance(memory, str):
        found = _TEXT.fullmatch(memory)
        if found:
            number, unit, binary = found.groups()
            power = _UNITS[unit.upper()]
            size = float(number) * ((1024 if binary else 1000) ** power if unit else 1)
            if (unit or not binary) and math.isfinite(size):
                return _enough(int(size), memory)
    elif not isinstance(memory, bool):
        try:
            return _enough(operator.index(memory), memory)
        except TypeError:
            pass
    raise InputError(
        f"memory must be a number of bytes or a text such as '500MB', '2GB' or '1.5 GiB', got {shown(memory)}.",
        argument="memory",
    )


def _enough(size: int, memory: Any) -> int:
    if size < LEAST:
        raise InputError(
            f"memory must be at least {in_units(LEAST)}, got {shown(memory)}. A topic of all runs is held at once.",
            argument="memory",
        )
    return size


def in_units(size: float) -> str:
    """Write a number of bytes as people do: ``64 MB``, ``1.5 GB``."""
    for unit, one in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size:.0f} bytes"


@dataclass(frozen=True)
class Budget:
    """What may be held in memory, in bytes, and how many threads may work at once."""

    memory: int
    threads: int

    @property
    def parsers(self) -> int:
        """Return how many files are parsed at once."""
        return max(1, min(self.threads, self.usable // (_OF_CHUNK * _SMALLEST)))

    @property
    def chunk(self) -> int:
        """Return the bytes of a file that are parsed at once."""
        return min(_LARGEST, self.longest)

    @property
    def longest(self) -> int:
        """Return the bytes of the longest line that is read."""
        return self.usable // (_OF_CHUNK * self.parsers)

    @property
    def usable(self) -> int:
        """Return the bytes of which somebody keeps count."""
        return int(self.memory * (1 - _SPARE))

    def rows(self, width: int, tables: int) -> int:
        """Return how many rows with names of `width` words can be coded at once beside so many bytes of tables."""
        return max(0, self.usable - tables) // _cost(width)

    def check_group(self, rows: int, size: int, held: int) -> None:
        """Raise unless a row group of so many rows and bytes can be read beside so many bytes."""
        if _of_group(rows, size, held) > self.usable:
            # how many bytes there are is known only when they are read; what is told should do then
            needed = _of_group(rows, max(size, rows * _TABLE_ROW), held)
            how = "write the table in smaller parts, as pyarrow.parquet.write_table(..., row_group_size=100_000) does"
            what = f"{count(rows, 'row')} of {in_units(size)} are read at once: this takes about"
            raise self._too_little(what, needed, how)

    def holds(self, size: int) -> bool:
        """Return whether a study can work with a block whose file has a size."""
        return _OF_BLOCK * size <= self.memory

    def check_topic(self, topic: str, rows: int, width: int, tables: int) -> None:
        """Raise unless the rows of one topic can be coded."""
        if rows > self.rows(width, tables):
            what = f"topic {topic!r} has {rows:,} rows in all runs, which are held at once: this takes about"
            raise self._too_little(what, rows * _cost(width) + tables, "read fewer runs at a time")

    def _too_little(self, what: str, size: float, how: str) -> InputError:
        needed = size / (1 - _SPARE)
        memory = in_units(1.05 * needed).replace(" ", "")
        parts = f"{what} {in_units(needed)}, and memory is {in_units(self.memory)}. Pass "
        return InputError(f"{parts}memory={memory!r}, or {how}.", argument="memory")


def _of_group(rows: int, size: int, held: int) -> int:
    return rows * _OF_TABLE_ROW + size * _OF_TABLE_BYTE + held


def _cost(width: int) -> int:
    return _OF_ROW + _OF_WORD * width


#: a row is written as 8-byte words: its run and topic, its rank, its score, and the words of its document name
_LIST, _RANK, _SCORE, _DOCS = range(4)


def _read_rows(file: IO[bytes], n: int, width: int) -> Words:
    return np.fromfile(file, "<u8", n * width).reshape(-1, width)


class _Topics:
    """The topics of all files, numbered as they appear."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._lock = Lock()

    def of(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of some topics."""
        with self._lock:
            return np.array([self.numbers.setdefault(name, len(self.numbers)) for name in names], dtype=np.int64)


class _Spool(Kept):
    """The rows of a file as they were parsed, in order, on the disk."""

    def __init__(self, path: Path, topics: _Topics, budget: Budget):
        self.path, self._topics, self._budget = path, topics, budget
        self.sizes = np.zeros((1, 64), dtype=np.int32)  # (runs, topics) rows, with room for more
        self.ranked, self.width = True, 1

    def check_group(self, rows: int, size: int) -> None:
        """Raise where there is not the memory for a row group."""
        self._budget.check_group(rows, size, self.sizes.nbytes)

    def take(self, parts: Iterator[RunPart]) -> None:
        """Write the rows."""
        with self.path.open("wb") as file:
            for part in parts:
                if len(part.topic):
                    self._append(file, part)
                del part  # before the next one is read

    def _append(self, file: IO[bytes], part: RunPart) -> None:
        run, topic, width = part.run, self._topics.of(part.topics)[part.topic], part.docs.shape[1]
        rows = np.empty((len(topic), _DOCS + width), dtype="<u8")
        numbers = rows.view("<f8")
        rows[:, _LIST], numbers[:, _SCORE], rows[:, _DOCS:] = (run << 32) | topic, part.scores, part.docs
        numbers[:, _RANK] = np.nan if part.ranks is None else part.ranks
        file.write(np.array(rows.shape, dtype="<i8").tobytes())
        file.write(rows.data)
        self.ranked, self.width = part.ranks is not None, max(self.width, width)
        needed = int(np.max(run)) + 1, int(topic.max()) + 1
        if needed[0] > self.sizes.shape[0] or needed[1] > self.sizes.shape[1]:
            room = [(0, 2 * n - had if n > had else 0) for n, had in zip(needed, self.sizes.shape, strict=True)]
            self.sizes = np.pad(self.sizes, room)
        np.add.at(self.sizes.reshape(-1), run * self.sizes.shape[1] + topic, 1)  # fast along one axis alone

    def rows(self) -> Iterator[Words]:
        """Yield the rows as they were written."""
        with self.path.open("rb") as file:
            while head := file.read(16):
                yield _read_rows(file, *np.frombuffer(head, dtype="<i8").tolist())


class _BlockFile:
    """The rows of all runs on the topics of a block, from which those of one run can be read."""

    def __init__(self, path: Path):
        self.path, self._pieces = path, [np.zeros((4, 0), dtype=np.int64)]

    def append(self, run: NDArray[np.int64], rows: Words) -> None:
        """Add rows, run by run."""
        runs, starts, sizes = np.unique(run, return_index=True, return_counts=True)
        with self.path.open("ab") as file:
            begins = file.tell() + starts * rows[0].nbytes
            file.write(rows.data)
        self._pieces.append(np.stack([runs, begins, sizes, np.full(len(runs), rows.shape[1])]))

    def by_run(self, n: int) -> list[NDArray[np.int64]]:
        """Return for each of n runs the pieces of its rows in the file, in order."""
        pieces = np.concatenate(self._pieces, axis=1)
        pieces = pieces[:, np.argsort(pieces[0], kind="stable")]
        return np.split(pieces[1:], np.searchsorted(pieces[0], np.arange(1, n)), axis=1)

    def rows(self, pieces: NDArray[np.int64]) -> Words:
        """Return the rows of some pieces."""
        found = []
        with self.path.open("rb") as file:
            for begin, size, width in pieces.T.tolist():
                file.seek(begin)
                found.append(_read_rows(file, size, width))
        return tokens.stacked(found) if found else np.zeros((0, _DOCS + 1), dtype="<u8")


class _StoppedError(Exception):
    """Another file, or the user, ended the reading."""


class _Spooling(RunFiles):
    """Reads run files chunk by chunk into spools in a folder."""

    def __init__(self, folder: Path, conventions: Conventions, budget: Budget):
        super().__init__(conventions, budget.parsers)
        self.budget, self.topics, self._folder, self._numbers = budget, _Topics(), folder, itertools.count()

    def opened(self, path: Path) -> tuple[bytes, Callable[[], Iterator[bytes]]]:
        """Return how a text begins, and what reads it."""
        return read_beginning(path, LONGEST_START), lambda: self._chunks(path)

    def _chunks(self, path: Path) -> Iterator[bytes]:
        for data in chunks_of_lines(path, self.budget.chunk, self.budget.longest):
            if self.stopped.is_set():
                raise _StoppedError
            yield data

    def kept(self) -> _Spool:
        """Return a spool."""
        return _Spool(self._folder / f"spool-{next(self._numbers)}", self.topics, self.budget)

    def by_itself(self, path: Path) -> bool:
        """Return whether a file is a table: each may take all of the memory."""
        return is_table(path)


class _Coding:
    """The runs of some spools, coded block by block."""

    def __init__(self, runs: Sequence[FileRun], names: list[str], spooling: _Spooling, folder: Path):
        self._runs = list(runs)
        self.names, self.conventions, self.budget, self._folder = names, spooling.conventions, spooling.budget, folder
        self.lines = LinesInFiles(self._runs, self.conventions.order)
        self._spools: list[_Spool] = [run.rows for run in runs]
        known = list(spooling.topics.numbers)
        sizes = np.zeros((len(known), len(names)), dtype=np.int32)
        for r, (run, spool) in enumerate(zip(self._runs, self._spools, strict=True)):
            held = spool.sizes[run.number, : len(known)]
            sizes[: len(held), r] = held
        there = np.flatnonzero(sizes.any(axis=1))
        numbers = there[natural_order([known[t] for t in there.tolist()])]
        self.topics = tuple(known[t] for t in numbers.tolist())
        self.lengths = sizes[numbers]
        self._place = np.full(len(known), -1, dtype=np.int64)
        self._place[numbers] = np.arange(len(numbers))
        self.ranked = np.array([spool.ranked for spool in self._spools], dtype=np.bool_)
        self.parts = self._cut()
        self._repeats: list[Repeats] = []
        self._ties: dict[int, TiedError] = {}

    def _cut(self) -> list[range]:
        width, tables = max((spool.width for spool in self._spools), default=1), 3 * self.lengths.nbytes
        rows = self.lengths.sum(axis=1, dtype=np.int64)
        if len(rows):
            largest = int(np.argmax(rows))
            self.budget.check_topic(self.topics[largest], int(rows[largest]), width, tables)
        return neighbours(rows, self.budget.rows(width, tables))

    def write(self, folder: Path | None, *, verbose: bool) -> None:
        """Code all blocks, and write them to a folder, if any, unless something is found to be wrong with the runs."""
        files = self._sorted()
        with pt.tqdm(total=len(self.parts), desc="coding runs", unit="block", disable=not verbose) as bar:
            for part, file in zip(self.parts, files, strict=True):
                give_back()
                self._write_block(part, file, folder)
                bar.update(1)

    def _sorted(self) -> list[_BlockFile]:
        # the rows of each block in a file of their own
        files = [_BlockFile(self._folder / f"block-{i}") for i in range(len(self.parts))]
        part_of = np.repeat(np.arange(len(self.parts)), [len(part) for part in self.parts])
        for spool in {id(spool): spool for spool in self._spools}.values():
            column = np.full(len(spool.sizes), -1, dtype=np.int64)
            column[[run.number for run in self._runs if run.rows is spool]] = [
                r for r, run in enumerate(self._runs) if run.rows is spool
            ]
            for rows in spool.rows():
                lists = rows[:, _LIST].view(np.int64)
                run, topic = column[lists >> 32], self._place[lists & 0xFFFFFFFF]
                rows[:, _LIST] = topic
                part = part_of[topic]
                order = np.lexsort((run, part))
                parts, starts = np.unique(part[order], return_index=True)
                for i, mine in zip(parts.tolist(), np.split(order, starts[1:]), strict=True):
                    files[i].append(run[mine], rows.take(mine, axis=0))
            spool.path.unlink()
        return files

    def _write_block(self, part: range, file: _BlockFile, folder: Path | None) -> None:
        with ThreadPoolExecutor(self.budget.threads) as pool:
            pieces = file.by_run(len(self.names))
            runs = list(pool.map(lambda r: self._rows(r, file.rows(pieces[r])), range(len(self.names))))
        file.path.unlink()
        block, repeats = build_field(runs, threads=self.budget.threads)
        if len(repeats):
            self._keep(part, repeats)
        self.lengths[part.start : part.stop] = block.lengths if block.n_topics else 0
        if folder is not None and not self._ties and (self.conventions.duplicates == "best" or not self._repeats):
            write_block(folder / block_name(part.start, part.stop), block)

    def _rows(self, r: int, rows: Words) -> RunRows:
        held, topic = np.unique(rows[:, _LIST].astype(np.int64), return_inverse=True)
        names, numbers = [self.topics[t] for t in held.tolist()], rows.view("<f8")
        file = FileRows(names, topic, rows[:, _DOCS:], numbers[:, _SCORE])
        try:
            ranks = numbers[:, _RANK] if self.ranked[r] else None
            return in_ranking_order(self.names[r], file, ranks, self.conventions.order)
        except TiedError as tie:
            self._ties.setdefault(r, tie)
            return file.in_order(self.names[r], "file", None)

    def _keep(self, part: range, repeats: Repeats) -> None:
        found = Repeats(repeats.run, repeats.topic + part.start, repeats.docs, repeats.place)
        if self.conventions.duplicates == "error":
            first = np.zeros(len(found), dtype=np.bool_)
            first[np.unique(found.run, return_index=True)[1]] = True
            found = _some(found, first)
        self._repeats.append(found)

    def ties(self) -> dict[int, InputError]:
        """Return for each run with two documents of one rank what is wrong, by position."""
        return {r: self._tie(self._runs[r], tie.topic, tie.at) for r, tie in sorted(self._ties.items())}

    def _tie(self, run: FileRun, topic: str, at: int) -> InputError:
        with located(str(run.path)):
            if run.table:
                return tied_row(run.path, run.tag or "", topic, at)
            return tied_line(chunks_of_lines(run.path, self.budget.chunk, self.budget.longest), topic, at)

    def repeat_faults(self) -> dict[int, InputError]:
        """Return for each run with a document twice in a list what is wrong, the first such document, by position."""
        faults: dict[int, InputError] = {}
        for repeats in self._repeats:
            new = _some(repeats, ~np.isin(repeats.run, list(faults)))
            faults |= repeat_faults(self.topics, new, self.names, self.lines.told)
        return dict(sorted(faults.items()))

    def faults(self) -> dict[int, InputError]:
        """Return all that is wrong with the runs, which are coded for it and kept nowhere."""
        self.write(None, verbose=False)
        return self.repeat_faults() | self.ties()

    def dropped(self) -> Iterator[Dropped]:
        """Yield the rows of documents that stand in their list again."""
        if self._repeats:
            give_back()
            parts = self._repeats
            run, topic, place = (
                np.concatenate([getattr(part, name) for part in parts]) for name in ("run", "topic", "place")
            )
            repeats = Repeats(run, topic, tokens.stacked([part.docs for part in parts]), place)
            at = self.lines.of_repeats(self.topics, repeats)
            yield Dropped.of_repeats(repeats, self.names, self.topics, files=self.lines.files, lines=at)


def _some(repeats: Repeats, chosen: NDArray[np.bool_]) -> Repeats:
    return Repeats(repeats.run[chosen], repeats.topic[chosen], repeats.docs[chosen], repeats.place[chosen])


def read_within(
    paths: Sequence[Path],
    spools: Path,
    blocks: Path,
    conventions: Conventions,
    budget: Budget,
    *,
    checks: Sequence[str],
    verbose: bool,
) -> ReadField:
    """Return the field of some run files with the given checksums, whose blocks are written to a folder."""
    spooling = _Spooling(spools, conventions, budget)
    files = spooling.read(paths, verbose=verbose)
    for path, before, now in zip(paths, checks, checksums(paths, budget.threads), strict=True):
        if before != now:
            raise InputError(changed().text, place=str(path))
    coding = partial(_Coding, spooling=spooling, folder=spools)
    runs, names = run_names_of(files, len(paths), conventions, lambda some, called: coding(some, called).faults())
    made = coding(runs, names)
    made.write(blocks, verbose=verbose)
    ties = made.ties()
    faults = (made.repeat_faults() if conventions.duplicates == "error" else {}) | ties
    if ties:
        raise of_files(((runs[r].path, faults[r]) for r in sorted(faults)), len(paths))
    if faults:
        raise InputError.of_several(list(faults.values()), len(runs), "runs")
    paths_of = ((str(blocks.absolute() / block_name(part.start, part.stop)), len(part)) for part in made.parts)
    field = OpenField(made.topics, made.parts, made.lengths, made.ranked, StoredBlocks(tuple(paths_of)))
    return field_of_files(field, paths, files, runs, names, made.dropped())
