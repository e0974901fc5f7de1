"""The search for contributors and depths, and where the judgments end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._errors import Argument, InputError
from pt_reuse.arrays.open_field import AnyField, same_lists
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import checked_depth
from pt_reuse.studies.pool_inference.fitting import Fit, Fitter, best_of, comparable
from pt_reuse.studies.pool_inference.judged_ranks import JudgedCodes, JudgedRanks, Passes

#: the tolerances that are tried where none is given
TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1)


class Way(Enum):
    """How a depth comes about, in the words in which settings show it."""

    COMMON = "inferred"
    BY_TOPIC = "inferred for each topic"
    GIVEN = "given"


@dataclass(frozen=True)
class AskedDepth:
    """What was asked for."""

    ways: tuple[Way, ...]  # how the depth may come about, the simplest first
    depth: int = 0  # the depth that is given, 0 where it is to be found

    def fit(self, fitter: Fitter, way: Way) -> Fit:
        """Return the depths of the topics, and the runs that are judged to them."""
        if way is Way.COMMON:
            return fitter.common_depth()
        if way is Way.BY_TOPIC:
            return fitter.own_depths()
        return fitter.settle(fitter.ranks.depths(self.depth), self.depth)


def read_depth(depth: Any) -> AskedDepth:
    """Return what a user's ``depth=`` asks for."""
    if depth is None:
        return AskedDepth((Way.COMMON, Way.BY_TOPIC))
    if isinstance(depth, str):
        if depth not in ("common", "topic"):
            raise InputError(
                Argument("depth"),
                f" must be None, 'common', 'topic' or a whole number, got {depth!r}.",
                argument="depth",
            )
        return AskedDepth((Way.COMMON if depth == "common" else Way.BY_TOPIC,))
    return AskedDepth((Way.GIVEN,), checked_depth(depth))


def read_tolerance(tolerance: Any) -> tuple[float, ...]:
    """Return the tolerances that a user's ``tolerance=`` asks for, the smallest first."""
    if tolerance is None:
        return TOLERANCES
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= float(tolerance) < 1:
        raise InputError(
            Argument("tolerance"),
            f" must be a share, at least 0 and below 1, got {tolerance!r}.",
            argument="tolerance",
        )
    return (float(tolerance),)


#: the largest share of the new documents one rank below a depth that is judged where the depth is that of a pool
MOST_BELOW = 0.5
#: by how much that share falls at least, where other topics are set apart
_FALL = 1 / 3


@dataclass(frozen=True)
class Cliff:
    """Shares that are judged, of the documents that the runs judged as deep have at a rank; NaN where there is none."""

    at_depth: float  # of their documents at the depth of each topic
    below: float  # of those one rank below
    new_at_depth: float  # of those at the depth that no such run has at a better rank
    new_below: float  # the same one rank below

    @classmethod
    def of(cls, ranks: JudgedRanks, fit: Fit) -> Cliff:
        """Count over the topics that have a depth."""
        # (at the depth, below) x (all, new) x (documents, judged)
        counts = np.zeros((2, 2, 2), dtype=np.int64)
        for topic, depth in zip(ranks.each(), fit.depths.tolist(), strict=True):
            if topic is None or depth == 0:
                continue
            best = topic.best(fit.runs, depth + 1)
            for edge, rank in enumerate((depth, depth + 1)):
                docs = topic.docs[fit.runs, rank - 1 : rank]
                docs = docs[docs >= 0]
                new = best == rank
                counts[edge] += [
                    [len(docs), int(topic.judged[docs].sum())],
                    [int(new.sum()), int((new & topic.judged).sum())],
                ]
        shares = [judged / documents if documents else np.nan for documents, judged in counts.reshape(4, 2).tolist()]
        return cls(shares[0], shares[2], shares[1], shares[3])

    @property
    def is_there(self) -> bool:
        """Return whether the judged documents end at the depth; where nothing is new below it, they do."""
        return not self.new_below > MOST_BELOW

    @property
    def is_sharp(self) -> bool:
        """Return whether the judged share of the new documents falls at the depth; where nothing is below it, it does.

        Where other runs were pooled as well, much is judged below the depth of a pool. Where topics resemble a pool by
        accident, as much is judged below it as above.
        """
        return not self.new_at_depth - self.new_below < _FALL


#: bits by which an answer may be longer than the shortest and be as good: odds of a thousand to one
AS_GOOD = 10.0
#: orders that go on: those that fit best with one depth for all topics and the least tolerance
_GO_ON = 2
#: times the fewest bits, beyond which an order does not go on to a larger tolerance
_WORSE = 1.05
#: the orders that are tried after the field's own
_ORDERS = ("file", "rank", "trec_eval", "trec_eval9")


@dataclass(frozen=True)
class Asked:
    """What is to be tried."""

    depth: AskedDepth  # the ways to a depth
    tolerances: tuple[float, ...]  # shares of a run that may be unjudged, the smallest first
    order: str | None  # the one order to try; None for all that differ


@dataclass(frozen=True)
class Try:
    """One answer."""

    order: str  # of the runs
    fitter: Fitter  # the runs in that order, and the tolerance
    way: Way  # how the depth came about
    fit: Fit  # the answer
    cliff: Cliff  # what is judged at its depth and one rank below

    @property
    def apart(self) -> NDArray[np.bool_]:
        """Return (topics,): those that runs have and that are not of the pool, none where there is no pool."""
        chosen = self.way is Way.BY_TOPIC and bool(self.fit.runs.any())
        return chosen & self.fitter.ranks.has_topic & (self.fit.depths == 0)


