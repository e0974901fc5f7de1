"""Strategies that weigh documents by what their labels would change: Hedge, and minimal test collections."""

from __future__ import annotations

import math
from decimal import Context
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import fraction
from pt_reuse.pooling.adaptive.chooser import Chooser, TopicLists, first_of_best

#: the part of the rows that may be of judged documents before these are dropped
_DROPPED = 0.1


class OpenRows:
    """The rows of the lists, document by document; those of judged documents are dropped now and then."""

    def __init__(self, topic: TopicLists):
        starts, rows = topic.by_document
        n_rows = np.diff(starts)
        self._n_rows: list[int] = n_rows.tolist()
        self._place: NDArray[np.int64] = np.arange(len(topic))
        self._keep(np.arange(len(topic)), topic.run[rows], np.repeat(self._place, n_rows))

    def _keep(self, documents: NDArray[np.int64], run: NDArray[np.int64], of_row: NDArray[np.int64]) -> None:
        self.documents, self.run, self._of_row = documents, run, of_row
        self.judged: NDArray[np.float64] = np.zeros(len(documents))
        self._left = len(run)
        self._place[documents] = np.arange(len(documents))

    def place_of(self, document: int) -> int:
        """Return where a document that is left stands among `documents`."""
        return int(self._place[document])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (some documents,): the sum of (rows,) values over the rows of each document."""
        return np.bincount(self._of_row, values, len(self.documents)).astype(np.float64, copy=False)

    def leave(self, document: int) -> NDArray[np.int64] | None:
        """Mark a document as judged; where rows are dropped, return those that are kept, for the caller's own."""
        self.judged[self._place[document]] = -np.inf
        self._left -= self._n_rows[document]
        if self._left > (1 - _DROPPED) * len(self.run):
            return None
        left = self.judged == 0
        kept = np.flatnonzero(left[self._of_row])
        new = np.cumsum(left) - 1
        self._keep(self.documents[left], self.run[kept], new[self._of_row[kept]])
        return kept


#: gains are counted in whole multiples of this, so that their sums are exact
_GAIN_UNIT = 2.0**-80
_EXACT = Context(prec=40)


class Hedge(Chooser):
    """Judge the document from which the runs, each by its weight, would gain most if it were relevant."""

    name = "hedge"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, beta: float = 0.1):
        super().__init__(topic, random)
        self._speed = -math.log(fraction("beta", beta, ends=False))
        gain_at = _gains(len(topic))
        self._free = _means_from(gain_at)[topic.lengths]
        self._starts, rows = topic.by_document
        self._run, self._gain = topic.run[rows], gain_at[topic.rank[rows] - 1]
        self._open = OpenRows(topic)
        self._above = (self._gain - self._free[self._run]).astype(np.float64) * _GAIN_UNIT
        self._won = np.zeros(topic.n_runs, dtype=object)
        self._weight: NDArray[np.float64] = np.full(topic.n_runs, 1 / max(topic.n_runs, 1))

    def choose(self) -> int:
        # the gain of the ranks that are left free is the same for every document
        values = self._weight.take(self._open.run)
        values *= self._above
        expected = self._open.sums(values)
        expected += self._open.judged
        return int(self._open.documents[first_of_best(expected)])

    def leave(self, document: int) -> None:
        kept = self._open.leave(document)
        if kept is not None:
            self._above = self._above[kept]

    def observe(self, document: int, relevant: bool) -> None:
        gains = self._gains(document)
        self._won = self._won + gains if relevant else self._won - gains
        behind = (self._won - self._won.max()).astype(np.float64)
        weight = np.exp(behind * (self._speed * _GAIN_UNIT))
        weight /= np.add.reduce(weight)
        self._weight = weight

    def reason(self, document: int) -> str:
        gains = self._gains(document).astype(np.float64) * _GAIN_UNIT
        return f"expected gain {float(gains @ self._weight):.3g}"

    def _gains(self, document: int) -> NDArray[np.object_]:
        rows = slice(self._starts[document], self._starts[document + 1])
        gains = self._free.copy()
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


class MinimalTestCollection(Chooser):
    """Judge the document whose label, relevant or not, changes the differences of average precision most (MTC)."""

    name = "mtc"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        longest = int(topic.lengths.max(initial=0))
        one = round(1 / _RANK_UNIT)
        of_rank = one // np.arange(1, longest + 1)
        sums = np.append(0, np.cumsum(of_rank))
        self._starts, rows = topic.by_document
        self._run, self._rank = topic.run[rows], topic.rank[rows]
        self._open = OpenRows(topic)
        # (rows,) what a document adds to its run: 1 / rank by itself, and 1 / the larger rank with each other one
        self._of_rank = of_rank[self._rank - 1]
        self._if_relevant = self._of_rank.copy()
        self._if_not = one + sums[topic.lengths[self._run]] - sums[self._rank]
        self._inverse = self._of_rank
        self._weigh()

    def choose(self) -> int:
        weights = np.maximum(self._relevant_weight, self._other_weight)
        weights += self._open.judged
        return int(self._open.documents[first_of_best(weights)])

    def leave(self, document: int) -> None:
        kept = self._open.leave(document)
        if kept is not None:
            self._inverse = self._inverse[kept]
            self._if_relevant, self._if_not = self._if_relevant[kept], self._if_not[kept]
            self._weigh()

    def observe(self, document: int, relevant: bool) -> None:
        rows = slice(self._starts[document], self._starts[document + 1])
        inverse: NDArray[np.int64] = np.zeros(self.topic.n_runs, dtype=np.int64)
        inverse[self._run[rows]] = self._of_rank[rows]
        both = inverse.take(self._open.run)
        np.minimum(both, self._inverse, out=both)
        if relevant:
            self._if_relevant += both
            self._relevant_weight = self._mean_of_squares(self._if_relevant)
        else:
            self._if_not -= both
            self._other_weight = self._mean_of_squares(self._if_not)

    def reason(self, document: int) -> str:
        place = self._open.place_of(document)
        either = self._relevant_weight[place], self._other_weight[place]
        relevant, other = (float(np.sqrt(max(value, 0.0))) for value in either)
        return f"differences change by {relevant:.3g} if relevant, by {other:.3g} if not"

    def _weigh(self) -> None:
        self._relevant_weight = self._mean_of_squares(self._if_relevant)
        self._other_weight = self._mean_of_squares(self._if_not)

    def _mean_of_squares(self, whole: NDArray[np.int64]) -> NDArray[np.float64]:
        n = self.topic.n_runs
        if n < 2:
            return np.zeros(len(self._open.documents))
        values: NDArray[np.float64] = whole.astype(np.float64) * _RANK_UNIT
        sums, mean = self._open.sums(values), self._open.sums(values * values)
        sums *= sums
        mean *= n
        mean -= sums
        mean /= n * (n - 1) / 2
        return mean
