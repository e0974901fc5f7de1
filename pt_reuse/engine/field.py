"""The coded field: all rows of all runs, topic by topic, documents as small codes local to their topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.lists import offsets, ranges, taken
from pt_reuse.engine.long_names import Portable
from pt_reuse.engine.order import BY_SCORE, by_score, merged
from pt_reuse.engine.places import Places
from pt_reuse.engine.tokens import Tokens, Words


@dataclass(frozen=True, repr=False)
class Field(Portable):
    """All runs of a field in memory; rows are topic-major, then by run, then in ranking order.

    It is a field of one block; :class:`pt_reuse.engine.open_field.OpenField` is one of many, each of them a Field.

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

    @classmethod
    def without_topics(cls, ranked: NDArray[np.bool_]) -> Field:
        """Return a field of runs that have no rows.

        Args:
            ranked: (runs,) which of them have a rank column.
        """
        docs, starts, codes = np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.uint16)
        names, scores, places = np.zeros(0, "S8"), np.zeros(0), Places.none()
        return cls(len(ranked), (), names, docs, starts, starts, codes, scores, places, places, ranked)

    def __repr__(self) -> str:
        return f"Field({self.n_runs} runs, {self.n_topics} topics, {self.n_rows} rows)"

    @property
    def n_topics(self) -> int:
        """Return the number of topics."""
        return len(self.topics)

    @property
    def n_rows(self) -> int:
        """Return the number of rows of all lists."""
        return len(self.codes)

    @property
    def parts(self) -> list[range]:
        """Return the topics of each block: all of them in one."""
        return [range(self.n_topics)] if self.n_topics else []

    def part(self, i: int) -> Field:
        """Return a block: the field itself is the only one."""
        return self

    def of_topics(self, topics: range) -> Field:
        """Return the field of some neighbouring topics."""
        return self.take_topics(topics)

    def places(self, topics: range) -> list[str]:
        """Return the files from which topics are read: there are none."""
        return []

    def of(self, t: int) -> tuple[Field, int]:
        """Return the block that holds a topic, and its row there."""
        return self, t

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

    def n_docs(self, t: int) -> int:
        """Return how many documents the runs have for one topic."""
        return int(self.doc_starts[t + 1] - self.doc_starts[t])

    def words_at(self, t: int) -> Words:
        """Return the document names of one topic, in the order of their codes."""
        return tokens.as_words(self.vocabulary).take(self.docs(t), axis=0)

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

        Where the rank column is wanted, every row has a place of its own there, see :meth:`Places.check`.
        """
        if now == wanted:
            return self
        if wanted in BY_SCORE:
            return self._by_score(now, wanted)
        if wanted == "file":
            return self._permuted(self.file.permutation(self.starts))
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
        early = {**self._early(), "codes": self.codes[order]}
        return Field(**early, scores=self.scores[order], file=file, rank=rank)

    def renumbered(self) -> Field:
        """Return the field with the documents of each topic numbered as they first appear in its rows."""
        docs, codes = [], []
        for t in range(self.n_topics):
            code, first = tokens.factorize(self.codes[self.rows(t)].astype(np.uint64)[:, None])
            docs.append(self.docs(t)[self.codes[self.rows(t)][first]])
            codes.append(code.astype(self.codes.dtype))
        none = np.zeros(0, dtype=np.int32)
        early: dict[str, Any] = {
            **self._early(),
            "topic_docs": np.concatenate([none, *docs], dtype=np.int32),
            "doc_starts": offsets(np.array([len(part) for part in docs], dtype=np.int64)),
            "codes": np.concatenate([self.codes[:0], *codes]),
        }
        return self._made(early, self._late)

    def take_runs(self, chosen: Sequence[int]) -> Field:
        """Return the field of the chosen runs, in that order; topics that none of them has go."""
        runs = np.asarray(chosen, dtype=np.int64)
        lists = np.arange(self.n_topics)[:, None] * self.n_runs + runs
        return self._with_lists(lists, self.lengths[:, runs], self.ranked[runs])

    def take_topics(self, chosen: Sequence[int]) -> Field:
        """Return the field of the chosen topics, in that order."""
        topics = np.asarray(chosen, dtype=np.int64)
        lists = topics[:, None] * self.n_runs + np.arange(self.n_runs)
        return self._with_lists(lists, self.lengths[topics], self.ranked, topics=topics)

    def block(self, topics: range) -> Field:
        """Return neighbouring topics as a block of their own, whose vocabulary has no other documents."""
        part = self.take_topics(topics)
        used, place = np.unique(part.topic_docs, return_inverse=True)
        early = {**part._early(), "vocabulary": self.vocabulary[used], "topic_docs": place.astype(np.int32)}
        return self._made(early, part._late)

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
        topics: NDArray[np.int64] | None = None,
    ) -> Field:
        # lists and lengths are (topics, runs) of the new field; its rows are all rows of these lists, or those given
        full = np.flatnonzero(lengths.any(axis=1))
        kept = full if topics is None else topics[full]
        source, counts = lists[full].ravel(), lengths[full].ravel()
        if rows is None:
            rows = ranges(self.starts[source], counts)
        taken_rows, starts, doc_lengths = rows, offsets(counts), np.diff(self.doc_starts)[kept]

        def late() -> Late:
            places = [part.kept(self.starts, source, starts, taken_rows) for part in (self.file, self.rank)]
            return Late(self.scores[taken_rows], *places)

        early: dict[str, Any] = {
            "n_runs": lists.shape[1],
            "topics": tuple(self.topics[t] for t in kept.tolist()),
            "vocabulary": self.vocabulary,
            "topic_docs": taken(self.topic_docs, self.doc_starts[kept], doc_lengths),
            "doc_starts": offsets(doc_lengths),
            "starts": starts,
            "codes": self.codes[rows],
            "ranked": ranked,
        }
        return self._made(early, late)

    def _early(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _EARLY}

    def _late(self) -> Late:
        return Late(self.scores, self.file, self.rank)

    def _made(self, early: Mapping[str, Any], late: Callable[[], Late]) -> Field:
        # a field derived of this one
        found = late()
        return Field(**early, scores=found.scores, file=found.file, rank=found.rank)

    def _long_names(self) -> list[bytes]:
        return tokens.long_names_in(tokens.as_words(self.vocabulary))


@dataclass(frozen=True)
class Late:
    """What of a block is read only where it is asked for, since counting needs none of it; see :class:`Field`."""

    scores: NDArray[np.float64]
    file: Places
    rank: Places


_LATE = ("scores", "file", "rank")
_EARLY = ("n_runs", "topics", "vocabulary", "topic_docs", "doc_starts", "starts", "codes", "ranked")


class LateField(Field):
    """A block whose scores and places are read when one of them is asked for.

    Args:
        late: reads them.
        **early: all other attributes of a Field.
    """

    def __init__(self, *, late: Callable[[], Late], **early: Any):
        for name, value in {**early, "_read": late}.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        # only asked where the instance has no such attribute yet
        if name not in _LATE or "_read" not in self.__dict__:
            raise AttributeError(name)
        late = self._read()
        for part in _LATE:
            object.__setattr__(self, part, getattr(late, part))
        object.__delattr__(self, "_read")
        return getattr(late, name)

    def _made(self, early: Mapping[str, Any], late: Callable[[], Late]) -> Field:
        return LateField(late=late, **early)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return Field(**self._early(), **{name: getattr(self, name) for name in _LATE}).__reduce_ex__(protocol)
