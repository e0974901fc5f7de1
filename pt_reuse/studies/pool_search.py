"""Which contributors and depths explain what is judged, by where each run has judged and unjudged documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.field import AnyField, Field, same_lists
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import AT_ONCE
from pt_reuse.errors import InputError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class RankedTopic:
    """The runs' lists on one topic of the judgments."""

    docs: NDArray[np.signedinteger]  # (runs, longest) the document at each rank, -1 past the end of a list
    row: NDArray[np.int32]  # (documents + 1,) each document's row of the judgments, -1 for an unjudged one

    @property
    def judged(self) -> Bools:
        """Return (documents,): which documents are judged."""
        return self.row[:-1] >= 0

    def counts_to(self, depth: int) -> Ints:
        """Return (2, runs, depth + 1): documents at rank k or better, for k from 0, and the unjudged among them."""
        there = self.docs >= 0
        counts = np.zeros((2, len(self.docs), depth + 1), dtype=np.int64)
        counts[:, :, 1 : there.shape[1] + 1] = there, there & (self.row < 0).take(self.docs)
        return np.cumsum(counts, axis=2, out=counts)

    def best(self, runs: Bools, depth: int | None = None) -> NDArray[np.int32]:
        """Return (documents,): the best rank of each document among the chosen runs, 0 where they do not have it."""
        lists = self.docs[runs, :depth]
        rank = np.zeros(len(self.row), dtype=np.int32)
        # worst rank first: of several assignments to one document the last one stays
        rank[lists.T[::-1].ravel()] = np.repeat(np.arange(lists.shape[1], 0, -1, dtype=np.int32), len(lists))
        return rank[:-1]


class Tops:
    """What every run has down to the depth of each topic; documents are numbered over all topics."""

    def __init__(self, has: csr_array, row: NDArray[np.int32], topic: Ints):
        self.has = has  # (runs, documents) 1 where a run has a document
        # (documents,) the row of the judgments, -1 for an unjudged document, and the topic
        self.row, self.judged, self.topic = row, row >= 0, topic
        # (runs,) documents of each run, and the unjudged ones
        self.entries, self.missing = np.diff(has.indptr).astype(np.int64), has @ ~self.judged

    def times(self, runs: Bools) -> Ints:
        """Return (documents,): how many of the chosen runs have each document."""
        return np.asarray(self.has.T @ runs)

    def both(self, docs: Bools) -> Ints:
        """Return (2, runs): how many of some judged and how many of some unjudged documents each run has."""
        return np.stack([self.has @ (docs & self.judged), self.has @ (docs & ~self.judged)])

    def alone(self, runs: Bools) -> Ints:
        """Return (2, runs): judged and unjudged documents that a run has and no other of the chosen runs."""
        times = self.times(runs)
        return np.where(runs, self.both(times == 1), self.both(times == 0))


#: what :func:`judged_codes` returns, which no order of the runs changes
Codes: TypeAlias = list[tuple[int, NDArray[np.int32]] | None]


def judged_codes(field: AnyField, qrels: Qrels) -> Codes:
    """Return for each topic of the judgments its place in the field and `row` of its list, None where no run has it."""
    index = HitIndex(field, qrels.arrays.documents)
    return [
        None if row is None else (at, np.append(row, np.int32(-1)).astype(np.int32))
        for at, row in zip(index.field_topic, index.rows_of_codes(index.topics), strict=True)
    ]


