"""The order of the documents of a run: one rule a convention, on arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.tokens import Words, byte_order

#: what each ranking order does; the first is the default
ORDERS = {
    "trec_eval": "score descending as float64, ties by docno descending in byte order (trec_eval 10)",
    "trec_eval9": "score descending as float32, ties by docno descending in byte order (trec_eval 9, pytrec_eval)",
    "rank": "the rank column ascending",
    "file": "as read",
}


class TiedRankError(Exception):
    """Two documents of one list bear the same rank, so the rank column gives no order."""

    def __init__(self, row: int):
        super().__init__(row)
        self.row = row


def ranking(
    group: NDArray[np.int64], docs: Words, scores: NDArray[np.float64], order: str, ranks: NDArray[np.float64] | None
) -> NDArray[np.int64] | None:
    """Return the permutation that puts grouped rows in ranking order, None when they stand in it.

    Args:
        group: the list each row belongs to, ascending.
        docs: (n, k) words of the document names.
        scores: finite scores.
        order: a key of `ORDERS`.
        ranks: the rank column, for ``order="rank"``.
    """
    if order == "file" or len(group) < 2:
        return None
    if order == "rank":
        return _by_rank(group, ranks if ranks is not None else np.zeros(len(group)))
    keys: NDArray[np.floating] = scores
    if order == "trec_eval9":
        with np.errstate(over="ignore"):  # what float32 cannot hold is infinite there, as in trec_eval 9
            keys = scores.astype(np.float32)
    level = keys[1:] >= keys[:-1]
    level &= group[1:] == group[:-1]
    after = np.flatnonzero(level)  # the row behind these is not the lower of the two
    if len(after) == 0:
        return None
    rising = keys[after + 1] > keys[after]
    moving = np.zeros(len(group), dtype=np.bool_)
    moving[after] = True
    moving[after + 1] = True
    unsorted_list = np.zeros(0, dtype=np.bool_)
    if rising.any():
        unsorted_list = np.zeros(int(group[-1]) + 1, dtype=np.bool_)
        unsorted_list[group[after[rising]]] = True
        moving |= unsorted_list[group]
    rows = np.flatnonzero(moving)
    names = np.invert(byte_order(docs.take(rows, axis=0)).T, order="C")  # inverted: descending
    places: tuple[NDArray, ...] = (-keys[rows], group[rows])
    if not len(unsorted_list):
        # rows that tie stand together: number these blocks
        places = (np.cumsum(np.concatenate([[True], ~level[rows[1:] - 1]])),)
    permutation = np.arange(len(group))
    permutation[rows] = rows[np.lexsort((*names[::-1], *places))]
    return permutation


def _by_rank(group: NDArray[np.int64], ranks: NDArray[np.float64]) -> NDArray[np.int64]:
    permutation = np.lexsort((ranks, group))
    placed = ranks[permutation]
    tied = (group[1:] == group[:-1]) & (placed[1:] == placed[:-1])
    if tied.any():
        raise TiedRankError(int(permutation[1 + int(np.flatnonzero(tied)[0])]))
    return permutation


def natural_order(names: list[str]) -> list[int]:
    """Order topic names as people do: whole numbers by value, then all others by their text."""

    def key(i: int) -> tuple[bool, int, str]:
        number = names[i].isascii() and names[i].isdigit() and len(names[i]) < 19
        return (not number, int(names[i]) if number else 0, names[i])

    return sorted(range(len(names)), key=key)
