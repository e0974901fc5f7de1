"""Scores of a field under judgments and under many other sets that each differ from them in some labels.

This is the one place that scores. Who asks says what changes and reduces what comes back. The work is cut into blocks
of topics that share nothing but what they read: a block can be computed alone, in any order, by anyone who has the
field and the judgments, and its bits do not depend on how the topics are cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.engine.hits import HitIndex
from pt_reuse.engine.rescore import NO_CHANGES, Changes, Judgments, score_topics
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.provider import Provided

#: numbers held at a time for a block: scores, rows of runs and judgments; 128 MB
AT_ONCE = 1 << 24
#: the same where a progress bar is to move
_AT_ONCE_SHOWN = AT_ONCE >> 5
#: sums added to at a time, half a megabyte
_SUMS_AT_ONCE = 1 << 16
#: what a judgment takes as an entry of a provider's dictionary, in such numbers
_IN_A_DICTIONARY = 12


@dataclass(frozen=True)
class Block:
    """The scores of neighbouring topics.

    A *cell* is a topic under a set that changes something in it. A pair of topic and set that is no cell here has the
    scores of the judgments as they are.

    Attributes:
        topics: positions among the topics of the judgments.
        base: (measures, topics of the block, runs) under the judgments as they are.
        topic: (cells,) the topic of each cell, as a position among the topics of the judgments; ascending.
        set: (cells,) its set.
        values: (measures, cells, runs) the scores of the cells.
    """

    topics: range
    base: NDArray[np.float64]
    topic: NDArray[np.int64]
    set: NDArray[np.int64]
    values: NDArray[np.float64]

    def cells_of(self, topic: int) -> slice:
        """Return the cells of one topic."""
        first, stop = np.searchsorted(self.topic, [topic, topic + 1]).tolist()
        return slice(first, stop)


class Rescoring:
    """What is to be scored, and how it can be cut; it holds nothing that a block changes.

    Args:
        runs: the field.
        qrels: the judgments.
        measures: measures of ir_measures, as `parse_measures` returns them.
        changes: further judgment sets, as what they change in rows of ``qrels.arrays``.
        verbose: show a progress bar while ir_measures works.
    """

    def __init__(
        self,
        runs: RunSet,
        qrels: Qrels,
        measures: Sequence[ir_measures.Measure],
        changes: Changes = NO_CHANGES,
        *,
        verbose: bool = False,
    ):
        specs = [native_spec(measure) for measure in measures]
        self._native = [m for m, spec in enumerate(specs) if spec is not None]
        self._other = [m for m, spec in enumerate(specs) if spec is None]
        self._specs = [spec for spec in specs if spec is not None]
        self._sees_all = bool(self._other) or any(spec.sees_nonrelevant for spec in self._specs)
        self._n_runs, self._documents = len(runs), qrels.arrays.documents
        self._judgments = Judgments(self._documents.starts, qrels.arrays.labels, changes.by_row())
        self._index = HitIndex(runs.field, self._documents) if self._native else None
        others = [measures[m] for m in self._other]
        self._provided = Provided(runs, qrels, others, verbose=verbose) if others else None
        self._rows = np.append(runs.field.lengths.sum(axis=1), 0)[
            [runs.field.topic_row.get(topic, -1) for topic in qrels.topics]
        ]

    @property
    def has_provided(self) -> bool:
        """Return whether ir_measures computes some of the measures."""
        return self._provided is not None

    def cut(self, at_once: int = AT_ONCE) -> list[range]:
        """Return blocks of neighbouring topics, as few as hold at most so many numbers; a topic is never cut."""
        cells = self._judgments.cells()
        sets = np.bincount(cells.topic, minlength=cells.n_topics)
        n_measures, n_others = len(self._native) + len(self._other), len(self._other)
        sizes = sets * (n_measures * self._n_runs + _IN_A_DICTIONARY * n_others * self._documents.sizes) + self._rows
        blocks, first, held = [], 0, 0
        for t, size in enumerate(sizes.tolist()):
            if t > first and held + size > at_once:
                blocks.append(range(first, t))
                first, held = t, 0
            held += size
        return [*blocks, range(first, len(sizes))] if len(sizes) else []

    def block(self, topics: range) -> Block:
        """Return the scores of some neighbouring topics; what else is being computed makes no difference to them."""
        judgments = self._judgments.of(topics)
        if not self._sees_all:
            judgments = judgments.visible()
        cells = judgments.cells()
        values = np.empty((len(self._native) + len(self._other), len(cells), self._n_runs))
        if self._index is not None:
            values[self._native] = score_topics(self._index, judgments, topics, self._specs, cells)
        if self._provided is not None:
            values[self._other] = self._provided.score(topics, judgments, cells)
        n = cells.n_topics
        return Block(topics, values[:, :n], cells.topic[n:] + topics.start, cells.set, values[:, n:])


def rescore(
    runs: RunSet,
    qrels: Qrels,
    measures: Sequence[ir_measures.Measure],
    changes: Changes = NO_CHANGES,
    *,
    verbose: bool = False,
    at_once: int | None = None,
) -> Iterator[Block]:
    """Score every run under the judgments and under every changed set, a block of topics at a time.

    Args:
        runs: the field.
        qrels: the judgments.
        measures: measures of ir_measures, as `parse_measures` returns them; those without a kernel here are computed by
            ir_measures and come back in the same shape.
        changes: further judgment sets, as what they change in rows of ``qrels.arrays``.
        verbose: show a progress bar.
        at_once: numbers that a block may hold, which bounds memory and changes no score; default :data:`AT_ONCE`, less
            under a progress bar.

    Returns:
        Iterator of Block: every topic of the judgments once, in their order.

    Raises:
        InputError: a measure that ir_measures cannot compute.
    """
    work = Rescoring(runs, qrels, measures, changes, verbose=verbose)
    # ir_measures, which is far slower than all else, has a bar of its own for every block
    shown = verbose and not work.has_provided
    usual = _AT_ONCE_SHOWN if shown else AT_ONCE
    return _blocks(work, work.cut(usual if at_once is None else at_once), shown=shown)


def _blocks(work: Rescoring, cut: Sequence[range], *, shown: bool) -> Iterator[Block]:
    with pt.tqdm(total=sum(map(len, cut)), desc="scoring", unit="topic", disable=not shown) as bar:
        for topics in cut:
            yield work.block(topics)
            bar.update(len(topics))


class MeansOfSets:
    """Adds up blocks to the means of all runs under every changed set, topic by topic in the order of the topics.

    Sets are added a few at a time, which the cache holds, and none of them before something changes in one of these:
    until then its sum is that of the judgments as they are.

    Args:
        shape: numbers of measures, sets and runs.
        n_topics: how many topics there are.
        has_topic: (topics, runs) where a run's mean is over its own topics, None where it is over all.
    """

    def __init__(self, shape: tuple[int, int, int], n_topics: int, has_topic: NDArray[np.bool_] | None):
        n_measures, n_sets, n_runs = shape
        self._has = has_topic
        self._divisor = max(n_topics, 1) if has_topic is None else np.maximum(has_topic.sum(axis=0), 1)
        self._base, self._sum = np.zeros((n_measures, n_runs)), np.empty(shape)
        step = max(1, _SUMS_AT_ONCE // max(1, n_measures * n_runs))
        self._parts = [slice(first, min(first + step, n_sets)) for first in range(0, n_sets, step)]
        self._begun = np.zeros(len(self._parts), dtype=np.bool_)

    def add(self, block: Block) -> None:
        """Add the next block."""
        base = block.base
        if self._has is not None:
            base = np.where(self._has[block.topics.start : block.topics.stop], base, 0.0)
        by_set = np.argsort(block.set, kind="stable")
        bounds = np.searchsorted(block.set[by_set], [part.start for part in self._parts]).tolist()
        for p, (first, stop) in enumerate(zip(bounds, [*bounds[1:], len(by_set)], strict=True)):
            if first < stop and not self._begun[p]:
                self._sum[:, self._parts[p]] = self._base[:, None]
                self._begun[p] = True
            if self._begun[p]:
                self._add(self._parts[p], base, block, np.sort(by_set[first:stop]))
        for i in range(len(block.topics)):
            self._base += base[:, i]

    def _add(self, part: slice, base: NDArray[np.float64], block: Block, cells: NDArray[np.int64]) -> None:
        """Add a block to some sets, of which these are the cells."""
        sums = self._sum[:, part]
        bounds = np.searchsorted(block.topic[cells], range(block.topics.start, block.topics.stop + 1)).tolist()
        for i, topic in enumerate(block.topics):
            mine = cells[bounds[i] : bounds[i + 1]]
            values, sets = block.values[:, mine], block.set[mine] - part.start
            if self._has is not None:
                values = np.where(self._has[topic], values, 0.0)
            values = sums[:, sets] + values
            sums += base[:, i, None]
            sums[:, sets] = values

    def means(self) -> NDArray[np.float64]:
        """Return (measures, sets, runs): the means over the topics of the blocks added; nothing can be added then."""
        for p in np.flatnonzero(~self._begun).tolist():
            self._sum[:, self._parts[p]] = self._base[:, None]
        self._sum /= self._divisor
        return self._sum
