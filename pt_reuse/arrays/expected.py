"""Scores of lists some of whose documents are relevant with a probability, and how probabilities are learned.

A document that is judged has the probability 0 or 1, so that a list without unjudged documents gets its very score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import Spec, discounts, ratio

Floats = NDArray[np.float64]
#: what the ridge of a logistic regression weighs
_RIDGE = 2.0
_STEPS, _CLOSE = 30, 1e-4


@dataclass(frozen=True)
class Likely:
    """Ranked lists of some runs, each document of which has each label with a probability."""

    at_least: Mapping[int, Floats]  # label -> (runs, topics, ranks) how likely a document has at least that
    total: Mapping[int, Floats]  # label -> (topics,) how many documents of the topic are expected to
    gains: Mapping[int, float]  # label -> the gain of nDCG

    def top(self, cutoff: int | None) -> Likely:
        """Return the lists down to a cutoff."""
        return Likely({label: chance[..., :cutoff] for label, chance in self.at_least.items()}, self.total, self.gains)


#: label -> (runs, topics, ranks) what a document more with it would change
Changes = Mapping[int, Floats]
#: the expected scores, (runs, topics), and the changes, computed where they are asked for
Expected = tuple[Floats, Callable[[], Changes]]


def expected_scores(spec: Spec, lists: Likely) -> Expected:
    """Return the expected scores of lists by a measure: exact for P, RBP, Success and RR, for AP, nDCG and R nearly so.

    Those three divide what a document gains by what the others are expected to make of the divisor, and itself.
    """
    return EXPECTED[spec.kernel](spec, lists.top(spec.cutoff))


def _ranks(chance: Floats) -> Floats:
    return np.arange(1.0, chance.shape[2] + 1)


def _weighted(chance: Floats, weights: Floats, spec: Spec) -> Expected:
    return chance @ weights, lambda: {spec.rel: np.broadcast_to(weights, chance.shape)}


def _precision(spec: Spec, lists: Likely) -> Expected:
    chance = lists.at_least[spec.rel]
    return _weighted(chance, np.full(chance.shape[2], 1.0 / (spec.cutoff or 1)), spec)


def _rank_biased(spec: Spec, lists: Likely) -> Expected:
    chance = lists.at_least[spec.rel]
    return _weighted(chance, (1 - spec.p) * spec.p ** (_ranks(chance) - 1), spec)


def _before(nothing: Floats) -> Floats:
    """Return for each rank the chance that nothing above it is relevant."""
    return np.concatenate([np.ones((*nothing.shape[:2], 1)), np.cumprod(nothing, axis=2)[..., :-1]], axis=2)


def _reciprocal_rank(spec: Spec, lists: Likely) -> Expected:
    chance = lists.at_least[spec.rel]
    first, parts = _before(1 - chance), 1 / _ranks(chance)

    def changes() -> Changes:
        below = np.zeros_like(first)
        rest = np.zeros(first.shape[:2])
        for rank in range(first.shape[2] - 1, -1, -1):
            # what the list below would score, were nothing above relevant
            below[..., rank] = rest
            rest = chance[..., rank] * parts[rank] + (1 - chance[..., rank]) * rest
        return {spec.rel: first * (parts - below)}

    return (first * chance * parts).sum(axis=2), changes


def _success(spec: Spec, lists: Likely) -> Expected:
    chance = lists.at_least[spec.rel]
    above = _before(1 - chance)
    return 1 - np.prod(1 - chance, axis=2), lambda: {spec.rel: above * _before(1 - chance[..., ::-1])[..., ::-1]}


def _recall(spec: Spec, lists: Likely) -> Expected:
    chance = lists.at_least[spec.rel]
    whole = _with_itself(chance, lists.total[spec.rel])
    parts = ratio(chance, whole)
    return parts.sum(axis=2), lambda: {spec.rel: ratio(np.ones(chance.shape), whole) - _of_others(ratio(parts, whole))}


def _average_precision(spec: Spec, lists: Likely) -> Expected:
    chance = lists.at_least[spec.rel]
    whole = _with_itself(chance, lists.total[spec.rel])
    weight = ratio(np.broadcast_to(1 / _ranks(chance), chance.shape), whole)
    above = np.cumsum(chance, axis=2) - chance
    parts = chance * weight
    scored = parts * (1 + above)

    def changes() -> Changes:
        below = np.cumsum(parts[..., ::-1], axis=2)[..., ::-1] - parts
        return {spec.rel: (1 + above) * weight + below - _of_others(ratio(scored, whole))}

    return scored.sum(axis=2), changes


def _with_itself(chance: Floats, total: Floats) -> Floats:
    """Return (runs, topics, ranks) how many documents are expected to be relevant if that of a rank is."""
    found: Floats = total[:, None] + 1 - chance
    return found


def _of_others(values: Floats) -> Floats:
    """Return (runs, topics, ranks) the sum of what other ranks have."""
    found: Floats = values.sum(axis=2, keepdims=True) - values
    return found


def divisor(spec: Spec, total: Mapping[int, Floats], gains: Mapping[int, float]) -> Floats:
    """Return (topics,) what scores are divided by where so many documents have each label; 1 where by nothing."""
    if spec.kernel in ("ap", "r"):
        return np.maximum(total[spec.rel], 1e-12)
    if spec.kernel != "ndcg":
        return np.ones(len(total[spec.rel]))
    labels = sorted(label for label in total if label in gains)
    steps = np.diff([gains[label] for label in labels], prepend=0.0).tolist()
    most = max([1, *(int(np.ceil(total[label].max(initial=0))) for label in labels)])
    sums = np.concatenate([[0.0], np.cumsum(1 / discounts(most + 1)[1:])])
    seen = [np.minimum(total[label], spec.cutoff or most) for label in labels]
    ideal = np.sum(
        [step * np.interp(x, np.arange(len(sums)), sums) for step, x in zip(steps, seen, strict=True)], axis=0
    )
    return np.maximum(ideal, 1e-12)


def _gain(spec: Spec, lists: Likely) -> Expected:
    labels = sorted(label for label in lists.at_least if label in lists.gains)
    steps = dict(zip(labels, np.diff([lists.gains[label] for label in labels], prepend=0.0).tolist(), strict=True))
    shape = next(iter(lists.at_least.values())).shape
    longest = max([shape[2], *(int(np.ceil(lists.total[label].max(initial=0))) for label in labels)]) + 1
    weight = 1 / discounts(longest)[1:]
    cutoff = min(spec.cutoff or longest, longest)
    sums = np.concatenate([[0.0], np.cumsum(weight)])
    sums, weight = np.minimum(sums, sums[cutoff]), np.where(np.arange(longest) < cutoff, weight, 0.0)
    score, terms = np.zeros(shape[:2]), []
    for label in labels:
        # a document with this label has each lower one, and a higher one as often as documents with this label have it
        chance, ideal, slopes = lists.at_least[label], np.zeros(shape), {}
        for other in labels:
            chance_of_other = lists.at_least[other]
            more = (1.0 if other <= label else ratio(chance_of_other, chance)) - chance_of_other
            length = np.minimum(lists.total[other][:, None] + more, longest)
            whole = np.minimum(length.astype(np.int64), longest - 1)
            slopes[other] = steps[other] * weight[whole]
            ideal += steps[other] * (sums[whole] + (length - whole) * weight[whole])
        gained = ratio(np.broadcast_to(steps[label] / discounts(shape[2])[1:], shape), ideal)
        score += (chance * gained).sum(axis=2)
        terms.append((chance, gained, slopes, ideal))

    def changes() -> Changes:
        every = {label: np.zeros(shape) for label in labels}
        for label, (chance, gained, slopes, ideal) in zip(labels, terms, strict=True):
            every[label] += gained
            for other in labels:
                # one more relevant document makes the ideal list longer, as far as the cutoff
                every[other] -= _of_others(ratio(chance * gained * slopes[other], ideal))
        return every

    return score, changes


#: kernel -> its expected scores
EXPECTED: dict[str, Callable[[Spec, Likely], Expected]] = {
    "p": _precision,
    "rbp": _rank_biased,
    "rr": _reciprocal_rank,
    "success": _success,
    "r": _recall,
    "ap": _average_precision,
    "ndcg": _gain,
}


@dataclass(frozen=True)
class Logistic:
    """A logistic regression with a small ridge, by Newton's method; the first feature is the constant."""

    columns: Floats  # (features, rows) what it is fitted to
    positive: NDArray[np.bool_]  # (rows,)
    found: Floats  # (features,) the coefficients
    curve: Floats  # (features, features) how sharply the likelihood peaks there
    slope: Floats  # (features,) that of the likelihood there

    @classmethod
    def fit(cls, features: Floats, positive: NDArray[np.bool_]) -> Logistic:
        """Fit it to (rows, features) and (rows,) what is so."""
        columns = np.ascontiguousarray(features.T)
        ridge, found = _ridge(columns), np.zeros(len(columns))
        curve = np.diag(ridge)
        for _ in range(_STEPS):
            curve = _bend(columns, found) + np.diag(ridge)
            step = np.linalg.solve(curve, _slope(columns, positive, found) - ridge * found)
            found += step
            if np.abs(step).max() < _CLOSE:
                break
        return cls(columns, positive, found, curve, _slope(columns, positive, found))

    def without(self, rows: slice) -> Floats:
        """Return the coefficients without some of the rows.

        They are near those with all rows, so that the curve there serves for every step.
        """
        mine, positive = self.columns[:, rows], self.positive[rows]
        ridge, found = _ridge(mine), self.found.copy()
        curve, slope = self.curve - _bend(mine, found), self.slope
        for _ in range(_STEPS):
            step = np.linalg.solve(curve, slope - _slope(mine, positive, found) - ridge * found)
            found += step
            if np.abs(step).max() < _CLOSE:
                break
            slope = _slope(self.columns, self.positive, found)
        return found


