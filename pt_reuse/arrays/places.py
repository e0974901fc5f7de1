"""Where the rows of lists stand in another order, such as that of their file, and the rows of runs as read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.lists import BY_SCORE, by_score, of_lists, offsets, ranges, taken
from pt_reuse.arrays.tokens import Words

#: the place of a row that has none, as its rank is no number
NOWHERE = 0


class NoPlaceError(Exception):
    """A row has no place of its own in its list: none at all, or that of another row as well."""

    def __init__(self, row: int, tied: bool):
        super().__init__(row, tied)
        self.row, self.tied = row, tied


@dataclass(frozen=True)
class Places:
    """Where rows stand in another order; a row that is not here stands where it stands in its list."""

    lists: NDArray[np.int64]
    starts: NDArray[np.int64]
    at: NDArray[np.unsignedinteger]
    values: NDArray[np.unsignedinteger]

    @staticmethod
    def none() -> Places:
        """Return places for no row: all rows stand where they stand."""
        no_row = np.zeros(0, dtype=np.uint16)
        return Places(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), no_row, no_row)

    @staticmethod
    def of_rows(starts: NDArray[np.int64], rows: NDArray[np.int64], places: NDArray[np.integer]) -> Places:
        at = rows - of_lists(starts[:-1], starts, rows) + 1
        other = at != places
        if not other.all():
            rows, at, places = rows[other], at[other], places[other]
        bounds = np.searchsorted(rows, starts)
        lists = np.flatnonzero(np.diff(bounds))
        dtype = np.uint16 if int(np.diff(starts).max(initial=0)) < 2**16 else np.uint32
        return Places(lists, np.append(bounds[lists], len(rows)), at.astype(dtype), places.astype(dtype))

    @staticmethod
    def of_ranks(
        starts: NDArray[np.int64], firsts: NDArray[np.integer], rows: NDArray[np.int64], ranks: NDArray[np.float64]
    ) -> Places:
        """Return the places that a rank column gives."""
        if not len(rows):
            return Places.none()
        lengths = np.diff(starts)
        first = of_lists(firsts, starts, rows)
        counts = (ranks >= first) & (ranks < of_lists(lengths, starts, rows) + first) & (ranks == np.floor(ranks))
        places = np.where(counts, ranks, first).astype(np.int64) - first + 1
        # nearly always rows of a list change places with one another: then the ranks are the places
        reached = np.zeros(int(starts[-1]), dtype=np.bool_)
        reached[of_lists(starts[:-1], starts, rows) + places - 1] = True
        wrong = np.zeros(len(lengths), dtype=np.bool_)
        wrong[np.searchsorted(starts, rows[~(counts & reached[rows])], side="right") - 1] = True
        if wrong.any():
            odd = ranges(starts[:-1][wrong], lengths[wrong])
            every = _standing(lengths)
            # ranks stand here as they were written: small fractions would be lost if all counted from 1
            column = (every - 1 + np.repeat(firsts, lengths)).astype(np.float64)
            column[rows] = ranks
            every[rows] = places
            every[odd] = _by_rank(lengths[wrong], column[odd])
            rows, places = np.arange(len(every)), every
        return Places.of_rows(starts, rows, places)

    @staticmethod
    def of_rank_column(starts: NDArray[np.int64], ranks: NDArray[np.float64]) -> Places:
        """Return the places that ranks of all rows give, whose lists begin at `starts`; not finite for no number."""
        lengths = np.diff(starts)
        firsts = (ranks[starts[:-1]] != 0).astype(np.int64)
        rows = np.flatnonzero(ranks != _standing(lengths) - 1 + np.repeat(firsts, lengths))
        return Places.of_ranks(starts, firsts, rows, ranks[rows])

    @staticmethod
    def joined(parts: Sequence[Places], lists: Sequence[NDArray[np.int64]]) -> Places:
        """Return the places of several fields as those of one, in which their lists have other numbers."""
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
        if not len(numbers):
            return Places.none()
        lengths = np.concatenate([np.diff(part.starts) for part in parts])
        order = np.argsort(numbers)
        starts = offsets(lengths)[:-1][order]
        at, values = (
            taken(np.concatenate(columns), starts, lengths[order])
            for columns in ([part.at for part in parts], [part.values for part in parts])
        )
        return Places(numbers[order], offsets(lengths[order]), at, values)

    def rows(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows that are here, of a field whose lists begin at `starts`; they ascend."""
        return np.repeat(starts[self.lists] - 1, np.diff(self.starts)) + self.at

    def of(self, starts: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of some rows, ascending, of a field whose lists begin at `starts`."""
        return self._places_of(starts, rows, rows)

    def kept(
        self,
        starts: NDArray[np.int64],
        source: NDArray[np.int64],
        new_starts: NDArray[np.int64],
        rows: NDArray[np.int64],
    ) -> Places:
        """Return the places in a field made of some rows of this one, in the order in which they stand."""
        if not len(self.lists):
            return self
        where = np.minimum(np.searchsorted(self.lists, source), len(self.lists) - 1)
        here = self.lists[where] == source
        whole = np.diff(new_starts) == np.diff(starts)[source]
        mine = np.flatnonzero(here & whole)
        first, counts = self.starts[where[mine]], np.diff(self.starts)[where[mine]]
        same = Places(mine, offsets(counts), taken(self.at, first, counts), taken(self.values, first, counts))
        cut = np.flatnonzero(here & ~whole)
        if not len(cut):
            return same
        lengths = np.diff(new_starts)[cut]
        new_rows = ranges(new_starts[cut], lengths)
        places = self._places_of(starts, rows[new_rows], rows[new_rows])
        places = _by_rank(lengths, np.where(places == NOWHERE, np.nan, places))
        rest = Places.of_rows(new_starts, new_rows, places)
        return Places.joined([same, rest], [same.lists, rest.lists])

    def permuted(self, starts: NDArray[np.int64], permutation: NDArray[np.int64], moved: NDArray[np.int64]) -> Places:
        """Return the places after the rows of lists, which begin at `starts`, were put in another order."""
        rows = moved
        if len(self.lists):
            concerned = np.zeros(len(permutation), dtype=np.bool_)
            concerned[moved] = True
            concerned[self.rows(starts)] = True
            rows = np.flatnonzero(concerned)
        return Places.of_rows(starts, rows, self._places_of(starts, permutation[rows], rows))

    def check(self, starts: NDArray[np.int64]) -> None:
        """Raise NoPlaceError for the first row without a place of its own."""
        nowhere = np.flatnonzero(self.values == NOWHERE)
        if len(nowhere):
            raise NoPlaceError(int(self.rows(starts)[nowhere[0]]), tied=False)
        reached = np.zeros(int(starts[-1]), dtype=np.bool_)
        reached[self._targets(starts)] = True
        if reached[self.rows(starts)].all():
            return
        # rows that share a place leave another one free
        lengths = np.diff(starts)[self.lists]
        rows = ranges(starts[self.lists], lengths)
        key = (np.repeat(self.lists, lengths) << 32) | self._places_of(starts, rows, rows)
        order = np.argsort(key, kind="stable")
        again = np.flatnonzero(key[order][1:] == key[order][:-1])
        raise NoPlaceError(int(rows[order[1 + int(again[0])]]), tied=True)

    def permutation(self, starts: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return what puts the rows of a field, whose lists begin at `starts`, in this order; None for no change."""
        if not len(self.lists):
            return None
        permutation = np.arange(int(starts[-1]))
        permutation[self._targets(starts)] = self.rows(starts)
        return permutation

    def _targets(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        # where the rows that are here come to stand
        return np.repeat(starts[self.lists] - 1, np.diff(self.starts)) + self.values

    def _places_of(
        self, starts: NDArray[np.int64], rows: NDArray[np.int64], beside: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        # the place of each of some rows; `beside` are rows of the same lists, one for one, which ascend
        own = rows - of_lists(starts[:-1], starts, beside) + 1
        if not len(self.lists):
            return own
        places = np.full(int(starts[-1]), -1, dtype=np.int32)
        places[self.rows(starts)] = self.values
        found = places[rows]
        return np.where(found < 0, own, found)


def _standing(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return ranges(np.ones(len(lengths), dtype=np.int64), lengths)


def _by_rank(lengths: NDArray[np.int64], ranks: NDArray[np.float64]) -> NDArray[np.int64]:
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
        scores = self.grouped(self.scores)

        def words_of(rows: NDArray[np.int64]) -> Words:
            return self.docs.take(rows if self.grouping is None else self.grouping[rows], axis=0)

        permutation = None
        if order in BY_SCORE:
            permutation = by_score(self.grouped(self.topic), words_of, scores, order)
        elif order == "rank" and rank is not None:
            permutation = rank.permutation(self.starts)
        if permutation is None:
            return RunRows(
                name, self.topics, self.starts, words_of(np.arange(len(scores))), scores, Places.none(), rank
            )
        moved = np.flatnonzero(permutation != np.arange(len(permutation)))
        rank = rank and rank.permuted(self.starts, permutation, moved)
        file = Places.none().permuted(self.starts, permutation, moved)
        return RunRows(name, self.topics, self.starts, words_of(permutation), scores[permutation], file, rank)
