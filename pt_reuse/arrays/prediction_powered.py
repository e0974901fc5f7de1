"""Means and totals of few labels by people beside many by a model, and shares of stratified samples."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import DECIMALS

#: a share of units that is smaller is rounding
_TINY = 1e-12
#: so few units with the property, or without it, tell too little of how uneven deviations are
SPARSE = 8
#: counts that are nearer to a whole number are that number
_NEAR = 1e-6


@dataclass(frozen=True)
class Interval:
    """An estimate and its ends."""

    estimate: float
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


def effective_sizes(weights: Floats, drawn: Floats, units: Floats, cells: NDArray[np.int64], n_cells: int) -> Floats:
    """Return (cells,) how many independent draws tell as much of a cell's share as the samples of its strata do."""
    lost = weights**2 * np.maximum(1 - drawn / units, 0) / drawn
    whole = np.bincount(cells, weights, n_cells) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return whole / np.bincount(cells, lost, n_cells)


def exact_limits(shares: Floats, sizes: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return (cells,) limits of Clopper and Pearson of shares at effective sizes; an endless one has no width."""
    from scipy import special

    tail, known = (1 - confidence) / 2, np.isinf(sizes)
    n = np.where(known, 1.0, sizes)
    x = shares * n
    y = n - x
    low = np.where(x > _TINY, special.betaincinv(np.maximum(x, _TINY), y + 1, tail), 0.0)
    high = np.where(y > _TINY, special.betaincinv(x + 1, np.maximum(y, _TINY), 1 - tail), 1.0)
    return np.where(known, shares, low), np.where(known, shares, high)


def counted_limits(shares: Floats, sizes: Floats, units: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the exact limits of shares that were counted in samples without replacement."""
    low, high = np.empty(len(shares)), np.empty(len(shares))
    for cell, (share, size, n_units) in enumerate(zip(shares.tolist(), sizes.tolist(), units.tolist(), strict=True)):
        # without replacement a draw is worth more than one: back to how many draws these are
        drawn = n_units if np.isinf(size) else max(round(size / (1 + size / n_units)), 1)
        fewest, most = int(np.floor(share * drawn + _NEAR)), int(np.ceil(share * drawn - _NEAR))
        low[cell] = _lowest(fewest, int(drawn), int(n_units), (1 - confidence) / 2) / n_units
        high[cell] = 1 - _lowest(int(drawn) - most, int(drawn), int(n_units), (1 - confidence) / 2) / n_units
    return low, high


@lru_cache(maxsize=65536)
def _lowest(found: int, drawn: int, units: int, tail: float) -> int:
    """Return the fewest units with a property that bring so many or more of them into a sample often enough."""
    from scipy.stats import hypergeom

    there = range(found, units - drawn + found)
    return found + bisect_left(there, True, key=lambda n: hypergeom.sf(found - 1, units, n, drawn) > tail)


def joined(constant: float, weights: Floats, shares: Floats, low: Floats, high: Floats) -> Interval:
    """Return constant + sum W p over (cells,) shares, its interval made of theirs (MOVER, square and add)."""
    up, down = weights * (high - shares), weights * (low - shares)
    value = float(constant + weights @ shares)
    above = np.sqrt((np.maximum(np.maximum(up, down), 0) ** 2).sum())
    below = np.sqrt((np.minimum(np.minimum(up, down), 0) ** 2).sum())
    return Interval(value, float(value - below), float(value + above))


def stratified_interval(
    constant: float,
    weights: Floats,
    shares: Floats,
    *,
    drawn: Floats,
    units: Floats,
    cells: NDArray[np.int64],
    confidence: float,
    counted: bool = True,
) -> Interval:
    """Return constant + sum W p over strata with its interval."""
    some = weights != 0
    if not some.any():
        return Interval(constant, constant, constant)
    # 1 - p in place of p makes every weight positive
    less = weights[some] < 0
    w, p = np.abs(weights[some]), np.where(less, 1 - shares[some], shares[some])
    base = constant - float(w[less].sum())
    sample = (w, p, drawn[some], units[some], confidence)
    interval = _of_cells(base, cells[some], sample, counted=counted)
    found = float(p @ drawn[some])
    if counted and min(found, float(drawn[some].sum()) - found) <= SPARSE + _NEAR:
        rough = _of_cells(base, np.zeros(len(w), dtype=np.int64), sample, counted=True)
        return Interval(interval.estimate, min(interval.low, rough.low), max(interval.high, rough.high))
    return interval


def _of_cells(
    constant: float,
    cells: NDArray[np.int64],
    sample: tuple[Floats, Floats, Floats, Floats, float],
    *,
    counted: bool,
) -> Interval:
    """Return the interval of strata, all weights above 0, those of one cell taken for one stratum."""
    w, p, n, size, confidence = sample
    _, of = np.unique(cells, return_inverse=True)
    k = int(of.max()) + 1
    whole = np.bincount(of, w, k).astype(np.float64)
    share = np.clip(np.bincount(of, w * p, k) / whole, 0, 1)
    worth = effective_sizes(w, n, size, of, k)
    if not counted:
        low, high = exact_limits(share, worth, confidence)
    else:
        low, high = counted_limits(share, worth, np.bincount(of, size, k).astype(np.float64), confidence)
        fewest, left = p * n / size, 1 - n / size
        low = np.maximum(low, np.bincount(of, w * fewest, k) / whole)
        high = np.minimum(high, np.bincount(of, w * (fewest + left), k) / whole)
    return joined(constant, whole, share, np.minimum(low, share), np.maximum(high, share))


def stratified_variance(weights: Floats, shares: Floats, *, drawn: Floats, units: Floats) -> float:
    """Return sum W^2 p (1 - p) / n (1 - n/N), the variance that a stratified sample without replacement leaves."""
    some = weights != 0
    w, p, n, size = weights[some], shares[some], drawn[some], units[some]
    return float((w**2 * p * (1 - p) / n * np.maximum(1 - n / size, 0)).sum())


def share_of(share: float, n: int) -> int:
    """Return how many of `n` a share of them is: the nearest whole number, halves up.

    Example:
        >>> share_of(1 / 3, 3), share_of(0.5, 5), share_of(0.29, 50)
        (1, 3, 15)
    """
    # 0.29 * 50 is 14.499999999999998
    return math.floor(round(share * n, 9) + 0.5)


Floats = NDArray[np.float64]
#: what lambda is where it is estimated, for settings
ESTIMATED = "cov(Y, F) / ((1 + n/N) var F), cut to 0 and 1; cov of the n topics, var of all n + N"
#: how the variance over the n topics is estimated: with lambda as uncertain as it is, or as if it had been known
JACKKNIFE, PLAIN = "jackknife", "plain"
VARIANCES = (JACKKNIFE, PLAIN)
#: topics that people labelled at least where lambda is estimated anew without each
LEAST_FOR_JACKKNIFE = 3


@dataclass(frozen=True)
class TopicValues:
    """The same numbers by people's labels and by a model's, on n topics, and on N that have the model's alone."""

    human: Floats  # (n, columns) Y
    judge: Floats  # (n, columns) F
    unlabelled: Floats  # (N, columns) F of the others

    def differences(self, first: int) -> TopicValues:
        """Return one column minus each of those after it; scores that differ in their last bits alone are alike."""
        human, judge, unlabelled = (
            np.round(values[:, [first]] - values[:, first + 1 :], DECIMALS)
            for values in (self.human, self.judge, self.unlabelled)
        )
        return TopicValues(human, judge, unlabelled)


@dataclass(frozen=True)
class PoweredMeans:
    """Means by people's labels alone, and with those of a model, (columns,) each."""

    n: int  # topics with people's labels
    more: int  # N, topics with the model's labels alone
    human: Floats  # the mean over the n topics by people's labels
    human_se: Floats  # its standard error
    by_judge: Floats  # the mean over all n + N topics by the model's labels
    estimate: Floats  # the prediction-powered mean
    se: Floats  # its standard error
    weight: Floats  # lambda, how far the model is trusted: 0 is people's labels alone

    @property
    def n_eff(self) -> Floats:
        """Return (columns,): how many topics people would have to label for the same standard error; NaN of 0 / 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.n * self.human_se**2 / self.se**2)

    @property
    def p(self) -> Floats:
        """Return (columns,): the two-sided p-value of 0."""
        return t_p_value(self.estimate, self.se, self.n)

    @property
    def human_p(self) -> Floats:
        """Return (columns,): the same by people's labels alone."""
        return t_p_value(self.human, self.human_se, self.n)


def powered_means(values: TopicValues, weight: float | None = None, variance: str = JACKKNIFE) -> PoweredMeans:
    """Return the prediction-powered mean of each column, PPI++."""
    y, f, f_more = values.human, values.judge, values.unlabelled
    n, more = len(y), len(f_more)
    every = np.concatenate([f, f_more])
    if weight is None:
        covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).sum(axis=0) / (n - 1)
        lam = cut_weight(covariance, (1 + n / more) * every.var(axis=0, ddof=1))
    else:
        lam = np.full(y.shape[1], float(weight))
    if weight is None and variance == JACKKNIFE:
        # by leaving each topic out: sums of products about the mean of what is left
        y_off, f_off, off = y - y.mean(axis=0), f - f.mean(axis=0), f - every.mean(axis=0)
        shared = (y_off * f_off).sum(axis=0) - y_off * f_off * n / (n - 1)
        spread = ((every - every.mean(axis=0)) ** 2).sum(axis=0) - off**2 * (n + more) / (n + more - 1)
        without = cut_weight(shared / (n - 2), (1 + (n - 1) / more) * spread / (n + more - 2))
        gap = f_more.mean(axis=0) - f.mean(axis=0)
        # how far the estimate without a topic is from the mean by people's labels
        moved = without * (gap + f_off / (n - 1)) - y_off / (n - 1)
        of_topics = moved.var(axis=0) * (n - 1)
    else:
        of_topics = (y - lam * f).var(axis=0, ddof=1) / n
    squared = of_topics + lam**2 * f_more.var(axis=0, ddof=1) / more
    return PoweredMeans(
        n=n,
        more=more,
        human=y.mean(axis=0),
        human_se=y.std(axis=0, ddof=1) / np.sqrt(n),
        by_judge=every.mean(axis=0),
        estimate=y.mean(axis=0) + lam * (f_more.mean(axis=0) - f.mean(axis=0)),
        se=np.sqrt(squared),
        weight=lam,
    )


