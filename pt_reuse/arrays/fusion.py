"""Fusion: one score for each document of a topic from the lists of several runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, examples, told
from pt_reuse._choices import METHODS, NORM_NAMES
from pt_reuse._errors import wrong

#: a list whose scores differ by less than this is divided by this, as in ranx
_LEAST = 1e-9
#: scores beyond this are scaled down first, so that their sums and squares are finite
_HUGE = 1e100
_DIGITS = 12


@dataclass(frozen=True)
class TopicRows:
    """The lists of some runs on one topic, a row for each document of each list; a list has a document once."""

    document: NDArray[np.integer]  # (rows,) from 0
    run: NDArray[np.integer]  # (rows,) from 0; a run without rows has no list here
    rank: NDArray[np.integer]  # (rows,) from 1, without gaps within a list
    score: NDArray[np.float64]  # (rows,) finite, the higher the better
    n_documents: int  # how many documents there are


@dataclass(frozen=True)
class Fusion:
    """A way to fuse lists; one that is made has been checked."""

    method: str = "rrf"
    k: float = 60
    p: float = 0.8
    norm: str = "min-max"

    def __post_init__(self) -> None:
        choice("method", self.method, tuple(METHODS))
        choice("norm", self.norm, tuple(NORMS))
        _check_number("k", self.k, "of at least 0", below=math.inf)
        _check_number("p", self.p, "of at least 0 and below 1", below=1)

    @classmethod
    def of(cls, method: str, *, k: float | None = None, p: float | None = None, norm: str | None = None) -> Fusion:
        """Return a fusion by the options of the user's, None for the default of an option."""
        known = METHODS[choice("method", method, tuple(METHODS))]
        given: dict[str, Any] = {
            name: value for name, value in (("k", k), ("p", p), ("norm", norm)) if value is not None
        }
        for name in given:
            if name not in known:
                its = f"its option is {examples(known)}" if known else "it has no options"
                raise wrong(name, f" is no option of method {method!r}; {its}.")
        return cls(method, **given)

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of the method and their values."""
        return {name: getattr(self, name) for name in METHODS[self.method]}

    def scores(self, rows: TopicRows) -> NDArray[np.float64]:
        """Return (documents,): the fused score of each document, the higher the better."""
        rank = rows.rank.astype(np.float64)
        if self.method == "rrf":
            return levelled(_summed(rows, 1.0 / (self.k + rank)))
        if self.method == "rbp":
            return levelled(_summed(rows, (1.0 - self.p) * self.p ** (rank - 1.0)))
        if self.method == "borda":
            return levelled(_borda(rows))
        total = _summed(rows, NORMS[self.norm](_Lists.of(rows)))
        if self.method == "combmnz":
            total *= np.bincount(rows.document, minlength=rows.n_documents)
        return levelled(total)

    def between_topics(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return fused scores of a topic, (documents,), such that they can be compared with those of other topics."""
        return scores / max(len(scores), 1) if self.method == "borda" else scores


@dataclass(frozen=True)
class _Lists:
    """Scores by list, and what a normalisation asks of each list."""

    run: NDArray[np.integer]
    rank: NDArray[np.integer]
    score: NDArray[np.float64]
    n: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, rows: TopicRows) -> _Lists:
        n = np.bincount(rows.run)
        low, high = np.full(len(n), np.inf), np.full(len(n), -np.inf)
        np.minimum.at(low, rows.run, rows.score)
        np.maximum.at(high, rows.run, rows.score)
        large = np.where(n > 0, np.maximum(np.abs(low), np.abs(high)), 0.0)
        scale = np.where(large > _HUGE, np.ldexp(1.0, -np.frexp(large)[1]), 1.0)
        return cls(rows.run, rows.rank, rows.score * scale[rows.run], n, low * scale, high * scale)

    def over(self, zero: NDArray[np.float64], unit: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (rows,): the score above that of `zero`, in units; both (runs,)."""
        return (self.score - zero[self.run]) / np.maximum(unit, _LEAST)[self.run]

    def added(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (runs,): the sum of (rows,) values over each list."""
        sums: NDArray[np.float64] = np.zeros(len(self.n))
        np.add.at(sums, self.run, values)
        return sums


def _min_max(lists: _Lists) -> NDArray[np.float64]:
    return lists.over(lists.low, lists.high - lists.low)


def _of_max(lists: _Lists) -> NDArray[np.float64]:
    return lists.over(np.zeros(len(lists.n)), lists.high)


def _of_sum(lists: _Lists) -> NDArray[np.float64]:
    return lists.over(lists.low, lists.added(lists.score - lists.low[lists.run]))


def _zmuv(lists: _Lists) -> NDArray[np.float64]:
    n = np.maximum(lists.n, 1)
    # taken from the lowest, so that equal scores have a deviation of exactly 0
    above = lists.score - lists.low[lists.run]
    mean = lists.added(above) / n
    deviation = above - mean[lists.run]
    deviation[(lists.low == lists.high)[lists.run]] = 0.0
    return deviation / np.maximum(np.sqrt(lists.added(deviation**2) / n), _LEAST)[lists.run]


def _by_rank(lists: _Lists) -> NDArray[np.float64]:
    return 1.0 - (lists.rank - 1.0) / lists.n[lists.run]


#: how the scores of a list are made comparable with those of others, each list by itself, as ranx does it:
#: ``"min-max"`` (score - lowest) / (highest - lowest); ``"max"`` score / highest; ``"sum"`` (score - lowest) / the sum
#: of these; ``"zmuv"`` (score - mean) / standard deviation; ``"rank"`` 1 - (rank - 1) / n, whatever the scores. A
#: divisor below 1e-9 is taken for 1e-9: a list of equal scores, and so one of a single document, gives 0 by
#: ``"min-max"``, ``"sum"`` and ``"zmuv"``
NORMS: dict[str, Callable[[_Lists], NDArray[np.float64]]] = dict(
    zip(NORM_NAMES, (_min_max, _of_max, _of_sum, _zmuv, _by_rank), strict=True)
)


def _borda(rows: TopicRows) -> NDArray[np.float64]:
    # points are whole or half, so sums are exact in any order
    n = np.bincount(rows.run)
    left = np.where(n > 0, (rows.n_documents - n + 1) / 2, 0.0)
    points: NDArray[np.float64] = np.full(rows.n_documents, left.sum())
    np.add.at(points, rows.document, rows.n_documents - rows.rank + 1.0 - left[rows.run])
    return points


def _summed(rows: TopicRows, values: NDArray[np.float64]) -> NDArray[np.float64]:
    by_size = np.argsort(values, kind="stable")
    sums: NDArray[np.float64] = np.zeros(rows.n_documents)
    np.add.at(sums, rows.document[by_size], values[by_size])
    return sums


def levelled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores to 12 digits; what differs by the rounding of sums alone becomes equal."""
    fraction, power = np.frexp(scores)
    return np.ldexp(np.round(fraction, _DIGITS), power)


def _check_number(name: str, value: Any, range_: str, *, below: float) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0 <= value < below:
        raise wrong(name, f" must be a number {range_}, got {told(value)}.")
