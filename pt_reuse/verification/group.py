"""A group of published figures: computed under every convention, judged under the one that explains it best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError
from pt_reuse.verification.figures import KINDS, Computed, Convention
from pt_reuse.verification.published import PublishedFigure
from pt_reuse.verification.replay import NotComputedError, Replay


@dataclass(frozen=True)
class Attempt:
    """What came out under one convention.

    Attributes:
        convention: the convention.
        numbers: name -> number, for the names that have one.
        reasons: name -> why it has none.
        strangers: the names of nothing: no run, team or type of the field or on record.
        untried: why nothing at all could be computed, empty where it could.
    """

    convention: Convention
    numbers: dict[str, float]
    reasons: dict[str, str]
    strangers: frozenset[str] = frozenset()
    untried: str = ""

    def agrees(self, figure: PublishedFigure, name: str) -> bool:
        """Return whether a name's number is as published."""
        return name in self.numbers and figure.values[name].agrees(self.numbers[name], self.convention.rounding)

    def is_known(self, figure: PublishedFigure, name: str) -> bool:
        """Return whether a name's number is not as published, but what is known to come out."""
        stated = figure.computed.get(name)
        return stated is not None and name in self.numbers and stated.agrees(self.numbers[name])

    def explained(self, figure: PublishedFigure) -> int:
        """Return how many numbers are as published, or known not to be."""
        return sum(self.agrees(figure, name) or self.is_known(figure, name) for name in self.numbers)

    def largest_difference(self, figure: PublishedFigure) -> float:
        """Return by how much a number differs from the published one at most."""
        return max((abs(n - figure.values[name].number) for name, n in self.numbers.items()), default=np.nan)


def replay_group(
    figure: PublishedFigure,
    conventions: list[Convention],
    replay: Replay,
    submitted: Sequence[str],
    missing: Sequence[str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute a group of figures under every convention and judge it under one.

    The one is the first that explains all figures; else the one that explains most, of several the closest.

    Args:
        figure: the group.
        conventions: the ways to compute it.
        replay: the runs and judgments.
        submitted: the runs on record; empty where there is no record.
        missing: those of them that are not here.

    Returns:
        a row per figure and a row per convention, as in :class:`~pt_reuse.verification.verification.Verification`.
    """
    attempts = [_attempt(figure, convention, replay, submitted, missing) for convention in conventions]
    numbered = {name for attempt in attempts for name in attempt.numbers}
    chosen = max(attempts, key=lambda attempt: (attempt.explained(figure), -_steps_off(figure, attempt)))
    # a convention that cannot be tried here may be the one, unless another explains everything
    untried = "" if chosen.explained(figure) == len(numbered) else next((a.untried for a in attempts if a.untried), "")
    rows = [_row(figure, name, chosen, untried) for name in figure.values]
    # None, True and False: neither a flag nor a number
    equal = pd.Series([row["equal"] for row in rows], dtype=object)
    tried = [
        {
            "what": figure.what, "convention": attempt.convention.label, "figures": len(attempt.numbers),
            "equal": sum(attempt.agrees(figure, name) for name in attempt.numbers),
            "largest_difference": attempt.largest_difference(figure),
        }
        for attempt in attempts
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(equal=equal), pd.DataFrame(tried)


def summarise(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the row of a group in a verification's summary."""
    equal, unequal = (int(rows["equal"].map(lambda equal, is_=is_: equal is is_).sum()) for is_ in (True, False))
    return {
        "what": rows["what"][0], "figures": len(rows), "equal": equal, "unequal": unequal,
        "known": int(rows["known"].sum()), "not_computed": len(rows) - equal - unequal,
        "largest_difference": rows["difference"].abs().max(),
        "convention": next((label for label in rows["convention"] if label), ""),
        "note": "; ".join(dict.fromkeys(note for note in rows["note"] if note)),
    }  # fmt: skip


def _attempt(
    figure: PublishedFigure, convention: Convention, replay: Replay, submitted: Sequence[str], missing: Sequence[str]
) -> Attempt:
    names, kind = list(figure.values), KINDS[figure.kind]
    found: Computed = {}
    untried = ""
    if missing and kind.needs == "all runs":
        untried = f"{count(len(missing), 'run')} missing: {examples(missing)}"
    else:
        try:
            found = kind.compute(replay, convention.given, names)
        except (NotComputedError, InputError) as error:
            untried = str(error)
    numbers, reasons, strangers = {}, {}, set()
    for name in names:
        number = found.get(name)
        if isinstance(number, str):
            reasons[name] = number
        elif number is not None and np.isnan(number):
            reasons[name] = "it is not defined for these runs"
        elif number is not None:
            numbers[name] = float(number)
        elif kind.needs == "runs" and name in missing:
            reasons[name] = untried or "its run file is missing"
        elif not untried or (kind.needs == "runs" and submitted and name not in submitted):
            strangers.add(name)
            near = get_close_matches(name, [*found, *(missing if kind.needs == "runs" else ())], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            reasons[name] = f"nothing is named {name!r}, neither in the field nor on record{hint}"
        else:
            reasons[name] = untried
    return Attempt(convention, numbers, reasons, frozenset(strangers), untried)


def _steps_off(figure: PublishedFigure, attempt: Attempt) -> float:
    """Return the largest difference in steps of the last published digit, infinite where nothing was computed."""
    steps = [abs(n - figure.values[name].number) / figure.values[name].unit for name, n in attempt.numbers.items()]
    return max(steps, default=np.inf)


def _row(figure: PublishedFigure, name: str, chosen: Attempt, untried: str) -> dict[str, Any]:
    value = figure.values[name]
    row: dict[str, Any] = {
        "what": figure.what, "name": name, "published": value.number, "computed": np.nan, "equal": None,
        "known": False, "difference": np.nan, "unit": value.unit, "convention": "", "source": figure.source,
        "note": "",
    }  # fmt: skip
    if name not in chosen.numbers:
        # what names nothing is an error in the figures or in the field, not a gap
        equal = False if name in chosen.strangers else None
        return row | {"equal": equal, "note": f"not computed: {chosen.reasons[name]}"}
    number, equal, known = chosen.numbers[name], chosen.agrees(figure, name), chosen.is_known(figure, name)
    if untried and not equal and not known:
        return row | {"note": f"not computed: {untried}"}
    return row | {
        "computed": number, "equal": equal, "known": known and not equal, "difference": number - value.number,
        "convention": chosen.convention.label, "note": figure.differs if known and not equal else "",
    }  # fmt: skip
