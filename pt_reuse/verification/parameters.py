"""What a figure may say of how it is computed: the parameters, the values each takes, and the names of its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ir_measures

from pt_reuse._check import choice, count, did_you_mean, examples, flag, positive
from pt_reuse._errors import InputError
from pt_reuse.data.judgments import checked_rel
from pt_reuse.scoring.measures import parse_measures

#: the parameters of a figure, complete and checked: name -> value
Given: TypeAlias = Mapping[str, Any]
#: raises where no value of a figure can have a name under these parameters
CheckName: TypeAlias = Callable[[str, Given], None]

_RANKS = re.compile(r"(\d+)-(\d+)")
_COUNTED = ("runs", "teams", "pooled runs", "topics", "rows")


@dataclass(frozen=True)
class Parameter:
    """What a parameter of a figure may be.

    Attributes:
        checked: returns the value of a name as it is used, or raises; the third argument are the figures of the file
            that are scores of runs.
        usual: the value where none is given.
        needed: whether one must be given.
        says_what: whether it says what is computed, which the figure tells; else it says how, which the convention
            tells.
        told: returns the value as a convention tells it.
        untold: whether a convention need not tell a value; default the usual one.
    """

    checked: Callable[[str, Any, Sequence[str]], Any]
    usual: Any = None
    needed: str = ""
    says_what: bool = False
    told: Callable[[Any], str] = str
    untold: Callable[[Any], bool] | None = None

    def default(self) -> Any:
        """Return the usual value, or raise where one must be given."""
        if self.needed:
            raise InputError(f"the figure needs {self.needed}.", argument="measure")
        return self.usual

    def is_usual(self, value: Any) -> bool:
        """Return whether a convention need not tell the value."""
        return bool(value == self.usual) if self.untold is None else self.untold(value)


def one_of(*words: str, says_what: bool = False) -> Parameter:
    """Return a parameter that is one of several words, of which the first is the usual one."""
    return Parameter(lambda name, value, _: choice(name, value, words), words[0], says_what=says_what)


def whole_number(unit: str, usual: int | None = None) -> Parameter:
    """Return a parameter that is a whole number of at least 1; None where there need be none."""
    return Parameter(lambda name, value, _: positive(name, value, unit), usual)


def measures(*, alone: bool = False) -> Parameter:
    """Return a parameter that is a measure, or several, of which the mean is taken; `alone` where it must be one."""

    def checked(name: str, value: Any, scored: Sequence[str]) -> list[ir_measures.Measure]:
        found = parse_measures(value)
        if alone and len(found) > 1:
            raise InputError(f"the figure takes one measure, got {value!r}.", argument="measure")
        return found

    return Parameter(
        checked,
        needed='measure = "AP"' if alone else 'measure = "AP", or several to take the mean of',
        told=lambda value: " and ".join(map(str, value)),
        # the figure tells cutoffs
        untold=lambda value: not any(set(measure.params) - {"cutoff"} for measure in value),
    )


def _checked_truth(name: str, value: Any, scored: Sequence[str]) -> str:
    if not scored:
        raise InputError(f"{name} must be a figure of kind 'scores', and the file has none; got {value!r}.")
    return choice(name, value, scored)


def _checked_contributors(name: str, value: Any, scored: Sequence[str]) -> str | tuple[str, ...]:
    if isinstance(value, list) and value and all(isinstance(run, str) for run in value):
        return tuple(value)
    return choice(name, value, ("pooled", "all"))


#: whether scores are over all topics
COMPLETE = Parameter(lambda name, value, _: flag(name, value), True)
#: the published scores to compare with, by the name of their figure; None for the computed ones
TRUTH = Parameter(_checked_truth)
#: the lowest label that is relevant, 1 where none is given: a figure does not depend on what judgments say
GRADE = Parameter(lambda name, value, _: checked_rel(value) or 1, 1)
#: the runs that made a pool: those on record as pooled, all, or several by name
CONTRIBUTORS = Parameter(
    _checked_contributors, "pooled", told=lambda value: value if isinstance(value, str) else count(len(value), "run")
)


def any_name(name: str, given: Given) -> None:
    """Take runs, teams, types or prefixes: whether there is one of a name shows when it is computed."""


def listed(*names: str) -> CheckName:
    """Return a check that a name is listed."""

    def check(name: str, given: Given) -> None:
        if name not in names:
            raise InputError(
                f"the name of a value must be one of {examples(names, 12)}, got {name!r}.{did_you_mean(name, names)}"
            )

    return check


def ranks(name: str, given: Given) -> None:
    """Raise where a name is neither ``never`` nor ranks such as ``11-50``, no deeper than the pool."""
    if name == "never":
        return
    if _RANKS.fullmatch(name) is None:
        raise InputError(f"the names of the values must be ranks such as '11-50', or 'never', got {name!r}.")
    first, last = first_and_last(name)
    if not 1 <= first <= last <= given["depth"]:
        raise InputError(
            f"the names of the values must be ranks from 1 to the depth {given['depth']}, the better one first, "
            f"got {name!r}."
        )


def first_and_last(ranks: str) -> tuple[int, int]:
    """Return the ranks that a name such as ``11-50`` spans."""
    first, _, last = ranks.partition("-")
    return int(first), int(last)


def finite_numbers(name: str, given: Given) -> None:
    """Raise where a name is no finite number."""
    try:
        finite = math.isfinite(float(name))
    except ValueError:
        raise InputError(f"the names of the values must be numbers such as '0.9', got {name!r}.") from None
    if not finite:
        raise InputError(f"the names of the values must be finite numbers, got {name!r}.")


def counts_of_runs(name: str, given: Given) -> None:
    """Raise where a name is neither what is counted in run files, nor ``TYPE runs``."""
    if name not in _COUNTED and not type_of(name):
        raise InputError(
            f"the names of the values must be one of {examples(_COUNTED, 5)}, or a type as in 'manual runs', got "
            f"{name!r}."
        )


def type_of(name: str) -> str:
    """Return the type of which the runs are counted, empty where a name is no such count."""
    kind = name.removesuffix(" runs")
    return kind if kind != name and kind.strip() else ""
