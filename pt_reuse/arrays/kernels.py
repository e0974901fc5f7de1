"""Effectiveness measures as walks down ranked lists: all lists take their i-th hit at once.

Each kernel does trec_eval's operations in trec_eval's order, so a score is the same to the last bit. Where a score is
a quotient of something of the list and something of the (topic, judgment set), the kernel computes the dividend alone:
a list that holds no changed document then needs no second walk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.errors import InputError

Labels = NDArray[np.int16]


@dataclass(frozen=True)
class Changes:
    """Judgment sets as what they change in a base set."""

    n_sets: int  # how many sets; one that changes nothing is the base set
    in_set: NDArray[np.int64]
    row: NDArray[np.int64]
    label: Labels

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Changes:
        """Return some of the changes; the sets stay."""
        return Changes(self.n_sets, self.in_set[chosen], self.row[chosen], self.label[chosen])

    def within(self, rows: slice) -> Changes:
        """Return the changes of some rows, counted from the first of these; for changes in the order of the rows."""
        first, stop = np.searchsorted(self.row, [rows.start, rows.stop]).tolist()
        mine = slice(first, stop)
        return Changes(self.n_sets, self.in_set[mine], self.row[mine] - rows.start, self.label[mine])


NO_CHANGES = Changes(0, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int16))


@dataclass(frozen=True)
class Judgments:
    """Judgments of neighbouring topics and what further sets change in them."""

    starts: NDArray[np.int64]  # (topics + 1,) rows of each topic, from 0
    labels: Labels  # (rows,) base labels
    changes: Changes = NO_CHANGES  # the further sets

    def of(self, topics: range) -> Judgments:
        """Return the judgments of some neighbouring topics; for changes in the order of the rows."""
        first, stop = int(self.starts[topics.start]), int(self.starts[topics.stop])
        starts = self.starts[topics.start : topics.stop + 1] - first
        return Judgments(starts, self.labels[first:stop], self.changes.within(slice(first, stop)))

    def visible(self) -> Judgments:
        """Return them without the changes that a measure blind to non-relevant documents cannot see."""
        seen = np.maximum(self.labels[self.changes.row], self.changes.label) > 0
        return Judgments(self.starts, self.labels, self.changes.take(seen))

    def relevant(self) -> NDArray[np.bool_]:
        """Return (rows,): which are relevant in the base set or in any other."""
        wanted = self.labels > 0
        wanted[self.changes.row[self.changes.label > 0]] = True
        return wanted

    def every_label(self) -> Labels:
        """Return each label that occurs in some set."""
        seen = np.zeros(2**16, dtype=bool)
        for labels in (self.labels, self.changes.label):
            seen[labels.view(np.uint16)] = True
        return np.sort(np.flatnonzero(seen).astype(np.uint16).view(np.int16))


#: the label of a document that a judgment set does not hold
UNJUDGED = np.int16(-(2**15))


class Cells:
    """(topic, judgment set) pairs: all topics under the base set first, then each pair that a change reaches."""

    def __init__(self, judgments: Judgments):
        starts, changes = judgments.starts, judgments.changes
        n_topics = len(starts) - 1
        topic = np.searchsorted(starts, changes.row, side="right") - 1
        width = int(changes.in_set.max(initial=0)) + 1
        pairs, cell = np.unique(topic * width + changes.in_set, return_inverse=True)
        self.n_topics = n_topics
        self.topic = np.concatenate([np.arange(n_topics), pairs // width])
        self.set = pairs % width  # of the cells after the first n_topics
        self.of_change = cell + n_topics
        self._judgments = judgments

    def __len__(self) -> int:
        return len(self.topic)

    def count(self, low: int, high: int | None = None) -> NDArray[np.int64]:
        """Return (cells,): documents with a label from `low` up to, not including, `high`."""

        def inside(values: NDArray[np.int16]) -> NDArray[np.bool_]:
            return (values >= low) & (values < high) if high is not None else values >= low

        labels, changes = self._judgments.labels, self._judgments.changes
        counts = np.diff(np.searchsorted(np.flatnonzero(inside(labels)), self._judgments.starts))[self.topic]
        before, after = inside(labels[changes.row]), inside(changes.label)
        np.add.at(counts, self.of_change, after.astype(np.int64) - before)
        return counts

    def ideal(self, gain_of_label: dict[int, float], cutoff: int | None) -> NDArray[np.float64]:
        gains = sorted(set(gain_of_label.values()), reverse=True)
        labels_of = [[label for label, gain in gain_of_label.items() if gain == level] for level in gains]
        reached = np.cumsum([sum(self.count(label, label + 1) for label in labels) for labels in labels_of], axis=0)
        longest = int(reached[-1].max(initial=0)) if len(gains) else 0
        width = longest if cutoff is None else min(cutoff, longest)
        if width == 0:
            return np.zeros(len(self))
        at_rank = np.zeros((len(self), width))
        for level, up_to in zip(gains[::-1], reached[::-1], strict=True):
            at_rank[np.arange(width) < up_to[:, None]] = level
        # cumsum adds one after the other, as trec_eval does; sum would not
        return np.cumsum(at_rank / discounts(width)[1:], axis=1)[:, -1]


def discounts(size: int) -> NDArray[np.float64]:
    """Return log2(rank + 1) for the ranks 0..size."""
    return _discount_table(max(1024, 1 << size.bit_length()))[: size + 1]


def ratio(dividend: NDArray[np.float64], divisor: NDArray[Any]) -> NDArray[np.float64]:
    """Return quotients, 0 where the divisor is not above 0."""
    positive = divisor > 0
    if positive.all():
        return dividend / divisor
    return np.divide(dividend, divisor, out=np.zeros(dividend.shape), where=positive)


@lru_cache(maxsize=4)
def _discount_table(size: int) -> NDArray[np.float64]:
    # the C library's log2, as trec_eval calls it: numpy's own may differ in the last bit
    return np.array([1.0] + [math.log2(rank + 1) for rank in range(1, size + 1)])


_HIGHEST_EXPONENT = 1000  # leaves room for the sum of many
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Spec:
    """One native measure: a kernel's name and its parameters."""

    kernel: str  # a key of `KERNELS`
    cutoff: int | None = None  # rank to stop at; None for the whole list
    rel: int = 1  # lowest label that counts as relevant
    judged_only: bool = False  # drop documents without a judgment from the lists first (trec_eval -J)
    p: float = 0.8  # persistence of RBP
    exponential: bool = False  # gain 2^label - 1 instead of the label
    gains: tuple[tuple[int, int], ...] = ()  # (label, gain) pairs that replace labels
    min_label: int = 0  # lowest label that counts as judged (judged, unjudged)
    of_cutoff: bool = False  # divide by the cutoff, not by the documents returned (unjudged)

    @property
    def sees_nonrelevant(self) -> bool:
        """Tell whether the score depends on which documents were judged not relevant."""
        return self.judged_only or self.kernel in ("bpref", "judged", "unjudged") or bool(self.gains)

    @property
    def depth(self) -> int | None:
        """Return the rank below which hits cannot matter, None for no such rank."""
        return None if self.judged_only else self.cutoff

    def gain_of_label(self, labels: Labels) -> dict[int, float]:
        """Return the gain of each label present that has one above 0."""
        gains = self.replaced(labels)
        highest = max(gains.values(), default=0)
        if self.exponential and highest > _HIGHEST_EXPONENT:
            raise InputError(
                f"nDCG(dcg='exp-log2'): label {highest} would have the gain 2^{highest} - 1, beyond float64. Use the "
                f"measure nDCG, or map the labels to lower grades by the measure's gains."
            )
        return {label: 2.0**gain - 1 if self.exponential else float(gain) for label, gain in gains.items() if gain > 0}

    def replaced(self, labels: Labels) -> dict[int, int]:
        """Return what stands for each label present."""
        gains = dict(self.gains)
        return {label: gains.get(label, label) for label in np.unique(labels).tolist() if label != UNJUDGED}


