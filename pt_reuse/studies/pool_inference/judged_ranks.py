"""Which ranks of which runs are judged, and the pool of like-judged runs that differs least from the judgments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.hits import HitIndex
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet

_ROUNDS = 20  # of settling topic depths and runs; real fields need two or three
_NO_DOCS = np.zeros((0, 0), dtype=np.int32)
_SLACK = 1e-9  # a tolerated share times a whole number is not whole in floating point


@dataclass(frozen=True)
class RankedTopic:
    """The runs' lists on one topic of the judgments.

    Attributes:
        docs: (runs, longest) the document at each rank, -1 past the end of a list.
        row: (documents + 1,) each document's row of the judgments, -1 for an unjudged one; the last is no document.
    """

    docs: NDArray[np.int32]
    row: NDArray[np.int32]

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Return (documents,): which documents are judged."""
        return self.row[:-1] >= 0

    @cached_property
    def unjudged_to(self) -> NDArray[np.int32]:
        """Return (runs, longest + 1): unjudged documents at rank k or better, for k from 0."""
        return _running((self.docs >= 0) & (self.row[self.docs] < 0))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): documents of each list."""
        return (self.docs >= 0).sum(axis=1)

    def best(self, runs: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the best rank of each document among the chosen runs, and the first run with it there (-1: none)."""
        chosen = np.flatnonzero(runs).astype(np.int32)
        # worst rank and last run first: of several assignments to one document the last one stays
        docs = self.docs[chosen].T[::-1, ::-1].ravel()
        ranks = np.repeat(np.arange(self.docs.shape[1], 0, -1, dtype=np.int32), len(chosen))
        rank, run = np.zeros(len(self.row), dtype=np.int32), np.full(len(self.row), -1, dtype=np.int32)
        rank[docs] = ranks
        run[docs] = np.tile(chosen[::-1], self.docs.shape[1])
        return rank[:-1], run[:-1]

    def found(self, runs: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (longest + 1,) each: judged and unjudged documents in the pool of the chosen runs to depth k."""
        rank = self.best(runs)[0]
        n = self.docs.shape[1] + 1
        judged = np.bincount(rank[self.judged], minlength=n)
        every = np.bincount(rank, minlength=n)
        judged[0] = every[0] = 0
        return np.cumsum(judged), np.cumsum(every - judged)


@dataclass(frozen=True)
class Tops:
    """What every run has down to the depth of each topic; documents are numbered over all topics.

    Attributes:
        run, doc: (entries,) topic by topic.
        row: (documents,) each document's row of the judgments, -1 for an unjudged one.
        starts: (topics + 1,) the entries of each topic; `doc_starts` its documents.
        n_runs: runs of the field.
    """

    run: NDArray[np.int64]
    doc: NDArray[np.int64]
    row: NDArray[np.int32]
    starts: NDArray[np.int64]
    doc_starts: NDArray[np.int64]
    n_runs: int

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Return (documents,): which documents are judged."""
        return self.row >= 0

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Return (runs,): documents of each run."""
        return np.bincount(self.run, minlength=self.n_runs)

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return (runs,): unjudged documents of each run."""
        return np.bincount(self.run[~self.judged[self.doc]], minlength=self.n_runs)

    def times(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (documents,): how many of the chosen runs have each document."""
        return np.bincount(self.doc[runs[self.run]], minlength=len(self.row))

    def alone(self, runs: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (runs,) each: judged and unjudged documents that a run has and no other of the chosen runs."""
        alone = self.times(runs)[self.doc] == runs[self.run]
        judged = self.judged[self.doc]
        n = self.n_runs
        return np.bincount(self.run[alone & judged], minlength=n), np.bincount(self.run[alone & ~judged], minlength=n)

    def in_common(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (runs, chosen): documents that each run has in common with each of the chosen runs."""
        chosen = np.flatnonzero(runs)
        total = np.zeros((self.n_runs, len(chosen)))
        for first, last, base, end in zip(
            self.starts[:-1], self.starts[1:], self.doc_starts[:-1], self.doc_starts[1:], strict=True
        ):
            has = np.zeros((self.n_runs, end - base), dtype=np.float32)
            has[self.run[first:last], self.doc[first:last] - base] = 1
            has = has[:, has.any(axis=0)]
            total += has @ has[chosen].T
        return np.rint(total).astype(np.int64)


@dataclass(frozen=True)
class Settled:
    """Depths, and the runs that are judged to them.

    Attributes:
        depths: (topics,) of the judgments.
        runs: (runs,) which runs are judged to these depths and bring more judged than unjudged documents.
        difference: judged documents outside the pool of these runs, and unjudged ones in it.
        tops: what the runs have down to these depths.
        up_to: the largest depth for all topics that differs as little.
    """

    depths: NDArray[np.int64]
    runs: NDArray[np.bool_]
    difference: int
    tops: Tops
    up_to: int


class JudgedRanks:
    """The judged and unjudged ranks of a field.

    Args:
        runs: the field.
        qrels: the judgments; a pair of topic and document with any label counts as judged.
        tolerance: share of a run's documents down to a depth that may be unjudged.
    """

    def __init__(self, runs: RunSet, qrels: Qrels, tolerance: float):
        judgments, field = qrels.arrays, runs.field
        self.n_runs, self.n_judged, self.tolerance = len(runs), len(qrels), tolerance
        index = HitIndex(field, judgments.documents)
        self.topics: list[RankedTopic | None] = []
        for at, row_of_code in zip(index.field_topic, index.rows_of_codes(index.topics), strict=True):
            if row_of_code is None:
                self.topics.append(None)
                continue
            lengths = field.lengths[at]
            docs = np.full((self.n_runs, int(lengths.max(initial=0))), -1, dtype=np.int32)
            docs[np.arange(docs.shape[1]) < lengths[:, None]] = field.codes[field.rows(at)]
            self.topics.append(RankedTopic(docs, np.append(row_of_code, np.int32(-1))))
        self.longest = max((topic.docs.shape[1] for topic in self.topics if topic), default=0)

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Return (runs, longest + 1): documents that a run has at rank k or better, over all topics."""
        return self._summed([_running(topic.docs >= 0) for topic in self.topics if topic])

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return (runs, longest + 1): how many of the `entries` are unjudged."""
        return self._summed([topic.unjudged_to for topic in self.topics if topic])

    def _summed(self, parts: list[NDArray[np.int32]]) -> NDArray[np.int64]:
        total = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for part in parts:
            total[:, : part.shape[1]] += part
            total[:, part.shape[1] :] += part[:, -1:]
        return total

    @cached_property
    def tolerated(self) -> NDArray[np.bool_]:
        """Return (runs, longest + 1): whether a run is judged to depth k; to depth 0 every run is."""
        good = self._tolerated(self.missing, self.entries)
        good[:, 0] = True
        return good

    def _tolerated(self, missing: NDArray[np.int64], entries: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (missing <= self.tolerance * entries + _SLACK) & (entries > 0)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): the longest list of each run."""
        return np.max([topic.lengths for topic in self.topics if topic], axis=0)

    @cached_property
    def judged_to(self) -> NDArray[np.int64]:
        """Return (runs,): the largest depth to which each run is judged, at most its length."""
        last = self.longest - np.argmax(self.tolerated[:, ::-1], axis=1)
        return np.minimum(last, self.lengths)

    def tops(self, depths: NDArray[np.int64]) -> Tops:
        """Return what every run has down to the depths of the topics."""
        run, doc, row, starts, doc_starts = [], [], [], [0], [0]
        for topic, depth in zip(self.topics, depths.tolist(), strict=True):
            docs = _NO_DOCS if topic is None else topic.docs[:, :depth]
            of_run, at = np.nonzero(docs >= 0)
            run.append(of_run)
            doc.append(docs[of_run, at].astype(np.int64) + doc_starts[-1])
            row.append(np.zeros(0, dtype=np.int32) if topic is None else topic.row[:-1])
            starts.append(starts[-1] + len(of_run))
            doc_starts.append(doc_starts[-1] + len(row[-1]))
        return Tops(
            np.concatenate(run),
            np.concatenate(doc),
            np.concatenate(row),
            np.array(starts),
            np.array(doc_starts),
            self.n_runs,
        )

    def settle(self, depths: NDArray[np.int64], up_to: int = 0) -> Settled:
        """Return the runs that are judged to given depths and bring more judged than unjudged documents."""
        tops = self.tops(depths)
        runs = self._tolerated(tops.missing, tops.entries)
        while True:
            # a run whose own part is mostly unjudged is not why it was judged; the worst goes first
            judged, unjudged = tops.alone(runs)
            loss = np.where(runs, unjudged - judged, 0)
            if loss.max(initial=0) <= 0:
                break
            runs[int(np.argmax(loss))] = False
        pool = tops.times(runs) > 0
        found = int(pool[tops.judged].sum())
        return Settled(depths, runs, self.n_judged - found + int(pool.sum()) - found, tops, up_to)

    def differences(self) -> NDArray[np.int64]:
        """Return (longest + 1,): in how many documents the pool of the runs judged to depth k is not the judged set."""
        # stretches of depths to which a run is judged: one for most runs
        edges = np.diff(self.tolerated.astype(np.int8), axis=1, prepend=0, append=0)
        run, first = np.nonzero(edges == 1)
        last = np.nonzero(edges == -1)[1] - 1
        kept = last > 0
        run, first, last = run[kept], np.maximum(first[kept], 1), last[kept]
        total = np.zeros(self.longest + 2, dtype=np.int64)
        for topic in self.topics:
            if topic is not None and len(run):
                total += self._gains(topic, run, first, last)
        return self.n_judged - np.cumsum(total)[:-1]

    def _gains(
        self, topic: RankedTopic, run: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        # a document is in the pool to depth k from the larger of its rank and `first` up to `last`, for any stretch
        docs = topic.docs[run, : int(last.max())]
        ranks = np.arange(1, docs.shape[1] + 1)
        within = (docs >= 0) & (ranks <= last[:, None])
        doc = docs[within].astype(np.int64)
        start = np.maximum(ranks, first[:, None])[within]
        end = np.broadcast_to(last[:, None], docs.shape)[within]
        size = self.longest + 2
        order = np.argsort(doc * size + start, kind="stable")
        doc, start, end = doc[order], start[order], end[order]
        reached = np.maximum.accumulate(doc * size + end) - doc * size
        before = np.concatenate([[0], np.where(doc[1:] == doc[:-1], reached[:-1], 0)])[: len(doc)]
        start = np.maximum(start, before + 1)
        new = start <= end
        worth = np.where(topic.judged[doc[new]], 1, -1)
        begin = np.bincount(start[new], weights=worth, minlength=size)
        over = np.bincount(end[new] + 1, weights=worth, minlength=size)
        return np.rint(begin - over).astype(np.int64)

    def depths(self, depth: int) -> NDArray[np.int64]:
        """Return (topics,): one depth for all; 0 for a topic that no run has, as nothing of it was pooled."""
        return np.array([0 if topic is None else depth for topic in self.topics], dtype=np.int64)

    def common_depth(self) -> Settled:
        """Return the one depth, the smallest of several as good, whose pool differs least from the judged set."""
        differences = self.differences()
        best = int(np.argmin(differences))
        last = int(np.flatnonzero(differences == differences[best])[-1]) if best else 0
        return self.settle(self.depths(best), last)

    def topic_depths(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics,): the depth at which the pool of the chosen runs differs least from the judged set."""
        depths = np.zeros(len(self.topics), dtype=np.int64)
        for t, topic in enumerate(self.topics):
            if topic is not None and runs.any():
                judged, unjudged = topic.found(runs)
                depths[t] = np.argmin(unjudged - judged)
        return depths

    def own_depths(self) -> Settled:
        """Return a depth for each topic: depths from runs and runs from depths in turn, the least difference kept."""
        best = now = self.common_depth()
        seen = set()
        for _ in range(_ROUNDS):
            if now.runs.tobytes() in seen or not now.runs.any():
                break
            seen.add(now.runs.tobytes())
            now = self.settle(self.topic_depths(now.runs))
            if now.difference < best.difference:
                best = now
        return best


def _running(marks: NDArray[np.bool_]) -> NDArray[np.int32]:
    counts = np.zeros((marks.shape[0], marks.shape[1] + 1), dtype=np.int32)
    np.cumsum(marks, axis=1, out=counts[:, 1:])
    return counts
