"""Rows that lie in lists, one list after the other: where lists begin, and the rows of some of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LONG = 64  # rows of a list from which on a slice is faster than an index


def offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (lists + 1,): where lists of these lengths begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all indices of [start, start + length) for each pair, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def of_lists(values: NDArray, starts: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray:
    """Return for each of some rows, which ascend, the value of the list in which it stands."""
    return np.repeat(values, np.diff(np.searchsorted(rows, starts)))


def taken(values: NDArray, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray:
    """Return the values in [start, start + length) for each pair, one after the other."""
    if len(starts) and int(lengths.sum()) >= _LONG * len(starts):
        ends = starts + lengths
        return np.concatenate([values[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
    return values.take(ranges(starts, lengths), axis=0)


def neighbours(rows: NDArray[np.int64], most: int) -> list[range]:
    """Return neighbours of at most so many rows together; what has more rows than that stands alone."""
    parts, first, held = [], 0, 0
    for t, n in enumerate(rows.tolist()):
        if t > first and held + n > most:
            parts.append(range(first, t))
            first, held = t, 0
        held += n
    return [*parts, range(first, len(rows))] if len(rows) else []
