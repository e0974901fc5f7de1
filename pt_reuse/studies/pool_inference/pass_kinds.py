"""What is asked of each topic to sum a field up: what is unjudged, what a pool has, how well documents are ranked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.studies.pool_inference.ranked_topic import RankedTopic


@dataclass(frozen=True)
class Unjudged:
    """Asks how many unjudged documents each run has at rank k or better.

    Attributes:
        n_runs: runs of the field.
        longest: the longest list of all topics.
    """

    n_runs: int
    longest: int

    def of(self, topics: Iterable[RankedTopic]) -> NDArray[np.int64]:
        """Return (runs, longest + 1): the sum over some topics; the last count of a topic holds for deeper ranks."""
        total = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for topic in topics:
            counts = topic.unjudged_to()
            total[:, : counts.shape[1]] += counts
            total[:, counts.shape[1] :] += counts[:, -1:]
        return total


@dataclass(frozen=True)
class Found:
    """Asks how many judged and unjudged documents are in a pool to depth k.

    Attributes:
        runs: (runs,) whose pool it is.
        depth: the largest one.
    """

    runs: NDArray[np.bool_]
    depth: int

    def of(self, topics: Iterable[RankedTopic]) -> NDArray[np.int64]:
        """Return (2, topics, depth + 1): judged and unjudged documents; the last ones hold for deeper ranks."""
        return np.stack([self._of(topic) for topic in topics], axis=1)

    def _of(self, topic: RankedTopic) -> NDArray[np.int64]:
        counts = np.stack(topic.found(self.runs, self.depth))
        return np.pad(counts, ((0, 0), (0, self.depth + 1 - counts.shape[1])), mode="edge")


@dataclass(frozen=True)
class Groups:
    """Asks for the group of each document, by the best rank at which any run has it."""

    def of(self, topics: Iterable[RankedTopic]) -> list[NDArray[np.int8]]:
        """Return for each topic (documents,): 0 for rank 1, 1 for 2, 2 for 3 to 4, and so on; -1 for no run's."""
        return [self._of(topic) for topic in topics]

    @staticmethod
    def _of(topic: RankedTopic) -> NDArray[np.int8]:
        rank = topic.best(np.ones(len(topic.docs), dtype=bool))
        group = np.ceil(np.log2(np.maximum(rank, 1))).astype(np.int8)
        return np.where(rank > 0, group, np.int8(-1))