class JudgedRanks:
    """The judged and unjudged ranks of a field that stands in some order."""

    def __init__(self, field: AnyField, codes: Codes):
        self.n_runs, self._field = field.n_runs, field
        self.has_topic = np.array([code is not None for code in codes], dtype=bool)
        self._codes = [code for code in codes if code is not None]
        # of a large open field they are made again each time that they are looked at
        keeps = isinstance(field, Field) or field.n_rows <= AT_ONCE
        self._kept = [_lists(field, *code) for code in self._codes] if keeps else None
        # (runs,) the longest list
        self.lengths = field.lengths[[at for at, _ in self._codes]].astype(np.int64).max(axis=0)
        self.longest = int(self.lengths.max(initial=0))
        self._n_groups = int(np.ceil(np.log2(max(self.longest, 1)))) + 1

    @property
    def topics(self) -> Iterator[RankedTopic]:
        """Yield the lists on each topic that any run has."""
        return iter(self._kept) if self._kept is not None else (_lists(self._field, *code) for code in self._codes)

    def each(self) -> Iterator[RankedTopic]:
        """Yield the lists on each topic of the judgments, empty where no run has it."""
        kept = self.topics
        nothing = RankedTopic(np.zeros((self.n_runs, 0), dtype=np.int32), np.array([-1], dtype=np.int32))
        yield from (next(kept) if has else nothing for has in self.has_topic.tolist())

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        """Return (documents,), topic by topic: the place in `grouped` of each; the one past it for those of no run."""
        every = np.ones(self.n_runs, dtype=bool)
        # by the best rank: 0 for 1, 1 for 2, 2 for 3 to 4; a field selected from a larger one has documents of no run
        group_of = np.append(-1, np.ceil(np.log2(np.arange(1, self.longest + 1)))).astype(np.int32)
        of_topics = [group_of[topic.best(every)] for topic in self.topics]
        topic = np.repeat(np.flatnonzero(self.has_topic), [len(group) for group in of_topics])
        group = np.concatenate([np.zeros(0, dtype=np.int32), *of_topics])
        none = len(self.has_topic) * self._n_groups
        return np.where(group >= 0, topic * self._n_groups + group, none).astype(np.int32)

    @cached_property
    def grouped(self) -> Ints:
        """Return (topics, groups, 2): documents by the best rank at which any run has them, and how many are judged."""
        judged = np.concatenate([topic.judged for topic in self.each()])
        size = len(self.has_topic) * self._n_groups
        both = [np.bincount(cells, minlength=size + 1)[:size] for cells in (self._cells, self._cells[judged])]
        return np.stack(both, axis=-1).reshape(-1, self._n_groups, 2)

    def outside(self, pool: Ints, judged: Bools) -> Ints:
        """Return (topics * groups, 2): documents of each group that are not in a pool, and how many are judged."""
        rest = self.grouped.reshape(-1, 2).copy()
        for at, of in enumerate((pool, pool[judged[pool]])):
            rest[:, at] -= np.bincount(self._cells[of], minlength=len(rest))
        return rest

    @cached_property
    def counts(self) -> Ints:
        """Return (2, runs, longest + 1): documents that a run has at rank k or better, and the unjudged among them."""
        nothing = np.zeros((2, self.n_runs, self.longest + 1), dtype=np.int64)
        return sum((topic.counts_to(self.longest) for topic in self.topics), nothing)

    def tops(self, depths: Ints) -> Tops:
        """Return what every run has down to the depths of the topics."""
        from scipy.sparse import csr_array

        run, doc, row, sizes = [], [], [], [0]
        for topic, depth in zip(self.each(), depths.tolist(), strict=True):
            docs = topic.docs[:, :depth]
            of_run, at = np.nonzero(docs >= 0)
            run.append(of_run)
            doc.append(docs[of_run, at].astype(np.int64) + sum(sizes))
            row.append(topic.row[:-1])
            sizes.append(len(row[-1]))
        of_run, rows = np.concatenate(run).astype(np.min_scalar_type(self.n_runs)), np.concatenate(row)
        starts = np.append(0, np.cumsum(np.bincount(of_run, minlength=self.n_runs)))
        of_doc = np.concatenate(doc)[np.argsort(of_run, kind="stable")]
        has = csr_array((np.ones(len(of_doc), dtype=np.int64), of_doc, starts), shape=(self.n_runs, len(rows)))
        return Tops(has, rows, np.repeat(np.arange(len(depths)), sizes[1:]))

    def counted(self, runs: Bools, depth: int | None = None) -> tuple[Ints, Ints]:
        """Return (topics, depth + 1) each: judged and unjudged documents in the pool of the runs to depth k."""
        depth = self.longest if depth is None else min(depth, self.longest)
        new = np.zeros((2, len(self.has_topic), depth + 1), dtype=np.int64)
        if runs.any():
            for t, topic in zip(np.flatnonzero(self.has_topic).tolist(), self.topics, strict=True):
                rank = topic.best(runs, depth)
                new[:, t] = [np.bincount(rank[some], minlength=depth + 1) for some in (topic.judged, ~topic.judged)]
        new[:, :, 0] = 0
        judged, unjudged = np.cumsum(new, axis=2, out=new)
        return judged, unjudged


