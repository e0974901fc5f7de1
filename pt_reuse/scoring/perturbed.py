"""Scores of all runs under many sets of judgments: their means, and those that a study wants topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicScores
from pt_reuse.arrays.kernels import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.scoring.measures import adds_up
from pt_reuse.scoring.rescoring import Block, rescore
from pt_reuse.scoring.scores import topics_of_runs


class UnitScores(NamedTuple):
    """The topics and sets in which scores may be others."""

    topic: NDArray[np.int64]  # (cells,)
    set: NDArray[np.int64]  # (cells,)
    values: NDArray[np.float64]  # (measures, cells, runs)


@dataclass(frozen=True)
class PerturbedScores:
    """Scores of all runs under the judgments as they are, and under sets of changed ones."""

    base: NDArray[np.float64]  # (measures, topics, runs) under the judgments as they are
    means: NDArray[np.float64]  # (measures, sets, runs) of all runs under every set
    own: Mapping[int, NDArray[np.float64]]  # first set -> as base, each run under the set of its own unit from there on
    whole: Mapping[int, NDArray[np.float64]]  # set -> as base, all runs under this set
    cells: UnitScores | None  # of the sets of units, where they were kept

    @classmethod
    def of(
        cls,
        blocks: Iterable[Block],
        runs: RunSet,
        qrels: Qrels,
        measures: Sequence[ir_measures.Measure],
        n_sets: int,
        *,
        units: Units | None = None,
        own: Sequence[int] = (0,),
        whole: Sequence[int] = (),
        complete: bool = True,
        with_cells: bool = False,
    ) -> PerturbedScores:
        """Add up blocks in the order of the topics; of measures that are added up, such as NumRet, means are the sums.

        `own` says which sets are the first of those of all units, `whole` under which sets scores are wanted topic by
        topic.
        """
        shape, has = (len(measures), len(qrels.topics), len(runs)), None if complete else topics_of_runs(runs, qrels)
        base = np.empty(shape)
        of_own = {first: np.empty(shape) for first in (own if units is not None else ())}
        of_run = None if units is None else units.of_run
        of_all = {number: np.empty(shape) for number in whole}
        sums, kept = np.zeros((len(measures), n_sets, len(runs))), []
        for block in blocks:
            here = slice(block.topics.start, block.topics.stop)
            base[:, here] = block.base
            for first, values in of_own.items():
                values[:, here] = block.base
                cell, run = np.nonzero((block.set - first)[:, None] == of_run)
                values[:, block.topic[cell], run] = block.values[:, cell, run]
            for number, values in of_all.items():
                values[:, here] = block.base
                cells = block.set == number
                values[:, block.topic[cells]] = block.values[:, cells]
            for i, topic in enumerate(block.topics):
                of_topic = block.cells_of(topic)
                scores, before = block.values[:, of_topic], block.base[:, i, None]
                if has is not None:
                    scores, before = (np.where(has[topic], values, 0.0) for values in (scores, before))
                changed = sums[:, block.set[of_topic]] + scores
                sums += before
                sums[:, block.set[of_topic]] = changed
            if with_cells and units is not None:
                mine = block.set < len(units)
                kept.append((block.topic[mine], block.set[mine], block.values[:, mine]))
        joined = None
        if kept:
            topics, of_units, of_cells = zip(*kept, strict=True)
            joined = UnitScores(np.concatenate(topics), np.concatenate(of_units), np.concatenate(of_cells, axis=1))
        divisor = max(shape[1], 1) if has is None else np.maximum(has.sum(axis=0), 1)
        means = sums / np.where(adds_up(measures)[:, None, None], 1, divisor)
        return cls(base, means, of_own, of_all, joined)

    def without(self, number: int, like: Iterable[TopicScores]) -> Iterator[TopicScores]:
        """Yield of each measure the scores under the set of a unit, of cells that were kept, as the base has them."""
        if self.cells is None:
            raise TypeError("the cells were not kept")
        mine, reduced = self.cells.set == number, self.base.copy()
        reduced[:, self.cells.topic[mine]] = self.cells.values[:, mine]
        for truth, values in zip(like, reduced, strict=True):
            yield replace(truth, values=values)


def scores_under(
    runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], labels: NDArray[np.int16], **how: Any
) -> NDArray[np.float64]:
    """Return (sets, measures, topics, runs) scores under (sets, judgments) labels in place of those given."""
    in_set, row = np.nonzero(labels != qrels.arrays.labels)
    changes = Changes(len(labels), in_set, row, labels[in_set, row])
    values = np.empty((len(labels), len(measures), len(qrels.topics), len(runs)))
    for block in rescore(runs, qrels, measures, changes, **how):
        values[:, :, block.topics.start : block.topics.stop] = block.base[None]
        values[block.set, :, block.topic] = block.values.transpose(1, 0, 2)
    return values
