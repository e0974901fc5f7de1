"""Rows that lie in lists, one list after the other: where they begin, their order; and documents by topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.tokens import Portable, Words, descending

_LONG = 64  # rows of a list from which on a slice is faster than an index


def offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (lists + 1,): where lists of these lengths begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all indices of [start, start + length) for each pair, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def stable_order(keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return what sorts non-negative numbers; equal ones keep their order."""
    # numpy sorts 16 bits by radix, several times as fast
    small = keys.astype(np.uint16) if len(keys) and int(keys.max()) < 2**16 else keys
    return np.argsort(small, kind="stable")


def taken(values: NDArray, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray:
    """Return the values in [start, start + length) for each pair, one after the other."""
    if len(starts) and int(lengths.sum()) >= _LONG * len(starts):
        ends = starts + lengths
        return np.concatenate([values[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
    return values.take(ranges(starts, lengths), axis=0)


def neighbours(rows: NDArray[np.int64], most: int) -> list[range]:
    """Return neighbours of at most so many rows together; what has more rows than that stands alone."""
    parts, first, held = [], 0, 0
    for t, n in enumerate(rows.tolist()):
        if t > first and held + n > most:
            parts.append(range(first, t))
            first, held = t, 0
        held += n
    return [*parts, range(first, len(rows))] if len(rows) else []


#: the orders that follow from the scores
BY_SCORE = ("trec_eval", "trec_eval9")


def by_score(
    group: NDArray[np.int64],
    words_of: Callable[[NDArray[np.int64]], Words],
    scores: NDArray[np.float64],
    order: str,
) -> NDArray[np.int64] | None:
    """Return the row that comes to each place in an order by score, None when all rows stand in it."""
    if len(group) < 2:
        return None
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
    ordered = np.lexsort([*descending(words_of(rows)), -keys[rows], group[rows]])
    permutation = np.arange(len(group))
    permutation[rows] = rows[ordered]
    return permutation


def natural_order(names: list[str]) -> list[int]:
    """Order topic names as people do: whole numbers by value, then all others by their text."""

    def key(i: int) -> tuple[bool, int, str]:
        number = names[i].isascii() and names[i].isdigit() and len(names[i]) < 19
        return (not number, int(names[i]) if number else 0, names[i])

    return sorted(range(len(names)), key=key)


@dataclass(frozen=True)
class TopicDocs(Portable):
    """Documents, topic by topic; a topic may have none."""

    topics: tuple[str, ...]  # topic names, each once
    starts: NDArray[np.int64]  # (topics + 1,) the documents of topic t are the rows ``starts[t]:starts[t + 1]``
    words: Words  # (rows, k) words of the document names

    def __len__(self) -> int:
        return len(self.words)

    def rows(self, t: int) -> slice:
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
        return tokens.decode(tokens.as_tokens(self.words[row : row + 1]))[0]

    def qid(self, row: int) -> str:
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
