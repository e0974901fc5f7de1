"""Fields made of fields: the documents that are kept of one, and the orders of a union."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from pt_reuse._errors import Call, InputError, Option
from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.formats.frames import text_words


def restricted(field: Field, docnos: Iterable[str]) -> Field:
    """Return a field with only these documents, see :meth:`RunSet.restrict`."""
    if isinstance(docnos, str | bytes | Mapping | pd.DataFrame) or not isinstance(docnos, Iterable):
        got = "one string" if isinstance(docnos, str) else type(docnos).__name__
        raise InputError(f"docnos must be several document names, got {got}.", argument="docnos")
    words = tokens.as_words(field.vocabulary)
    distinct = list(dict.fromkeys(str(docno) for docno in docnos))
    kept = tokens.match(words, text_words("docno", distinct)) >= 0
    if not kept.any():
        raise InputError(
            "no run retrieves any of these documents. Are they docnos of this collection?", argument="docnos"
        )
    return field.keep(kept[field.all_docs()])


def united_pool_order(orders: tuple[str, str], pool_orders: tuple[str | None, str | None]) -> str | None:
    """Return the order in which the pool of a union was made, or say why two fields cannot be united.

    Args:
        orders: in which the two fields stand.
        pool_orders: in which their pools were made, where that is another.
    """
    if orders[0] != orders[1]:
        raise InputError(
            f"one field is ordered {orders[0]!r}, the other {orders[1]!r}. Put the other in order by ",
            Call("RunSet.reorder", repr(orders[0])),
            ".",
            argument="other",
        )
    found = list(dict.fromkeys(order for order in pool_orders if order))
    if len(found) > 1:
        raise InputError(
            f"the pool of one field was made in the order {found[0]!r}, that of the other in "
            f"{found[1]!r}. Give both the same ",
            Option("pool_order", ...),
            ".",
            argument="other",
        )
    return found[0] if found else None