def _lists(field: AnyField, at: int, row: NDArray[np.int32]) -> RankedTopic:
    """Return a topic of the field, its documents in as few bits as hold their numbers and -1."""
    lengths = field.lengths[at]
    kind = np.int16 if len(row) - 1 <= np.iinfo(np.int16).max else np.int32
    docs = np.full((field.n_runs, int(lengths.max(initial=0))), -1, dtype=kind)
    block, here = field.of(at)
    docs[np.arange(docs.shape[1]) < lengths[:, None]] = block.codes[block.rows(here)]
    return RankedTopic(docs, row)


def depth_bits(depths: Ints, longest: int) -> float:
    """Return the bits that name the distinct depths, and which topic has which of them."""
    sizes = np.unique(depths, return_counts=True)[1]
    which = _factorial(len(depths)) - _factorial(sizes).sum()
    return float(np.log2(len(depths) + 1) + len(sizes) * np.log2(longest + 1) + which)


def which_bits(some: Ints | int, many: Ints | int) -> NDArray[np.float64]:
    """Return the bits that say how many of `many` things, and which."""
    return np.log2(np.add(many, 1)) + _factorial(many) - _factorial(some) - _factorial(np.subtract(many, some))


def _factorial(number: Ints | int) -> NDArray[np.float64]:
    from scipy.special import gammaln

    return gammaln(np.add(number, 1)) / np.log(2)


_SLACK = 1e-9  # a tolerated share times a whole number is not whole in floating point


def is_tolerated(entries: Ints, missing: Ints, tolerance: float) -> Bools:
    """Return whether a run with so many documents, and so many unjudged ones among them, is judged."""
    return (missing <= tolerance * entries + _SLACK) & (entries > 0)


def tolerated_to(counts: Ints, tolerance: float) -> Bools:
    """Return (runs, depths from 0): whether a run is judged to depth k; to depth 0 every run is."""
    entries, missing = counts[:, :, 1:]
    return np.insert(is_tolerated(entries, missing, tolerance), 0, True, axis=1)


def gains(topics: Iterable[RankedTopic], tolerated: Bools) -> Ints:
    """Return (depths from 0,): judged less unjudged documents in the pool of the runs judged to depth k."""
    # stretches of depths to which runs are judged, one for most runs
    edges = np.diff(tolerated.astype(np.int8), axis=1, prepend=0, append=0)
    run, first = np.nonzero(edges == 1)
    last = np.nonzero(edges == -1)[1] - 1
    kept, size = last > 0, tolerated.shape[1] + 1
    run, first, last = run[kept], np.maximum(first[kept], 1), last[kept]
    total = np.zeros(size, dtype=np.int64)
    for topic in topics if kept.any() else ():
        # a document is in the pool to depth k from the larger of its rank and `first` up to `last`, for any stretch
        docs = topic.docs[run, : int(last.max())]
        ranks = np.arange(1, docs.shape[1] + 1)
        within = (docs >= 0) & (ranks <= last[:, None])
        doc = docs[within].astype(np.int64)
        start = np.maximum(ranks, first[:, None])[within]
        end = np.broadcast_to(last[:, None], docs.shape)[within]
        order = np.argsort(doc * size + start, kind="stable")
        doc, start, end = doc[order], start[order], end[order]
        reached = np.maximum.accumulate(doc * size + end) - doc * size
        before = np.concatenate([[0], np.where(doc[1:] == doc[:-1], reached[:-1], 0)])[: len(doc)]
        start = np.maximum(start, before + 1)
        new = start <= end
        worth = np.where(topic.judged[doc[new]], 1, -1)
        begin, over = (np.bincount(at, weights=worth, minlength=size) for at in (start[new], end[new] + 1))
        total += np.rint(begin - over).astype(np.int64)
    return np.cumsum(total)[:-1]


MOST_UNJUDGED = 0.1  # of a topic's pool, at least, beyond which the topic was not pooled from these runs
_BITS = 6.0  # about what it takes to name a document in which pool and judged set differ
_NEAR = np.sqrt(2)  # new documents from the depth divided by it to the depth times it show whether the pool ends there


