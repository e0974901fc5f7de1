"""The order of documents in a list: by what it is ranked, and how a collection pooled its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pt_reuse._check import choice, examples, positive, shown
from pt_reuse._choices import ORDERS
from pt_reuse._errors import InputError, Option
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import NoPlaceError
from pt_reuse.data.trec import NO_ORDER


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


def in_order(field: AnyField, names: Sequence[str], now: str, wanted: str) -> AnyField:
    """Return a field that stands in one ranking order in another, see :func:`check_in_order`."""
    check_in_order(field, names, now, wanted)
    return field.in_order(now, wanted)


def check_in_order(field: AnyField, names: Sequence[str], now: str, wanted: str) -> None:
    """Raise where a field that stands in one ranking order cannot be put into another."""
    if wanted != "rank" or now == "rank":
        return
    without = [names[r] for r in np.flatnonzero(~field.ranked & field.lengths.any(axis=0)).tolist()]
    if without:
        raise InputError(f"{examples(without)} came without a column 'rank', so ", *NO_ORDER, argument="order")
    # told now, not when a block is loaded
    for i in range(len(field.parts)):
        block = field.part(i)
        try:
            block.rank.check(block.starts)
        except NoPlaceError as error:
            raise _no_order(block, names, error) from None


def _no_order(field: Field, names: Sequence[str], error: NoPlaceError) -> InputError:
    topic, run = divmod(int(np.searchsorted(field.starts, error.row, side="right")) - 1, field.n_runs)
    docno = tokens.decode(tokens.as_tokens(field.words_of(np.array([error.row]))))[0]
    fault = "the rank of another document of the topic" if error.tied else "no number as its rank"
    return InputError(
        f"topic {shown(field.topics[topic])}, document {shown(docno)} has {fault}, so ",
        *NO_ORDER,
        argument="order",
        place=f"run {shown(names[run])}",
    )


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
        if self.order and other.order and self.order != other.order:
            raise _two("pool_order", f"made in the order {self.order!r}", f"in {other.order!r}")
        if self.depth and other.depth and self.depth != other.depth:
            raise _two("pool_depth", f"made to depth {self.depth:,}", f"to {other.depth:,}")
        return HowPooled(self.order or other.order, self.depth or other.depth)

    def in_words(self, order: str) -> Iterator[str]:
        """Yield what the repr of a field in some ranking order says of its pool."""
        if self.order not in (None, order):
            yield f"pool_order={self.order!r}"
        if self.depth is not None:
            yield f"pool_depth={self.depth}"


#: nobody says
UNKNOWN = HowPooled()


def _two(option: str, mine: str, theirs: str) -> InputError:
    return InputError(
        f"the pool of one field was {mine}, that of the other {theirs}. Give both the same ",
        Option(option, ...),
        ".",
        argument="other",
    )
