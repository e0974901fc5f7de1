"""Results and judgments as ir_measures and ir_datasets have them, brought into PyTerrier's columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import pandas as pd

#: what ir_measures and ir_datasets call a column -> what PyTerrier calls it
OURS = {"query_id": "qid", "doc_id": "docno", "relevance": "label", "iter": "iteration"}
_THEIRS = {ours: theirs for theirs, ours in OURS.items()}


def in_our_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with PyTerrier's names of columns; one that has both names of a column keeps both."""
    named = {theirs: ours for theirs, ours in OURS.items() if theirs in frame.columns and ours not in frame.columns}
    return frame.rename(columns=named) if named else frame


def has_fields(item: Any, *columns: str) -> bool:
    """Return whether a value is a named tuple with fields for some of PyTerrier's columns, by either name."""
    fields = getattr(type(item), "_fields", ())
    return all(column in fields or _THEIRS.get(column, column) in fields for column in columns)


def frame_of_tuples(items: Sequence[Any]) -> pd.DataFrame:
    """Return the fields of named tuples as columns, those that all of them have; each is one of one row."""
    kinds = list(dict.fromkeys(map(type, items)))
    if len(kinds) == 1:
        return in_our_columns(pd.DataFrame(items, columns=list(kinds[0]._fields)))
    shared = [field for field in kinds[0]._fields if all(field in kind._fields for kind in kinds)]
    return in_our_columns(pd.DataFrame({field: [getattr(item, field) for item in items] for field in shared}))


def is_nested(value: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is one of topic -> document -> number, as ir_measures and pytrec_eval take it."""
    return bool(value) and all(
        isinstance(inner, Mapping) and not any(_holds_more(cell) for cell in inner.values()) for inner in value.values()
    )


def _holds_more(cell: Any) -> bool:
    return isinstance(cell, Mapping | pd.DataFrame) or (isinstance(cell, Iterable) and not isinstance(cell, str))


def frame_of_nested(value: Mapping[Any, Mapping[Any, Any]], column: str) -> pd.DataFrame:
    """Return topic -> document -> number as ``qid docno`` and a column of the numbers."""
    qids = list(chain.from_iterable([qid] * len(inner) for qid, inner in value.items()))
    docnos = list(chain.from_iterable(value.values()))
    numbers = list(chain.from_iterable(inner.values() for inner in value.values()))
    return pd.DataFrame({"qid": qids, "docno": docnos, column: numbers})
