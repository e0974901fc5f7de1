"""UniqueScoring: the uniques of topics and the scores without them, in one pass over the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import Arrays, ArrayWork, run_topics
from pt_reuse.data.units import Units
from pt_reuse.pooling.pool_uniques import Pooling, PoolUniques
from pt_reuse.scoring.rescoring import Block, Rescoring
from pt_reuse.studies.unique_sets import SetScores, UniqueSets, score_sets


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
