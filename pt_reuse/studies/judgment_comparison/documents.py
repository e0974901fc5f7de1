"""Which documents one set of judgments has and the other has not, by run and by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels


@dataclass(frozen=True)
class NamedJudgments:
    """Judgments under the name that they have in a comparison.

    Attributes:
        name: what they are called.
        qrels: the judgments, which know from which label on documents are relevant.
    """

    name: str
    qrels: Qrels

    @classmethod
    def of(cls, name: str, qrels: Qrels, rel: int | None) -> NamedJudgments:
        """Return judgments that are relevant from the label that a user asks for, or from their own for None."""
        return cls(name, qrels if rel is None else qrels.with_rel(rel))

    @property
    def rel(self) -> int:
        """Return the lowest label that is relevant."""
        return self.qrels.rel

    def labels_of(self, documents: TopicDocs) -> NDArray[np.int16]:
        """Return (documents,) the label of each, a negative one where it has none."""
        rows = self.qrels.arrays.documents.find(documents)
        found: NDArray[np.int16] = np.append(self.qrels.arrays.labels, np.int16(UNJUDGED))[rows]
        return found


@dataclass(frozen=True)
class NewDocuments:
    """What judgments know that earlier ones do not.

    Attributes:
        by_run: one row per run: ``new_by name team type pooled documents unjudged unjudged_rate new new_relevant``.
        by_topic: one row per topic: ``new_by qid judged relevant remainder new new_relevant``.
    """

    by_run: pd.DataFrame
    by_topic: pd.DataFrame


def new_documents(pool: Pool, before: NamedJudgments, after: NamedJudgments, topics: Sequence[str]) -> NewDocuments:
    """Count the documents that later judgments have and earlier ones have not.

    Args:
        pool: the top documents of all runs, with the runs that have them.
        before: the earlier judgments.
        after: the later ones.
        topics: the topics that count, which both have.
    """
    return NewDocuments(
        _by_run(pool, before, after, topics).assign(new_by=after.name)[list(_BY_RUN)],
        _by_topic(pool, before, after, topics).assign(new_by=after.name)[list(_BY_TOPIC)],
    )


_BY_RUN = (
    "new_by", "name", "team", "type", "pooled", "documents", "unjudged", "unjudged_rate", "new", "new_relevant",
)  # fmt: skip
_BY_TOPIC = ("new_by", "qid", "judged", "relevant", "remainder", "new", "new_relevant")


def _places(documents: TopicDocs, topics: Sequence[str]) -> NDArray[np.int64]:
    """Return (documents,) the place of the topic of each among those that count, -1 for another."""
    place = {topic: t for t, topic in enumerate(topics)}
    of_topic = np.array([place.get(topic, -1) for topic in documents.topics], dtype=np.int64)
    return of_topic[documents.topic]


def _by_run(pool: Pool, before: NamedJudgments, after: NamedJudgments, topics: Sequence[str]) -> pd.DataFrame:
    n_topics, n_runs = len(topics), len(pool.run_table)
    unjudged = before.labels_of(pool.documents) < 0
    later = after.labels_of(pool.documents)
    place = _places(pool.documents, topics)
    document, run = pool.entries.document, pool.entries.run
    counts = place[document] >= 0
    document, run = document[counts], run[counts]

    def counted(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(run[marked[document]], minlength=n_runs)

    def per_topic(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        cell = place[document[marked]] * n_runs + run[marked]
        return np.bincount(cell, minlength=n_topics * n_runs).reshape(n_topics, n_runs)

    returned, unseen = per_topic(np.ones(len(document), dtype=bool)), per_topic(unjudged[document])
    # as of Unjudged@k: a topic without documents has 1
    rate = np.where(returned > 0, unseen / np.maximum(returned, 1), 1.0).mean(axis=0)
    return pool.run_table[["name", "team", "type", "pooled"]].assign(
        documents=returned.sum(axis=0),
        unjudged=unseen.sum(axis=0),
        unjudged_rate=rate,
        new=counted(unjudged & (later >= 0)),
        new_relevant=counted(unjudged & (later >= after.rel)),
    )


def _by_topic(pool: Pool, before: NamedJudgments, after: NamedJudgments, topics: Sequence[str]) -> pd.DataFrame:
    known, labels = before.qrels.arrays, after.qrels.arrays.labels
    was_unjudged = before.labels_of(after.qrels.arrays.documents) < 0

    def counted(documents: TopicDocs, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        at = _places(documents, topics)
        return np.bincount(at[marked & (at >= 0)], minlength=len(topics))

    return pd.DataFrame(
        {
            "qid": np.array(topics, dtype=object),
            "judged": counted(known.documents, known.labels >= 0),
            "relevant": counted(known.documents, known.labels >= before.rel),
            "remainder": counted(pool.documents, before.labels_of(pool.documents) < 0),
            "new": counted(after.qrels.arrays.documents, was_unjudged & (labels >= 0)),
            "new_relevant": counted(after.qrels.arrays.documents, was_unjudged & (labels >= after.rel)),
        }
    )
