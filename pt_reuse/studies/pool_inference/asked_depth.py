"""What a user asks for: a depth found for all topics, found for each, or given, and how much may be unjudged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from numbers import Real
from typing import Any

from pt_reuse._errors import Argument, InputError
from pt_reuse.pooling.depth import checked_depth
from pt_reuse.studies.pool_inference.fitting import Fit, Fitter

#: the tolerances that are tried where none is given
TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1)


class Way(Enum):
    """How a depth comes about, in the words in which settings show it."""

    COMMON = "inferred"
    BY_TOPIC = "inferred for each topic"
    GIVEN = "given"


@dataclass(frozen=True)
class AskedDepth:
    """What was asked for.

    Attributes:
        ways: how the depth may come about, the simplest first.
        depth: the depth that is given, 0 where it is to be found.
    """

    ways: tuple[Way, ...]
    depth: int = 0

    def fit(self, fitter: Fitter, way: Way) -> Fit:
        """Return the depths of the topics, and the runs that are judged to them."""
        if way is Way.COMMON:
            return fitter.common_depth()
        if way is Way.BY_TOPIC:
            return fitter.own_depths()
        return fitter.settle(fitter.ranks.depths(self.depth), self.depth)


def read_depth(depth: Any) -> AskedDepth:
    """Return what a user's ``depth=`` asks for.

    Raises:
        InputError: neither None, ``"common"``, ``"topic"`` nor a whole number that can be a rank.
    """
    if depth is None:
        return AskedDepth((Way.COMMON, Way.BY_TOPIC))
    if isinstance(depth, str):
        if depth not in ("common", "topic"):
            raise InputError(
                Argument("depth"),
                f" must be None, 'common', 'topic' or a whole number, got {depth!r}.",
                argument="depth",
            )
        return AskedDepth((Way.COMMON if depth == "common" else Way.BY_TOPIC,))
    return AskedDepth((Way.GIVEN,), checked_depth(depth))


def read_tolerance(tolerance: Any) -> tuple[float, ...]:
    """Return the tolerances that a user's ``tolerance=`` asks for, the smallest first.

    Raises:
        InputError: neither None nor a share of a run that may be unjudged.
    """
    if tolerance is None:
        return TOLERANCES
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= float(tolerance) < 1:
        raise InputError(
            Argument("tolerance"),
            f" must be a share, at least 0 and below 1, got {tolerance!r}.",
            argument="tolerance",
        )
    return (float(tolerance),)
