"""What only one of two sets of judgments knows, and how runs and topics move from one to the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, examples, told
from pt_reuse._errors import arguments_as, wrong
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.lists import TopicDocs
from pt_reuse.arrays.rescore import UNJUDGED
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.judging.judges import checked_grades, in_grades
from pt_reuse.judging.label_pairs import Scale, lowest_relevant, on_scale, scale_words
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
            grades = checked_grades(judge_rel, "judge_rel")
            given = pd.Series(qrels.arrays.labels, dtype="Int64")
            labels = in_grades(given, grades).fillna(UNJUDGED).to_numpy(dtype=np.int16)
            said = Qrels.of_arrays(qrels.arrays.labelled(labels), people.rel)
            return cls(name, said, scale_words(people.rel, grades))
        with arguments_as(rel="judge_rel"):
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


#: of the runs on record as not pooled so many are shown where nobody says which
SHOWN = 10
_OF_TOPIC = ("max_drop", "dropped", "max_rise", "risen")


def topic_moves(truth: NDArray[np.float64], estimate: NDArray[np.float64], names: Sequence[str]) -> pd.DataFrame:
    """Return ``max_drop dropped max_rise risen`` per topic of (topics, runs) scores: how far a run moves, and which."""
    found: dict[str, list[Any]] = {name: [] for name in _OF_TOPIC}
    for before, after in zip(np.round(truth, DECIMALS), np.round(estimate, DECIMALS), strict=True):
        drops, best_first = pairs.rank_drops(before, after), np.argsort(-before, kind="stable")
        for most, who, signed in (("max_drop", "dropped", drops), ("max_rise", "risen", -drops)):
            place = best_first[int(signed[best_first].argmax())]
            found[most].append(max(int(signed[place]), 0))
            found[who].append(names[place] if signed[place] > 0 else None)
    return pd.DataFrame(found | {who: pd.Series(found[who], dtype=object) for who in ("dropped", "risen")})


def checked_selected(selected: Any) -> list[str]:
    """Return the run names that a user's ``selected=`` lists."""
    names = [selected] if isinstance(selected, str) else list(selected) if isinstance(selected, Iterable) else [None]
    if not all(isinstance(name, str) for name in names):
        problem = f" must be a run name or several, got {told(selected)}."
        raise wrong("selected", problem)
    return list(dict.fromkeys(names))


def check_known(selected: Sequence[str], known: Sequence[str]) -> None:
    """Raise where a selected run is none of the field."""
    strangers = [name for name in selected if name not in set(known)]
    if strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        raise wrong("selected", f" names {examples(strangers)}, not among the {count(len(known), 'run')}.{hint}")


def selected_runs(
    changes: pd.DataFrame, run_table: pd.DataFrame, rates: pd.DataFrame, wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Return the rows of the runs that a paper shows, see ``JudgmentComparison.selected``."""
    measures = list(dict.fromkeys(changes["measure"]))
    first = changes[changes["measure"] == measures[0]].sort_values("rank", kind="stable")["name"].tolist()
    of_run = run_table.set_index("name")
    reasons: dict[str, list[str]] = {}
    types = [kind for kind in dict.fromkeys(of_run["type"]) if kind is not None and not pd.isna(kind)]
    for kind in types:
        best = next(name for name in first if of_run.loc[name, "type"] == kind)
        reasons.setdefault(best, []).append(f"best {kind}")
    if not types:
        reasons.setdefault(first[0], []).append("best")
    reasons.setdefault(first[(len(first) - 1) // 2], []).append("median")
    if wanted is None:
        not_pooled = set(of_run.index[(of_run["pooled"] == False).fillna(False)])  # noqa: E712 - <NA> is neither
        for name in [name for name in first if name in not_pooled][:SHOWN]:
            reasons.setdefault(name, []).append("not pooled")
    for name in wanted or ():
        reasons.setdefault(name, []).append("selected")
    shown = [name for name in first if name in reasons]
    of_names = run_table.set_index("name").loc[shown].join(rates)
    parts = []
    for measure in dict.fromkeys(changes["measure"]):
        found = changes[changes["measure"] == measure].set_index("name").loc[shown]
        part = of_names[["team", "type", "pooled"]].assign(
            measure=measure,
            other_measure=found["other_measure"],
            score=found["score"],
            other_score=found["other_score"],
            change=found["other_score"] - found["score"],
            rank=found["rank"],
            other_rank=found["other_rank"],
            drop=found["drop"],
            unjudged_rate=of_names["unjudged_rate"],
            other_unjudged_rate=of_names["other_unjudged_rate"],
        )
        part.insert(0, "name", shown)
        part.insert(0, "why", [", ".join(reasons[name]) for name in shown])
        parts.append(part)
    return pd.concat(parts, ignore_index=True).astype({"pooled": "boolean", "why": object, "name": object})