@dataclass(frozen=True)
class Lists:
    """The lists of a walk."""

    lengths: NDArray[np.int64]  # (lists,) documents retrieved, judged or not
    cell: NDArray[np.int64]  # (lists,) the (topic, judgment set) of each among `cells`
    cells: Cells  # facts about these
    labels: Labels  # every label that occurs in some judgment set


class Kernel:
    """Adds up something of each hit while it walks, list by list; `kept` names the arrays that grow on the way."""

    kept: tuple[str, ...] = ("total",)
    local = True  # the list's number depends on the labels of its own documents alone

    def __init__(self, lists: Lists, spec: Spec):
        self.total = np.zeros(len(lists.lengths))
        self.rel = spec.rel

    @staticmethod
    def of_cell(cells: Cells, spec: Spec, labels: Labels) -> Values:
        """Return what the number of a list is divided by, of each (topic, judgment set)."""
        return np.ones(len(cells))

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        """Take rank and label of one more hit of the first n lists."""
        self.total[:n] += label >= self.rel

    def resume(self, other: Any, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> None:
        """Take over some lists of another walker of the same kernel where it stands."""
        for name in self.kept:
            getattr(self, name)[mine] = getattr(other, name)[theirs]

    def values(self) -> Values:
        """Return (lists,) numbers."""
        return self.total


class _Precision(Kernel):
    @staticmethod
    def of_cell(cells: Cells, spec: Spec, labels: Labels) -> Values:
        return np.full(len(cells), float(spec.cutoff or 1))


class _Recall(Kernel):
    @staticmethod
    def of_cell(cells: Cells, spec: Spec, labels: Labels) -> Values:
        return cells.count(spec.rel).astype(np.float64)


class _AveragePrecision(_Recall):
    kept = ("total", "found")

    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.found = np.zeros(len(lists.lengths))

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        relevant = label >= self.rel
        found, total = self.found[:n], self.total[:n]
        if relevant.all():  # nearly always so where hits are relevant documents only
            found += 1.0
            total += found / rank
            return
        found += relevant
        precision = found / rank
        precision *= relevant
        total += precision


class _Success(Kernel):
    def values(self) -> Values:
        return (self.total > 0).astype(np.float64)


class _ReciprocalRank(Kernel):
    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        total = self.total[:n]
        np.divide(1.0, rank, out=total, where=(label >= self.rel) & (total == 0))


class _RPrecision(_Recall):
    local = False

    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.n_relevant = lists.cells.count(spec.rel)[lists.cell]

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        self.total[:n] += (label >= self.rel) & (rank <= self.n_relevant[:n])


class _BinaryPreference(_RPrecision):
    kept = ("total", "above")

    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.above = np.zeros(len(lists.lengths), dtype=np.int64)
        n_nonrelevant = lists.cells.count(0, spec.rel)[lists.cell]
        # at least 1: where nothing is relevant the score is 0 anyhow
        self.most = np.maximum(np.minimum(self.n_relevant, n_nonrelevant), 1).astype(np.float64)

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        relevant = label >= self.rel
        above = self.above[:n]
        lost = np.divide(np.minimum(above, self.n_relevant[:n]), self.most[:n], out=np.zeros(n), where=above > 0)
        self.total[:n] += (1.0 - lost) * relevant
        above += (label >= 0) & ~relevant


def _table(values: dict[int, float]) -> Values:
    """Return a number for each label, by its 16 bits; 0 for those that have none."""
    table = np.zeros(2**16)
    for label, value in values.items():
        table[label] = value
    return table


class _Gain(Kernel):
    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.gain = _table(spec.gain_of_label(lists.labels))
        self.discounts = discounts(int(lists.lengths.max(initial=1)))

    @staticmethod
    def of_cell(cells: Cells, spec: Spec, labels: Labels) -> Values:
        return cells.ideal(spec.gain_of_label(labels), spec.cutoff)

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        gain = self.gain.take(label.view(np.uint16))
        gain /= self.discounts.take(rank)
        self.total[:n] += gain


class _RankBiased(Kernel):
    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        # Python's power is the C library's; numpy's own may differ in the last bit
        ranks = range(int(lists.lengths.max(initial=1)))
        self.weights = np.array([0.0] + [(1 - spec.p) * spec.p**above for above in ranks])

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        self.total[:n] += self.weights.take(rank) * (label >= self.rel)


class _Judged(Kernel):
    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.spec, self.rel = spec, max(spec.min_label, int(UNJUDGED) + 1)
        self.returned = lists.lengths if spec.cutoff is None else np.minimum(lists.lengths, spec.cutoff)

    def values(self) -> Values:
        return np.divide(self.total, self.returned, out=np.zeros(len(self.total)), where=self.returned > 0)


class _UnjudgedRanks(_Judged):
    def values(self) -> Values:
        if self.spec.of_cutoff:
            return (self.returned - self.total) / float(self.spec.cutoff or 1)
        return 1.0 - super().values()


class JudgedOnly(Kernel):
    """Walks for another kernel as if documents without a judgment were not in the lists."""

    kept = ("rank",)

    def __init__(self, inner: Kernel, lists: Lists, spec: Spec):
        self.inner, self.cutoff = inner, spec.cutoff
        self.rank = np.zeros(len(lists.lengths), dtype=np.int64)
        replaced = spec.replaced(lists.labels)
        self.judged = _table({label: 1.0 for label, value in replaced.items() if value >= 0})

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        condensed = self.rank[:n]
        condensed += self.judged.take(label.view(np.uint16)) > 0
        if self.cutoff is not None:
            label = np.where(condensed <= self.cutoff, label, UNJUDGED)
        self.inner.step(n, np.maximum(condensed, 1), label)

    def resume(self, other: Any, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> None:
        super().resume(other, mine, theirs)
        self.inner.resume(other.inner, mine, theirs)

    def values(self) -> Values:
        return self.inner.values()


KERNELS: dict[str, type[Kernel]] = {
    "ap": _AveragePrecision,
    "p": _Precision,
    "r": _Recall,
    "success": _Success,
    "rr": _ReciprocalRank,
    "rprec": _RPrecision,
    "bpref": _BinaryPreference,
    "ndcg": _Gain,
    "rbp": _RankBiased,
    "judged": _Judged,
    "unjudged": _UnjudgedRanks,
}

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


def over_orders(spec: Spec, ranked: TiedList, judged: Labels) -> tuple[float, float, float]:
    """Return the lowest, the mean and the highest score of a list over all orders of its groups.

    `judged` are the labels of all judgments of the topic.
    """
    worth, returned = _worth(spec, np.unique(np.concatenate([ranked.labels, judged]))), len(ranked.labels)
    if spec.judged_only:
        kept = np.isin(ranked.labels, [label for label, value in spec.replaced(ranked.labels).items() if value >= 0])
        ranked = TiedList(ranked.labels[kept], ranked.group[kept])
    elif spec.cutoff is not None and spec.cutoff < len(ranked.group):
        # the groups that begin above or at the cutoff
        end = int(np.searchsorted(ranked.group, ranked.group[spec.cutoff - 1], side="right"))
        ranked = TiedList(ranked.labels[:end], ranked.group[:end])
    values = worth(ranked.labels)
    # the orders in which the documents of each group ascend, and descend, by what they are worth
    worst, best = (
        TiedList(ranked.labels[np.lexsort((order, ranked.group))], np.arange(len(ranked.labels)))
        for order in (values, -values)
    )
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
        # at each rank, if it has a relevant document, how many relevant ones stand there and above
        above = np.cumsum(sums) - sums
        inside = rank - 1 - ranked.before[ranked.place]  # documents of the group above
        others = np.maximum(sums - 1, 0) / np.maximum(ranked.size - 1, 1)
        relevant = above[ranked.place] + 1 + inside * others[ranked.place]
        return _divided(float((at_rank * relevant / rank)[top].sum()), n)
    if kernel in ("rr", "success"):
        some = np.flatnonzero(sums)
        if not len(some):
            return 0.0
        # the ranks at which the first relevant document may stand, and how likely each is
        size, r, before = (int(of[some[0]]) for of in (ranked.size, sums, ranked.before))
        left = np.arange(size, r - 1, -1.0)  # documents of the group that may stand at the rank
        none_above = np.concatenate([[1.0], np.cumprod((left - r) / left)[:-1]])
        first, chance = np.arange(len(left), dtype=np.float64) + (before + 1), none_above * r / left
        down = first <= (spec.cutoff or np.inf)
        return float((chance / first)[down].sum()) if kernel == "rr" else min(float(chance[down].sum()), 1.0)
    if kernel == "bpref":
        relevant, negative = ranked.sums(values > 0), ranked.sums(values < 0)
        most, above, total = int(((judged >= 0) & (judged < spec.rel)).sum()), np.cumsum(negative) - negative, 0.0
        for g in np.flatnonzero(relevant).tolist():
            # of those in the group, each number is as likely to stand above a relevant document
            count = above[g] + np.arange(negative[g] + 1)
            total += relevant[g] * float((1 - np.minimum(count, n) / max(min(n, most), 1)).mean())
        return _divided(total, n)
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
