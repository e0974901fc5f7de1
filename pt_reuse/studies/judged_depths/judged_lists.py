"""How far down each list of a field documents are judged: the one place that counts unjudged documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import HitIndex, Hits
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import (
    TOPICS,
    Arrays,
    ArrayWork,
    cut_where,
    part_topics,
    parts_of,
    run_topics,
    topics_array,
)

#: numbers that a row of a run takes while it is looked at
_OF_A_ROW = 4


@dataclass(frozen=True)
class Owners:
    """Who alone brought a judged document, and would have left it unjudged.

    Attributes:
        of_judgment: (judgments,) the unit, -1 where several or none contributed the document.
        of_run: (runs,) the unit of each run.
    """

    of_judgment: NDArray[np.int64]
    of_run: NDArray[np.int64]


@dataclass(frozen=True)
class JudgedLists:
    """What of each list is judged, with a label of at least 0; a list is what a run returns for a topic.

    Attributes:
        depths: ranks down to which documents are counted.
        lengths: (topics, runs) how many documents each list has.
        documents: (depths, topics, runs) how many of them down to each depth.
        judged: (depths, topics, runs) how many of these are judged.
        own: (depths, topics, runs) how many of these are judged because the run's own unit alone brought them; all 0
            where nobody says who brought what.
        unbroken: (topics, runs) how many documents are judged before the first that is not.
        weight: (topics, runs) what the judged documents weigh, where a list without end has 1: the sum of
            (1 - p) p^(rank - 1).
        own_weight: (topics, runs) what those of `own` weigh among them.
    """

    depths: tuple[int, ...]
    lengths: NDArray[np.int64]
    documents: NDArray[np.int64]
    judged: NDArray[np.int64]
    own: NDArray[np.int64]
    unbroken: NDArray[np.int64]
    weight: NDArray[np.float64]
    own_weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        runs: RunSet,
        qrels: Qrels,
        depths: Sequence[int],
        *,
        p: float = 0.8,
        owners: Owners | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> JudgedLists:
        """Count on the topics of the judgments.

        Args:
            runs: the field, in its ranking order.
            qrels: the judgments.
            depths: ranks down to which documents are counted.
            p: the persistence of the weights, as of RBP.
            owners: who alone brought each judged document; None where that is not known.
            n_jobs: topics at a time, as joblib takes it.
            verbose: show a progress bar.
        """
        work = JudgedWork(runs.field, qrels, depths, p, owners)
        shape = (len(qrels.topics), len(runs))
        lengths = np.array([work.index.lengths(t) for t in work.index.topics], dtype=np.int64).reshape(shape)
        counts = np.zeros((2, len(depths), *shape), dtype=np.int64)
        unbroken, weights = np.zeros(shape, dtype=np.int64), np.zeros((2, *shape))
        for part in run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="scoring"):
            topics = part_topics(part)
            here = slice(topics.start, topics.stop)
            counts[:, :, here], weights[:, here], unbroken[here] = part["counts"], part["weights"], part["unbroken"]
        documents = np.minimum(lengths, np.array(depths, dtype=np.int64).reshape(-1, 1, 1))
        return cls(
            depths=tuple(depths),
            lengths=lengths,
            documents=documents,
            judged=counts[0],
            own=counts[1],
            unbroken=unbroken,
            weight=weights[0],
            own_weight=weights[1],
        )

    @property
    def residual(self) -> NDArray[np.float64]:
        """Return (topics, runs): what unjudged documents and the unseen rest weigh, the residual of RBP."""
        return np.maximum(1.0 - self.weight, 0.0)

    @property
    def judged_to(self) -> NDArray[np.float64]:
        """Return (topics, runs): the deepest rank above which nothing is unjudged, NaN where a list is empty.

        A list without an unjudged document sets no limit: it counts as deep as the run's longest list.
        """
        longest = np.broadcast_to(self.lengths.max(axis=0, initial=0), self.lengths.shape)
        found = np.where(self.unbroken < self.lengths, self.unbroken, longest).astype(np.float64)
        return np.where(self.lengths > 0, found, np.nan)


class JudgedWork(ArrayWork):
    """Counting down lists, topic by topic of the judgments.

    Args:
        field: the runs, in their ranking order.
        qrels: the judgments.
        depths: ranks down to which documents are counted.
        p: the persistence of the weights.
        owners: who alone brought each judged document; None where that is not known.
    """

    kind = "unjudged"
    axes: ClassVar[Mapping[str, int]] = {"counts": 2, "weights": 1}

    def __init__(self, field: AnyField, qrels: Qrels, depths: Sequence[int], p: float, owners: Owners | None):
        self.field, self.qrels, self.depths, self.p, self.owners = field, qrels, list(depths), p, owners
        self.topics = qrels.arrays.documents.topics
        self.index = HitIndex(field, qrels.arrays.documents)

    def cut(self, at_once: int) -> list[range]:
        """Return neighbouring topics that belong in one job."""
        rows = np.append(self.field.lengths.sum(axis=1), 0)[self.index.field_topic]
        return cut_where((rows * _OF_A_ROW).tolist(), parts_of(self.field, self.index.field_topic), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return the counts of some neighbouring topics."""
        n_runs, starts = self.field.n_runs, self.qrels.arrays.documents.starts
        rows = slice(int(starts[topics.start]), int(starts[topics.stop]))
        hits = self.index.gather(topics, self.qrels.arrays.labels[rows] >= 0)
        shape = (len(topics), n_runs)
        counts, weights = np.zeros((2, len(self.depths), *shape), dtype=np.int64), np.zeros((2, *shape))
        mine = np.zeros(len(hits.rank), dtype=bool)
        if self.owners is not None:
            owner = self.owners.of_judgment[rows][hits.row]
            mine = owner == self.owners.of_run[hits.of % n_runs]
        for which, chosen in enumerate((np.ones(len(mine), dtype=bool), mine)):
            for d, depth in enumerate(self.depths):
                counts[which, d] = _per_list(hits, chosen & (hits.rank <= depth)).reshape(shape)
            weight = (1 - self.p) * self.p ** (hits.rank[chosen] - 1.0)
            weights[which] = np.bincount(hits.of[chosen], weight, minlength=len(hits.lengths)).reshape(shape)
        # ranks ascend, so a document stands as deep as judged ones stand above it only before the first gap
        place = np.arange(len(hits.rank)) - hits.starts[:-1][hits.of]
        unbroken = _per_list(hits, hits.rank == place + 1).reshape(shape)
        return {TOPICS: topics_array(topics), "counts": counts, "weights": weights, "unbroken": unbroken}

    def rows_before(self, t: int) -> int:
        """Return how many judgments the topics before one have."""
        return int(self.qrels.arrays.documents.starts[t])

    def of_topics(self, topics: range, field: AnyField) -> JudgedWork:
        """Return the same work of some neighbouring topics alone."""
        rows = slice(self.rows_before(topics.start), self.rows_before(topics.stop))
        # of judgments no more than documents and labels matter here
        mine = Qrels.of_arrays(replace(self.qrels.arrays, extra=None).of_topics(topics))
        owners = None if self.owners is None else replace(self.owners, of_judgment=self.owners.of_judgment[rows])
        return JudgedWork(field, mine, self.depths, self.p, owners)


def _per_list(hits: Hits, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.bincount(hits.of[chosen], minlength=len(hits.lengths))
