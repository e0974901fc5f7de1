"""Estimates: what all runs score under the judgments, and under the part of them that each split's pool has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

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
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    parts = [kept[first : first + _AT_ONCE] for first in range(0, len(kept), _AT_ONCE)]
    generates = get_active_backend()[0].supports_return_generator
    parallel = Parallel(n_jobs=n_jobs, return_as="generator" if generates else "list")
    done: Iterable[Any] = parallel(delayed(_scored)(field, part, by_topic) for part in parts)
    found = list(pt.tqdm(done, total=len(parts), desc="scoring", unit="part", disable=not verbose))
    return Estimates(
        gold=found[0].gold,
        means=np.concatenate([part.means for part in found], axis=1),
        values=np.concatenate([part.values for part in found], axis=1) if by_topic else None,
    )


def _scored(field: ScoredField, kept: Sequence[NDArray[np.int64]], by_topic: bool) -> Estimates:
    gold, values = field.topic_scores(kept)
    return Estimates(gold, values.sum(axis=2) / max(values.shape[2], 1), values if by_topic else None)
