"""A group of published figures: computed under every convention, judged under the one that explains it best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any

import numpy as np

from pt_reuse._check import choice, count, examples
from pt_reuse._errors import InputError, located
from pt_reuse.verification.published import KINDS, Kind, Needs, PublishedFigure, Rounding
from pt_reuse.verification.replay import Computed, Given, NotComputedError, Parameter, Reason, Replay, because, one_of


class Status(Enum):
    """What came out for a figure."""

    EQUAL = "equal"
    UNEQUAL = "unequal"
    #: unequal, and what was computed is what is known to come out
    KNOWN = "known to differ"
    #: nothing in the field or on record has the name: an error in the figures or in the field, not a gap
    NAMELESS = "of no such name"
    NOT_COMPUTED = "not computed"


#: a figure that is not as published, for whatever reason
DIFFERING = (Status.UNEQUAL, Status.KNOWN, Status.NAMELESS)


@dataclass(frozen=True)
class Verdict:
    """What is said of a figure: how it compares with what was published, and why there is no number."""

    status: Status
    reason: Reason | None = None


@dataclass(frozen=True)
class Outcome:
    """What came out for one value of a figure: a number under a convention, or neither."""

    figure: PublishedFigure
    name: str
    verdict: Verdict
    convention: str = ""
    computed: float = np.nan

    @property
    def difference(self) -> float:
        """Return computed - published, NaN where there is no number."""
        return self.computed - self.figure.values[self.name].number

    @property
    def note(self) -> str:
        """Return why there is no number, or why it is known to differ."""
        if self.verdict.reason is not None:
            return f"not computed: {self.verdict.reason}"
        return self.figure.differs if self.verdict.status is Status.KNOWN else ""

    def row(self) -> dict[str, Any]:
        """Return the row of a verification's table."""
        value, status = self.figure.values[self.name], self.verdict.status
        return {
            "what": self.figure.what,
            "name": self.name,
            "published": value.number,
            "computed": self.computed,
            # None, True and False: neither a flag nor a number
            "equal": None if status is Status.NOT_COMPUTED else status is Status.EQUAL,
            "known": status is Status.KNOWN,
            "difference": self.difference,
            "unit": value.unit,
            "convention": self.convention,
            "source": self.figure.source,
            "note": self.note,
        }


#: what a convention always tells, in this order; all else where it is not as usual
_ALWAYS = ("order", "contributors")
_ROUNDING = one_of(*(rounding.value for rounding in Rounding))


@dataclass(frozen=True)
class Convention:
    """One way to compute a figure: all its parameters, and what its numbers depend on, in one line."""

    given: Given
    rounding: Rounding
    label: str


def conventions_of(figure: PublishedFigure, figures: Sequence[PublishedFigure]) -> list[Convention]:
    """Return the ways to compute a figure, in the order in which its file lists them.

    Raises:
        InputError: a kind, a parameter or a name that there is not.
    """
    scored = [other.what for other in figures if other.kind == "scores"]
    with located(figure.place):
        kind = KINDS[choice("kind", figure.kind, tuple(KINDS))]
        return [_convention(figure, kind, overlay, scored) for overlay in figure.conventions]


def _convention(figure: PublishedFigure, kind: Kind, overlay: Mapping[str, Any], scored: Sequence[str]) -> Convention:
    parameters: dict[str, Parameter] = {**kind.parameters, "rounding": _ROUNDING}
    own = {**figure.parameters, **overlay}
    odd = [name for name in own if name not in parameters]
    if odd:
        known = examples(parameters, 20)
        raise InputError(f"kind {figure.kind!r} has no parameter {examples(odd)}; it has {known}.")
    given = {
        name: parameter.checked(name, own[name], scored) if name in own else parameter.default()
        for name, parameter in parameters.items()
    }
    _check_values(figure, kind, given)
    return Convention(given, Rounding(given["rounding"]), _label(parameters, given, overlay))


def _label(parameters: Mapping[str, Parameter], given: Given, overlay: Mapping[str, Any]) -> str:
    """Return what the numbers depend on: order and contributors, and whatever else is not as usual."""
    first = [name for name in _ALWAYS if name in parameters]
    # what a convention lays over the rest comes last, even where it is as usual
    last = [name for name in overlay if name not in first]
    between = [
        name
        for name, parameter in parameters.items()
        # what is computed is told by the figure, how it is computed here
        if name not in first and name not in last and not parameter.says_what and not parameter.is_usual(given[name])
    ]
    return ", ".join(f"{name}={parameters[name].told(given[name])}" for name in (*first, *between, *last))


def _check_values(figure: PublishedFigure, kind: Kind, given: Given) -> None:
    for name, value in figure.values.items():
        kind.check_name(name, given)
        # 0 would stand for all from -.5 to .5
        if not kind.is_count(name, given) and value.unit >= 1 and not value.declared:
            raise InputError(
                f"{value.number:.10g} is a whole number, and this is no count: write the decimals that were published, "
                f'"{value.number:.4f}", or say how many there were, decimals = 4.',
                place=repr(name),
            )


