"""Where the rows of lists stand in another order, such as that of their file, and the rows of runs as read.

The places of a list count from 1. Those of a rank column are 1 + the number of lower ranks of the list, so that equal
ranks share a place; what is no number has the place :data:`NOWHERE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.lists import BY_SCORE, by_score, offsets, ranges
from pt_reuse.arrays.tokens import Words

#: (rows,) the place of each row
Places: TypeAlias = NDArray[np.unsignedinteger]
#: the place of a row that has none, as its rank is no number
NOWHERE = 0


class NoPlaceError(Exception):
    """A row has no place of its own in its list: none at all, or that of another row as well."""

    def __init__(self, row: int, tied: bool):
        super().__init__(row, tied)
        self.row, self.tied = row, tied


def standing(starts: NDArray[np.int64]) -> Places:
    """Return the places of rows in the order in which they stand, in lists that begin at `starts`."""
    lengths = np.diff(starts)
    dtype = np.uint16 if int(lengths.max(initial=0)) < 2**16 else np.uint32
    # differences modulo 2^32 or 2^16 are right, and small numbers fast
    rows = np.arange(1, int(starts[-1]) + 1, dtype=np.uint32).astype(dtype)
    return rows - np.repeat(starts[:-1].astype(dtype), lengths)


def rank_places(starts: NDArray[np.int64], ranks: NDArray[np.float64]) -> Places:
    """Return the places that ranks give in lists that begin at `starts`, none of them empty; NaN is no number."""
    places, lengths = standing(starts), np.diff(starts)
    # nearly always the ranks of a list count its rows, from 0 or from 1
    first = np.repeat(ranks[starts[:-1]] != 0, lengths)
    odd = _lists_with(ranks != places.astype(np.float64) - 1 + first, starts)
    if len(odd):
        rows = ranges(starts[odd], lengths[odd])
        # most others are the numbers of the rows in another order
        own = ranks[rows] - first[rows] + 1
        begins, reached = np.repeat(offsets(lengths[odd])[:-1], lengths[odd]), np.zeros(len(rows), dtype=np.bool_)
        inside = (own >= 1) & (own <= np.repeat(lengths[odd], lengths[odd])) & (own == np.floor(own))
        reached[(begins[inside] + own[inside] - 1).astype(np.int64)] = True
        places[rows] = own if reached.all() else _counted(lengths[odd], ranks[rows])
    return places


def recounted(starts: NDArray[np.int64], places: Places, lists: NDArray[np.int64]) -> Places:
    """Return places of which those of some lists, which have lost rows, are counted again."""
    lengths = np.diff(starts)[lists]
    rows, found = ranges(starts[lists], lengths), places.copy()
    found[rows] = _counted(lengths, np.where(places[rows] == NOWHERE, np.nan, places[rows]))
    return found


def check_places(starts: NDArray[np.int64], places: Places) -> None:
    """Raise NoPlaceError for the first row without a place of its own."""
    nowhere = np.flatnonzero(places == NOWHERE)
    if len(nowhere):
        raise NoPlaceError(int(nowhere[0]), tied=False)
    lists = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    reached = np.zeros(len(places), dtype=np.bool_)
    reached[starts[lists] + places - 1] = True
    if not reached.all():
        key = (lists << 32) | places.astype(np.int64)
        order = np.argsort(key, kind="stable")
        again = np.flatnonzero(key[order][1:] == key[order][:-1])
        raise NoPlaceError(int(order[1 + int(again[0])]), tied=True)


def permutation_to(starts: NDArray[np.int64], places: Places) -> NDArray[np.int64] | None:
    """Return what puts the rows of lists in the order of their places; None where they stand in it."""
    moved = _lists_with(places != standing(starts), starts)
    if not len(moved):
        return None
    lengths, permutation = np.diff(starts)[moved], np.arange(len(places))
    rows = ranges(starts[moved], lengths)
    permutation[rows] = rows[np.lexsort((places[rows], np.repeat(moved, lengths)))]
    return permutation


def _lists_with(marked: NDArray[np.bool_], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(np.searchsorted(starts, np.flatnonzero(marked), side="right") - 1)


def _counted(lengths: NDArray[np.int64], ranks: NDArray[np.float64]) -> NDArray[np.int64]:
    # 1 + the number of lower ranks of the list; NOWHERE for what is no number
    ranks = np.where(np.isfinite(ranks), ranks, np.nan)
    of = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((ranks, of))
    new = np.ones(len(of), dtype=np.bool_)
    new[1:] = (of[order][1:] != of[order][:-1]) | (ranks[order][1:] != ranks[order][:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(len(of)), 0))
    places = np.empty(len(of), dtype=np.int64)
    places[order] = first - np.repeat(offsets(lengths)[:-1], lengths) + 1
    places[np.isnan(ranks)] = NOWHERE
    return places


@dataclass
class RunRows:
    """One run as read: rows grouped by topic, each group in ranking order."""

    name: str  # of the run
    topics: list[str]  # topic names, each once
    starts: NDArray[np.int64]  # (topics + 1,) into the rows
    docs: Words  # (rows, k) words of the document names
    scores: NDArray[np.float64]  # (rows,) as read
    file: Places  # places in the file
    rank: Places | None  # places by the rank column; None without such a column


@dataclass
class FileRows:
    """One run as it stands in its file or frame."""

    topics: list[str]  # topic names, each once
    topic: NDArray[np.int64]  # (rows,) the topic of each row
    docs: Words  # (rows, k) words of the document names
    scores: NDArray[np.float64]  # (rows,) finite scores

    def __post_init__(self) -> None:
        grouped = not (self.topic[1:] < self.topic[:-1]).any()
        #: (rows,) the rows topic by topic, each topic as it stands in the file; None where they stand so
        self.grouping = None if grouped else np.argsort(self.topic, kind="stable")
        #: (topics + 1,) where the grouped rows of each topic begin
        self.starts = np.searchsorted(self.grouped(self.topic), np.arange(len(self.topics) + 1))

    def grouped(self, column: NDArray) -> NDArray:
        return column if self.grouping is None else column[self.grouping]

    def in_order(self, name: str, order: str, rank: Places | None) -> RunRows:
        """Return the run in a ranking order."""
        scores, file, docs = self.grouped(self.scores), standing(self.starts), self.docs
        if self.grouping is not None:
            docs = docs.take(self.grouping, axis=0)
        permutation = None
        if order in BY_SCORE:
            permutation = by_score(self.grouped(self.topic), lambda rows: docs.take(rows, axis=0), scores, order)
        elif order == "rank" and rank is not None:
            permutation = permutation_to(self.starts, rank)
        if permutation is not None:
            docs, scores, file = docs.take(permutation, axis=0), scores[permutation], file[permutation]
            rank = None if rank is None else rank[permutation]
        return RunRows(name, self.topics, self.starts, docs, scores, file, rank)
