"""Judges by name, as studies take them, each perhaps of a family of models; their labels beside those of people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, did_you_mean, examples, told
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.data.asking import Asked, labels_by, name_of, rel_of, without_texts
from pt_reuse.data.frame_columns import LABELS
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel, is_collection
from pt_reuse.errors import InputError, located, warn
from pt_reuse.judging.judge import Judge, Oracle
from pt_reuse.judging.judge_folder import ALONE, JudgeFolder, read_judges


class AskedJudge(Judge):
    """A function of a frame, or a pipeline, that gives labels."""

    def __init__(self, asked: Asked):
        super().__init__(name_of(asked), rel=rel_of(asked))
        self._asked = asked

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, Any]:
        found = labels_by(self._asked, pairs.drop(columns=["label", "judge", "time"], errors="ignore"), self.name)
        return {column: found[column].array for column in found.columns}


def as_judge(value: Any, argument: str = "judge") -> Judge:
    """Return what a user gives as a judge as one."""
    if isinstance(value, Judge):
        return value
    if callable(value):
        return AskedJudge(value)
    return Oracle(as_qrels(value, argument))


#: what a user says of the scale of judges: from which label on they are relevant, or which label of people each label
#: is; one for all, or by judge
JudgeRel: TypeAlias = "int | Mapping[int, int] | Mapping[str, int | Mapping[int, int]] | None"


@dataclass(frozen=True)
class NamedJudge:
    """A judge under the name that it has in a study."""

    name: str  # what it is called
    judge: Judge  # who gives the labels
    rel: int | None = None  # the lowest of its labels that is relevant, None where neither the user nor the judge says
    family: str | None = None  # the family of models that it belongs to, None where nobody says
    grades: Mapping[int, int] | None = None  # its label -> the label of people that it stands for

    @property
    def fitted_on(self) -> Qrels | None:
        """Return the labels of people that the judge was fitted on, None where it was not."""
        fitted = getattr(self.judge, "fitted_on", None)
        return fitted if isinstance(fitted, Qrels) else None

    def labels(self, pairs: pd.DataFrame) -> pd.Series:
        """Return the label of each document, as `grades` say it, <NA> where the judge gives none."""
        with located(self.name):
            lacking = [column for column in self.judge.needs() if column not in pairs]
            if lacking:
                raise without_texts(lacking, pairs.columns)
            found: pd.Series = self.judge(pairs)["label"].astype("Int64")
            return found if self.grades is None else in_grades(found, self.grades)


#: what one judge may be given as
_JUDGES = (pd.DataFrame, Qrels, Judge, str, Path)


def as_judges(given: Any, argument: str = "judge", *, rel: Any = None, families: Any = None) -> list[NamedJudge]:
    """Return what a user gives as one judge, or as a dict of name -> judge, as judges by name; `rel` is `judge_rel`."""
    if isinstance(given, list | tuple) and given and all(isinstance(part, _JUDGES) or callable(part) for part in given):
        raise InputError(
            f"{argument} is a list of {len(given):,}. Give one judge, or a dict of name -> judge.", argument=argument
        )
    if isinstance(given, str | Path) and not is_collection(given):
        given = read_judges(given)
    if isinstance(given, JudgeFolder):
        families = given.label_families if families is None else families
        given = _labels_in(given, argument)
    several = _by_name(given, argument)
    if not several or not all(isinstance(name, str) and name.strip() for name in several):
        raise InputError(
            f"{argument} must have a text as the name of each judge, got {told(list(several))}.", argument=argument
        )
    by_judge = isinstance(rel, Mapping) and any(isinstance(key, str) for key in rel)
    rels = of_each(rel, several, "judge_rel") if by_judge else dict.fromkeys(several, rel)
    groups = of_each(families, several, "families")
    found = []
    for name, one in several.items():
        with located(name):
            judge = as_judge(one, argument)
        said = rels.get(name)
        grades = checked_grades(said) if isinstance(said, Mapping) else None
        lowest = judge.rel if said is None else checked_rel(said, "judge_rel") if grades is None else None
        family = groups.get(name, getattr(judge, "family", None))
        found.append(NamedJudge(name, judge, lowest, None if family is None else str(family), grades))
    return found


def in_grades(labels: pd.Series, grades: Mapping[int, int]) -> pd.Series:
    """Return the labels of people that labels stand for, <NA> where there is none (<NA>, or below 0)."""
    lacking = sorted(set(labels[labels >= 0].unique().tolist()) - set(grades))
    if lacking:
        raise InputError(
            f"judge_rel does not say which label of people {examples(lacking, 12)} of the judge stands for.",
            argument="judge_rel",
        )
    return labels.mask(labels < 0).map(grades, na_action="ignore").astype("Int64")


def checked_grades(given: Mapping[Any, Any]) -> dict[int, int]:
    """Return a user's mapping of a judge's labels to those of people, or say what is wrong with it."""
    if not given or not all(_is_label(value) for pair in given.items() for value in pair):
        what = "a label, or a dict of the judge's label -> the label of people"
        raise InputError(f"judge_rel must be {what}, got {told(dict(given))}.", argument="judge_rel")
    return {int(mine): int(theirs) for mine, theirs in given.items()}


def _is_label(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(LABELS[0] <= value <= LABELS[1])


def _labels_in(folder: JudgeFolder, argument: str) -> Mapping[str, Qrels]:
    """Return the labels of a folder of judges; a leaderboard has none."""
    boards = [name for name in folder.leaderboards if name not in folder.labels]
    if not folder.labels:
        raise InputError(f"{folder.folder}: a leaderboard has no labels. Give files of labels.", argument=argument)
    if boards:
        warn(f"{folder.folder}: {examples(boards)} left out: a leaderboard has no labels.")
    return folder.labels


def _by_name(given: Any, argument: str) -> dict[Any, Any]:
    if isinstance(given, Mapping):
        inner = [value for value in given.values() if isinstance(value, Mapping)]
        if not len(inner) == len(given) > 0 or any(isinstance(v, Mapping) for part in inner for v in part.values()):
            return dict(given)
        # topic -> document -> label
        return {ALONE: given}
    if callable(given):
        judge = as_judge(given, argument)
        return {judge.name: judge}
    return {ALONE: given}


def of_each(given: Any, judges: Mapping[str, Any], argument: str) -> dict[str, Any]:
    """Return what a user says of some judges by name, or say that it is no dict, or names a judge that is not there."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} must be a dict by judge, got {told(given)}.", argument=argument)
    for name in given:
        if name not in judges:
            there = f"which is none of the judges: {examples(list(judges), 12)}"
            # a short form of a long name is not near it
            near = did_you_mean(next((judge for judge in judges if judge.startswith(str(name))), name), judges)
            raise InputError(f"{argument} names {told(name)}, {there}.{near}", argument=argument)
    return dict(given)


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
        return cls(people.rel if rel is None else rel, people.arrays.highest)


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


