"""Totals over documents of which people labelled a sample, with a model's labels of all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.stats._ranking_input import DECIMALS
from pt_reuse.stats.prediction_powered import cut_weight

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SampledDocuments:
    """The documents of one topic, of which some are labelled by people.

    Attributes:
        sampled: (documents,) whether people labelled it.
        inclusion: (documents,) the probability that they would; read where they did.
        stratum: (documents,) the stratum of each, in which so many were drawn without replacement; None where each
            document was drawn by itself, with its own probability.
        human: (documents,) gains by people's labels; read where there are some.
        judge: (documents,) gains by the model's labels.
    """

    sampled: NDArray[np.bool_]
    inclusion: Floats
    stratum: NDArray[np.int64] | None
    human: Floats
    judge: Floats


@dataclass(frozen=True)
class TopicTotals:
    """Sums of weight times gain over the documents of a topic, for each column of weights.

    Attributes:
        human: (columns,) by people's labels, each counted 1 / inclusion: the estimate of Horvitz and Thompson.
        sampled: (columns,) the same by the model's labels of the same documents.
        judge: (columns,) by the model's labels, over all documents.
        human_spread: (columns, columns) estimated covariances of `human` over the samples that there could be.
        shared_spread: (columns, columns) of `human` with `sampled`.
        judge_spread: (columns, columns) of `sampled`.
        known: whether each stratum that is not labelled in full has two labelled documents, without which its spread
            is not known and counts as none.
    """

    human: Floats
    sampled: Floats
    judge: Floats
    human_spread: Floats
    shared_spread: Floats
    judge_spread: Floats
    known: bool


def totals_of(documents: SampledDocuments, weights: Floats) -> TopicTotals:
    """Return the totals of a topic.

    Covariances are those of stratified sampling without replacement, sum of N^2 (1 - n/N) s^2 / n over strata, or where
    documents were drawn one by one, sum of (1 - inclusion) / inclusion^2 times the product.

    Args:
        documents: of the topic.
        weights: (documents, columns) of each document.

    Source: Horvitz and Thompson 1952; Särndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, chapter 3.
    """
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
    """Totals of each topic by the model's labels, corrected by those of people.

    Attributes:
        human: (topics, columns) by people's labels alone.
        judge: (topics, columns) by the model's labels.
        estimate: (topics, columns) the difference estimate: human + lambda (judge of all - judge of the sampled).
        weight: (columns,) lambda.
        human_variance: (columns,) of the sum of `human` over the topics, over the samples that there could be.
        variance: (columns,) of the sum of `estimate`.
    """

    human: Floats
    judge: Floats
    estimate: Floats
    weight: Floats
    human_variance: Floats
    variance: Floats


def corrected_totals(topics: list[TopicTotals], pairs: bool, weight: float | None) -> CorrectedTotals:
    """Return the difference estimates.

    With lambda 1 the estimate is unbiased whatever the model says. Lambda 0 is people's labels alone. The estimated one
    makes the sum of the variances over samples least: it is one for all topics and columns, so that it is fitted to
    many documents, and its bias is of the order of 1 over their number.

    Args:
        topics: the totals of each.
        pairs: of all pairs of columns, the first less the second, in place of the columns.
        weight: lambda, None for the best of all columns.

    Source: Särndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, chapter 6, for the difference estimator.
    """
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
    """Return how many documents of a pool people would have to label for the same variance; NaN where both are 0.

    A sample of n of P documents has a variance that goes with 1/n - 1/P, so that no number is beyond the pool.

    Args:
        n: documents that people labelled.
        size: documents of the pool, P.
        alone: (columns,) variances by people's labels alone.
        powered: (columns,) variances with the model's.
    """
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
