"""Two rankings of the same runs, by two leaderboards and a measure of each, in numbers with intervals over topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.correlation import rounded
from pt_reuse.studies.label_audit.rankings import parts_of


@dataclass(frozen=True)
class TwoRankings:
    """The scores of the same runs by people and by a judge.

    Attributes:
        truth: those of people.
        estimate: those of the judge; on the same topics where `bootstrap` is given.
        names: of the runs.
        bootstrap: over the topics; None where there is nothing to draw.
    """

    truth: TopicScores
    estimate: TopicScores
    names: Sequence[str]
    bootstrap: TopicBootstrap | None

    def rows(self, best: int, *, asked: bool) -> list[dict[str, object]]:
        """Return a row for all runs, and one for the best of them where these are not all."""
        return [
            {"by": part.by, "part": part.name, "runs": len(part.runs), **self._numbers(part.runs, asked=asked)}
            for part in parts_of(self.truth.means()[0], best, None)
        ]

    def changes(self) -> pd.DataFrame:
        """Return ``name score judge_score rank judge_rank rise`` of each run, those that rise furthest first."""
        scores = [side.means()[0] for side in (self.truth, self.estimate)]
        ranks = [pairs.ranks(rounded(values)) for values in scores]
        moved = pd.DataFrame(
            {
                "name": list(self.names),
                "score": scores[0],
                "judge_score": scores[1],
                "rank": ranks[0],
                "judge_rank": ranks[1],
                "rise": ranks[0] - ranks[1],
            }
        )
        return moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable", ignore_index=True)

    def _numbers(self, runs: NDArray[np.int64], *, asked: bool) -> dict[str, float]:
        truth, estimate = (side.of(range(len(side.values)), runs.tolist()) for side in (self.truth, self.estimate))
        found = ranking_agreement(truth, estimate, self.bootstrap)
        found |= _linear(truth, estimate, self.bootstrap)
        if not asked or self.bootstrap is not None:
            return found
        return {
            name: value
            for number, of in found.items()
            for name, value in ((number, of), (f"{number}_low", np.nan), (f"{number}_high", np.nan))
        }


def _linear(truth: TopicScores, estimate: TopicScores, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    found = _correlations(truth.means(), estimate.means())
    if bootstrap is None:
        return {name: float(values[0]) for name, values in found.items()}
    n_topics = len(truth.values)
    blocks = [
        _correlations(truth.means(counts), estimate.means(counts))
        for counts in (bootstrap.blocks(n_topics) if n_topics > 1 else ())
    ]
    row: dict[str, float] = {}
    for name, values in found.items():
        drawn = np.concatenate([block[name] for block in blocks]) if blocks else np.full(1, np.nan)
        ends = bootstrap.interval(float(values[0]), drawn, within=(-1, 1))
        row |= {name: float(values[0]), f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return row


def _correlations(truths: NDArray[np.float64], estimates: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return (draws,) correlations of (draws, runs) means; NaN where one of the two ties all runs."""
    from scipy.stats import rankdata

    x, y = rounded(truths), rounded(estimates)
    return {"spearman": _pearson(rankdata(x, axis=1), rankdata(y, axis=1)), "pearson": _pearson(x, y)}


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    # what is left of equal values is rounding
    spread = [np.sqrt((values**2).sum(axis=1)) * (np.ptp(values, axis=1) > 0) for values in (x, y)]
    below = spread[0] * spread[1]
    return np.clip(np.divide((x * y).sum(axis=1), below, out=np.full(len(x), np.nan), where=below > 0), -1, 1)
