"""Judgments without the uniques of each unit, the scores of runs under them, and intervals over topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import COEFFICIENTS, TopicBootstrap, TopicScores, ranking_agreements, whole_changes
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import NO_CHANGES, Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import Arrays, ArrayWork, run_topics
from pt_reuse.data.units import Units
from pt_reuse.pooling.fit import Pooling, PoolUniques
from pt_reuse.scoring.rescoring import Block, MeansOfSets, Rescoring
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import topics_of_runs


@dataclass(frozen=True)
class RemovedUniques:
    """The judgments that are taken out, each without one unit.

    Attributes:
        owner: (documents,) the unit without which it goes, as a position among the units.
        row: (documents,) its row of the judgments.
    """

    owner: NDArray[np.int64]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, found: PoolUniques, qrels: Qrels, lowest: int) -> RemovedUniques:
        """Return the uniques that have at least a label."""
        gone = qrels.arrays.labels[found.row] >= lowest
        return cls(found.owner[gone], found.row[gone])


@dataclass(frozen=True)
class UniqueSets:
    """Sets of judgments by number: without the uniques of each unit; then of each judge, filled for each and alone.

    Attributes:
        judgments: the base; documents that only a judge labels stand in it as unjudged.
        changes: what the sets change in its rows.
        n_units: how many units there are.
        n_judges: how many judges fill.
    """

    judgments: Qrels
    changes: Changes
    n_units: int
    n_judges: int = 0

    @classmethod
    def of_units(cls, qrels: Qrels, n_units: int) -> UniqueSets:
        """Return the sets without the uniques of each unit alone, which are found while they are scored."""
        return cls(qrels, replace(NO_CHANGES, n_sets=n_units), n_units)

    def filled(self, judge: int) -> int:
        """Return the set of a judge in which the first unit's uniques are filled; those of the others follow."""
        return self.n_units + judge * (self.n_units + 1)

    def alone(self, judge: int) -> int:
        """Return the set that holds the labels of a judge alone."""
        return self.filled(judge) + self.n_units


@dataclass(frozen=True)
class SetScores:
    """Scores under sets of judgments.

    Attributes:
        full: (measures, topics, runs) under the judgments as they are.
        removed: the same shape, each run without the uniques of its own unit.
        filled: the same of each judge, each run with these labelled by the judge.
        alone: the same of each judge, all runs under its labels alone.
        means: (measures, sets, runs) of all runs under every set.
    """

    full: NDArray[np.float64]
    removed: NDArray[np.float64]
    filled: Sequence[NDArray[np.float64]]
    alone: Sequence[NDArray[np.float64]]
    means: NDArray[np.float64]


def score_sets(
    blocks: Iterable[Block],
    runs: RunSet,
    sets: UniqueSets,
    n_measures: int,
    units: Units,
    *,
    complete: bool,
    keep: list[Block] | None,
) -> SetScores:
    """Return the scores of all runs under all sets, of blocks in the order of the topics."""
    topics = sets.judgments.topics
    full = np.empty((n_measures, len(topics), len(runs)))
    judges = range(sets.n_judges)
    # set of the first unit -> scores of runs of their own units
    own = {first: np.empty(full.shape) for first in (0, *map(sets.filled, judges))}
    alone = {number: np.empty(full.shape) for number in map(sets.alone, judges)}
    has = None if complete else topics_of_runs(runs, sets.judgments)
    means = MeansOfSets((n_measures, sets.changes.n_sets, len(runs)), len(topics), has)
    for block in blocks:
        here = slice(block.topics.start, block.topics.stop)
        full[:, here] = block.base
        for first, values in own.items():
            values[:, here] = block.base
            cell, run = np.nonzero((block.set - first)[:, None] == units.of_run)
            values[:, block.topic[cell], run] = block.values[:, cell, run]
        for number, values in alone.items():
            values[:, here] = block.base
            cells = block.set == number
            values[:, block.topic[cells]] = block.values[:, cells]
        means.add(block)
        if keep is not None:
            keep.append(block)
    removed, *filled = own.values()
    return SetScores(full, removed, filled, list(alone.values()), means.means())


class UniqueScoring(ArrayWork):
    """Scoring without the uniques of each unit, which are found on the way.

    Args:
        scoring: of the runs under the judgments as they are.
        pooling: how the runs were pooled.
        n_units: how many units there are; their numbers are those of the sets without their uniques.
        lowest: the lowest label of the uniques that are removed.
    """

    kind = "lou"
    axes: ClassVar[Mapping[str, int]] = Rescoring.axes

    def __init__(self, scoring: Rescoring, pooling: Pooling, n_units: int, lowest: int):
        self.scoring, self.pooling, self.n_units, self.lowest = scoring, pooling, n_units, lowest
        self.field, self.topics, self.has_own_bar = scoring.field, scoring.topics, scoring.has_own_bar

    def prepare(self) -> None:
        """Find the judged documents among the runs; once."""
        self.scoring.prepare()

    def cut(self, at_once: int) -> list[range]:
        """Return neighbouring topics that belong in one job, as if each document to remove were a unique."""
        documents, labels = self.scoring.documents, self.scoring.judgments.labels
        most = documents.counts(labels >= self.lowest)
        return self.scoring.cut_by(1 + np.minimum(most, self.n_units), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return the uniques of some neighbouring topics, and the scores with and without them."""
        labels, before = self.scoring.judgments.labels, self.rows_before(topics.start)
        found = self.pooling.uniques(self.scoring.index, topics, labels)
        gone = labels[found.row] >= self.lowest
        row = found.row[gone] - before
        without = Changes(self.n_units, found.owner[gone], row, np.full(len(row), UNJUDGED))
        block = self.scoring.block(topics, without.by_row(), verbose=verbose)
        return {**block.arrays(), **found.arrays()}

    def rows_before(self, t: int) -> int:
        """Return how many judgments the topics before one have."""
        return self.scoring.rows_before(t)

    def of_topics(self, topics: range, field: AnyField) -> UniqueScoring:
        """Return the same work of some neighbouring topics alone."""
        return UniqueScoring(self.scoring.of_topics(topics, field), self.pooling, self.n_units, self.lowest)


class _Blocks:
    """The blocks of scores, and the uniques that come with them."""

    def __init__(self, parts: Iterator[Arrays]):
        self._parts = parts
        self._found: list[Arrays] = []

    def __iter__(self) -> Iterator[Block]:
        for part in self._parts:
            self._found.append({name: _small(part[name]) for name in PoolUniques.NAMES})
            yield Block.of(part)

    def uniques(self) -> PoolUniques:
        """Return the uniques of the blocks that were taken."""
        return PoolUniques.of(self._found)


def _small(numbers: NDArray[np.int64]) -> NDArray[np.integer]:
    # of all topics there are millions
    return numbers.astype(np.int32) if numbers.max(initial=0) < 2**31 else numbers


def score_uniques(
    runs: RunSet,
    qrels: Qrels,
    measures: list[ir_measures.Measure],
    units: Units,
    pooling: Pooling,
    lowest: int,
    *,
    complete: bool,
    keep: list[Block] | None,
    n_jobs: int | None,
    verbose: bool,
) -> tuple[PoolUniques, SetScores]:
    """Find the uniques of each unit, and score all runs with and without them, in one pass."""
    work = UniqueScoring(Rescoring(runs.field, runs.names, qrels, measures), pooling, len(units), lowest)
    blocks = _Blocks(run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="scoring"))
    sets = UniqueSets.of_units(qrels, len(units))
    scored = score_sets(blocks, runs, sets, len(measures), units, complete=complete, keep=keep)
    return blocks.uniques(), scored


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
