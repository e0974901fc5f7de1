"""PoolUniques: which judged documents one unit alone brought into a depth-k pool, without the pool of all topics.

Leaving out uniques asks of a pool who alone has which judged document, and how many documents there are. Both can be
counted topic by topic, so that nobody holds the pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.ordering import check_in_order, check_order
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import TOPICS, Arrays, ArrayWork, cut_where, parts_of, run_topics, topics_array
from pt_reuse.data.units import Units
from pt_reuse.pooling.contributors import Contributors
from pt_reuse.pooling.fit import SET_ASIDE, PoolFit


@dataclass(frozen=True)
class PoolUniques:
    """What a pool has of the judged documents of some topics.

    Attributes:
        row: (documents,) the judged documents that one unit alone contributed, as rows of all judgments.
        owner: (documents,) that unit, as a position among the units.
        counts: (topics, 3) documents of the pool; those of them with a label of at least 0; those with label -1.
    """

    NAMES: ClassVar = ("row", "owner", "counts")

    row: NDArray[np.integer]
    owner: NDArray[np.integer]
    counts: NDArray[np.integer]

    @classmethod
    def of(cls, parts: Iterable[Arrays]) -> PoolUniques:
        """Return what jobs returned, put together."""
        found = [tuple(part[name] for name in cls.NAMES) for part in parts]
        nothing = np.zeros(0, dtype=np.int32)
        rows, owners, counts = zip((nothing, nothing, nothing.reshape(0, 3)), *found, strict=True)
        return cls(np.concatenate(rows), np.concatenate(owners), np.concatenate(counts))

    def arrays(self) -> Arrays:
        """Return them as a job returns them."""
        return {name: getattr(self, name) for name in self.NAMES}

    def fit(self, qrels: Qrels, contributors: Contributors, *, depth: int) -> PoolFit:
        """Return how far the pool and the judgments are the same documents; for the counts of all topics."""
        documents, labels = qrels.arrays.documents, qrels.arrays.labels
        # runs bring topics that nobody judged, which is no fault of the depth
        known = documents.counts(labels >= 0) > 0
        pooled, common, set_aside = self.counts[known].sum(axis=0).tolist()
        return PoolFit.counted(qrels, contributors, pooled=pooled, common=common, set_aside=set_aside, depth=depth)


@dataclass(frozen=True, eq=False)
class Pooling:
    """How the runs of a field were pooled.

    Attributes:
        scored: the order in which the field stands.
        order: the order in which the runs were pooled.
        depth: documents per run and topic.
        contributors: (runs,) who contributed.
        of_run: (runs,) the unit of each run.
    """

    scored: str
    order: str
    depth: int
    contributors: NDArray[np.bool_]
    of_run: NDArray[np.int64]

    @classmethod
    def of(
        cls, runs: RunSet, contributors: Contributors, units: Units, *, depth: int, pool_order: str | None
    ) -> Pooling:
        """Return how the runs of a field were pooled.

        Args:
            runs: the field, in the order of the scores.
            contributors: of the pool.
            units: of all runs.
            depth: documents per run and topic.
            pool_order: the order in which the runs were pooled; None for what the field says of itself.

        Raises:
            InputError: an order that the field does not know.
        """
        order = (runs.pool_order or runs.order) if pool_order is None else pool_order
        check_order("order", order)
        check_in_order(runs.field, runs.names, runs.order, order)
        return cls(runs.order, order, depth, contributors.runs, units.of_run)

    def uniques(self, index: HitIndex, topics: range, labels: NDArray[np.int16]) -> PoolUniques:
        """Return what the pool has of the judged documents of neighbouring topics."""
        starts = index.documents.starts
        first, stop = starts[[topics.start, topics.stop]].tolist()
        mine = np.append(labels[first:stop], UNJUDGED)
        rows, owners = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        counts = np.zeros((len(topics), 3), dtype=np.int64)
        for i, row_of_code in enumerate(index.rows_of_codes(topics)):
            if row_of_code is None:
                continue
            pooled, sole = self._pooled(index.field, index.field_topic[topics[i]])
            row = row_of_code.take(pooled)
            label = mine[row]
            judged = label >= 0
            counts[i] = len(pooled), judged.sum(), (label == SET_ASIDE).sum()
            unique = judged & (sole >= 0)
            rows.append(row[unique].astype(np.int64) + first)
            owners.append(sole[unique])
        return PoolUniques(np.concatenate(rows), np.concatenate(owners), counts)

    def _pooled(self, whole: AnyField, topic: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # the codes of the pooled documents of a topic, and of each the one unit that has it, -1 where several have
        field, at = whole.of(topic)
        if self.order != self.scored:
            field, at = field.take_topics([at]).in_order(self.scored, self.order), 0
        code, run, _ = field.top(at, self.depth, self.contributors)
        unit = self.of_run[run]
        one = np.full(field.n_docs(at), -1, dtype=np.int64)
        one[code] = unit
        pooled = np.flatnonzero(one >= 0)
        one[code[one[code] != unit]] = -1
        return pooled, one[pooled]


class UniquesWork(ArrayWork):
    """Finding the uniques of a pool, topic by topic of the judgments.

    Args:
        field: the runs, in the order of the scores.
        qrels: the judgments.
        pooling: how the runs were pooled.
    """

    kind = "uniques"

    def __init__(self, field: AnyField, qrels: Qrels, pooling: Pooling):
        self.field, self.qrels, self.pooling = field, qrels, pooling
        self.topics = qrels.arrays.documents.topics
        self.index = HitIndex(field, qrels.arrays.documents)

    def cut(self, at_once: int) -> list[range]:
        at = self.index.field_topic
        rows = np.append(self.field.lengths.sum(axis=1), 0)[at]
        return cut_where(rows.tolist(), parts_of(self.field, at), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        found = self.pooling.uniques(self.index, topics, self.qrels.arrays.labels)
        return {TOPICS: topics_array(topics), **found.arrays()}

    def rows_before(self, t: int) -> int:
        return int(self.qrels.arrays.documents.starts[t])

    def of_topics(self, topics: range, field: AnyField) -> UniquesWork:
        # of judgments no more than documents and labels matter here
        mine = replace(self.qrels.arrays, extra=None).of_topics(topics)
        return UniquesWork(field, Qrels.of_arrays(mine), self.pooling)


def find_uniques(
    runs: RunSet, qrels: Qrels, pooling: Pooling, *, n_jobs: int | None = None, verbose: bool = False
) -> PoolUniques:
    """Return the judged documents that one unit alone contributed."""
    work = UniquesWork(runs.field, qrels, pooling)
    return PoolUniques.of(run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="pooling"))
