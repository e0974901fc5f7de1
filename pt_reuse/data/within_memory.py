"""Reading runs within a bound of memory: rows go to the disk as they are parsed, and are coded block by block."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field, Repeats, build_field
from pt_reuse.arrays.lists import natural_order, neighbours
from pt_reuse.arrays.places import FileRows, NoPlaceError, RunRows, check_places, rank_places
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.coding import repeat_faults
from pt_reuse.data.lines import RunPart
from pt_reuse.data.packed_files import give_back
from pt_reuse.data.parsing import (
    Conventions,
    FileRun,
    LinesInFiles,
    ReadField,
    RunFiles,
    TiedError,
    field_of_files,
    in_ranking_order,
    run_names_of,
)
from pt_reuse.data.tables import is_table
from pt_reuse.errors import InputError

#: bytes of the least that can be given
LEAST = 64 * 10**6
_UNITS = {"": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_TEXT = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)
#: bytes of a file that are parsed at once, and of its longest line; a thread takes some twenty times a chunk
_CHUNK, _LONGEST, _OF_THREAD = 1 << 20, 1 << 21, 32 * 10**6
#: bytes that coding a row takes, its document's name of up to 32 bytes included
_OF_ROW = 512


def memory_bytes(memory: Any) -> int:
    """Return a user's ``memory=`` in bytes, be it a number or a text such as ``"1.5 GiB"``, or say what is wrong."""
    size: int | None = None
    if isinstance(memory, str) and (found := _TEXT.fullmatch(memory)):
        number, unit, binary = found.groups()
        exact = float(number) * (1024 if binary else 1000) ** (_UNITS[unit.upper()] if unit else 0)
        size = int(exact) if (unit or not binary) and math.isfinite(exact) else None
    elif not isinstance(memory, bool | str) and hasattr(memory, "__index__"):
        size = operator.index(memory)
    if size is None:
        raise InputError(
            f"memory must be bytes or a text such as '500MB' or '1.5 GiB', got {shown(memory)}.", argument="memory"
        )
    if size < LEAST:
        raise InputError(f"memory must be at least {LEAST // 10**6} MB, got {shown(memory)}.", argument="memory")
    return size


def rows_at_once(memory: int) -> int:
    """Return how many rows a block may have; a topic that has more is a block of its own."""
    return memory // _OF_ROW


#: what stands in a row on the disk, in words of 8 bytes: its rank, its score, and the words of its document's name
_RANK, _SCORE, _DOCS = range(3)
#: what is known of a piece, the rows of one list in one chunk: run, topic, first byte, rows, words of a row
_RUN, _TOPIC, _BEGIN, _ROWS, _WIDTH = range(5)
Pieces = NDArray[np.int64]


class _Spool:
    """The rows of a file on the disk, piece by piece."""

    def __init__(self, path: Path, parts: Iterator[RunPart]):
        self.path, self.ranked = path, True
        self.topics: dict[str, int] = {}  # numbered as they appear
        pieces: list[Pieces] = [np.zeros((5, 0), dtype=np.int64)]
        with path.open("wb") as file:
            for part in parts:
                if len(part.topic):
                    pieces.append(self._append(file, part))
                del part  # before the next one is read
        self.pieces = np.concatenate(pieces, axis=1)

    def _append(self, file: Any, part: RunPart) -> Pieces:
        key = (part.run << 32) | part.topic
        order = np.argsort(key, kind="stable")
        rows = np.empty((len(key), _DOCS + part.docs.shape[1]), dtype="<u8")
        numbers = rows.view("<f8")
        numbers[:, _RANK] = np.nan if part.ranks is None else part.ranks[order]
        numbers[:, _SCORE], rows[:, _DOCS:] = part.scores[order], part.docs.take(order, axis=0)
        self.ranked = part.ranks is not None
        lists, first, sizes = np.unique(key[order], return_index=True, return_counts=True)
        begins = file.tell() + first * rows[0].nbytes
        file.write(rows.data)
        number = np.array([self.topics.setdefault(name, len(self.topics)) for name in part.topics], dtype=np.int64)
        topic = number[lists & 0xFFFFFFFF]
        return np.stack([lists >> 32, topic, begins, sizes, np.full(len(lists), rows.shape[1])])

    def rows(self, pieces: Pieces) -> Words:
        with self.path.open("rb", buffering=0) as file:
            found = []
            for begin, size, width in pieces[_BEGIN:].T.tolist():
                file.seek(begin)
                found.append(np.fromfile(file, "<u8", size * width).reshape(size, width))
        return tokens.stacked(found) if found else np.zeros((0, _DOCS + 1), dtype="<u8")

    def check_ranks(self) -> None:
        """Raise a TiedError for the first list in which two documents have one rank."""
        run, topic = self.pieces[:_BEGIN]
        lists, first, place = np.unique((run << 32) | topic, return_index=True, return_inverse=True)
        for i in np.lexsort((first, lists >> 32)).tolist():
            rows = self.rows(self.pieces[:, place == i])
            try:
                starts = np.array([0, len(rows)])
                check_places(starts, rank_places(starts, rows.view("<f8")[:, _RANK]))
            except NoPlaceError as error:
                name = list(self.topics)[int(lists[i] & 0xFFFFFFFF)]
                docno = tokens.decode(tokens.as_tokens(rows[error.row : error.row + 1, _DOCS:]))[0]
                raise TiedError(name, docno, error.row + 1, int(lists[i] >> 32)) from None


