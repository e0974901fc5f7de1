"""Swaps: how often two samples of topics order a pair of systems differently, by how far apart the first has them.

The work is some hundred million pairs, so it is done on bytes. Within a draw, systems are sorted by their means on the
first sample: the difference of a pair is then never negative, and a swap is a later system that is worse on the second
sample, a comparison of ranks. The bin of a difference follows from the whole bins below each mean and one comparison of
what is left over, in ranks again. All of it is whole numbers of 1e-12, and so exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]

#: means are compared in units of 1e-12, differences are rounded to 1e-9 before they are binned
UNIT, HALF_ROUNDING = 10**12, 500
#: a code of a pair is twice its bin, and one more for a swap; it is a byte
MOST_BINS = 128
#: scores above this are more than units of 1e-12 can hold
MOST_SCORE = 1e6
#: a score is the sum of two numbers of this many bits, so that sums of either are exact
_BITS = 26
#: products of matrices below this size stay in one thread of the linear algebra library, whose others would spin
_SMALL = 400_000
#: bytes of the arrays that one step works on, and of the codes that are counted together
_STEP, _TALLIED = 1 << 18, 1 << 19


@dataclass(frozen=True)
class Bins:
    """Of which width bins of differences are, and how many; the last holds all that are larger, too."""

    width: int
    n: int

    @classmethod
    def of(cls, width: float, n: int) -> Bins:
        return cls(round(width * UNIT), n)


class TopicSums:
    """Scores of systems on topics, made ready for exact means over draws of topics.

    `scores` are (topics, systems), finite, at most :data:`MOST_SCORE` from 0; `has_topic` says which of them count.
    """

    def __init__(self, scores: NDArray[np.float64], has_topic: NDArray[np.bool_] | None = None):
        self.scores, self.has_topic = scores, has_topic
        counted = scores if has_topic is None else np.where(has_topic, scores, 0.0)
        exponent = int(np.frexp(np.abs(counted).max(initial=0.0))[1])
        scaled = np.ldexp(counted, _BITS - exponent)
        high = np.floor(scaled)
        parts = [high, np.rint(np.ldexp(scaled - high, _BITS))]
        self._columns = np.hstack(parts if has_topic is None else [*parts, has_topic.astype(np.float64)])
        self._unit = float(np.ldexp(float(UNIT), exponent - 2 * _BITS))

    def means(self, topics: NDArray[np.integer[Any]]) -> Ints:
        """Return (draws, systems) means over (draws, S) drawn topics, in units of 1e-12; 0 of no topic at all."""
        n_draws, size = topics.shape
        n_topics, n = self.scores.shape
        rows = int(np.clip(_SMALL // max(1, self._columns.size), 1, 64))
        counts = np.bincount(
            (topics + n_topics * np.arange(n_draws)[:, None]).ravel(), minlength=-(-n_draws // rows) * rows * n_topics
        )
        weights = counts.astype(np.float64).reshape(-1, rows, n_topics)
        sums = np.matmul(weights, self._columns).reshape(-1, self._columns.shape[1])[:n_draws]
        total = np.multiply(sums[:, :n], 2.0**_BITS)
        total += sums[:, n : 2 * n]
        total *= self._unit
        total /= size if self.has_topic is None else np.maximum(sums[:, 2 * n :], 1)
        return np.rint(total, out=total).astype(np.int64)


def _tallied(codes: NDArray[np.uint8], n_codes: int) -> Ints:
    """Return how often each code is there, counted two at a time, which takes half the steps."""
    flat = codes.reshape(-1)
    even = len(flat) // 2 * 2
    twos = np.bincount(flat[:even].view(np.uint16), minlength=n_codes << 8).reshape(n_codes, 1 << 8)
    return twos.sum(axis=1) + twos.sum(axis=0)[:n_codes] + np.bincount(flat[even:], minlength=n_codes)


def count_swaps(sums: TopicSums, drawn: NDArray[np.integer[Any]], bins: Bins) -> Ints:
    """Count the pairs of systems, and those that two samples of topics order differently, by bin."""
    n = sums.scores.shape[1]
    codes = np.zeros(2 * bins.n, dtype=np.int64)
    step = int(np.clip(2 * (_STEP // (2 * max(1, n))), 2, 2048))
    for start in range(0, len(drawn) if n > 1 else 0, step):
        block = drawn[start : start + step]
        codes += _codes(sums.means(block[:, 0]), sums.means(block[:, 1]), bins)
    by_bin = codes.reshape(bins.n, 2)
    return np.stack([by_bin.sum(axis=1), by_bin[:, 1]])


def _codes(first: Ints, second: Ints, bins: Bins) -> Ints:
    """Return how often each code comes up among all pairs of (draws, systems) means."""
    n = first.shape[1]
    small, bits = (np.uint8, 8) if n <= 1 << 8 else (np.uint16, 16)
    first, second = first - first.min(), second - second.min()
    room = 1 << (62 - bits)
    if n > 1 << 16 or first.max() >= room or second.max() >= room:
        return _codes_directly(first, second, bins)
    rank, _ = _ranks(second, bits, small)
    # systems in the order of the first sample; those that tie there in the order of the second, so that none is a swap
    key = np.sort((first << bits) | rank, axis=1)
    rank = (key & ((1 << bits) - 1)).astype(small)
    level, rest = np.divmod(key >> bits, bins.width)
    rest_rank, rests = _ranks(rest, bits, small)
    level -= level[:, :1]
    # what is left over of two means decides of one bin more or less, unless rounding does
    gaps = np.diff(rests, axis=1)
    close = ((gaps > 0) & (gaps <= HALF_ROUNDING)).any(axis=1) | (rests[:, -1] >= bins.width - HALF_ROUNDING)
    odd = close | (level[:, -1] > np.iinfo(np.uint8).max)
    if not odd.any():
        return _codes_of_bytes(level.astype(np.uint8), rest_rank, rank, bins)
    return _codes_directly(first[odd], second[odd], bins) + _codes_of_bytes(
        level[~odd].astype(np.uint8), rest_rank[~odd], rank[~odd], bins
    )


def _ranks(values: Ints, bits: int, small: type[np.unsignedinteger[Any]]) -> tuple[NDArray[Any], Ints]:
    """Return the rank of each value in its row from 0, equal ones sharing it, and the values in their order."""
    n_rows, n = values.shape
    key = np.sort((values << bits) | np.arange(n), axis=1)
    place = (key & ((1 << bits) - 1)) + n * np.arange(n_rows)[:, None]
    key >>= bits
    steps = np.zeros((n_rows, n), dtype=small)
    np.cumsum(key[:, 1:] != key[:, :-1], axis=1, dtype=small, out=steps[:, 1:])
    ranks = np.empty(n_rows * n, dtype=small)
    ranks[place.ravel()] = steps.ravel()
    return ranks.reshape(n_rows, n), key


def _codes_of_bytes(level: NDArray[np.uint8], rest: NDArray[Any], rank: NDArray[Any], bins: Bins) -> Ints:
    """Return how often each code comes up among all pairs of (draws, systems), sorted by the first sample."""
    n_draws, n = level.shape
    level, rest, rank = (np.ascontiguousarray(values.T) for values in (level, rest, rank))
    last = np.full((n, n_draws), bins.n - 1, dtype=np.uint8)
    less = np.empty((n, n_draws), dtype=bool)
    most = max(n, _TALLIED // max(1, n_draws))
    codes, filled, found = np.empty((most, n_draws), dtype=np.uint8), 0, np.zeros(2 * bins.n, dtype=np.int64)
    for lag in range(1, n):
        # every system and the one that stands so many places after it
        if filled + n - lag > most:
            found += _tallied(codes[:filled], len(found))
            filled = 0
        code, less_of = codes[filled : filled + n - lag], less[lag:]
        np.subtract(level[lag:], level[:-lag], out=code)
        np.less(rest[lag:], rest[:-lag], out=less_of)
        np.subtract(code, less_of.view(np.uint8), out=code)
        np.minimum(code, last[lag:], out=code)
        np.add(code, code, out=code)
        np.less(rank[lag:], rank[:-lag], out=less_of)
        np.add(code, less_of.view(np.uint8), out=code)
        filled += n - lag
    return found + _tallied(codes[:filled], len(found))


def _codes_directly(first: Ints, second: Ints, bins: Bins) -> Ints:
    """Return what :func:`_codes_of_bytes` does, by the definition, for means of any size."""
    codes = np.zeros(2 * bins.n, dtype=np.int64)
    n = first.shape[1]
    for lag in range(1, n):
        one, other = slice(0, n - lag), slice(lag, n)
        apart, then = first[:, other] - first[:, one], second[:, other] - second[:, one]
        bin_of = np.minimum((np.abs(apart) + HALF_ROUNDING) // bins.width, bins.n - 1)
        swapped = ((apart > 0) & (then < 0)) | ((apart < 0) & (then > 0))
        codes += np.bincount((2 * bin_of + swapped).ravel(), minlength=2 * bins.n)
    return codes
