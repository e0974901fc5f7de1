"""Judging by a pool and one batch that a classifier chooses, by all contributors and without each of them in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._jobs import run_jobs
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.continuous_rounds import TopicJudging
from pt_reuse.judging.protocols import Protocol
from pt_reuse.judging.scorers import Scorer
from pt_reuse.judging.session import Judged
from pt_reuse.pooling.pool import Pool

#: what the first round is called
_POOL, _ROUND = "pool", 2


@dataclass(frozen=True)
class Chooser:
    """How a batch is chosen.

    Attributes:
        scorer: learns from the pool's labels, and puts all documents in order.
        protocol: whether the query is an example, and how many documents are presumed not to be relevant.
        seed: of what is random.
        rel: the lowest label that is relevant.
    """

    scorer: Scorer
    protocol: Protocol
    seed: int
    rel: int


@dataclass(frozen=True)
class OnePool:
    """What is judged first, and how many documents come after it.

    Attributes:
        docnos: the documents.
        labels: of each.
        batch: how many documents the classifier is to choose.
    """

    docnos: tuple[str, ...]
    labels: tuple[int, ...]
    batch: int


@dataclass(frozen=True)
class TopicPools:
    """The pools of one topic: of all contributors, and without each of some units.

    Attributes:
        qid: the topic.
        query: its query, None where there is none.
        places: document -> its position among the scorer's.
        pools: the pools; the first is that of all.
    """

    qid: str
    query: str | None
    places: Mapping[str, int]
    pools: Sequence[OnePool]

    def chosen(self, chooser: Chooser) -> list[tuple[str, ...]]:
        """Return for each pool the documents that the classifier chooses after it."""
        return [self._batch(pool, chooser) for pool in self.pools]

    def _batch(self, pool: OnePool, chooser: Chooser) -> tuple[str, ...]:
        if not pool.batch:
            return ()
        # made anew for each pool: the same seed, the same order of documents with equal scores
        topic = TopicJudging(self.qid, self.query, chooser.scorer, self.places, chooser.seed)
        labelled = zip(pool.docnos, pool.labels, strict=True)
        pooled = [Judged(self.qid, docno, _ROUND - 1, _POOL, "", label) for docno, label in labelled]
        if pooled:
            topic.learn(pooled, chooser.rel)
        return tuple(one.docno for one in topic.next_batch(chooser.protocol, min(pool.batch, topic.left), _ROUND))


def choose_all(
    topics: Sequence[TopicPools], chooser: Chooser, *, n_jobs: int | None, verbose: bool
) -> list[list[tuple[str, ...]]]:
    """Return for each topic and each of its pools the documents that are chosen, by joblib, a topic a task."""
    jobs = [_Choosing(topic, chooser) for topic in topics]
    return list(run_jobs(jobs, len(jobs), desc="judging", unit="topic", n_jobs=n_jobs, verbose=verbose))


@dataclass(frozen=True)
class _Choosing:
    topic: TopicPools
    chooser: Chooser

    def run(self) -> list[tuple[str, ...]]:
        return self.topic.chosen(self.chooser)


@dataclass(frozen=True)
class PooledTopic:
    """The judged documents of a topic that contributors pooled.

    Attributes:
        qid: the topic.
        docnos: (documents,) their names.
        labels: (documents,) their labels.
        sole: (documents,) the unit that alone contributed each, -1 where there are several.
        judged: how many documents of the topic are judged in all.
    """

    qid: str
    docnos: NDArray[np.object_]
    labels: NDArray[np.int64]
    sole: NDArray[np.int64]
    judged: int

    def losers(self, rel: int) -> list[int]:
        """Return the units that alone contributed a relevant document, ascending."""
        return np.unique(self.sole[(self.sole >= 0) & (self.labels >= rel)]).tolist()

    def without(self, unit: int | None) -> OnePool:
        """Return the pool without a unit's uniques, and the batch that makes the judgments as many as they are.

        Args:
            unit: the unit; None for the pool of all.
        """
        kept = np.ones(len(self.docnos), dtype=bool) if unit is None else self.sole != unit
        docnos, labels = tuple(self.docnos[kept].tolist()), tuple(self.labels[kept].tolist())
        return OnePool(docnos, labels, self.judged - len(docnos))


def pooled_topics(
    qrels: Qrels, pool: Pool, rows: NDArray[np.int64], judged: NDArray[np.bool_], owner: NDArray[np.int64]
) -> list[PooledTopic]:
    """Return the judged documents of the pool, topic by topic of the judgments.

    Args:
        qrels: the judgments.
        pool: of all contributors.
        rows: (documents of the pool,) the judgment of each, -1 for none.
        judged: (documents,) whether it is judged.
        owner: (documents,) the unit that alone contributed each, -1 where there are several.
    """
    docnos, labels = pool.documents.docnos(), qrels.arrays.labels
    n_judged = qrels.arrays.documents.counts(labels >= 0).tolist()
    found = []
    for qid, n in zip(qrels.topics, n_judged, strict=True):
        at = pool.documents.place.get(qid)
        mine = np.zeros(0, dtype=np.int64) if at is None else np.arange(*pool.documents.starts[at : at + 2])
        mine = mine[judged[mine]]
        found.append(PooledTopic(qid, docnos[mine], labels[rows[mine]].astype(np.int64), owner[mine], n))
    return found
