"""Columns of frames, checked and coded, with every fault in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import columns, examples, shown
from pt_reuse._errors import InputError
from pt_reuse.engine import tokens
from pt_reuse.engine.tokens import Words
from pt_reuse.formats.numbers import plain_decimal

#: bytes of a qid or docno, in frames and in files
LONGEST_NAME = 1024
#: what pandas calls columns of numbers that have more than one way to be written
_NUMBERS = ("floating", "mixed-integer-float", "decimal", "complex", "boolean")


def check_frame(frame: Any, needed: Sequence[str]) -> None:
    """Raise unless `frame` is a DataFrame that has each of the columns needed once and no label missing."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"expected a DataFrame, got {type(frame).__name__}.")
    columns("the frame", frame.columns, needed)
    twice = [column for column in needed if (frame.columns == column).sum() > 1]
    if twice:
        raise InputError(f"the frame has more than one column {examples(twice)}. Drop or rename one.")
    if "label" in needed:
        _check_present("label", frame["label"])


def text_column(column: str, values: pd.Series) -> Words:
    """Return the names in a column of qids or docnos as words, one row per cell."""
    texts = values.tolist()
    if not set(map(type, texts)) <= {str}:
        _check_present(column, values)
        if pd.api.types.infer_dtype(values) in _NUMBERS:
            raise InputError(
                f"the {column}s must be text, got numbers such as {shown(values.iloc[0])}, which could be written "
                f"in more than one way. Read the column as text (dtype=str)."
            )
        texts = [str(value) for value in texts]
    words = _cut(column, texts)
    if words is None or not words[:, 0].all():
        odd = [name for name in dict.fromkeys(texts) if not name or "\0" in name]
        raise InputError(f"{examples(odd)} cannot be a {column}; it must be text without NUL bytes.")
    return words


def text_groups(column: str, values: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """Number the names in a column, in order of appearance: (code of each row, the names)."""
    words = text_column(column, values)
    codes, first = tokens.factorize(words)
    return codes, tokens.decode(tokens.as_tokens(words.take(first, axis=0)))


def text_words(column: str, names: Sequence[str]) -> Words:
    """Return names of a column of qids or docnos as words."""
    words = _cut(column, names)
    if words is None:
        odd = [name for name in names if "\0" in name]
        raise InputError(f"{examples(odd)} cannot be a {column}; it must be text without NUL bytes.")
    return words


def check_text(what: str, names: Iterable[str]) -> None:
    """Raise where a name is none that UTF-8 can hold; bytes that were not UTF-8 when read are let pass."""
    for name in names:
        if not _has_bytes(name):
            raise InputError(f"{shown(name)} cannot be a {what}; it must be text that UTF-8 can hold.")
        tokens.as_texts([name.encode("utf-8", "surrogateescape")])


def _cut(column: str, names: Sequence[str]) -> Words | None:
    # all names as one text, which is encoded at once and cut again; None where a name has a NUL byte of its own
    if not names:
        return np.zeros((0, 1), dtype="<u8")
    try:
        joined = "\0".join(names).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        check_text(column, names)
        raise
    buffer = np.frombuffer(joined + bytes(8), dtype=np.uint8)
    ends = np.append(np.flatnonzero(buffer[: len(joined)] == 0), len(joined))
    if len(ends) != len(names):
        return None
    starts = np.append(0, ends[:-1] + 1)
    longest = int((ends - starts).max())
    if longest > LONGEST_NAME:
        name = names[int(np.argmax(ends - starts))]
        shortened = name[:20] + "..."
        raise InputError(f"a {column} of {longest:,} bytes, {shortened!r}; the longest possible has {LONGEST_NAME:,}.")
    return tokens.words_at(buffer, starts, ends)


def _check_present(column: str, values: pd.Series) -> None:
    missing = np.flatnonzero(values.isna())
    if len(missing):
        raise InputError(f"the {column} is missing. Fill it in or drop the row.", place=f"row {missing[0]:,}")


def _has_bytes(name: str) -> bool:
    try:
        name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


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
