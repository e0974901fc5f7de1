"""What every run has down to the depths of the topics: the part of a field that a pool is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Tops:
    """What every run has down to the depth of each topic; documents are numbered over all topics.

    Attributes:
        run, doc: (entries,) topic by topic.
        row: (documents,) each document's row of the judgments, -1 for an unjudged one.
        starts: (topics + 1,) the entries of each topic; `doc_starts` its documents.
        n_runs: runs of the field.
    """

    run: NDArray[np.int64]
    doc: NDArray[np.int64]
    row: NDArray[np.int32]
    starts: NDArray[np.int64]
    doc_starts: NDArray[np.int64]
    n_runs: int

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Return (documents,): which documents are judged."""
        return self.row >= 0

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Return (runs,): documents of each run."""
        return np.bincount(self.run, minlength=self.n_runs)

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return (runs,): unjudged documents of each run."""
        return np.bincount(self.run[~self.judged[self.doc]], minlength=self.n_runs)

    def times(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (documents,): how many of the chosen runs have each document."""
        return np.bincount(self.doc[runs[self.run]], minlength=len(self.row))

    def alone(self, runs: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (runs,) each: judged and unjudged documents that a run has and no other of the chosen runs."""
        alone = self.times(runs)[self.doc] == runs[self.run]
        judged = self.judged[self.doc]
        n = self.n_runs
        return np.bincount(self.run[alone & judged], minlength=n), np.bincount(self.run[alone & ~judged], minlength=n)

    def in_common(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (runs, chosen): documents that each run has in common with each of the chosen runs."""
        chosen = np.flatnonzero(runs)
        total = np.zeros((self.n_runs, len(chosen)))
        for first, last, base, end in zip(
            self.starts[:-1], self.starts[1:], self.doc_starts[:-1], self.doc_starts[1:], strict=True
        ):
            has = np.zeros((self.n_runs, end - base), dtype=np.float32)
            has[self.run[first:last], self.doc[first:last] - base] = 1
            has = has[:, has.any(axis=0)]
            total += has @ has[chosen].T
        return np.rint(total).astype(np.int64)
