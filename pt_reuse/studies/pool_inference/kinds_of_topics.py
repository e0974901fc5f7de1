"""Depths of topics from runs: the depth that fits a topic, 0 where none does, and one depth for topics of a kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.studies.pool_inference.code_length import depth_bits, end_bits

#: the least limit to the unjudged share of a topic's pool, beyond which the topic was not pooled from these runs
MOST_UNJUDGED = 0.1
#: about what it takes to name a document in which pool and judged set differ
_BITS = 6.0
#: of a depth: the new documents from the depth divided by it, to the depth times it, show whether the pool ends there
_NEAR = np.sqrt(2)


def _below(depths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (topics,): down to which rank the new documents show whether the pool ends at the depth."""
    return np.maximum(np.ceil(depths * _NEAR).astype(np.int64), depths + 1)


def near(depths: NDArray[np.int64]) -> int:
    """Return down to which rank :class:`Curves` have to be known to say how sharply a pool ends at some depths."""
    return int(_below(depths).max(initial=0))


@dataclass(frozen=True)
class Curves:
    """How a pool of given runs grows with its depth, topic by topic.

    Attributes:
        judged: (topics, depths from 0) judged documents in the pool.
        unjudged: the same of unjudged ones.
        tolerance: share of a run that may be unjudged.
    """

    judged: NDArray[np.int64]
    unjudged: NDArray[np.int64]
    tolerance: float

    def ends(self, depths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (topics,): the bits saved by saying that the pool ends at these depths; 0 where a topic has none.

        Runs that resemble those that were pooled are mostly judged, too, and ever less at lower ranks. So it counts
        whether the judged share of the new documents falls at the depth, not how large it is.
        """
        at, longest = np.arange(len(depths)), self.judged.shape[1] - 1
        depths = np.minimum(depths, longest)
        first = np.minimum(np.floor(depths / _NEAR).astype(np.int64), np.maximum(depths - 1, 0))
        last = np.minimum(_below(depths), longest)
        judged = [self.judged[at, rank] for rank in (first, depths, last)]
        both = [self.judged[at, rank] + self.unjudged[at, rank] for rank in (first, depths, last)]
        share = (self.unjudged[at, depths].sum() + 1) / (both[1].sum() + 2)
        bits = end_bits((both[1] - both[0], judged[1] - judged[0]), (both[2] - both[1], judged[2] - judged[1]), share)
        return np.where(depths > 0, bits, 0.0)

    def of_pool(self, depths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (topics,): the depths, 0 where too much of the pool is unjudged, or where it does not end there."""
        at = np.arange(len(depths))
        documents = self.judged[at, depths] + self.unjudged[at, depths]
        kept = np.where(self.unjudged[at, depths] > max(self.tolerance, MOST_UNJUDGED) * documents, 0, depths)
        return np.where(self.ends(kept) < 0, 0, kept).astype(np.int64)

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """Return (topics,): the depth at which pool and judged set differ least, 0 where the topic is of another pool.

        Below that depth, the new documents are mostly unjudged. Where much of the pool is unjudged as well, the judged
        documents thin out slowly: they are those of other runs, and any smaller depth would have no cliff.
        """
        return self.of_pool(np.argmin(self.unjudged - self.judged, axis=1))

    @cached_property
    def joined(self) -> NDArray[np.int64]:
        """Return (topics,): the depths with those of one kind made equal, as long as naming them costs more."""
        cost, longest = self.unjudged - self.judged, self.judged.shape[1]
        some = np.flatnonzero(cost.any(axis=1))
        depths = self.with_others(self.depths)
        while True:
            values, best = np.unique(depths[some]), None
            named = depth_bits(depths[some], longest)
            for value in values[values > 0].tolist():
                others = values[(values != value) & (values > 0)]
                if not len(others):
                    continue
                of = np.flatnonzero(depths == value)
                moved = depths.copy()
                moved[of] = others[np.argmin(cost[of][:, others], axis=1)]
                more = int((cost[of, moved[of]] - cost[of, value]).sum())
                saved = named - depth_bits(moved[some], longest) - _BITS * more
                if saved > 0 and (best is None or saved > best[0]):
                    best = saved, moved
            if best is None:
                return depths
            depths = best[1]

    def with_others(self, given: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (topics,): given depths; a topic without one gets that of the others at which its pool ends, if any.

        Where other runs were pooled as well, the difference goes on falling below the depth, and shows none. Its pool
        has to end about as sharply as those of the others do: by half of what half of them show.
        """
        if not given.any():
            return given
        depths = given.copy()
        ends = np.full(len(given), 0.5 * np.median(self.ends(given)[given > 0]))
        for value in np.unique(given[given > 0]).tolist():
            tried = self.of_pool(np.where(given == 0, value, given))
            better = (given == 0) & (self.ends(tried) > ends)
            depths[better], ends[better] = tried[better], self.ends(tried)[better]
        return depths
