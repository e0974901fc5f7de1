"""Which ranks of which runs are judged, in one order of the runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.hits import HitIndex
from pt_reuse.engine.open_field import AnyField
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.studies.pool_inference.ranked_topic import RankedTopic
from pt_reuse.studies.pool_inference.tops import Tops

_NO_DOCS = np.zeros((0, 0), dtype=np.int32)


@dataclass(frozen=True)
class JudgedCodes:
    """The judgments of a field's documents, which no order of the runs changes.

    Attributes:
        topics: for each topic of the judgments its place in the field, -1 where no run has it.
        rows: for each of them (documents + 1,) the row of the judgments that a document code has, -1 for an unjudged
            one; the last is no document. None where no run has the topic.
        n_judged: judged documents, also those that no run has.
    """

    topics: list[int]
    rows: list[NDArray[np.int32] | None]
    n_judged: int

    @classmethod
    def of(cls, field: AnyField, qrels: Qrels) -> JudgedCodes:
        """Look the judged documents up in a field."""
        index = HitIndex(field, qrels.arrays.documents)
        rows = [
            None if row is None else np.append(row, np.int32(-1)).astype(np.int32)
            for row in index.rows_of_codes(index.topics)
        ]
        return cls(index.field_topic, rows, len(qrels))


class JudgedRanks:
    """The judged and unjudged ranks of a field that stands in some order.

    Args:
        field: the runs.
        codes: the judgments of its documents; a pair of topic and document with any label counts as judged.
    """

    def __init__(self, field: AnyField, codes: JudgedCodes):
        self.n_runs, self.n_judged, self.codes = field.n_runs, codes.n_judged, codes
        self.topics: list[RankedTopic | None] = []
        for at, row in zip(codes.topics, codes.rows, strict=True):
            if row is None:
                self.topics.append(None)
                continue
            lengths = field.lengths[at]
            docs = np.full((self.n_runs, int(lengths.max(initial=0))), -1, dtype=np.int32)
            block, here = field.of(at)
            docs[np.arange(docs.shape[1]) < lengths[:, None]] = block.codes[block.rows(here)]
            self.topics.append(RankedTopic(docs, row))
        self.longest = max((topic.docs.shape[1] for topic in self.topics if topic), default=0)

    @cached_property
    def _cells(self) -> NDArray[np.int64]:
        """Return (documents,), topic by topic: the place in `grouped` of each; the one past it for those of no run."""
        every, cells = np.ones(self.n_runs, dtype=bool), [np.zeros(0, dtype=np.int64)]
        for t, topic in enumerate(self.topics):
            if topic is not None:
                # a field that was selected from a larger one knows documents that none of its runs has
                rank = topic.best(every)
                group = np.ceil(np.log2(np.maximum(rank, 1))).astype(np.int64)
                cells.append(np.where(rank > 0, t * self._n_groups + group, len(self.topics) * self._n_groups))
        return np.concatenate(cells)

    @property
    def _n_groups(self) -> int:
        return int(np.ceil(np.log2(max(self.longest, 1)))) + 1

    @cached_property
    def grouped(self) -> NDArray[np.int64]:
        """Return (topics, groups, 2): documents by the best rank at which any run has them, and how many are judged.

        The groups are ranks 1, 2, 3 to 4, 5 to 8, and so on: the better the rank, the likelier a document is judged,
        whoever was pooled.
        """
        judged = np.concatenate([topic.judged for topic in self.topics if topic is not None])
        size = len(self.topics) * self._n_groups
        both = [np.bincount(cells, minlength=size + 1)[:size] for cells in (self._cells, self._cells[judged])]
        return np.stack(both, axis=-1).reshape(len(self.topics), self._n_groups, 2)

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
        return self.summed([topic.entries_to for topic in self.topics if topic])

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return (runs, longest + 1): how many of the `entries` are unjudged."""
        return self.summed([topic.unjudged_to for topic in self.topics if topic])

    def summed(self, parts: list[NDArray[np.int32]]) -> NDArray[np.int64]:
        """Return (runs, longest + 1): the sum of running counts, whose last one holds for all deeper ranks."""
        total = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for part in parts:
            total[:, : part.shape[1]] += part
            total[:, part.shape[1] :] += part[:, -1:]
        return total

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): the longest list of each run."""
        return np.max([topic.lengths for topic in self.topics if topic], axis=0)

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

    def depths(self, depth: int) -> NDArray[np.int64]:
        """Return (topics,): one depth for all; 0 for a topic that no run has, as nothing of it was pooled."""
        return np.array([0 if topic is None else depth for topic in self.topics], dtype=np.int64)

    def found(self, runs: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (topics, longest + 1) each: judged and unjudged documents in the pool of the runs to depth k."""
        found = np.zeros((2, len(self.topics), self.longest + 1), dtype=np.int64)
        for t, topic in enumerate(self.topics):
            if topic is not None and runs.any():
                for part, counts in zip(found[:, t], topic.found(runs), strict=True):
                    part[: len(counts)] = counts
                    part[len(counts) :] = counts[-1]
        return found[0], found[1]

    def topic_depths(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics,): the depth at which the pool of the chosen runs differs least from the judged set."""
        judged, unjudged = self.found(runs)
        return np.argmin(unjudged - judged, axis=1).astype(np.int64)
