"""Spools: runs on the disk as they were parsed, of which the rows of any topics can be taken."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse._files import replacing
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import natural_order, offsets, ranges
from pt_reuse.arrays.places import FileRows, NoPlaceError, Places, RunRows
from pt_reuse.data.array_file import ArrayFile, DamagedError, checksums, filled, write_arrays
from pt_reuse.data.run_parts import RunPart, RunParts
from pt_reuse.data.table_rows import ListsOfGroup, RowGroup, TableReading, reason

#: files of a spool; the last one is there only when the others are whole
ROWS, RANKS, INDEX = "rows", "ranks", "index"
WORD = 8
#: of a piece: where its rows begin in their file, how many words each has, how many there are, and the same of the
#: ranks that do not count rows
AT, WIDTH, N, RANK_AT, RANK_N = range(5)
PIECE = 5
_RANK = np.dtype([("place", "<i8"), ("rank", "<f8")])
#: rows whose ranks are looked at at once
_BATCH = 1 << 18


class SpoolRows:
    """Writes rows: of each the words of its document name, and its score; and ranks that do not count rows.

    Args:
        rows: the file of the rows.
        ranks: the file of the ranks.

    Attributes:
        width: words of the longest document name so far.
        long: names so far that are longer than words hold.
    """

    def __init__(self, rows: IO[bytes], ranks: IO[bytes]):
        self._rows, self._ranks = rows, ranks
        self.width = 1
        self.long: dict[bytes, None] = {}

    def append(self, part: RunPart) -> NDArray[np.int64]:
        """Write the rows of a part, and return its pieces, (lists, 5).

        Raises:
            OSError: they cannot be written.
        """
        n, width = part.docs.shape
        lengths = np.diff(part.starts)
        pieces = np.empty((len(lengths), PIECE), dtype=np.int64)
        pieces[:, AT] = self._rows.tell() + part.starts[:-1] * (width + 1) * WORD
        pieces[:, WIDTH], pieces[:, N] = width, lengths
        bounds = np.searchsorted(part.other, part.starts)
        pieces[:, RANK_AT] = self._ranks.tell() + bounds[:-1] * _RANK.itemsize
        pieces[:, RANK_N] = np.diff(bounds)
        table = np.empty((n, width + 1), dtype="<u8")
        table[:, :width], table[:, width] = part.docs, part.scores.view("<u8")
        self._rows.write(table.data)
        self.long |= dict.fromkeys(tokens.long_names_in(part.docs))
        if len(part.other):
            t = np.repeat(np.arange(len(lengths)), np.diff(bounds))
            ranks = np.empty(len(part.other), dtype=_RANK)
            ranks["place"] = part.before[t] + part.other - part.starts[t] + 1
            ranks["rank"] = part.ranks
            self._ranks.write(ranks.view(np.uint8).data)
        self.width = max(self.width, width)
        return pieces


def by_list(pieces: NDArray[np.int64], lists: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pieces list by list, those of a list in the order in which they stand, and where each list's begin."""
    order = np.argsort(lists, kind="stable")
    return pieces[order], np.searchsorted(lists[order], np.arange(n + 1))


