"""The coded field: all rows of all runs, topic by topic, documents as small codes local to their topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.lists import offsets, ranges, taken
from pt_reuse.engine.long_names import Portable
from pt_reuse.engine.order import BY_SCORE, by_score, merged
from pt_reuse.engine.places import Places
from pt_reuse.engine.tokens import Tokens, Words


@dataclass(frozen=True)
class Field(Portable):
    """All runs of a field; rows are topic-major, then by run, then in ranking order.

    Attributes:
        topics: topic names, in natural order.
        vocabulary: every document name of the field once, in the order of their hashes.
        topic_docs: for each topic its documents as rows of `vocabulary`, one topic after the other.
        doc_starts: (topics + 1,) into `topic_docs`.
        starts: (topics * runs + 1,) into `codes`; the list of run r on topic t is number ``t * runs + r``.
        codes: (rows,) document of each row, local to its topic: an index into the topic's part of `topic_docs`.
        scores: (rows,) as read.
        file: places in the file.
        rank: places by the rank column.
        ranked: (runs,) which runs have a rank column.
    """

    n_runs: int
    topics: tuple[str, ...]
    vocabulary: Tokens
    topic_docs: NDArray[np.int32]
    doc_starts: NDArray[np.int64]
    starts: NDArray[np.int64]
    codes: NDArray[np.unsignedinteger]
    scores: NDArray[np.float64]
    file: Places
    rank: Places
    ranked: NDArray[np.bool_]

    @property
    def n_topics(self) -> int:
        """Return the number of topics."""
        return len(self.topics)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Return (topics, runs): how many documents each list has."""
        return np.diff(self.starts).reshape(self.n_topics, self.n_runs)

    @cached_property
    def topic_row(self) -> dict[str, int]:
        """Return the row of each topic name."""
        return {topic: t for t, topic in enumerate(self.topics)}

    def rows(self, t: int) -> slice:
        """Return the rows of one topic."""
        return slice(int(self.starts[t * self.n_runs]), int(self.starts[(t + 1) * self.n_runs]))

    def docs(self, t: int) -> NDArray[np.int32]:
        """Return the documents of one topic as rows of the vocabulary."""
        return self.topic_docs[self.doc_starts[t] : self.doc_starts[t + 1]]

    def top_rows(
        self, t: int, depth: int | NDArray[np.int64], runs: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Return (row, run, rank) of the first rows of the chosen runs on a topic.

        Args:
            t: the topic.
            depth: how many of each run; or (runs,) of each run its own number.
            runs: (runs,) which runs are chosen.
        """
        lengths = np.where(runs, np.minimum(self.lengths[t], depth), 0)
        run = np.repeat(np.arange(self.n_runs, dtype=np.int32), lengths)
        firsts = np.cumsum(lengths) - lengths
        rank = np.arange(1, len(run) + 1, dtype=np.int32) - firsts.astype(np.int32)[run]
        list_starts = self.starts[t * self.n_runs : (t + 1) * self.n_runs]
        return list_starts[run] + rank - 1, run, rank

    def top(
        self, t: int, depth: int | NDArray[np.int64], runs: NDArray[np.bool_]
    ) -> tuple[NDArray, NDArray[np.int32], NDArray[np.int32]]:
        """Return (codes, run, rank) of the first rows of the chosen runs on a topic, see :meth:`top_rows`."""
        rows, run, rank = self.top_rows(t, depth, runs)
        return self.codes[rows], run, rank

    def list_of(self, t: int, r: int) -> slice:
        """Return the rows of one run on one topic."""
        i = t * self.n_runs + r
        return slice(int(self.starts[i]), int(self.starts[i + 1]))

    def rows_of_run(self, r: int) -> NDArray[np.int64]:
        """Return the rows of one run, topic by topic."""
        return ranges(self.starts[r : -1 : self.n_runs], self.lengths[:, r])

    def topic_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the topic of each of some rows."""
        return np.searchsorted(self.starts[:: self.n_runs], rows, side="right") - 1

    def docs_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the documents of some rows, as rows of the vocabulary."""
        return self.topic_docs[self.codes[rows] + self.doc_starts[self.topic_of(rows)]]

    def all_docs(self) -> NDArray[np.int32]:
        """Return the document of every row, as a row of the vocabulary."""
        rows = np.diff(self.starts[:: self.n_runs])
        return self.topic_docs[self.codes + np.repeat(self.doc_starts[:-1], rows)]

    def words_of(self, rows: NDArray[np.int64]) -> Words:
        """Return the document names of some rows."""
        return tokens.as_words(self.vocabulary).take(self.docs_of(rows), axis=0)

    def in_order(self, now: str, wanted: str) -> Field:
        """Return the field in another ranking order than the one in which it stands.

        Raises:
            NoPlaceError: the rank column is wanted, and a row has no rank of its own.
        """
        if now == wanted:
            return self
        if wanted in BY_SCORE:
            return self._by_score(now, wanted)
        if wanted == "file":
            return self._permuted(self.file.permutation(self.starts))
        self.rank.check(self.starts)
        return self._permuted(self.rank.permutation(self.starts))

    def _by_score(self, now: str, order: str) -> Field:
        lists, scores = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts)), np.asarray(self.scores)
        if now not in BY_SCORE:
            return self._permuted(by_score(lists, self.words_of, scores, order))
        # the two orders by score differ only in lists in which float32 takes different scores for equal
        rows = self._rows_of_lists(np.unique(lists[merged(lists, scores)]))
        found = by_score(lists[rows], lambda some: self.words_of(rows[some]), scores[rows], order)
        if found is None:
            return self
        permutation = np.arange(len(lists))
        permutation[rows] = rows[found]
        return self.permute(permutation)

    def _rows_of_lists(self, lists: NDArray[np.int64]) -> NDArray[np.int64]:
        return ranges(self.starts[lists], np.diff(self.starts)[lists])

    def _permuted(self, order: NDArray[np.int64] | None) -> Field:
        return self if order is None else self.permute(order)

    def permute(self, order: NDArray[np.int64]) -> Field:
        """Return the field with the rows of each list in another order."""
        moved = np.flatnonzero(order != np.arange(len(order)))
        file, rank = (part.permuted(self.starts, order, moved) for part in (self.file, self.rank))
        return replace(self, codes=self.codes[order], scores=self.scores[order], file=file, rank=rank)

    def take_runs(self, chosen: Sequence[int]) -> Field:
        """Return the field of the chosen runs, in that order; topics that none of them has go."""
        runs = np.asarray(chosen, dtype=np.int64)
        lists = np.arange(self.n_topics)[:, None] * self.n_runs + runs
        return self._with_lists(lists, self.lengths[:, runs], self.ranked[runs])

    def keep(self, rows: NDArray[np.bool_]) -> Field:
        """Return the field of the rows marked; lists close up, topics without rows go."""
        lists = np.arange(len(self.starts) - 1).reshape(self.n_topics, self.n_runs)
        lengths = np.diff(np.concatenate([[0], np.cumsum(rows)])[self.starts])
        return self._with_lists(lists, lengths.reshape(lists.shape), self.ranked, np.flatnonzero(rows))

    def _with_lists(
        self,
        lists: NDArray[np.int64],
        lengths: NDArray[np.int64],
        ranked: NDArray[np.bool_],
        rows: NDArray[np.int64] | None = None,
    ) -> Field:
        # lists and lengths are (topics, runs) of the new field; its rows are all rows of these lists, or those given
        full = np.flatnonzero(lengths.any(axis=1))
        source, counts = lists[full].ravel(), lengths[full].ravel()
        if rows is None:
            rows = ranges(self.starts[source], counts)
        starts, doc_lengths = offsets(counts), np.diff(self.doc_starts)[full]
        return Field(
            n_runs=lists.shape[1],
            topics=tuple(self.topics[t] for t in full.tolist()),
            vocabulary=self.vocabulary,
            topic_docs=taken(self.topic_docs, self.doc_starts[full], doc_lengths),
            doc_starts=offsets(doc_lengths),
            starts=starts,
            codes=self.codes[rows],
            scores=self.scores[rows],
            file=self.file.kept(self.starts, source, starts, rows),
            rank=self.rank.kept(self.starts, source, starts, rows),
            ranked=ranked,
        )

    def _long_names(self) -> list[bytes]:
        return tokens.long_names_in(tokens.as_words(self.vocabulary))
