"""How many bits it takes to write the judged set down, given a pool: the criterion by which answers are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class PoolCounts:
    """What an answer says and where it is wrong.

    Attributes:
        runs: of the field.
        chosen: runs whose pool it is.
        documents: in the pool.
        unjudged: of them, without judgment.
        outside: (groups, 2) documents that any run has and the pool has not, and how many of them are judged, in groups
            of documents that are about as likely to be judged for another reason.
    """

    runs: int
    chosen: int
    documents: int
    unjudged: int
    outside: NDArray[np.int64]

    @property
    def unexplained(self) -> int:
        """Return the judged documents that any run has and the pool has not."""
        return int(self.outside[:, 1].sum())

    def bits(self, depths: NDArray[np.int64], longest: int) -> float:
        """Return the bits that name the runs, the depths, and the documents in which pool and judged set differ.

        Args:
            depths: of the topics that any run has, 0 for those without a pool.
            longest: the largest depth there can be.
        """
        return float(
            self.names(depths, longest)
            + _which(self.unjudged, self.documents)
            + _which(self.outside[:, 1], self.outside[:, 0]).sum()
        )

    def names(self, depths: NDArray[np.int64], longest: int) -> float:
        """Return the bits that name the runs and the depths."""
        return float(_which(self.chosen, self.runs)) + depth_bits(depths, longest)


def depth_bits(depths: NDArray[np.int64], longest: int) -> float:
    """Return the bits that name the distinct depths, and which topic has which of them."""
    sizes = np.unique(depths, return_counts=True)[1]
    which = _factorial(len(depths)) - _factorial(sizes).sum()
    return float(np.log2(len(depths) + 1) + len(sizes) * np.log2(longest + 1) + which)


def end_bits(
    above: tuple[NDArray[np.int64], NDArray[np.int64]], below: tuple[NDArray[np.int64], NDArray[np.int64]], share: float
) -> NDArray[np.float64]:
    """Return (topics,): the bits saved by saying that a pool ends at a rank, negative where it is no end.

    If it ends there, the documents above the rank are judged like the whole pool, and those below it at a rate of their
    own. If not, both have one rate. To say which of the two it is takes a bit.

    Args:
        above: (topics,) new documents in the ranks above the end, and how many of them are judged.
        below: the same of those below.
        share: of the pool that is unjudged, between 0 and 1.
    """
    documents, judged = above
    inside = -(judged * np.log2(1 - share) + (documents - judged) * np.log2(share))
    outside = _which(below[1], below[0])
    return _which(judged + below[1], documents + below[0]) - inside - outside - 1


def _which(some: NDArray[np.int64] | int, many: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Return the bits that say how many of `many` things, and which."""
    return np.log2(np.add(many, 1)) + _factorial(many) - _factorial(some) - _factorial(np.subtract(many, some))


def _factorial(number: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Return the bits of a factorial."""
    from scipy.special import gammaln

    return gammaln(np.add(number, 1)) / np.log(2)
