"""Which conventions of a study are varied, and over which values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pt_reuse._check import did_you_mean, examples, told
from pt_reuse._choices import USUAL
from pt_reuse._errors import Argument, InputError
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.studies.varied_conventions.own_defaults import default_of
from pt_reuse.studies.varied_conventions.study_call import ORDER, StudyCall


@dataclass(frozen=True)
class Choice:
    """One value of a convention.

    Attributes:
        label: what it is called.
        value: what the study is given.
    """

    label: str
    value: Any


@dataclass(frozen=True)
class Convention:
    """A convention that is varied.

    Attributes:
        name: of the study's option, or :data:`ORDER`.
        choices: its values, the default among them.
        default: the value when others are varied.
    """

    name: str
    choices: tuple[Choice, ...]
    default: Choice

    @property
    def others(self) -> tuple[Choice, ...]:
        """Return the values other than the default."""
        return tuple(choice for choice in self.choices if choice.label != self.default.label)


@dataclass(frozen=True)
class Wanted:
    """What a user wants varied, before runs are read.

    Attributes:
        values: convention -> its values, None for the usual ones.
    """

    values: Mapping[str, tuple[Choice, ...] | None]

    def conventions(self, call: StudyCall, runs: RunSet, qrels: Qrels) -> list[Convention]:
        """Return the conventions with all their values on this field; those with a single value are left out."""
        found = []
        for name, choices in self.values.items():
            default = _default(name, call, runs, qrels, choices)
            given = _usual(name, default, runs, qrels) if choices is None else choices
            known = {default.label: default} | {choice.label: choice for choice in given}
            # in the order of the values, the default first where it is none of them
            labels = list(dict.fromkeys([choice.label for choice in given]))
            labels = labels if default.label in labels else [default.label, *labels]
            if len(labels) > 1:
                found.append(Convention(name, tuple(known[label] for label in labels), known[default.label]))
        return found


def checked_grid(grid: Any, call: StudyCall) -> Wanted:
    """Return what a user's ``grid=`` asks for, or say what is wrong with it.

    Args:
        grid: None; names of conventions; or a mapping of each to its values, or to a mapping of label -> value.
        call: the study.

    Raises:
        InputError: a convention that the study does not have, no values, two values of one label, or something else.
    """
    if grid is None:
        return Wanted({name: None for name in USUAL if call.has(name)})
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InputError(
            Argument("grid"),
            f" must be a dict of convention -> values, or names of conventions, got {told(grid)}.",
            argument="grid",
        )
    given = dict(grid) if isinstance(grid, Mapping) else dict.fromkeys(grid)
    if not given:
        raise InputError(Argument("grid"), " names no convention.", argument="grid")
    for name in given:
        if not isinstance(name, str) or not call.has(name):
            known = [ORDER, *call.options]
            raise InputError(
                Argument("grid"),
                f" names {told(name)}, which is no convention of {call.name}: it has {examples(known, 20)}."
                f"{did_you_mean(name, known)}",
                argument="grid",
            )
        if given[name] is None and name not in USUAL:
            raise InputError(
                Argument("grid"), f" must say which values of {name} to try: {{{name!r}: [...]}}.", argument="grid"
            )
    return Wanted({name: None if values is None else _choices(name, values) for name, values in given.items()})


def _choices(name: str, values: Any) -> tuple[Choice, ...]:
    if isinstance(values, Mapping):
        return tuple(Choice(str(label), value) for label, value in values.items())
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(Argument("grid"), f" must list several values of {name}, got {told(values)}.", argument="grid")
    choices = tuple(Choice(label_of(value), value) for value in values)
    if not choices:
        raise InputError(Argument("grid"), f" lists no value of {name}.", argument="grid")
    labels = [choice.label for choice in choices]
    again = [label for label in dict.fromkeys(labels) if labels.count(label) > 1]
    if again:
        raise InputError(
            Argument("grid"),
            f" has two values of {name} that are both called {again[0]}. Name them: {{{name!r}: {{'first': ..., "
            "'second': ...}}.",
            argument="grid",
        )
    return choices


def label_of(value: Any) -> str:
    """Return what a value is called: a word or number as it is, several by the first of them."""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return examples(list(value), 2)
    return "the study's own" if value is None else str(value)


def _default(name: str, call: StudyCall, runs: RunSet, qrels: Qrels, choices: tuple[Choice, ...] | None) -> Choice:
    """Return the value of a convention while others are varied: the user's, else what the study would take."""
    value = call.given(name)
    if name == ORDER:
        value = runs.order
    elif not call.knows_default(name) and choices:
        return choices[0]
    elif value is None:
        value = default_of(name, call.name, runs, qrels)
    return next((one for one in choices or () if one.value is value), Choice(label_of(value), value))


def _usual(name: str, default: Choice, runs: RunSet, qrels: Qrels) -> Sequence[Choice]:
    """Return the usual values of a convention on a field."""
    if name in (ORDER, "pool_order"):
        values: list[Any] = [*BY_SCORE, "file", *(["rank"] if bool(np.all(runs.field.ranked)) else [])]
    elif name == "contributors":
        some = runs.pooled.notna() & ~runs.pooled.fillna(True).astype(bool)
        # where all runs were pooled, these two are one
        values = ["pooled", "all"] if some.any() and not some.all() else []
    elif name == "depth":
        values = [max(1, default.value // 2), default.value, 2 * default.value] if default.value else []
    elif name == "rel":
        values = [label for label in np.unique(qrels.arrays.labels).tolist() if label >= 1]
    else:
        values = [True, False] if name == "complete" else ["relevant", "judged"]
    return [Choice(label_of(value), value) for value in dict.fromkeys(values)]
