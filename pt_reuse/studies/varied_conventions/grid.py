"""Conventions of a study that are varied, and the call of the study under each of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from pt_reuse._check import did_you_mean, examples, listed, told
from pt_reuse._choices import USUAL
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse._result import Result
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import DepthFrom, depth_of
from pt_reuse.scoring.run_scores import score
from pt_reuse.studies.type_pools import DEPTH

_Resolve: TypeAlias = Callable[[RunSet, Qrels], Any]


def _depth_by_type(runs: RunSet, _: Qrels) -> int:
    asked = depth_of(runs, None)
    return DEPTH if asked.origin is DepthFrom.DEFAULT else asked.value


def _nothing(*_: Any) -> None:
    """Return nothing: the study says it by itself, of what it is given."""


_COMMON: Mapping[str, _Resolve] = {
    "pool_order": lambda runs, _: runs.pool_order or runs.order,
    "depth": lambda runs, _: depth_of(runs, None).value,
    "rel": lambda _, qrels: qrels.rel,
}
#: study -> the conventions that it takes otherwise than most
_OWN: Mapping[str, Mapping[str, _Resolve]] = {
    "by_type": {"depth": _depth_by_type},
    # the depth is that of the lists, and ranks are those of scoring
    "minimum_ranks": {
        "depth": lambda runs, _: int(runs.field.lengths.max(initial=1)),
        "pool_order": lambda runs, _: runs.order,
    },
    # the pool is what it looks for
    "infer_pool": {"depth": _nothing},
    # with a judge that fills it is another one, which the result says
    "leave_out_uniques": {"remove": lambda *_: "relevant"},
    # each of the two sets of judgments has its own
    "compare_judgments": {"rel": _nothing},
}


def default_of(convention: str, study: str, runs: RunSet, qrels: Qrels) -> Any:
    """Return the value that a study takes for a convention that nobody gives, None where it has a way of its own."""
    resolve = {**_COMMON, **_OWN.get(study, {})}.get(convention, _nothing)
    return resolve(runs, qrels)


class KeptOrders(RunSet):
    """Runs that keep each ranking order that they are put into, as does what is put into another order.

    A study pools in one order and scores in another, so that each of its calls would sort the whole field.
    """

    _kept: dict[str, AnyField]

    @classmethod
    def of(cls, runs: RunSet) -> KeptOrders:
        """Return runs so, pooled in the order in which they are pooled, in whatever order they are put."""
        how = HowPooled(runs.pool_order or runs.order, runs.pool_depth)
        return cls._made(runs, runs.order, how, {runs.order: runs.field})

    @classmethod
    def _made(cls, runs: RunSet, order: str, how: HowPooled, kept: dict[str, AnyField]) -> KeptOrders:
        made = cls(kept[order], runs._table, order, how, runs._dropped)
        made._kept = kept
        return made

    def reorder(self, order: str) -> RunSet:
        """Return the runs in another ranking order, see :meth:`RunSet.reorder`."""
        if order not in self._kept:
            self._kept[order] = super().reorder(order).field
        return self._made(self, order, self.how_pooled, self._kept)

    def __reduce__(self) -> Any:
        """Return the runs alone: another process has no use for the other orders."""
        return RunSet, (self.field, self._table, self.order, self.how_pooled, self._dropped)


#: the order in which documents are ranked for scoring: of the runs, not of the study
ORDER = "order"
#: a function of runs and judgments, or of judgments or scores, with options, that returns a result
Study: TypeAlias = Callable[..., Result]
#: options of scoring, which a study of scores has besides its own -> their defaults
_OF_SCORING = {"complete": True, "without_topics": "error"}
_DATA = ("runs", "qrels", "measures", "scores")
_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_EMPTY = inspect.Parameter.empty


class Takes(Enum):
    """What a study is a function of."""

    RUNS = "runs and judgments"
    QRELS = "judgments"
    QRELS_AND_RUNS = "judgments and, by name, runs"
    SCORES = "scores"


@dataclass(frozen=True)
class StudyCall:
    """A study and the options that it is called with.

    Attributes:
        study: the function.
        name: what it is called.
        takes: what it is a function of.
        options: the options that it takes, besides data and measures -> their defaults; of a study of scores those of
            scoring, too.
        takes_any: whether it takes options that it does not name.
        fixed: the options that the user gives.
    """

    study: Study
    name: str
    takes: Takes
    options: Mapping[str, Any]
    takes_any: bool
    fixed: Mapping[str, Any]

    @classmethod
    def of(cls, study: Any, measures: Any, options: Mapping[str, Any]) -> StudyCall:
        """Return the call of a study, or say why it cannot be called so.

        Args:
            study: what the user gives as a study.
            measures: what the user gives as measures, None for nothing.
            options: what else the user gives.

        Raises:
            InputError: what is no function of such data, measures for a study that takes none, none for one that needs
                them, an option that the study does not have.
        """
        parameters = _parameters(study)
        # the function within a partial one bears the name
        name: str = getattr(study, "__name__", getattr(getattr(study, "func", study), "__name__", "the study"))
        takes, data = _data(name, parameters)
        own = {one.name: one.default for one in parameters.values() if one.kind in _NAMED}
        taken = {option: default for option, default in own.items() if option not in (*data, "measures")}
        taken |= _OF_SCORING if takes is Takes.SCORES else {}
        takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        # what can be read once only is needed in every combination
        measures, *given = (list(one) if isinstance(one, Iterator) else one for one in (measures, *options.values()))
        call = cls(study, name, takes, taken, takes_any, dict(zip(options, given, strict=True)))
        default = _EMPTY if takes is Takes.SCORES else own.get("measures")
        if measures is not None:
            if takes is not Takes.SCORES and "measures" not in own and not takes_any:
                raise InputError(f"{name} takes no measures.", argument="measures")
            call = replace(call, fixed={**call.fixed, "measures": measures})
        elif default is _EMPTY:
            raise InputError(f"{name} needs measures. Give ", Option("measures", ...), ".", argument="measures")
        unknown = [option for option in options if not call.has(option)]
        if unknown:
            raise InputError(
                f"{name} has no option {examples(unknown)}; it has {examples(taken, 20)}."
                f"{did_you_mean(unknown[0], taken)}",
                argument=unknown[0],
            )
        return call

    @property
    def unusual(self) -> dict[str, Any]:
        """Return what the user gives that is not the study's default."""

        def usual(name: str, value: Any) -> bool:
            default = self.options.get(name, _EMPTY)
            return value is default or (isinstance(value, str | int | float) and value == default)

        return {name: value for name, value in self.fixed.items() if not usual(name, value)}

    def check_complete(self, varied: Mapping[str, Any]) -> None:
        """Raise where neither the user nor the grid gives an option that the study needs."""
        missing = [one for one, default in self.options.items() if default is _EMPTY and one not in self.fixed]
        missing = [one for one in missing if not varied.get(one)]
        if missing:
            raise InputError(
                f"{self.name} needs {listed(missing)}, besides {self.takes.value}. Give ",
                Option(missing[0], ...),
                ".",
                argument=missing[0],
            )

    def has(self, name: str) -> bool:
        """Return whether a convention can be varied: the order of the runs, or an option of the study."""
        if name == ORDER:
            return self.takes is not Takes.QRELS
        return name in self.options or (self.takes_any and name.isidentifier() and name not in _DATA)

    def knows_default(self, name: str) -> bool:
        """Return whether the user or the study says what an option is where it is not varied."""
        return name in self.fixed or self.options.get(name, _EMPTY) is not _EMPTY

    def given(self, name: str) -> Any:
        """Return what the user gives for an option, else the study's default, else None."""
        found = self.fixed.get(name, self.options.get(name))
        return None if found is _EMPTY else found

    def under(self, runs: RunSet, qrels: Qrels, conventions: Mapping[str, Any]) -> Result:
        """Return the study's result under conventions."""
        options = {**self.fixed, **conventions}
        if self.takes is Takes.QRELS:
            return self.study(qrels, **options)
        if self.takes is Takes.QRELS_AND_RUNS:
            return self.study(qrels, runs=runs, **options)
        if self.takes is Takes.RUNS:
            return self.study(runs, qrels, **options)
        of_scoring = {name: options.pop(name) for name in ("measures", *_OF_SCORING) if name in options}
        return self.study(score(runs, qrels, **of_scoring), **options)


