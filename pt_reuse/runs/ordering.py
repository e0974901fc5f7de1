"""Put the runs of a field in another ranking order, with every fault of a rank column in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pt_reuse._check import choice, examples, shown
from pt_reuse._choices import ORDERS
from pt_reuse._errors import InputError
from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.open_field import AnyField
from pt_reuse.engine.places import NoPlaceError
from pt_reuse.formats.trec import NO_ORDER


def check_order(argument: str, order: Any) -> None:
    """Raise unless a user's argument names a ranking order."""
    choice(argument, order, tuple(ORDERS))


def check_order_or_none(argument: str, order: Any) -> None:
    """Raise unless a user's argument names a ranking order, or leaves it to the field."""
    if order is not None:
        check_order(argument, order)


def in_order(field: AnyField, names: Sequence[str], now: str, wanted: str) -> AnyField:
    """Return a field that stands in one ranking order in another, see :func:`check_in_order`."""
    check_in_order(field, names, now, wanted)
    return field.in_order(now, wanted)


def check_in_order(field: AnyField, names: Sequence[str], now: str, wanted: str) -> None:
    """Raise where a field that stands in one ranking order cannot be put into another.

    Args:
        field: the runs.
        names: (runs,) their names, for errors.
        now: the order in which they stand.
        wanted: the order in which they are to stand.

    Raises:
        InputError: ``wanted="rank"``, and a run has no rank column, or a rank is tied or no number.
    """
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
