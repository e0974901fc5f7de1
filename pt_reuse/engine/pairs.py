"""Counting pairs of systems: one true ranking against many estimated ones.

`x` has shape (n,): the scores of n systems, the truth. `ys` has shape (S, n): S estimates of the same systems. Larger
scores are better and equal scores are ties, so whoever calls rounds first and keeps NaN out. Counts are exact integers.
A coefficient that is undefined is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
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
    """What coefficients are made of: ranks (n,) and (S, n), how many systems are above in both (S, n), pair counts."""

    x_rank: Ints
    y_rank: Ints
    above_in_both: Ints
    counts: PairCounts


def blocks(n_estimates: int, n_systems: int) -> Iterator[slice]:
    """Cut S estimates into slices of bounded memory."""
    step = max(1, BLOCK_CELLS // max(1, n_systems))
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
    """Compare one block of estimates with the truth; memory grows with S x n."""
    n_estimates, n = ys.shape
    x_rank, y_rank = ranks(x), ranks(ys)
    # From the best system in x downwards: each system adds one to every system that is worse in x and in y.
    order = np.argsort(x_rank, kind="stable")
    group_end = np.searchsorted(x_rank[order], x_rank[order], side="right")
    small = np.int16 if n < np.iinfo(np.int16).max else np.int32
    columns = np.ascontiguousarray(y_rank[:, order].T, dtype=small)
    above = np.zeros((n, n_estimates), dtype=small)
    tied_both = np.zeros(n_estimates, dtype=np.int64)
    for i, end in enumerate(group_end.tolist()):
        above[end:] += columns[end:] > columns[i]
        if end > i + 1:
            tied_both += (columns[i + 1 : end] == columns[i]).sum(axis=0)
    above_in_both = np.empty((n_estimates, n), dtype=np.int64)
    above_in_both[:, order] = above.T
    # In a ranking without ties the ranks add up to n(n+1)/2; each tied pair takes one away.
    pairs, untied_sum = n * (n - 1) // 2, n * (n + 1) // 2
    tied_x, tied_y = untied_sum - x_rank.sum(), untied_sum - y_rank.sum(axis=1)
    concordant = above_in_both.sum(axis=1)
    counts = PairCounts(
        concordant=concordant,
        discordant=pairs - concordant - tied_x - tied_y + tied_both,
        tied_x_only=tied_x - tied_both,
        tied_y_only=tied_y - tied_both,
        tied_both=tied_both,
        pairs=np.full(n_estimates, pairs, dtype=np.int64),
    )
    return Comparison(x_rank, y_rank, above_in_both, counts)


def _divide(numerator: NDArray[Any], denominator: NDArray[Any], defined: NDArray[np.bool_]) -> Floats:
    """Divide where defined, NaN elsewhere."""
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
    n_below = np.broadcast_to(below_top.sum(axis=-1), above.shape[:1])
    return 2 * _divide(shares.sum(axis=1), n_below, n_below > 0) - 1


def tau_ap(comparison: Comparison) -> Floats:
    """AP correlation, shape (S,), walking down y; NaN when either ranking has a tie."""
    c = comparison.counts
    untied = (c.concordant + c.discordant == c.pairs) & _some_untied(c)
    return np.where(untied, _mean_share_above(comparison.above_in_both, comparison.y_rank), np.nan)


def tau_ap_a(comparison: Comparison) -> Floats:
    """AP correlation, shape (S,), in expectation over the orders that ties in y leave open; NaN when x has a tie."""
    n = len(comparison.x_rank)
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
    """Coefficients by name, and "max_drop" and "max_rise" in places, for (n,) against (S, n), in blocks: (S,) each."""
    table: dict[str, NDArray[Any]] = {name: np.full(len(ys), np.nan) for name in names}
    table |= {name: np.zeros(len(ys), dtype=np.int64) for name in ("max_drop", "max_rise")}
    for block in blocks(*ys.shape):
        comparison = compare(x, ys[block])
        for name in names:
            table[name][block] = COEFFICIENTS[name](comparison)
        drops = comparison.y_rank - comparison.x_rank
        table["max_drop"][block] = drops.max(axis=1, initial=0)
        table["max_rise"][block] = -drops.min(axis=1, initial=0)
    return table


def rank_alone(full: NDArray[np.float64], own: NDArray[np.float64], unit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (..., systems): the rank of each system when only the systems of its unit have their `own` scores."""
    same = unit[None, :] == unit[:, None]
    rank = np.empty(full.shape, dtype=np.int64)
    for at in np.ndindex(full.shape[:-1]):
        seen = np.where(same, own[at], full[at])  # row r is the field as system r sees it
        rank[at] = 1 + (seen > own[at][:, None]).sum(axis=1)
    return rank


def per_cent_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the change in per cent of `before`, NaN where that is 0; a total loss is exactly -100."""
    return 100 * np.divide(after - before, before, out=np.full(before.shape, np.nan), where=before != 0)
