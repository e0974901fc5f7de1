"""Scores of a list some of whose documents have equal scores: the lowest, mean and highest over all of their orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import UNJUDGED, Labels, Spec, discounts

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
    """Return the lowest, the mean and the highest score over all orders of the groups.

    Args:
        spec: the measure.
        ranked: the list.
        judged: every label of the topic.
    """
    every = np.unique(np.concatenate([ranked.labels, judged]))
    worth, returned = _worth(spec, every), len(ranked.labels)
    ranked = ranked.judged_alone(spec) if spec.judged_only else ranked.down_to(spec.cutoff)
    values = worth(ranked.labels)
    worst, best = ranked.sorted_by(values), ranked.sorted_by(-values)
    low = _MEANS[spec.kernel](spec, worst, judged, worth, returned)
    if (worth(worst.labels) == worth(best.labels)).all():
        return low, low, low
    mean, high = (_MEANS[spec.kernel](spec, one, judged, worth, returned) for one in (ranked, best))
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


Mean = Callable[[Spec, TiedList, Labels, Callable[[Labels], Floats], int], float]


def _top(spec: Spec, ranked: TiedList) -> NDArray[np.bool_]:
    return ranked.rank <= (spec.cutoff or np.inf)


def _weighted(spec: Spec, ranked: TiedList, weight: Floats, values: Floats) -> float:
    # at each rank stands a document of the group, each as often
    mean = (ranked.sums(values) / np.maximum(ranked.size, 1))[ranked.place]
    return float((weight * mean * _top(spec, ranked)).sum())


def _divided(score: float, divisor: float) -> float:
    return score / divisor if divisor else 0.0


def _precision(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    return _weighted(spec, ranked, np.ones(len(ranked.labels)), worth(ranked.labels)) / (spec.cutoff or 1)


def _recall(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    found = _weighted(spec, ranked, np.ones(len(ranked.labels)), worth(ranked.labels))
    return _divided(found, int((judged >= spec.rel).sum()))


def _r_precision(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    n = int((judged >= spec.rel).sum())
    return _divided(_weighted(spec, ranked, (ranked.rank <= n).astype(np.float64), worth(ranked.labels)), n)


def _rank_biased(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    return _weighted(spec, ranked, (1 - spec.p) * spec.p ** (ranked.rank - 1), worth(ranked.labels))


def _gain(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    ideal = np.sort(worth(judged))[::-1][: spec.cutoff]
    best = float((ideal / discounts(len(ideal))[1:]).sum())
    return _divided(_weighted(spec, ranked, 1 / discounts(len(ranked.labels))[1:], worth(ranked.labels)), best)


def _judged(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    shown = returned if spec.cutoff is None else min(returned, spec.cutoff)
    found = abs(_weighted(spec, ranked, np.ones(len(ranked.labels)), worth(ranked.labels)))
    if spec.kernel == "judged":
        return _divided(found, shown)
    return (shown - found) / (spec.cutoff or 1) if spec.of_cutoff else 1.0 - _divided(found, shown)


def _average_precision(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    relevant = ranked.sums(worth(ranked.labels))
    above, size = np.cumsum(relevant) - relevant, ranked.size
    inside = ranked.rank - 1 - ranked.before[ranked.place]  # documents of the group above
    others = np.maximum(relevant - 1, 0) / np.maximum(size - 1, 1)
    found = above[ranked.place] + 1 + inside * others[ranked.place]
    parts = (relevant / size)[ranked.place] * found / ranked.rank
    return _divided(float(parts[_top(spec, ranked)].sum()), int((judged >= spec.rel).sum()))


def _first_relevant(ranked: TiedList, worth: Callable) -> tuple[Floats, Floats]:
    """Return the ranks at which the first relevant document may stand, and how likely each is."""
    relevant = ranked.sums(worth(ranked.labels))
    some = np.flatnonzero(relevant)
    if not len(some):
        return np.zeros(0), np.zeros(0)
    n, r, before = (int(of[some[0]]) for of in (ranked.size, relevant, ranked.before))
    left = np.arange(n, r - 1, -1.0)  # documents of the group that may stand at the rank
    none_above = np.concatenate([[1.0], np.cumprod((left - r) / left)[:-1]])
    return np.arange(len(left), dtype=np.float64) + (before + 1), none_above * r / left


def _reciprocal_rank(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    rank, chance = _first_relevant(ranked, worth)
    return float((chance / rank)[rank <= (spec.cutoff or np.inf)].sum())


def _success(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    rank, chance = _first_relevant(ranked, worth)
    return min(float(chance[rank <= (spec.cutoff or np.inf)].sum()), 1.0)


def _binary_preference(spec: Spec, ranked: TiedList, judged: Labels, worth: Callable, returned: int) -> float:
    n, others = int((judged >= spec.rel).sum()), int(((judged >= 0) & (judged < spec.rel)).sum())
    values = worth(ranked.labels)
    relevant, negative = ranked.sums(values > 0), ranked.sums(values < 0)
    above, total = np.cumsum(negative) - negative, 0.0
    for g in np.flatnonzero(relevant).tolist():
        # of those in the group, each number is as likely to stand above a relevant document
        count = above[g] + np.arange(negative[g] + 1)
        total += relevant[g] * float((1 - np.minimum(count, n) / max(min(n, others), 1)).mean())
    return _divided(total, n)


_MEANS: dict[str, Mean] = {
    "ap": _average_precision,
    "p": _precision,
    "r": _recall,
    "success": _success,
    "rr": _reciprocal_rank,
    "rprec": _r_precision,
    "bpref": _binary_preference,
    "ndcg": _gain,
    "rbp": _rank_biased,
    "judged": _judged,
    "unjudged": _judged,
}