def powered_differences(values: TopicValues, weight: float | None = None, variance: str = JACKKNIFE) -> PoweredMeans:
    """Return the same of the difference of each pair of columns, in the order of ``numpy.triu_indices``."""
    n_columns = values.human.shape[1]
    parts = [powered_means(values.differences(first), weight, variance) for first in range(n_columns - 1)]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0)])
        for name in ("human", "human_se", "by_judge", "estimate", "se", "weight")
    }
    return PoweredMeans(n=len(values.human), more=len(values.unlabelled), **arrays)


def cut_weight(covariance: Floats, variance: Floats) -> Floats:
    """Return lambda, the quotient cut to 0 and 1, 0 where the variance is none."""
    # a variance of 1e-33 is what rounding leaves of a column that is the same everywhere
    there = variance > 10.0 ** (-2 * DECIMALS)
    return np.clip(np.divide(covariance, variance, out=np.zeros_like(covariance), where=there), 0.0, 1.0)


def t_interval(estimate: Floats, se: Floats, n: int, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals by the t distribution with n - 1 degrees of freedom."""
    from scipy.special import stdtrit

    reach = stdtrit(n - 1, (1 + confidence) / 2) * se
    return estimate - reach, estimate + reach


def t_p_value(estimate: Floats, se: Floats, n: int) -> Floats:
    """Return two-sided p-values of 0 by the t distribution with n - 1 degrees of freedom; 1 where both are 0."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(estimate) / se
    return np.asarray(np.where((estimate == 0) & (se == 0), 1.0, 2 * stdtr(n - 1, -t)))


@dataclass(frozen=True)
class SampledDocuments:
    """The documents of one topic, of which some are labelled by people, (documents,) each."""

    sampled: NDArray[np.bool_]  # whether people labelled it
    inclusion: Floats  # the probability that they would; read where they did
    stratum: NDArray[np.int64] | None  # drawn within without replacement; None: each by itself, by its own probability
    human: Floats  # gains by people's labels; read where there are some
    judge: Floats  # gains by the model's labels


@dataclass(frozen=True)
class TopicTotals:
    """Sums of weight times gain over the documents of a topic, (columns,), and their covariances over samples."""

    human: Floats  # by people's labels, each counted 1 / inclusion: the estimate of Horvitz and Thompson
    sampled: Floats  # the same by the model's labels of the same documents
    judge: Floats  # by the model's labels, over all documents
    human_spread: Floats  # (columns, columns) of `human`
    shared_spread: Floats  # (columns, columns) of `human` with `sampled`
    judge_spread: Floats  # (columns, columns) of `sampled`
    known: bool


def totals_of(documents: SampledDocuments, weights: Floats) -> TopicTotals:
    """Return the totals of a topic, for (documents, columns) weights."""
    rows = np.flatnonzero(documents.sampled)
    inclusion = documents.inclusion[rows]
    mine = weights[rows] * documents.human[rows, None]
    theirs = weights[rows] * documents.judge[rows, None]
    n_columns, known = weights.shape[1], True
    spreads: list[Floats] = [np.zeros((n_columns, n_columns)) for _ in range(3)]
    if documents.stratum is None:
        each = ((1 - inclusion) / inclusion**2)[:, None]
        spreads = [a.T @ (each * b) for a, b in ((mine, mine), (mine, theirs), (theirs, theirs))]
    else:
        for stratum in np.unique(documents.stratum):
            here = np.flatnonzero(documents.stratum[rows] == stratum)
            n, size = len(here), int((documents.stratum == stratum).sum())
            if n == size:
                continue
            if n < 2:
                known = False
                continue
            a, b = (part[here] - part[here].mean(axis=0) for part in (mine, theirs))
            factor = size**2 * (1 - n / size) / (n * (n - 1))
            spreads = [
                spread + factor * (left.T @ right)
                for spread, (left, right) in zip(spreads, ((a, a), (a, b), (b, b)), strict=True)
            ]
    return TopicTotals(
        human=(mine / inclusion[:, None]).sum(axis=0),
        sampled=(theirs / inclusion[:, None]).sum(axis=0),
        judge=weights.T @ documents.judge,
        human_spread=spreads[0],
        shared_spread=(spreads[1] + spreads[1].T) / 2,
        judge_spread=spreads[2],
        known=known,
    )


@dataclass(frozen=True)
class CorrectedTotals:
    """Totals of each topic by the model's labels, corrected by those of people."""

    human: Floats  # (topics, columns) by people's labels alone
    judge: Floats  # (topics, columns) by the model's labels
    estimate: Floats  # (topics, columns) human + lambda (judge of all - judge of the sampled)
    weight: Floats  # (columns,) lambda
    human_variance: Floats  # (columns,) of the sum of `human` over the topics, over the samples that there could be
    variance: Floats  # (columns,) of the sum of `estimate`


def corrected_totals(topics: list[TopicTotals], pairs: bool, weight: float | None) -> CorrectedTotals:
    """Return the difference estimates."""
    human, sampled, judge = (
        _columns(np.array([getattr(topic, name) for topic in topics]), pairs) for name in ("human", "sampled", "judge")
    )
    yy, yf, ff = (
        _variances(np.sum([getattr(topic, name) for topic in topics], axis=0), pairs)
        for name in ("human_spread", "shared_spread", "judge_spread")
    )
    best = cut_weight(yf.sum(keepdims=True), ff.sum(keepdims=True)) if weight is None else np.array([float(weight)])
    lam = np.repeat(best, human.shape[1])
    variance = np.maximum(yy - 2 * lam * yf + lam**2 * ff, 0.0)
    # what is left of equal runs is rounding
    variance[variance < 1e-12 * np.maximum(yy, ff)] = 0.0
    known = all(topic.known for topic in topics)
    return CorrectedTotals(
        human=human,
        judge=judge,
        estimate=human + lam * (judge - sampled),
        weight=lam,
        human_variance=yy if known else np.full_like(yy, np.nan),
        variance=variance if known else np.full_like(yy, np.nan),
    )


def effective_of_pool(n: int, size: int, alone: Floats, powered: Floats) -> Floats:
    """Return how many documents of a pool people would have to label for the same variance; NaN where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = 1 / (1 / size + (1 / n - 1 / size) * powered / alone)
    return np.where((alone == 0) & (powered > 0), 0.0, found)


def _columns(values: Floats, pairs: bool) -> Floats:
    if not pairs:
        return values
    first, second = np.triu_indices(values.shape[1], 1)
    # equal runs are equal to the last bit
    return np.round(values[:, first] - values[:, second], DECIMALS)


def _variances(spread: Floats, pairs: bool) -> Floats:
    of_each = np.diag(spread)
    if not pairs:
        return of_each.copy()
    first, second = np.triu_indices(len(spread), 1)
    return of_each[first] + of_each[second] - 2 * spread[first, second]