def _parameters(study: Any) -> Mapping[str, inspect.Parameter]:
    try:
        if callable(study):
            return inspect.signature(study).parameters
    except ValueError:
        # a function of C, of which nobody knows what it takes
        pass
    raise InputError(
        Argument("study"),
        f" must be a function of runs and judgments, such as leave_out_uniques, got {told(study)}.",
        argument="study",
    )


def _data(name: str, parameters: Mapping[str, inspect.Parameter]) -> tuple[Takes, tuple[str, ...]]:
    """Return what a study is a function of, and the parameters that take it."""
    placed = [one.name for one in parameters.values() if one.kind in _PLACED]
    if placed[:1] == ["scores"]:
        return Takes.SCORES, ("scores",)
    if placed[:1] == ["qrels"]:
        return (Takes.QRELS_AND_RUNS, ("qrels", "runs")) if "runs" in parameters else (Takes.QRELS, ("qrels",))
    anything = any(one.kind is one.VAR_POSITIONAL for one in parameters.values())
    elsewhere = "runs" in parameters and placed[:1] != ["runs"]
    # the first two are the runs and the judgments, however they are called
    if (len(placed) > 1 or anything) and not elsewhere:
        return Takes.RUNS, tuple(placed[:2])
    raise InputError(
        f"{name} is a function of {listed(placed) or 'nothing'}. Give one of runs and judgments, of judgments (qrels), "
        "or of scores.",
        argument="study",
    )


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
