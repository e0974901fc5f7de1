"""SpoolRows: rows of runs as they are written to a spool and read from it, in pieces of neighbouring rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.lists import offsets, ranges
from pt_reuse.engine.places import NoPlaceError, Places
from pt_reuse.formats.array_file import DamagedError, filled, write_arrays
from pt_reuse.formats.run_parts import RunPart

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
    """Return pieces list by list, those of a list in the order in which they stand, and where each list's begin.

    Args:
        pieces: as they were written.
        lists: the list of each, by number.
        n: how many lists there are.
    """
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
