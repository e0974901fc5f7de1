"""Judges by name, as studies of labels by a model take them: one, or several, each perhaps of a family of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pt_reuse._check import did_you_mean, examples, told
from pt_reuse._errors import InputError, arguments_as, located, warn, wrong
from pt_reuse.data.asking import Asked, labels_by, name_of, rel_of, without_texts
from pt_reuse.data.frame_columns import LABELS
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
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


def as_judges(
    given: Any, argument: str = "judge", *, rel: Any = None, families: Any = None, rel_argument: str = "judge_rel"
) -> list[NamedJudge]:
    """Return what a user gives as one judge, or as a dict of name -> judge, as judges by name."""
    if isinstance(given, list | tuple) and given and all(isinstance(part, _JUDGES) or callable(part) for part in given):
        raise wrong(argument, f" is a list of {len(given):,}. Give one judge, or a dict of name -> judge.")
    if isinstance(given, str | Path):
        with arguments_as(folder=argument):
            given = read_judges(given)
    if isinstance(given, JudgeFolder):
        families = given.label_families if families is None else families
        given = _labels_in(given, argument)
    several = _by_name(given, argument)
    if not several or not all(isinstance(name, str) and name.strip() for name in several):
        raise wrong(argument, f" must have a text as the name of each judge, got {told(list(several))}.")
    by_judge = isinstance(rel, Mapping) and any(isinstance(key, str) for key in rel)
    rels = of_each(rel, several, rel_argument) if by_judge else dict.fromkeys(several, rel)
    groups = of_each(families, several, "families")
    found = []
    for name, one in several.items():
        with located(name):
            judge = as_judge(one, argument)
        said = rels.get(name)
        grades = checked_grades(said, rel_argument) if isinstance(said, Mapping) else None
        with arguments_as(rel=rel_argument):
            lowest = judge.rel if said is None else checked_rel(said) if grades is None else None
        family = groups.get(name, getattr(judge, "family", None))
        found.append(NamedJudge(name, judge, lowest, None if family is None else str(family), grades))
    return found


def in_grades(labels: pd.Series, grades: Mapping[int, int], argument: str = "judge_rel") -> pd.Series:
    """Return the labels of people that labels stand for, <NA> where there is none (<NA>, or below 0)."""
    lacking = sorted(set(labels[labels >= 0].unique().tolist()) - set(grades))
    if lacking:
        raise wrong(argument, f" does not say which label of people {examples(lacking, 12)} of the judge stands for.")
    return labels.mask(labels < 0).map(grades, na_action="ignore").astype("Int64")


def checked_grades(given: Mapping[Any, Any], argument: str) -> dict[int, int]:
    """Return a user's mapping of a judge's labels to those of people, or say what is wrong with it."""
    if not given or not all(_is_label(value) for pair in given.items() for value in pair):
        what = "a label, or a dict of the judge's label -> the label of people"
        raise wrong(argument, f" must be {what}, got {told(dict(given))}.")
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
    strange = [name for name in given if name not in judges] if isinstance(given, Mapping) else [given]
    if strange:
        what = f"a dict by judge, with names of these judges: {examples(list(judges), 12)}"
        near = did_you_mean(str(strange[0]), list(judges))
        raise wrong(argument, f" must be {what}, got {told(given)}.{near}")
    return dict(given)
