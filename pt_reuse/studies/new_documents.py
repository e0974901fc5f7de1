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
        graded = qrels if rel is None else qrels.with_rel(rel)
        return cls(name, graded, f"label of at least {graded.rel}")

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
            labels = in_grades(pd.Series(qrels.arrays.labels, dtype="Int64"), grades)
            arrays = qrels.arrays.labelled(labels.fillna(UNJUDGED).to_numpy(dtype=np.int16))
            return cls(name, Qrels.of_arrays(arrays, people.rel), scale_words(people.rel, grades))
        lowest = checked_rel(judge_rel)
        if lowest is None:
            lowest = lowest_relevant(qrels.arrays.labels, people)
        scaled = on_scale(qrels, lowest, people.rel) if same_measures else qrels.with_rel(lowest)
        return cls(name, scaled, f"label of at least {lowest}")


def new_documents(
    pool: Pool, before: NamedJudgments, after: NamedJudgments, topics: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what later judgments know and earlier ones do not, see ``JudgmentComparison``: by run, and by topic."""
    by_run, by_topic = _by_run(pool, before, after, topics), _by_topic(pool, before, after, topics)
    by_run.insert(0, "new_by", after.name)
    by_topic.insert(0, "new_by", after.name)
    return by_run, by_topic


def _places(documents: TopicDocs, topics: Sequence[str]) -> NDArray[np.int64]:
    """Return (documents,) the place of the topic of each among those that count, -1 for another."""
    place = {topic: t for t, topic in enumerate(topics)}
    return np.array([place.get(topic, -1) for topic in documents.topics], dtype=np.int64)[documents.topic]


def _by_run(pool: Pool, before: NamedJudgments, after: NamedJudgments, topics: Sequence[str]) -> pd.DataFrame:
    shape, place = (len(topics), len(pool.run_table)), _places(pool.documents, topics)
    counts = place[pool.entries.document] >= 0
    document, run = pool.entries.document[counts], pool.entries.run[counts]
    unjudged, later = before.qrels.arrays.labels_of(pool.documents) < 0, after.qrels.arrays.labels_of(pool.documents)

    def per_topic(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        rows = marked[document]
        cell = place[document[rows]] * shape[1] + run[rows]
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)

    returned, unseen = per_topic(place >= 0), per_topic(unjudged)
    # as of Unjudged@k: a topic without documents has 1
    rate = np.where(returned > 0, unseen / np.maximum(returned, 1), 1.0).mean(axis=0)
    return pool.run_table[["name", "team", "type", "pooled"]].assign(
        documents=returned.sum(axis=0),
        unjudged=unseen.sum(axis=0),
        unjudged_rate=rate,
        new=per_topic(unjudged & (later >= 0)).sum(axis=0),
        new_relevant=per_topic(unjudged & (later >= after.qrels.rel)).sum(axis=0),
    )


def _by_topic(pool: Pool, before: NamedJudgments, after: NamedJudgments, topics: Sequence[str]) -> pd.DataFrame:
    known, later = before.qrels.arrays, after.qrels.arrays
    new = before.qrels.arrays.labels_of(later.documents) < 0

    def counted(documents: TopicDocs, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        at = _places(documents, topics)
        return np.bincount(at[marked & (at >= 0)], minlength=len(topics))

    return pd.DataFrame(
        {
            "qid": np.array(topics, dtype=object),
            "judged": counted(known.documents, known.labels >= 0),
            "relevant": counted(known.documents, known.labels >= before.qrels.rel),
            "remainder": counted(pool.documents, before.qrels.arrays.labels_of(pool.documents) < 0),
            "new": counted(later.documents, new & (later.labels >= 0)),
            "new_relevant": counted(later.documents, new & (later.labels >= after.qrels.rel)),
        }
    )
