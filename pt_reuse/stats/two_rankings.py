"""How well two scorings of the same systems rank them alike, in numbers that may carry intervals over topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import warn
from pt_reuse.engine import pairs
from pt_reuse.stats._ranking_input import rounded
from pt_reuse.stats.bootstrap import TopicBootstrap

#: coefficients of two rankings
COEFFICIENTS = ("tau_b", "gamma", "tau_ap_b")
#: the most places that a system loses, and gains
CHANGES = ("max_drop", "max_rise")
#: the coefficients and changes of rank that studies report
NUMBERS = (*COEFFICIENTS, *CHANGES)


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
        """Return (draws, runs) means, each topic as often as (draws, topics) `counts` say; default one draw of all.

        A run that has none of the topics drawn has the mean 0.
        """
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
        dict: the numbers under their names and, with a bootstrap, ``tau_b_low``, ``tau_b_high`` and so on: within -1
        and 1, of changes of rank whole numbers from 0 to the number of runs less one. With fewer than two topics there
        is nothing to draw, and the ends are NaN.

    Warns:
        ReuseWarning: draws in which a coefficient has no value, as all runs tie; its interval is of the others.
    """
    found = numbers_of(truth.means(), estimate.means())
    row = {name: float(found[name][0]) for name in NUMBERS}
    if bootstrap is None:
        return row
    n_topics, n_runs = truth.values.shape
    if n_topics < 2:
        return row | no_intervals()
    blocks = [numbers_of(truth.means(counts), estimate.means(counts)) for counts in bootstrap.blocks(n_topics)]
    drawn = {name: np.concatenate([block[name] for block in blocks]) for name in NUMBERS}
    row |= intervals_of(row, drawn, bootstrap, n_runs)
    tell_undefined(drawn["tau_b"], row["tau_b"])
    return row


def numbers_of(truths: NDArray[np.float64], estimates: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the numbers, (draws,) each, of (draws, runs) means of both."""
    found = pairs.coefficients(rounded(truths), rounded(estimates), COEFFICIENTS)
    return {name: found[name].astype(np.float64) for name in NUMBERS}


def intervals_of(
    row: dict[str, float], drawn: dict[str, NDArray[np.float64]], bootstrap: TopicBootstrap, n_runs: int
) -> dict[str, float]:
    """Return the ends of the intervals of what `row` has, under ``tau_b_low``, ``tau_b_high`` and so on.

    Args:
        row: name -> number of all topics.
        drawn: name -> (resamples,) the same of each draw.
        bootstrap: how the draws were made.
        n_runs: how many runs are ranked.
    """
    ends: dict[str, float] = {}
    for name in NUMBERS:
        if name in COEFFICIENTS:
            found = bootstrap.interval(row[name], drawn[name], within=(-1, 1))
        else:
            found = bootstrap.interval(row[name], drawn[name], within=(0, max(0, n_runs - 1)), integer=True)
        ends[f"{name}_low"], ends[f"{name}_high"] = found
    return ends


def no_intervals(names: Sequence[str] = NUMBERS) -> dict[str, float]:
    """Return ends that are NaN."""
    return {f"{name}_{end}": float("nan") for name in names for end in ("low", "high")}


def tell_undefined(drawn: NDArray[np.float64], estimate: float) -> None:
    """Warn where a coefficient has a value of all topics and none in some draws."""
    lost = int(np.isnan(drawn).sum())
    if lost and not np.isnan(estimate):
        warn(
            f"in {lost:,} of {len(drawn):,} resamples of the topics all runs tie, so that there is no ranking to "
            "compare. The intervals of the coefficients are of the other resamples."
        )