def _ridge(columns: Floats) -> Floats:
    return np.append(1e-6, np.full(len(columns) - 1, _RIDGE))


def _chance(columns: Floats, at: Floats) -> Floats:
    from scipy.special import expit

    # not by BLAS: with threads, products of thin matrices take many times as long on a busy machine
    found: Floats = expit(np.einsum("fr,f->r", columns, at))
    return found


def _slope(columns: Floats, positive: NDArray[np.bool_], at: Floats) -> Floats:
    found: Floats = np.einsum("fr,r->f", columns, positive - _chance(columns, at))
    return found


def _bend(columns: Floats, at: Floats) -> Floats:
    chance = _chance(columns, at)
    found: Floats = (columns * (chance * (1 - chance))) @ columns.T
    return found


def by_unit(values: Floats, unit: NDArray[np.int64], share: float) -> float:
    """Return the lowest value that `share` of the units have at most, a unit's weight spread over its values."""
    found = _reached(values, unit, share * len(np.unique(unit)))
    return float(values.max()) if np.isinf(found) and len(values) else found


def conformal_quantile(errors: Floats, unit: NDArray[np.int64], confidence: float) -> float:
    """Return what the error of one more unit exceeds with a probability of at most 1 - confidence; maybe infinite.

    Units are exchangeable, and the runs of a unit share its one weight; the new unit has a weight of its own.
    """
    return _reached(errors, unit, confidence * (len(np.unique(unit)) + 1))


def _reached(values: Floats, unit: NDArray[np.int64], weight: float) -> float:
    weights = 1 / np.bincount(unit)[unit]
    order = np.argsort(values, kind="stable")
    at = int(np.searchsorted(np.cumsum(weights[order]), weight - 1e-9))
    return float(values[order[at]]) if at < len(order) else np.inf
