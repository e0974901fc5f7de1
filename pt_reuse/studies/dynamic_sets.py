"""Judgments that dynamic judging would have made without each team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import Option
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.continuous import TopicJudging
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.protocols import Protocol
from pt_reuse.judging.scorers import Scorer
from pt_reuse.judging.session import Judged
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.pooling.fit import MOSTLY
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.caveats import Caveat

#: what the first round is called
_POOL, _ROUND = "pool", 2


@dataclass(frozen=True)
class Chooser:
    """How a batch is chosen: the scorer learns from the labels of a pool, and puts all documents in order."""

    scorer: Scorer
    protocol: Protocol
    seed: int
    rel: int


@dataclass(frozen=True)
class Batches:
    """The job of a topic: what the classifier chooses after each of some pools, (documents, labels, batch)."""

    qid: str
    query: str | None
    places: Mapping[str, int]
    pools: Sequence[tuple[tuple[str, ...], tuple[int, ...], int]]
    chooser: Chooser

    def run(self) -> list[tuple[str, ...]]:
        """Return for each pool the documents that are chosen."""
        return [self._batch(*pool) for pool in self.pools]

    def _batch(self, docnos: tuple[str, ...], labels: tuple[int, ...], batch: int) -> tuple[str, ...]:
        if not batch:
            return ()
        chooser = self.chooser
        # made anew for each pool: the same seed, the same order of documents with equal scores
        topic = TopicJudging(self.qid, self.query, chooser.scorer, self.places, chooser.seed)
        labelled = zip(docnos, labels, strict=True)
        pooled = [Judged(self.qid, docno, _ROUND - 1, _POOL, "", label) for docno, label in labelled]
        if pooled:
            topic.learn(pooled, chooser.rel)
        return tuple(one.docno for one in topic.next_batch(chooser.protocol, min(batch, topic.left), _ROUND))


@dataclass(frozen=True)
class PooledTopic:
    """The judged documents of a topic that contributors pooled."""

    qid: str  # the topic
    docnos: NDArray[np.object_]  # (documents,) their names
    labels: NDArray[np.int64]  # (documents,) their labels
    sole: NDArray[np.int64]  # (documents,) the unit that alone contributed each, -1 where there are several
    judged: int  # how many documents of the topic are judged in all

    def losers(self, rel: int) -> list[int]:
        """Return the units that alone contributed a relevant document, ascending."""
        return np.unique(self.sole[(self.sole >= 0) & (self.labels >= rel)]).tolist()

    def without(self, unit: int | None) -> tuple[tuple[str, ...], tuple[int, ...], int]:
        """Return documents and labels of the pool without a unit's uniques, and how many are to be judged besides."""
        kept = np.ones(len(self.docnos), dtype=bool) if unit is None else self.sole != unit
        docnos, labels = tuple(self.docnos[kept].tolist()), tuple(self.labels[kept].tolist())
        return docnos, labels, self.judged - len(docnos)


def pooled_topics(
    qrels: Qrels, pool: Pool, rows: NDArray[np.int64], judged: NDArray[np.bool_], owner: NDArray[np.int64]
) -> list[PooledTopic]:
    """Return the judged documents of the pool, topic by topic of the judgments."""
    docnos, labels = pool.documents.docnos(), qrels.arrays.labels
    n_judged = qrels.arrays.documents.counts(labels >= 0).tolist()
    found = []
    for qid, n in zip(qrels.topics, n_judged, strict=True):
        at = pool.documents.place.get(qid)
        mine = np.zeros(0, dtype=np.int64) if at is None else np.arange(*pool.documents.starts[at : at + 2])
        mine = mine[judged[mine]]
        found.append(PooledTopic(qid, docnos[mine], labels[rows[mine]].astype(np.int64), owner[mine], n))
    return found


