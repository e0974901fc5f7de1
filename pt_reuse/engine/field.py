"""The coded field: all rows of all runs, topic by topic, documents as small codes local to their topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.tokens import Tokens, Words


@dataclass
class RunRows:
    """One run as read: rows grouped by topic, each group in ranking order."""

    name: str
    topics: list[str]
    starts: NDArray[np.int64]  # (topics + 1,) into the rows
    docs: Words  # (rows, k)
    scores: NDArray[np.float64]


class DuplicateError(Exception):
    """A run retrieves one document twice for one topic."""

    def __init__(self, run: int, topic: str, docno: str):
        super().__init__(run, topic, docno)
        self.run, self.topic, self.docno = run, topic, docno


@dataclass(frozen=True)
class Field:
    """All runs of a field; rows are topic-major, then by run, then in ranking order.

    Attributes:
        topics: topic names, in natural order.
        vocabulary: every document name of the field once, in the order of their hashes.
        topic_docs: for each topic its documents as rows of `vocabulary`, one topic after the other.
        doc_starts: (topics + 1,) into `topic_docs`.
        starts: (topics * runs + 1,) into `codes`; the list of run r on topic t is number ``t * runs + r``.
        codes: (rows,) document of each row, local to its topic: an index into the topic's part of `topic_docs`.
        scores: (rows,) as read.
    """

    n_runs: int
    topics: tuple[str, ...]
    vocabulary: Tokens
    topic_docs: NDArray[np.int32]
    doc_starts: NDArray[np.int64]
    starts: NDArray[np.int64]
    codes: NDArray[np.unsignedinteger]
    scores: NDArray[np.float64]

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

    def top(self, t: int, depth: int, runs: NDArray[np.bool_]) -> tuple[NDArray, NDArray[np.int32], NDArray[np.int32]]:
        """Return (codes, run, rank) of the first `depth` rows of the chosen runs on a topic."""
        lengths = np.where(runs, np.minimum(self.lengths[t], depth), 0)
        run = np.repeat(np.arange(self.n_runs, dtype=np.int32), lengths)
        firsts = np.cumsum(lengths) - lengths
        rank = np.arange(1, len(run) + 1, dtype=np.int32) - firsts.astype(np.int32)[run]
        list_starts = self.starts[t * self.n_runs : (t + 1) * self.n_runs]
        return self.codes[list_starts[run] + rank - 1], run, rank

    def list_of(self, t: int, r: int) -> slice:
        """Return the rows of one run on one topic."""
        i = t * self.n_runs + r
        return slice(int(self.starts[i]), int(self.starts[i + 1]))

    def take_runs(self, chosen: Sequence[int]) -> Field:
        """Return the field of the chosen runs, in that order; topics that none of them has go."""
        chosen_runs = np.asarray(chosen, dtype=np.int64)
        lists = (np.arange(self.n_topics)[:, None] * self.n_runs + chosen_runs).ravel()
        lengths = np.diff(self.starts)[lists]
        gather = ranges(self.starts[:-1][lists], lengths)
        return self._with_rows(len(chosen_runs), lengths, gather)

    def keep(self, rows: NDArray[np.bool_]) -> Field:
        """Return the field of the rows marked; lists close up, topics without rows go."""
        kept = np.concatenate([[0], np.cumsum(rows)])
        lengths = np.diff(kept[self.starts])
        return self._with_rows(self.n_runs, lengths, np.flatnonzero(rows))

    def permute(self, order: NDArray[np.int64]) -> Field:
        """Return the field with the rows of each list in another order."""
        return Field(
            self.n_runs, self.topics, self.vocabulary, self.topic_docs, self.doc_starts, self.starts,
            self.codes[order], self.scores[order],
        )  # fmt: skip

    def _with_rows(self, n_runs: int, lengths: NDArray[np.int64], gather: NDArray[np.int64]) -> Field:
        full = lengths.reshape(self.n_topics, n_runs).sum(axis=1) > 0
        topics = np.flatnonzero(full)
        doc_lengths = np.diff(self.doc_starts)[topics]
        return Field(
            n_runs,
            tuple(self.topics[t] for t in topics.tolist()),
            self.vocabulary,
            self.topic_docs[ranges(self.doc_starts[:-1][topics], doc_lengths)],
            _offsets(doc_lengths),
            _offsets(lengths.reshape(self.n_topics, n_runs)[full].ravel()),
            self.codes[gather],
            self.scores[gather],
        )

    def to_rows(self, names: Sequence[str]) -> Iterator[RunRows]:
        """Yield each run as it was read, topics in natural order."""
        words = tokens.as_words(self.vocabulary)
        for r, name in enumerate(names):
            has = np.flatnonzero(self.lengths[:, r] > 0)
            parts = [self.list_of(t, r) for t in has.tolist()]
            docs = [self.docs(t)[self.codes[part]] for t, part in zip(has.tolist(), parts, strict=True)]
            scores = [self.scores[part] for part in parts]
            yield RunRows(
                name,
                [self.topics[t] for t in has.tolist()],
                _offsets(self.lengths[has, r]),
                words[np.concatenate(docs)] if docs else words[:0],
                np.concatenate(scores) if scores else np.zeros(0),
            )


def build_field(
    runs: Sequence[RunRows], *, keep_best: bool = False, threads: int = 1, done: Callable[[], None] = lambda: None
) -> Field:
    """Code runs as one field; `keep_best` keeps the better-ranked of two occurrences of a document, else they raise."""
    names = list(dict.fromkeys(topic for run in runs for topic in run.topics))
    topics = [names[i] for i in natural_order(names)]
    part_of = [{topic: i for i, topic in enumerate(run.topics)} for run in runs]
    width = max((run.docs.shape[1] for run in runs), default=1)

    def code(topic: str) -> _TopicRows:
        parts = []
        for run, places in zip(runs, part_of, strict=True):
            i = places.get(topic)
            parts.append(slice(0, 0) if i is None else slice(int(run.starts[i]), int(run.starts[i + 1])))
        coded = _code_topic(topic, runs, parts, width, keep_best)
        done()
        return coded

    with ThreadPoolExecutor(threads) as pool:
        coded = list(pool.map(code, topics))
    vocabulary, topic_docs = _vocabulary([part.docs for part in coded], width)
    doc_lengths = np.array([len(part.docs) for part in coded], dtype=np.int64)
    dtype = np.uint16 if doc_lengths.max(initial=0) <= 2**16 else np.uint32
    rows = sum(len(part.codes) for part in coded)
    codes, scores = np.empty(rows, dtype=dtype), np.empty(rows)
    at = 0
    for part in coded:
        codes[at : at + len(part.codes)] = part.codes
        scores[at : at + len(part.codes)] = part.scores
        at += len(part.codes)
    lengths = np.concatenate([part.lengths for part in coded]) if coded else np.zeros(0, dtype=np.int64)
    return Field(
        len(runs), tuple(topics), vocabulary, topic_docs, _offsets(doc_lengths), _offsets(lengths), codes, scores
    )


@dataclass
class _TopicRows:
    docs: Words
    codes: NDArray[np.int64]
    scores: NDArray[np.float64]
    lengths: NDArray[np.int64]


def _code_topic(topic: str, runs: Sequence[RunRows], parts: list[slice], width: int, keep_best: bool) -> _TopicRows:
    words = np.concatenate([tokens.widen(run.docs[part], width) for run, part in zip(runs, parts, strict=True)])
    scores = np.concatenate([run.scores[part] for run, part in zip(runs, parts, strict=True)])
    lengths = np.array([part.stop - part.start for part in parts], dtype=np.int64)
    codes, first = tokens.factorize(words)
    again = _second_occurrences(codes, lengths, len(first))
    if len(again):
        if not keep_best:
            row = int(again[0])
            run = int(np.searchsorted(np.cumsum(lengths), row, side="right"))
            raise DuplicateError(run, topic, tokens.decode(tokens.as_tokens(words[row : row + 1]))[0])
        kept = np.ones(len(codes), dtype=bool)
        kept[again] = False
        before = np.concatenate([[0], np.cumsum(kept)])
        lengths = np.diff(before[_offsets(lengths)])
        codes, scores = codes[kept], scores[kept]
    return _TopicRows(words[first], codes, scores, lengths)


def _second_occurrences(codes: NDArray[np.int64], lengths: NDArray[np.int64], n_docs: int) -> NDArray[np.int64]:
    # rows whose (run, document) stands earlier in the same list
    key = codes + np.repeat(np.arange(len(lengths)) * n_docs, lengths)
    seen = np.zeros(len(lengths) * n_docs, dtype=bool)
    seen[key] = True
    if np.count_nonzero(seen) == len(key):
        return np.zeros(0, dtype=np.int64)
    first = np.unique(key, return_index=True)[1]
    later = np.ones(len(key), dtype=bool)
    later[first] = False
    return np.flatnonzero(later)


def _vocabulary(docs: list[Words], width: int) -> tuple[Tokens, NDArray[np.int32]]:
    every = np.concatenate(docs) if docs else np.zeros((0, width), dtype="<u8")
    codes, first = tokens.factorize(every)
    order = tokens.in_hash_order(every[first])
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return tokens.as_tokens(every[first[order]]), place[codes]


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all indices of [start, start + length) for each pair, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
