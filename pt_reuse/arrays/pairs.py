"""Counting pairs of systems: true rankings against estimated ones.

`ys` has shape (S, n): S estimates of the same n systems. `x`, the truth, has shape (n,) where all estimates share it,
or (S, n) where each has its own, as where both are drawn together. Larger scores are better and equal scores are ties,
so whoever calls rounds first and keeps NaN out. Counts are exact integers. A coefficient that is undefined is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats = NDArray[np.float64]
ScoreArray: TypeAlias = NDArray[Any]

BLOCK_CELLS = 1 << 18  # systems x estimates worked on at a time: a few MB, which stays in the cache


class PairCounts(NamedTuple):
    """How the pairs of systems fall, each an int64 array of shape (S,)."""

    concordant: Ints
    discordant: Ints
    tied_x_only: Ints
    tied_y_only: Ints
    tied_both: Ints
    pairs: Ints


class Comparison(NamedTuple):
    """What coefficients are made of, (S, n) each but the counts; systems from best to worst in x."""

    x_rank: Ints
    y_rank: Ints
    above_in_both: Ints
    counts: PairCounts


def blocks(n_estimates: int, n_systems: int, cells: int | None = None) -> Iterator[slice]:
    """Cut S estimates into slices of bounded memory, of so many cells or :data:`BLOCK_CELLS`."""
    step = max(1, (BLOCK_CELLS if cells is None else cells) // max(1, n_systems))
    for start in range(0, n_estimates, step):
        yield slice(start, min(start + step, n_estimates))


def ranks(scores: ScoreArray) -> Ints:
    """Rank along the last axis of (..., n): 1 + number of strictly better scores."""
    n = scores.shape[-1]
    order = np.argsort(scores, axis=-1)[..., ::-1]
    descending = np.take_along_axis(scores, order, axis=-1)
    first = np.zeros(scores.shape, dtype=np.int64)  # where the group of ties begins
    first[..., 1:] = np.where(descending[..., 1:] != descending[..., :-1], np.arange(1, n), 0)
    rank = np.empty_like(first)
    np.put_along_axis(rank, order, np.maximum.accumulate(first, axis=-1) + 1, axis=-1)
    return rank


def rank_drops(x: ScoreArray, ys: ScoreArray) -> Ints:
    """Places that each system falls, (S, n): its rank in `ys` minus its rank in `x`; negative where it rises."""
    return ranks(ys) - ranks(x)


def compare(x: ScoreArray, ys: ScoreArray) -> Comparison:
    """Compare one block of estimates with the truth, or each with its own; memory grows with S x n."""
    n_estimates, n = ys.shape
    # two ranks are one number, of as few bits as hold it, which sorts faster than positions do: systems from best to
    # worst in x, of those that tie there the worst in y first
    bits = int(n).bit_length()
    kind = next(kind for kind in (np.uint16, np.uint32, np.uint64) if 2 * bits <= np.iinfo(kind).bits)
    key = ((np.broadcast_to(ranks(x), ys.shape) << bits) | (n - ranks(ys))).astype(kind)
    key.sort(axis=-1)
    both = key.astype(np.int64)
    x_rank, y_rank = both >> bits, n - (both & ((1 << bits) - 1))
    above_in_both = _smaller_before(y_rank)  # none of those it ties with in x, which stand from the worst in y
    # In a ranking without ties the ranks add up to n(n+1)/2; each tied pair takes one away.
    pairs, untied_sum = n * (n - 1) // 2, n * (n + 1) // 2
    tied_x, tied_y = untied_sum - x_rank.sum(axis=1), untied_sum - y_rank.sum(axis=1)
    concordant, tied_both = above_in_both.sum(axis=1), np.zeros(n_estimates, dtype=np.int64)
    same = (x_rank[:, 1:] == x_rank[:, :-1]) & (y_rank[:, 1:] == y_rank[:, :-1])
    if same.any():
        # systems that tie in both are neighbours
        place = np.arange(1, n)
        tied_both = (place - np.maximum.accumulate(np.where(same, 0, place), axis=1)).sum(axis=1)
    counts = PairCounts(
        concordant=concordant,
        discordant=pairs - concordant - tied_x - tied_y + tied_both,
        tied_x_only=tied_x - tied_both,
        tied_y_only=tied_y - tied_both,
        tied_both=tied_both,
        pairs=np.full(n_estimates, pairs, dtype=np.int64),
    )
    return Comparison(x_rank, y_rank, above_in_both, counts)


def _smaller_before(numbers: Ints) -> Ints:
    """Return (S, n): of each number, how many before it in its row are smaller."""
    n_rows, n = numbers.shape
    if n <= _SHORT:
        return _smaller_in_part(numbers).astype(np.int64)
    width = 1 << (n.bit_length() + 1) // 2
    n_parts = -(-n // width)
    size = n_parts * width
    placed = np.full((n_rows, size), numbers.max(initial=0) + 1)
    placed[:, :n] = numbers
    # equal numbers from the last to the first, so that none of them is before another and below
    bits = size.bit_length()
    key = ((placed << bits) | np.arange(size)[::-1]).astype(_smallest(int(placed.max(initial=0) + 1) << bits))
    key.sort(axis=1)
    place = size - 1 - (key & ((1 << bits) - 1)).astype(np.int64)
    part = place // width
    cell = part * n_parts + np.arange(size) // width
    cell += np.arange(n_rows)[:, None] * n_parts**2
    table = np.zeros((n_rows, n_parts + 1, n_parts + 1), dtype=np.int64)
    table[:, 1:, 1:] = np.bincount(cell.ravel(), minlength=n_rows * n_parts**2).reshape(n_rows, n_parts, n_parts)
    before_and_below = table.cumsum(axis=1).cumsum(axis=2)[:, :-1, :-1].ravel()
    place += np.arange(n_rows)[:, None] * size
    result = _smaller_in_part(placed.reshape(-1, width)).astype(np.int64).ravel()
    result[place] += before_and_below.take(cell) + _smaller_in_part(part.reshape(-1, width)).reshape(cell.shape)
    return result.reshape(n_rows, size)[:, :n]


#: numbers in a row up to which each is compared with each
_SHORT = 384


def _smaller_in_part(numbers: Ints) -> NDArray[np.unsignedinteger]:
    n_rows, n = numbers.shape
    columns = np.ascontiguousarray(numbers.T, dtype=_smallest(int(numbers.max(initial=0))))
    found, smaller = np.zeros((n, n_rows), dtype=_smallest(n)), np.empty((n, n_rows), dtype=np.bool_)
    for i in range(n - 1):
        np.greater(columns[i + 1 :], columns[i], out=smaller[i + 1 :])
        found[i + 1 :] += smaller[i + 1 :].view(np.uint8)
    return np.ascontiguousarray(found.T)


def _smallest(most: int) -> type[np.unsignedinteger]:
    return next(kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64) if most <= np.iinfo(kind).max)


def _divide(numerator: NDArray[Any], denominator: NDArray[Any], defined: NDArray[np.bool_]) -> Floats:
    result = np.full(defined.shape, np.nan)
    np.divide(numerator, denominator, out=result, where=defined)
    return result


def _some_untied(counts: PairCounts) -> NDArray[np.bool_]:
    """Whether some pair is untied in both: false exactly when one side ties all its systems, or has fewer than two."""
    return counts.concordant + counts.discordant > 0


def tau_a(comparison: Comparison) -> Floats:
    """(C - D) / pairs, shape (S,)."""
    c = comparison.counts
    return _divide(c.concordant - c.discordant, c.pairs, _some_untied(c))


def tau_b(comparison: Comparison) -> Floats:
    """(C - D) / sqrt(pairs untied in x * pairs untied in y), shape (S,)."""
    c = comparison.counts
    decided = (c.concordant + c.discordant).astype(np.float64)
    norm = np.sqrt((decided + c.tied_y_only) * (decided + c.tied_x_only))
    return _divide(c.concordant - c.discordant, norm, _some_untied(c))


def gamma(comparison: Comparison) -> Floats:
    """(C - D) / (C + D), shape (S,)."""
    c = comparison.counts
    return _divide(c.concordant - c.discordant, c.concordant + c.discordant, _some_untied(c))


def _mean_share_above(above: Ints, rank: Ints) -> Floats:
    """2 m - 1, with m the mean, over systems below the top group, of the share of those above that are so in both."""
    below_top = rank > 1
    shares = np.zeros(above.shape)
    np.divide(above, rank - 1, out=shares, where=below_top)
    n_below = below_top.sum(axis=1)
    return 2 * _divide(shares.sum(axis=1), n_below, n_below > 0) - 1


def tau_ap(comparison: Comparison) -> Floats:
    """AP correlation, shape (S,), walking down y; NaN when either ranking has a tie."""
    c = comparison.counts
    untied = (c.concordant + c.discordant == c.pairs) & _some_untied(c)
    return np.where(untied, _mean_share_above(comparison.above_in_both, comparison.y_rank), np.nan)


def tau_ap_a(comparison: Comparison) -> Floats:
    """AP correlation, shape (S,), in expectation over the orders that ties in y leave open; NaN when x has a tie."""
    n = comparison.x_rank.shape[1]
    c = comparison.counts
    defined = (c.tied_x_only + c.tied_both == 0) & _some_untied(c)
    harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1 / np.arange(1, n + 1))])  # [m + 1] is 1 + 1/2 + ... + 1/m
    p = comparison.y_rank
    size = n + 2 - p - ranks(p)  # systems that share the rank: all but those above and those below
    # A system of the group takes each place p .. p + size - 1 equally often; at a place it has place - 1 above it.
    outside = np.where(p > 1, comparison.above_in_both * (harmonic[p + size - 1] - harmonic[p - 1]), 0.0)
    inside = ((size - 1) - (p - 1) * (harmonic[p + size - 1] - harmonic[p])) / 2
    expected = ((outside + inside) / size).sum(axis=1)
    return np.where(defined, np.clip(2 * expected / max(1, n - 1) - 1, -1, 1), np.nan)


def tau_ap_b(comparison: Comparison) -> Floats:
    """Symmetric AP correlation with ties, shape (S,): the mean of the walk down y and the walk down x."""
    above = comparison.above_in_both
    both_ways = _mean_share_above(above, comparison.y_rank) + _mean_share_above(above, comparison.x_rank)
    return np.where(_some_untied(comparison.counts), both_ways / 2, np.nan)


COEFFICIENTS: dict[str, Callable[[Comparison], Floats]] = {
    "tau_a": tau_a,
    "tau_b": tau_b,
    "gamma": gamma,
    "tau_ap": tau_ap,
    "tau_ap_a": tau_ap_a,
    "tau_ap_b": tau_ap_b,
}


def coefficients(x: ScoreArray, ys: ScoreArray, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Coefficients by name, and "max_drop" and "max_rise" in places, in blocks: (S,) each."""
    table: dict[str, NDArray[Any]] = {name: np.full(len(ys), np.nan) for name in names}
    table |= {name: np.zeros(len(ys), dtype=np.int64) for name in ("max_drop", "max_rise")}
    # all estimates that equal the one truth are one
    of_estimate, same = np.arange(len(ys)), np.zeros(len(ys), dtype=np.bool_)
    for block in blocks(*ys.shape) if x.ndim == 1 else ():
        same[block] = (ys[block] == x).all(axis=1)
    of_estimate[same] = same.argmax() if len(ys) else 0
    distinct = np.unique(of_estimate)
    for block in blocks(len(distinct), ys.shape[1]):
        some = distinct[block]
        comparison = compare(x if x.ndim == 1 else x[some], ys[some])
        for name in names:
            table[name][some] = COEFFICIENTS[name](comparison)
        drops = comparison.y_rank - comparison.x_rank
        table["max_drop"][some] = drops.max(axis=1, initial=0)
        table["max_rise"][some] = -drops.min(axis=1, initial=0)
    return {name: column[of_estimate] for name, column in table.items()}


def rank_alone(full: NDArray[np.float64], own: NDArray[np.float64], unit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (..., systems): the rank of each system when only the systems of its unit have their `own` scores."""
    n, rows = full.shape[-1], math.prod(full.shape[:-1])
    before, after, rank = full.reshape(rows, n), own.reshape(rows, n), np.empty((rows, n), dtype=np.int64)
    by_unit = np.argsort(unit, kind="stable")
    for mine in np.split(by_unit, np.flatnonzero(np.diff(unit[by_unit])) + 1):
        for some in blocks(len(before), n * len(mine)):
            scores, among = after[some][:, mine], before[some].copy()
            among[:, mine] = scores
            rank[some, mine] = 1 + (among[:, None] > scores[:, :, None]).sum(axis=2)
    return rank.reshape(full.shape)


def per_cent_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the change in per cent of `before`, NaN where that is 0; a total loss is exactly -100."""
    return 100 * np.divide(after - before, before, out=np.full(before.shape, np.nan), where=before != 0)
