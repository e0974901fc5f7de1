"""The rank column of a run file: read only where it does not count the lines of a topic."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.lists import offsets
from pt_reuse.engine.places import Places
from pt_reuse.engine.run_rows import FileRows
from pt_reuse.formats.lines import Fields
from pt_reuse.formats.numbers import parse_numbers

_COLUMN = 3


def rank_places(fields: Fields, rows: FileRows) -> Places:
    """Return the places that the rank column gives, for topics where they are not those of the file."""
    begins, ends = (rows.grouped(edge) for edge in fields.column(_COLUMN))
    lengths, starts = np.diff(rows.starts), rows.starts[:-1]
    # nearly always the ranks of a topic are 0, 1, 2, ... or 1, 2, 3, ...
    first = (fields.buffer[begins[starts]] != ord("0")).astype(np.int64)
    words = _words(fields.buffer, begins, ends)
    counted = _written(1 << int(lengths.max() + 1).bit_length())
    spans = [slice(f, f + n) for f, n in zip(first.tolist(), lengths.tolist(), strict=True)]
    other = np.flatnonzero(words != np.concatenate([counted[span] for span in spans]))
    if not len(other):
        return Places.none()
    topic = rows.grouped(rows.topic)[other]
    is_odd = np.zeros(len(lengths), dtype=np.bool_)
    is_odd[topic] = True
    odd = np.flatnonzero(is_odd)
    # the ranks of the topics at hand, and by how much their rows stand further on among all rows
    ranks = np.concatenate([np.arange(spans[t].start, spans[t].stop, dtype=np.float64) for t in odd.tolist()])
    ahead = np.zeros(len(lengths), dtype=np.int64)
    ahead[odd] = starts[odd] - offsets(lengths[odd])[:-1]
    values, wrong = parse_numbers(fields.buffer, begins[other], ends[other])
    values[wrong] = np.nan
    ranks[other - ahead[topic]] = values
    return Places.of_ranks(odd, lengths[odd], ranks)


def _words(buffer: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    # each token as a word of text, what stands behind it shifted out; a token of more than 8 bytes is no count, either
    loads = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))  # a word at every byte
    sizes = ends - begins
    words = loads[begins]
    words <<= (64 - 8 * np.minimum(sizes, 8)).astype(np.uint64)
    if int(sizes.max()) > 8:
        words[sizes > 8] = 0
    return words


@lru_cache(maxsize=4)
def _written(n: int) -> NDArray[np.uint64]:
    # the numbers 0..n in decimal writing, at the end of a word
    return np.array([int.from_bytes(str(i).encode().rjust(8, b"\0"), "little") for i in range(n + 1)], dtype=np.uint64)
