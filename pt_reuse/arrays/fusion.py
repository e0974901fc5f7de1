"""Fusion: one score for each document of a topic from the lists of several runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, examples, number, shown
from pt_reuse.errors import InputError
from pt_reuse.options import METHODS, NORM_NAMES

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
        choice("norm", self.norm, NORM_NAMES)
        number("k", self.k)
        if number("p", self.p) >= 1:
            raise InputError(f"p must be a number of at least 0 and below 1, got {shown(self.p)}.", argument="p")

    @classmethod
    def of(cls, method: str, *, k: float | None = None, p: float | None = None, norm: str | None = None) -> Fusion:
        """Return a fusion by the options of the user's, None for the default of an option."""
        known = METHODS[choice("method", method, tuple(METHODS))]
        given: dict[str, Any] = {n: value for n, value in (("k", k), ("p", p), ("norm", norm)) if value is not None}
        for name in given:
            if name not in known:
                its = f"its option is {examples(known)}" if known else "it has no options"
                raise InputError(f"{name} is no option of method {method!r}; {its}.", argument=name)
        return cls(method, **given)

    @property
    def options(self) -> dict[str, Any]:
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
        total = _summed(rows, _normalised(self.norm, rows))
        if self.method == "combmnz":
            total *= np.bincount(rows.document, minlength=rows.n_documents)
        return levelled(total)

    def between_topics(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return fused scores of a topic, (documents,), such that they can be compared with those of other topics."""
        return scores / max(len(scores), 1) if self.method == "borda" else scores


def _normalised(norm: str, rows: TopicRows) -> NDArray[np.float64]:
    """Return (rows,) scores made comparable with those of other lists, each list by itself, as ranx does it."""
    run, n = rows.run, np.bincount(rows.run)
    if norm == "rank":
        return 1.0 - (rows.rank - 1.0) / n[run]
    low, high = np.full(len(n), np.inf), np.full(len(n), -np.inf)
    np.minimum.at(low, run, rows.score)
    np.maximum.at(high, run, rows.score)
    large = np.where(n > 0, np.maximum(np.abs(low), np.abs(high)), 0.0)
    scale = np.where(large > _HUGE, np.ldexp(1.0, -np.frexp(large)[1]), 1.0)
    score, low, high = rows.score * scale[run], low * scale, high * scale
    if norm == "max":
        return score / np.maximum(high, _LEAST)[run]
    above = score - low[run]
    if norm == "zmuv":
        # taken from the lowest, so that equal scores have a deviation of exactly 0
        above -= (np.bincount(run, above) / np.maximum(n, 1))[run]
        above[(low == high)[run]] = 0.0
        unit = np.sqrt(np.bincount(run, above**2) / np.maximum(n, 1))
    else:
        unit = high - low if norm == "min-max" else np.bincount(run, above)
    return above / np.maximum(unit, _LEAST)[run]


def _borda(rows: TopicRows) -> NDArray[np.float64]:
    # points are whole or half, so sums are exact in any order
    n = np.bincount(rows.run)
    left = np.where(n > 0, (rows.n_documents - n + 1) / 2, 0.0)
    points = rows.n_documents - rows.rank + 1.0 - left[rows.run]
    return left.sum() + np.bincount(rows.document, points, rows.n_documents)


def _summed(rows: TopicRows, values: NDArray[np.float64]) -> NDArray[np.float64]:
    by_size = np.argsort(values, kind="stable")
    return np.bincount(rows.document[by_size], values[by_size], rows.n_documents).astype(np.float64, copy=False)


def levelled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores to 12 digits; what differs by the rounding of sums alone becomes equal."""
    fraction, power = np.frexp(scores)
    return np.ldexp(np.round(fraction, _DIGITS), power)
