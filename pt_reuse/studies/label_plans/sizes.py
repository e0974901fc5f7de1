"""How many labels a width takes: in strata with Neyman's allocation, in proportion, and at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.studies.label_plans.allocation import Allocation, smallest
from pt_reuse.studies.label_plans.numbers import Number, Strata

#: widths of a curve, in parts of the wanted one
STEPS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
#: the row of the wanted width in a curve, which leaves out larger ones of 2 and more
WANTED = STEPS.index(1.0)
#: halvings of a width that is looked for
_HALVINGS = 40


@dataclass(frozen=True)
class Sizes:
    """The sizes of samples that one plan may have.

    Attributes:
        strata: of the documents.
        numbers: those that are to be known; each stratum has a part in one of them at most where there are several.
        confidence: of their intervals.
    """

    strata: Strata
    numbers: Sequence[Number]
    confidence: float

    @cached_property
    def allocations(self) -> list[Allocation]:
        """Return the allocation of each number, which is one for all totals."""
        return [Allocation.neyman(one.weights, self.strata.shares, self.strata.units) for one in self.numbers]

    @property
    def fewest(self) -> int:
        """Return the smallest total in strata."""
        return sum(one.fewest for one in self.allocations)

    @property
    def most(self) -> int:
        """Return the largest total: everything that a number hangs on."""
        return sum(one.most for one in self.allocations)

    def in_strata(self, width: float) -> NDArray[np.int64]:
        """Return (strata,) the labels after which no number has a wider interval."""
        found = np.zeros(len(self.strata.units), dtype=np.int64)
        for number, allocation in zip(self.numbers, self.allocations, strict=True):
            found += allocation.of(self._total(number, allocation, width))
        return found

    def with_budget(self, budget: int) -> NDArray[np.int64]:
        """Return (strata,) the labels where there are so many in all, from `fewest` to `most`.

        The widest interval is as narrow as the budget allows.
        """
        if len(self.numbers) == 1:
            return self.allocations[0].of(budget)
        narrow, wide = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (narrow + wide) / 2
            if int(self.in_strata(middle).sum()) <= budget:
                wide = middle
            else:
                narrow = middle
        totals = [self._total(one, of, wide) for one, of in zip(self.numbers, self.allocations, strict=True)]
        # what is left goes where the interval is widest
        while sum(totals) < budget:
            widths = [
                self._width(one, of.of(total)) if total < of.most else -1.0
                for one, of, total in zip(self.numbers, self.allocations, totals, strict=True)
            ]
            totals[int(np.argmax(widths))] += 1
        every = [of.of(total) for of, total in zip(self.allocations, totals, strict=True)]
        return np.sum(every, axis=0).astype(np.int64)

    def widest(self, drawn: NDArray[np.int64]) -> float:
        """Return the width of the widest interval that is expected."""
        return max(self._width(number, drawn) for number in self.numbers)

    def in_proportion(self, width: float) -> int:
        """Return the labels where each stratum gets as many as its share of the documents."""
        return max(self._shared(number, self.strata, width) for number in self.numbers)

    def at_random(self, width: float) -> int:
        """Return the labels where documents are drawn whatever their label is."""
        return max(self._shared(*self.strata.merged(number), width) for number in self.numbers)

    def curve(self, width: float) -> pd.DataFrame:
        """Return what widths about a wanted one cost: ``width labels proportional random``."""
        widths = [round(width * step, 10) for step in STEPS]
        rows = [
            (w, int(self.in_strata(w).sum()), self.in_proportion(w), self.at_random(w))
            for w in widths
            if w < 2 or w <= width
        ]
        return pd.DataFrame(rows, columns=["width", "labels", "proportional", "random"])

    def _width(self, number: Number, drawn: NDArray[np.int64] | NDArray[np.float64]) -> float:
        return self.strata.interval(number, drawn.astype(np.float64), self.confidence, counted=False).width

    def _total(self, number: Number, allocation: Allocation, width: float) -> int:
        return smallest(
            allocation.fewest, allocation.most, lambda total: self._width(number, allocation.of(total)) <= width
        )

    def _shared(self, number: Number, strata: Strata, width: float) -> int:
        size = int(self.strata.units.sum())
        if not size:
            return 0

        def fits(total: int) -> bool:
            drawn = total * strata.units / size
            return strata.interval(number, drawn, self.confidence, counted=False).width <= width

        return smallest(1, size, fits)
