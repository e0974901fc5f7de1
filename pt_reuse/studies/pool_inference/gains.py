"""What the pool of the runs that are judged to a depth gains, depth by depth: over all topics, or of each alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.studies.pool_inference.ranked_topic import RankedTopic

_SLACK = 1e-9  # a tolerated share times a whole number is not whole in floating point
_Counts: TypeAlias = NDArray[np.signedinteger]


def is_tolerated(missing: _Counts, entries: _Counts, tolerance: float) -> NDArray[np.bool_]:
    """Return whether a run with so many documents, and so many unjudged ones among them, is judged."""
    return (missing <= tolerance * entries + _SLACK) & (entries > 0)


def tolerated_to(missing: _Counts, entries: _Counts, tolerance: float) -> NDArray[np.bool_]:
    """Return (runs, depths from 0): whether a run is judged to depth k; to depth 0 every run is."""
    good = is_tolerated(missing, entries, tolerance)
    good[:, 0] = True
    return good


@dataclass(frozen=True)
class Gains:
    """Asks for judged less unjudged documents in the pool of the runs that are judged to depth k.

    Attributes:
        run: (stretches,) the runs, for each stretch of depths to which one is judged: one for most runs.
        first, last: (stretches,) these depths.
        size: depths from 0.
    """

    run: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    size: int

    @classmethod
    def of_tolerated(cls, tolerated: NDArray[np.bool_]) -> Gains:
        """Ask it of the runs that are tolerated at each depth, (runs, depths from 0)."""
        edges = np.diff(tolerated.astype(np.int8), axis=1, prepend=0, append=0)
        run, first = np.nonzero(edges == 1)
        last = np.nonzero(edges == -1)[1] - 1
        kept = last > 0
        return cls(run[kept], np.maximum(first[kept], 1), last[kept], tolerated.shape[1])

    def of(self, topics: Iterable[RankedTopic]) -> NDArray[np.int64]:
        """Return (depths from 0,): the sum over some topics."""
        total = np.zeros(self.size + 1, dtype=np.int64)
        if len(self.run):
            for topic in topics:
                total += self._steps(topic)
        return np.cumsum(total)[:-1]

    def _steps(self, topic: RankedTopic) -> NDArray[np.int64]:
        # a document is in the pool to depth k from the larger of its rank and `first` up to `last`, for any stretch
        first, last, size = self.first, self.last, self.size + 1
        docs = topic.docs[self.run, : int(last.max())]
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
        begin = np.bincount(start[new], weights=worth, minlength=size)
        over = np.bincount(end[new] + 1, weights=worth, minlength=size)
        return np.rint(begin - over).astype(np.int64)


@dataclass(frozen=True)
class Singles:
    """Asks of each topic what fits it alone.

    Attributes:
        tolerance: share of a run's documents down to a depth that may be unjudged.
    """

    tolerance: float

    def of(self, topics: Iterable[RankedTopic]) -> list[tuple[NDArray[np.bool_], int, int]]:
        """Return for each topic the runs, what their pool gains, and the depth."""
        return [self._of(topic) for topic in topics]

    def _of(self, topic: RankedTopic) -> tuple[NDArray[np.bool_], int, int]:
        tolerated = tolerated_to(topic.unjudged_to(), topic.entries_to(), self.tolerance)
        gained = Gains.of_tolerated(tolerated).of([topic])
        depth = int(np.argmax(gained))
        runs = tolerated[:, depth] if depth else np.zeros(len(tolerated), dtype=bool)
        return runs, int(gained[depth]), depth
