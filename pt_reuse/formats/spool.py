"""Spool: one run on the disk as it was parsed, of which the rows of any topics can be taken."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pt_reuse._files import replacing
from pt_reuse.engine import long_names, tokens
from pt_reuse.engine.lists import offsets, ranges
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.places import NoPlaceError, Places
from pt_reuse.engine.run_rows import FileRows, RunRows
from pt_reuse.formats.array_file import ArrayFile, DamagedError, filled, write_arrays
from pt_reuse.formats.checksum import checksums
from pt_reuse.formats.run_parts import RunPart, RunParts

#: files of a spool; the last one is there only when the others are whole
_ROWS, _RANKS, _INDEX = "rows", "ranks", "index"
_WORD = 8
#: rows whose ranks are looked at at once
_BATCH = 1 << 18
#: of a piece: where its rows begin in their file, how many words each has, how many there are, and the same of the
#: ranks that do not count rows
_AT, _WIDTH, _N, _RANK_AT, _RANK_N = range(5)
_RANK = np.dtype([("place", "<i8"), ("rank", "<f8")])


@dataclass(frozen=True)
class Spool:
    """One run as it was parsed, in a folder.

    A row is the words of its document name, and its score; rows of a topic stand in the order of the file.

    Attributes:
        folder: holds its files.
        tags: the first few tags of the last column, each with the line on which it stands first.
        n_tags: how many there are.
        longer: how many lines have text after the sixth column, and the first of them.
        commented: whether the file begins with a comment.
        n_lines: lines of the file.
        width: words of the longest document name.
        n_rows: how many rows there are.
    """

    folder: Path
    tags: dict[str, int]
    n_tags: int
    longer: tuple[int, int]
    commented: bool
    n_lines: int
    width: int
    n_rows: int

    @staticmethod
    def opened(folder: Path, *, check: bool) -> Spool:
        """Return the spool that a folder holds.

        Args:
            folder: the folder.
            check: whether to look at every byte, which another process may have written long ago.

        Raises:
            DamagedError: there is none, or it is not as it was written.
        """
        index = ArrayFile(folder / _INDEX)
        notes = index.notes
        if check:
            index.check()
            try:
                if checksums([folder / _ROWS, folder / _RANKS], 1) != notes["checks"]:
                    raise DamagedError("its rows are damaged")
            except OSError as error:
                raise DamagedError("its rows are missing") from error
            (long,) = index.read("long_names")
            if len(long):
                long_names.keep(long.tobytes().split(b"\0"))
        of_run = ("tags", "n_tags", "longer", "commented", "n_lines", "width", "n_rows")
        return Spool(folder, **{**{name: notes[name] for name in of_run}, "longer": tuple(notes["longer"])})

    @property
    def _index(self) -> ArrayFile:
        return ArrayFile(self.folder / _INDEX)

    def sizes(self) -> tuple[list[str], NDArray[np.int64]]:
        """Return the topics, in natural order, and how many rows each has."""
        names, sizes = self._index.read("topics", "sizes")
        return names.tobytes().decode("utf-8", "surrogateescape").split("\n"), sizes

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
        pieces = index.part("pieces", int(bounds[0]) * 5, int(bounds[-1]) * 5).reshape(-1, 5)
        width = int(pieces[:, _WIDTH].max())
        starts = offsets(sizes)
        docs, scores = np.zeros((int(starts[-1]), width), dtype="<u8"), np.empty(int(starts[-1]))
        at = 0
        with (self.folder / _ROWS).open("rb", buffering=0) as file:
            row = (pieces[:, _WIDTH] + 1) * _WORD
            for begin, size, n in _joined(pieces[:, _AT], pieces[:, _N], row):
                words = size // _WORD - 1
                table = _read(file, begin, np.empty((n, words + 1), dtype="<u8"))
                docs[at : at + n, :words] = table[:, :words]
                scores[at : at + n] = table[:, words].copy().view("<f8")
                at += n
        rows = FileRows(topics, np.repeat(np.arange(last - first), sizes), lambda some: docs.take(some, axis=0), scores)
        topic = np.repeat(np.arange(last - first), np.diff(bounds))
        return rows.in_order(name, order, self._places(pieces, topic, starts, zero))

    def _places(
        self, pieces: NDArray[np.int64], topic: NDArray[np.int64], starts: NDArray[np.int64], zero: NDArray[np.bool_]
    ) -> Places:
        if not pieces[:, _RANK_N].any():
            return Places.none()
        with (self.folder / _RANKS).open("rb", buffering=0) as file:
            found = _ranks(file, pieces)
        rows = np.repeat(starts[topic], pieces[:, _RANK_N]) + found["place"] - 1
        return Places.of_ranks(starts, (~zero).astype(np.int64), rows, found["rank"])


class SpoolWriter:
    """Writes a spool, part by part of a run file."""

    _rows: IO[bytes]
    _ranks: IO[bytes]

    def __init__(self, folder: Path):
        self._folder = folder
        self._pieces: list[NDArray[np.int64]] = []
        self._topics: list[NDArray[np.int64]] = []
        self._before = np.zeros(64, dtype=np.int64)
        self._long: dict[bytes, None] = {}
        self._width = 1

    def begin(self, rows: IO[bytes], ranks: IO[bytes]) -> None:
        """Begin to write rows, and ranks, to files."""
        self._rows, self._ranks = rows, ranks

    def remove(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def append(self, part: RunPart) -> None:
        """Add the rows of a part.

        Raises:
            OSError: they cannot be written.
        """
        n, width = part.docs.shape
        lengths = np.diff(part.starts)
        pieces = np.empty((len(part.topics), 5), dtype=np.int64)
        pieces[:, _AT] = self._rows.tell() + part.starts[:-1] * (width + 1) * _WORD
        pieces[:, _WIDTH], pieces[:, _N] = width, lengths
        bounds = np.searchsorted(part.other, part.starts)
        pieces[:, _RANK_AT] = self._ranks.tell() + bounds[:-1] * _RANK.itemsize
        pieces[:, _RANK_N] = np.diff(bounds)
        table = np.empty((n, width + 1), dtype="<u8")
        table[:, :width], table[:, width] = part.docs, part.scores.view("<u8")
        self._rows.write(table.data)
        self._long |= dict.fromkeys(tokens.long_names_in(part.docs))
        highest = int(part.topics.max()) + 1
        if highest > len(self._before):
            self._before = np.pad(self._before, (0, 2 * highest - len(self._before)))
        if len(part.other):
            t = np.repeat(np.arange(len(lengths)), np.diff(bounds))
            ranks = np.empty(len(part.other), dtype=_RANK)
            ranks["place"] = self._before[part.topics[t]] + part.other - part.starts[t] + 1
            ranks["rank"] = part.ranks
            self._ranks.write(ranks.view(np.uint8).data)
        self._before[part.topics] += lengths
        self._pieces.append(pieces)
        self._topics.append(part.topics)
        self._width = max(self._width, width)

    def tied(self, run: RunParts) -> tuple[str, int] | None:
        """Return topic and place of the first row whose rank another row of its topic has, too; None where none has."""
        names = run.topics
        pieces, bounds = self._by(np.arange(len(names)))
        with (self._folder / _RANKS).open("rb", buffering=0) as file:
            # a topic of which every rank counts its rows has no tie
            for some in _batches(run.sizes[: len(names)], np.add.reduceat(pieces[:, _RANK_N], bounds[:-1])):
                of_batch = pieces[ranges(bounds[some], np.diff(bounds)[some])]
                t = np.repeat(np.arange(len(some)), np.diff(bounds)[some])
                starts, firsts = offsets(run.sizes[some]), (~run.from_zero[some]).astype(np.int64)
                found = _ranks(file, of_batch)
                rows = np.repeat(starts[t], of_batch[:, _RANK_N]) + found["place"] - 1
                try:
                    Places.of_ranks(starts, firsts, rows, found["rank"]).check(starts)
                except NoPlaceError as error:
                    here = int(np.searchsorted(starts, error.row, side="right")) - 1
                    return names[int(some[here])], error.row - int(starts[here]) + 1
        return None

    def seal(self, run: RunParts) -> None:
        """Write what says that the spool is whole.

        Raises:
            OSError: it cannot be written.
        """
        names = run.topics
        order = np.array(natural_order(names), dtype=np.int64)
        pieces, bounds = self._by(np.argsort(order))
        reasons = {reason: i for i, reason in enumerate(dict.fromkeys(run.reasons))}
        arrays: dict[str, NDArray] = {
            "topics": _bytes("\n".join(names[i] for i in order.tolist()).encode("utf-8", "surrogateescape")),
            "sizes": run.sizes[order],
            "from_zero": run.from_zero[order].astype(np.uint8),
            "piece_starts": bounds,
            "pieces": pieces.reshape(-1),
            "bad": np.concatenate([np.zeros(0, dtype=np.int64), *run.bad]),
            "reasons": np.array([reasons[reason] for reason in run.reasons], dtype=np.int32),
            "long_names": _bytes(b"\0".join(self._long)),
        }
        notes = {
            "tags": dict(list(run.tags.items())[:3]),
            "n_tags": len(run.tags),
            "longer": run.longer,
            "commented": run.commented,
            "n_lines": run.n_lines,
            "width": self._width,
            "n_rows": run.n_rows,
            "reasons": list(reasons),
            "checks": checksums([self._folder / _ROWS, self._folder / _RANKS], 1),
        }
        write_arrays(self._folder / _INDEX, arrays, notes)

    def _by(self, place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # the pieces in an order of topics, those of a topic as they stand in the file, and where each topic's begin
        pieces, topics = np.concatenate(self._pieces), place[np.concatenate(self._topics)]
        order = np.argsort(topics, kind="stable")
        return pieces[order], np.searchsorted(topics[order], np.arange(len(place) + 1))


@contextmanager
def spooling(folder: Path) -> Iterator[SpoolWriter]:
    """Open a folder for a spool, of which nothing is left where this ends with an error.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writer = SpoolWriter(folder)
    try:
        with replacing(folder / _ROWS) as rows, replacing(folder / _RANKS) as ranks:
            writer.begin(rows, ranks)
            yield writer
    except BaseException:
        writer.remove()
        raise


