"""Bounds: the lowest and the highest score that the unjudged documents of a system allow.

A *completion* gives every unjudged document that the measure sees in the list of a system some label from 0 to the
highest of all judgments. All other documents stay as they are: what the list does not have and nobody judged is not
relevant. The bounds are the lowest and the highest score under any completion, topic by topic.

Relevant documents enlarge what AP, R, Rprec and nDCG divide by, so both of their bounds need a choice of documents. For
each number m of documents made relevant the latest m are the worst and the earliest m the best. Under nDCG a document
may have any grade: the lowest score is reached with the highest label alone, the highest one threshold by threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import UNJUDGED, Cells, Spec, discounts, ratio
from pt_reuse.data.judgments import LABELS, Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import listed
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import Rescoring

Floats = NDArray[np.float64]
#: the lowest and the highest score of each list
Pair = tuple[Floats, Floats]
#: rows of lists that are looked at together
_AT_ONCE = 1 << 17
#: a ratio that is better by less is the same
_SAME = 1e-15
#: measures that relevant documents lower which the system did not find
_LOWERED = ("AP", "R", "Rprec", "nDCG")


@dataclass(frozen=True)
class Bounds:
    """(measures, topics, runs) the lowest and the highest scores by the measures of which bounds are known."""

    measures: list[ir_measures.Measure]
    low: Floats
    high: Floats
    highest: int  # the highest label that an unjudged document may have

    def in_words(self) -> str:
        """Return under which labels these are the lowest and the highest scores."""
        reached = [measure for measure in self.measures if may_be_relevant(measure, self.highest)]
        names = list(dict.fromkeys(measure.NAME for measure in reached))
        lowered = [name for name in names if name in _LOWERED]
        return (
            f"every unjudged document of the system that the measure sees may have any label from 0 to {self.highest}, "
            "the highest of the judgments; what the system did not find stays as it is judged"
            + (f", and further relevant documents there would lower {listed(lowered)}" if lowered else "")
            + ("; RBP adds p^n, the weight of all ranks below the n documents that it sees" if "RBP" in names else "")
            + not_reached(self.measures, self.highest)
        )


def may_be_relevant(measure: ir_measures.Measure, highest: int) -> bool:
    """Return whether some label up to the highest is relevant to a measure; else its bounds are its score."""
    spec = native_spec(measure)
    return spec is None or spec.rel <= highest


def not_reached(measures: Iterable[ir_measures.Measure], highest: int) -> str:
    """Return in words which measures no label up to the highest is relevant to, nothing where there is none."""
    names = [repr(measure) for measure in measures if not may_be_relevant(measure, highest)]
    return f"; no such label is relevant to {listed(names)}, so the bounds are the score" if names else ""


def score_bounds(
    runs: RunSet,
    qrels: Qrels,
    measures: Iterable[ir_measures.Measure],
    highest: int | None = None,
    others: Mapping[ir_measures.Measure, NDArray[np.int64]] | None = None,
    *,
    listed_alone: bool = False,
) -> Bounds:
    """Return the lowest and the highest score that the unjudged documents of each run allow.

    They may have any label up to `highest`, by default that of the judgments, at least 1. So may `others`, of each
    measure (topics, runs) how many documents that it does not see in the list; by default none. Rprec takes none. Where
    those `listed_alone` may, unjudged ones that stand among the judgments, all others are not relevant, nor what is
    below a list; elsewhere are those that a measure does not see in the list.
    """
    asked = list(measures)
    specs = {measure: spec for measure in asked if (spec := native_spec(measure)) is not None and _is_known(spec)}
    known = [measure for measure in asked if measure in specs]
    low = np.zeros((len(known), len(qrels.topics), len(runs)))
    high = np.zeros_like(low)
    judged = qrels.arrays.labels
    highest = max(qrels.arrays.highest if highest is None else highest, 1)
    if not known:
        return Bounds(known, low, high, highest)
    n_open = np.bincount(qrels.arrays.documents.topic[judged == UNJUDGED], minlength=len(qrels.topics))
    work = Rescoring(runs.field, runs.names, qrels, known)
    depths = [specs[measure].depth for measure in known]
    deepest = None if None in depths else max(depth for depth in depths if depth is not None)
    used = np.union1d(judged, np.array([min(highest, LABELS[1])], dtype=np.int16))
    for topics in work.cut(_AT_ONCE):
        base = work.block(topics).base
        judgments = work.judgments.of(topics)
        hits = work.index.gather(topics).top(deepest)
        longest = int(hits.lengths.max(initial=0))
        size = len(hits.lengths), longest if deepest is None else min(deepest, longest)
        label = np.full(size, 0 if listed_alone else UNJUDGED, dtype=np.int16)
        label[hits.of, hits.rank - 1] = judgments.labels[hits.row]
        topic, none = np.repeat(np.arange(len(topics)), len(runs)), np.zeros_like(hits.lengths)
        lists = _Lists(label, hits.lengths, topic, Cells(judgments), used, highest, none, below=not listed_alone)
        here = slice(topics.start, topics.stop)
        for m, measure in enumerate(known):
            spec, score = specs[measure], base[m].reshape(-1)
            seen = lists if others is None else replace(lists, others=others[measure][here].reshape(-1))
            if listed_alone:
                seen = replace(lists, others=n_open[here][topic] - lists.unjudged(spec).sum(axis=1))
            least, most = _BOUNDS[spec.kernel](seen, spec, score)
            # sums of the same numbers in another order differ in the last bit
            unknown = lists.unknown(spec) | (seen.others > 0 if measure.NAME in _LOWERED else False)
            unknown &= spec.rel <= highest
            low[m, here] = np.where(unknown, np.clip(least, 0, score), score).reshape(base[m].shape)
            high[m, here] = np.where(unknown, np.maximum(np.minimum(most, 1), score), score).reshape(base[m].shape)
    return Bounds(known, low, high, highest)


def has_bounds(measure: ir_measures.Measure) -> bool:
    """Return whether the bounds of a measure are known."""
    spec = native_spec(measure)
    return spec is not None and _is_known(spec)


def _is_known(spec: Spec) -> bool:
    return spec.kernel in _BOUNDS and not spec.judged_only and not spec.gains


@dataclass(frozen=True)
class _Lists:
    """Ranked lists down to the deepest cutoff: (lists, ranks) labels, `UNJUDGED` also where there is no document."""

    label: NDArray[np.int16]
    length: NDArray[np.int64]
    topic: NDArray[np.int64]
    cells: Cells
    used: NDArray[np.int16]
    highest: int
    others: NDArray[np.int64]  # (lists,) documents elsewhere that may be relevant
    below: bool  # whether what RBP would see below a list may be

    @cached_property
    def ranks(self) -> Floats:
        return np.arange(1.0, self.label.shape[1] + 1)

    @cached_property
    def _unjudged(self) -> NDArray[np.bool_]:
        return (self.label < 0) & (self.ranks <= self.length[:, None])

    def unjudged(self, spec: Spec) -> NDArray[np.bool_]:
        """Return (lists, ranks): where an unjudged document stands that the measure sees."""
        return self._unjudged[:, : spec.cutoff]

    def unknown(self, spec: Spec) -> NDArray[np.bool_]:
        """Return (lists,): which have an unjudged document that the measure sees; of RBP, which have any document."""
        every = spec.kernel == "rbp" and self.below
        return self.length > 0 if every else np.asarray(self.unjudged(spec).any(axis=1))

    def relevant(self, spec: Spec) -> NDArray[np.bool_]:
        """Return (lists, ranks): where a relevant document stands that the measure sees."""
        return self.label[:, : spec.cutoff] >= spec.rel

    def n_relevant(self, spec: Spec) -> Floats:
        """Return (lists, 1): how many documents of the topic are relevant, returned or not."""
        return self.cells.count(spec.rel)[self.topic].astype(np.float64)[:, None]


def _before(values: NDArray) -> NDArray:
    return np.cumsum(values, axis=1)


def _after(values: NDArray) -> NDArray:
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _precision(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    return score, score + lists.unjudged(spec).sum(axis=1) / float(spec.cutoff or 1)


def _success(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    return score, lists.unknown(spec).astype(np.float64)


def _reciprocal_rank(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    return score, (lists.unjudged(spec) / lists.ranks[: spec.cutoff]).max(axis=1, initial=0)


def _rank_biased(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    seen = lists.length if spec.cutoff is None else np.minimum(lists.length, spec.cutoff)
    weights = (1 - spec.p) * spec.p ** (lists.ranks[: spec.cutoff] - 1)
    most = score + (lists.unjudged(spec) * weights).sum(axis=1)
    return score, most + np.power(spec.p, seen) if lists.below else most


def _recall(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    n, found, every = lists.unjudged(spec).sum(axis=1), lists.relevant(spec).sum(axis=1), lists.n_relevant(spec)[:, 0]
    return ratio(found.astype(np.float64), every + lists.others), ratio(found + n, every + n)


def _r_precision(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    relevant, unjudged = (
        np.pad(_before(seen), ((0, 0), (1, 0))) for seen in (lists.relevant(spec), lists.unjudged(spec))
    )
    every, up_to = unjudged[:, -1:], lists.n_relevant(spec) + unjudged
    # column i makes as many relevant as are unjudged down to rank i
    at = np.minimum(up_to, relevant.shape[1] - 1).astype(np.int64)
    found, holes = (np.take_along_axis(seen, at, axis=1) for seen in (relevant, unjudged))
    worst = ratio(found + np.maximum(0, unjudged - (every - holes)), up_to)
    return worst.min(axis=1), ratio(found + np.minimum(unjudged, holes), up_to).max(axis=1)


def _average_precision(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    relevant, unjudged, ranks = lists.relevant(spec), lists.unjudged(spec), lists.ranks[: spec.cutoff]
    above, below = _before(relevant), _after(relevant / ranks)
    n_relevant, total = lists.n_relevant(spec), (above * relevant / ranks).sum(axis=1, keepdims=True)
    # what one more relevant document adds: its own precision, and 1 / rank to each relevant one below it
    latest = _after(unjudged * ((above + 1) / ranks + below + _after(unjudged / ranks) - unjudged / ranks))
    earliest = _before(unjudged * ((above + _before(unjudged)) / ranks + below))
    least = n_relevant + lists.others[:, None]
    worst = ratio(total + latest, least + _after(unjudged)).min(axis=1, initial=1)
    worst = np.minimum(worst, ratio(total, least)[:, 0])
    return worst, ratio(total + earliest, n_relevant + _before(unjudged)).max(axis=1, initial=0)


def _gain(lists: _Lists, spec: Spec, score: Floats) -> Pair:
    unjudged, discount = lists.unjudged(spec), discounts(lists.label.shape[1])[1:][: spec.cutoff]
    # thresholds: the labels above 0 that count, by how much each raises the gain, and whether unjudged documents can
    # have one
    gains = spec.gain_of_label(lists.used)
    labels = np.array(sorted(gains), dtype=np.int64)
    steps, is_open = np.diff([gains[label] for label in labels.tolist()], prepend=0.0), labels <= lists.highest
    counts = np.stack([lists.cells.count(label)[lists.topic][:, None] for label in labels.tolist()])
    size = int(counts.max(initial=0)) + lists.label.shape[1] + int(lists.others.max(initial=0))
    sums = np.append(0.0, np.cumsum(1 / discounts(size)[1:]))[np.minimum(np.arange(size + 1), spec.cutoff or size)]

    def ideals(more: NDArray[np.int64]) -> Iterator[Floats]:
        """Yield what each threshold adds to the ideal DCG where so many more documents reach it."""
        for step, can, above in zip(steps, is_open, counts, strict=True):
            yield step * sums[above + can * more]

    of_label = np.append(0.0, np.cumsum(steps))
    found = of_label[np.searchsorted(labels, lists.label[:, : spec.cutoff], side="right")]
    total = (found / discount).sum(axis=1, keepdims=True)
    # the last column makes nothing of the list relevant
    latest, n_latest = (np.pad(_after(seen), ((0, 0), (0, 1))) for seen in (unjudged / discount, unjudged))
    most, n_more = (steps * is_open).sum(), n_latest.astype(np.int64) + lists.others[:, None]
    worst = ratio(total + most * latest, sum(ideals(n_more), np.zeros_like(latest))).min(axis=1, initial=1)
    # n documents above a threshold add what the earliest n do; the best n of each threshold, for a ratio given
    # (Dinkelbach 1967), is found by itself: higher thresholds have fewer judged documents, so none wants more
    earliest, n_earliest = (np.pad(_before(seen), ((0, 0), (1, 0))) for seen in (unjudged / discount, unjudged))
    best = score[:, None]
    while True:
        dividend, divisor = total, np.zeros_like(total)
        for step, can, ideal in zip(steps, is_open, ideals(n_earliest), strict=True):
            chosen = (can * earliest - best * ideal / step).argmax(axis=1)[:, None]
            dividend = dividend + step * np.take_along_axis(can * earliest, chosen, axis=1)
            divisor = divisor + np.take_along_axis(ideal, chosen, axis=1)
        better = np.maximum(ratio(dividend, divisor), best)
        if (better - best).max(initial=0) <= _SAME:
            return worst, better[:, 0]
        best = better


#: how the bounds of a kernel's measures are found, of lists of which something is unknown
_BOUNDS: dict[str, Callable[[_Lists, Spec, Floats], Pair]] = {
    "ap": _average_precision,
    "p": _precision,
    "r": _recall,
    "success": _success,
    "rr": _reciprocal_rank,
    "rprec": _r_precision,
    "rbp": _rank_biased,
    "ndcg": _gain,
}
