"""Scores of a field under judgments and under many other sets that each differ from them in some labels.

This is the one place that scores. Who asks says what changes and reduces what comes back. The work is cut into blocks
of topics that share nothing but what they read: a block can be computed alone, in any order, by anyone who has the
field and the judgments, and its bits do not depend on how the topics are cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import examples
from pt_reuse._jobs import run_jobs
from pt_reuse._workers import Workers
from pt_reuse.engine.field import Field
from pt_reuse.engine.hits import HitIndex
from pt_reuse.engine.open_field import AnyField, OpenField
from pt_reuse.engine.rescore import NO_CHANGES, Changes, Judgments, score_topics
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.shipping import on_disk
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.provider import Provided

#: numbers held at a time for a block: scores, rows of runs and judgments; 128 MB
AT_ONCE = 1 << 24
#: the same where a progress bar is to move
_AT_ONCE_SHOWN = AT_ONCE >> 5
#: jobs for other processes at most, each of blocks that follow one another
_JOBS = 256
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
        field: the runs.
        names: of the runs.
        qrels: the judgments.
        measures: measures of ir_measures, as `parse_measures` returns them.
        changes: further judgment sets, as what they change in rows of ``qrels.arrays``.
        verbose: show a progress bar while ir_measures works.
    """

    def __init__(
        self,
        field: AnyField,
        names: Sequence[str],
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
        self._n_runs, self._documents = field.n_runs, qrels.arrays.documents
        self._judgments = Judgments(self._documents.starts, qrels.arrays.labels, changes.by_row())
        self._index = HitIndex(field, self._documents) if self._native else None
        others = [measures[m] for m in self._other]
        self._provided = Provided(field, names, qrels, others, verbose=verbose) if others else None
        self._topic = [field.topic_row.get(topic, -1) for topic in qrels.topics]
        self._rows = np.append(field.lengths.sum(axis=1), 0)[self._topic]
        self._parts = field.parts

    @property
    def has_provided(self) -> bool:
        """Return whether ir_measures computes some of the measures."""
        return self._provided is not None

    def cut(self, at_once: int = AT_ONCE) -> list[range]:
        """Return blocks of neighbouring topics, as few as hold at most so many numbers; a topic is never cut.

        The topics of a block lie in one block of an open field, but for those that it lacks.
        """
        cells = self._judgments.cells()
        sets = np.bincount(cells.topic, minlength=cells.n_topics)
        n_measures, n_others = len(self._native) + len(self._other), len(self._other)
        sizes = sets * (n_measures * self._n_runs + _IN_A_DICTIONARY * n_others * self._documents.sizes) + self._rows
        part_of = np.append(np.repeat(np.arange(len(self._parts)), [len(part) for part in self._parts]), -1)
        blocks, first, held, at = [], 0, 0, -1
        for t, (size, part) in enumerate(zip(sizes.tolist(), part_of[self._topic].tolist(), strict=True)):
            other = part >= 0 and at >= 0 and part != at
            if t > first and (held + size > at_once or other):
                blocks.append(range(first, t))
                first, held, at = t, 0, -1
            held += size
            at = part if part >= 0 else at
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
    n_jobs: int | None = None,
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
            under a progress bar and where several jobs run at a time.
        n_jobs: blocks at a time, as joblib takes it; None for what ``joblib.parallel_config`` says, else 1.

    Returns:
        Iterator of Block: every topic of the judgments once, in their order.

    Raises:
        InputError: a measure that ir_measures cannot compute.
    """
    where = Workers.of(n_jobs, prefer="threads" if isinstance(runs.field, Field) else None)
    work = Rescoring(runs.field, runs.names, qrels, measures, changes, verbose=verbose and where is Workers.NONE)
    # ir_measures, which is far slower than all else, has a bar of its own for every block
    shown = verbose and not (work.has_provided and where is Workers.NONE)
    usual = _AT_ONCE_SHOWN if shown or where is not Workers.NONE else AT_ONCE
    cut = work.cut(usual if at_once is None else at_once)
    if where is Workers.NONE or len(cut) < 2:
        found: Iterator[Block] = map(work.block, cut)
    elif where is Workers.THREADS:
        found = _in_jobs((_Shared(work, topics) for topics in cut), len(cut), n_jobs)
    else:
        found = _elsewhere(runs, qrels, measures, changes, cut, n_jobs)
    return _with_bar(found, sum(map(len, cut)), shown=shown)


def _with_bar(blocks: Iterator[Block], n_topics: int, *, shown: bool) -> Iterator[Block]:
    with pt.tqdm(total=n_topics, desc="scoring", unit="topic", disable=not shown) as bar:
        for block in blocks:
            yield block
            bar.update(len(block.topics))


def _in_jobs(jobs: Iterator[Any], total: int, n_jobs: int | None, prefer: str | None = "threads") -> Iterator[Block]:
    for blocks in run_jobs(jobs, total, desc="scoring", unit="block", n_jobs=n_jobs, verbose=False, prefer=prefer):
        yield from blocks


def _elsewhere(
    runs: RunSet,
    qrels: Qrels,
    measures: Sequence[ir_measures.Measure],
    changes: Changes,
    cut: Sequence[range],
    n_jobs: int | None,
) -> Iterator[Block]:
    with on_disk(runs.field) as field:
        by_row = changes.by_row()
        jobs = (_Sent.of(field, runs.names, qrels, measures, by_row, group) for group in _grouped(cut))
        yield from _in_jobs(jobs, len(_grouped(cut)), n_jobs, prefer=None)


def _grouped(cut: Sequence[range]) -> list[list[range]]:
    # a job has as many blocks that follow one another as keep the jobs few
    size = -(-len(cut) // _JOBS)
    return [list(cut[i : i + size]) for i in range(0, len(cut), size)]


@dataclass(frozen=True)
class _Shared:
    """A job of one block for a thread of this process."""

    work: Rescoring
    topics: range

    def run(self) -> list[Block]:
        """Return the block."""
        return [self.work.block(self.topics)]


@dataclass(frozen=True)
class _Sent:
    """A job of some blocks for another process: what they need, and no more.

    Attributes:
        field: the runs on these topics.
        names: of the runs.
        qrels: the judgments of these topics.
        changes: what further sets change in them.
        first: the first topic among all topics of the judgments.
        blocks: topics of each block, counted from the first.
    """

    field: OpenField
    names: Sequence[str]
    qrels: Qrels
    measures: Sequence[ir_measures.Measure]
    changes: Changes
    first: int
    blocks: list[range]

    @classmethod
    def of(
        cls,
        field: OpenField,
        names: Sequence[str],
        qrels: Qrels,
        measures: Sequence[ir_measures.Measure],
        by_row: Changes,
        cut: Sequence[range],
    ) -> _Sent:
        """Return the job of some blocks that follow one another; changes are in the order of the rows."""
        topics = range(cut[0].start, cut[-1].stop)
        documents = qrels.arrays.documents
        rows = slice(*documents.starts[[topics.start, topics.stop]].tolist())
        held = [at for t in topics if (at := field.topic_row.get(documents.topics[t], -1)) >= 0]
        covered = range(min(held), max(held) + 1) if held else range(0)
        mine = Qrels.of_arrays(qrels.arrays.of_topics(list(topics)), qrels.stated_rel)
        blocks = [range(block.start - topics.start, block.stop - topics.start) for block in cut]
        return cls(field.of_topics(covered), names, mine, measures, by_row.within(rows), topics.start, blocks)

    @property
    def place(self) -> str:
        """Return which topics these are, and the files of their runs, for errors."""
        mine = self.qrels.topics
        of = f"topic {mine[0]!r}" if len(mine) == 1 else f"topics {mine[0]!r} to {mine[-1]!r}"
        files = self.field.places(range(self.field.n_topics))
        return f"{of} of {examples(files)}" if files else of

    def run(self) -> list[Block]:
        """Return the blocks."""
        work = Rescoring(self.field, self.names, self.qrels, self.measures, self.changes)
        return [self._moved(work.block(topics)) for topics in self.blocks]

    def _moved(self, block: Block) -> Block:
        topics = range(block.topics.start + self.first, block.topics.stop + self.first)
        return replace(block, topics=topics, topic=block.topic + self.first)


class MeansOfSets:
    """Adds up blocks to the means of all runs under every changed set, topic by topic in the order of the topics.

    Args:
        shape: numbers of measures, sets and runs.
        n_topics: how many topics there are.
        has_topic: (topics, runs) where a run's mean is over its own topics, None where it is over all.
    """

    def __init__(self, shape: tuple[int, int, int], n_topics: int, has_topic: NDArray[np.bool_] | None):
        self._has = has_topic
        self._divisor = max(n_topics, 1) if has_topic is None else np.maximum(has_topic.sum(axis=0), 1)
        self._sum = np.zeros(shape)

    def add(self, block: Block) -> None:
        """Add the next block."""
        for i, topic in enumerate(block.topics):
            cells = block.cells_of(topic)
            base, sets, values = block.base[:, i], block.set[cells], block.values[:, cells]
            if self._has is not None:
                base, values = np.where(self._has[topic], base, 0.0), np.where(self._has[topic], values, 0.0)
            changed = self._sum[:, sets] + values
            self._sum += base[:, None]
            self._sum[:, sets] = changed

    def means(self) -> NDArray[np.float64]:
        """Return (measures, sets, runs): the means over the topics of the blocks added."""
        return self._sum / self._divisor
