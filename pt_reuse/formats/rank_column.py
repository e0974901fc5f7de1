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
    begins, ends = (rows.grouped(edge) for edge in fields.column(_COLUMN))
    lengths, starts = np.diff(rows.starts), rows.starts[:-1]
    # nearly always the ranks of a topic are 0, 1, 2, ... or 1, 2, 3, ..., each followed by the same white space
    from_zero = fields.buffer[begins[starts]] == ord("0")
    count = _counted if len(begins) <= _LARGE else _counted.__wrapped__
    counted, kept = count(from_zero.tobytes(), lengths.tobytes(), int(fields.buffer[ends[0]]))
    words = fields.words[begins]
    words &= kept
    other = np.flatnonzero(words != counted)
    if not len(other):
        return Places.none()
    ranks, wrong = parse_numbers(fields.buffer, begins[other], ends[other])
    ranks[wrong] = np.nan
    return Places.of_ranks(rows.starts, (~from_zero).astype(np.int64), other, ranks)


@lru_cache(maxsize=2)
def _counted(from_zero: bytes, lengths: bytes, white: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # the words in which ranks stand that count the lines, and which bytes of a word they are; the next run is often as
    # long as this one
    sizes = np.frombuffer(lengths, dtype=np.int64)
    ranks = ranges(np.where(np.frombuffer(from_zero, dtype=np.bool_), 0, 1), sizes)
    written, kept = _written(min(1 << int(sizes.max()).bit_length(), _SHORT), white)
    if int(sizes.max()) >= _SHORT:
        ranks = np.minimum(ranks, _SHORT)
    return written[ranks], kept[ranks]


@lru_cache(maxsize=16)
def _written(n: int, white: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # the numbers 0..n-1 in decimal writing with white space behind, and which bytes that are; last a word that none is
    texts = [b"%d%c" % (i, white) for i in range(n)]
    written = [*(int.from_bytes(text, "little") for text in texts), 1]
    return np.array(written, dtype=np.uint64), np.array([*((1 << 8 * len(text)) - 1 for text in texts), 0], np.uint64)
