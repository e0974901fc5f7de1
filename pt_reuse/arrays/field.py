"""The coded field: all rows of all runs, topic by topic, documents as small codes local to their topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import BY_SCORE, by_score, natural_order, offsets, ranges, taken
from pt_reuse.arrays.places import Places, RunRows, permutation_to, recounted, standing
from pt_reuse.arrays.tokens import Portable, Tokens, Words

#: makes of a block the block of another field, topics without rows gone; small, and the same wherever it is copied to
Step: TypeAlias = "Callable[[Field], Field]"


class ByTopic:
    """What has its topics by name."""

    topics: tuple[str, ...]

    @property
    def n_topics(self) -> int:
        return len(self.topics)

    @cached_property
    def topic_row(self) -> dict[str, int]:
        return {topic: t for t, topic in enumerate(self.topics)}


@dataclass(frozen=True, repr=False)
class Field(ByTopic, Portable):
    """All runs of a field in memory; rows are topic-major, then by run, then in ranking order."""

    n_runs: int
    topics: tuple[str, ...]  # topic names, in natural order
    vocabulary: Tokens  # every document name of the field once, in the order of their hashes
    topic_docs: NDArray[np.int32]  # for each topic its documents as rows of `vocabulary`, one topic after the other
    doc_starts: NDArray[np.int64]  # (topics + 1,) into `topic_docs`
    starts: NDArray[np.int64]  # (topics * runs + 1,) into `codes`
    codes: NDArray[np.unsignedinteger]
    scores: NDArray[np.float64]  # (rows,) as read
    file: Places  # places in the file
    rank: Places  # places by the rank column
    ranked: NDArray[np.bool_]  # (runs,) which runs have a rank column

    @classmethod
    def without_topics(cls, ranked: NDArray[np.bool_]) -> Field:
        docs, starts, codes = np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.uint16)
        names, scores, places = np.zeros(0, "S8"), np.zeros(0), standing(starts)
        return cls(len(ranked), (), names, docs, starts, starts, codes, scores, places, places, ranked)

    def __repr__(self) -> str:
        return f"Field({self.n_runs} runs, {self.n_topics} topics, {self.n_rows} rows)"

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def parts(self) -> list[range]:
        """Return the topics of each block: all of them in one."""
        return [range(self.n_topics)] if self.n_topics else []

    def part(self, i: int) -> Field:
        """Return a block: the field itself is the only one."""
        return self

    def of_topics(self, topics: range) -> Field:
        return self.take_topics(topics)

    def of(self, t: int) -> tuple[Field, int]:
        """Return the block that holds a topic, and its row there."""
        return self, t

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Return (topics, runs): how many documents each list has."""
        return np.diff(self.starts).reshape(self.n_topics, self.n_runs)

    def rows(self, t: int) -> slice:
        return slice(int(self.starts[t * self.n_runs]), int(self.starts[(t + 1) * self.n_runs]))

    def docs(self, t: int) -> NDArray[np.int32]:
        """Return the documents of one topic as rows of the vocabulary."""
        return self.topic_docs[self.doc_starts[t] : self.doc_starts[t + 1]]

    def n_docs(self, t: int) -> int:
        return int(self.doc_starts[t + 1] - self.doc_starts[t])

    def words_at(self, t: int) -> Words:
        """Return the document names of one topic, in the order of their codes."""
        return tokens.as_words(self.vocabulary).take(self.docs(t), axis=0)

    def top_rows(
        self, t: int, depth: int | NDArray[np.int64], runs: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Return (row, run, rank) of the first rows of the chosen runs on a topic."""
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
        i = t * self.n_runs + r
        return slice(int(self.starts[i]), int(self.starts[i + 1]))

    def rows_of_run(self, r: int) -> NDArray[np.int64]:
        """Return the rows of one run, topic by topic."""
        return ranges(self.starts[r : -1 : self.n_runs], self.lengths[:, r])

    def docs_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the documents of some rows, as rows of the vocabulary."""
        topic = np.searchsorted(self.starts[:: self.n_runs], rows, side="right") - 1
        return self.topic_docs[self.codes[rows] + self.doc_starts[topic]]

    def all_docs(self) -> NDArray[np.int32]:
        """Return the document of every row, as a row of the vocabulary."""
        rows = np.diff(self.starts[:: self.n_runs])
        return self.topic_docs[self.codes + np.repeat(self.doc_starts[:-1], rows)]

    def words_of(self, rows: NDArray[np.int64]) -> Words:
        return tokens.as_words(self.vocabulary).take(self.docs_of(rows), axis=0)

    def changed(self, step: Step, lengths: NDArray[np.integer]) -> Field:
        """Return the field that a step makes of this one, in which lists have these lengths."""
        return step(self)

    def in_order(self, now: str, wanted: str) -> Field:
        """Return the field in another ranking order than the one in which it stands."""
        if now == wanted:
            return self
        if wanted in BY_SCORE:
            lists = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
            return self._permuted(by_score(lists, self.words_of, np.asarray(self.scores), wanted))
        return self._permuted(permutation_to(self.starts, self.file if wanted == "file" else self.rank))

    def _permuted(self, order: NDArray[np.int64] | None) -> Field:
        return self if order is None else self.permute(order)

    def permute(self, order: NDArray[np.int64]) -> Field:
        """Return the field with the rows of each list in another order."""
        rows = {name: getattr(self, name)[order] for name in ("codes", "scores", "file", "rank")}
        return replace(self, **rows)

    def ranked_anew(self, order: NDArray[np.int64]) -> Field:
        """Return the field with the rows of each list in another order, which scores of 0, -1 and so on say alone."""
        places, ranked = standing(self.starts), np.ones(self.n_runs, dtype=np.bool_)
        scores = -(places.astype(np.float64) - 1)
        return replace(self, codes=self.codes[order], scores=scores, file=places, rank=places, ranked=ranked)

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
        return replace(part, vocabulary=self.vocabulary[used], topic_docs=place.astype(np.int32))

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
        starts, doc_lengths = offsets(counts), np.diff(self.doc_starts)[kept]
        file, rank = self.file[rows], self.rank[rows]
        if len(cut := np.flatnonzero(counts != np.diff(self.starts)[source])):
            file, rank = recounted(starts, file, cut), recounted(starts, rank, cut)
        return Field(
            n_runs=lists.shape[1],
            topics=tuple(self.topics[t] for t in kept.tolist()),
            vocabulary=self.vocabulary,
            topic_docs=taken(self.topic_docs, self.doc_starts[kept], doc_lengths),
            doc_starts=offsets(doc_lengths),
            starts=starts,
            codes=self.codes[rows],
            scores=self.scores[rows],
            file=file,
            rank=rank,
            ranked=ranked,
        )

    def _long_names(self) -> list[bytes]:
        return tokens.long_names_in(tokens.as_words(self.vocabulary))


class StoredField(Field):
    """A block on disk, whose arrays are read, each by its name, when somebody asks for them."""

    @classmethod
    def later(cls, n_runs: int, topics: tuple[str, ...], read: Callable[[str], Any]) -> StoredField:
        found = cls.__new__(cls)
        vars(found).update(n_runs=n_runs, topics=topics, _read=read)
        return found

    def __getattr__(self, name: str) -> Any:
        # asked where the instance has no such attribute yet; another thread may just read it
        if name not in Field.__dataclass_fields__ or "_read" not in vars(self):
            raise AttributeError(name)
        vars(self)[name] = value = self._read(name)
        return value

    def __getstate__(self) -> tuple[dict[str, Any], list[bytes]]:
        # elsewhere it has all its arrays
        return {name: getattr(self, name) for name in Field.__dataclass_fields__}, self._long_names()


_ROWS = 1 << 16  # rows of a block of small topics; a topic that has more is a block of its own
_TABLE = 64  # pairs of run and document per row, beyond which hashing those that are there takes less time


@dataclass(frozen=True)
class Repeats:
    """Rows of documents that stand in the same list again, at a better rank."""

    run: NDArray[np.int64]  # (n,) the run of each row
    topic: NDArray[np.int64]  # (n,) its topic
    docs: Words  # (n, k) words of its document name
    place: NDArray[np.int64]  # (n,) its place among the rows of the list as they stand in the file, from 1

    def __len__(self) -> int:
        return len(self.run)

    def take(self, rows: NDArray[np.int64]) -> Repeats:
        return Repeats(self.run[rows], self.topic[rows], self.docs[rows], self.place[rows])

    @staticmethod
    def joined(parts: Sequence[Repeats]) -> Repeats:
        run, topic, place = np.concatenate([[part.run, part.topic, part.place] for part in parts], axis=1)
        return Repeats(run, topic, tokens.stacked([part.docs for part in parts]), place)


def build_field(runs: Sequence[RunRows], *, threads: int = 1) -> tuple[Field, Repeats]:
    """Code runs as one field; of a document that stands in a list again, the better-ranked row stays."""
    names = list(dict.fromkeys(topic for run in runs for topic in run.topics))
    topics = tuple(names[i] for i in natural_order(names))
    place = {topic: t for t, topic in enumerate(topics)}
    topics_of = [np.fromiter((place[topic] for topic in run.topics), dtype=np.int64) for run in runs]
    begins, lengths = np.zeros((2, len(topics), len(runs)), dtype=np.int64)
    for r, held in enumerate(topics_of):
        begins[held, r], lengths[held, r] = runs[r].starts[:-1], np.diff(runs[r].starts)
    width = max((run.docs.shape[1] for run in runs), default=1)

    starts = offsets(lengths.ravel())
    scores, file = np.empty(int(starts[-1])), standing(starts)
    rank = file.copy()

    def code(block: slice) -> _Block:
        rows = slice(*starts[[block.start * len(runs), block.stop * len(runs)]].tolist())
        return _code_block(runs, begins[block], lengths[block], width, (scores[rows], file[rows], rank[rows]))

    with ThreadPoolExecutor(threads) as pool:
        blocks = list(pool.map(code, _blocks(lengths.sum(axis=1))))
    every_doc = np.concatenate([np.zeros((0, width), dtype="<u8"), *(block.docs for block in blocks)])
    vocabulary, topic_docs = tokens.in_hash_order(every_doc, threads=threads)
    doc_lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(block.n_docs for block in blocks)])
    dtype = np.uint16 if doc_lengths.max(initial=0) <= 2**16 else np.uint32
    field = Field(
        n_runs=len(runs),
        topics=topics,
        vocabulary=tokens.as_tokens(vocabulary),
        topic_docs=topic_docs.astype(np.int32),
        doc_starts=offsets(doc_lengths),
        starts=starts,
        codes=np.concatenate([np.zeros(0, dtype=dtype), *(block.codes for block in blocks)], dtype=dtype),
        scores=scores,
        file=file,
        rank=rank,
        ranked=np.array([run.rank is not None for run in runs], dtype=np.bool_),
    )
    begin = offsets(np.array([len(block.codes) for block in blocks], dtype=np.int64))
    again = [block.again + row for block, row in zip(blocks, begin[:-1].tolist(), strict=True) if len(block.again)]
    if not again:
        nothing = np.zeros(0, dtype=np.int64)
        return field, Repeats(nothing, nothing, np.zeros((0, width), dtype="<u8"), nothing)
    rows = np.concatenate(again)
    kept = np.ones(len(field.codes), dtype=np.bool_)
    kept[rows] = False
    return field.keep(kept), _repeats(field, rows)