class Search:
    """Tries answers until one is exact."""

    def __init__(self, runs: RunSet, qrels: Qrels, asked: Asked, passes: Passes, *, verbose: bool = False):
        self.asked, self._runs, self._passes = asked, runs, passes
        self._codes = JudgedCodes.of(runs.field, qrels, passes)
        self._ranked: dict[str, JudgedRanks] = {}
        self.tried: list[Try] = []
        for one in pt.tqdm(self._tries(), desc="trying pools", unit="answer", disable=not verbose):
            self.tried.append(one)
            if one.fit.is_exact:
                break
        self.best = _best(self.tried)

    def _tries(self) -> Iterator[Try]:
        ways, (least, *others) = self.asked.depth.ways, self.asked.tolerances
        # runs are put in another order only when no order before it is the one
        for order, field in self._fields():
            self._ranked[order] = JudgedRanks(field, self._codes, self._passes)
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
    def is_no_pool(self) -> bool:
        """Return whether the judged documents end at no depth, by odds of a thousand to one, whatever was tried."""
        anything = Way.BY_TOPIC in self.asked.depth.ways and self._alike
        return anything and not self.best.fit.is_exact and self.best.fit.ends < -AS_GOOD

    @property
    def is_sharp(self) -> bool:
        """Return whether the best answer is a pool whose end shows: what is new is judged at its depth, not below."""
        return self.best.fit.is_pool and self.best.cliff.is_sharp

    def take_every_topic(self) -> None:
        """Take the best answer that sets no topic apart; where there is none, or no pool, that there is none."""
        if not self.is_no_pool:
            whole = [self.best] if not self.best.apart.any() else [one for one in self.tried if not one.apart.any()]
            if whole:
                self.best = _best(whole)
                return
        fitter = self.best.fitter
        fit = fitter.settle(fitter.ranks.depths(0))
        self.best = Try(self.best.order, fitter, Way.BY_TOPIC, fit, Cliff.of(fitter.ranks, fit))
        self.tried.append(self.best)

    def ranks(self, order: str) -> JudgedRanks:
        """Return the runs in an order."""
        if order not in self._ranked:
            self._ranked[order] = JudgedRanks(self._runs.reorder(order).field, self._codes, self._passes)
        return self._ranked[order]

    def _of(self, order: str) -> Try:
        """Return the best answer so far in an order."""
        return _best([one for one in self.tried if one.order == order])

    def _is_settled(self, one: Try) -> bool:
        """Return whether the judged documents end at the depth, and the largest tolerance changes nothing."""
        if not one.cliff.is_there:
            return False
        most, ways = Fitter(one.fitter.ranks, self.asked.tolerances[-1], alike=self._alike), self.asked.depth.ways
        others = [most.depths_of(one.fit.runs)] if Way.BY_TOPIC in ways else []
        others += [most.common_depth()] if Way.COMMON in ways else []
        same = bool((most.settle(one.fit.depths).runs == one.fit.runs).all())
        return same and best_of([one.fit, *others]) is one.fit

    @property
    def _alike(self) -> bool:
        return len(self.asked.tolerances) > 1

    def _try(self, order: str, tolerance: float, way: Way) -> Try:
        fitter = Fitter(self._ranked[order], tolerance, alike=self._alike)
        fit = self.asked.depth.fit(fitter, way)
        return Try(order, fitter, way, fit, Cliff.of(fitter.ranks, fit))

    def _fields(self) -> Iterator[tuple[str, AnyField]]:
        """Yield the field in each order to try; an order in which no list differs is not tried again."""
        if self.asked.order is not None:
            yield self.asked.order, self._runs.reorder(self.asked.order).field
            return
        own = self._runs.in_pool_order()
        seen = [own.field]
        yield own.order, own.field
        for order in _ORDERS:
            try:
                field = self._runs.reorder(order).field
            except InputError:  # no rank column, or none that is an order
                continue
            if not any(same_lists(field, other) for other in seen):
                seen.append(field)
                yield order, field

    def table(self) -> pd.DataFrame:
        """Return one row per answer tried."""
        rows = [
            {
                "order": one.order,
                "tolerance": one.fitter.tolerance,
                "way": one.way.value,
                "depth_from": int(one.fit.depths[one.fit.depths > 0].min(initial=one.fit.depths.max(initial=0))),
                "depth_to": int(one.fit.depths.max(initial=0)),
                "runs": int(one.fit.runs.sum()),
                "explained": one.fit.counts.documents - one.fit.counts.unjudged,
                "unjudged": one.fit.counts.unjudged,
                "new_below": one.cliff.new_below,
                "bits": one.fit.bits,
                "best": one is self.best,
            }
            for one in self.tried
        ]
        return pd.DataFrame(rows)


def _best(tried: list[Try]) -> Try:
    """Return the answer of fewest bits; of those as good that of fewest depths and unjudged documents, tried first."""
    if tried[-1].fit.is_exact:
        return tried[-1]
    left = comparable([one.fit for one in tried])
    fewest = min(fit.bits for fit in left)
    as_good = [one for one in tried if one.fit in left and one.fit.bits <= fewest + AS_GOOD]
    return min(as_good, key=lambda one: (len(np.unique(one.fit.depths)), one.fit.counts.unjudged))
