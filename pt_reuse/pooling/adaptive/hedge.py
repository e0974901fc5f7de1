"""Hedge: weigh the runs by what they have found so far; judge what the weighted runs rank highest."""

from __future__ import annotations

import math
from decimal import Context
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import fraction
from pt_reuse.pooling.adaptive.chooser import Chooser
from pt_reuse.pooling.adaptive.lists import TopicLists
from pt_reuse.pooling.adaptive.open_rows import OpenRows
from pt_reuse.pooling.adaptive.ties import first_of_best

#: gains are counted in whole multiples of this, so that their sums are exact
_UNIT = 2.0**-80
_EXACT = Context(prec=40)


class Hedge(Chooser):
    """Judge the document from which the runs, each by its weight, would gain most if it were relevant.

    With N documents in the topic's pool, a run gains ln(N / rank) / 2 by a relevant document at a rank, and loses as
    much by one that is not relevant: its loss is 0.5 (-1)^relevant ln(N / rank). A document that the run lacks counts
    as the mean over the ranks that its list of n leaves free, n + 1 to N. Each label multiplies the weight of each run
    by beta^loss; the weights begin equal. Of documents whose expected gains, with weights that sum to 1, are within
    1e-12 of the largest, the first is judged: the one of the best rank in any run. Gains are added up as whole numbers
    of 2^-80, so the weights depend on which labels there are and not on their order, and the rounding error of an
    expected gain stays below 1e-14 however many labels there are: every machine makes the same choice, unless an
    expected gain is 1e-12 below the largest to within 1e-14.

    Args:
        topic: the lists of the runs.
        random: not used.
        beta: above 0 and below 1; the smaller, the faster weights change.

    Source: Aslam, Pavlu and Savell, A unified model for metasearch and the efficient evaluation of retrieval systems
    via the Hedge algorithm, SIGIR 2003. That N is the size of the pool is our reading.
    """

    name = "hedge"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, beta: float = 0.1):
        super().__init__(topic, random)
        self._speed = -math.log(fraction("beta", beta, ends=False))
        gain_at = _gains(len(topic))
        self._free = _means_from(gain_at)[topic.lengths]
        self._starts, rows = topic.by_document
        self._run, self._gain = topic.run[rows], gain_at[topic.rank[rows] - 1]
        self._open = OpenRows(topic)
        self._above = (self._gain - self._free[self._run]).astype(np.float64) * _UNIT
        self._won = np.zeros(topic.n_runs, dtype=object)
        self._weight: NDArray[np.float64] = np.full(topic.n_runs, 1 / max(topic.n_runs, 1))

    def choose(self) -> int:
        """Return the first document of the largest expected gain."""
        # the gain of the ranks that are left free is the same for every document
        values = self._weight.take(self._open.run)
        values *= self._above
        expected = self._open.sums(values)
        expected += self._open.judged
        return int(self._open.documents[first_of_best(expected)])

    def leave(self, document: int) -> None:
        """Take a document out."""
        kept = self._open.leave(document)
        if kept is not None:
            self._above = self._above[kept]

    def observe(self, document: int, relevant: bool) -> None:
        """Weigh the runs anew."""
        gains = self._gains(document)
        self._won = self._won + gains if relevant else self._won - gains
        behind = (self._won - self._won.max()).astype(np.float64)
        weight = np.exp(behind * (self._speed * _UNIT))
        weight /= np.add.reduce(weight)
        self._weight = weight

    def reason(self, document: int) -> str:
        """Return the document's expected gain."""
        gains = self._gains(document).astype(np.float64) * _UNIT
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
