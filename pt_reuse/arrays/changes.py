"""Judgment sets as a base set and what each further set changes in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int16]


@dataclass(frozen=True)
class Changes:
    """Judgment sets as what they change in a base set."""

    n_sets: int  # how many sets; one that changes nothing is the base set
    in_set: NDArray[np.int64]
    row: NDArray[np.int64]
    label: Labels

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Changes:
        """Return some of the changes; the sets stay."""
        return Changes(self.n_sets, self.in_set[chosen], self.row[chosen], self.label[chosen])

    def within(self, rows: slice) -> Changes:
        """Return the changes of some rows, counted from the first of these; for changes in the order of the rows."""
        first, stop = np.searchsorted(self.row, [rows.start, rows.stop]).tolist()
        mine = slice(first, stop)
        return Changes(self.n_sets, self.in_set[mine], self.row[mine] - rows.start, self.label[mine])


NO_CHANGES = Changes(0, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int16))


@dataclass(frozen=True)
class Judgments:
    """Judgments of neighbouring topics and what further sets change in them."""

    starts: NDArray[np.int64]  # (topics + 1,) rows of each topic, from 0
    labels: Labels  # (rows,) base labels
    changes: Changes = NO_CHANGES  # the further sets

    def of(self, topics: range) -> Judgments:
        """Return the judgments of some neighbouring topics; for changes in the order of the rows."""
        first, stop = int(self.starts[topics.start]), int(self.starts[topics.stop])
        starts = self.starts[topics.start : topics.stop + 1] - first
        return Judgments(starts, self.labels[first:stop], self.changes.within(slice(first, stop)))

    def visible(self) -> Judgments:
        """Return them without the changes that a measure blind to non-relevant documents cannot see."""
        seen = np.maximum(self.labels[self.changes.row], self.changes.label) > 0
        return Judgments(self.starts, self.labels, self.changes.take(seen))

    def relevant(self) -> NDArray[np.bool_]:
        """Return (rows,): which are relevant in the base set or in any other."""
        wanted = self.labels > 0
        wanted[self.changes.row[self.changes.label > 0]] = True
        return wanted

    def every_label(self) -> Labels:
        """Return each label that occurs in some set."""
        seen = np.zeros(2**16, dtype=bool)
        for labels in (self.labels, self.changes.label):
            seen[labels.view(np.uint16)] = True
        return np.sort(np.flatnonzero(seen).astype(np.uint16).view(np.int16))
