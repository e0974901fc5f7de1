"""How well two scorings of the same systems rank them alike, in numbers that may carry intervals over topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import pairs
from pt_reuse.stats._ranking_input import rounded
from pt_reuse.stats.bootstrap import TopicBootstrap

#: the coefficients and changes of rank that studies report
NUMBERS = ("tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise")


@dataclass(frozen=True)
class TopicScores:
    """Scores of systems on each topic, and over which topics their means are.

    Attributes:
        values: (topics, runs).
        has_topic: (topics, runs) whether the topic counts for the run; None where all count for all.
    """

    values: NDArray[np.float64]
    has_topic: NDArray[np.bool_] | None = None

    def means(self, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return (draws, runs) means, each topic as often as (draws, topics) `counts` say; default one draw of all."""
        n_topics = len(self.values)
        weight = np.ones((1, n_topics)) if counts is None else counts.astype(np.float64)
        if self.has_topic is None:
            return weight @ self.values / np.maximum(weight.sum(axis=1), 1)[:, None]
        return weight @ np.where(self.has_topic, self.values, 0.0) / np.maximum(weight @ self.has_topic, 1)


def ranking_agreement(
    truth: TopicScores, estimate: TopicScores, bootstrap: TopicBootstrap | None = None
) -> dict[str, float]:
    """Return tau_b, gamma, tau_ap_b, max_drop and max_rise of two rankings, and with a bootstrap the ends of each.

    Args:
        truth: scores of the ranking taken as right.
        estimate: of the ranking to be judged: the same topics and runs, both drawn together.
        bootstrap: over topics; None for no intervals.

    Returns:
        dict: the numbers under their names and, with a bootstrap, ``tau_b_low``, ``tau_b_high`` and so on.
    """
    found = _numbers(truth.means(), estimate.means())
    row = {name: float(found[name][0]) for name in NUMBERS}
    if bootstrap is None:
        return row
    counts = bootstrap.counts(len(truth.values))
    drawn = _numbers(truth.means(counts), estimate.means(counts))
    for name in NUMBERS:
        row[f"{name}_low"], row[f"{name}_high"] = bootstrap.interval(row[name], drawn[name])
    return row


def _numbers(truths: NDArray[np.float64], estimates: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the numbers, (draws,) each, of (draws, runs) means."""
    found = pairs.coefficients(rounded(truths), rounded(estimates), ("tau_b", "gamma", "tau_ap_b"))
    return {name: found[name].astype(np.float64) for name in NUMBERS}
