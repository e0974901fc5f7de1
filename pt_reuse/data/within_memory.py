"""Reading runs within a bound of memory: rows go to the disk as they are parsed, and are coded block by block.

A file is parsed chunk by chunk (a table row group by row group) into a spool. When all topics and their sizes are
known, the rows are sorted into one file for each block of neighbouring topics, and each of these is coded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._errors import InputError, located
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Repeats, build_field
from pt_reuse.arrays.lists import natural_order, neighbours
from pt_reuse.arrays.open_field import OpenField
from pt_reuse.arrays.places import FileRows, NoPlaceError, Places, RunRows
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.array_file import StoredBlocks, block_name, checksums, write_block
from pt_reuse.data.budget import Budget
from pt_reuse.data.coding import repeat_faults
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.packed_files import (
    LONGEST_START,
    UnreadableError,
    chunks_of_lines,
    give_back,
    in_memory,
    kind_of_table,
    read_beginning,
    read_blocks,
)
from pt_reuse.data.parsing import (
    Conventions,
    FileRun,
    LinesInFiles,
    ReadField,
    longer_lines,
    many_tags,
    no_run,
    no_table,
    packed_table,
    run_names_of,
    unreadable,
)
from pt_reuse.data.run_parts import RunParts, rows_in_file
from pt_reuse.data.tables import TableReading, is_table, reason, rows_in_table, tied_row
from pt_reuse.data.trec import tied_rank

#: a row is written as 8-byte words: its run and topic, its rank, its score, and the words of its document name
_LIST, _RANK, _SCORE, _DOCS = range(4)


def _write_rows(file: IO[bytes], rows: Words) -> None:
    file.write(np.array(rows.shape, dtype="<i8").tobytes())
    file.write(rows.data)


def _stored_rows(path: Path) -> Iterator[Words]:
    with path.open("rb") as file:
        while head := file.read(16):
            yield _read_rows(file, *np.frombuffer(head, dtype="<i8").tolist())


def _read_rows(file: IO[bytes], n: int, width: int) -> Words:
    return np.fromfile(file, "<u8", n * width).reshape(-1, width)


@dataclass
class _Spool:
    """The rows of a file as they were parsed, in order."""

    path: Path
    sizes: NDArray[np.int32] = field(default_factory=lambda: np.zeros((1, 64), dtype=np.int32))
    ranked: bool = True
    width: int = 1

    def append(
        self,
        file: IO[bytes],
        run: NDArray[np.int64] | int,
        topic: NDArray[np.int64],
        docs: Words,
        scores: NDArray[np.float64],
        ranks: NDArray[np.float64] | None,
    ) -> None:
        """Add rows."""
        if not len(topic):
            return
        rows = np.empty((len(topic), _DOCS + docs.shape[1]), dtype="<u8")
        numbers = rows.view("<f8")
        rows[:, _LIST], numbers[:, _SCORE], rows[:, _DOCS:] = (run << 32) | topic, scores, docs
        numbers[:, _RANK] = np.nan if ranks is None else ranks
        _write_rows(file, rows)
        self.ranked, self.width = ranks is not None, max(self.width, docs.shape[1])
        needed = int(np.max(run)) + 1, int(topic.max()) + 1
        if needed[0] > self.sizes.shape[0] or needed[1] > self.sizes.shape[1]:
            room = [(0, 2 * n - had if n > had else 0) for n, had in zip(needed, self.sizes.shape, strict=True)]
            self.sizes = np.pad(self.sizes, room)
        np.add.at(self.sizes.reshape(-1), run * self.sizes.shape[1] + topic, 1)  # fast along one axis alone


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


@dataclass
class _SpooledRun(FileRun):
    """What came of a run: its rows are in a spool under a number; None where it is no run."""

    spool: _Spool | None = None
    number: int = 0


class _StoppedError(Exception):
    """Another file, or the user, ended the reading."""


class _Topics:
    """The topics of all files, numbered as they appear."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def of(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of some topics."""
        with self._lock:
            return np.array([self.numbers.setdefault(name, len(self.numbers)) for name in names], dtype=np.int64)