def compared_labels(human: Qrels, judge: NamedJudge, *, missing: str = "unjudged") -> ComparedLabels:
    """Ask a judge for labels of the documents that people judged, and put both beside each other."""
    choice("missing", missing, MISSING)
    frame = human.to_frame()
    asked = frame.loc[frame["label"] >= 0, ["qid", "docno", "label"]].rename(columns={"label": "human"})
    labels = judge.labels(asked[["qid", "docno"]].reset_index(drop=True))
    _warn_of_fitted(human, judge)
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    if not known.any():
        with located(judge.name):
            none = f"the judge labelled none of the {count(len(asked), 'document')} that people judged. "
            alike = "Are these labels of the same collection, with ids written alike?"
            raise InputError(f"{none}{alike}", argument="judge")
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
    return Qrels.of_arrays(replace(labels.arrays, labels=scaled.astype(np.int16), scale=0), rel)


def _warn_of_fitted(human: Qrels, judge: NamedJudge) -> None:
    if judge.fitted_on is None:
        return
    n = int((judge.fitted_on.arrays.documents.find(human.arrays.documents) >= 0).sum())
    if n:
        with located(judge.name):
            warn(
                f"the judge was fitted on {n:,} of the {count(len(human), 'judgment')} of people, and agrees with "
                "these better than with others. Audit it on what it was not fitted on: judge.held_out."
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
        every = np.append(given, np.array(declared or (), dtype=np.int64))
        return lowest_relevant(every, people, judge=judge.name)


def lowest_relevant(
    labels: pd.Series | NDArray[np.integer[Any]], people: Scale, *, grades: bool = True, judge: str | None = None
) -> int:
    """Return from which label on a judge's labels are relevant where nobody says, the one place with this rule."""
    highest = int(np.asarray(labels, dtype=np.int64).max(initial=0))
    if highest > max(people.highest, 1):
        lowest = highest - 1
        raise InputError(
            f"the labels go up to {highest}, those of people to {people.highest}, so that it is not known which are "
            f"relevant (for people those from {people.rel} on). Say from which on they "
            f"are{', or which label of people each of them stands for' if grades else ''}, by judge_rel; where "
            f"those from {lowest} on are, judge_rel={(lowest if judge is None else {judge: lowest})!r}.",
            argument="judge_rel",
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
