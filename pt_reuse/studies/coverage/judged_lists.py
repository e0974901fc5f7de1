"""How deep and how far the lists of runs are judged: what is counted, topic by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
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
from pt_reuse.data.units import described

#: numbers that a row of a run takes while it is looked at
_OF_A_ROW = 4


@dataclass(frozen=True)
class Owners:
    """Who alone brought a judged document, and would have left it unjudged."""

    of_judgment: NDArray[np.int64]  # (judgments,) the unit, -1 where several or none contributed the document
    of_run: NDArray[np.int64]  # (runs,) the unit of each run


@dataclass(frozen=True)
class JudgedLists:
    """What of each list is judged, with a label of at least 0; a list is what a run returns for a topic."""

    depths: tuple[int, ...]  # ranks down to which documents are counted
    lengths: NDArray[np.int64]  # (topics, runs) how many documents each list has
    documents: NDArray[np.int64]  # (depths, topics, runs) how many of them down to each depth
    judged: NDArray[np.int64]  # (depths, topics, runs) how many of these are judged
    own: NDArray[np.int64] | None  # (depths, topics, runs) how many only the run's own unit brought; None if unknown
    unbroken: NDArray[np.int64]  # (topics, runs) how many documents are judged before the first that is not
    weight: NDArray[np.float64]  # (topics, runs)
    own_weight: NDArray[np.float64]  # (topics, runs) what those of `own` weigh among them, NaN if unknown

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
        """Count on the topics of the judgments."""
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
        own = (None, np.full(shape, np.nan)) if owners is None else (counts[1], weights[1])
        return cls(tuple(depths), lengths, documents, counts[0], own[0], unbroken, weights[0], own[1])

    @property
    def unjudged(self) -> NDArray[np.float64]:
        """Return (depths, topics, runs): of the documents returned down to each depth, 1 where there are none."""
        return _share_of_returned(self.documents - self.judged, self.documents)

    @property
    def of_k(self) -> NDArray[np.float64]:
        """Return (depths, topics, runs): of as many documents as the depth, places left empty counting as judged."""
        return (self.documents - self.judged) / np.array(self.depths, dtype=np.float64).reshape(-1, 1, 1)

    @property
    def without_own(self) -> NDArray[np.float64]:
        """Return (depths, topics, runs): as `unjudged`, had the run's own unit not been in the pool; NaN if unknown."""
        if self.own is None:
            return np.full(self.judged.shape, np.nan)
        return _share_of_returned(self.documents - self.judged + self.own, self.documents)

    @property
    def residual(self) -> NDArray[np.float64]:
        """Return (topics, runs): what unjudged documents and the unseen rest weigh, the residual of RBP."""
        return np.maximum(1.0 - self.weight, 0.0)

    @property
    def judged_to(self) -> NDArray[np.float64]:
        """Return (topics, runs): the deepest rank above which nothing is unjudged, NaN where a list is empty."""
        longest = np.broadcast_to(self.lengths.max(axis=0, initial=0), self.lengths.shape)
        found = np.where(self.unbroken < self.lengths, self.unbroken, longest).astype(np.float64)
        return np.where(self.lengths > 0, found, np.nan)


class JudgedWork(ArrayWork):
    """Counting down lists, topic by topic of the judgments."""

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


def _share_of_returned(unjudged: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(documents > 0, unjudged / np.maximum(documents, 1), 1.0)


def _per_list(hits: Hits, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.bincount(hits.of[chosen], minlength=len(hits.lengths))


@dataclass(frozen=True)
class UnjudgedDocuments:
    """How many of the documents at the top of runs have no judgment."""

    cutoffs: Sequence[int]  # the ranks down to which documents are counted
    topics: list[str]  # the topics of the judgments
    run_table: pd.DataFrame  # ``name team type pooled``, one row per run
    documents: NDArray[np.int64]  # (cutoffs, topics, runs) how many documents a run returns down to a cutoff
    unjudged: NDArray[np.int64]  # (cutoffs, topics, runs) how many of them have no judgment

    @classmethod
    def of(
        cls,
        runs: RunSet,
        qrels: Qrels,
        cutoffs: Sequence[int],
        *,
        lists: JudgedLists | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> UnjudgedDocuments:
        """Count the documents at the top of runs, and those of them that have no judgment."""
        counted = JudgedLists.of(runs, qrels, cutoffs, n_jobs=n_jobs, verbose=verbose) if lists is None else lists
        return cls(
            cutoffs=cutoffs,
            topics=qrels.topics,
            run_table=described(runs.run_table),
            documents=counted.documents,
            unjudged=counted.documents - counted.judged,
        )

    @property
    def shares(self) -> NDArray[np.float64]:
        """Return (cutoffs, topics, runs): ``Unjudged@k``, 1 on a topic for which a run returns nothing."""
        return _share_of_returned(self.unjudged, self.documents)

    def by_run(self) -> pd.DataFrame:
        """Return one row per run, the one with most unjudged at the first cutoff first."""
        table = self.run_table.reset_index(drop=True).assign(topics=(self.documents[0] > 0).sum(axis=0))
        for c, cutoff in enumerate(self.cutoffs):
            table[f"Unjudged@{cutoff}"] = self.shares[c].mean(axis=0)
            table[f"documents@{cutoff}"] = self.documents[c].sum(axis=0)
            table[f"unjudged@{cutoff}"] = self.unjudged[c].sum(axis=0)
        return table.sort_values(f"Unjudged@{self.cutoffs[0]}", ascending=False, kind="stable", ignore_index=True)

    def by_unit(self, by: str) -> pd.DataFrame:
        """Return one row per team, type or family, the mean of its runs and the numbers of them all, the worst first.

        Args:
            by: ``"team"``, ``"type"`` or ``"family"``.
        """
        means = {f"Unjudged@{k}": (f"Unjudged@{k}", "mean") for k in self.cutoffs}
        sums = {f"{what}@{k}": (f"{what}@{k}", "sum") for k in self.cutoffs for what in ("documents", "unjudged")}
        groups = self.by_run().groupby(by, sort=False)
        table = groups.agg(runs=("name", "size"), **means, **sums).reset_index()
        ordered = [column for k in self.cutoffs for column in (f"Unjudged@{k}", f"documents@{k}", f"unjudged@{k}")]
        first = f"Unjudged@{self.cutoffs[0]}"
        return table.sort_values(first, ascending=False, kind="stable", ignore_index=True)[[by, "runs", *ordered]]

    def by_topic(self) -> pd.DataFrame:
        """Return one row per run, topic and cutoff: ``name qid cutoff documents unjudged Unjudged``."""
        n_cutoffs, n_topics, n_runs = self.documents.shape
        return pd.DataFrame(
            {
                "name": np.repeat(self.run_table["name"].to_numpy(dtype=object), n_topics * n_cutoffs),
                "qid": np.tile(np.repeat(np.array(self.topics, dtype=object), n_cutoffs), n_runs),
                "cutoff": np.tile(np.array(self.cutoffs), n_runs * n_topics),
                "documents": self.documents.transpose(2, 1, 0).ravel(),
                "unjudged": self.unjudged.transpose(2, 1, 0).ravel(),
                "Unjudged": self.shares.transpose(2, 1, 0).ravel(),
            }
        )