def _below(depths: Ints) -> Ints:
    """Return (topics,): down to which rank the new documents show whether the pool ends at the depth."""
    return np.maximum(np.ceil(depths * _NEAR).astype(np.int64), depths + 1)


@dataclass(frozen=True)
class Curves:
    """How a pool of given runs grows with its depth, topic by topic."""

    judged: Ints  # (topics, depths from 0) judged documents in the pool
    unjudged: Ints  # the same of unjudged ones
    tolerance: float  # share of a run that may be unjudged

    def ends(self, depths: Ints) -> NDArray[np.float64]:
        """Return (topics,): the bits saved by saying that the pool ends at these depths; 0 where a topic has none."""
        longest = self.judged.shape[1] - 1
        depths = np.minimum(depths, longest)
        first = np.minimum(np.floor(depths / _NEAR).astype(np.int64), np.maximum(depths - 1, 0))
        ranks = np.arange(len(depths)), np.stack([first, depths, np.minimum(_below(depths), longest)])
        judged, both = self.judged[ranks], self.judged[ranks] + self.unjudged[ranks]
        share = ((both - judged)[1].sum() + 1) / (both[1].sum() + 2)
        (new, below), (new_judged, below_judged) = np.diff(both, axis=0), np.diff(judged, axis=0)
        inside = -(new_judged * np.log2(1 - share) + (new - new_judged) * np.log2(share))
        bits = which_bits(new_judged + below_judged, new + below) - inside - which_bits(below_judged, below) - 1
        return np.where(depths > 0, bits, 0.0)

    def of_pool(self, depths: Ints) -> Ints:
        """Return (topics,): the depths, 0 where too much of the pool is unjudged, or where it does not end there."""
        at = np.arange(len(depths))
        documents = self.judged[at, depths] + self.unjudged[at, depths]
        kept = np.where(self.unjudged[at, depths] > max(self.tolerance, MOST_UNJUDGED) * documents, 0, depths)
        return np.where(self.ends(kept) < 0, 0, kept).astype(np.int64)

    @cached_property
    def depths(self) -> Ints:
        """Return (topics,): the depth at which pool and judged set differ least, 0 for a topic of another pool."""
        return self.of_pool(np.argmin(self.unjudged - self.judged, axis=1))

    @cached_property
    def joined(self) -> Ints:
        """Return (topics,): the depths with those of one kind made equal, as long as naming them costs more."""
        cost, longest = self.unjudged - self.judged, self.judged.shape[1]
        some = np.flatnonzero(cost.any(axis=1))
        depths = self.with_others(self.depths)
        while True:
            values, most, best = np.unique(depths[some]), 0.0, None
            values, named = values[values > 0], depth_bits(depths[some], longest)
            for value in values.tolist() if len(values) > 1 else ():
                others, of, moved = values[values != value], np.flatnonzero(depths == value), depths.copy()
                moved[of] = others[np.argmin(cost[of][:, others], axis=1)]
                more = int((cost[of, moved[of]] - cost[of, value]).sum())
                saved = named - depth_bits(moved[some], longest) - _BITS * more
                if saved > most:
                    most, best = saved, moved
            if best is None:
                return depths
            depths = best

    def with_others(self, given: Ints) -> Ints:
        """Return (topics,): given depths; a topic without one gets that of others at which its pool ends, if any."""
        if not given.any():
            return given
        depths = given.copy()
        # its pool has to end about as sharply as those of the others do: by half of what half of them show
        ends = np.full(len(given), 0.5 * np.median(self.ends(given)[given > 0]))
        for value in np.unique(given[given > 0]).tolist():
            tried = self.of_pool(np.where(given == 0, value, given))
            better = (given == 0) & (self.ends(tried) > ends)
            depths[better], ends[better] = tried[better], self.ends(tried)[better]
        return depths

    @cached_property
    def split(self) -> Ints:
        """Return (topics,): one depth for the topics on which the pool ends there, all of it judged; 0 for the others.

        Pool and judged set differ least below its end where others had more than half of what is there judged.
        """
        documents = self.judged + self.unjudged
        best, most = np.zeros(len(documents), dtype=np.int64), 0.0
        for limit in {0.0, self.tolerance}:
            good = (self.unjudged <= limit * documents + _SLACK) & (documents > 0)
            for depth in np.unique(np.where(good, np.arange(documents.shape[1]), 0).max(axis=1)).tolist():
                depths = np.where(good[:, depth], depth, 0)
                depths[self.ends(depths) <= 0] = 0
                saved = float(self.ends(depths).sum()) - depth_bits(depths, documents.shape[1])
                best, most = (depths, saved) if saved > most else (best, most)
        return best