class _Spooling:
    """Parses run files into spools in a folder."""

    def __init__(self, folder: Path, conventions: Conventions, budget: Budget):
        self.conventions, self.budget, self.topics = conventions, budget, _Topics()
        self._skip = conventions.bad_lines == "skip"
        self._stop, numbers = threading.Event(), count()
        self._spool = lambda: _Spool(folder / f"spool-{next(numbers)}")

    def read(self, paths: Sequence[Path], *, verbose: bool) -> list[_SpooledRun]:
        """Return what came of run files."""
        context, in_tables = copy_context(), [is_table(path) for path in paths]
        with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

            def read(parse: Callable[[Path], list[_SpooledRun]], path: Path) -> list[_SpooledRun]:
                with located(str(path)), in_memory():
                    found = parse(path)
                bar.update(1)
                return found

            pool = ThreadPoolExecutor(self.budget.parsers)
            try:
                # a thread begins without the caller's context, which says where errors are
                texts = [path for path, table in zip(paths, in_tables, strict=True) if not table]
                found = iter(list(pool.map(lambda path: context.copy().run(read, self._text, path), texts)))
            finally:
                # after ctrl-C, or on a full disk, files are not read to their end
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
            # a table may take all of the memory
            return [
                run
                for path, table in zip(paths, in_tables, strict=True)
                for run in (read(self._table, path) if table else next(found))
            ]

    def _text(self, path: Path) -> list[_SpooledRun]:
        parts = RunParts(lambda: self._chunks(path), self.conventions.order, skip=self._skip)
        spool = self._spool()
        try:
            if kind := kind_of_table(read_beginning(path, LONGEST_START)):
                for _ in read_blocks(path):
                    pass  # what is wrong with its packing is told first
                return [_SpooledRun(path, fault=packed_table(kind))]
            with spool.path.open("wb") as file:
                for part in parts.read():
                    numbers = self.topics.of(part.topics)
                    spool.append(file, 0, numbers[part.topic], part.docs, part.scores, part.ranks)
        except UnreadableError as error:
            return [_SpooledRun(path, fault=unreadable(error))]
        except InputError as error:
            if self.conventions.other_files == "error" or parts.has_run_lines():
                return [_SpooledRun(path, fault=error)]
            return [_SpooledRun(path, left_out=no_run(error))]
        if self.conventions.names == "tag" and len(parts.tags) > 1:
            return [_SpooledRun(path, fault=many_tags(parts.tags, len(parts.tags)))]
        bad, tag = np.concatenate(parts.bad), next(iter(parts.tags))
        return [_SpooledRun(path, tag, None, None, parts.commented, parts.longer, bad, parts.reasons, spool=spool)]

    def _chunks(self, path: Path) -> Iterator[bytes]:
        for data in chunks_of_lines(path, self.budget.chunk, self.budget.longest):
            if self._stop.is_set():
                raise _StoppedError
            yield data

    def _table(self, path: Path) -> list[_SpooledRun]:
        spool, budget = self._spool(), self.budget
        reading = TableReading(
            path, self.conventions.order, lambda rows, size: budget.check_group(rows, size, spool.sizes.nbytes)
        )
        bad = [np.zeros((3, 0), dtype=np.int64)]
        try:
            with spool.path.open("wb") as file:
                for group in reading.groups():
                    numbers = self.topics.of(list(reading.topics))
                    spool.append(file, group.run, numbers[group.topic], group.docs, group.scores, group.ranks)
                    bad.append(np.stack([group.bad_run, group.bad_row, group.bad_why]))
                    del group  # before the next one is read
            reading.check(skip=self._skip)
        except (UnreadableError, InputError) as error:
            return [_SpooledRun(path, None, *no_table(error, self.conventions), table=True)]
        of_run, row, why = np.concatenate(bad, axis=1)
        found = []
        for name in reading.ordered():
            number = reading.names[name]
            mine = np.flatnonzero(of_run == number)
            left_out = {"bad": row[mine], "reasons": [reason(code) for code in why[mine].tolist()]}
            found.append(_SpooledRun(path, name, table=True, spool=spool, number=number, **left_out))
        return found


