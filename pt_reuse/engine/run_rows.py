"""RunRows: one run as it was read, put in order, with what is needed to put it in the order of its file again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.lists import offsets
from pt_reuse.engine.order import BY_SCORE, by_score, merged
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
        file: places in the file, for topics whose order there is not that of their scores (trec_eval's).
        rank: places by the rank column, for topics whose order by rank is not that of the file; None without such a
            column.
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
        self.starts = offsets(np.bincount(self.topic, minlength=len(self.topics)))

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
        topic, scores = self.grouped(self.topic), self.grouped(self.scores)

        def words_of(rows: NDArray[np.int64]) -> Words:
            return self.words_of(rows if self.grouping is None else self.grouping[rows])

        by_trec_eval = by_score(topic, words_of, scores, "trec_eval")
        moved = np.zeros(len(self.topics), dtype=np.bool_)
        if by_trec_eval is not None:
            moved[topic[by_trec_eval.moved]] = True
        permutation = None
        if order in BY_SCORE:
            found = by_trec_eval
            if order == "trec_eval9" and len(merged(topic, scores if found is None else scores[found.permutation])):
                found = by_score(topic, words_of, scores, order)
            permutation = None if found is None else found.permutation
        elif order == "rank" and rank is not None:
            permutation = rank.permutation(self.starts)
        rows = np.arange(len(topic)) if permutation is None else permutation
        file = Places.of_rows(np.flatnonzero(moved), rows, self.starts)
        if permutation is not None:
            scores = scores[permutation]
            rank = rank and rank.take(self.starts, np.arange(len(self.topics)), self.starts, permutation)
        return RunRows(name, self.topics, self.starts, words_of(rows), scores, file, rank)