@dataclass(frozen=True)
class Attempt:
    """What came out under one convention.

    Attributes:
        figure: the group.
        convention: the convention.
        numbers: name -> number, for the names that have one.
        reasons: name -> why it has none.
        strangers: the names of nothing: no run, team or type of the field or on record.
        untried: why nothing at all could be computed, None where it could.
    """

    figure: PublishedFigure
    convention: Convention
    numbers: Mapping[str, float]
    reasons: Mapping[str, Reason]
    strangers: frozenset[str]
    untried: Reason | None

    def status(self, name: str) -> Status:
        """Return how the number of a name compares with the published one."""
        if self.figure.values[name].agrees(self.numbers[name], self.convention.rounding):
            return Status.EQUAL
        stated = self.figure.computed.get(name)
        return Status.KNOWN if stated is not None and stated.agrees(self.numbers[name]) else Status.UNEQUAL

    @property
    def explained(self) -> int:
        """Return how many numbers are as published, or known not to be."""
        return sum(self.status(name) is not Status.UNEQUAL for name in self.numbers)

    def differences(self) -> list[tuple[float, float]]:
        """Return by how much each number differs from the published one, and in steps of its last digit."""
        values = [(self.figure.values[name], number) for name, number in self.numbers.items()]
        return [(abs(n - value.number), abs(n - value.number) / value.unit) for value, n in values]

    def row(self) -> dict[str, Any]:
        """Return the row of a verification's conventions."""
        return {
            "what": self.figure.what,
            "convention": self.convention.label,
            "figures": len(self.numbers),
            "equal": sum(self.status(name) is Status.EQUAL for name in self.numbers),
            "largest_difference": max((off for off, _ in self.differences()), default=np.nan),
        }


@dataclass(frozen=True)
class Group:
    """A group of figures: one outcome per value, under the convention it is judged by, and an attempt under each."""

    figure: PublishedFigure
    outcomes: tuple[Outcome, ...]
    attempts: tuple[Attempt, ...]

    def summary(self) -> dict[str, Any]:
        """Return the row of a verification's summary."""
        statuses = [outcome.verdict.status for outcome in self.outcomes]
        off = [abs(outcome.difference) for outcome in self.outcomes if not np.isnan(outcome.difference)]
        return {
            "what": self.figure.what,
            "figures": len(statuses),
            "equal": statuses.count(Status.EQUAL),
            "unequal": sum(map(statuses.count, DIFFERING)),
            "known": statuses.count(Status.KNOWN),
            "not_computed": statuses.count(Status.NOT_COMPUTED),
            "largest_difference": max(off, default=np.nan),
            "convention": next(filter(None, (outcome.convention for outcome in self.outcomes)), ""),
            "note": "; ".join(dict.fromkeys(outcome.note for outcome in self.outcomes if outcome.note)),
        }


def replay_group(figure: PublishedFigure, conventions: Sequence[Convention], replay: Replay) -> Group:
    """Compute a group of figures under every convention and judge it under one.

    The one is the first that explains all figures; else the one that explains most, of several the closest.
    """
    attempts = tuple(_attempt(figure, convention, replay) for convention in conventions)
    numbered = {name for attempt in attempts for name in attempt.numbers}
    closest = {id(a): max((steps for _, steps in a.differences()), default=np.inf) for a in attempts}
    chosen = max(attempts, key=lambda attempt: (attempt.explained, -closest[id(attempt)]))
    # a convention that cannot be tried here may be the one, unless another explains everything
    whole = chosen.explained == len(numbered)
    untried = None if whole else next((attempt.untried for attempt in attempts if attempt.untried), None)
    return Group(figure, tuple(_outcome(chosen, name, untried) for name in figure.values), attempts)


def _attempt(figure: PublishedFigure, convention: Convention, replay: Replay) -> Attempt:
    kind, missing = KINDS[figure.kind], replay.material.missing
    found, untried = Computed({}), None
    if missing and kind.needs is Needs.ALL_RUNS:
        untried = because(f"{count(len(missing), 'run')} missing: {examples(missing)}")
    else:
        try:
            found = kind.compute(replay, convention.given, list(figure.values))
        except NotComputedError as error:
            untried = error.reason
        except InputError as error:
            untried = because(error)
    numbers, reasons = {}, dict(found.reasons)
    strangers = set()
    for name in figure.values:
        number = found.numbers.get(name)
        if number is not None and np.isnan(number):
            reasons[name] = because("it is not defined for these runs")
        elif number is not None:
            numbers[name] = float(number)
        elif name not in reasons and _is_stranger(name, kind, replay, untried):
            strangers.add(name)
            reasons[name] = _nameless(name, kind, replay, found)
        elif name not in reasons:
            reasons[name] = untried or because("its run file is missing")
    return Attempt(figure, convention, numbers, reasons, frozenset(strangers), untried)


def _is_stranger(name: str, kind: Kind, replay: Replay, untried: Reason | None) -> bool:
    """Return whether a name without a number is that of nothing, as far as it is known."""
    if kind.needs is not Needs.RUNS:
        return untried is None
    if name in replay.material.missing:
        return False
    submitted = replay.material.submitted
    return untried is None or bool(submitted and name not in submitted)


def _nameless(name: str, kind: Kind, replay: Replay, found: Computed) -> Reason:
    known = [*found.numbers, *found.reasons, *(replay.material.missing if kind.needs is Needs.RUNS else ())]
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return because(f"nothing is named {name!r}, neither in the field nor on record{hint}")


def _outcome(chosen: Attempt, name: str, untried: Reason | None) -> Outcome:
    figure = chosen.figure
    if name not in chosen.numbers:
        status = Status.NAMELESS if name in chosen.strangers else Status.NOT_COMPUTED
        return Outcome(figure, name, Verdict(status, chosen.reasons[name]))
    status = chosen.status(name)
    if untried is not None and status is Status.UNEQUAL:
        return Outcome(figure, name, Verdict(Status.NOT_COMPUTED, untried))
    return Outcome(figure, name, Verdict(status), chosen.convention.label, chosen.numbers[name])
