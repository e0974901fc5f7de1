"""The judgments that a pool and one batch of a classifier give, with all contributors and without each unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import Argument, Call, InputError, Option
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.pooling.fit import MOSTLY
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.studies.dynamic_judging import PooledTopic


class DynamicSets:
    """The documents that are judged of each topic, with all contributors (LOU-FULL) and without each unit.

    Args:
        qrels: the judgments from which labels are taken.
        topics: the pooled documents of each topic, in the order of the topics of the judgments.
        chosen: for each topic the documents chosen after the pool of all, and after that of all but each loser.
        rel: the lowest label that is relevant.

    Attributes:
        unlabelled: (topics,) how many documents of LOU-FULL nobody labelled; filled by :meth:`label`.
    """

    def __init__(
        self, qrels: Qrels, topics: Sequence[PooledTopic], chosen: Sequence[Sequence[tuple[str, ...]]], rel: int
    ):
        self._qrels, self._topics, self._chosen, self._rel = qrels, topics, chosen, rel
        self.unlabelled = np.zeros(len(topics), dtype=np.int64)
        self._labels: list[dict[str, int]] = []

    def label(self, judge: Judge | None, told_of: TopicTexts, texts: Mapping[str, str] | None) -> None:
        """Find the label of every document: in the judgments, else of the judge, else 0.

        Args:
            judge: who labels what the judgments do not; None for nobody.
            told_of: what the judge is told of each topic.
            texts: document -> text, which the judge gets beside; None for none.
        """
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
        """Return all documents with their labels, and the sets: LOU-FULL first, then that without each unit."""
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
            for number, lacking in enumerate([sets[0], *(own.get(unit, sets[0]) for unit in range(n_units))]):
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
        return {*topic.without(unit).docnos, *self._chosen[t][number]}

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


def check_topics_given(qrels: Qrels, queries: Mapping[str, str | None]) -> None:
    """Raise where a judged topic is not among the topics of which a classifier is told."""
    judged = qrels.arrays.documents.sizes
    lacking = [qid for qid, n in zip(qrels.topics, judged.tolist(), strict=True) if n and qid not in queries]
    if lacking:
        raise InputError(
            Argument("topics"),
            f" lack {count(len(lacking), 'judged topic')}: {examples(lacking)}. Give every topic of the judgments, or ",
            Call("Qrels.select", "topics"),
            " judgments of those that you give.",
            argument="topics",
        )
