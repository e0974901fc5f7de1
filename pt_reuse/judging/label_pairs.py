"""Labels of a judge for documents that people did not judge, or are taken not to have judged, on the people's scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse._errors import Argument, Attribute, InputError, located, warn
from pt_reuse.arrays.rescore import UNJUDGED
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.judges import NamedJudge

#: what becomes of a document that people judged and the judge gave no label
MISSING = ("unjudged", "drop")


@dataclass(frozen=True)
class Scale:
    """The scale on which people judge, as far as their judgments tell."""

    rel: int
    highest: int

    @classmethod
    def of(cls, people: Qrels, rel: int | None = None) -> Scale:
        """Return the scale of judgments, relevant from `rel` on, by default from where they say."""
        return cls(people.rel if rel is None else rel, int(people.arrays.labels.max(initial=0)))


@dataclass(frozen=True)
class ComparedLabels:
    """What people and one judge say of the documents that people judged."""

    name: str
    family: str | None
    human: Qrels  # the judgments of people on the topics that count; with ``missing="drop"`` of what the judge labelled
    judge: Qrels  # the labels of the judge for these documents, on its own scale, relevant from `judge_rel` on
    judge_rel: int
    pairs: pd.DataFrame  # ``qid docno human judge``, one row per document that both labelled
    left: pd.DataFrame  # ``qid docno human``
    without: tuple[str, ...]  # topics in which people judged and the judge labelled nothing, which do not count
    grades: Mapping[int, int] | None = None  # label of the judge -> the label of people for which it is taken

    @property
    def missing(self) -> int:
        """Return how many documents on the topics that count people judged and the judge did not."""
        return len(self.left)

    @property
    def rel(self) -> int:
        return self.human.rel

    @property
    def on_scale(self) -> Qrels:
        """Return the labels of the judge as measures take them, so that people and judge agree what is relevant."""
        return on_scale(self.judge, self.judge_rel, self.rel)

    def words(self) -> str:
        told = f"{scale_words(self.judge_rel, self.grades)}; {count(len(self.pairs), 'document')} of both"
        told += f", {self.missing:,} missing" if self.missing else ""
        return told + (f", {count(len(self.without), 'topic')} without labels" if self.without else "")


def compared_labels(
    human: Qrels, judge: NamedJudge, *, missing: str = "unjudged", texts: pd.DataFrame | None = None
) -> ComparedLabels:
    """Ask a judge for labels of the documents that people judged, and put both beside each other."""
    choice("missing", missing, MISSING)
    frame = human.to_frame()
    asked = frame.loc[frame["label"] >= 0, ["qid", "docno", "label"]].rename(columns={"label": "human"})
    shown = asked[["qid", "docno"]] if texts is None else asked[["qid", "docno"]].merge(texts, how="left")
    labels = judge.labels(shown.reset_index(drop=True))
    _warn_of_fitted(human, judge)
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    if not known.any():
        with located(judge.name):
            none = f"the judge labelled none of the {count(len(asked), 'document')} that people judged. "
            alike = "Are these labels of the same collection, with ids written alike?"
            raise InputError(none, alike, argument="judge")
    pairs = asked.assign(judge=labels.to_numpy(dtype=float, na_value=np.nan))[known]
    pairs = pairs.assign(judge=pairs["judge"].astype(np.int64)).reset_index(drop=True)
    there, judged = set(pairs["qid"]), set(asked["qid"])
    topics = [topic for topic in human.topics if topic in there]
    without = tuple(topic for topic in human.topics if topic in judged and topic not in there)
    unjudged = [topic for topic in human.topics if topic not in judged]
    if unjudged:
        warn(
            f"people judged nothing in {count(len(unjudged), 'topic')} of their judgments, where every label is "
            f"negative: {examples(unjudged)}. The study is of the other {len(judged):,}."
        )
    if without:
        with located(judge.name):
            warn(
                f"the judge labelled nothing in {count(len(without), 'topic')} that people judged: "
                f"{examples(without)}. The study is of the other {len(topics):,}."
            )
    left = asked[asked["qid"].isin(there).to_numpy() & ~known].reset_index(drop=True)
    theirs = Qrels(pairs.rename(columns={"judge": "label"})[["qid", "docno", "label"]], topics=topics)
    both = human.select(topics) if len(topics) < len(human.topics) else human
    if missing == "drop":
        both = both.restrict(theirs)
    lowest = lowest_of(judge, pairs["judge"], Scale.of(human))
    return ComparedLabels(
        name=judge.name,
        family=judge.family,
        human=both,
        judge=theirs.with_rel(lowest),
        judge_rel=lowest,
        pairs=pairs,
        left=left,
        without=without,
        grades=judge.grades,
    )


def on_scale(labels: Qrels, judge_rel: int, rel: int) -> Qrels:
    """Return labels that are relevant from `judge_rel` on as ones that are relevant from `rel` on."""
    if judge_rel == rel:
        return labels.with_rel(rel)
    scaled = values_on_scale(labels.arrays.labels.astype(np.int64), judge_rel, rel)
    return Qrels.of_arrays(labels.arrays.labelled(scaled.astype(np.int16)), rel)


def _warn_of_fitted(human: Qrels, judge: NamedJudge) -> None:
    if judge.fitted_on is None:
        return
    n = int((judge.fitted_on.arrays.documents.find(human.arrays.documents) >= 0).sum())
    if n:
        with located(judge.name):
            warn(
                f"the judge was fitted on {n:,} of the {count(len(human), 'judgment')} of people, and agrees with "
                "these better than with others. Audit it on what it was not fitted on: ",
                Attribute("judge.held_out"),
                ".",
            )


def values_on_scale(given: NDArray[np.int64], judge_rel: int, rel: int) -> NDArray[np.int64]:
    """Return labels of a judge as :func:`on_scale` does, as numbers."""
    if judge_rel == rel:
        return given
    return np.where(given >= judge_rel, np.maximum(given, rel), np.minimum(given, rel - 1))


def lowest_of(judge: NamedJudge, labels: pd.Series | NDArray[np.int64], people: Scale) -> int:
    """Return the lowest label of a judge that is relevant: what is said of it, else what its labels tell."""
    if judge.rel is not None:
        return judge.rel
    if judge.grades is not None:
        return people.rel
    # few documents may have low labels alone, of a judge that has higher ones for others
    known, declared = judge.judge.known_pairs(), judge.judge.declared_labels()
    given = np.asarray(labels if known is None else judge.labels(known).dropna(), dtype=np.int64)
    with located(judge.name):
        return lowest_relevant(np.append(given, np.array(declared or (), dtype=np.int64)), people)


def lowest_relevant(
    labels: pd.Series | NDArray[np.integer[Any]], people: Scale, argument: str = "judge_rel", *, grades: bool = True
) -> int:
    """Return from which label on a judge's labels are relevant where nobody says, the one place with this rule."""
    highest = int(np.asarray(labels, dtype=np.int64).max(initial=0))
    if highest > max(people.highest, 1):
        raise InputError(
            f"the labels go up to {highest}, those of people to {people.highest}, so that it is not known which are "
            f"relevant (for people those from {people.rel} on). Say from which on they are"
            f"{', or which label of people each of them stands for' if grades else ''}, by ",
            Argument(argument),
            ".",
            argument=argument,
        )
    return 1 if len(labels) and highest <= 1 else people.rel


