"""Rows of what was left out, as a frame and as numbers and texts that a cache can keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: columns of texts, in the order in which they are kept
_TEXTS = ("file", "reason", "name", "qid", "docno")
COLUMNS = ("file", "line", "reason", "name", "qid", "docno")


def blank_rows(n: int) -> pd.DataFrame:
    """Return a frame of rows in which nothing stands: ``file line reason name qid docno``.

    The lines are <NA> in a column ``Int64``, the texts None.
    """
    texts = pd.Series(np.full(n, None, dtype=object), dtype=object)
    lines = pd.Series(np.zeros(n, dtype=np.int64)).astype("Int64").where(np.zeros(n, dtype=np.bool_))
    return pd.DataFrame({column: lines if column == "line" else texts for column in COLUMNS})


def packed(rows: pd.DataFrame) -> tuple[NDArray[np.int64], dict[str, list[str]]]:
    """Return the frame as numbers, column after column, and the texts of each column that they number."""
    columns, texts = [rows["line"].fillna(0).to_numpy(dtype=np.int64)], {}
    for column in _TEXTS:
        codes, found = pd.factorize(rows[column])
        columns.append(codes.astype(np.int64))
        texts[column] = [str(text) for text in found]
    return np.concatenate(columns), texts


def unpacked(numbers: NDArray[np.int64], texts: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the frame that :func:`packed` was given.

    Raises:
        ValueError: numbers and texts that do not fit each other.
    """
    n, rest = divmod(len(numbers), 1 + len(_TEXTS))
    if rest or set(texts) != set(_TEXTS):
        raise ValueError("rows that are not whole")
    line, *coded = numbers.reshape(1 + len(_TEXTS), n)
    rows = blank_rows(n)
    if not n:
        return rows
    rows["line"] = pd.Series(line).astype("Int64").where(line > 0)
    for column, codes in zip(_TEXTS, coded, strict=True):
        known = np.array([*texts[column], None], dtype=object)
        if not -1 <= codes.min() <= codes.max() < len(known) - 1:
            raise ValueError(f"a {column} that is not there")
        rows[column] = pd.Series(known[codes], dtype=object)  # -1 is the last one, None
    return rows