def _repeats(field: Field, rows: NDArray[np.int64]) -> Repeats:
    lists = np.searchsorted(field.starts, rows, side="right") - 1
    topic, run = np.divmod(lists, max(field.n_runs, 1))
    return Repeats(run, topic, field.words_of(rows), field.file[rows].astype(np.int64))


@dataclass
class _Block:
    """Some topics, coded: their documents one topic after the other, and the rows that repeat an earlier one."""

    docs: Words
    n_docs: NDArray[np.int64]  # (topics,)
    codes: NDArray[np.unsignedinteger]  # (rows,) local to the topic
    again: NDArray[np.int64]


def _blocks(rows: NDArray[np.int64]) -> list[slice]:
    # consecutive topics of about _ROWS rows together; what takes a step of its own there is cut off
    step = np.cumsum(rows) // _ROWS
    cuts = np.flatnonzero(np.diff(step, prepend=0)).tolist()
    bounds = sorted({0, *cuts, *(t + 1 for t in np.flatnonzero(rows >= _ROWS).tolist()), len(rows)})
    return [slice(a, b) for a, b in pairwise(bounds)]


def _code_block(
    runs: Sequence[RunRows],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
    width: int,
    filled: tuple[NDArray[np.float64], Places, Places],
) -> _Block:
    # the scores and places of the block's rows are filled in
    scores, file, rank = filled
    starts = offsets(lengths.ravel())
    words = np.zeros((len(scores), width), dtype="<u8")
    to_starts = starts[:-1].reshape(lengths.shape)
    for r in np.flatnonzero(lengths.any(axis=0)).tolist():
        source, target = (_rows(at[:, r], lengths[:, r]) for at in (begins, to_starts))
        run = runs[r]
        words[target, : run.docs.shape[1]] = run.docs[source]
        scores[target], file[target] = run.scores[source], run.file[source]
        if run.rank is not None:
            rank[target] = run.rank[source]
    codes, first = tokens.factorize(words)
    if len(lengths) > 1:
        # the same document of two topics is two documents, numbered topic by topic
        topic = np.repeat(np.arange(len(lengths)), lengths.sum(axis=1))
        codes, first = tokens.factorize((topic * len(first) + codes).astype(np.uint64)[:, None])
        n_docs = np.bincount(topic[first], minlength=len(lengths))
        local = codes - np.repeat(offsets(n_docs)[:-1], lengths.sum(axis=1))
    else:
        n_docs, local = np.array([len(first)]), codes
    dtype = np.uint16 if int(n_docs.max(initial=0)) <= 2**16 else np.uint32
    # rows whose (run, document) stands earlier; a document's code is of one topic
    run = np.tile(np.arange(len(runs)), len(lengths))
    key = codes + np.repeat(run * len(first), lengths.ravel())
    # nearly always none does, which a table of all pairs tells sooner
    seen = np.zeros(min(len(runs) * len(first), _TABLE * len(key)), dtype=np.bool_)
    if len(seen) == len(runs) * len(first):
        seen[key] = True
    none = np.count_nonzero(seen) == len(key)
    again = np.zeros(0, dtype=np.int64) if none else np.flatnonzero(pd.Series(key).duplicated())
    return _Block(words[first], n_docs, local.astype(dtype), again)


def _rows(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    if len(starts) == 1:
        return slice(int(starts[0]), int(starts[0] + lengths[0]))
    return ranges(starts, lengths)
