"""Judges by name, as studies of labels by a model take them: one, or several, each perhaps of a family of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import did_you_mean, examples, told
from pt_reuse._errors import Argument, Call, InputError, arguments_as, located, warn
from pt_reuse.judging.given import as_judge
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.judge_files import ALONE
from pt_reuse.judging.judge_folder import JudgeFolder, read_judges
from pt_reuse.judging.oracle import Oracle
from pt_reuse.qrels.judgments import Qrels, as_qrels, checked_rel


@dataclass(frozen=True)
class NamedJudge:
    """A judge under the name that it has in a study.

    Attributes:
        name: what it is called.
        judge: who gives the labels.
        rel: the lowest of its labels that is relevant, None where neither the user nor the judge says.
        family: the family of models that it belongs to, None where nobody says.
    """

    name: str
    judge: Judge
    rel: int | None = None
    family: str | None = None

    @property
    def fitted_on(self) -> Qrels | None:
        """Return the labels of people that the judge was fitted on, None where it was not."""
        given = getattr(self.judge, "fitted_on", None)
        return given if isinstance(given, Qrels) else None

    def labels(self, pairs: pd.DataFrame) -> pd.Series:
        """Return the label of each document, <NA> where the judge gives none.

        Args:
            pairs: the documents, one a row: ``qid docno``, and what else the judge reads.

        Raises:
            InputError: a judge that reads what is not there, or what it answers is no label.
        """
        with located(self.name):
            lacking = [column for column in self.judge.needs() if column not in pairs]
            if lacking:
                raise InputError(
                    f"the judge reads {examples(lacking)}, and is given {examples(pairs.columns, 12)}. Hand it queries "
                    "and texts: ",
                    Call("judging.WithTexts", "judge, topics=..., texts=..."),
                    ".",
                    argument="judge",
                )
            found: pd.Series = self.judge(pairs)["label"]
        return found.astype("Int64")


def as_judges(
    given: Any, argument: str = "judge", *, rel: Any = None, families: Any = None, rel_argument: str = "judge_rel"
) -> list[NamedJudge]:
    """Return what a user gives as one judge, or as a dict of name -> judge, as judges by name.

    Args:
        given: judgments in any form, a :class:`Judge`, a function or a pipeline, see :func:`as_judge`; or a mapping of
            name -> one of these. A mapping of topic -> document -> label is judgments. A folder of judges, or a file of
            one, is read by :func:`read_judges`, and says the families where `families` does not.
        argument: what the user calls it, for errors.
        rel: the lowest label of a judge that is relevant: one for all, or a mapping of name -> label; None for what
            the judges say themselves.
        families: a mapping of name -> family; None for what the judges say themselves (``judge.family``).
        rel_argument: what the user calls `rel`, for errors.

    Raises:
        InputError: no judge, a judge that is none, a `rel` or a family of a judge that is not there.
    """
    _check_one_or_named(given, argument)
    if isinstance(given, str | Path):
        with arguments_as(folder=argument):
            given = read_judges(given)
    if isinstance(given, JudgeFolder):
        families = given.label_families if families is None else families
        given = _labels_in(given, argument)
    several = _by_name(given, argument)
    if not several:
        raise InputError("there is no judge.", argument=argument)
    for name in several:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"the name of a judge must be a text, got {told(name)}.", argument=argument)
    rels = of_each(rel, several, rel_argument) if isinstance(rel, Mapping) else dict.fromkeys(several, rel)
    groups = of_each(families, several, "families")
    found = []
    for name, one in several.items():
        with located(name):
            judge = _judge_of(one, argument)
        with arguments_as(rel=rel_argument):
            lowest = checked_rel(rels.get(name))
        family = groups.get(name, getattr(judge, "family", None))
        found.append(
            NamedJudge(name, judge, judge.rel if lowest is None else lowest, None if family is None else str(family))
        )
    return found


def _check_one_or_named(given: Any, argument: str) -> None:
    """Raise where several judges come without names, in a list."""
    one = (pd.DataFrame, Qrels, Judge, str, Path)
    if isinstance(given, list | tuple) and given and all(isinstance(part, one) or callable(part) for part in given):
        raise InputError(
            Argument(argument),
            f" is a list of {len(given):,}. Give one judge, or a dict of name -> judge.",
            argument=argument,
        )


def _labels_in(folder: JudgeFolder, argument: str) -> Mapping[str, Qrels]:
    """Return the labels of a folder of judges; a leaderboard has none."""
    boards = [name for name in folder.leaderboards if name not in folder.labels]
    if not folder.labels:
        raise InputError(f"{folder.folder}: a leaderboard has no labels. Give files of labels.", argument=argument)
    if boards:
        warn(f"{folder.folder}: {examples(boards)} left out: a leaderboard has no labels.")
    return folder.labels


def _by_name(given: Any, argument: str) -> dict[Any, Any]:
    if isinstance(given, Mapping) and not _is_nested(given):
        return dict(given)
    if isinstance(given, Judge):
        return {given.name: given}
    if callable(given):
        judge = as_judge(given, argument)
        return {judge.name: judge}
    return {ALONE: given}


def _is_nested(given: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is topic -> document -> label, and not name -> judge."""
    inner = [value for value in given.values() if isinstance(value, Mapping)]
    return len(inner) == len(given) > 0 and not any(isinstance(v, Mapping) for part in inner for v in part.values())


def _judge_of(value: Any, argument: str) -> Judge:
    if isinstance(value, Judge) or callable(value):
        return as_judge(value, argument)
    return Oracle(as_qrels(value, argument))


def of_each(given: Any, judges: Mapping[str, Any], argument: str) -> dict[str, Any]:
    """Return what a user says of some judges by name, or say that it is no dict, or names a judge that is not there.

    Args:
        given: a mapping of judge -> what is said of it; None for nothing.
        judges: all judges by name.
        argument: what the user calls it.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            Argument(argument), f" must be a dict of judge -> family, got {told(given)}.", argument=argument
        )
    strange = [name for name in given if name not in judges]
    if strange:
        raise InputError(
            Argument(argument),
            f" names {examples(strange)}, and the judges are {examples(list(judges), 12)}."
            f"{did_you_mean(str(strange[0]), list(judges))}",
            argument=argument,
        )
    return dict(given)
