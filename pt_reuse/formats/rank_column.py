"""The rank column of a run file: read only where it does not count the lines of a topic."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.lists import ranges
from pt_reuse.engine.places import Places
from pt_reuse.engine.run_rows import FileRows
from pt_reuse.formats.lines import Fields
from pt_reuse.formats.numbers import parse_numbers

_COLUMN = 3
_LARGE = 1 << 18  # rows of a run of which nothing is kept
_SHORT = 10**5  # smaller ranks are compared as words of text, in which they fit; larger ones are read as numbers


def rank_places(fields: Fields, rows: FileRows) -> Places:
    """Return the places that the rank column gives, for topics where they are not those of the file."""
    from_zero = count_from_zero(fields, rows)
    other, ranks = other_ranks(fields, rows, from_zero)
    return Places.of_ranks(rows.starts, (~from_zero).astype(np.int64), other, ranks)


def count_from_zero(fields: Fields, rows: FileRows) -> NDArray[np.bool_]:
    """Return (topics,): whether the first rank of each is written as one that counts from 0."""
    return fields.buffer[rows.grouped(fields.column(_COLUMN)[0])[rows.starts[:-1]]] == ord("0")


def other_ranks(
    fields: Fields, rows: FileRows, from_zero: NDArray[np.bool_], before: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the grouped rows whose ranks are not written as those that count the rows of their topic.

    Args:
        fields: the lines.
        rows: the same lines.
        from_zero: (topics,) whether the ranks of each count from 0.
        before: (topics,) rows of each that stand before these lines, None for none.

    Returns:
        The rows, ascending, and the rank of each, NaN for what is no number.
    """
    begins, ends = (rows.grouped(edge) for edge in fields.column(_COLUMN))
    lengths, firsts = np.diff(rows.starts), np.where(from_zero, 0, 1)
    if before is not None:
        firsts += before
    # nearly always the ranks of a topic are 0, 1, 2, ... or 1, 2, 3, ..., each followed by the same white space
    count = _counted if len(begins) <= _LARGE else _counted.__wrapped__
    counted, kept = count(firsts.tobytes(), lengths.tobytes(), int(fields.buffer[ends[0]]))
    words = fields.words[begins]
    words &= kept
    other = np.flatnonzero(words != counted)
    ranks, wrong = parse_numbers(fields.buffer, begins[other], ends[other])
    ranks[wrong] = np.nan
    return other, ranks


@lru_cache(maxsize=2)
def _counted(firsts: bytes, lengths: bytes, white: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # the words in which ranks stand that count the lines, and which bytes of a word they are; the next run is often as
    # long as this one
    sizes, begins = (np.frombuffer(numbers, dtype=np.int64) for numbers in (lengths, firsts))
    ranks = ranges(begins, sizes)
    highest = int((begins + sizes).max())
    written, kept = _written(min(1 << highest.bit_length(), _SHORT), white)
    if highest >= _SHORT:
        ranks = np.minimum(ranks, _SHORT)
    return written[ranks], kept[ranks]


@lru_cache(maxsize=16)
def _written(n: int, white: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # the numbers 0..n-1 in decimal writing with white space behind, and which bytes that are; last a word that none is
    texts = [b"%d%c" % (i, white) for i in range(n)]
    written = [*(int.from_bytes(text, "little") for text in texts), 1]
    return np.array(written, dtype=np.uint64), np.array([*((1 << 8 * len(text)) - 1 for text in texts), 0], np.uint64)
