"""The rank column of a run file: read only where it does not count the lines of a topic."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.lists import ranges
from pt_reuse.engine.places import Places
from pt_reuse.engine.run_rows import FileRows
from pt_reuse.formats.lines import Fields
from pt_reuse.formats.numbers import parse_numbers

_COLUMN = 3


def rank_places(fields: Fields, rows: FileRows) -> Places:
    """Return the places that the rank column gives, for topics where they are not those of the file."""
    begins, ends = (rows.grouped(edge) for edge in fields.column(_COLUMN))
    odd = _not_counting(fields.buffer, begins, ends, rows.starts)
    if not len(odd):
        return Places.none()
    lengths = np.diff(rows.starts)[odd]
    at = ranges(rows.starts[odd], lengths)
    ranks, wrong = parse_numbers(fields.buffer, begins[at], ends[at])
    ranks[wrong] = np.nan
    return Places.of_ranks(odd, lengths, ranks)


def _not_counting(
    buffer: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    # the topics whose ranks are not 0, 1, 2, ... or 1, 2, 3, ..., as they nearly always are; compared as words of text
    lengths = np.diff(starts)
    first = (buffer[begins[starts[:-1]]] != ord("0")).astype(np.int64)
    expected = np.arange(len(begins)) - np.repeat(starts[:-1] - first, lengths)
    loads = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))  # a word at every byte
    sizes = ends - begins
    # what stands behind the rank is shifted out
    words = loads[begins] << (64 - 8 * sizes).astype(np.uint64)
    odd = words != _counted(1 << int(lengths.max()).bit_length())[expected]
    odd |= sizes > 8
    return np.unique(np.searchsorted(starts, np.flatnonzero(odd), side="right") - 1)


@lru_cache(maxsize=4)
def _counted(n: int) -> NDArray[np.uint64]:
    # the numbers 0..n in decimal writing, at the end of a word
    return np.array([int.from_bytes(str(i).encode().rjust(8, b"\0"), "little") for i in range(n + 1)], dtype=np.uint64)
