"""Effectiveness measures as walks down ranked lists: all lists take their i-th hit at once.

Each kernel does trec_eval's operations in trec_eval's order, so a score is the same to the last bit. Where a score is
a quotient of something of the list and something of the (topic, judgment set), the kernel computes the dividend alone:
a list that holds no changed document then needs no second walk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.changes import Judgments, Labels
from pt_reuse.errors import InputError

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