class _Coding:
    """The runs of some spools, coded block by block."""

    def __init__(self, runs: Sequence[FileRun], names: list[str], spooling: _Spooling, folder: Path):
        self._runs = [run for run in runs if isinstance(run, _SpooledRun)]
        self.names, self.conventions, self.budget, self._folder = names, spooling.conventions, spooling.budget, folder
        self.lines = LinesInFiles(self._runs, self.conventions.order)
        self._spools = [run.spool for run in self._runs if run.spool is not None]
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
        self._ties: dict[int, tuple[int, int]] = {}

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
            column[[run.number for run in self._runs if run.spool is spool]] = [
                r for r, run in enumerate(self._runs) if run.spool is spool
            ]
            for rows in _stored_rows(spool.path):
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
        file = FileRows(names, topic, lambda some: rows[some, _DOCS:], numbers[:, _SCORE])
        places = None
        if self.ranked[r]:
            places = Places.of_rank_column(file.starts, file.grouped(numbers[:, _RANK]))
            if self.conventions.order == "rank":
                places = self._checked(r, places, file.starts, held)
        return file.in_order(self.names[r], self.conventions.order, places)

    def _checked(self, r: int, places: Places, starts: NDArray[np.int64], held: NDArray[np.int64]) -> Places:
        try:
            places.check(starts)
        except NoPlaceError as error:
            t = int(np.searchsorted(starts, error.row, side="right")) - 1
            self._ties.setdefault(r, (int(held[t]), error.row - int(starts[t]) + 1))
            return Places.none()
        return places

    def _keep(self, part: range, repeats: Repeats) -> None:
        found = Repeats(repeats.run, repeats.topic + part.start, repeats.docs, repeats.place)
        if self.conventions.duplicates == "error":
            first = np.zeros(len(found), dtype=np.bool_)
            first[np.unique(found.run, return_index=True)[1]] = True
            found = _some(found, first)
        self._repeats.append(found)

    def ties(self) -> dict[int, InputError]:
        """Return for each run with two documents of one rank what is wrong, by position."""
        return {r: self._tie(r, self.topics[t], at) for r, (t, at) in sorted(self._ties.items())}

    def _tie(self, r: int, topic: str, at: int) -> InputError:
        run, place = self._runs[r], np.array([at])
        with located(str(run.path)):
            if run.table:
                reading = TableReading(run.path, "rank")
                for _, group, rows in rows_in_table(reading, [(run.tag or "", topic)], place):
                    rank = np.nan if group.ranks is None else float(group.ranks[rows[0]])
                    return tied_row(
                        run.tag or "", topic, group.docs[rows], rank, reading.place(int(group.row[rows[0]]))
                    )
            chunks = chunks_of_lines(run.path, self.budget.chunk, self.budget.longest)
            for fields, _, rows in rows_in_file(chunks, "rank", [topic], place):
                return tied_rank(fields, int(rows[0]))
            raise _changed()

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


def _changed() -> InputError:
    return InputError("it changed while it was read. Read the runs again.")


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
            raise InputError(*_changed().parts, place=str(path))
    coding = partial(_Coding, spooling=spooling, folder=spools)
    runs, names = run_names_of(files, len(paths), conventions, lambda some, called: coding(some, called).faults())
    made = coding(runs, names)
    made.write(blocks, verbose=verbose)
    ties = made.ties()
    faults = (made.repeat_faults() if conventions.duplicates == "error" else {}) | ties
    if faults:
        of, noun = (len(paths), "files") if ties else (len(runs), "runs")
        raise InputError.of_several([faults[r] for r in sorted(faults)], of, noun)
    name_of = {id(run): name for run, name in zip(runs, names, strict=True)}
    dropped = [part for file in files for part in file.dropped(name_of.get(id(file)))]
    every = Dropped.stacked([*dropped, *made.dropped()]).by_file([*dict.fromkeys(str(path) for path in paths)])
    commented = tuple(i for i, run in enumerate(runs) if run.commented)
    place = {path: i for i, path in enumerate(paths)}
    of_files = tuple(place[run.path] for run in runs)
    paths_of = ((str(blocks.absolute() / block_name(part.start, part.stop)), len(part)) for part in made.parts)
    field = OpenField(made.topics, made.parts, made.lengths, made.ranked, StoredBlocks(tuple(paths_of)))
    return ReadField(field, names, every.frame, longer_lines(files), commented, of_files)
