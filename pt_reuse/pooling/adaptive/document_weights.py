"""Strategies that weigh documents by what their labels would change: Hedge, and minimal test collections."""

from __future__ import annotations

import math
from decimal import Context
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import fraction
from pt_reuse.pooling.adaptive.chooser import Chooser, TopicLists, first_of_best

#: gains are counted in whole multiples of this, so that their sums are exact
_GAIN_UNIT = 2.0**-80
_EXACT = Context(prec=40)


#: the share of the rows that may be of judged documents before these are dropped
_DROPPED = 0.1


class RowChooser(Chooser):
    """Weighs documents by their rows in the lists, in which those of judged documents do not stay long."""

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._starts, rows = topic.by_document
        self._run, self._rank = topic.run[rows], topic.rank[rows]
        #: (rows,) of all documents that are left, and of some that are not
        self.open: dict[str, NDArray[Any]] = {"document": topic.codes[rows], "run": self._run}
        self._judged, self._gone = 0, np.zeros(len(topic))

    def rows_of(self, document: int) -> slice:
        """Return which of all rows are of a document."""
        return slice(self._starts[document], self._starts[document + 1])

    def leave(self, document: int) -> None:
        self._gone[document] = -np.inf
        self._judged += self._starts[document + 1] - self._starts[document]
        if self._judged > _DROPPED * len(self.open["run"]):
            left = self.left[self.open["document"]]
            self.open, self._judged = {name: rows[left] for name, rows in self.open.items()}, 0

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents,): the sum of the values of the open rows of each, 0 without any."""
        sums: NDArray[np.float64] = np.bincount(self.open["document"], values, len(self.topic)).astype(
            float, copy=False
        )
        return sums

    def first_left(self, weights: NDArray[np.float64]) -> int:
        """Return the first document of the largest weight among those that are left."""
        return first_of_best(weights + self._gone)


class Hedge(RowChooser):
    """Judge the document from which the runs, each by its weight, would gain most if it were relevant."""

    name = "hedge"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, beta: float = 0.1):
        super().__init__(topic, random)
        self._speed = -math.log(fraction("beta", beta, ends=False))
        gain_at = _gains(len(topic))
        self._free = _means_from(gain_at)[topic.lengths]
        self._gain = gain_at[self._rank - 1]
        self.open["above"] = (self._gain - self._free[self._run]).astype(np.float64) * _GAIN_UNIT
        self._won = np.zeros(topic.n_runs, dtype=object)
        self._weight: NDArray[np.float64] = np.full(topic.n_runs, 1 / max(topic.n_runs, 1))

    def choose(self) -> int:
        # the gain of the ranks that are left free is the same for every document
        return self.first_left(self.sums(self._weight.take(self.open["run"]) * self.open["above"]))

    def observe(self, document: int, relevant: bool) -> None:
        gains = self._gains(document)
        self._won = self._won + gains if relevant else self._won - gains
        behind = (self._won - self._won.max()).astype(np.float64)
        weight = np.exp(behind * (self._speed * _GAIN_UNIT))
        self._weight = weight / np.add.reduce(weight)

    def reason(self, document: int) -> str:
        gains = self._gains(document).astype(np.float64) * _GAIN_UNIT
        return f"expected gain {float(gains @ self._weight):.3g}"

    def _gains(self, document: int) -> NDArray[np.object_]:
        rows, gains = self.rows_of(document), self._free.copy()
        gains[self._run[rows]] = self._gain[rows]
        return gains


def _gains(n: int) -> NDArray[np.object_]:
    """Return (n,) what a relevant document gains at each rank, ln(n / rank) / 2, in units."""
    logs = np.array([_log(number) for number in range(1, n + 1)], dtype=object)
    return (_log(n) - logs) // 2 if n else logs


@cache
def _log(number: int) -> int:
    """Return the logarithm of a whole number in units, the sum of those of its factors: equal products tie exactly."""
    factor = next((f for f in range(2, math.isqrt(number) + 1) if number % f == 0), number)
    if factor < number:
        return _log(factor) + _log(number // factor)
    # in decimals, which are the same on every machine; even, so that half of it is whole
    return 2 * int(_EXACT.ln(number) * 2**79)


def _means_from(values: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return for each number n of values the mean of those after the first n, 0 where there are none."""
    sums = np.append(np.cumsum(values[::-1])[::-1], 0)
    return sums // np.maximum(np.arange(len(values), -1, -1), 1).astype(object)


#: inverse ranks are counted in whole multiples of this, so that their sums are exact; of a list of 100,000 documents
#: they sum to less than 16
_RANK_UNIT = 2.0**-58


class MinimalTestCollection(RowChooser):
    """Judge the document whose label, relevant or not, changes the differences of average precision most (MTC)."""

    name = "mtc"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        one = round(1 / _RANK_UNIT)
        inverse = one // np.arange(1, int(topic.lengths.max(initial=0)) + 1)
        sums = np.append(0, np.cumsum(inverse))
        # (rows,) what a document adds to its run: 1 / rank by itself, and 1 / the larger rank with each other one
        self._inverse = inverse[self._rank - 1]
        if_not = one + sums[topic.lengths[self._run]] - sums[self._rank]
        self.open |= {"inverse": self._inverse, "if relevant": self._inverse.copy(), "if not": if_not}
        self._weights = {name: self._mean_of_squares(self.open[name]) for name in ("if relevant", "if not")}

    def choose(self) -> int:
        return self.first_left(np.maximum(*self._weights.values()))

    def observe(self, document: int, relevant: bool) -> None:
        rows = self.rows_of(document)
        of_run: NDArray[np.int64] = np.zeros(self.topic.n_runs, dtype=np.int64)
        of_run[self._run[rows]] = self._inverse[rows]
        both = of_run.take(self.open["run"])
        np.minimum(both, self.open["inverse"], out=both)
        name, change = ("if relevant", np.add) if relevant else ("if not", np.subtract)
        change(self.open[name], both, out=self.open[name])
        self._weights[name] = self._mean_of_squares(self.open[name])

    def reason(self, document: int) -> str:
        relevant, other = (float(np.sqrt(max(weights[document], 0.0))) for weights in self._weights.values())
        return f"differences change by {relevant:.3g} if relevant, by {other:.3g} if not"

    def _mean_of_squares(self, whole: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (documents,) the mean over pairs of runs of the squared difference of (rows,) numbers."""
        n, values = self.topic.n_runs, np.multiply(whole, _RANK_UNIT, dtype=np.float64)
        if n < 2:
            return np.zeros(len(self.topic))
        sums, squares = self.sums(values), self.sums(values * values)
        return (squares * n - sums * sums) / (n * (n - 1) / 2)
