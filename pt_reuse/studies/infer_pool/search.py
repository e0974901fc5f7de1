"""The search for contributors and depths, and where the judgments end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import choice, fraction
from pt_reuse._errors import InputError, wrong
from pt_reuse.arrays.open_field import AnyField, same_lists
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import checked_depth as depth_of_pool
from pt_reuse.studies.infer_pool.fitting import Fit, Fitter, best_of, comparable
from pt_reuse.studies.infer_pool.judged_ranks import JudgedRanks, Passes, judged_codes

#: the tolerances that are tried where none is given
TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1)


#: how a depth comes about, in the words that settings show
COMMON, BY_TOPIC, GIVEN = "inferred", "inferred for each topic", "given"
#: what a user asks for -> how the depth may come about, the simplest first
_WAYS = {None: (COMMON, BY_TOPIC), "common": (COMMON,), "topic": (BY_TOPIC,)}


def checked_depth(depth: Any) -> int | str:
    """Return a user's ``depth=``, or say that it is none."""
    return choice("depth", depth, ("common", "topic")) if isinstance(depth, str) else depth_of_pool(depth)


def checked_tolerance(tolerance: Any) -> float:
    """Return a user's ``tolerance=``, or say that it is none."""
    share = fraction("tolerance", tolerance)
    if share == 1:
        raise wrong("tolerance", " must be below 1: at 1, every run is judged.")
    return share


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
        counts = np.zeros((4, 2), dtype=np.int64)  # in the order of the fields: (documents, judged)
        for topic, depth in zip(ranks.each(), fit.depths.tolist(), strict=True):
            best = topic.best(fit.runs, depth + 1)
            for edge, rank in enumerate((depth, depth + 1) if depth else ()):
                docs = topic.docs[fit.runs, rank - 1 : rank]
                judged, new = topic.judged[docs[docs >= 0]], topic.judged[best == rank]
                counts[[edge, edge + 2]] += [[len(judged), judged.sum()], [len(new), new.sum()]]
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


#: bits by which an answer may be longer than the shortest and be as good: odds of a thousand to one
AS_GOOD = 10.0
#: orders that go on: those that fit best with one depth for all topics and the least tolerance
_GO_ON = 2
#: times the fewest bits, beyond which an order does not go on to a larger tolerance
_WORSE = 1.05
#: the orders that are tried after the field's own
_ORDERS = ("file", "rank", "trec_eval", "trec_eval9")


@dataclass(frozen=True)
class Try:
    """One answer."""

    order: str  # of the runs
    fitter: Fitter  # the runs in that order, and the tolerance
    way: str  # how the depth came about
    fit: Fit  # the answer
    cliff: Cliff  # what is judged at its depth and one rank below

    @property
    def apart(self) -> NDArray[np.bool_]:
        """Return (topics,): those that runs have and that are not of the pool, none where there is no pool."""
        chosen = self.way == BY_TOPIC and bool(self.fit.runs.any())
        return chosen & self.fitter.ranks.has_topic & (self.fit.depths == 0)


class Search:
    """Tries answers until one is exact."""

    def __init__(
        self,
        runs: RunSet,
        qrels: Qrels,
        passes: Passes,
        *,
        depth: int | str | None,
        tolerance: float | None,
        order: str | None,
        verbose: bool,
    ):
        self.ways = _WAYS.get(depth, (GIVEN,))  # type: ignore[arg-type]
        self.tolerances = TOLERANCES if tolerance is None else (tolerance,)
        self._depth, self._order, self._runs, self._passes = depth, order, runs, passes
        self._codes = judged_codes(runs.field, qrels, passes)
        self._ranked: dict[str, JudgedRanks] = {}
        self.tried: list[Try] = []
        for one in pt.tqdm(self._tries(), desc="trying pools", unit="answer", disable=not verbose):
            self.tried.append(one)
            if one.fit.is_exact:
                break
        self.best = _best(self.tried)

    def _tries(self) -> Iterator[Try]:
        ways, (least, *others) = self.ways, self.tolerances
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
        anything = BY_TOPIC in self.ways and self._alike
        return anything and not self.best.fit.is_exact and self.best.fit.ends < -AS_GOOD

    @property
    def is_sharp(self) -> bool:
        """Return whether the best answer is a pool whose end shows: what is new is judged at its depth, not below."""
        return self.best.fit.is_pool and self.best.cliff.is_sharp

    def take_every_topic(self) -> None:
        """Take the best answer that sets no topic apart; where there is none, or no pool, that there is none."""
        whole = [one for one in self.tried if not one.apart.any()]
        if not self.is_no_pool and whole:
            self.best = self.best if not self.best.apart.any() else _best(whole)
            return
        fitter = self.best.fitter
        fit = fitter.settle(np.zeros_like(self.best.fit.depths))
        self.best = Try(self.best.order, fitter, BY_TOPIC, fit, Cliff.of(fitter.ranks, fit))
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
        most, ways = Fitter(one.fitter.ranks, self.tolerances[-1], alike=self._alike), self.ways
        others = [most.depths_of(one.fit.runs)] if BY_TOPIC in ways else []
        others += [most.common_depth()] if COMMON in ways else []
        same = bool((most.settle(one.fit.depths).runs == one.fit.runs).all())
        return same and best_of([one.fit, *others]) is one.fit

    @property
    def _alike(self) -> bool:
        return len(self.tolerances) > 1

    def _try(self, order: str, tolerance: float, way: str) -> Try:
        fitter = Fitter(self._ranked[order], tolerance, alike=self._alike)
        if isinstance(self._depth, int):
            fit = fitter.settle(self._depth * fitter.ranks.has_topic, self._depth)
        else:
            fit = fitter.common_depth() if way == COMMON else fitter.own_depths()
        return Try(order, fitter, way, fit, Cliff.of(fitter.ranks, fit))

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
        rows = [
            {
                "order": one.order,
                "tolerance": one.fitter.tolerance,
                "way": one.way,
                **dict(zip(("depth_from", "depth_to"), depth_range(one.fit.depths), strict=True)),
                "runs": int(one.fit.runs.sum()),
                "explained": one.fit.explained,
                "unjudged": one.fit.unjudged,
                "new_below": one.cliff.new_below,
                "bits": one.fit.bits,
                "best": one is self.best,
            }
            for one in self.tried
        ]
        return pd.DataFrame(rows)


def depth_range(depths: NDArray[np.int64]) -> tuple[int, int]:
    """Return the least and the largest depth of the topics that have one, 0 where none has."""
    most = int(depths.max(initial=0))
    return int(depths[depths > 0].min(initial=most)), most


def _best(tried: list[Try]) -> Try:
    """Return the answer of fewest bits; of those as good that of fewest depths and unjudged documents, tried first."""
    if tried[-1].fit.is_exact:
        return tried[-1]
    left = comparable([one.fit for one in tried])
    fewest = min(fit.bits for fit in left)
    as_good = [one for one in tried if one.fit in left and one.fit.bits <= fewest + AS_GOOD]
    return min(as_good, key=lambda one: (len(np.unique(one.fit.depths)), one.fit.unjudged))
