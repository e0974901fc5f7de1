"""Budget: how many labels may be had, of each topic and in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pt_reuse._check import told, whole
from pt_reuse._errors import Argument, InputError
from pt_reuse.engine.shares import share_of


@dataclass(frozen=True)
class Budget:
    """How many labels a judge may give; a document to which it gives none costs nothing.

    Attributes:
        per_topic: of each topic: a number of labels, a share of its pool (a float), or None for the whole pool.
        total: of all topics together, None for no such bound.
    """

    per_topic: int | float | None = None
    total: int | None = None

    @classmethod
    def checked(cls, budget: Any, total: Any) -> Budget:
        """Return a user's ``budget=`` and ``total=``, or say what is wrong with them."""
        return cls(_of_topic(budget), None if total is None else whole("total", total, "judgments in all", least=0))

    def of_pool(self, size: int) -> int:
        """Return how many labels a topic may have whose pool has some size.

        A share is rounded to the nearest whole number, halves up.
        """
        if self.per_topic is None:
            return size
        if isinstance(self.per_topic, float):
            return share_of(self.per_topic, size)
        return min(self.per_topic, size)


def _of_topic(budget: Any) -> int | float | None:
    if budget is None:
        return None
    if isinstance(budget, float | np.floating):
        if not 0 <= budget <= 1:
            raise InputError(
                Argument("budget"),
                f" must be a whole number of judgments per topic, at least 0, or a share of each pool from 0.0 to 1.0, "
                f"got {told(budget)}.",
                argument="budget",
            )
        return float(budget)
    return whole("budget", budget, "judgments per topic", least=0)
