"""The runs' lists on one topic of the judgments: who has which document at which rank, and which are judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RankedTopic:
    """The runs' lists on one topic of the judgments.

    Attributes:
        docs: (runs, longest) the document at each rank, -1 past the end of a list.
        row: (documents + 1,) each document's row of the judgments, -1 for an unjudged one; the last is no document.
    """

    docs: NDArray[np.signedinteger]
    row: NDArray[np.int32]

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Return (documents,): which documents are judged."""
        return self.row[:-1] >= 0

    def entries_to(self) -> NDArray[np.int32]:
        """Return (runs, longest + 1): documents at rank k or better, for k from 0."""
        return np.minimum(self.lengths[:, None], np.arange(self.docs.shape[1] + 1)).astype(np.int32)

    def unjudged_to(self) -> NDArray[np.int32]:
        """Return (runs, longest + 1): unjudged documents at rank k or better, for k from 0."""
        return running((self.docs >= 0) & (self.row < 0).take(self.docs))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): documents of each list."""
        return (self.docs >= 0).sum(axis=1)

    def best(self, runs: NDArray[np.bool_], depth: int | None = None) -> NDArray[np.int32]:
        """Return (documents,): the best rank of each document among the chosen runs, 0 where they do not have it.

        Args:
            runs: (runs,) the chosen ones.
            depth: the last rank to look at; default all.
        """
        lists = self.docs[runs, :depth]
        rank = np.zeros(len(self.row), dtype=np.int32)
        # worst rank first: of several assignments to one document the last one stays
        rank[lists.T[::-1].ravel()] = np.repeat(np.arange(lists.shape[1], 0, -1, dtype=np.int32), len(lists))
        return rank[:-1]

    def best_run(self) -> NDArray[np.int32]:
        """Return (documents,): the first run that has each document at its best rank."""
        run = np.full(len(self.row), -1, dtype=np.int32)
        n_runs, longest = self.docs.shape
        run[self.docs.T[::-1, ::-1].ravel()] = np.tile(np.arange(n_runs - 1, -1, -1, dtype=np.int32), longest)
        return run[:-1]

    def found(self, runs: NDArray[np.bool_], depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (at most depth + 1,) each: judged and unjudged documents in the pool of the chosen runs to depth k."""
        rank = self.best(runs, depth)
        n = min(self.docs.shape[1], depth) + 1
        judged = np.bincount(rank[self.judged], minlength=n)
        every = np.bincount(rank, minlength=n)
        judged[0] = every[0] = 0
        return np.cumsum(judged), np.cumsum(every - judged)


def running(marks: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return (runs, longest + 1): how many marks are at rank k or better, for k from 0."""
    counts = np.zeros((marks.shape[0], marks.shape[1] + 1), dtype=np.int32)
    np.cumsum(marks, axis=1, out=counts[:, 1:])
    return counts