_ROUNDS = 20  # of settling topic depths and runs; real fields need two or three
_CHANCE = 1e-6  # below which a run lacks more judgments than dropped documents explain
_SINGLES = 4  # topics from which runs and depths are found in turn
_SHARP = 0.5  # of the most bits that any answer saves by its ends, below which an answer is left out
_LEFT_OUT = 100.0  # fewer bits than the most, at least; small fields have no more
_SHARES = (0.5, 0.25)  # of the topics, the deepest: the groups to start from


@dataclass(frozen=True, eq=False)
class Fit:
    """Depths, and the runs that are judged to them."""

    depths: Ints  # (topics,) of the judgments
    runs: Bools  # (runs,)
    tops: Tops  # what the runs have down to these depths
    explained: int  # judged documents in their pool
    unjudged: int  # unjudged ones in it
    unexplained: int  # judged documents that any run has and the pool has not
    bits: float  # that it takes to write the judged set down, given this pool
    up_to: int  # the largest depth for all topics that differs as little
    ends: float  # bits saved by saying that the judged documents end at these depths

    @property
    def is_exact(self) -> bool:
        """Return whether the pool is the judged set, but for documents that no run has."""
        return bool(self.runs.any()) and not self.unjudged and not self.unexplained


def comparable(fits: list[Fit]) -> list[Fit]:
    """Return the answers that are to be compared by their bits."""
    exact = [fit for fit in fits if fit.is_exact]
    most = max(fit.ends for fit in fits)
    return exact or [fit for fit in fits if most <= 0 or fit.ends >= min(_SHARP * most, most - _LEFT_OUT)]


def best_of(fits: list[Fit]) -> Fit:
    """Return the answer of fewest bits, the first of several."""
    return min(comparable(fits), key=lambda fit: fit.bits)


