"""What is judged of each list of a field, down to several depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.field import AnyField
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import TOPICS, Arrays, part_topics, run_topics, topics_array
from pt_reuse.data.units import described
from pt_reuse.pooling.fit import JudgedTopics

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class JudgedLists:
    """What of each list is judged, with a label of at least 0; a list is what a run returns for a topic."""

    depths: tuple[int, ...]  # ranks down to which documents are counted
    topics: list[str]  # the topics of the judgments
    run_table: pd.DataFrame  # ``name team type pooled``, one row per run
    lengths: Ints  # (topics, runs) how many documents each list has
    documents: Ints  # (depths, topics, runs) how many of them down to each depth
    unjudged_documents: Ints  # (depths, topics, runs) how many of these are unjudged
    own: Ints | None  # (depths, topics, runs) judged ones of the run's own unit alone; None if unknown
    unbroken: Ints  # (topics, runs) how many documents are judged before the first that is not
    weight: Floats  # (topics, runs) what the judged documents weigh in RBP

    @classmethod
    def of(
        cls,
        runs: RunSet,
        qrels: Qrels,
        depths: Sequence[int],
        *,
        p: float = 0.8,
        owners: tuple[Ints, Ints] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> JudgedLists:
        """Count on the topics of the judgments.

        `owners` are the unit that alone brought each judged document, -1 for none or several, and the unit of each run.
        """
        owner, unit = (np.full(len(qrels), -1), np.zeros(len(runs), dtype=np.int64)) if owners is None else owners
        work = JudgedWork(runs.field, qrels, depths, p, owner, unit)
        shape = (len(qrels.topics), len(runs))
        lengths = np.array([work.index.lengths(t) for t in work.index.topics], dtype=np.int64).reshape(shape)
        counts = np.zeros((2, len(depths), *shape), dtype=np.int64)
        unbroken, weight = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        for part in run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="scoring"):
            topics = part_topics(part)
            here = slice(topics.start, topics.stop)
            counts[:, :, here], weight[here], unbroken[here] = part["counts"], part["weight"], part["unbroken"]
        documents = np.minimum(lengths, np.array(depths, dtype=np.int64).reshape(-1, 1, 1))
        return cls(
            tuple(depths),
            qrels.topics,
            described(runs.run_table),
            lengths=lengths,
            documents=documents,
            unjudged_documents=documents - counts[0],
            own=None if owners is None else counts[1],
            unbroken=unbroken,
            weight=weight,
        )

    @property
    def unjudged(self) -> Floats:
        """Return (depths, topics, runs): ``Unjudged@k``, 1 on a topic for which a run returns nothing."""
        return self._share(self.unjudged_documents)

    @property
    def of_k(self) -> Floats:
        """Return (depths, topics, runs): of as many documents as the depth, places left empty counting as judged."""
        return self.unjudged_documents / np.array(self.depths, dtype=np.float64).reshape(-1, 1, 1)

    @property
    def without_own(self) -> Floats:
        """Return (depths, topics, runs): as `unjudged`, had the run's own unit not been in the pool; NaN if unknown."""
        if self.own is None:
            return np.full(self.documents.shape, np.nan)
        return self._share(self.unjudged_documents + self.own)

    @property
    def residual(self) -> Floats:
        """Return (topics, runs): what unjudged documents and the unseen rest weigh, the residual of RBP."""
        return np.maximum(1.0 - self.weight, 0.0)

    @property
    def judged_to(self) -> Floats:
        """Return (topics, runs): the deepest rank above which nothing is unjudged, NaN where a list is empty."""
        longest = np.broadcast_to(self.lengths.max(axis=0, initial=0), self.lengths.shape)
        ranks = np.where(self.unbroken < self.lengths, self.unbroken, longest).astype(np.float64)
        return np.where(self.lengths > 0, ranks, np.nan)

    def _share(self, some: Ints) -> Floats:
        return np.where(self.documents > 0, some / np.maximum(self.documents, 1), 1.0)

    def by_run(self) -> pd.DataFrame:
        """Return one row per run, the one with most unjudged at the first depth first."""
        table = self.run_table.reset_index(drop=True).assign(topics=(self.documents[0] > 0).sum(axis=0))
        for d, depth in enumerate(self.depths):
            table[f"Unjudged@{depth}"] = self.unjudged[d].mean(axis=0)
            table[f"documents@{depth}"] = self.documents[d].sum(axis=0)
            table[f"unjudged@{depth}"] = self.unjudged_documents[d].sum(axis=0)
        return table.sort_values(f"Unjudged@{self.depths[0]}", ascending=False, kind="stable", ignore_index=True)

    def by_unit(self, by: str) -> pd.DataFrame:
        """Return one row per team, type or family, the mean of its runs and the numbers of them all, the worst first.

        Args:
            by: ``"team"``, ``"type"`` or ``"family"``.
        """
        how = {"Unjudged": "mean", "documents": "sum", "unjudged": "sum"}
        wanted = {f"{what}@{depth}": (f"{what}@{depth}", how[what]) for depth in self.depths for what in how}
        table = self.by_run().groupby(by, sort=False).agg(runs=("name", "size"), **wanted).reset_index()
        return table.sort_values(f"Unjudged@{self.depths[0]}", ascending=False, kind="stable", ignore_index=True)

    def by_topic(self) -> pd.DataFrame:
        """Return one row per run, topic and depth: ``name qid cutoff documents unjudged Unjudged``."""
        every = pd.MultiIndex.from_product([self.run_table["name"], self.topics, self.depths])
        counts = {"documents": self.documents, "unjudged": self.unjudged_documents, "Unjudged": self.unjudged}
        rows = every.set_names(["name", "qid", "cutoff"]).to_frame(index=False)
        return rows.assign(**{name: values.transpose(2, 1, 0).ravel() for name, values in counts.items()})


class JudgedWork(JudgedTopics):
    """Counting down lists; (judgments,) units say who alone brought a document, (runs,) which unit each run is of."""

    axes: ClassVar[Mapping[str, int]] = {"counts": 2}
    of_a_row = 4

    def __init__(self, field: AnyField, qrels: Qrels, depths: Sequence[int], p: float, owner: Ints, unit: Ints):
        super().__init__(field, qrels)
        self.depths, self.p, self.owner, self.unit = list(depths), p, owner, unit

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return the counts of some neighbouring topics."""
        shape = (len(topics), self.field.n_runs)
        rows = slice(self.rows_before(topics.start), self.rows_before(topics.stop))
        hits = self.index.gather(topics, self.qrels.arrays.labels[rows] >= 0)

        def per_list(lists: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[Any]:
            return np.bincount(lists, weights, minlength=len(hits.lengths)).reshape(shape)

        own = self.owner[rows][hits.row] == self.unit[hits.of % self.field.n_runs]
        counts = [[per_list(hits.of[some & (hits.rank <= k)]) for k in self.depths] for some in (np.True_, own)]
        # ranks ascend, so a document stands as deep as judged ones stand above it only before the first gap
        place = np.arange(len(hits.rank)) - hits.starts[:-1][hits.of]
        return {
            TOPICS: topics_array(topics),
            "counts": np.array(counts),
            "weight": per_list(hits.of, (1 - self.p) * self.p ** (hits.rank - 1.0)),
            "unbroken": per_list(hits.of[hits.rank == place + 1]),
        }

    def of_topics(self, topics: range, field: AnyField) -> JudgedWork:
        some = super().of_topics(topics, field)
        some.owner = self.owner[self.rows_before(topics.start) : self.rows_before(topics.stop)]
        return some
