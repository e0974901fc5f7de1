"""Estimates: what all runs score under the judgments, and under the part of them that each split's pool has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._jobs import run_jobs
from pt_reuse.studies.strategy_comparison.built import ScoredField

#: splits that are scored together; the numbers do not depend on it
_AT_ONCE = 50


@dataclass(frozen=True)
class Estimates:
    """Scores under all judgments, and under those of each split.

    Attributes:
        gold: (measures, topics, runs) under all.
        means: (measures, splits, runs) means over the topics under those of each split.
        values: (measures, splits, topics, runs) the same topic by topic; None where nobody asked for it.
    """

    gold: NDArray[np.float64]
    means: NDArray[np.float64]
    values: NDArray[np.float64] | None

    @property
    def gold_means(self) -> NDArray[np.float64]:
        """Return (measures, runs): the means under all judgments."""
        return self.gold.sum(axis=1) / max(self.gold.shape[1], 1)


def estimates_of(
    field: ScoredField, kept: Sequence[NDArray[np.int64]], *, by_topic: bool, n_jobs: int | None, verbose: bool
) -> Estimates:
    """Score a field under its judgments and under parts of them, by joblib.

    Args:
        field: the runs, judgments and measures.
        kept: for each split, one at least, the rows of the judgments that it has.
        by_topic: whether to keep the scores of each topic.
        n_jobs: as joblib takes it.
        verbose: show a progress bar.
    """
    parts = [kept[first : first + _AT_ONCE] for first in range(0, len(kept), _AT_ONCE)]
    jobs = [_Scoring(field, part, by_topic) for part in parts]
    found = list(run_jobs(jobs, len(jobs), desc="scoring", unit="part", n_jobs=n_jobs, verbose=verbose))
    return Estimates(
        gold=found[0].gold,
        means=np.concatenate([part.means for part in found], axis=1),
        values=np.concatenate([part.values for part in found], axis=1) if by_topic else None,
    )


@dataclass(frozen=True)
class _Scoring:
    field: ScoredField
    kept: Sequence[NDArray[np.int64]]
    by_topic: bool

    def run(self) -> Estimates:
        gold, values = self.field.topic_scores(self.kept)
        return Estimates(gold, values.sum(axis=2) / max(values.shape[2], 1), values if self.by_topic else None)
