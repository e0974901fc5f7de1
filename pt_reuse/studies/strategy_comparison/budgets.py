"""Budgets: how many judgments each topic gets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import told
from pt_reuse._errors import InputError
from pt_reuse.arrays.stratified import share_of

#: steps of the curve when budgets are numbers of judgments
_STEPS = 100
#: shares that differ by less are one point of the curve
_NEAR = 1e-9


@dataclass(frozen=True)
class Budgets:
    """Budgets in rising order: shares of each topic's judged pool, or judgments per topic.

    Attributes:
        values: the budgets.
        shares: whether they are shares.
    """

    values: tuple[float, ...]
    shares: bool

    @property
    def unit(self) -> str:
        """Return what the values count, in words."""
        return "share of each topic's judged pool, to the nearest judgment" if self.shares else "judgments per topic"

    def judgments(self, value: float, n_judged: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (topics,): how many judgments a budget gives to topics that have so many judged documents.

        A share is rounded to the nearest whole number, halves up.
        """
        if not self.shares:
            return np.minimum(n_judged, int(value))
        return np.array([share_of(value, n) for n in n_judged.tolist()], dtype=np.int64)

    def curve(self, most: int) -> list[float]:
        """Return the points of the curve: every per cent, or a hundred steps, up to the largest budget."""
        last = self.values[-1]
        if self.shares:
            even = [step / 100 for step in range(math.floor(round(100 * last, 9)) + 1)]
            # a budget that is a per cent but for rounding stands on the curve already
            other = [value for value in self.values if min(abs(value - point) for point in even) > _NEAR]
            return sorted([*even, *other])
        end = min(last, most)
        return sorted({*(math.floor(end * step / _STEPS) for step in range(_STEPS + 1)), *self.values})


def checked_budgets(budgets: Any) -> Budgets:
    """Return a user's ``budgets=``, or say what is wrong with them.

    Raises:
        InputError: no budget, one below zero, shares above 1, shares beside numbers of judgments.
    """
    single = isinstance(budgets, int | float | np.number)
    given = [budgets] if single else budgets.reshape(-1) if isinstance(budgets, np.ndarray) else budgets
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"budgets must be one number or several, got {told(budgets)}.", argument="budgets")
    values = list(given)
    if not values:
        raise InputError(
            "budgets must be one number or several: shares such as .1, or whole numbers.", argument="budgets"
        )
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value >= 0:
            raise InputError(f"a budget must be a number, 0 or more, got {told(value)}.", argument="budgets")
        if isinstance(value, float | np.floating) and value > 1:
            raise InputError(
                f"a share of the judgments must be at most 1, got {told(value)}. Give a whole number for judgments per "
                "topic.",
                argument="budgets",
            )
    shares = [isinstance(value, float | np.floating) for value in values]
    if len(set(shares)) > 1:
        raise InputError(
            "budgets must be all shares (such as .1) or all whole numbers of judgments per topic, got both: "
            f"{told(values)}. All judgments are the share 1.0.",
            argument="budgets",
        )
    numbers = sorted({float(value) if shares[0] else int(value) for value in values})
    return Budgets(tuple(numbers), shares[0])
