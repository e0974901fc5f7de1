"""Prediction-powered means: few topics with scores by people's labels, many with scores by a model's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.stats._ranking_input import DECIMALS

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
    """The same numbers by people's labels and by a model's.

    Attributes:
        human: (n, columns) by people's labels, Y.
        judge: (n, columns) by the model's labels, on the same topics, F.
        unlabelled: (N, columns) by the model's labels, on the topics that have these labels alone.
    """

    human: Floats
    judge: Floats
    unlabelled: Floats

    def differences(self, first: int) -> TopicValues:
        """Return one column minus each of those after it; scores that differ in their last bits alone are alike."""
        human, judge, unlabelled = (
            np.round(values[:, [first]] - values[:, first + 1 :], DECIMALS)
            for values in (self.human, self.judge, self.unlabelled)
        )
        return TopicValues(human, judge, unlabelled)


@dataclass(frozen=True)
class PoweredMeans:
    """Means by people's labels alone, and with those of a model.

    Attributes:
        n: topics with people's labels.
        more: N, topics with the model's labels alone; there are n + N topics in all.
        human: (columns,) the mean over the n topics by people's labels.
        human_se: (columns,) its standard error.
        by_judge: (columns,) the mean over all n + N topics by the model's labels.
        estimate: (columns,) the prediction-powered mean.
        se: (columns,) its standard error.
        weight: (columns,) lambda, how far the model is trusted: 0 is people's labels alone.
    """

    n: int
    more: int
    human: Floats
    human_se: Floats
    by_judge: Floats
    estimate: Floats
    se: Floats
    weight: Floats

    @property
    def n_eff(self) -> Floats:
        """Return (columns,): how many topics people would have to label for the same standard error.

        n times the variance by people's labels alone over that of the estimate; NaN where both are 0.
        """
        return effective(self.n, self.human_se**2, self.se**2)

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of the estimates: t with n - 1 degrees of freedom."""
        return t_interval(self.estimate, self.se, self.n, confidence)

    def human_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the intervals by people's labels alone: t with n - 1 degrees of freedom."""
        return t_interval(self.human, self.human_se, self.n, confidence)

    @property
    def p(self) -> Floats:
        """Return (columns,): the two-sided p-value of 0."""
        return t_p_value(self.estimate, self.se, self.n)

    @property
    def human_p(self) -> Floats:
        """Return (columns,): the same by people's labels alone."""
        return t_p_value(self.human, self.human_se, self.n)


def powered_means(values: TopicValues, weight: float | None = None, variance: str = JACKKNIFE) -> PoweredMeans:
    """Return the prediction-powered mean of each column, PPI++.

    The mean of Y over the n topics is moved by what the model says of how these topics differ from the N others:
    Ybar_n + lambda (Fbar_N - Fbar_n). By PPI++ its squared standard error is var(Y - lambda F) / n + lambda^2 var(F) /
    N, the second variance over the N topics, both with a divisor of one less than the topics. That takes an estimated
    lambda for a known one. By the jackknife the first term is (n - 1) / n times the sum of squares of the estimates
    without each of the n topics, lambda estimated anew, about their mean. Of a given lambda both are the same.

    Args:
        values: 2 topics of either kind at least; 3 that people labelled for the jackknife of an estimated lambda.
        weight: lambda, from 0 to 1; None for the one of each column that makes the variance least, see
            :data:`ESTIMATED`, 0 where F is the same on all topics.
        variance: one of :data:`VARIANCES`, read where lambda is estimated.

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered Inference,
    https://arxiv.org/abs/2311.01453; Efron and Stein 1981, The jackknife estimate of variance.
    """
    y, f, f_more = values.human, values.judge, values.unlabelled
    n, more = len(y), len(f_more)
    every = np.concatenate([f, f_more])
    if weight is None:
        covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).sum(axis=0) / (n - 1)
        lam = cut_weight(covariance, (1 + n / more) * every.var(axis=0, ddof=1))
    else:
        lam = np.full(y.shape[1], float(weight))
    if weight is None and variance == JACKKNIFE:
        of_topics = _jackknife(values)
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


def _jackknife(values: TopicValues) -> Floats:
    """Return (columns,): the variance of the estimates over the n topics, by leaving each of them out."""
    y, f, f_more = values.human, values.judge, values.unlabelled
    n, more = len(y), len(f_more)
    every = np.concatenate([f, f_more])
    y_off, f_off, off = y - y.mean(axis=0), f - f.mean(axis=0), f - every.mean(axis=0)
    # sums of products about the mean of what is left, without each topic
    shared = (y_off * f_off).sum(axis=0) - y_off * f_off * n / (n - 1)
    spread = ((every - every.mean(axis=0)) ** 2).sum(axis=0) - off**2 * (n + more) / (n + more - 1)
    lam = cut_weight(shared / (n - 2), (1 + (n - 1) / more) * spread / (n + more - 2))
    gap = f_more.mean(axis=0) - f.mean(axis=0)
    # how far the estimate without a topic is from the mean by people's labels
    moved = lam * (gap + f_off / (n - 1)) - y_off / (n - 1)
    found: Floats = moved.var(axis=0) * (n - 1)
    return found


def powered_differences(values: TopicValues, weight: float | None = None, variance: str = JACKKNIFE) -> PoweredMeans:
    """Return the prediction-powered mean difference of each pair of columns, the first minus the second.

    Args:
        values: of the columns.
        weight: lambda of all pairs, None for the best of each.
        variance: one of :data:`VARIANCES`.

    Returns:
        The pairs in the order of ``numpy.triu_indices(columns, 1)``.
    """
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


def effective(n: int, alone: Floats, powered: Floats) -> Floats:
    """Return n times a variance by people's labels alone over the one with a model's; NaN where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = n * alone / powered
    return found


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
    p: Floats = np.where((estimate == 0) & (se == 0), 1.0, 2 * stdtr(n - 1, -t))
    return p
