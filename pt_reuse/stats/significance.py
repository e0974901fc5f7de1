"""Tests of every pair of systems over topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TESTS = ("t",)


@dataclass(frozen=True)
class PairTests:
    """A two-sided paired test of every pair of systems.

    Attributes:
        first: (pairs,) position of the first system.
        second: (pairs,) position of the second, always after the first.
        difference: (pairs,) mean of first minus second.
        p: (pairs,) p-values; 1 where the two score alike on every topic, NaN with fewer than two topics.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    difference: NDArray[np.float64]
    p: NDArray[np.float64]


def pair_tests(values: NDArray[np.float64], test: str = "t") -> PairTests:
    """Test every pair of systems.

    Args:
        values: (topics, systems) scores.
        test: one of :data:`TESTS`: ``"t"`` is Student's paired t test, two-sided.
    """
    from scipy.special import stdtr

    n_topics, n = values.shape
    first, second = np.triu_indices(n, 1)
    difference, p = np.zeros(len(first)), np.full(len(first), np.nan)
    start = 0
    for i in range(n - 1):
        rows = slice(start, start := start + n - 1 - i)
        by_topic = values[:, i, None] - values[:, i + 1 :]
        mean = by_topic.mean(axis=0)
        difference[rows] = mean
        if n_topics < 2:
            continue
        error = by_topic.std(axis=0, ddof=1) / np.sqrt(n_topics)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(mean) / error
        p[rows] = np.where((by_topic == 0).all(axis=0), 1.0, 2 * stdtr(n_topics - 1, -t))
    return PairTests(first, second, difference, p)
