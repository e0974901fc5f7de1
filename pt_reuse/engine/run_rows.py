"""RunRows: one run as it was read, put in order, with what is needed to put it in the order of its file again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.order import BY_SCORE, by_score
from pt_reuse.engine.places import Places
from pt_reuse.engine.tokens import Words


@dataclass
class RunRows:
    """One run as read: rows grouped by topic, each group in ranking order.

    Attributes:
        name: of the run.
        topics: topic names, each once.
        starts: (topics + 1,) into the rows.
        docs: (rows, k) words of the document names.
        scores: (rows,) as read.
        file: places in the file.
        rank: places by the rank column; None without such a column.
    """

    name: str
    topics: list[str]
    starts: NDArray[np.int64]
    docs: Words
    scores: NDArray[np.float64]
    file: Places
    rank: Places | None


@dataclass
class FileRows:
    """One run as it stands in its file or frame.

    Attributes:
        topics: topic names, each once.
        topic: (rows,) the topic of each row.
        words_of: gives the document names of some rows as (n, k) words.
        scores: (rows,) finite scores.
    """

    topics: list[str]
    topic: NDArray[np.int64]
    words_of: Callable[[NDArray[np.int64]], Words]
    scores: NDArray[np.float64]

    def __post_init__(self) -> None:
        grouped = not (self.topic[1:] < self.topic[:-1]).any()
        #: (rows,) the rows topic by topic, each topic as it stands in the file; None where they stand so
        self.grouping = None if grouped else np.argsort(self.topic, kind="stable")
        #: (topics + 1,) where the grouped rows of each topic begin
        self.starts = np.searchsorted(self.grouped(self.topic), np.arange(len(self.topics) + 1))

    def grouped(self, column: NDArray) -> NDArray:
        """Return a column of the rows, topic by topic."""
        return column if self.grouping is None else column[self.grouping]

    def in_order(self, name: str, order: str, rank: Places | None) -> RunRows:
        """Return the run in a ranking order.

        Args:
            name: of the run.
            order: one of `ORDERS`.
            rank: places of the grouped rows by the rank column, None where there is none; checked for ``"rank"``.
        """
        scores = self.grouped(self.scores)

        def words_of(rows: NDArray[np.int64]) -> Words:
            return self.words_of(rows if self.grouping is None else self.grouping[rows])

        permutation = None
        if order in BY_SCORE:
            permutation = by_score(self.grouped(self.topic), words_of, scores, order)
        elif order == "rank" and rank is not None:
            permutation = rank.permutation(self.starts)
        if permutation is None:
            return RunRows(
                name, self.topics, self.starts, words_of(np.arange(len(scores))), scores, Places.none(), rank
            )
        moved = np.flatnonzero(permutation != np.arange(len(permutation)))
        rank = rank and rank.permuted(self.starts, permutation, moved)
        file = Places.none().permuted(self.starts, permutation, moved)
        return RunRows(name, self.topics, self.starts, words_of(permutation), scores[permutation], file, rank)
