"""Intervals over topics for the tables of leave-out-uniques."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import COEFFICIENTS, TopicBootstrap, TopicScores, ranking_agreements, whole_changes
from pt_reuse.scoring.rescoring import Block
from pt_reuse.scoring.scores import Scores

#: what has an interval in a row of a unit, and in the summary under ``own_``
OF_RANKINGS = (*COEFFICIENTS, "max_drop")


@dataclass(frozen=True)
class ChangedScores:
    """The scores that change where a unit is left out.

    Attributes:
        topic: (cells,) the topic of each cell, as a position among the topics of the judgments.
        unit: (cells,) the unit that is left out.
        values: (measures, cells, runs) the scores of all runs on the topic without the unit's uniques.
    """

    topic: NDArray[np.int64]
    unit: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, blocks: list[Block]) -> ChangedScores:
        """Return the cells of all blocks."""
        return cls(
            np.concatenate([block.topic for block in blocks]),
            np.concatenate([block.set for block in blocks]),
            np.concatenate([block.values for block in blocks], axis=1),
        )

    def without(self, unit: int, full: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (measures, topics, runs) scores of all runs without the uniques of one unit."""
        cells, scores = self.unit == unit, full.copy()
        scores[:, self.topic[cells]] = self.values[:, cells]
        return scores


@dataclass(frozen=True)
class UniqueIntervals:
    """Makes the intervals.

    Attributes:
        bootstrap: over topics.
        scores: the runs under the full judgments.
        own_scores: each run under the reduced judgments of its own unit.
        changed: the scores that change where a unit is left out.
    """

    bootstrap: TopicBootstrap
    scores: Scores
    own_scores: Scores
    changed: ChangedScores

    def of_units(self, table: pd.DataFrame, column: str, names: list[str], *, verbose: bool) -> pd.DataFrame:
        """Return the table of units with the ends of its numbers beside them.

        Args:
            table: one row per left-out unit and measure.
            column: which holds the unit.
            names: of the units, in their order.
            verbose: show a progress bar.
        """
        truths = self.scores.topic_means
        compared = (
            (truth, TopicScores(values, truth.has_topic))
            for unit in range(len(names))
            for values, truth in zip(self.changed.without(unit, self.scores.values), truths.values(), strict=True)
        )
        found = ranking_agreements(compared, len(names) * len(truths), self.bootstrap)
        ends: dict[tuple[str, str], dict[str, float]] = {}
        with pt.tqdm(total=len(names), desc="intervals", unit="unit", disable=not verbose) as bar:
            for key, row in zip(product(names, truths), found, strict=True):
                ends[key] = row
                bar.update(int(len(ends) % len(truths) == 0))
        rows = [ends[unit, measure] for unit, measure in zip(table[column], table["measure"], strict=True)]
        return _beside(table, rows, {name: name for name in OF_RANKINGS})

    def of_summary(self, summary: pd.DataFrame) -> pd.DataFrame:
        """Return the summary with the ends of its ``own_`` numbers beside them."""
        others = self.own_scores.topic_means
        truths = self.scores.topic_means
        compared = ((truth, others[measure]) for measure, truth in truths.items())
        rows = list(ranking_agreements(compared, len(truths), self.bootstrap))
        return _beside(summary, rows, {f"own_{name}": name for name in OF_RANKINGS})

    def of_runs(self, by_run: pd.DataFrame) -> pd.DataFrame:
        """Return the table of runs with the ends of their mean change of score beside it: percentile intervals."""
        rows = [
            {"change_low": low, "change_high": high}
            for measure in self.scores.measures
            for low, high in self._changes(measure)
        ]
        return _beside(by_run, rows, {"change": "change"})

    def _changes(self, measure: str) -> Iterator[tuple[float, float]]:
        full, own = (scores.topic_means[measure] for scores in (self.scores, self.own_scores))
        n_topics, n_runs = full.values.shape
        change = (own.means() - full.means())[0]
        if n_topics < 2:
            drawn = np.full((1, n_runs), np.nan)
        else:
            blocks = self.bootstrap.blocks(n_topics)
            drawn = np.concatenate([own.means(counts) - full.means(counts) for counts in blocks])
        for run in range(n_runs):
            yield self.bootstrap.percentiles(float(change[run]), drawn[:, run])


def _beside(table: pd.DataFrame, rows: list[dict[str, float]], columns: dict[str, str]) -> pd.DataFrame:
    """Return the table with the ends of some columns right after them.

    Args:
        table: what has the columns.
        rows: of each row of the table, the ends under ``name_low`` and ``name_high``.
        columns: column of the table -> name in the rows.
    """
    found = table.copy()
    for column, name in columns.items():
        at = found.columns.get_loc(column)
        for step, end in enumerate(("low", "high"), 1):
            found.insert(at + step, f"{column}_{end}", [row[f"{name}_{end}"] for row in rows])
    return whole_changes(found)
