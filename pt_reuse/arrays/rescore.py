"""Score a field under a base judgment set and under many more that each differ from it in some documents.

Effectiveness measures are walks down ranked lists: all lists take their i-th hit at once. Each kernel does trec_eval's
operations in trec_eval's order, so a score is the same to the last bit. Where a score is a quotient of something of the
list and something of the (topic, judgment set), the kernel computes the dividend alone: a list that holds no changed
document then needs no second walk.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import InputError
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field, ranges
from pt_reuse.arrays.lists import TopicDocs
from pt_reuse.arrays.open_field import AnyField

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

    def positions(self, others: Cells) -> NDArray[np.int64]:
        """Return where the changed cells of others, which are all among these, stand among the changed cells here."""
        width = int(self.set.max(initial=0)) + 1
        mine, theirs = (cells.topic[cells.n_topics :] * width + cells.set for cells in (self, others))
        return np.searchsorted(mine, theirs)

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
Labels = NDArray[np.int16]


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


class Walker(ABC):
    """Adds up something of each hit while it walks, list by list; `kept` names the arrays that grow on the way."""

    kept: tuple[str, ...] = ("total",)

    def __init__(self, lists: Lists, spec: Spec):
        self.total = np.zeros(len(lists.lengths))
        self.rel = spec.rel

    @abstractmethod
    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        """Take rank and label of one more hit of the first n lists."""

    def resume(self, other: Any, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> None:
        """Take over some lists of another walker of the same kernel where it stands."""
        for name in self.kept:
            getattr(self, name)[mine] = getattr(other, name)[theirs]

    def values(self) -> Values:
        """Return (lists,) numbers."""
        return self.total


class _AveragePrecision(Walker):
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


class _Found(Walker):
    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        self.total[:n] += label >= self.rel


class _Success(_Found):
    def values(self) -> Values:
        return (self.total > 0).astype(np.float64)


class _ReciprocalRank(Walker):
    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        total = self.total[:n]
        first = (label >= self.rel) & (total == 0)
        np.divide(1.0, rank, out=total, where=first)


class _RPrecision(Walker):
    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.n_relevant = lists.cells.count(spec.rel)[lists.cell]

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        self.total[:n] += (label >= self.rel) & (rank <= self.n_relevant[:n])


class _BinaryPreference(Walker):
    kept = ("total", "above")

    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.above = np.zeros(len(lists.lengths), dtype=np.int64)
        self.n_relevant = lists.cells.count(spec.rel)[lists.cell]
        n_nonrelevant = lists.cells.count(0, spec.rel)[lists.cell]
        # at least 1: where nothing is relevant the score is 0 anyhow
        self.most = np.maximum(np.minimum(self.n_relevant, n_nonrelevant), 1).astype(np.float64)

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        relevant = label >= self.rel
        above = self.above[:n]
        lost = np.divide(np.minimum(above, self.n_relevant[:n]), self.most[:n], out=np.zeros(n), where=above > 0)
        self.total[:n] += (1.0 - lost) * relevant
        above += (label >= 0) & ~relevant


class _ByLabel:
    """Looks up a number for each label, 0 for those that have none."""

    def __init__(self, values: dict[int, float]):
        self.below = min(values, default=0) - 1
        self.table = np.zeros(max(values, default=0) - self.below + 2)
        for label, value in values.items():
            self.table[label - self.below] = value

    def __call__(self, label: Labels) -> Values:
        return self.table.take(label.astype(np.intp) - self.below, mode="clip")


class _Gain(Walker):
    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.gain = _ByLabel(spec.gain_of_label(lists.labels))
        self.discounts = discounts(int(lists.lengths.max(initial=1)))

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        gain = self.gain(label)
        gain /= self.discounts.take(rank)
        self.total[:n] += gain


class _RankBiased(Walker):
    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        # Python's power is the C library's; numpy's own may differ in the last bit
        ranks = range(int(lists.lengths.max(initial=1)))
        self.weights = np.array([0.0] + [(1 - spec.p) * spec.p**above for above in ranks])

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        self.total[:n] += self.weights.take(rank) * (label >= self.rel)


class _Judged(Walker):
    def __init__(self, lists: Lists, spec: Spec):
        super().__init__(lists, spec)
        self.spec, self.lowest = spec, max(spec.min_label, int(UNJUDGED) + 1)
        self.returned = lists.lengths if spec.cutoff is None else np.minimum(lists.lengths, spec.cutoff)

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        self.total[:n] += label >= self.lowest

    def values(self) -> Values:
        return np.divide(self.total, self.returned, out=np.zeros(len(self.total)), where=self.returned > 0)


class _Unjudged(_Judged):
    def values(self) -> Values:
        if self.spec.of_cutoff:
            return (self.returned - self.total) / float(self.spec.cutoff or 1)
        return 1.0 - super().values()


class _JudgedOnly(Walker):
    """Walks for another kernel as if documents without a judgment were not in the lists."""

    kept = ("rank",)

    def __init__(self, inner: Walker, lists: Lists, spec: Spec):
        self.inner, self.cutoff = inner, spec.cutoff
        self.rank = np.zeros(len(lists.lengths), dtype=np.int64)
        replaced = spec.replaced(lists.labels)
        self.judged = _ByLabel({label: 1.0 for label, value in replaced.items() if value >= 0}) if spec.gains else None

    def step(self, n: int, rank: NDArray, label: Labels) -> None:
        condensed = self.rank[:n]
        condensed += label >= 0 if self.judged is None else self.judged(label) > 0
        if self.cutoff is not None:
            label = np.where(condensed <= self.cutoff, label, UNJUDGED)
        self.inner.step(n, np.maximum(condensed, 1), label)

    def resume(self, other: Any, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> None:
        super().resume(other, mine, theirs)
        self.inner.resume(other.inner, mine, theirs)

    def values(self) -> Values:
        return self.inner.values()


def _by_relevant(cells: Cells, spec: Spec, labels: Labels) -> Values:
    return cells.count(spec.rel).astype(np.float64)


def _by_ideal(cells: Cells, spec: Spec, labels: Labels) -> Values:
    return cells.ideal(spec.gain_of_label(labels), spec.cutoff)


def _by_cutoff(cells: Cells, spec: Spec, labels: Labels) -> Values:
    return np.full(len(cells), float(spec.cutoff or 1))


def _by_one(cells: Cells, spec: Spec, labels: Labels) -> Values:
    return np.ones(len(cells))


@dataclass(frozen=True)
class Kernel:
    """How a measure is computed."""

    of_list: Callable[[Lists, Spec], Walker]  # makes the walker that gives one number per list
    of_cell: Callable[[Cells, Spec, Labels], Values]  # what to divide it by, one number per (topic, judgment set)
    local: bool = True  # the list's number depends on the labels of its own documents alone


KERNELS = {
    "ap": Kernel(_AveragePrecision, _by_relevant),
    "p": Kernel(_Found, _by_cutoff),
    "r": Kernel(_Found, _by_relevant),
    "success": Kernel(_Success, _by_one),
    "rr": Kernel(_ReciprocalRank, _by_one),
    "rprec": Kernel(_RPrecision, _by_relevant, local=False),
    "bpref": Kernel(_BinaryPreference, _by_relevant, local=False),
    "ndcg": Kernel(_Gain, _by_ideal),
    "rbp": Kernel(_RankBiased, _by_one),
    "judged": Kernel(_Judged, _by_one),
    "unjudged": Kernel(_Unjudged, _by_one),
}


@dataclass(frozen=True)
class Hits:
    """Judged documents in ranked lists; list ``t * n_runs + r`` is what run r retrieves for the t-th topic gathered."""

    n_runs: int  # runs of the field
    starts: NDArray[np.int64]  # (lists + 1,) the hits of each list, in ranking order
    row: NDArray[np.int32]
    rank: NDArray[np.int32]  # (hits,) from 1
    lengths: NDArray[np.int64]  # (lists,) documents retrieved, judged or not

    @cached_property
    def of(self) -> NDArray[np.int64]:
        """Return (hits,): the list of each hit."""
        return np.repeat(np.arange(len(self.lengths)), np.diff(self.starts))

    def top(self, cutoff: int | None) -> Hits:
        """Return the hits at rank `cutoff` or better."""
        if cutoff is None:
            return self
        kept = np.flatnonzero(self.rank <= cutoff)
        starts = np.searchsorted(kept, self.starts)
        return Hits(self.n_runs, starts, self.row[kept], self.rank[kept], self.lengths)


class HitIndex:
    """Finds the judged documents of a field among its codes; it holds nothing that a call changes."""

    def __init__(self, field: AnyField, documents: TopicDocs):
        self.field, self.documents = field, documents
        self.field_topic = [field.topic_row.get(topic, -1) for topic in documents.topics]
        # of a field of one block all judgments are found at once; of an open one those of each block as it comes
        self._found = self._find(field, self.topics) if isinstance(field, Field) else None

    @property
    def topics(self) -> range:
        return range(len(self.field_topic))

    def lengths(self, t: int) -> NDArray[np.integer]:
        """Return (runs,): how many documents each run retrieves for a topic of the judgments."""
        at = self.field_topic[t]
        return self.field.lengths[at] if at >= 0 else np.zeros(self.field.n_runs, dtype=np.int64)

    def rows_of_codes(
        self, topics: range, wanted: NDArray[np.bool_] | None = None
    ) -> Iterator[NDArray[np.int32] | None]:
        """Yield for each topic the row of the judgments that each document code has, None where the field lacks it."""
        first_row = int(self.documents.starts[topics.start])
        for some, i in self._by_part(topics):
            if i < 0:
                yield from [None] * len(some)
                continue
            block = self.field.part(i)
            begin = self.field.parts[i].start
            found, before = (self._found, 0) if self._found is not None else (self._find(block, some), some.start)
            before = int(self.documents.starts[before])
            row_of_doc = np.full(len(block.vocabulary), -1, dtype=np.int32)  # of this call alone
            for t in some:
                at = self.field_topic[t]
                if at < 0:
                    yield None
                    continue
                start, stop = self.documents.starts[t : t + 2].tolist()
                docs = found[start - before : stop - before]
                start, stop = start - first_row, stop - first_row
                chosen = np.flatnonzero(docs >= 0 if wanted is None else (docs >= 0) & wanted[start:stop])
                row_of_doc[docs[chosen]] = start + chosen
                rows = row_of_doc.take(block.docs(at - begin))
                row_of_doc[docs[chosen]] = -1
                yield rows

    def _find(self, block: Field, topics: range) -> NDArray[np.int64]:
        # each judged document of these topics as a row of the block's vocabulary, -1 where no run retrieves it
        first, stop = self.documents.starts[[topics.start, topics.stop]].tolist()
        return tokens.find(self.documents.words[first:stop], tokens.as_words(block.vocabulary))

    def _by_part(self, topics: range) -> Iterator[tuple[range, int]]:
        # neighbouring topics whose runs lie in one block, and which one it is: -1 for topics that the field lacks
        if self._found is not None:
            yield from [(topics, 0)] if self.field.n_topics else [(topics, -1)]
            return
        part_of = np.repeat(np.arange(len(self.field.parts)), [len(part) for part in self.field.parts]).tolist()
        first, held = topics.start, -1
        for t in topics:
            at = self.field_topic[t]
            here = part_of[at] if at >= 0 else held
            if held >= 0 and here != held:
                yield range(first, t), held
                first = t
            held = here
        if topics.stop > first:
            yield range(first, topics.stop), held

    def gather(self, topics: range, wanted: NDArray[np.bool_] | None = None) -> Hits:
        """Return the hits of neighbouring topics, only those on the `wanted` rows of the judgments when given."""
        n_runs = self.field.n_runs
        counts, rows, ranks, lengths = [], [], [], []
        for t, row_of_code in zip(topics, self.rows_of_codes(topics, wanted), strict=True):
            lengths.append(self.lengths(t))
            if row_of_code is None:
                counts.append(np.zeros(n_runs, dtype=np.int64))
                continue
            block, at = self.field.of(self.field_topic[t])
            codes = block.codes[block.rows(at)]
            # take by 16-bit codes is several times as fast as indexing with them
            where = np.flatnonzero((row_of_code >= 0).take(codes))
            ends = np.cumsum(lengths[-1])
            counts.append(np.diff(np.searchsorted(where, ends), prepend=0))
            begins = np.repeat(ends - lengths[-1], counts[-1])
            rows.append(row_of_code.take(codes.take(where)))
            ranks.append((where - begins + 1).astype(np.int32))
        none = np.zeros(0, dtype=np.int32)
        return Hits(
            n_runs,
            np.concatenate([[0], np.cumsum(np.concatenate(counts) if counts else none)]).astype(np.int64),
            np.concatenate(rows) if rows else none,
            np.concatenate(ranks) if ranks else none,
            np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int64),
        )


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

    def visible(self, labels: Labels) -> Changes:
        """Return the changes that a measure blind to non-relevant documents can see."""
        return self.take(np.maximum(labels[self.row], self.label) > 0)

    def by_row(self) -> Changes:
        return self.take(_stable_order(self.row))

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
        return Judgments(self.starts, self.labels, self.changes.visible(self.labels))

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


def score_topics(
    index: HitIndex, judgments: Judgments, topics: range, specs: Sequence[Spec], cells: Cells
) -> NDArray[np.float64]:
    """Score all runs on neighbouring topics under the base set and under each set that changes one of them."""
    values = np.empty((len(specs), len(cells), index.field.n_runs))
    for wide in (False, True):
        chosen = [m for m, spec in enumerate(specs) if spec.sees_nonrelevant is wide]
        if not chosen:
            continue
        seen = judgments if wide else judgments.visible()
        hits = index.gather(topics, None if wide else seen.relevant())
        mine = cells if len(seen.changes) == len(judgments.changes) else Cells(seen)
        found = _score_hits(hits, seen, mine, [specs[m] for m in chosen])
        if len(mine) == len(cells):
            values[chosen] = found
            continue
        # what such a measure cannot see leaves its scores as they are
        values[chosen] = found[:, cells.topic]
        at = cells.n_topics + cells.positions(mine)
        for m, scores in zip(chosen, found, strict=True):
            values[m, at] = scores[mine.n_topics :]
    return values


def _score_hits(hits: Hits, judgments: Judgments, cells: Cells, specs: Sequence[Spec]) -> NDArray[np.float64]:
    """Score hits gathered before: (measures, cells, runs), the cells those of the judgments."""
    every_label = judgments.every_label()
    values = np.empty((len(specs), len(cells), hits.n_runs))
    for depth in dict.fromkeys(spec.depth for spec in specs):
        chosen = [m for m, spec in enumerate(specs) if spec.depth == depth]
        dividends = _dividends(hits.top(depth), judgments, cells, every_label, [specs[m] for m in chosen])
        for m, dividend in zip(chosen, dividends, strict=True):
            divisor = KERNELS[specs[m].kernel].of_cell(cells, specs[m], every_label)[:, None]
            values[m] = 0.0
            np.divide(dividend, divisor, out=values[m], where=divisor > 0)
    return values


def _dividends(
    hits: Hits, judgments: Judgments, cells: Cells, every_label: Labels, specs: Sequence[Spec]
) -> list[NDArray[np.float64]]:
    """Return for each measure (cells, runs): what of a score is the list's own."""
    out = [np.zeros((len(cells), hits.n_runs)) for _ in specs]
    label_of_hit = judgments.labels.take(hits.row)
    touched = _Touched(hits, judgments.changes, cells, len(judgments.labels))
    base_lists = np.arange(cells.n_topics * hits.n_runs)
    n_base = len(base_lists)
    for local in (True, False):
        chosen = [m for m, spec in enumerate(specs) if KERNELS[spec.kernel].local is local]
        if not chosen:
            continue
        measures = [specs[m] for m in chosen]
        # up to its first changed hit a list is as in the base set; a kernel that is not local sees more than the list
        further = touched.lists if local else np.arange(n_base, len(cells) * hits.n_runs)
        skip = touched.first[further] if local else np.zeros(len(further), dtype=np.int64)
        base = _Walk(hits, cells, every_label, base_lists, np.zeros(n_base, dtype=np.int64), measures)
        changed = _Walk(hits, cells, every_label, further, skip, measures)
        base.run(label_of_hit, successor=changed if local else None)
        changed.run(label_of_hit, touched)
        for m, mine, theirs in zip(chosen, base.values(), changed.values(), strict=True):
            dividend = out[m]
            dividend.reshape(-1)[:n_base] = mine
            dividend[cells.n_topics :] = dividend[cells.topic[cells.n_topics :]]
            dividend.reshape(-1)[further] = theirs
    return out


