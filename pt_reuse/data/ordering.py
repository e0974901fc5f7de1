"""The order of documents in a list: by what it is ranked, and how a collection pooled its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pt_reuse._check import choice, examples, positive, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import NoPlaceError, check_places
from pt_reuse.data.trec import NO_ORDER, without_place
from pt_reuse.errors import InputError
from pt_reuse.options import ORDERS


def check_order(argument: str, order: Any) -> None:
    """Raise unless a user's argument names a ranking order."""
    choice(argument, order, tuple(ORDERS))


def checked_pool_order(order: Any) -> str:
    """Return a user's ``pool_order=``, or say that it is no ranking order."""
    check_order("pool_order", order)
    return str(order)


def check_order_or_none(argument: str, order: Any) -> None:
    """Raise unless a user's argument names a ranking order, or leaves it to the field."""
    if order is not None:
        check_order(argument, order)


def check_in_order(field: AnyField, names: Sequence[str], now: str, wanted: str) -> None:
    """Raise where a field that stands in one ranking order cannot be put into another."""
    if wanted != "rank" or now == "rank":
        return
    without = [names[r] for r in np.flatnonzero(~field.ranked & field.lengths.any(axis=0)).tolist()]
    if without:
        raise InputError(f"{examples(without)} came without a column 'rank'. {NO_ORDER}", argument="order")
    # told now, not when a block is loaded
    for block in map(field.part, range(len(field.parts))):
        try:
            check_places(block.starts, block.rank)
        except NoPlaceError as error:
            topic, run = divmod(int(np.searchsorted(block.starts, error.row, side="right")) - 1, block.n_runs)
            docno = tokens.decode(tokens.as_tokens(block.words_of(np.array([error.row]))))[0]
            where = {"argument": "order", "place": f"run {shown(names[run])}"}
            raise without_place(block.topics[topic], docno, tied=error.tied, **where) from None


@dataclass(frozen=True)
class HowPooled:
    """How the pool of a field was made; one that is made has been checked."""

    order: str | None = None  # the order in which documents were taken
    depth: int | None = None  # documents per run and topic; None where nobody says

    def __post_init__(self) -> None:
        check_order_or_none("pool_order", self.order)
        if self.depth is not None:
            positive("pool_depth", self.depth, "documents per run and topic")

    def __or__(self, other: HowPooled) -> HowPooled:
        """Return what either says; raise where they say two things."""
        both = (("pool_order", self.order, other.order), ("pool_depth", self.depth, other.depth))
        for option, mine, theirs in both:
            if mine and theirs and mine != theirs:
                two = f"{option} of one field is {mine!r}, that of the other {theirs!r}. Give both the same "
                raise InputError(f"{two}{option}=.", argument="other")
        return HowPooled(self.order or other.order, self.depth or other.depth)

    def in_words(self, order: str) -> Iterator[str]:
        """Yield what the repr of a field in some ranking order says of its pool."""
        if self.order not in (None, order):
            yield f"pool_order={self.order!r}"
        if self.depth is not None:
            yield f"pool_depth={self.depth}"


#: nobody says
UNKNOWN = HowPooled()
