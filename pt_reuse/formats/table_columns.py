"""Columns of a table: names as words and numbers as float64, with what is wrong in each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.tokens import Words
from pt_reuse.formats.frames import LONGEST_NAME

#: what can be wrong with a cell; 0 is nothing
MISSING, EMPTY, NUL, LONG, NOT_FINITE = range(1, 6)


class WrongTypeError(Exception):
    """A column of another type than is needed; the message says which types would do."""


@dataclass(frozen=True)
class NameColumn:
    """A column of names.

    Attributes:
        words: (names, k) names, some of them perhaps more than once or of no row.
        codes: (rows,) which of them each row has.
        flaws: (rows,) what is wrong with the name of each row.
    """

    words: Words
    codes: NDArray[np.int64]
    flaws: NDArray[np.int8]

    def taken(self, rows: NDArray[np.int64]) -> Words:
        """Return the names of some rows."""
        return self.words.take(self.codes[rows], axis=0)

    def numbered(self, rows: NDArray[np.int64], known: dict[str, int]) -> NDArray[np.int64]:
        """Return numbers for the names of some rows: those that are known, and further ones, which are added there."""
        codes = self.codes[rows]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.words)))
        same, first = tokens.factorize(self.words.take(used, axis=0))
        names = tokens.decode(tokens.as_tokens(self.words.take(used[first], axis=0)))
        numbers = np.zeros(len(self.words), dtype=np.int64)
        numbers[used] = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)[same]
        return numbers[codes]


def name_column(pa: Any, column: Any) -> NameColumn:
    """Return a column of names of a pyarrow table: text, bytes or whole numbers, dictionary-encoded or not.

    Raises:
        WrongTypeError: a column of another type.
    """
    return _joined([_names(pa, chunk) for chunk in column.chunks])


def _names(pa: Any, chunk: Any) -> NameColumn:
    if pa.types.is_dictionary(chunk.type):
        distinct = _names(pa, chunk.dictionary)
        missing = chunk.indices.is_null().to_numpy(zero_copy_only=False)
        codes = chunk.indices.fill_null(0).cast(pa.int64()).to_numpy(zero_copy_only=False)
        if not len(distinct.codes):
            # all rows are without a name, and have a place to point at
            distinct = NameColumn(np.zeros((1, 1), "<u8"), np.zeros(1, np.int64), np.zeros(1, np.int8))
        return NameColumn(distinct.words, codes, np.where(missing, MISSING, distinct.flaws[codes]).astype(np.int8))
    if pa.types.is_integer(chunk.type):
        chunk = chunk.cast(pa.string())
    elif not _is_text(pa, chunk.type):
        raise WrongTypeError("text or whole numbers")
    return _plain(pa, chunk.cast(pa.large_binary()))


def _is_text(pa: Any, kind: Any) -> bool:
    tests = ("is_string", "is_large_string", "is_string_view", "is_binary", "is_large_binary", "is_binary_view")
    return any(getattr(pa.types, test)(kind) for test in tests if hasattr(pa.types, test))


def _plain(pa: Any, chunk: Any) -> NameColumn:
    _, bounds, data = chunk.buffers()
    n = len(chunk)
    offsets = np.zeros(1, dtype=np.int64)
    if n:
        offsets = np.frombuffer(bounds, dtype=np.int64)[chunk.offset : chunk.offset + n + 1]
    size = int(offsets[-1] - offsets[0])
    buffer = np.zeros(size + 8, dtype=np.uint8)
    if size:
        buffer[:size] = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    starts, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
    lengths = ends - starts
    flaws = np.where(lengths > LONGEST_NAME, LONG, np.where(lengths == 0, EMPTY, 0)).astype(np.int8)
    nuls = np.flatnonzero(buffer[:size] == 0)
    # the last row that begins at a byte is the one that holds it
    flaws[np.searchsorted(starts, nuls, side="right") - 1] = NUL
    flaws[chunk.is_null().to_numpy(zero_copy_only=False)] = MISSING
    words = tokens.words_at(buffer, starts, np.where(flaws == 0, ends, starts))
    return NameColumn(words, np.arange(n), flaws)


def _joined(parts: Sequence[NameColumn]) -> NameColumn:
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.words) for part in parts)])
    codes = [part.codes + start for part, start in zip(parts, before.tolist(), strict=False)]
    return NameColumn(
        tokens.stacked([part.words for part in parts]),
        np.concatenate([np.zeros(0, dtype=np.int64), *codes]),
        np.concatenate([np.zeros(0, dtype=np.int8), *(part.flaws for part in parts)]),
    )


def number_column(pa: Any, column: Any) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return a column of numbers of a pyarrow table, and what is wrong with each.

    Raises:
        WrongTypeError: a column of another type.
    """
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise WrongTypeError("numbers (float or integer)")
    nothing = np.zeros(0)
    chunks = [chunk.to_numpy(zero_copy_only=False).astype(np.float64, copy=False) for chunk in column.chunks]
    values = np.concatenate([nothing, *chunks]) if len(chunks) != 1 else chunks[0]
    flaws = np.where(np.isfinite(values), 0, NOT_FINITE).astype(np.int8)
    if column.null_count:
        missing = [chunk.is_null().to_numpy(zero_copy_only=False) for chunk in column.chunks]
        flaws[np.concatenate(missing)] = MISSING
    return values, flaws
