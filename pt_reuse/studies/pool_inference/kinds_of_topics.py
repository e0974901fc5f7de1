"""Depths of topics from runs: the depth that fits a topic, 0 where none does, and one depth for topics of a kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.studies.pool_inference.code_length import depth_bits

#: the least limit to the unjudged share of a topic's pool, beyond which the topic was not pooled from these runs
_UNJUDGED = 0.1
#: about what it takes to name a document in which pool and judged set differ
_BITS = 6.0


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

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """Return (topics,): the depth at which pool and judged set differ least, 0 where too much of it is unjudged.

        Below that depth, the new documents are mostly unjudged. Where much of the pool is unjudged as well, the judged
        documents thin out slowly: they are those of other runs, and any smaller depth would have no cliff.
        """
        best = np.argmin(self.unjudged - self.judged, axis=1)
        at = np.arange(len(best)), best
        documents = self.judged[at] + self.unjudged[at]
        return np.where(self.unjudged[at] > max(self.tolerance, _UNJUDGED) * documents, 0, best).astype(np.int64)

    @cached_property
    def joined(self) -> NDArray[np.int64]:
        """Return (topics,): the depths with those of one kind made equal, as long as naming them costs more."""
        cost, longest = self.unjudged - self.judged, self.judged.shape[1]
        some = np.flatnonzero(cost.any(axis=1))
        depths = self.depths.copy()
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
