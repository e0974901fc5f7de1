"""What a measure must know of a topic under one judgment set, whatever the runs: counts of grades and ideal gains."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: the label of a document that a judgment set does not hold
UNJUDGED = np.int16(-(2**15))


class Cells:
    """(topic, judgment set) pairs: all topics under the base set first, then each pair that a change reaches."""

    def __init__(
        self,
        starts: NDArray[np.int64],
        labels: NDArray[np.int16],
        in_set: NDArray[np.int64],
        row: NDArray[np.int64],
        label: NDArray[np.int16],
    ):
        n_topics = len(starts) - 1
        topic = np.searchsorted(starts, row, side="right") - 1
        width = int(in_set.max(initial=0)) + 1
        pairs, cell = np.unique(topic * width + in_set, return_inverse=True)
        self.n_topics = n_topics
        self.topic = np.concatenate([np.arange(n_topics), pairs // width])
        self.set = pairs % width  # of the cells after the first n_topics
        self.of_change = cell + n_topics
        self._starts, self._labels, self._row, self._new = starts, labels, row, label

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

        counts = np.diff(np.searchsorted(np.flatnonzero(inside(self._labels)), self._starts))[self.topic]
        before, after = inside(self._labels[self._row]), inside(self._new)
        np.add.at(counts, self.of_change, after.astype(np.int64) - before)
        return counts

    def ideal(self, gain_of_label: dict[int, float], cutoff: int | None) -> NDArray[np.float64]:
        """Return (cells,): the DCG of the best possible ranking, up to `cutoff`."""
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
