"""Where each run has its judged and unjudged documents, topic by topic: what pool inference looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.field import Field
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.topic_jobs import AT_ONCE

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class RankedTopic:
    """The runs' lists on one topic of the judgments."""

    docs: NDArray[np.signedinteger]  # (runs, longest) the document at each rank, -1 past the end of a list
    row: NDArray[np.int32]  # (documents + 1,) each document's row of the judgments, -1 for an unjudged one

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Return (documents,): which documents are judged."""
        return self.row[:-1] >= 0

    def counts_to(self, depth: int) -> NDArray[np.int64]:
        """Return (2, runs, depth + 1): documents at rank k or better, for k from 0, and the unjudged among them."""
        there = self.docs >= 0
        counts = np.zeros((2, len(self.docs), depth + 1), dtype=np.int64)
        counts[:, :, 1 : there.shape[1] + 1] = there, there & (self.row < 0).take(self.docs)
        return np.cumsum(counts, axis=2, out=counts)

    def best(self, runs: NDArray[np.bool_], depth: int | None = None) -> NDArray[np.int32]:
        """Return (documents,): the best rank of each document among the chosen runs, 0 where they do not have it."""
        lists = self.docs[runs, :depth]
        rank = np.zeros(len(self.row), dtype=np.int32)
        # worst rank first: of several assignments to one document the last one stays
        rank[lists.T[::-1].ravel()] = np.repeat(np.arange(lists.shape[1], 0, -1, dtype=np.int32), len(lists))
        return rank[:-1]


class Tops:
    """What every run has down to the depth of each topic; documents are numbered over all topics."""

    def __init__(self, has: csr_array, row: NDArray[np.int32], topic: NDArray[np.int64]):
        self.has = has  # (runs, documents) 1 where a run has a document
        # (documents,) the row of the judgments, -1 for an unjudged document, and the topic
        self.row, self.judged, self.topic = row, row >= 0, topic
        # (runs,) documents of each run, and the unjudged ones
        self.entries, self.missing = np.diff(has.indptr).astype(np.int64), has @ ~self.judged

    def times(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (documents,): how many of the chosen runs have each document."""
        return np.asarray(self.has.T @ runs)

    def both(self, docs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (2, runs): how many of some judged and how many of some unjudged documents each run has."""
        return np.stack([self.has @ (docs & self.judged), self.has @ (docs & ~self.judged)])

    def alone(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (2, runs): judged and unjudged documents that a run has and no other of the chosen runs."""
        times = self.times(runs)
        return np.where(runs, self.both(times == 1), self.both(times == 0))


#: what :func:`judged_codes` returns, which no order of the runs changes
Codes: TypeAlias = list[tuple[int, NDArray[np.int32]] | None]


def judged_codes(field: AnyField, qrels: Qrels) -> Codes:
    """Return for each topic of the judgments its place in the field and `row` of its list, None where no run has it."""
    index = HitIndex(field, qrels.arrays.documents)
    return [
        None if row is None else (at, np.append(row, np.int32(-1)).astype(np.int32))
        for at, row in zip(index.field_topic, index.rows_of_codes(index.topics), strict=True)
    ]


class JudgedRanks:
    """The judged and unjudged ranks of a field that stands in some order."""

    def __init__(self, field: AnyField, codes: Codes):
        self.n_runs, self._field = field.n_runs, field
        self.has_topic = np.array([code is not None for code in codes], dtype=bool)
        self._codes = [code for code in codes if code is not None]
        # of a large open field they are made again each time that they are looked at
        keeps = isinstance(field, Field) or field.n_rows <= AT_ONCE
        self._kept = [_lists(field, *code) for code in self._codes] if keeps else None
        # (runs,) the longest list
        self.lengths = field.lengths[[at for at, _ in self._codes]].astype(np.int64).max(axis=0)
        self.longest = int(self.lengths.max(initial=0))
        self._n_groups = int(np.ceil(np.log2(max(self.longest, 1)))) + 1

    @property
    def topics(self) -> Iterator[RankedTopic]:
        """Yield the lists on each topic that any run has."""
        return iter(self._kept) if self._kept is not None else (_lists(self._field, *code) for code in self._codes)

    def each(self) -> Iterator[RankedTopic]:
        """Yield the lists on each topic of the judgments, empty where no run has it."""
        kept = self.topics
        nothing = RankedTopic(np.zeros((self.n_runs, 0), dtype=np.int32), np.array([-1], dtype=np.int32))
        yield from (next(kept) if has else nothing for has in self.has_topic.tolist())

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        """Return (documents,), topic by topic: the place in `grouped` of each; the one past it for those of no run."""
        every = np.ones(self.n_runs, dtype=bool)
        # by the best rank: 0 for 1, 1 for 2, 2 for 3 to 4; a field selected from a larger one has documents of no run
        group_of = np.append(-1, np.ceil(np.log2(np.arange(1, self.longest + 1)))).astype(np.int32)
        of_topics = [group_of[topic.best(every)] for topic in self.topics]
        topic = np.repeat(np.flatnonzero(self.has_topic), [len(group) for group in of_topics])
        group = np.concatenate([np.zeros(0, dtype=np.int32), *of_topics])
        none = len(self.has_topic) * self._n_groups
        return np.where(group >= 0, topic * self._n_groups + group, none).astype(np.int32)

    @cached_property
    def grouped(self) -> NDArray[np.int64]:
        """Return (topics, groups, 2): documents by the best rank at which any run has them, and how many are judged."""
        judged = np.concatenate([topic.judged for topic in self.each()])
        size = len(self.has_topic) * self._n_groups
        both = [np.bincount(cells, minlength=size + 1)[:size] for cells in (self._cells, self._cells[judged])]
        return np.stack(both, axis=-1).reshape(-1, self._n_groups, 2)

    def outside(self, pool: NDArray[np.int64], judged: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics * groups, 2): documents of each group that are not in a pool, and how many are judged."""
        rest = self.grouped.reshape(-1, 2).copy()
        for at, of in enumerate((pool, pool[judged[pool]])):
            rest[:, at] -= np.bincount(self._cells[of], minlength=len(rest))
        return rest

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Return (2, runs, longest + 1): documents that a run has at rank k or better, and the unjudged among them."""
        nothing = np.zeros((2, self.n_runs, self.longest + 1), dtype=np.int64)
        return sum((topic.counts_to(self.longest) for topic in self.topics), nothing)

    def tops(self, depths: NDArray[np.int64]) -> Tops:
        """Return what every run has down to the depths of the topics."""
        from scipy.sparse import csr_array

        run, doc, row, sizes = [], [], [], [0]
        for topic, depth in zip(self.each(), depths.tolist(), strict=True):
            docs = topic.docs[:, :depth]
            of_run, at = np.nonzero(docs >= 0)
            run.append(of_run)
            doc.append(docs[of_run, at].astype(np.int64) + sum(sizes))
            row.append(topic.row[:-1])
            sizes.append(len(row[-1]))
        of_run, rows = np.concatenate(run).astype(np.min_scalar_type(self.n_runs)), np.concatenate(row)
        starts = np.append(0, np.cumsum(np.bincount(of_run, minlength=self.n_runs)))
        of_doc = np.concatenate(doc)[np.argsort(of_run, kind="stable")]
        has = csr_array((np.ones(len(of_doc), dtype=np.int64), of_doc, starts), shape=(self.n_runs, len(rows)))
        return Tops(has, rows, np.repeat(np.arange(len(depths)), sizes[1:]))

    def found(self, runs: NDArray[np.bool_], depth: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (topics, depth + 1) each: judged and unjudged documents in the pool of the runs to depth k."""
        depth = self.longest if depth is None else min(depth, self.longest)
        new = np.zeros((2, len(self.has_topic), depth + 1), dtype=np.int64)

        if runs.any():
            for t, topic in zip(np.flatnonzero(self.has_topic).tolist(), self.topics, strict=True):
                rank = topic.best(runs, depth)
                new[:, t] = [np.bincount(rank[some], minlength=depth + 1) for some in (topic.judged, ~topic.judged)]
        new[:, :, 0] = 0
        judged, unjudged = np.cumsum(new, axis=2, out=new)
        return judged, unjudged


def _lists(field: AnyField, at: int, row: NDArray[np.int32]) -> RankedTopic:
    """Return a topic of the field, its documents in as few bits as hold their numbers and -1."""
    lengths = field.lengths[at]
    kind = np.int16 if len(row) - 1 <= np.iinfo(np.int16).max else np.int32
    docs = np.full((field.n_runs, int(lengths.max(initial=0))), -1, dtype=kind)
    block, here = field.of(at)
    docs[np.arange(docs.shape[1]) < lengths[:, None]] = block.codes[block.rows(here)]
    return RankedTopic(docs, row)
