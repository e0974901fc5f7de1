"""Leaderboards of means over tasks: what a task counts by each convention, and tests of pairs over few tasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import CLOSE, rounded
from pt_reuse.arrays.significance import PairTests, pair_tests

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: convention -> what stands behind the name of the measure, and what the score of a system is
CONVENTIONS = {
    "mean": ("", "mean score over tasks"),
    "borda": (
        ", Borda",
        "Borda count: on each task the systems less the rank, ties by the mean rank; a missing score is 0 votes",
    ),
    "mean_rank": (", mean rank", "mean rank over tasks, ties by the mean rank, lower is better"),
    "z_score": (", z", "mean over tasks of the score less the task's mean, by its standard deviation over the systems"),
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
    shares fewer than two tasks, or families. A difference that is the same on every task, which a t test takes for
    certain however few these are, has the p-value of its signs.
    """
    n_systems = values.shape[1]
    plain = pair_tests(values) if families is None and there.all() else None
    of_family = np.eye(len(values)) if families is None else (families == np.unique(families)[:, None]).astype(float)
    first, second = np.triu_indices(n_systems, 1)
    difference, p = np.full(len(first), np.nan), np.full(len(first), np.nan)
    start = 0
    for i in range(n_systems - 1):
        rows = slice(start, start := start + n_systems - 1 - i)
        both, apart = there[:, i, None] & there[:, i + 1 :], values[:, i, None] - values[:, i + 1 :]
        if plain is None:
            difference[rows], p[rows], groups = _over_families(np.where(both, apart, 0.0), both, of_family)
        else:
            difference[rows], p[rows], groups = (
                plain.difference[rows],
                plain.p[rows],
                np.full(len(p[rows]), len(values)),
            )
        spread = np.where(both, apart, -np.inf).max(axis=0) - np.where(both, apart, np.inf).min(axis=0)
        same = (spread < CLOSE) & (np.abs(difference[rows]) > CLOSE)
        p[rows] = np.where(same, np.maximum(p[rows], 2.0 ** (1 - groups)), p[rows])
    return PairTests(first, second, difference, p)


def _over_families(by_task: Floats, both: Mask, of_family: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (pairs,) means of (tasks, pairs) differences, their p-values, and of how many families these are."""
    from scipy.special import stdtr

    n, groups = both.sum(axis=0), (of_family @ both > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = by_task.sum(axis=0) / n
        sums = of_family @ np.where(both, by_task - mean, 0.0)
        error = np.sqrt(groups / (groups - 1) * (sums**2).sum(axis=0)) / n
        p = 2 * stdtr(np.maximum(groups - 1, 1), -np.abs(mean) / error)
    alike = (rounded(by_task) == 0).all(axis=0)
    return mean, np.where(groups < 2, np.nan, np.where(alike, 1.0, p)), groups
