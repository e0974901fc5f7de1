"""new_documents: what later judgments know of the documents of runs and earlier ones do not, by run and by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.lists import TopicDocs
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.judge import Scale, checked_grades, in_grades, lowest_relevant, on_scale, scale_words
from pt_reuse.pooling.pool import Pool


@dataclass(frozen=True)
class NamedJudgments:
    """Judgments, which know what is relevant, under their name; `words` say which labels are, for settings."""

    name: str
    qrels: Qrels
    words: str

    @classmethod
    def of(cls, name: str, qrels: Qrels, rel: int | None) -> NamedJudgments:
        """Return judgments that are relevant from the label that a user asks for, or from their own for None."""
        said = qrels if rel is None else qrels.with_rel(rel)
        return cls(name, said, f"label of at least {said.rel}")

    @classmethod
    def beside(
        cls, first: NamedJudgments, name: str, qrels: Qrels, *, rel: int | None, judge_rel: Any, same_measures: bool
    ) -> NamedJudgments:
        """Return judgments that are compared with others, brought to their scale where the measures are the same."""
        if judge_rel is None and (rel is not None or qrels.stated_rel is not None):
            return cls.of(name, qrels, rel)
        people = Scale.of(first.qrels)
        if isinstance(judge_rel, Mapping):
            grades = checked_grades(judge_rel)
            given = pd.Series(qrels.arrays.labels, dtype="Int64")
            labels = in_grades(given, grades).fillna(UNJUDGED).to_numpy(dtype=np.int16)
            said = Qrels.of_arrays(qrels.arrays.labelled(labels), people.rel)
            return cls(name, said, scale_words(people.rel, grades))
        lowest = checked_rel(judge_rel)
        if lowest is None:
            lowest = lowest_relevant(qrels.arrays.labels, people)
        scaled = on_scale(qrels, lowest, people.rel) if same_measures else qrels.with_rel(lowest)
        return cls(name, scaled, f"label of at least {lowest}")

    @property
    def rel(self) -> int:
        """Return the lowest label that is relevant."""
        return self.qrels.rel

    def labels_of(self, documents: TopicDocs) -> NDArray[np.int16]:
        """Return (documents,) the label of each, a negative one where it has none."""
        rows = self.qrels.arrays.documents.find(documents)
        found: NDArray[np.int16] = np.append(self.qrels.arrays.labels, np.int16(UNJUDGED))[rows]
        return found


def new_documents(
    pool: Pool, before: NamedJudgments, after: NamedJudgments, topics: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what later judgments know and earlier ones do not, see ``JudgmentComparison``: by run, and by topic."""
    return (
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
