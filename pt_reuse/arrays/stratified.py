"""Shares, and what is estimated of them from stratified samples: effective sizes, and exact intervals, joined."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: a share of units that is smaller is rounding
_TINY = 1e-12
#: so few units with the property, or without it, tell too little of how uneven deviations are
SPARSE = 8
#: counts that are nearer to a whole number are that number
_NEAR = 1e-6


@dataclass(frozen=True)
class Interval:
    """An estimate and its ends."""

    estimate: float
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


def effective_sizes(weights: Floats, drawn: Floats, units: Floats, cells: NDArray[np.int64], n_cells: int) -> Floats:
    """Return (cells,) how many independent draws tell as much of a cell's share as the samples of its strata do."""
    lost = weights**2 * np.maximum(1 - drawn / units, 0) / drawn
    whole = np.bincount(cells, weights, n_cells) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return whole / np.bincount(cells, lost, n_cells)


def exact_limits(shares: Floats, sizes: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return (cells,) limits of Clopper and Pearson of shares at effective sizes; an endless one has no width."""
    from scipy import special

    tail, known = (1 - confidence) / 2, np.isinf(sizes)
    n = np.where(known, 1.0, sizes)
    x = shares * n
    y = n - x
    low = np.where(x > _TINY, special.betaincinv(np.maximum(x, _TINY), y + 1, tail), 0.0)
    high = np.where(y > _TINY, special.betaincinv(x + 1, np.maximum(y, _TINY), 1 - tail), 1.0)
    return np.where(known, shares, low), np.where(known, shares, high)


def counted_limits(shares: Floats, sizes: Floats, units: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the exact limits of shares that were counted in samples without replacement."""
    low, high = np.empty(len(shares)), np.empty(len(shares))
    for cell, (share, size, n_units) in enumerate(zip(shares.tolist(), sizes.tolist(), units.tolist(), strict=True)):
        # without replacement a draw is worth more than one: back to how many draws these are
        drawn = n_units if np.isinf(size) else max(round(size / (1 + size / n_units)), 1)
        fewest, most = int(np.floor(share * drawn + _NEAR)), int(np.ceil(share * drawn - _NEAR))
        low[cell] = _lowest(fewest, int(drawn), int(n_units), (1 - confidence) / 2) / n_units
        high[cell] = 1 - _lowest(int(drawn) - most, int(drawn), int(n_units), (1 - confidence) / 2) / n_units
    return low, high


@lru_cache(maxsize=65536)
def _lowest(found: int, drawn: int, units: int, tail: float) -> int:
    """Return the fewest units with a property that bring so many or more of them into a sample often enough."""
    from scipy.stats import hypergeom

    there = range(found, units - drawn + found)
    return found + bisect_left(there, True, key=lambda n: hypergeom.sf(found - 1, units, n, drawn) > tail)


def joined(constant: float, weights: Floats, shares: Floats, low: Floats, high: Floats) -> Interval:
    """Return constant + sum W p over (cells,) shares, its interval made of theirs (MOVER, square and add)."""
    up, down = weights * (high - shares), weights * (low - shares)
    value = float(constant + weights @ shares)
    above = np.sqrt((np.maximum(np.maximum(up, down), 0) ** 2).sum())
    below = np.sqrt((np.minimum(np.minimum(up, down), 0) ** 2).sum())
    return Interval(value, float(value - below), float(value + above))


def stratified_interval(
    constant: float,
    weights: Floats,
    shares: Floats,
    *,
    drawn: Floats,
    units: Floats,
    cells: NDArray[np.int64],
    confidence: float,
    counted: bool = True,
) -> Interval:
    """Return constant + sum W p over strata with its interval."""
    some = weights != 0
    if not some.any():
        return Interval(constant, constant, constant)
    # 1 - p in place of p makes every weight positive
    less = weights[some] < 0
    w, p = np.abs(weights[some]), np.where(less, 1 - shares[some], shares[some])
    base = constant - float(w[less].sum())
    sample = (w, p, drawn[some], units[some], confidence)
    interval = _of_cells(base, cells[some], sample, counted=counted)
    found = float(p @ drawn[some])
    if counted and min(found, float(drawn[some].sum()) - found) <= SPARSE + _NEAR:
        rough = _of_cells(base, np.zeros(len(w), dtype=np.int64), sample, counted=True)
        return Interval(interval.estimate, min(interval.low, rough.low), max(interval.high, rough.high))
    return interval


def _of_cells(
    constant: float,
    cells: NDArray[np.int64],
    sample: tuple[Floats, Floats, Floats, Floats, float],
    *,
    counted: bool,
) -> Interval:
    """Return the interval of strata, all weights above 0, those of one cell taken for one stratum."""
    w, p, n, size, confidence = sample
    _, of = np.unique(cells, return_inverse=True)
    k = int(of.max()) + 1
    whole = np.bincount(of, w, k).astype(np.float64)
    share = np.clip(np.bincount(of, w * p, k) / whole, 0, 1)
    worth = effective_sizes(w, n, size, of, k)
    if not counted:
        low, high = exact_limits(share, worth, confidence)
    else:
        low, high = counted_limits(share, worth, np.bincount(of, size, k).astype(np.float64), confidence)
        fewest, left = p * n / size, 1 - n / size
        low = np.maximum(low, np.bincount(of, w * fewest, k) / whole)
        high = np.minimum(high, np.bincount(of, w * (fewest + left), k) / whole)
    return joined(constant, whole, share, np.minimum(low, share), np.maximum(high, share))


def stratified_variance(weights: Floats, shares: Floats, *, drawn: Floats, units: Floats) -> float:
    """Return sum W^2 p (1 - p) / n (1 - n/N), the variance that a stratified sample without replacement leaves."""
    some = weights != 0
    w, p, n, size = weights[some], shares[some], drawn[some], units[some]
    return float((w**2 * p * (1 - p) / n * np.maximum(1 - n / size, 0)).sum())


def share_of(share: float, n: int) -> int:
    """Return how many of `n` a share of them is: the nearest whole number, halves up.

    Example:
        >>> share_of(1 / 3, 3), share_of(0.5, 5), share_of(0.29, 50)
        (1, 3, 15)
    """
    # 0.29 * 50 is 14.499999999999998
    return math.floor(round(share * n, 9) + 0.5)