def _batches(sizes: NDArray[np.int64], concerned: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    # numbers of the topics concerned, of so many rows together
    topics = np.flatnonzero(concerned)
    step = np.cumsum(sizes[topics]) // _BATCH
    yield from np.split(topics, np.flatnonzero(np.diff(step)) + 1) if len(topics) else ()


def _joined(at: NDArray[np.int64], n: NDArray[np.int64], size: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    # (where, bytes of one, how many) of pieces, those that follow each other in their file as one
    new = np.ones(len(at), dtype=np.bool_)
    new[1:] = (at[1:] != at[:-1] + n[:-1] * size[:-1]) | (size[1:] != size[:-1])
    begins = np.flatnonzero(new)
    yield from zip(at[begins].tolist(), size[begins].tolist(), np.add.reduceat(n, begins).tolist(), strict=True)


def _ranks(file: IO[bytes], pieces: NDArray[np.int64]) -> NDArray[np.void]:
    some = pieces[pieces[:, _RANK_N] > 0]
    sizes = np.full(len(some), _RANK.itemsize, dtype=np.int64)
    read = [
        _read(file, at, np.empty(n, dtype=_RANK)) for at, _, n in _joined(some[:, _RANK_AT], some[:, _RANK_N], sizes)
    ]
    return np.concatenate(read)


def _read(file: IO[bytes], at: int, array: NDArray) -> NDArray:
    file.seek(at)
    if filled(file, array) != array.nbytes:
        raise DamagedError(f"{os.fspath(file.name)} is cut off")
    return array


def _bytes(text: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(text, dtype=np.uint8)
