"""Leaderboards of means over tasks: what a task counts by each convention, and tests of pairs over few tasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import rounded
from pt_reuse.arrays.significance import PairTests, pair_tests

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: convention -> what the score of a system is
CONVENTIONS = {
    "mean": "mean score over tasks",
    "borda": "Borda count: on each task the systems less its rank, ties by the mean rank; a missing score is 0 votes",
    "mean_rank": "mean rank over tasks, ties by the mean rank; lower is better",
    "z_score": "mean over tasks of the score less the task's mean, by its standard deviation (of all systems, n)",
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
    shares fewer than two tasks, or families.
    """
    if families is None and there.all():
        return pair_tests(values)
    from scipy.special import stdtr

    n_systems = values.shape[1]
    of_family = np.eye(len(values)) if families is None else (families == np.unique(families)[:, None]).astype(float)
    first, second = np.triu_indices(n_systems, 1)
    difference, p = np.full(len(first), np.nan), np.full(len(first), np.nan)
    start = 0
    for i in range(n_systems - 1):
        rows = slice(start, start := start + n_systems - 1 - i)
        both = there[:, i, None] & there[:, i + 1 :]
        by_task, n = np.where(both, values[:, i, None] - values[:, i + 1 :], 0.0), both.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = by_task.sum(axis=0) / n
            sums = of_family @ np.where(both, by_task - mean, 0.0)
            groups = (of_family @ both > 0).sum(axis=0)
            error = np.sqrt(groups / (groups - 1) * (sums**2).sum(axis=0)) / n
            found = 2 * stdtr(np.maximum(groups - 1, 1), -np.abs(mean) / error)
        alike = (rounded(by_task) == 0).all(axis=0)
        difference[rows] = mean
        p[rows] = np.where(groups < 2, np.nan, np.where(alike, 1.0, found))
    return PairTests(first, second, difference, p)