def rows_of(path: Path, pieces: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the words and the scores of the rows of some pieces, in a file, one piece after the other."""
    n, width = int(pieces[:, N].sum()), int(pieces[:, WIDTH].max())
    docs, scores = np.zeros((n, width), dtype="<u8"), np.empty(n)
    at = 0
    with path.open("rb", buffering=0) as file:
        for begin, size, n in _joined(pieces[:, AT], pieces[:, N], (pieces[:, WIDTH] + 1) * WORD):
            words = size // WORD - 1
            table = _read(file, begin, np.empty((n, words + 1), dtype="<u8"))
            docs[at : at + n, :words] = table[:, :words]
            scores[at : at + n] = table[:, words].copy().view("<f8")
            at += n
    return docs, scores


def places_of(
    path: Path, pieces: NDArray[np.int64], lists: NDArray[np.int64], starts: NDArray[np.int64], zero: NDArray[np.bool_]
) -> Places:
    """Return the places that ranks give to the rows of some pieces.

    Args:
        path: the file of the ranks.
        pieces: list by list.
        lists: the list of each, by number.
        starts: where the rows of each list begin.
        zero: (lists,) whether the ranks of each count from 0.
    """
    if not pieces[:, RANK_N].any():
        return Places.none()
    with path.open("rb", buffering=0) as file:
        found = _ranks(file, pieces)
    rows = np.repeat(starts[lists], pieces[:, RANK_N]) + found["place"] - 1
    return Places.of_ranks(starts, (~zero).astype(np.int64), rows, found["rank"])


def tied_place(
    path: Path,
    pieces: NDArray[np.int64],
    bounds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    zero: NDArray[np.bool_],
) -> tuple[int, int] | None:
    """Return list and place of the first row whose rank another row of its list has, too; None where none has.

    Args:
        path: the file of the ranks.
        pieces: list by list.
        bounds: where those of each list begin.
        sizes: (lists,) rows of each.
        zero: (lists,) whether the ranks of each count from 0.
    """
    # a list of which every rank counts its rows has no tie
    for some in _batches(sizes, np.add.reduceat(pieces[:, RANK_N], bounds[:-1])):
        n = np.diff(bounds)[some]
        starts = offsets(sizes[some])
        of_batch = pieces[ranges(bounds[some], n)]
        try:
            places_of(path, of_batch, np.repeat(np.arange(len(some)), n), starts, zero[some]).check(starts)
        except NoPlaceError as error:
            here = int(np.searchsorted(starts, error.row, side="right")) - 1
            return int(some[here]), error.row - int(starts[here]) + 1
    return None


def write_index(
    path: Path,
    topics: list[str],
    lists: dict[str, NDArray],
    left_out: tuple[NDArray[np.int64], list[str]],
    long: dict[bytes, None],
    notes: dict[str, object],
) -> None:
    """Write the index of a run.

    Args:
        path: of the file.
        topics: in natural order.
        lists: by their names ``sizes``, ``from_zero``, ``piece_starts`` and ``pieces``, in this order.
        left_out: the lines that were left out, from 1, and why each was.
        long: names that are longer than words hold.
        notes: further facts.

    Raises:
        OSError: it cannot be written.
    """
    bad, reasons = left_out
    codes = {reason: i for i, reason in enumerate(dict.fromkeys(reasons))}
    arrays = {
        "topics": _bytes("\0".join(topics).encode("utf-8", "surrogateescape")),
        "sizes": lists["sizes"],
        "from_zero": lists["from_zero"].astype(np.uint8),
        "piece_starts": lists["piece_starts"],
        "pieces": lists["pieces"].reshape(-1),
        "bad": bad,
        "reasons": np.array([codes[reason] for reason in reasons], dtype=np.int32),
        "long_names": _bytes(b"\0".join(long)),
    }
    write_arrays(path, arrays, {**notes, "reasons": list(codes)})


def _batches(sizes: NDArray[np.int64], concerned: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    # numbers of the lists concerned, of so many rows together
    lists = np.flatnonzero(concerned)
    step = np.cumsum(sizes[lists]) // _BATCH
    yield from np.split(lists, np.flatnonzero(np.diff(step)) + 1) if len(lists) else ()


def _joined(at: NDArray[np.int64], n: NDArray[np.int64], size: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    # (where, bytes of one, how many) of pieces, those that follow each other in their file as one
    new = np.ones(len(at), dtype=np.bool_)
    new[1:] = (at[1:] != at[:-1] + n[:-1] * size[:-1]) | (size[1:] != size[:-1])
    begins = np.flatnonzero(new)
    yield from zip(at[begins].tolist(), size[begins].tolist(), np.add.reduceat(n, begins).tolist(), strict=True)


def _ranks(file: IO[bytes], pieces: NDArray[np.int64]) -> NDArray[np.void]:
    some = pieces[pieces[:, RANK_N] > 0]
    sizes = np.full(len(some), _RANK.itemsize, dtype=np.int64)
    read = [_read(file, at, np.empty(n, dtype=_RANK)) for at, _, n in _joined(some[:, RANK_AT], some[:, RANK_N], sizes)]
    return np.concatenate(read)


def _read(file: IO[bytes], at: int, array: NDArray) -> NDArray:
    file.seek(at)
    if filled(file, array) != array.nbytes:
        raise DamagedError(f"{os.fspath(file.name)} is cut off")
    return array


def _bytes(text: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(text, dtype=np.uint8)


@dataclass(frozen=True)
class Spool:
    """One run as it was parsed, in a folder.

    A row is the words of its document name, and its score; rows of a topic stand in the order of the file.

    Attributes:
        folder: holds its files; those of several runs, where they came from one table.
        index: the file that says where its rows are.
        tags: the first few tags of the last column, each with the line on which it stands first.
        n_tags: how many there are.
        longer: how many lines have text after the sixth column, and the first of them.
        commented: whether the file begins with a comment.
        n_lines: lines of the file.
        width: words of the longest document name.
        n_rows: how many rows there are.
        ranked: whether they have ranks.
    """

    folder: Path
    index: str
    tags: dict[str, int]
    n_tags: int
    longer: tuple[int, int]
    commented: bool
    n_lines: int
    width: int
    n_rows: int
    ranked: bool

    @staticmethod
    def opened(folder: Path, *, check: bool, index: str = INDEX) -> Spool:
        """Return a spool that a folder holds.

        Raises:
            DamagedError: there is none, or it is not as it was written.
        """
        file = ArrayFile(folder / index)
        notes = file.notes
        if check:
            file.check()
            if notes["checks"] is not None:
                check_rows(folder, notes["checks"])
            (long,) = file.read("long_names")
            if len(long):
                tokens.keep_long_names(long.tobytes().split(b"\0"))
        of_run = ("tags", "n_tags", "longer", "commented", "n_lines", "width", "n_rows", "ranked")
        return Spool(folder, index, **{**{name: notes[name] for name in of_run}, "longer": tuple(notes["longer"])})

    @property
    def _index(self) -> ArrayFile:
        return ArrayFile(self.folder / self.index)

    def sizes(self) -> tuple[list[str], NDArray[np.int64]]:
        """Return the topics, in natural order, and how many rows each has."""
        names, sizes = self._index.read("topics", "sizes")
        return tokens.as_texts(names.tobytes().split(b"\0")), sizes

    def left_out(self) -> tuple[NDArray[np.int64], list[str]]:
        """Return the lines that were left out, from 1, and why each was."""
        bad, codes = self._index.read("bad", "reasons")
        texts = self._index.notes["reasons"]
        return bad, [texts[code] for code in codes.tolist()]

    def rows(self, first: int, last: int, name: str, topics: list[str], order: str) -> RunRows:
        """Return the rows of topics first to last, the last one not counted, in a ranking order.

        Args:
            first: position of the first topic.
            last: behind the last one.
            name: of the run.
            topics: the names of these topics.
            order: the ranking order.
        """
        index = self._index
        sizes, zero = index.part("sizes", first, last), index.part("from_zero", first, last).astype(np.bool_)
        bounds = index.part("piece_starts", first, last + 1)
        pieces = index.part("pieces", int(bounds[0]) * PIECE, int(bounds[-1]) * PIECE).reshape(-1, PIECE)
        docs, scores = rows_of(self.folder / ROWS, pieces)
        topic = np.arange(last - first)
        rows = FileRows(topics, np.repeat(topic, sizes), lambda some: docs.take(some, axis=0), scores)
        if not self.ranked:
            return rows.in_order(name, order, None)
        lists = np.repeat(topic, np.diff(bounds))
        return rows.in_order(name, order, places_of(self.folder / RANKS, pieces, lists, offsets(sizes), zero))


def check_rows(folder: Path, checks: Sequence[str]) -> None:
    """Raise unless the rows and ranks of a spool have their checksums.

    Raises:
        DamagedError: they do not.
    """
    try:
        if checksums([folder / ROWS, folder / RANKS], 1) != list(checks):
            raise DamagedError("its rows are damaged")
    except OSError as error:
        raise DamagedError("its rows are missing") from error


class SpoolWriter:
    """Writes a spool, part by part of a run file."""

    _rows: SpoolRows

    def __init__(self, folder: Path):
        self._folder = folder
        self._pieces: list[NDArray[np.int64]] = []
        self._topics: list[NDArray[np.int64]] = []

    def begin(self, rows: IO[bytes], ranks: IO[bytes]) -> None:
        """Begin to write rows, and ranks, to files."""
        self._rows = SpoolRows(rows, ranks)

    def remove(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def append(self, part: RunPart) -> None:
        """Add the rows of a part.

        Raises:
            OSError: they cannot be written.
        """
        self._pieces.append(self._rows.append(part))
        self._topics.append(part.topics)

    def tied(self, run: RunParts) -> tuple[str, int] | None:
        """Return topic and place of the first row whose rank another row of its topic has, too; None where none has."""
        names = run.topics
        pieces, bounds = self._by(np.arange(len(names)))
        found = tied_place(self._folder / RANKS, pieces, bounds, run.sizes[: len(names)], run.from_zero)
        return found and (names[found[0]], found[1])

    def seal(self, run: RunParts) -> None:
        """Write what says that the spool is whole.

        Raises:
            OSError: it cannot be written.
        """
        names = run.topics
        order = np.array(natural_order(names), dtype=np.int64)
        pieces, bounds = self._by(np.argsort(order))
        lists = {
            "sizes": run.sizes[order],
            "from_zero": run.from_zero[order],
            "piece_starts": bounds,
            "pieces": pieces,
        }
        notes = {
            "tags": dict(list(run.tags.items())[:3]),
            "n_tags": len(run.tags),
            "longer": run.longer,
            "commented": run.commented,
            "n_lines": run.n_lines,
            "width": self._rows.width,
            "n_rows": run.n_rows,
            "ranked": True,
            "checks": checksums([self._folder / ROWS, self._folder / RANKS], 1),
        }
        left_out = np.concatenate([np.zeros(0, dtype=np.int64), *run.bad]), run.reasons
        topics = [names[i] for i in order.tolist()]
        write_index(self._folder / INDEX, topics, lists, left_out, self._rows.long, notes)

    def _by(self, place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # the pieces in an order of topics, and where each topic's begin
        return by_list(np.concatenate(self._pieces), place[np.concatenate(self._topics)], len(place))


def spooling(folder: Path) -> AbstractContextManager[SpoolWriter]:
    """Open a folder for a spool, of which nothing is left where this ends with an error.

    Raises:
        OSError: it cannot be written.
    """
    return writing(SpoolWriter(folder), folder, (ROWS, RANKS))


class _Writes(Protocol):
    @property
    def begin(self) -> Callable[..., None]: ...

    def remove(self) -> None: ...


Writer = TypeVar("Writer", bound=_Writes)


@contextmanager
def writing(writer: Writer, folder: Path, names: Sequence[str]) -> Iterator[Writer]:
    """Have a writer write files of a folder; nothing is left of them where this ends with an error.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with ExitStack() as stack:
            writer.begin(*(stack.enter_context(replacing(folder / name)) for name in names))
            yield writer
    except BaseException:
        writer.remove()
        raise


_PIECES = "pieces"
#: a piece with its run and topic, and how many bytes it takes, those that sorting takes with it
_OF_LIST = PIECE + 2
_COST = 5 * 8 * _OF_LIST
_READ = 1 << 16  # pieces that are read at once


def open_runs(folder: Path, *, check: bool) -> list[Spool]:
    """Return the spools of the runs of a table, which a folder holds.

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
            tokens.keep_long_names(long.tobytes().split(b"\0"))
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
