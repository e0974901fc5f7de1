"""Scores of a list some of whose documents have equal scores: the lowest, mean and highest over all of their orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.changes import Labels
from pt_reuse.arrays.kernels import UNJUDGED, Spec, discounts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TiedList:
    """A ranked list: documents of one group may stand in any order, groups stand one after the other."""

    labels: Labels  # (documents,) UNJUDGED for a document without a judgment
    group: NDArray[np.int64]  # (documents,) ascending

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """Return (documents,): the group of each, counted from 0."""
        return np.cumsum(np.diff(self.group, prepend=self.group[:1]) != 0)

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """Return (groups,): how many documents each has."""
        return np.bincount(self.place)

    @cached_property
    def before(self) -> NDArray[np.int64]:
        """Return (groups,): how many documents stand before each."""
        return np.cumsum(self.size) - self.size

    @cached_property
    def rank(self) -> Floats:
        return np.arange(1.0, len(self.labels) + 1)

    def sums(self, values: NDArray) -> Floats:
        """Return (groups,): the sum of what each of its documents has."""
        return np.bincount(self.place, weights=values, minlength=len(self.size)).astype(np.float64)

    def sorted_by(self, values: Floats) -> TiedList:
        """Return the one order in which the documents of each group ascend by a value."""
        return TiedList(self.labels[np.lexsort((values, self.group))], np.arange(len(self.labels)))

    def down_to(self, cutoff: int | None) -> TiedList:
        """Return the groups that begin above or at a rank."""
        if cutoff is None or cutoff >= len(self.group):
            return self
        end = int(np.searchsorted(self.group, self.group[cutoff - 1], side="right"))
        return TiedList(self.labels[:end], self.group[:end])

    def judged_alone(self, spec: Spec) -> TiedList:
        """Return the list without its unjudged documents."""
        judged = {label for label, value in spec.replaced(self.labels).items() if value >= 0}
        kept = np.isin(self.labels, list(judged))
        return TiedList(self.labels[kept], self.group[kept])


def over_orders(spec: Spec, ranked: TiedList, judged: Labels) -> tuple[float, float, float]:
    """Return the lowest, the mean and the highest score of a list over all orders of its groups.

    `judged` are the labels of all judgments of the topic.
    """
    worth, returned = _worth(spec, np.unique(np.concatenate([ranked.labels, judged]))), len(ranked.labels)
    ranked = ranked.judged_alone(spec) if spec.judged_only else ranked.down_to(spec.cutoff)
    values = worth(ranked.labels)
    worst, best = (ranked.sorted_by(order) for order in (values, -values))
    same = bool((worth(worst.labels) == worth(best.labels)).all())
    low, mean, high = (
        _mean(spec, one, worth(one.labels), judged, worth(judged), returned)
        for one in (worst, worst if same else ranked, worst if same else best)
    )
    return low, mean, high


def _worth(spec: Spec, every: Labels) -> Callable[[Labels], Floats]:
    """Return what gives each label a number: no measure falls where a document of a higher one moves up."""
    if spec.kernel == "ndcg":
        gains = spec.gain_of_label(every)
        table = np.array([gains.get(label, 0.0) for label in every.tolist()])
        return lambda labels: table[np.searchsorted(every, labels)]
    if spec.kernel in ("judged", "unjudged"):
        lowest = max(spec.min_label, int(UNJUDGED) + 1)
        sign = 1.0 if spec.kernel == "judged" else -1.0
        return lambda labels: (sign * (labels >= lowest)).astype(np.float64)
    if spec.kernel == "bpref":
        # what is judged not relevant costs the relevant documents below it
        return lambda labels: np.where(labels >= spec.rel, 1.0, np.where(labels >= 0, -1.0, 0.0))
    return lambda labels: (labels >= spec.rel).astype(np.float64)


def _mean(
    spec: Spec, ranked: TiedList, values: Floats, judged: Labels, worth_of_judged: Floats, returned: int
) -> float:
    # the mean score over all orders; `values` are what the documents of the list are worth
    kernel, rank, top = spec.kernel, ranked.rank, ranked.rank <= (spec.cutoff or np.inf)
    n = int((judged >= spec.rel).sum())
    sums = ranked.sums(values)
    # at each rank stands a document of the group, each as often
    at_rank = (sums / np.maximum(ranked.size, 1))[ranked.place] * top
    if kernel == "ap":
        return _divided(float((at_rank * _relevant_above(ranked, sums) / rank)[top].sum()), n)
    if kernel in ("rr", "success"):
        first, chance = _first_relevant(ranked, sums)
        down = first <= (spec.cutoff or np.inf)
        return float((chance / first)[down].sum()) if kernel == "rr" else min(float(chance[down].sum()), 1.0)
    if kernel == "bpref":
        return _divided(_preferred(ranked, values, n, int(((judged >= 0) & (judged < spec.rel)).sum())), n)
    if kernel == "ndcg":
        ideal = np.sort(worth_of_judged)[::-1][: spec.cutoff]
        best = float((ideal / discounts(len(ideal))[1:]).sum())
        return _divided(float((1 / discounts(len(rank))[1:] * at_rank).sum()), best)
    if kernel == "rbp":
        return float(((1 - spec.p) * spec.p ** (rank - 1) * at_rank).sum())
    if kernel == "rprec":
        return _divided(float(((rank <= n) * at_rank).sum()), n)
    found = abs(float(at_rank.sum()))
    if kernel in ("judged", "unjudged"):
        shown = returned if spec.cutoff is None else min(returned, spec.cutoff)
        if kernel == "judged":
            return _divided(found, shown)
        return (shown - found) / (spec.cutoff or 1) if spec.of_cutoff else 1.0 - _divided(found, shown)
    return _divided(found, n) if kernel == "r" else found / (spec.cutoff or 1)


def _divided(score: float, divisor: float) -> float:
    return score / divisor if divisor else 0.0


def _relevant_above(ranked: TiedList, relevant: Floats) -> Floats:
    # at each rank, if it has a relevant document, how many relevant ones stand there and above
    above = np.cumsum(relevant) - relevant
    inside = ranked.rank - 1 - ranked.before[ranked.place]  # documents of the group above
    others = np.maximum(relevant - 1, 0) / np.maximum(ranked.size - 1, 1)
    return above[ranked.place] + 1 + inside * others[ranked.place]


def _first_relevant(ranked: TiedList, relevant: Floats) -> tuple[Floats, Floats]:
    # the ranks at which the first relevant document may stand, and how likely each is
    some = np.flatnonzero(relevant)
    if not len(some):
        return np.zeros(0), np.zeros(0)
    n, r, before = (int(of[some[0]]) for of in (ranked.size, relevant, ranked.before))
    left = np.arange(n, r - 1, -1.0)  # documents of the group that may stand at the rank
    none_above = np.concatenate([[1.0], np.cumprod((left - r) / left)[:-1]])
    return np.arange(len(left), dtype=np.float64) + (before + 1), none_above * r / left


def _preferred(ranked: TiedList, values: Floats, n: int, others: int) -> float:
    relevant, negative = ranked.sums(values > 0), ranked.sums(values < 0)
    above, total = np.cumsum(negative) - negative, 0.0
    for g in np.flatnonzero(relevant).tolist():
        # of those in the group, each number is as likely to stand above a relevant document
        count = above[g] + np.arange(negative[g] + 1)
        total += relevant[g] * float((1 - np.minimum(count, n) / max(min(n, others), 1)).mean())
    return total