class Fitter:
    """Fits pools to judgments at one tolerance."""

    def __init__(self, ranks: JudgedRanks, tolerance: float, *, alike: bool = False, split: bool = False):
        self.ranks, self.tolerance, self.alike, self.split = ranks, tolerance, alike, split
        self._last: tuple[Bools, Curves] | None = None

    @cached_property
    def tolerated(self) -> Bools:
        """Return (runs, longest + 1): whether a run is judged to depth k; to depth 0 every run is."""
        return tolerated_to(self.ranks.counts, self.tolerance)

    @cached_property
    def judged_to(self) -> Ints:
        """Return (runs,): the largest depth to which each run is judged, at most its length."""
        last = self.ranks.longest - np.argmax(self.tolerated[:, ::-1], axis=1)
        return np.minimum(last, self.ranks.lengths)

    def settle(self, depths: Ints, up_to: int = 0) -> Fit:
        """Return the runs that are judged to given depths and bring more judged than unjudged documents."""
        ranks, tops = self.ranks, self.ranks.tops(depths)
        runs = is_tolerated(tops.entries, tops.missing, self.tolerance)
        while (worst := self._worst(tops, runs)) is not None:
            runs[worst] = False
        pool = np.flatnonzero(tops.times(runs))
        unjudged, outside = int((~tops.judged[pool]).sum()), ranks.outside(pool, tops.judged)
        # what it takes to name the runs of the pool and its depths
        names = float(which_bits(int(runs.sum()), len(runs))) + depth_bits(depths[ranks.has_topic], ranks.longest)
        bits = names + float(which_bits(unjudged, len(pool))) + float(which_bits(outside[:, 1], outside[:, 0]).sum())
        ends = float(self._curves(runs, int(_below(depths).max(initial=0))).ends(depths).sum()) - names
        counts = {"explained": len(pool) - unjudged, "unjudged": unjudged, "unexplained": int(outside[:, 1].sum())}
        return Fit(depths, runs, tops, **counts, bits=bits, up_to=up_to, ends=ends)

    def _worst(self, tops: Tops, runs: Bools) -> int | None:
        """Return the run that was not judged as one of the pool, None if there is none."""
        from scipy.special import bdtrc

        times = tops.times(runs)
        own = tops.both(times == 1) * runs
        # a run whose own part is mostly unjudged is not why it was judged
        loss = own[1] - own[0]
        if loss.max(initial=0) > 0 or not (self.alike and tops.missing[runs].any()):
            return int(np.argmax(loss)) if loss.max(initial=0) > 0 else None
        unjudged, own, pool = own[1], own.sum(axis=0), times > 0
        # the share of the pool without the run's own part, never quite none
        share = ((pool & ~tops.judged).sum() - unjudged + 1) / (pool.sum() - own + 2)
        # a run that has more unjudged documents than chance leaves to one of the pool is a stranger
        chance = np.ones(len(runs))
        for missing, documents in ((tops.missing, tops.entries), (unjudged, own)):
            some = runs & (missing > 0)
            chance[some] = np.minimum(chance[some], bdtrc(missing[some] - 1.0, documents[some], share[some]))
        worst = int(np.argmin(chance))
        return worst if chance[worst] < _CHANCE else None

    def _curves(self, runs: Bools, depth: int | None = None) -> Curves:
        """Return the curves of some runs; mostly they are those from which the depths came, whose curves are kept."""
        if self._last is not None and (self._last[0] == runs).all():
            return self._last[1]
        curves = Curves(*self.ranks.counted(runs, depth), self.tolerance)
        if depth is None:
            self._last = runs, curves
        return curves

    def common_depth(self) -> Fit:
        """Return the one depth, the smallest of several as good, whose pool differs least from the judged set."""
        gained = gains(self.ranks.topics, self.tolerated)
        best = int(np.argmax(gained))
        last = int(np.flatnonzero(gained == gained[best])[-1]) if best else 0
        return self.settle(best * self.ranks.has_topic, last)

    def own_depths(self) -> Fit:
        """Return a depth for each topic: depths from runs and runs from depths in turn, from several starts."""
        fits, seen = [self.common_depth()], set()
        for runs in self._starts(fits[0]):
            for _ in range(_ROUNDS):
                if runs.tobytes() in seen or not runs.any():
                    break
                seen.add(runs.tobytes())
                fits.append(self.depths_of(runs))
                runs = fits[-1].runs
        return best_of(fits)

    def depths_of(self, runs: Bools) -> Fit:
        """Return the better of two answers: depths that fit some runs topic by topic, and those by kind of topic."""
        curves = self._curves(runs)
        others = [curves.joined, *([curves.split] if self.split else [])]
        return best_of(
            [
                self.settle(each)
                for each in (curves.depths, *others)
                if each is curves.depths or (each != curves.depths).any()
            ]
        )

    def _starts(self, common: Fit) -> Iterator[Bools]:
        yield common.runs
        # to a depth at which all is judged, a tolerance adds ranks below it
        tolerance = 0.0 if self.split else self.tolerance
        single = []  # of each topic alone the runs that fit, what their pool gains, and the depth
        for topic in self.ranks.topics:
            tolerated = tolerated_to(topic.counts_to(topic.docs.shape[1]), tolerance)
            gained = gains([topic], tolerated)
            depth = int(np.argmax(gained))
            single.append((tolerated[:, depth] & (depth > 0), int(gained[depth]), depth))
        single.sort(key=itemgetter(1), reverse=True)
        yield from [runs for runs, _, _ in single[:_SINGLES]]
        single.sort(key=itemgetter(2), reverse=True)
        for share in _SHARES:
            # a run of the pool is judged on most topics of one kind
            yield np.mean([runs for runs, _, _ in single[: max(1, round(share * len(single)))]], axis=0) > 0.5


TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1)  # tried where none is given
COMMON, BY_TOPIC, GIVEN = "inferred", "inferred for each topic", "given"  # how a depth comes about, as settings say it
#: what a user asks for -> how the depth may come about, the simplest first
_WAYS: dict[Any, tuple[str, ...]] = {None: (COMMON, BY_TOPIC), "common": (COMMON,), "topic": (BY_TOPIC,)}


MOST_BELOW = 0.5  # of the new documents one rank below the depth of a pool are judged
_FALL = 1 / 3  # of that share at the depth, at least, where other topics are set apart