class BlocksWithin:
    """The runs of some files whose rows are on the disk, to be coded block by block."""

    def __init__(
        self, paths: Sequence[Path], folder: Path, conventions: Conventions, memory: int, *, threads: int, verbose: bool
    ):
        self._paths, self._conventions, self._threads, self._most = paths, conventions, threads, rows_at_once(memory)
        numbers = itertools.count()

        def kept(parts: Iterator[RunPart]) -> _Spool:
            spool = _Spool(folder / f"spool-{next(numbers)}", parts)
            if conventions.order == "rank":
                spool.check_ranks()
            return spool

        # a row group of a table may be large, and is read when nothing else is
        at_once = 1 if any(map(is_table, paths)) else max(1, min(threads, memory // _OF_THREAD))
        self._files = RunFiles(conventions, at_once, kept, _CHUNK, _LONGEST).read(paths, verbose=verbose)
        self._number(*run_names_of(self._files, len(paths), conventions, self._repeated))

    def _repeated(self, runs: list[FileRun], names: list[str]) -> dict[int, InputError]:
        self._number(runs, names)
        for _ in self._coded():
            pass
        return self._faults()

    def _number(self, runs: list[FileRun], names: list[str]) -> None:
        """Number the topics of some of the runs in natural order, and sort the pieces by them."""
        self._runs, self._names = runs, names
        self._repeats: list[Repeats] = []
        number: dict[str, int] = {}
        every = []
        for r, run in enumerate(runs):
            spool = run.rows
            mine = spool.pieces[:, spool.pieces[_RUN] == run.number]
            held, place = np.unique(mine[_TOPIC], return_inverse=True)
            known = list(spool.topics)
            of_held = [number.setdefault(known[t], len(number)) for t in held.tolist()]
            mine[_RUN], mine[_TOPIC] = r, np.array(of_held, dtype=np.int64)[place]
            every.append(mine)
        pieces, found = np.concatenate(every, axis=1), list(number)
        order = natural_order(found)
        place = np.empty(len(found), dtype=np.int64)
        place[order] = np.arange(len(found))
        pieces[_TOPIC] = place[pieces[_TOPIC]]
        self._pieces = pieces[:, np.argsort(pieces[_TOPIC], kind="stable")]
        self._topics = tuple(found[t] for t in order)
        self._parts = neighbours(np.bincount(pieces[_TOPIC], pieces[_ROWS], len(found)).astype(np.int64), self._most)

    @property
    def ranked(self) -> NDArray[np.bool_]:
        """Return (runs,): which runs have a rank column."""
        return np.array([run.rows.ranked for run in self._runs], dtype=np.bool_)

    def blocks(self, *, verbose: bool) -> Iterator[Field]:
        """Yield the blocks; after the last one raise for documents that stand in a list twice, if that is an error."""
        yield from pt.tqdm(self._coded(), total=len(self._parts), desc="coding runs", unit="block", disable=not verbose)
        if faults := self._faults():
            raise InputError.of_several([*faults.values()], len(self._runs), "runs")

    def _coded(self) -> Iterator[Field]:
        """Yield the blocks, and keep what stands in their lists again."""
        for part in self._parts:
            give_back()
            pieces = self._pieces[:, slice(*np.searchsorted(self._pieces[_TOPIC], [part.start, part.stop]))]
            pieces = pieces[:, np.argsort(pieces[_RUN], kind="stable")]
            of_run = np.split(pieces, np.searchsorted(pieces[_RUN], np.arange(1, len(self._runs))), axis=1)
            with ThreadPoolExecutor(self._threads) as pool:
                rows = list(pool.map(self._rows, range(len(self._runs)), of_run))
            block, again = build_field(rows, threads=self._threads)
            del rows
            self._keep(again, part.start)
            yield block

    def _rows(self, r: int, pieces: Pieces) -> RunRows:
        spool = self._runs[r].rows
        rows = spool.rows(pieces)
        held, place = np.unique(pieces[_TOPIC], return_inverse=True)
        numbers = rows.view("<f8")
        topic = np.repeat(place.astype(np.int64), pieces[_ROWS])
        file = FileRows([self._topics[t] for t in held.tolist()], topic, rows[:, _DOCS:], numbers[:, _SCORE])
        return in_ranking_order(
            self._names[r], file, numbers[:, _RANK] if spool.ranked else None, self._conventions.order
        )

    def _keep(self, found: Repeats, first_topic: int) -> None:
        if self._conventions.duplicates == "error":
            # the first of each run is told
            found = found.take(np.unique(found.run, return_index=True)[1])
        if len(found):
            self._repeats.append(Repeats(found.run, found.topic + first_topic, found.docs, found.place))

    def _faults(self) -> dict[int, InputError]:
        """Return for each run with a document twice in a list what is wrong, if that is an error."""
        if not self._repeats or self._conventions.duplicates != "error":
            return {}
        lines = LinesInFiles(self._runs, self._conventions.order)
        return repeat_faults(self._topics, Repeats.joined(self._repeats), self._names, lines.told)

    def read_field(self) -> ReadField:
        """Return what is known of the runs, beside a field that lies elsewhere; all blocks must have been coded."""
        dropped = []
        if self._repeats:
            give_back()
            repeats, lines = Repeats.joined(self._repeats), LinesInFiles(self._runs, self._conventions.order)
            dropped = [lines.dropped(self._topics, repeats, self._names)]
        nowhere = Field.without_topics(self.ranked)
        return field_of_files(nowhere, self._paths, self._files, self._runs, self._names, dropped)
