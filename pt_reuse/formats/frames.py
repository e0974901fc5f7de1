"""Columns of frames, checked and coded, with every fault in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import columns, examples
from pt_reuse._errors import InputError
from pt_reuse.engine import tokens
from pt_reuse.engine.tokens import Words
from pt_reuse.formats.numbers import plain_decimal

#: bytes of a qid or docno, in frames and in files
LONGEST_NAME = 1024


def check_frame(frame: Any, needed: Sequence[str]) -> None:
    """Raise unless `frame` is a DataFrame that has each of the columns needed once and no cell of them missing."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"expected a DataFrame, got {type(frame).__name__}.")
    columns("the frame", frame.columns, needed)
    twice = [column for column in needed if (frame.columns == column).sum() > 1]
    if twice:
        raise InputError(f"the frame has more than one column {examples(twice)}. Drop or rename one.")
    for column in ("qid", "docno", "label"):
        if column in needed and frame[column].isna().any():
            row = int(np.flatnonzero(frame[column].isna())[0])
            raise InputError(f"the {column} is missing. Fill it in or drop the row.", place=f"row {row:,}")


def text_codes(column: str, values: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """Number the names of a column of qids or docnos: (code of each row, the names)."""
    if pd.api.types.infer_dtype(values) in ("floating", "mixed-integer-float", "decimal", "complex", "boolean"):
        raise InputError(
            f"the {column}s must be text, got numbers such as {shown(values.iloc[0])}, which could be written "
            f"in more than one way. Read the column as text (dtype=str)."
        )
    # a dict, because pandas 2 takes names with bytes that are not UTF-8 for one another
    place: dict[str, int] = {}
    texts = (value if type(value) is str else str(value) for value in values.tolist())
    codes = np.fromiter((place.setdefault(text, len(place)) for text in texts), dtype=np.int64, count=len(values))
    odd = [name for name in place if not name or "\0" in name]
    if odd:
        raise InputError(f"{examples(odd)} cannot be a {column}; it must be text without NUL bytes.")
    return codes, list(place)


def text_words(column: str, names: Sequence[str]) -> Words:
    """Encode names of a column of qids or docnos as words."""
    raw = encoded(column, names)
    sizes = [len(name) for name in raw]
    if max(sizes, default=0) > LONGEST_NAME:
        at = sizes.index(max(sizes))
        raise InputError(
            f"a {column} of {sizes[at]:,} bytes, {names[at][:20] + '...'!r}; the longest that can be taken has "
            f"{LONGEST_NAME:,}."
        )
    return tokens.as_words(tokens.table(raw))


def encoded(what: str, names: Iterable[str]) -> list[bytes]:
    """Encode names as UTF-8; bytes that were not UTF-8 when read come back as they were."""
    try:
        return tokens.encoded(names)
    except UnicodeEncodeError as error:
        raise InputError(f"{error.object!r} cannot be a {what}; it must be text that UTF-8 can hold.") from None


def shown(value: Any) -> str:
    """Write a cell for a message: a number without its numpy type, a long value cut."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 80 else text[:77] + "..."


def number_column(values: pd.Series) -> NDArray[np.float64]:
    """Return a column as float64, with NaN for what is no number."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
        return values.to_numpy(dtype=np.float64)
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: Any) -> float:
    if isinstance(value, str):
        return plain_decimal(value.encode("utf-8", "replace"))
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan
