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
    keys = scores.astype(np.float32) if order == "trec_eval9" else scores
    same_list = group[1:] == group[:-1]
    tied = same_list & (keys[1:] == keys[:-1])
    rising = same_list & (keys[1:] > keys[:-1])
    moving = np.zeros(len(group), dtype=bool)
    moving[1:] |= tied
    moving[:-1] |= tied
    if rising.any():
        unsorted_list = np.zeros(int(group[-1]) + 1, dtype=bool)
        unsorted_list[group[1:][rising]] = True
        moving |= unsorted_list[group]
    rows = np.flatnonzero(moving)
    if len(rows) == 0:
        return None
    names = ~byte_order(docs[rows])  # complemented: descending
    permutation = np.arange(len(group))
    permutation[rows] = rows[np.lexsort((*names.T[::-1], -keys[rows], group[rows]))]
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
