"""Leaderboards of means over tasks: what a task counts by each convention, and tests of pairs over few tasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import CLOSE, rounded
from pt_reuse.arrays.significance import PairTests

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: pairs tested at a time, whose differences stay in the cache
_AT_ONCE = 64
#: convention -> what stands behind the name of the measure, and what the score of a system is
CONVENTIONS = {
    "mean": ("", "mean score over tasks"),
    "borda": (
        ", Borda",
        "Borda count: on each task the systems less the rank, ties by the mean rank; a missing score is 0 votes",
    ),
    "mean_rank": (", mean rank", "mean rank over tasks, ties by the mean rank, lower is better"),
    "z_score": (
        ", z",
        "mean over tasks of the score less the task's mean, by the deviation (of n) over systems; 0 if all are equal",
    ),
}


def counted(values: Floats, there: Mask, convention: str) -> tuple[Floats, Mask]:
    """Return (tasks, systems) what each score counts, higher for better, and which of them do."""
    if convention == "mean":
        return values, there
    if convention == "z_score":
        n = np.maximum(there.sum(axis=1, keepdims=True), 1)
        apart = np.where(there, values - np.where(there, values, 0).sum(axis=1, keepdims=True) / n, 0.0)
        spread = np.sqrt((apart**2).sum(axis=1, keepdims=True) / n)
        return np.divide(apart, spread, out=np.zeros_like(apart), where=rounded(spread) > 0), there
    ranks = task_ranks(values, there)
    if convention == "mean_rank":
        return np.where(there, -ranks, 0.0), there
    return np.where(there, values.shape[1] - ranks, 0.0), np.ones_like(there)


def task_ranks(values: Floats, there: Mask) -> Floats:
    """Return (tasks, systems) ranks within each task, the best 1, ties by the mean rank; NaN where no score is."""
    from scipy.stats import rankdata

    ranks: Floats = rankdata(np.where(there, -rounded(values), np.nan), axis=1, nan_policy="omit")
    return ranks


def task_pair_tests(values: Floats, there: Mask, families: NDArray[np.int64] | None = None) -> PairTests:
    """Test each pair of systems by a paired t test over the tasks that both have, two-sided.

    With families, tasks of one are drawn together: the variance is that of the families' sums of deviations from the
    mean (cluster robust, with the factor G / (G - 1) and G - 1 degrees of freedom for G families). NaN where a pair
    shares fewer than two tasks, or families. A difference that is the same on every task, or the same sum of deviations
    in every family, which a t test takes for certain however few these are, has the p-value of its signs; no
    difference has 1.
    """
    if families is not None:
        order = np.argsort(families, kind="stable")
        values, there, families = values[order], there[order], families[order]
    values, weight = np.where(there, values, 0.0), there.astype(np.float64)
    n_systems = values.shape[1]
    first, second = np.triu_indices(n_systems, 1)
    difference, p = np.full((2, len(first)), np.nan)
    start = 0
    for i in range(n_systems - 1):
        others = n_systems - 1 - i
        for part in np.array_split(np.arange(i + 1, n_systems), -(-others // _AT_ONCE)):
            columns, rows = slice(part[0], part[-1] + 1), slice(start, start := start + len(part))
            both = weight[:, i, None] * weight[:, columns]
            apart = (values[:, i, None] - values[:, columns]) * both
            difference[rows], p[rows] = _tested(apart, both, families)
    return PairTests(first, second, difference, p)


def _tested(apart: Floats, both: Floats, families: NDArray[np.int64] | None) -> tuple[Floats, Floats]:
    """Return (pairs,) means of (tasks, pairs) differences, 0 where `both` is, and their p-values; families are sorted.

    One task a family, it is the paired t test to the bit.
    """
    from scipy.special import stdtr

    n = both.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = apart.sum(axis=0) / n
        sums, groups = (apart - mean) * both, n
        if families is not None:
            begins = np.flatnonzero(np.diff(families, prepend=families[0] - 1))
            sums = np.add.reduceat(sums, begins, axis=0)
            groups = (np.add.reduceat(both, begins, axis=0) > 0).sum(axis=0).astype(np.float64)
        squares = (sums**2).sum(axis=0)
        if families is None:
            error = np.sqrt(squares / (n - 1)) / np.sqrt(n)
        else:
            error = np.sqrt(groups / (groups - 1) * squares) / n
        p = 2 * stdtr(np.maximum(groups - 1, 1), -np.abs(mean) / error)
    near = np.flatnonzero(squares <= 4 * len(sums) * CLOSE**2)
    same = near[np.ptp(sums[:, near], axis=0) < CLOSE]
    p[same] = np.where(np.abs(mean[same]) > CLOSE, np.fmax(p[same], 2.0 ** (1 - groups[same])), 1.0)
    return mean, np.where(groups < 2, np.nan, p)
