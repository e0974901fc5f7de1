"""Fields made of fields: the documents that are kept of one, and whether two can be united."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from pt_reuse._errors import Call, InputError
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


def check_same_order(mine: str, other: str) -> None:
    """Raise where two fields that are to be united stand in two ranking orders."""
    if mine != other:
        raise InputError(
            f"one field is ordered {mine!r}, the other {other!r}. Put the other in order by ",
            Call("RunSet.reorder", repr(mine)),
            ".",
            argument="other",
        )