@dataclass(frozen=True)
class Cliff:
    """Shares that are judged, of the documents that no run judged as deep has at a better rank; NaN of none."""

    new_at_depth: float  # of those at the depth of each topic
    new_below: float  # of those one rank below

    @classmethod
    def of(cls, ranks: JudgedRanks, fit: Fit) -> Cliff:
        """Count over the topics that have a depth."""
        counts = np.zeros((2, 2), dtype=np.int64)  # in the order of the fields: (documents, judged)
        for topic, depth in zip(ranks.each(), fit.depths.tolist(), strict=True):
            best = topic.best(fit.runs, depth + 1)
            for edge, rank in enumerate((depth, depth + 1) if depth else ()):
                new = topic.judged[best == rank]
                counts[edge] += [len(new), new.sum()]
        return cls(*(judged / documents if documents else np.nan for documents, judged in counts.tolist()))

    @property
    def is_there(self) -> bool:
        """Return whether the judged documents end at the depth; where nothing is new below it, they do."""
        return not self.new_below > MOST_BELOW

    @property
    def is_sharp(self) -> bool:
        """Return whether the judged share of the new documents falls at the depth, or nothing is below it."""
        # where topics resemble a pool by accident, as much is judged below its depth as above
        return not self.new_at_depth - self.new_below < _FALL


AS_GOOD = 10.0  # bits by which an answer may be longer than the shortest and be as good: odds of a thousand to one
_GO_ON = 2  # orders go on: those that fit best with one depth for all topics and the least tolerance
_WORSE = 1.05  # times the fewest bits, beyond which an order does not go on to a larger tolerance
_ORDERS = ("file", "rank", "trec_eval", "trec_eval9")  # tried after the field's own


@dataclass(frozen=True)
class Try:
    """One answer."""

    order: str  # of the runs
    fitter: Fitter  # the runs in that order, and the tolerance
    way: str  # how the depth came about
    fit: Fit  # the answer
    cliff: Cliff  # what is judged at its depth and one rank below

    @property
    def apart(self) -> Bools:
        """Return (topics,): those that runs have and that are not of the pool, none where there is no pool."""
        chosen = self.way == BY_TOPIC and bool(self.fit.runs.any())
        return chosen & self.fitter.ranks.has_topic & (self.fit.depths == 0)