class DynamicSets:
    """The documents that are judged of each topic, with all contributors (LOU-FULL) and without each unit."""

    def __init__(
        self, qrels: Qrels, topics: Sequence[PooledTopic], chosen: Sequence[Sequence[tuple[str, ...]]], rel: int
    ):
        self._qrels, self._topics, self._chosen, self._rel = qrels, topics, chosen, rel
        self.unlabelled = np.zeros(len(topics), dtype=np.int64)
        self._labels: list[dict[str, int]] = []

    def label(self, judge: Judge | None, told_of: TopicTexts, texts: Mapping[str, str] | None) -> None:
        """Find the label of every document: in the judgments, else of the judge, else 0."""
        known = _labels_of(self._qrels)
        missing = [
            (topic.qid, docno)
            for topic, chosen in zip(self._topics, self._chosen, strict=True)
            for docno in dict.fromkeys(docno for batch in chosen for docno in batch)
            if (topic.qid, docno) not in known
        ]
        said = _asked(judge, missing, told_of, texts) if judge is not None and missing else {}
        for t, (topic, chosen) in enumerate(zip(self._topics, self._chosen, strict=True)):
            labels = dict(zip(topic.docnos.tolist(), topic.labels.tolist(), strict=True))
            for docno in dict.fromkeys(docno for batch in chosen for docno in batch):
                pair = (topic.qid, docno)
                labels[docno] = known.get(pair, said.get(pair, 0))
            self._labels.append(labels)
            self.unlabelled[t] = sum((topic.qid, d) not in known and (topic.qid, d) not in said for d in chosen[0])

    def judgments(self, n_units: int) -> tuple[Qrels, Changes]:
        """Return all documents with their labels, and the sets: that without each unit, then LOU-FULL."""
        frame = pd.DataFrame(
            [
                (topic.qid, docno, label)
                for topic, labels in zip(self._topics, self._labels, strict=True)
                for docno, label in labels.items()
            ],
            columns=["qid", "docno", "label"],
        )
        base = Qrels(frame, topics=self._qrels.topics, rel=self._qrels.stated_rel)
        in_set: list[NDArray[np.int64]] = []
        rows: list[NDArray[np.int64]] = []
        starts = base.arrays.documents.starts.tolist()
        for t, labels in enumerate(self._labels):
            names = list(labels)
            sets = [self._lacking(t, names, n) for n in range(len(self._chosen[t]))]
            own = {unit: lacking for unit, lacking in zip(self._losers(t), sets[1:], strict=True)}
            for number, lacking in enumerate([*(own.get(unit, sets[0]) for unit in range(n_units)), sets[0]]):
                rows.append(lacking + starts[t])
                in_set.append(np.full(len(lacking), number))
        none = [np.zeros(0, dtype=np.int64)]
        row = np.concatenate(rows or none)
        return base, Changes(n_units + 1, np.concatenate(in_set or none), row, np.full(len(row), UNJUDGED))

    def lost(self, n_units: int) -> NDArray[np.int64]:
        """Return (units,): how many documents of LOU-FULL are not judged without each unit."""
        n = np.zeros(n_units, dtype=np.int64)
        for t in range(len(self._topics)):
            full = self._set(t, 0)
            for number, unit in enumerate(self._losers(t), 1):
                n[unit] += len(full - self._set(t, number))
        return n

    def found_again(self, n_units: int) -> NDArray[np.int64]:
        """Return (units,): how many of the unique relevant documents of each unit are chosen without it."""
        n = np.zeros(n_units, dtype=np.int64)
        for topic, chosen in zip(self._topics, self._chosen, strict=True):
            for unit, batch in zip(topic.losers(self._rel), chosen[1:], strict=True):
                mine = (topic.sole == unit) & (topic.labels >= self._rel)
                n[unit] += len(set(topic.docnos[mine].tolist()) & set(batch))
        return n

    def relevant(self, n_units: int) -> NDArray[np.int64]:
        """Return (units,): how many relevant documents the judgments made without each unit have."""
        n = np.zeros(n_units, dtype=np.int64)
        for t, labels in enumerate(self._labels):
            relevant = [
                sum(labels[docno] >= self._rel for docno in self._set(t, number))
                for number in range(len(self._chosen[t]))
            ]
            own = dict(zip(self._losers(t), relevant[1:], strict=True))
            n += [own.get(unit, relevant[0]) for unit in range(n_units)]
        return n

    def table(self) -> pd.DataFrame:
        """Return one row per topic, see ``DynamicUniques.topics``."""
        rows = []
        for t, (topic, chosen, labels) in enumerate(zip(self._topics, self._chosen, self._labels, strict=True)):
            new = sum(labels[docno] >= self._rel for docno in chosen[0])
            rows.append(
                {
                    "qid": topic.qid,
                    "judged": topic.judged,
                    "pooled": len(topic.docnos),
                    "chosen": len(chosen[0]),
                    "relevant": int((topic.labels >= self._rel).sum()) + new,
                    "chosen_relevant": new,
                    "unlabelled": int(self.unlabelled[t]),
                    "units": len(self._losers(t)),
                }
            )
        return pd.DataFrame(rows)

    def caveats(self) -> Iterator[Caveat]:
        """Yield a caveat where most of what was chosen after the pool of all has no label, and where a corpus ended."""
        chosen, without = sum(len(batches[0]) for batches in self._chosen), int(self.unlabelled.sum())
        if without > MOSTLY * chosen:
            yield Caveat(
                f"{without / chosen:.0%} of what the classifier chose has no label",
                (
                    f"{without:,} of {count(chosen, 'document')} that the classifier chose after the pool of all "
                    "contributors have no label, and count as not relevant: the judgments were not found by such a "
                    "classifier, and what it would find is not known. ",
                    Option("judge", ...),
                    " may label them.",
                ),
            )
        short = sum(
            any(len(self._set(t, number)) < topic.judged for number in range(len(self._chosen[t])))
            for t, topic in enumerate(self._topics)
        )
        if short:
            yield Caveat(
                f"the corpus ended on {count(short, 'topic')}",
                (
                    f"on {count(short, 'topic')} of {len(self._topics):,} the corpus ended before there were as many "
                    "judgments as there are in qrels, with all contributors or without some of them. So what is lost "
                    "there is not made up for. Has the scorer the whole corpus?",
                ),
            )

    def _losers(self, t: int) -> list[int]:
        return self._topics[t].losers(self._rel)

    def _set(self, t: int, number: int) -> set[str]:
        """Return the documents that are judged in LOU-FULL, or without the loser of a number from 1."""
        topic = self._topics[t]
        unit = None if number == 0 else self._losers(t)[number - 1]
        return {*topic.without(unit)[0], *self._chosen[t][number]}

    def _lacking(self, t: int, names: Sequence[str], number: int) -> NDArray[np.int64]:
        """Return which of the topic's documents a set has not."""
        has = self._set(t, number)
        return np.array([i for i, docno in enumerate(names) if docno not in has], dtype=np.int64)


def _labels_of(qrels: Qrels) -> dict[tuple[str, str], int]:
    documents, labels = qrels.arrays.documents, qrels.arrays.labels
    triples = zip(documents.qids(), documents.docnos(), labels.tolist(), strict=True)
    return {(qid, docno): label for qid, docno, label in triples if label >= 0}


def _asked(
    judge: Judge, pairs: Sequence[tuple[str, str]], told_of: TopicTexts, texts: Mapping[str, str] | None
) -> dict[tuple[str, str], int]:
    """Return the labels that a judge gives to documents; those to which it gives none, or one below 0, are left out."""
    frame = told_of.beside(pd.DataFrame(pairs, columns=["qid", "docno"], dtype=object))
    if texts is not None:
        frame["text"] = pd.Series([texts.get(docno) for _, docno in pairs], dtype=object)
    said: Any = judge.transform(frame)["label"]
    return {pair: int(label) for pair, label in zip(pairs, said, strict=True) if not pd.isna(label) and int(label) >= 0}
