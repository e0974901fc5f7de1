"""The rank column of a run file: read only where it does not count the lines of a topic."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.lists import taken
from pt_reuse.engine.places import Places
from pt_reuse.engine.run_rows import FileRows
from pt_reuse.formats.lines import Fields
from pt_reuse.formats.numbers import parse_numbers

_COLUMN = 3


def rank_places(fields: Fields, rows: FileRows) -> Places:
    """Return the places that the rank column gives, for topics where they are not those of the file."""
    begins, ends = (rows.grouped(edge) for edge in fields.column(_COLUMN))
    lengths, starts = np.diff(rows.starts), rows.starts[:-1]
    # nearly always the ranks of a topic are 0, 1, 2, ... or 1, 2, 3, ...
    first = (fields.buffer[begins[starts]] != ord("0")).astype(np.int64)
    counted = np.arange(len(begins)) - np.repeat(starts - first, lengths)
    other = np.flatnonzero(_are_not(counted, fields.buffer, begins, ends))
    if not len(other):
        return Places.none()
    odd = np.unique(np.searchsorted(starts, other, side="right") - 1)
    ranks = counted.astype(np.float64)
    ranks[other], wrong = parse_numbers(fields.buffer, begins[other], ends[other])
    ranks[other[wrong]] = np.nan
    return Places.of_ranks(odd, lengths[odd], taken(ranks, starts[odd], lengths[odd]))


def _are_not(
    numbers: NDArray[np.int64], buffer: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    # which tokens are not written as these numbers; compared as words of text
    loads = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))  # a word at every byte
    sizes = ends - begins
    # what stands behind the token is shifted out
    words = loads[begins] << (64 - 8 * sizes).astype(np.uint64)
    wrong = words != _written(1 << int(numbers.max()).bit_length())[numbers]
    if int(sizes.max()) > 8:
        wrong |= sizes > 8
    return wrong


@lru_cache(maxsize=4)
def _written(n: int) -> NDArray[np.uint64]:
    # the numbers 0..n in decimal writing, at the end of a word
    return np.array([int.from_bytes(str(i).encode().rjust(8, b"\0"), "little") for i in range(n + 1)], dtype=np.uint64)
