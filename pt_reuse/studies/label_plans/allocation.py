"""How many labels each stratum gets, so that a number is known as well as a total allows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
#: labels of a stratum at least, where it has so many documents
LEAST = 2


@dataclass(frozen=True)
class Allocation:
    """The labels of each stratum for every total: Neyman's allocation in whole labels.

    One label more goes where it lowers the variance most, sum A^2 p (1 - p) / n, so that each total has the allocation
    of least variance in whole numbers, a larger total holds a smaller one, and no stratum has more than its documents.
    Without the bounds it is n ~ A sqrt(p (1 - p)) but for rounding.

    Attributes:
        least: (strata,) labels that each stratum has in any case.
        order: (labels,) the stratum that gets each further label.
    """

    least: Counts
    order: Counts

    @classmethod
    def neyman(cls, weights: Floats, shares: Floats, units: Counts) -> Allocation:
        """Return Neyman's allocation.

        Args:
            weights: (strata,) the weight of each share in the number; a stratum of weight 0 gets no label.
            shares: (strata,) the expected shares.
            units: (strata,) documents that each stratum has.

        Source: Neyman 1934; exact in whole numbers by Wright 2012.
        """
        least = np.where(weights != 0, np.minimum(LEAST, units), 0)
        more = np.where(weights != 0, units - least, 0)
        stratum = np.repeat(np.arange(len(units)), more)
        first = np.cumsum(more) - more
        n = np.arange(len(stratum)) - first[stratum] + least[stratum]
        spread = np.abs(weights) * np.sqrt(shares * (1 - shares))
        gain = spread[stratum] / np.sqrt(n * (n + 1.0))
        # of equal gains the stratum with fewer labels for its documents comes first, then the first
        return cls(least, stratum[np.lexsort((stratum, n / units[stratum], -gain))])

    @property
    def fewest(self) -> int:
        """Return the smallest total."""
        return int(self.least.sum())

    @property
    def most(self) -> int:
        """Return the largest total: a census."""
        return self.fewest + len(self.order)

    def of(self, total: int) -> Counts:
        """Return (strata,) the labels of each stratum for a total from `fewest` to `most`."""
        return self.least + np.bincount(self.order[: total - self.fewest], minlength=len(self.least))


def smallest(fewest: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the smallest whole number that fits, where all larger ones do, too; `most` where none below does."""
    return fewest + bisect_left(range(fewest, most), True, key=fits)
