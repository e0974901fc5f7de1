"""What only one of two sets of judgments knows, and how runs and topics move from one to the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, examples, told
from pt_reuse._errors import Argument, InputError, arguments_as
from pt_reuse.arrays import pairs
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.topic_docs import TopicDocs
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.judging.judges import checked_grades, in_grades
from pt_reuse.judging.label_pairs import Scale, lowest_relevant, on_scale, scale_words
from pt_reuse.pooling.pool import Pool


@dataclass(frozen=True)
class NamedJudgments:
    """Judgments under the name that they have in a comparison.

    Attributes:
        name: what they are called.
        qrels: the judgments, which know from which label on documents are relevant.
        words: which labels are relevant, for settings.
    """

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
        """Return judgments that are compared with others, brought to their scale where the measures are the same.

        Args:
            first: the others.
            name: what these are called.
            qrels: these.
            rel: the lowest label of both that is relevant, None where nobody says.
            judge_rel: that of these, or a mapping of each of their labels to one of the others; None where nobody says.
            same_measures: whether the measures are those of the others; else they are made for the labels as these are.

        Raises:
            InputError: nobody says, and their labels go beyond those of the others.
        """
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
    """Count the documents that later judgments have and earlier ones have not."""
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


#: of the runs on record as not pooled so many are shown where nobody says which
SHOWN = 10
_OF_TOPIC = ("max_drop", "dropped", "max_rise", "risen")
_OF_RUN = ("score", "other_score", "rank", "other_rank", "drop")


def topic_moves(truth: NDArray[np.float64], estimate: NDArray[np.float64], names: Sequence[str]) -> pd.DataFrame:
    """Return per topic the most ranks that a run loses and gains, and which it is.

    Args:
        truth: (topics, runs) scores of the rankings taken as right.
        estimate: (topics, runs) of the others.
        names: of the runs.

    Returns:
        DataFrame: one row per topic: ``max_drop dropped max_rise risen``; of several runs the best one under the truth,
        None where none moves that way.
    """
    found: dict[str, list[Any]] = {name: [] for name in _OF_TOPIC}
    for before, after in zip(np.round(truth, DECIMALS), np.round(estimate, DECIMALS), strict=True):
        drops, best_first = pairs.rank_drops(before, after), np.argsort(-before, kind="stable")
        for most, who, signed in (("max_drop", "dropped", drops), ("max_rise", "risen", -drops)):
            place = best_first[int(signed[best_first].argmax())]
            found[most].append(max(int(signed[place]), 0))
            found[who].append(names[place] if signed[place] > 0 else None)
    return pd.DataFrame(found | {who: pd.Series(found[who], dtype=object) for who in ("dropped", "risen")})


def checked_selected(selected: Any, known: Sequence[str] | None = None) -> list[str] | None:
    """Return a user's ``selected=`` as run names, None for None.

    Args:
        selected: what the user gave.
        known: the runs that there are; None where that is not known yet.

    Raises:
        InputError: something that lists no names, or a name that is not known.
    """
    if selected is None:
        return None
    names = [selected] if isinstance(selected, str) else list(selected) if isinstance(selected, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise InputError(
            Argument("selected"), f" must be a run name or several, got {told(selected)}.", argument="selected"
        )
    strangers = [] if known is None else [name for name in names if name not in set(known)]
    if known is not None and strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        raise InputError(
            Argument("selected"),
            f" names {examples(strangers)}, not among the {count(len(known), 'run')}.{hint}",
            argument="selected",
        )
    return list(dict.fromkeys(names))


def selected_runs(
    changes: pd.DataFrame, run_table: pd.DataFrame, rates: pd.DataFrame, wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Return the rows of the runs that a paper shows, the best first by the first measure, under every measure.

    Args:
        changes: of all runs: ``name measure other_measure score other_score rank other_rank drop``.
        run_table: one row per run: ``name team type pooled``.
        rates: one row per run: ``unjudged_rate other_unjudged_rate``.
        wanted: the runs that a user asks for; None: those on record as not pooled, :data:`SHOWN` of them at most.

    Returns:
        DataFrame: ``why name team type pooled measure other_measure score other_score change rank other_rank drop
        unjudged_rate other_unjudged_rate``. ``why`` is ``best`` (of all, or of a type), ``median``, ``not pooled`` or
        ``selected``, several between commas.
    """
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
    by_measure = changes.set_index(["measure", "name"])
    rows = []
    for measure in measures:
        for name in shown:
            found = by_measure.loc[(measure, name)]
            rows.append(
                {
                    "why": ", ".join(reasons[name]),
                    "name": name,
                    **{column: of_run.loc[name, column] for column in ("team", "type", "pooled")},
                    "measure": measure,
                    "other_measure": found["other_measure"],
                    **{column: found[column] for column in _OF_RUN[:2]},
                    "change": found["other_score"] - found["score"],
                    **{column: int(found[column]) for column in _OF_RUN[2:]},
                    **rates.loc[name].to_dict(),
                }
            )
    return pd.DataFrame(rows).astype({"pooled": "boolean", "why": object, "name": object})
