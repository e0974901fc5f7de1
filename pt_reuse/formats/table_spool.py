"""TableSpool: the runs of a table on the disk as they were parsed, which share the files of their rows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import long_names
from pt_reuse.engine.lists import ranges
from pt_reuse.engine.order import natural_order
from pt_reuse.formats.array_file import ArrayFile, DamagedError, filled, write_arrays
from pt_reuse.formats.checksum import checksums
from pt_reuse.formats.run_parts import RunPart
from pt_reuse.formats.spool import Spool, check_rows, writing
from pt_reuse.formats.spool_rows import INDEX, PIECE, RANKS, ROWS, SpoolRows, by_list, tied_place, write_index
from pt_reuse.formats.table_rows import RowGroup, TableReading, reason
from pt_reuse.formats.table_search import ListsOfGroup

_PIECES = "pieces"
#: a piece with its run and topic, and how many bytes it takes, those that sorting takes with it
_OF_LIST = PIECE + 2
_COST = 5 * 8 * _OF_LIST
_READ = 1 << 16  # pieces that are read at once


def open_runs(folder: Path, *, check: bool) -> list[Spool]:
    """Return the spools of the runs of a table, which a folder holds.

    Args:
        folder: the folder.
        check: whether to look at every byte, which another process may have written long ago.

    Raises:
        DamagedError: there are none, or they are not as they were written.
    """
    index = ArrayFile(folder / INDEX)
    notes = index.notes
    if check:
        index.check()
        check_rows(folder, notes["checks"])
        (long,) = index.read("long_names")
        if len(long):
            long_names.keep(long.tobytes().split(b"\0"))
    return [Spool.opened(folder, check=check, index=_index(i)) for i in range(notes["runs"])]


class TableSpoolWriter:
    """Writes the runs of a table, row group by row group.

    Attributes:
        held: bytes of what is kept of all runs and topics.
    """

    _rows: SpoolRows
    _pieces: IO[bytes]

    def __init__(self, folder: Path):
        self._folder = folder
        self._sizes = np.zeros((1, 64), dtype=np.int32)
        self._zero = np.zeros((1, 64), dtype=np.bool_)
        self._of_run = np.zeros(1, dtype=np.int64)
        self._bad: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
        self._ranked = False

    @property
    def held(self) -> int:
        """Return the bytes of what is kept of all runs and topics."""
        return self._sizes.nbytes + self._zero.nbytes

    def begin(self, rows: IO[bytes], ranks: IO[bytes], pieces: IO[bytes]) -> None:
        """Begin to write rows, ranks, and where they are, to files."""
        self._rows, self._pieces = SpoolRows(rows, ranks), pieces

    def remove(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def append(self, group: RowGroup) -> None:
        """Add the rows of a row group.

        Raises:
            OSError: they cannot be written.
        """
        if len(group.bad_run):
            self._bad.append((group.bad_run, group.bad_row, group.bad_why))
        if not len(group.run):
            return
        held = ListsOfGroup.of(group)
        new = np.ones(len(held.keys), dtype=np.bool_)
        new[1:] = held.keys[1:] != held.keys[:-1]
        starts = np.append(np.flatnonzero(new), len(new))
        lists = held.keys[starts[:-1]]
        run, topic, lengths = lists >> 32, lists & 0xFFFFFFFF, np.diff(starts)
        self._make_room(int(run.max()) + 1, int(topic.max()) + 1)
        before = self._sizes[run, topic].astype(np.int64)
        other, ranks = np.zeros(0, dtype=np.int64), np.zeros(0)
        if group.ranks is not None:
            self._ranked = True
            ranks = group.ranks[held.order]
            first = before == 0
            self._zero[run[first], topic[first]] = ranks[starts[:-1][first]] == 0
            # nearly always the ranks of a list count its rows
            other = np.flatnonzero(ranks != ranges(before + ~self._zero[run, topic], lengths))
            ranks = ranks[other]
        docs, scores = group.docs.take(held.order, axis=0), group.scores[held.order]
        part = RunPart(topic, before, starts, docs, scores, other, ranks)
        pieces = np.column_stack([run, topic, self._rows.append(part)])
        # in the order in which the lists appear
        self._pieces.write(pieces[np.argsort(held.order[starts[:-1]])].data)
        self._sizes[run, topic] += lengths.astype(np.int32)
        self._of_run += np.bincount(run, minlength=len(self._of_run))

    def seal(self, reading: TableReading, memory: int) -> None:
        """Write what says that the spools are whole.

        Args:
            reading: of the table, which has come to its end.
            memory: bytes of what may be held at once.

        Raises:
            TiedRowError: the ranks count, and two documents of a list have the same.
            OSError: it cannot be written.
        """
        runs, topics = reading.ordered(), list(reading.topics)
        numbers = np.array([reading.names[name] for name in runs], dtype=np.int64)
        natural = np.array(natural_order(topics), dtype=np.int64)
        place = np.argsort(natural)
        bad = [np.concatenate([np.zeros(0, dtype=np.int64), *(part[i] for part in self._bad)]) for i in range(3)]
        at = 0
        for some in self._batches(self._of_run[numbers], memory):
            batch = numbers[some.start : some.stop]
            pieces, bounds = by_list(*self._pieces_of(batch), len(batch))
            for i, run in enumerate(batch.tolist()):
                mine = pieces[bounds[i] : bounds[i + 1]]
                self._check_ranks(reading, runs[at], run, topics, mine)
                held = natural[self._sizes[run, natural] > 0]
                by_topic, starts = by_list(mine[:, 2:], np.searchsorted(place[held], place[mine[:, 1]]), len(held))
                lists = {
                    "sizes": self._sizes[run, held].astype(np.int64),
                    "from_zero": self._zero[run, held],
                    "piece_starts": starts,
                    "pieces": by_topic,
                }
                odd = bad[0] == run
                left_out = bad[1][odd], [reason(why) for why in bad[2][odd].tolist()]
                names = [topics[t] for t in held.tolist()]
                write_index(self._folder / _index(at), names, lists, left_out, {}, self._notes(runs[at], lists))
                at += 1
        checks = checksums([self._folder / ROWS, self._folder / RANKS], 1)
        long = np.frombuffer(b"\0".join(self._rows.long), dtype=np.uint8)
        write_arrays(self._folder / INDEX, {"long_names": long}, {"runs": len(runs), "checks": checks})
        (self._folder / _PIECES).unlink()

    def _notes(self, name: str, lists: dict[str, NDArray]) -> dict[str, object]:
        return {
            "tags": {name: 1},
            "n_tags": 1,
            "longer": (0, 0),
            "commented": False,
            "n_lines": 0,
            "width": self._rows.width,
            "n_rows": int(lists["sizes"].sum()),
            "ranked": self._ranked,
            "checks": None,
        }

    def _make_room(self, runs: int, topics: int) -> None:
        had = self._sizes.shape
        if runs > had[0] or topics > had[1]:
            room = [(0, max(n, 2 * now) - now if n > now else 0) for n, now in zip((runs, topics), had, strict=True)]
            self._sizes, self._zero = np.pad(self._sizes, room), np.pad(self._zero, room)
            self._of_run = np.pad(self._of_run, room[0])

    def _batches(self, pieces: NDArray[np.int64], memory: int) -> Iterator[range]:
        # neighbouring runs whose pieces can be held at once
        first, n = 0, 0
        for run, more in enumerate(pieces.tolist()):
            if run > first and (n + more) * _COST > memory:
                yield range(first, run)
                first, n = run, 0
            n += more
        yield range(first, len(pieces))

    def _pieces_of(self, runs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # the pieces of some runs as they were written, each with its run and topic, and which of the runs it is of
        place = np.full(len(self._of_run), -1, dtype=np.int64)
        place[runs] = np.arange(len(runs))
        found, path = [], self._folder / _PIECES
        with path.open("rb", buffering=0) as file:
            left = path.stat().st_size // (8 * _OF_LIST)
            while left:
                some = np.empty((min(left, _READ), _OF_LIST), dtype=np.int64)
                if filled(file, some) != some.nbytes:
                    raise DamagedError("its pieces are cut off")
                found.append(some[place[some[:, 0]] >= 0])
                left -= len(some)
        pieces = np.concatenate(found)
        return pieces, place[pieces[:, 0]]

    def _check_ranks(
        self, reading: TableReading, name: str, run: int, topics: list[str], pieces: NDArray[np.int64]
    ) -> None:
        if reading.order != "rank":
            return
        # the lists as they appear
        numbers, first, of = np.unique(pieces[:, 1], return_index=True, return_inverse=True)
        appear = np.argsort(first)
        held = numbers[appear]
        by_topic, bounds = by_list(pieces[:, 2:], np.argsort(appear)[of], len(held))
        sizes = self._sizes[run, held].astype(np.int64)
        tied = tied_place(self._folder / RANKS, by_topic, bounds, sizes, self._zero[run, held])
        if tied is not None:
            raise TiedRowError(name, topics[int(held[tied[0]])], tied[1])


class TiedRowError(Exception):
    """Two documents of a list have the same rank.

    Attributes:
        run: the run.
        topic: the topic.
        at: the place of one of them among the rows of the list as they stand in the file, from 1.
    """

    def __init__(self, run: str, topic: str, at: int):
        super().__init__(run, topic, at)
        self.run, self.topic, self.at = run, topic, at


def spooling_table(folder: Path) -> AbstractContextManager[TableSpoolWriter]:
    """Open a folder for the spools of a table, of which nothing is left where this ends with an error.

    Raises:
        OSError: it cannot be written.
    """
    return writing(TableSpoolWriter(folder), folder, (ROWS, RANKS, _PIECES))


def _index(run: int) -> str:
    return f"{INDEX}-{run:06}"