class Search:
    """Tries answers until one is exact."""

    def __init__(
        self,
        runs: RunSet,
        qrels: Qrels,
        *,
        depth: int | str | None,
        tolerance: float | None,
        order: str | None,
        verbose: bool,
        split: bool = False,
    ):
        self._split = split  # whether one depth for some of the topics is tried, too
        self.ways = _WAYS.get(depth, (GIVEN,))
        self.tolerances = TOLERANCES if tolerance is None else (tolerance,)
        self._alike = tolerance is None  # whether a run must lack about as many judgments as the others
        self._depth, self._order, self._runs = depth, order, runs
        self._codes = judged_codes(runs.field, qrels)
        self._ranked: dict[str, JudgedRanks] = {}
        self.tried: list[Try] = []
        for tried in pt.tqdm(self._tries(), desc="trying pools", unit="answer", disable=not verbose):
            self.tried.append(tried)
            if tried.fit.is_exact:
                break
        self.best = _best(self.tried)

    def _tries(self) -> Iterator[Try]:
        ways, (least, *others) = self.ways, self.tolerances
        # runs are put in another order only when no order before it is the one
        for order, field in self._fields():
            self._ranked[order] = JudgedRanks(field, self._codes)
            yield self._try(order, least, ways[0])
        orders = sorted(self._ranked, key=lambda order: self._of(order).fit.bits)[:_GO_ON]
        for order in orders:
            for way in ways[1:]:
                yield self._try(order, least, way)
        for tolerance in others:
            fewest = min(self._of(order).fit.bits for order in orders)
            orders = [order for order in orders if self._of(order).fit.bits <= _WORSE * fewest]
            for order in orders:
                if not self._is_settled(self._of(order)):
                    for way in ways:
                        yield self._try(order, tolerance, way)

    @property
    def is_sharp(self) -> bool:
        """Return whether the best answer is a pool whose end shows: what is new is judged at its depth, not below."""
        fit = self.best.fit
        return (fit.is_exact or fit.ends > 0) and self.best.cliff.is_sharp

    def is_clearer(self, other: Search) -> bool:
        """Return whether the end of its pool shows, and saves more than twice the bits that another's saves."""
        return self.is_sharp and _SHARP * self.best.fit.ends > max(other.best.fit.ends, _LEFT_OUT)

    def take_every_topic(self) -> None:
        """Take the best answer that sets no topic apart; where there is none, or no pool, that there is none."""
        whole, best = [each for each in self.tried if not each.apart.any()], self.best
        # the judged documents end at no depth, by odds of a thousand to one, whatever was tried
        ends_nowhere = not best.fit.is_exact and best.fit.ends < -AS_GOOD
        if whole and not (BY_TOPIC in self.ways and self._alike and ends_nowhere):
            self.best = _best(whole) if best.apart.any() else best
            return
        fit = best.fitter.settle(np.zeros_like(best.fit.depths))
        self.best = Try(best.order, best.fitter, BY_TOPIC, fit, Cliff.of(best.fitter.ranks, fit))
        self.tried.append(self.best)

    def ranks(self, order: str) -> JudgedRanks:
        """Return the runs in an order."""
        if order not in self._ranked:
            self._ranked[order] = JudgedRanks(self._runs.reorder(order).field, self._codes)
        return self._ranked[order]

    def _of(self, order: str) -> Try:
        return _best([tried for tried in self.tried if tried.order == order])

    def _is_settled(self, tried: Try) -> bool:
        """Return whether the judged documents end at the depth, and the largest tolerance changes nothing."""
        if not tried.cliff.is_there:
            return False
        most = Fitter(tried.fitter.ranks, self.tolerances[-1], alike=self._alike)
        others = [most.depths_of(tried.fit.runs)] if BY_TOPIC in self.ways else []
        others += [most.common_depth()] if COMMON in self.ways else []
        same = bool((most.settle(tried.fit.depths).runs == tried.fit.runs).all())
        return same and best_of([tried.fit, *others]) is tried.fit

    def _try(self, order: str, tolerance: float, way: str) -> Try:
        ranks = self._ranked[order]
        fitter = Fitter(ranks, tolerance, alike=self._alike, split=self._split)
        if isinstance(self._depth, int):
            fit = fitter.settle(self._depth * ranks.has_topic, self._depth)
        else:
            fit = fitter.common_depth() if way == COMMON else fitter.own_depths()
        return Try(order, fitter, way, fit, Cliff.of(ranks, fit))

    def _fields(self) -> Iterator[tuple[str, AnyField]]:
        """Yield the field in each order to try; an order in which no list differs is not tried again."""
        own = self._runs.in_pool_order() if self._order is None else self._runs.reorder(self._order)
        seen = [own.field]
        yield own.order, own.field
        for order in _ORDERS if self._order is None else ():
            try:
                field = self._runs.reorder(order).field
            except InputError:  # no rank column, or none that is an order
                continue
            if not any(same_lists(field, other) for other in seen):
                seen.append(field)
                yield order, field

    def table(self) -> pd.DataFrame:
        """Return one row per answer tried."""
        rows = []
        for tried in self.tried:
            fit, how = tried.fit, {"order": tried.order, "tolerance": tried.fitter.tolerance, "way": tried.way}
            how |= dict(zip(("depth_from", "depth_to"), depth_range(fit.depths), strict=True))
            counts = {"runs": int(fit.runs.sum()), "explained": fit.explained, "unjudged": fit.unjudged}
            ends = {"new_below": tried.cliff.new_below, "bits": fit.bits, "best": tried is self.best}
            rows.append(how | counts | ends)
        return pd.DataFrame(rows)


def depth_range(depths: Ints) -> tuple[int, int]:
    """Return the least and the largest depth of the topics that have one, 0 where none has."""
    most = int(depths.max(initial=0))
    return int(depths[depths > 0].min(initial=most)), most


def _best(tried: list[Try]) -> Try:
    """Return the answer of fewest bits; of those as good that of fewest depths and unjudged documents, tried first."""
    if tried[-1].fit.is_exact:
        return tried[-1]
    left = comparable([each.fit for each in tried])
    fewest = min(fit.bits for fit in left)
    as_good = [each for each in tried if each.fit in left and each.fit.bits <= fewest + AS_GOOD]
    return min(as_good, key=lambda each: (len(np.unique(each.fit.depths)), each.fit.unjudged))
