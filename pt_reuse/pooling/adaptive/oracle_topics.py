"""OracleTopics: the topics of a field whose judgments are known, so that any strategy can be tried on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import Call, InputError
from pt_reuse.engine import tokens
from pt_reuse.pooling.adaptive.lists import TopicLists, lists_of_topic
from pt_reuse.pooling.fit import MOSTLY
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.caveats import Caveat


@dataclass(frozen=True)
class OracleTopic:
    """The lists of one topic, and what the judgments say of their documents.

    Attributes:
        lists: of the contributing runs.
        row: (documents,) their rows in the judgments, -1 where there is none.
        relevant: (documents,) 1 relevant, 0 judged not relevant, -1 without a label of at least 0.
    """

    lists: TopicLists
    row: NDArray[np.int64]
    relevant: NDArray[np.int8]

    @cached_property
    def n_judged(self) -> int:
        """Return how many of the documents are judged."""
        return int((self.relevant >= 0).sum())

    @property
    def n_relevant(self) -> int:
        """Return how many of the documents are relevant."""
        return int((self.relevant > 0).sum())


@dataclass(frozen=True)
class OracleTopics:
    """Judgments that are known, and the runs whose pool they are tried on.

    Attributes:
        ranked: the field, in the order in which it is pooled.
        qrels: the judgments.
        depth: of the pool.
        rel: the lowest label that is relevant.
        contributing: (runs,) which runs make the pool.
    """

    ranked: RunSet
    qrels: Qrels
    depth: int
    rel: int
    contributing: NDArray[np.bool_]

    def topic(self, qid: str, without: NDArray[np.bool_] | None = None) -> OracleTopic | None:
        """Return one topic, None where no run has it or no judgments are of it.

        Args:
            qid: the topic.
            without: (runs,) runs that do not contribute here; default none.
        """
        t, documents = self.ranked.field.topic_row.get(qid), self.qrels.arrays.documents
        if t is None or qid not in documents.place:
            return None
        contributing = self.contributing if without is None else self.contributing & ~without
        lists = lists_of_topic(self.ranked, t, self.depth, contributing)
        here = documents.rows(documents.place[qid])
        row = np.full(len(lists), -1, dtype=np.int64)
        if len(lists) and here.stop > here.start:
            found = tokens.match(tokens.as_words(tokens.encode(lists.docnos)), documents.words[here])
            row = np.where(found >= 0, found + here.start, -1)
        labels = np.append(self.qrels.arrays.labels, np.int16(-1))[row]
        return OracleTopic(lists, row, np.where(labels < 0, -1, labels >= self.rel).astype(np.int8))


def check_some_judged(topics: Sequence[OracleTopic | None]) -> None:
    """Raise unless a document of the pool is judged, on one topic at least."""
    if not any(topic is not None and topic.n_judged for topic in topics):
        raise InputError(
            f"no document of the pool is judged, on none of {count(len(topics), 'topic')}. Are these the qrels of "
            "these runs, and are the contributing runs the ones that were pooled?",
            argument="qrels",
        )


def caveats_of(topics: Sequence[OracleTopic | None], rel: int) -> Iterator[Caveat]:
    """Yield what is to be told of a pool on which strategies are tried: all of it relevant, most of it without a label.

    Args:
        topics: its topics, of which a document is judged on one at least.
        rel: the lowest label that is relevant.
    """
    known = [topic for topic in topics if topic is not None]
    judged, relevant = sum(topic.n_judged for topic in known), sum(topic.n_relevant for topic in known)
    pooled = sum(len(topic.lists) for topic in known)
    if judged == relevant:
        yield Caveat(
            "every judged document of the pool is relevant",
            (
                f"every judged document of the pool, {judged:,}, has a label of at least {rel}. A document without a "
                "label costs nothing, so whatever a strategy asks for is relevant, and all strategies find alike.",
            ),
        )
    if pooled - judged > MOSTLY * pooled:
        share = f"{1 - judged / pooled:.0%}"
        yield Caveat(
            f"{share} of the pool has no label",
            (
                f"{pooled - judged:,} of the {pooled:,} pooled documents ({share}) have no label of at least 0. A "
                "strategy passes over them at no cost, which no assessor could. ",
                Call("infer_pool", "runs, qrels"),
                " says which runs and which depth fit the judgments.",
            ),
        )
