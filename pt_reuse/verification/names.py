"""The names that the values of a figure may have, by its kind."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Protocol

from pt_reuse._check import did_you_mean, examples
from pt_reuse._errors import InputError
from pt_reuse.verification.parameters import Given

_RANKS = re.compile(r"(\d+)-(\d+)")
_COUNTED = ("runs", "teams", "pooled runs", "topics", "rows")


class Names(Protocol):
    """Which names values may have."""

    def check(self, name: str, given: Given) -> None:
        """Raise where no value can have a name under these parameters."""


class AnyName:
    """Runs, teams, types or prefixes: whether there is one of a name shows when it is computed."""

    def check(self, name: str, given: Given) -> None:
        """Take every name."""


@dataclass(frozen=True)
class OneOf:
    """Names that are listed."""

    names: tuple[str, ...]

    def check(self, name: str, given: Given) -> None:
        """Raise where a name is not listed."""
        if name not in self.names:
            raise InputError(
                f"the name of a value must be one of {examples(self.names, 12)}, got {name!r}."
                f"{did_you_mean(name, self.names)}"
            )


class Ranks:
    """Ranks from the first to the last, ``11-50``, no deeper than the pool; or ``never``."""

    def check(self, name: str, given: Given) -> None:
        """Raise where a name is no such ranks."""
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


class Numbers:
    """Finite numbers."""

    def check(self, name: str, given: Given) -> None:
        """Raise where a name is no finite number."""
        try:
            finite = math.isfinite(float(name))
        except ValueError:
            raise InputError(f"the names of the values must be numbers such as '0.9', got {name!r}.") from None
        if not finite:
            raise InputError(f"the names of the values must be finite numbers, got {name!r}.")


class CountsOfRuns:
    """What is counted in run files, and ``TYPE runs`` for each type."""

    def check(self, name: str, given: Given) -> None:
        """Raise where a name is no such count."""
        if name not in _COUNTED and not type_of(name):
            raise InputError(
                f"the names of the values must be one of {examples(_COUNTED, 5)}, or a type as in 'manual runs', got "
                f"{name!r}."
            )


def type_of(name: str) -> str:
    """Return the type of which the runs are counted, empty where a name is no such count."""
    kind = name.removesuffix(" runs")
    return kind if kind != name and kind.strip() else ""