def scale_words(judge_rel: int, grades: Mapping[int, int] | None) -> str:
    """Return what counts as relevant for a judge, and for what its labels are taken, for settings."""
    told = f"relevant from label {judge_rel}"
    if grades is None:
        return told
    return f"{told} of people, {', '.join(f'{mine} being {theirs}' for mine, theirs in sorted(grades.items()))}"


@dataclass(frozen=True)
class HoleLabels:
    """What one judge says of documents, an array of labels on the scale of people, UNJUDGED where it gave none."""

    name: str
    judge_rel: int
    labels: NDArray[np.int16]
    highest: int | None = None
    grades: Mapping[int, int] | None = None

    @property
    def known(self) -> NDArray[np.bool_]:
        return self.labels != UNJUDGED

    def words(self) -> str:
        told = f"{self.name}: {count(len(self.labels), 'document')} asked, {scale_words(self.judge_rel, self.grades)}"
        told += "" if self.highest is None else f", labels above {self.highest} taken for {self.highest}"
        unknown = int((~self.known).sum())
        return told + (f", {unknown:,} without a label" if unknown else "")


def labels_of_holes(judge: NamedJudge, documents: pd.DataFrame, people: Scale) -> HoleLabels:
    """Ask a judge for the labels of documents, all in one frame, and bring them to the scale of people."""
    given = judge.labels(documents.reset_index(drop=True))
    known = (given >= 0).fillna(False).to_numpy(dtype=bool)
    values = given[known].to_numpy(dtype=np.int64)
    lowest = lowest_of(judge, values, people)
    scaled = values_on_scale(values, lowest, people.rel)
    # beside labels of people a higher one would weigh more than the best that these found
    most = max(people.highest, people.rel)
    lowered = judge.grades is None and bool((scaled > most).any())
    labels = np.full(len(documents), UNJUDGED, dtype=np.int16)
    labels[known] = np.minimum(scaled, most) if lowered else scaled
    return HoleLabels(judge.name, lowest, labels, most if lowered else None, judge.grades)
