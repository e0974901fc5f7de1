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

    @cached_property
    def of_runs(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return (entries,) the entries run by run, and (runs + 1,) where those of each run begin."""
        order = np.argsort(self.run.astype(np.min_scalar_type(self.n_runs)), kind="stable")
        return order, np.append(0, np.cumsum(self.entries))

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


class Choice:
    """Some runs, of which one after the other goes, and what each has that no other of them has.

    Args:
        tops: what all runs have.
        runs: (runs,) the chosen ones.

    Attributes:
        runs: (runs,) those that are left.
        times: (documents,) how many of them have each document.
        judged, unjudged: (runs,) documents that one of them alone has; 0 for runs that are not chosen.
        documents: in the pool of those that are left, and `wrong`, how many of them are unjudged.
    """

    def __init__(self, tops: Tops, runs: NDArray[np.bool_]):
        self._tops, self.runs = tops, runs.copy()
        of_chosen = runs[tops.run]
        run, doc = tops.run[of_chosen], tops.doc[of_chosen]
        n = len(tops.row)
        self.times = np.bincount(doc, minlength=n)
        # of the runs that have a document the sum of their numbers: where one is left, the sum says which
        self._who = np.bincount(doc, weights=run, minlength=n).astype(np.int64)
        self.judged, self.unjudged = self._alone(np.flatnonzero(self.times == 1))
        pool = self.times > 0
        self.documents, self.wrong = int(pool.sum()), int((pool & ~tops.judged).sum())

    def drop(self, run: int) -> None:
        """Leave out one of the runs."""
        tops = self._tops
        order, starts = tops.of_runs
        docs = tops.doc[order[starts[run] : starts[run + 1]]]
        self.runs[run] = False
        self.times[docs] -= 1
        self._who[docs] -= run
        self.documents -= int(self.judged[run] + self.unjudged[run])
        self.wrong -= int(self.unjudged[run])
        self.judged[run] = self.unjudged[run] = 0
        judged, unjudged = self._alone(docs[self.times[docs] == 1])
        self.judged += judged
        self.unjudged += unjudged

    def _alone(self, docs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # how many of these documents, each of one run, are whose
        who, judged = self._who[docs], self._tops.judged[docs]
        n = self._tops.n_runs
        return np.bincount(who[judged], minlength=n), np.bincount(who[~judged], minlength=n)
