"""A group of published figures: computed under every convention, judged under the one that explains it best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError
from pt_reuse.verification.computed import Computed, NotComputedError, Reason, because
from pt_reuse.verification.conventions import Convention
from pt_reuse.verification.kinds import KINDS, Kind, Needs
from pt_reuse.verification.outcome import DIFFERING, Outcome, Status, Verdict
from pt_reuse.verification.published import PublishedFigure
from pt_reuse.verification.replay import Replay


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

    def agrees(self, name: str) -> bool:
        """Return whether a name's number is as published."""
        return name in self.numbers and self.figure.values[name].agrees(self.numbers[name], self.convention.rounding)

    def is_known(self, name: str) -> bool:
        """Return whether a name's number is what is known to come out in place of the published one."""
        stated = self.figure.computed.get(name)
        return stated is not None and name in self.numbers and stated.agrees(self.numbers[name])

    @property
    def equal(self) -> int:
        """Return how many numbers are as published."""
        return sum(self.agrees(name) for name in self.numbers)

    @property
    def explained(self) -> int:
        """Return how many numbers are as published, or known not to be."""
        return sum(self.agrees(name) or self.is_known(name) for name in self.numbers)

    @property
    def largest_difference(self) -> float:
        """Return by how much a number differs from the published one at most, NaN where nothing was computed."""
        return max((abs(n - self.figure.values[name].number) for name, n in self.numbers.items()), default=np.nan)

    @property
    def steps_off(self) -> float:
        """Return the largest difference in steps of the last published digit, infinite where nothing was computed."""
        values = self.figure.values
        steps = [abs(n - values[name].number) / values[name].unit for name, n in self.numbers.items()]
        return max(steps, default=np.inf)

    def row(self) -> dict[str, Any]:
        """Return the row of a verification's conventions."""
        return {
            "what": self.figure.what,
            "convention": self.convention.label,
            "figures": len(self.numbers),
            "equal": self.equal,
            "largest_difference": self.largest_difference,
        }


@dataclass(frozen=True)
class Group:
    """A group of figures, computed under every convention.

    Attributes:
        figure: the group.
        outcomes: one per value, under the convention it is judged by.
        attempts: what came out under each convention.
    """

    figure: PublishedFigure
    outcomes: tuple[Outcome, ...]
    attempts: tuple[Attempt, ...]

    def summary(self) -> dict[str, Any]:
        """Return the row of a verification's summary."""
        statuses = [outcome.verdict.status for outcome in self.outcomes]
        off = [abs(outcome.difference) for outcome in self.outcomes if not np.isnan(outcome.difference)]
        labels = [outcome.convention.label for outcome in self.outcomes if outcome.convention]
        return {
            "what": self.figure.what,
            "figures": len(statuses),
            "equal": statuses.count(Status.EQUAL),
            "unequal": sum(map(statuses.count, DIFFERING)),
            "known": statuses.count(Status.KNOWN),
            "not_computed": statuses.count(Status.NOT_COMPUTED),
            "largest_difference": max(off, default=np.nan),
            "convention": next(filter(None, labels), ""),
            "note": "; ".join(dict.fromkeys(outcome.note for outcome in self.outcomes if outcome.note)),
        }


def replay_group(figure: PublishedFigure, conventions: Sequence[Convention], replay: Replay) -> Group:
    """Compute a group of figures under every convention and judge it under one.

    The one is the first that explains all figures; else the one that explains most, of several the closest.

    Args:
        figure: the group.
        conventions: the ways to compute it.
        replay: the runs and judgments.

    Returns:
        Group: what came out for each figure, and under each convention.
    """
    attempts = tuple(_attempt(figure, convention, replay) for convention in conventions)
    numbered = {name for attempt in attempts for name in attempt.numbers}
    chosen = max(attempts, key=lambda attempt: (attempt.explained, -attempt.steps_off))
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
    equal, known = chosen.agrees(name), chosen.is_known(name)
    if untried is not None and not equal and not known:
        return Outcome(figure, name, Verdict(Status.NOT_COMPUTED, untried))
    status = Status.EQUAL if equal else Status.KNOWN if known else Status.UNEQUAL
    return Outcome(figure, name, Verdict(status), chosen.convention, chosen.numbers[name])
