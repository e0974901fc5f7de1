"""The sets of judgments that leave-out-uniques compares with the full one, and the scores of all runs under them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.rescore import NO_CHANGES, Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.pooling.pool_uniques import PoolUniques
from pt_reuse.scoring.rescoring import Block, MeansOfSets
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
