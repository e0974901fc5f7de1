"""TopicDocs: documents by topic, the form that judgments and pools share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import natural_order, offsets, ranges
from pt_reuse.arrays.tokens import Portable, Words


@dataclass(frozen=True)
class TopicDocs(Portable):
    """Documents, topic by topic; a topic may have none."""

    topics: tuple[str, ...]  # topic names, each once
    starts: NDArray[np.int64]  # (topics + 1,) the documents of topic t are the rows ``starts[t]:starts[t + 1]``
    words: Words  # (rows, k) words of the document names

    def __len__(self) -> int:
        return len(self.words)

    def rows(self, t: int) -> slice:
        """Return the rows of one topic."""
        return slice(int(self.starts[t]), int(self.starts[t + 1]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return (topics,): how many documents each topic has."""
        return np.diff(self.starts)

    def counts(self, which: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics,): how many of the documents marked in (rows,) each topic has."""
        # reduceat would first make numbers of them all
        bounds = self.starts.tolist()
        return np.array([np.count_nonzero(which[a:b]) for a, b in pairwise(bounds)], dtype=np.int64)

    @cached_property
    def topic(self) -> NDArray[np.int64]:
        """Return (rows,): the topic of each row, as a position among the topics."""
        return np.repeat(np.arange(len(self.topics)), self.sizes)

    @cached_property
    def place(self) -> dict[str, int]:
        """Return topic name -> its position among the topics."""
        return {topic: t for t, topic in enumerate(self.topics)}

    def qids(self) -> NDArray[np.object_]:
        """Return (rows,): the topic name of each row."""
        return np.array([*self.topics, None], dtype=object)[self.topic]

    def docnos(self) -> NDArray[np.object_]:
        """Return (rows,): the document name of each row."""
        return np.array([*tokens.decode(tokens.as_tokens(self.words)), None], dtype=object)[:-1]

    def docno(self, row: int) -> str:
        """Return the document name of one row."""
        return tokens.decode(tokens.as_tokens(self.words[row : row + 1]))[0]

    def qid(self, row: int) -> str:
        """Return the topic name of one row."""
        return self.topics[int(np.searchsorted(self.starts, row, side="right")) - 1]

    def _long_names(self) -> list[bytes]:
        return tokens.long_names_in(self.words)

    def take(self, rows: NDArray[np.int64]) -> TopicDocs:
        """Return the documents of some rows, which ascend; all topics stay."""
        return TopicDocs(self.topics, np.searchsorted(rows, self.starts), self.words.take(rows, axis=0))

    def select(self, topics: Iterable[int]) -> tuple[TopicDocs, NDArray[np.int64]]:
        """Return the documents of some topics, in that order, and their rows."""
        chosen = np.fromiter(topics, dtype=np.int64)
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        rows = ranges(self.starts[chosen], sizes)
        names = tuple(self.topics[t] for t in chosen.tolist())
        return TopicDocs(names, offsets(sizes), self.words.take(rows, axis=0)), rows

    def find(self, others: TopicDocs) -> NDArray[np.int64]:
        """Return for each row of other documents by topic the row that the same document has here, or -1."""
        found = np.full(len(others), -1, dtype=np.int64)
        for t, topic in enumerate(others.topics):
            mine = self.place.get(topic)
            if mine is None:
                continue
            here, there = self.rows(mine), others.rows(t)
            rows = tokens.match(others.words[there], self.words[here])
            found[there] = np.where(rows >= 0, rows + here.start, -1)
        return found


def sort_by_topic(
    names: Sequence[str], topic: NDArray[np.int64], words: Words, topics: Iterable[str] = ()
) -> tuple[TopicDocs, NDArray[np.int64] | None]:
    """Put documents topic by topic, topics in natural order; within a topic they keep their order."""
    every = list(dict.fromkeys([*names, *topics]))
    order = natural_order(every)
    place = np.empty(len(every), dtype=np.int64)
    place[order] = np.arange(len(every))
    topic, rows = place[topic], None
    if (topic[1:] < topic[:-1]).any():
        rows = np.argsort(topic, kind="stable")
        topic, words = topic[rows], words.take(rows, axis=0)
    starts = np.searchsorted(topic, np.arange(len(every) + 1))
    return TopicDocs(tuple(every[i] for i in order), starts, words), rows
