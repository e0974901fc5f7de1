"""The parameters of a figure: what values each takes, and how it is told in a convention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ir_measures

from pt_reuse._check import choice, count, flag, positive
from pt_reuse._errors import InputError
from pt_reuse.qrels.judgments import checked_rel
from pt_reuse.scoring.measures import parse_measures

#: the parameters of a figure, complete and checked: name -> value
Given: TypeAlias = Mapping[str, Any]


class Parameter(ABC):
    """What a parameter of a figure may be.

    Attributes:
        says_what: whether it says what is computed, which the figure tells; else it says how, which the convention
            tells.
    """

    says_what = False

    @abstractmethod
    def usual(self) -> Any:
        """Return the value where none is given, or raise where one must be."""

    @abstractmethod
    def checked(self, name: str, value: Any, scored: Sequence[str]) -> Any:
        """Return the value of a name as it is used, or raise.

        Args:
            name: of the parameter.
            value: as the file has it.
            scored: the figures of the file that are scores of runs.
        """

    def is_usual(self, value: Any) -> bool:
        """Return whether a convention need not tell the value."""
        return bool(value == self.usual())

    def told(self, value: Any) -> str:
        """Return the value as a convention tells it."""
        return str(value)


@dataclass(frozen=True)
class Choice(Parameter):
    """One of several words, of which the first is the usual one."""

    words: tuple[str, ...]
    says_what: bool = False

    def usual(self) -> str:
        """Return the first word."""
        return self.words[0]

    def checked(self, name: str, value: Any, scored: Sequence[str]) -> str:
        """Return a word that is among those known."""
        return choice(name, value, self.words)


@dataclass(frozen=True)
class Flag(Parameter):
    """True or False."""

    default: bool

    def usual(self) -> bool:
        """Return the default."""
        return self.default

    def checked(self, name: str, value: Any, scored: Sequence[str]) -> bool:
        """Return True or False."""
        return flag(name, value)


@dataclass(frozen=True)
class Count(Parameter):
    """A whole number of at least 1, in a unit; None as the default where there need be none."""

    unit: str
    default: int | None = None

    def usual(self) -> int | None:
        """Return the default."""
        return self.default

    def checked(self, name: str, value: Any, scored: Sequence[str]) -> int:
        """Return a whole number."""
        return positive(name, value, self.unit)


@dataclass(frozen=True)
class Measures(Parameter):
    """A measure that must be given, or several, of which the mean is taken; `alone` where it must be one."""

    alone: bool = False

    def usual(self) -> list[ir_measures.Measure]:
        """Raise: there is no usual measure."""
        more = "" if self.alone else ", or several to take the mean of"
        raise InputError(f'the figure needs measure = "AP"{more}.', argument="measure")

    def checked(self, name: str, value: Any, scored: Sequence[str]) -> list[ir_measures.Measure]:
        """Return the measures."""
        measures = parse_measures(value)
        if self.alone and len(measures) > 1:
            raise InputError(f"the figure takes one measure, got {value!r}.", argument="measure")
        return measures

    def is_usual(self, value: list[ir_measures.Measure]) -> bool:
        """Return whether the measures have no parameter but a cutoff: the figure tells those."""
        return not any(set(measure.params) - {"cutoff"} for measure in value)

    def told(self, value: list[ir_measures.Measure]) -> str:
        """Return the measures with ``and`` between them."""
        return " and ".join(map(str, value))


@dataclass(frozen=True)
class Truth(Parameter):
    """The published scores to compare with, by the name of their figure; None for the computed ones."""

    def usual(self) -> None:
        """Return None: the computed scores."""

    def checked(self, name: str, value: Any, scored: Sequence[str]) -> str:
        """Return the name of a figure of scores."""
        if not scored:
            raise InputError(f"{name} must be a figure of kind 'scores', and the file has none; got {value!r}.")
        return choice(name, value, scored)


class Grade(Parameter):
    """The lowest label that is relevant, 1 where none is given: a figure does not hang on what judgments say."""

    def usual(self) -> int:
        """Return 1."""
        return 1

    def checked(self, name: str, value: Any, scored: Sequence[str]) -> int:
        """Return a grade."""
        found = checked_rel(value)
        return self.usual() if found is None else found


class Contributors(Parameter):
    """The runs that made a pool: those on record as pooled, all, or several by name."""

    def usual(self) -> str:
        """Return the runs on record."""
        return "pooled"

    def checked(self, name: str, value: Any, scored: Sequence[str]) -> str | tuple[str, ...]:
        """Return a word, or names."""
        if isinstance(value, list) and value and all(isinstance(run, str) for run in value):
            return tuple(value)
        return choice(name, value, ("pooled", "all"))

    def told(self, value: str | tuple[str, ...]) -> str:
        """Return the word, or how many runs there are."""
        return value if isinstance(value, str) else count(len(value), "run")
