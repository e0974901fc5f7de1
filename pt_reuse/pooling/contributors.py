"""Who contributes to a pool: the one place that resolves ``contributors="pooled"``, ``"all"`` or run names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, count, did_you_mean, examples
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.runs.run_set import RunSet


class Rule(Enum):
    """Which runs of a field contribute to a pool."""

    POOLED = "pooled"
    ALL = "all"
    NAMED = "named"


@dataclass(frozen=True)
class Contributors:
    """The runs of a field that contribute to a pool.

    Attributes:
        rule: by which they were chosen.
        runs: (runs,) which runs of the field they are; at least one.
        assumed: the names of those that count only because nobody recorded whether they were pooled.
    """

    rule: Rule
    runs: NDArray[np.bool_]
    assumed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.runs.sum())

    @property
    def note(self) -> str:
        """Return in words what was assumed, nothing where nothing was."""
        if not self.assumed:
            return ""
        if len(self.assumed) == len(self.runs):
            return "who was pooled is not on record: all count"
        return f"not on record for {count(len(self.assumed), 'run')}, counted all the same"

    def __str__(self) -> str:
        """Return rule, number and assumption: ``pooled (71 of 129 runs)``."""
        note = f"; {self.note}" if self.note else ""
        return f"{self.rule.value} ({len(self):,} of {count(len(self.runs), 'run')}{note})"


def contributors_of(runs: RunSet, contributors: str | Iterable[str]) -> Contributors:
    """Return the runs of a field that contribute to a pool.

    Args:
        runs: the field.
        contributors: ``"pooled"``, the runs on record as pooled and those of which nobody recorded it; ``"all"``; or
            run names.

    Raises:
        InputError: another word, an unknown run, no contributing run.
    """
    if isinstance(contributors, str):
        if contributors in runs and contributors not in (Rule.POOLED.value, Rule.ALL.value):
            raise InputError(
                Argument("contributors"),
                " is the name of a run. Give run names as a list: ",
                Option("contributors", [contributors]),
                ".",
                argument="contributors",
            )
        rule = Rule(choice("contributors", contributors, (Rule.POOLED.value, Rule.ALL.value)))
        if rule is Rule.ALL:
            return Contributors(rule, np.ones(len(runs), dtype=bool))
        unknown = runs.pooled.isna().to_numpy()
        chosen = runs.pooled.fillna(True).to_numpy(dtype=bool)
        if not chosen.any():
            raise InputError(
                "no run is marked as pooled. Pass ",
                Option("contributors", Rule.ALL.value),
                ", or mark runs with ",
                Option("pooled", ...),
                ".",
                argument="contributors",
            )
        return Contributors(rule, chosen, tuple(runs.names[row] for row in np.flatnonzero(unknown).tolist()))
    names = named_contributors(contributors, runs.names)
    chosen = np.zeros(len(runs), dtype=bool)
    chosen[[runs.row(name) for name in names]] = True
    return Contributors(Rule.NAMED, chosen)


def named_contributors(contributors: Any, known: Sequence[str] | None = None) -> list[Any]:
    """Return the run names that a user's ``contributors=`` lists.

    Args:
        contributors: what the user gave.
        known: the runs that there are; None where that is not known yet.

    Raises:
        InputError: something that lists no names, or a name that is not known.
    """
    if not isinstance(contributors, Iterable):
        raise InputError(
            Argument("contributors"),
            f" must be 'pooled', 'all' or run names, got {type(contributors).__name__}.",
            argument="contributors",
        )
    names = list(contributors)
    if not names:
        raise InputError(
            Argument("contributors"), " names no run. Give 'pooled', 'all' or run names.", argument="contributors"
        )
    if known is None:
        return names
    there = set(known)
    strangers = [name for name in names if not isinstance(name, str) or name not in there]
    if strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        raise InputError(
            Argument("contributors"),
            f" names {examples(strangers)}, not among the {count(len(known), 'run')}.{hint}",
            argument="contributors",
        )
    return names
