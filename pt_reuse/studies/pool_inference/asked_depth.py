"""What a user asks for: a depth found for all topics, found for each, or given, and how much may be unjudged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from numbers import Real
from typing import Any

from pt_reuse._errors import Argument, InputError
from pt_reuse.pooling.depth import checked_depth
from pt_reuse.studies.pool_inference.judged_ranks import JudgedRanks, Settled


class Way(Enum):
    """How a depth comes about, in the words in which settings show it."""

    COMMON = "inferred"
    BY_TOPIC = "inferred for each topic"
    GIVEN = "given"


@dataclass(frozen=True)
class AskedDepth:
    """What was asked for.

    Attributes:
        way: how the depth comes about.
        depth: the depth that is given, 0 where it is to be found.
    """

    way: Way
    depth: int = 0

    def settle(self, ranks: JudgedRanks) -> Settled:
        """Return the depths of the topics, and the runs that are judged to them."""
        if self.way is Way.COMMON:
            return ranks.common_depth()
        if self.way is Way.BY_TOPIC:
            return ranks.own_depths()
        return ranks.settle(ranks.depths(self.depth), self.depth)


def read_depth(depth: Any) -> AskedDepth:
    """Return what a user's ``depth=`` asks for.

    Raises:
        InputError: neither None, ``"topic"`` nor a whole number that can be a rank.
    """
    if depth is None:
        return AskedDepth(Way.COMMON)
    if isinstance(depth, str):
        if depth != "topic":
            raise InputError(
                Argument("depth"), f" must be None, 'topic' or a whole number, got {depth!r}.", argument="depth"
            )
        return AskedDepth(Way.BY_TOPIC)
    return AskedDepth(Way.GIVEN, checked_depth(depth))


def check_tolerance(tolerance: float) -> None:
    """Raise unless a user's ``tolerance=`` is a share of a run that may be unjudged."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= tolerance < 1:
        raise InputError(
            Argument("tolerance"),
            f" must be a share, at least 0 and below 1, got {tolerance!r}.",
            argument="tolerance",
        )
