"""Scores of all runs without the uniques of each unit, which are found on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import Arrays, ArrayWork, run_topics
from pt_reuse.data.units import Units
from pt_reuse.pooling.fit import Pooling, PoolUniques
from pt_reuse.scoring.rescoring import Block, MeansOfSets, Rescoring
from pt_reuse.scoring.run_scores import topics_of_runs


class UniqueScoring(ArrayWork):
    """Scoring without the uniques of each unit with at least the `lowest` label; sets are numbered as units."""

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
        return {**self.scoring.block(topics, without.by_row(), verbose=verbose).arrays(), **found.arrays()}

    def rows_before(self, t: int) -> int:
        """Return how many judgments the topics before one have."""
        return self.scoring.rows_before(t)

    def of_topics(self, topics: range, field: AnyField) -> UniqueScoring:
        """Return the same work of some neighbouring topics alone."""
        return UniqueScoring(self.scoring.of_topics(topics, field), self.pooling, self.n_units, self.lowest)


@dataclass(frozen=True)
class SetScores:
    """Scores under sets of judgments."""

    full: NDArray[np.float64]  # (measures, topics, runs) under the judgments as they are
    own: Sequence[NDArray[np.float64]]  # the same shape, each run under the set of its own unit
    alone: Sequence[NDArray[np.float64]]  # the same shape, all runs under one set; one for each of these
    means: NDArray[np.float64]  # (measures, sets, runs) of all runs under every set


def score_sets(
    blocks: Iterable[Block],
    runs: RunSet,
    qrels: Qrels,
    n_measures: int,
    units: Units,
    *,
    own: Sequence[int] = (0,),
    alone: Sequence[int] = (),
    n_sets: int | None = None,
    complete: bool,
    keep: list[Block] | None,
) -> SetScores:
    """Return the scores of all runs under all sets, of blocks in the order of the topics, which are added to `keep`."""
    shape, has = (n_measures, len(qrels.topics), len(runs)), None if complete else topics_of_runs(runs, qrels)
    full, of_own, of_all = np.empty(shape), {n: np.empty(shape) for n in own}, {n: np.empty(shape) for n in alone}
    means = MeansOfSets((n_measures, len(units) if n_sets is None else n_sets, len(runs)), shape[1], has)
    for block in blocks:
        here = slice(block.topics.start, block.topics.stop)
        full[:, here] = block.base
        for first, values in of_own.items():
            values[:, here] = block.base
            cell, run = np.nonzero((block.set - first)[:, None] == units.of_run)
            values[:, block.topic[cell], run] = block.values[:, cell, run]
        for number, values in of_all.items():
            values[:, here] = block.base
            cells = block.set == number
            values[:, block.topic[cells]] = block.values[:, cells]
        means.add(block)
        if keep is not None:
            keep.append(block)
    return SetScores(full, list(of_own.values()), list(of_all.values()), means.means())


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
    found: list[Arrays] = []

    def blocks() -> Iterator[Block]:
        for part in run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="scoring"):
            found.append({name: _small(part[name]) for name in PoolUniques.NAMES})
            yield Block.of(part)

    scored = score_sets(blocks(), runs, qrels, len(measures), units, complete=complete, keep=keep)
    return PoolUniques.of(found), scored


def _small(numbers: NDArray[np.int64]) -> NDArray[np.integer]:
    # of all topics there are millions
    return numbers.astype(np.int32) if numbers.max(initial=0) < 2**31 else numbers
