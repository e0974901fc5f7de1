"""The documents that judgments know in the lists of runs, kept so that those of a unit are read without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.lists import offsets, ranges
from pt_reuse.arrays.rescore import HitIndex, Hits
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import cut_where, parts_of
from pt_reuse.data.units import Units

Rows = NDArray[np.int64]
#: 4 bytes each: there may be tens of millions
Short = NDArray[np.int32]
#: rows of runs that are looked at together
_AT_ONCE = 1 << 21


def _hits_of(runs: RunSet, qrels: Qrels, cutoff: int | None) -> Iterator[tuple[range, Hits]]:
    """Yield what the judgments know of the lists down to a rank, some topics at a time."""
    documents, field = qrels.arrays.documents, runs.field
    index = HitIndex(field, documents)
    at = [field.topic_row.get(topic, -1) for topic in documents.topics]
    rows = np.append(field.lengths.sum(axis=1), 0)[at]
    for topics in cut_where(rows.tolist(), parts_of(field, at), _AT_ONCE):
        hits = index.gather(topics).top(cutoff)
        yield topics, replace(hits, row=hits.row + np.int32(documents.starts[topics.start]))


@dataclass(frozen=True)
class Lists:
    """The documents of the judgments in the lists of runs, run by run, those of a unit one after the other."""

    order: Rows  # (runs,) unit by unit
    starts: Rows  # (runs * topics + 1,) where each list begins, run by run in that order
    row: Short  # (hits,) of the judgments
    rank: Short  # (hits,) from 1
    lengths: Rows  # (topics, runs) documents retrieved

    @classmethod
    def of(cls, runs: RunSet, qrels: Qrels, units: Units, cutoff: int | None = None) -> Lists:
        """Find the documents of the judgments in the lists of runs, down to a rank."""
        order = np.argsort(units.of_run, kind="stable")
        parts = list(_hits_of(runs, qrels, cutoff))
        n_topics, n_runs = len(qrels.topics), len(runs)
        none = np.zeros(0, dtype=np.int64)
        lengths = np.concatenate([none, *(hits.lengths for _, hits in parts)]).reshape(n_topics, n_runs)
        counts = np.concatenate([none, *(np.diff(hits.starts) for _, hits in parts)]).reshape(n_topics, n_runs)
        starts = offsets(counts[:, order].T.ravel())
        row, rank = (np.empty(starts[-1], dtype=np.int32) for _ in range(2))
        begins = np.empty((n_runs, n_topics), dtype=np.int64)
        begins[order] = starts[:-1].reshape(n_runs, n_topics)
        while parts:
            # one by one, so that what was copied is freed
            topics, hits = parts.pop()
            where = ranges(begins[:, topics.start : topics.stop].T.ravel(), np.diff(hits.starts))
            row[where], rank[where] = hits.row, hits.rank
        return cls(order, starts, row, rank, lengths)

    def of_runs(self, runs: Rows) -> tuple[Rows, Short, Short]:
        """Return of some runs of one unit (runs * topics,) how many hits each list has, and (hits,) row and rank."""
        n_topics = len(self.lengths)
        at = np.flatnonzero(np.isin(self.order, runs))
        lists = ranges(at * n_topics, np.full(len(at), n_topics))
        counts = self.starts[lists + 1] - self.starts[lists]
        first, stop = self.starts[at * n_topics], self.starts[(at + 1) * n_topics]
        neighbours = bool(len(at)) and bool((np.diff(at) == 1).all())
        hits = slice(int(first[0]), int(stop[-1])) if neighbours else ranges(first, stop - first)
        return counts, self.row[hits], self.rank[hits]

    def runs_of(self, hits: NDArray[np.bool_]) -> list[int]:
        """Return the runs that have some of the hits."""
        ends = self.starts[:: max(len(self.lengths), 1)]
        at = np.searchsorted(ends, np.flatnonzero(hits), side="right") - 1
        return sorted(set(self.order[np.unique(at)].tolist()))