class _Touched:
    """The lists that a change reaches, numbered by cell and run, and what changes in them."""

    def __init__(self, hits: Hits, changes: Changes, cells: Cells, n_rows: int):
        order = _stable_order(changes.row)
        per_row = np.bincount(changes.row, minlength=n_rows)
        hit = np.flatnonzero((per_row > 0).take(hits.row))
        rows = hits.row[hit]
        change = order[ranges((np.cumsum(per_row) - per_row)[rows], per_row[rows])]
        hit = np.repeat(hit, per_row[rows])
        source = hits.of[hit]
        self.list = cells.of_change[change] * hits.n_runs + source % hits.n_runs
        self.label = changes.label[change]
        self.offset = hit - hits.starts[source]  # place of the changed document among the list's hits
        #: for each list the place of its first changed hit
        self.first = np.full(len(cells) * hits.n_runs, _NEVER)
        np.minimum.at(self.first, self.list, self.offset)
        self.lists = np.flatnonzero(self.first != _NEVER)


_NEVER = np.iinfo(np.int64).max


class _Walk:
    """Walks down lists, numbered by cell and run, all of them at once, longest first; `skip` hits are passed over."""

    def __init__(
        self,
        hits: Hits,
        cells: Cells,
        every_label: Labels,
        numbers: NDArray[np.int64],
        skip: NDArray[np.int64],
        specs: Sequence[Spec],
    ):
        cell, run = np.divmod(numbers, hits.n_runs)
        self.source = cells.topic[cell] * hits.n_runs + run
        sizes = np.diff(hits.starts)[self.source] - skip
        order = _stable_order(sizes)[::-1]
        self.place = np.empty(len(order), dtype=np.int64)
        self.place[order] = np.arange(len(order))
        self.numbers, self.skip, self.rank, self.sizes = numbers, skip, hits.rank, sizes[order]
        self.begins = (hits.starts[:-1][self.source] + skip)[order]
        lists = Lists(hits.lengths[self.source][order], cell[order], cells, every_label)
        self.walkers: list[Walker] = []
        for spec in specs:
            walker = KERNELS[spec.kernel].of_list(lists, spec)
            self.walkers.append(_JudgedOnly(walker, lists, spec) if spec.judged_only else walker)

    def run(self, label_of_hit: Labels, touched: _Touched | None = None, successor: _Walk | None = None) -> None:
        """Walk, with the labels that `touched` changes; `successor` takes over each list after the hits it skips."""
        steps = int(self.sizes.max(initial=0))
        active = np.searchsorted(-self.sizes, -np.arange(steps), side="left").tolist()
        if touched is not None:
            place_of_number = np.zeros(int(self.numbers.max(initial=0)) + 1, dtype=np.int64)
            place_of_number[self.numbers] = np.arange(len(self.numbers))
            where = place_of_number[touched.list]
            when = touched.offset - self.skip[where]
            by_step = _stable_order(when)
            at, new = self.place[where[by_step]], touched.label[by_step]
            change_bounds = np.searchsorted(when[by_step], np.arange(steps + 1)).tolist()
        if successor is not None:
            by_step = _stable_order(successor.skip)
            mine, theirs = self.place[successor.source[by_step]], successor.place[by_step]
            take_over = np.searchsorted(successor.skip[by_step], np.arange(steps + 1)).tolist()
        next_hit = self.begins.copy()
        for i, n in enumerate(active):
            if successor is not None and take_over[i] < take_over[i + 1]:
                some = slice(take_over[i], take_over[i + 1])
                for walker, next_walker in zip(self.walkers, successor.walkers, strict=True):
                    next_walker.resume(walker, theirs[some], mine[some])
            hit = next_hit[:n]
            label = label_of_hit.take(hit)
            if touched is not None:
                some = slice(change_bounds[i], change_bounds[i + 1])
                label[at[some]] = new[some]
            rank = self.rank.take(hit)
            for walker in self.walkers:
                walker.step(n, rank, label)
            hit += 1

    def values(self) -> list[NDArray[np.float64]]:
        """Return (lists,) for each measure, in the order of the numbers given."""
        return [walker.values()[self.place] for walker in self.walkers]


def _stable_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    # numpy sorts 16 bits by radix, several times as fast
    small = keys.astype(np.uint16) if len(keys) and int(keys.max()) < 2**16 else keys
    return np.argsort(small, kind="stable")
