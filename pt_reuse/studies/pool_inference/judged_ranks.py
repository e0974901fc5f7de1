"""Which ranks of which runs are judged, in one order of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.studies.pool_inference.kept_arrays import KeptArray
from pt_reuse.studies.pool_inference.pass_kinds import Found, Groups, Unjudged
from pt_reuse.studies.pool_inference.ranked_topic import RankedTopic
from pt_reuse.studies.pool_inference.topic_passes import Given, Passes, TopicPass
from pt_reuse.studies.pool_inference.tops import Tops

_NO_DOCS = np.zeros((0, 0), dtype=np.int32)


@dataclass(frozen=True)
class JudgedCodes:
    """The judgments of a field's documents, which no order of the runs changes.

    Attributes:
        topics: for each topic of the judgments its place in the field, -1 where no run has it.
        rows: for each of them (documents + 1,) the row of the judgments that a document code has, -1 for an unjudged
            one; the last is no document. None where no run has the topic.
        sizes: its documents.
        n_judged: judged documents, also those that no run has.
    """

    topics: list[int]
    rows: list[KeptArray | None]
    sizes: list[int]
    n_judged: int

    @classmethod
    def of(cls, field: AnyField, qrels: Qrels, passes: Passes) -> JudgedCodes:
        """Look the judged documents up in a field."""
        index = HitIndex(field, qrels.arrays.documents)
        rows: list[KeptArray | None] = []
        sizes = []
        for row in index.rows_of_codes(index.topics):
            kept = None if row is None else passes.keeper.keep(np.append(row, np.int32(-1)).astype(np.int32))
            rows.append(kept)
            sizes.append(0 if row is None else len(row))
        return cls(index.field_topic, rows, sizes, len(qrels))


class JudgedRanks:
    """The judged and unjudged ranks of a field that stands in some order.

    Args:
        field: the runs.
        codes: the judgments of its documents; a pair of topic and document with any label counts as judged.
        passes: who keeps the lists, and goes over them.

    Attributes:
        n_runs: runs of the field.
        n_judged: judged documents, also those that no run has.
        has_topic: (topics,) whether any run has each topic of the judgments.
        list_lengths: (topics that a run has, runs) documents of each list.
        longest: the longest of them.
    """

    def __init__(self, field: AnyField, codes: JudgedCodes, passes: Passes):
        self.n_runs, self.n_judged, self._passes = field.n_runs, codes.n_judged, passes
        self.has_topic = np.array([row is not None for row in codes.rows], dtype=bool)
        self._topics = []
        rows = []
        for at, row, size in zip(codes.topics, codes.rows, codes.sizes, strict=True):
            if row is not None:
                rows.append(at)
                self._topics.append(passes.keep(_lists(field, at, size), row))
        self.list_lengths = field.lengths[rows].astype(np.int64)
        self.longest = int(self.list_lengths.max(initial=0))

    def each(self) -> Iterator[RankedTopic | None]:
        """Yield the lists on each topic of the judgments, None where no run has it."""
        kept = iter(self._topics)
        for has in self.has_topic.tolist():
            yield next(kept).load() if has else None

    def over(self, asked: TopicPass[Given]) -> Iterator[Given]:
        """Yield what comes of the topics that any run has, in parts that follow one another."""
        return self._passes.over(self._topics, asked)

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        """Return (documents,), topic by topic: the place in `grouped` of each; the one past it for those of no run."""
        groups = [of_topic for part in self.over(Groups()) for of_topic in part]
        none = len(self.has_topic) * self._n_groups
        cells = [
            # a field that was selected from a larger one knows documents that none of its runs has
            np.where(group >= 0, t * self._n_groups + group.astype(np.int32), none).astype(np.int32)
            for t, group in zip(np.flatnonzero(self.has_topic).tolist(), groups, strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int32), *cells])

    @property
    def _n_groups(self) -> int:
        return int(np.ceil(np.log2(max(self.longest, 1)))) + 1

    @cached_property
    def grouped(self) -> NDArray[np.int64]:
        """Return (topics, groups, 2): documents by the best rank at which any run has them, and how many are judged.

        The groups are ranks 1, 2, 3 to 4, 5 to 8, and so on: the better the rank, the likelier a document is judged,
        whoever was pooled.
        """
        judged = np.concatenate([topic.judged for topic in self.each() if topic is not None])
        n_topics = len(self.has_topic)
        size = n_topics * self._n_groups
        both = [np.bincount(cells, minlength=size + 1)[:size] for cells in (self._cells, self._cells[judged])]
        return np.stack(both, axis=-1).reshape(n_topics, self._n_groups, 2)

    def outside(self, pool: NDArray[np.int64], judged: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics * groups, 2): documents of each group that are not in a pool, and how many are judged.

        Args:
            pool: the documents of the pool.
            judged: (documents,) which are judged.
        """
        rest = self.grouped.reshape(-1, 2).copy()
        for at, of in enumerate((pool, pool[judged[pool]])):
            rest[:, at] -= np.bincount(self._cells[of], minlength=len(rest))
        return rest

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Return (runs, longest + 1): documents that a run has at rank k or better, over all topics."""
        ending = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for lengths in self.list_lengths:
            ending[np.arange(self.n_runs), lengths] += 1
        reaching = len(self.list_lengths) - np.cumsum(ending, axis=1)[:, :-1]
        return np.concatenate([np.zeros((self.n_runs, 1), dtype=np.int64), np.cumsum(reaching, axis=1)], axis=1)

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return (runs, longest + 1): how many of the `entries` are unjudged."""
        total = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for part in self.over(Unjudged(self.n_runs, self.longest)):
            total += part
        return total

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): the longest list of each run."""
        return self.list_lengths.max(axis=0)

    def tops(self, depths: NDArray[np.int64]) -> Tops:
        """Return what every run has down to the depths of the topics."""
        run, doc, row, starts, doc_starts = [], [], [], [0], [0]
        for topic, depth in zip(self.each(), depths.tolist(), strict=True):
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

    def depths(self, depth: int) -> NDArray[np.int64]:
        """Return (topics,): one depth for all; 0 for a topic that no run has, as nothing of it was pooled."""
        return np.where(self.has_topic, depth, 0).astype(np.int64)

    def found(self, runs: NDArray[np.bool_], depth: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (topics, depth + 1) each: judged and unjudged documents in the pool of the runs to depth k.

        Args:
            runs: (runs,) whose pool it is.
            depth: the largest one; default the longest list.
        """
        depth = self.longest if depth is None else min(depth, self.longest)
        found = np.zeros((2, len(self.has_topic), depth + 1), dtype=np.int64)
        if runs.any():
            found[:, self.has_topic] = np.concatenate(list(self.over(Found(runs, depth))), axis=1)
        return found[0], found[1]

    def topic_depths(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics,): the depth at which the pool of the chosen runs differs least from the judged set."""
        judged, unjudged = self.found(runs)
        return np.argmin(unjudged - judged, axis=1).astype(np.int64)


def _lists(field: AnyField, at: int, n_docs: int) -> NDArray[np.signedinteger]:
    # (runs, longest) the documents of a topic of the field, in as few bits as hold their numbers and -1
    lengths = field.lengths[at]
    kind = np.int16 if n_docs <= np.iinfo(np.int16).max else np.int32
    docs = np.full((field.n_runs, int(lengths.max(initial=0))), -1, dtype=kind)
    block, here = field.of(at)
    docs[np.arange(docs.shape[1]) < lengths[:, None]] = block.codes[block.rows(here)]
    return docs
