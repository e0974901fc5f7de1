"""Places: how the rows of some lists stand in another order, such as that of their file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.lists import offsets, ranges, taken

#: the place of a row that has none, as its rank is no number
NOWHERE = 0


class NoPlaceError(Exception):
    """A row has no place of its own in its list: none at all, or that of another row as well."""

    def __init__(self, row: int, tied: bool):
        super().__init__(row, tied)
        self.row, self.tied = row, tied


@dataclass(frozen=True)
class Places:
    """Where the rows of some lists stand in an order; the lists that are not here stand as everybody expects.

    Places say which row comes first; they need not follow each other without a gap.

    Attributes:
        lists: the lists, ascending.
        starts: (lists + 1,) into `values`.
        values: the place of each row of these lists, from 1; rows as they stand in the field.
    """

    lists: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: NDArray[np.unsignedinteger]

    @staticmethod
    def none() -> Places:
        """Return places for no list: all lists stand as expected."""
        return Places(np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint16))

    @staticmethod
    def of_rows(lists: NDArray[np.int64], rows: NDArray[np.int64], starts: NDArray[np.int64]) -> Places:
        """Return the places that the rows of some lists had before all rows were put in another order.

        Args:
            lists: the lists to keep, ascending.
            rows: (rows,) the place, among all rows, that each row had; lists keep together.
            starts: (lists + 1,) where the lists begin.
        """
        if not len(lists):
            return Places.none()
        lengths = np.diff(starts)[lists]
        values = taken(rows, starts[lists], lengths) - np.repeat(starts[lists] - 1, lengths)
        return Places(lists, offsets(lengths), values.astype(_dtype(lengths)))

    @staticmethod
    def of_ranks(lists: NDArray[np.int64], lengths: NDArray[np.int64], ranks: NDArray[np.float64]) -> Places:
        """Return the places that a rank column gives; lists whose ranks ascend without ties are left out.

        Args:
            lists: some lists, ascending.
            lengths: how many rows each has.
            ranks: of their rows, one list after the other; not finite where a rank is no number.
        """
        of = np.repeat(np.arange(len(lists)), lengths)
        odd = np.zeros(len(lists), dtype=np.bool_)
        # a list of one row, too, has no order by rank when its rank is no number
        odd[of[1:][~(ranks[1:] > ranks[:-1]) & (of[1:] == of[:-1])]] = True
        odd[of[~np.isfinite(ranks)]] = True
        if not odd.any():
            return Places.none()
        if not odd.all():
            kept = odd[of]
            lists, lengths, ranks = lists[odd], lengths[odd], ranks[kept]
        return Places(lists, offsets(lengths), _as_places(lengths, ranks))

    @staticmethod
    def joined(parts: Sequence[Places], lists: Sequence[NDArray[np.int64]]) -> Places:
        """Return the places of several fields as those of one, in which their lists have other numbers."""
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
        if not len(numbers):
            return Places.none()
        lengths = np.concatenate([np.diff(part.starts) for part in parts])
        order = np.argsort(numbers)
        values = taken(np.concatenate([part.values for part in parts]), offsets(lengths)[:-1][order], lengths[order])
        return Places(numbers[order], offsets(lengths[order]), values)

    def rows(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows that have a place here, of a field whose lists begin at `starts`."""
        return ranges(starts[self.lists], np.diff(self.starts))

    def take(
        self,
        starts: NDArray[np.int64],
        source: NDArray[np.int64],
        new_starts: NDArray[np.int64],
        rows: NDArray[np.int64],
    ) -> Places:
        """Return the places in a field made of this one's rows.

        Args:
            starts: (lists + 1,) where the lists of this field begin.
            source: (new lists,) the list of this field that each list of the new one is made of.
            new_starts: (new lists + 1,) where they begin.
            rows: the row of this field that each row of the new one is.
        """
        lengths = np.diff(new_starts)
        at = np.minimum(np.searchsorted(self.lists, source), max(len(self.lists) - 1, 0))
        here = np.flatnonzero((self.lists[at] == source) & (lengths > 0)) if len(self.lists) else source[:0]
        if not len(here):
            return Places.none()
        old = taken(rows, new_starts[here], lengths[here])
        old = old - np.repeat(starts[source[here]] - self.starts[at[here]], lengths[here])
        return Places(here, offsets(lengths[here]), self.values[old])

    def check(self, starts: NDArray[np.int64]) -> None:
        """Raise NoPlaceError for the first row without a place of its own."""
        rows = self.rows(starts)
        nowhere = np.flatnonzero(self.values == NOWHERE)
        if len(nowhere):
            raise NoPlaceError(int(rows[nowhere[0]]), tied=False)
        order, lists = self._order()
        tied = (lists[1:] == lists[:-1]) & (self.values[order][1:] == self.values[order][:-1])
        if tied.any():
            raise NoPlaceError(int(rows[order[1 + int(np.flatnonzero(tied)[0])]]), tied=True)

    def permutation(self, starts: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return what puts the rows of a field, whose lists begin at `starts`, in this order; None for no change."""
        if not len(self.lists):
            return None
        permutation = np.arange(int(starts[-1]))
        rows = self.rows(starts)
        permutation[rows] = rows[self._order()[0]]
        return permutation

    def _order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # the values list by list, each ascending, and their lists
        lists = np.repeat(np.arange(len(self.lists)), np.diff(self.starts))
        return np.argsort((lists << 32) | self.values, kind="stable"), lists


def _as_places(lengths: NDArray[np.int64], ranks: NDArray[np.float64]) -> NDArray[np.unsignedinteger]:
    # equal places for equal ranks
    if (ranks >= 0).all() and (ranks < 2**16 - 1).all() and (ranks == np.floor(ranks)).all():
        return ranks.astype(np.uint16) + np.uint16(1)
    ranks = np.where(np.isfinite(ranks), ranks, np.nan)
    of = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((ranks, of))
    step = np.ones(len(of), dtype=np.int64)
    step[1:] = (of[order][1:] != of[order][:-1]) | (ranks[order][1:] != ranks[order][:-1])
    place = np.cumsum(step)
    values = np.empty(len(of), dtype=_dtype(lengths))
    values[order] = place - np.repeat(place[offsets(lengths)[:-1]] - 1, lengths)
    values[np.isnan(ranks)] = NOWHERE
    return values


def _dtype(lengths: NDArray[np.int64]) -> type[np.unsignedinteger]:
    return np.uint16 if int(lengths.max(initial=0)) < 2**16 else np.uint32
