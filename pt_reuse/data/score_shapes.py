"""What the scores of a field look like, list by list: all equal, rising with the rank, equal among neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.field import Field
from pt_reuse.arrays.lists import BY_SCORE, ranges
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import Places

#: down to which ranks neighbours with equal scores are counted
TOPS = (3, 10)


@dataclass(frozen=True)
class ScoreShapes:
    """The scores of each list: (topics, runs) arrays, 0 or False for a list of no document."""

    constant: NDArray[np.bool_]  # all scores are equal, of two documents or more
    rising: NDArray[np.bool_]  # they rise with the rank
    surprise: NDArray[np.float64]  # -log of the chance that they do by the order of rows alone; infinite by ranks
    tied_top: NDArray[np.int64]  # (tops, topics, runs) neighbours with equal scores down to each of `TOPS`
    tied: NDArray[np.int64]  # in the whole list

    @classmethod
    def of(cls, field: AnyField, order: str) -> ScoreShapes:
        """Look at each list of a field that stands in a ranking order."""
        shape = field.n_topics, field.n_runs
        constant, rising = np.zeros((2, *shape), dtype=np.bool_)
        surprise, tied = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        tied_top = np.zeros((len(TOPS), *shape), dtype=np.int64)
        for i, part in enumerate(field.parts):
            block = ListScores(field.part(i), order)
            at = slice(part.start, part.stop)
            tied[at], constant[at] = block.tied().reshape(-1, field.n_runs), block.constant.reshape(-1, field.n_runs)
            tied_top[:, at] = [block.tied(top).reshape(-1, field.n_runs) for top in TOPS]
            rises, by_rows = block.rising()
            rising[at] = rises.reshape(-1, field.n_runs)
            surprise[at] = np.where(by_rows, block.log_orders(), np.where(rises, math.inf, 0.0)).reshape(
                -1, field.n_runs
            )
        return cls(constant, rising, surprise, tied_top, tied)


@dataclass(frozen=True)
class ListScores:
    """The scores of the lists of a block."""

    field: Field
    order: str

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        return self.field.starts[:-1]

    @cached_property
    def length(self) -> NDArray[np.int64]:
        return np.diff(self.field.starts)

    @cached_property
    def keys(self) -> NDArray[np.floating]:
        """Return (rows,): by what documents are ranked."""
        scores = np.asarray(self.field.scores)
        if self.order != "trec_eval9":
            return scores
        with np.errstate(over="ignore"):
            return scores.astype(np.float32)

    @cached_property
    def _equal(self) -> NDArray[np.int64]:
        """Return the rows that have the score of the row below, whosoever's that is."""
        return np.flatnonzero(self.keys[1:] == self.keys[:-1])

    def tied(self, cutoff: int | None = None) -> NDArray[np.int64]:
        """Return (lists,): how many documents down to a cutoff have the score of the next; 0 in orders not by score."""
        if self.order not in BY_SCORE:
            return np.zeros(len(self.length), dtype=np.int64)
        return np.diff(np.searchsorted(self._equal, [self.begin, self.begin + self.neighbours(cutoff)]), axis=0)[0]

    def neighbours(self, cutoff: int | None = None) -> NDArray[np.int64]:
        """Return (lists,): how many documents down to a cutoff have a next one."""
        pairs = np.maximum(self.length - 1, 0)
        return pairs if cutoff is None else np.minimum(pairs, cutoff)

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Return (lists,): whether all scores are equal, of two documents or more."""
        found = np.zeros(len(self.length), dtype=np.bool_)
        several = np.flatnonzero(self.length > 1)
        equal = np.diff(np.searchsorted(self._equal, [self.begin, self.begin + self.neighbours()]), axis=0)[0]
        found[several] = equal[several] == self.length[several] - 1
        return found

    def log_orders(self) -> NDArray[np.float64]:
        """Return (lists,): the log of how many orders the rows of a list may have."""
        return np.array([math.lgamma(n + 1) for n in self.length.tolist()])

    def rising(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (lists,): whether scores rise with the rank; and where nothing but the order of rows says so."""
        found = np.zeros(len(self.length), dtype=np.bool_)
        if self.order not in BY_SCORE:
            # lists stand in the order of ranks or rows
            some = np.flatnonzero((self.length > 1) & ~self.constant)
            found[some] = self._ascends(some, None)
            return found, found & (self.order == "file")
        ranked = np.resize(np.asarray(self.field.ranked), len(self.length)) & ~self._of_one_rank
        for places, mine in ((self.field.rank, ranked), (self.field.file, ~ranked)):
            some = np.flatnonzero(mine & self._turned(places) & ~self.constant)
            found[some] = self._ascends(some, places)
        return found, found & ~ranked

    @cached_property
    def _of_one_rank(self) -> NDArray[np.bool_]:
        """Return (lists,): whether all ranks are the same, so that they say nothing."""
        some, same = np.flatnonzero(self.length), np.zeros(len(self.length), dtype=np.bool_)
        if len(some):
            # the first row is where it says
            places, begin = np.array(self.field.rank), self.begin[some]
            first, places[begin] = places[begin] == 1, 0
            same[some] = first & (np.maximum.reduceat(places, begin) == 1)
        return same

    def _turned(self, places: Places) -> NDArray[np.bool_]:
        """Return (lists,): whether the best score stands below the worst, which is looked at first."""
        found, some = np.zeros(len(self.length), dtype=np.bool_), np.flatnonzero(self.length)
        first, last = places[self.begin[some]], places[self.field.starts[some + 1] - 1]
        found[some] = (first > last) & (first != 1) & (last != self.length[some])
        return found

    def _ascends(self, some: NDArray[np.int64], places: Places | None) -> NDArray[np.bool_]:
        """Return for some lists, none of them empty, whether no score falls in the order of places."""
        rows = ranges(self.begin[some], self.length[some])
        of = np.repeat(np.arange(len(some)), self.length[some])
        if places is not None:
            rows = rows[np.lexsort((places[rows], of))]
        scores = np.asarray(self.field.scores)[rows]
        found = np.ones(len(some), dtype=np.bool_)
        found[of[1:][(scores[1:] < scores[:-1]) & (of[1:] == of[:-1])]] = False
        return found
