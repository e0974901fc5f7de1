"""The coded field: all rows of all runs, topic by topic, documents as small codes local to their topic."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import methodcaller
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import (
    BY_SCORE,
    Places,
    RunRows,
    by_score,
    natural_order,
    neighbours,
    offsets,
    permutation_to,
    ranges,
    recounted,
    standing,
    taken,
)
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
    topic, run = np.divmod(np.searchsorted(field.starts, rows, side="right") - 1, max(field.n_runs, 1))
    return field.keep(kept), Repeats(run, topic, field.words_of(rows), field.file[rows].astype(np.int64))


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


def unite(*pieces: Field, columns: Sequence[NDArray[np.int64]] | None = None, n_runs: int | None = None) -> Field:
    """Return the field of the runs of all pieces, those of the first one first."""
    if columns is None:
        ends = np.cumsum([piece.n_runs for piece in pieces])
        columns = [np.arange(end - piece.n_runs, end) for end, piece in zip(ends.tolist(), pieces, strict=True)]
    if n_runs is None:
        n_runs = 1 + max(int(runs.max(initial=-1)) for runs in columns)
    names = list(dict.fromkeys(topic for piece in pieces for topic in piece.topics))
    topics = [names[i] for i in natural_order(names)]
    place = {topic: t for t, topic in enumerate(topics)}
    topics_of = [np.array([place[name] for name in piece.topics], dtype=np.int64) for piece in pieces]
    # the lists of the united field, in the order of the pieces
    lists_of = [(of[:, None] * n_runs + runs).ravel() for of, runs in zip(topics_of, columns, strict=True)]
    lists, counts = np.concatenate(lists_of), np.concatenate([np.diff(piece.starts) for piece in pieces])
    some = np.flatnonzero(counts)
    order = some[np.argsort(lists[some], kind="stable")]
    lengths = np.zeros(len(topics) * n_runs, dtype=np.int64)
    lengths[lists[some]] = counts[some]
    begins = offsets(counts)[:-1][order]
    parts = [tokens.as_words(piece.vocabulary) for piece in pieces]
    words, place_of_word = tokens.in_hash_order(tokens.stacked(parts))
    places = np.split(place_of_word, np.cumsum([len(part) for part in parts])[:-1])
    docs, codes = _documents(pieces, topics_of, places, len(topics), len(words))
    n_docs = np.array([len(part) for part in docs], dtype=np.int64)
    ranked = np.ones(n_runs, dtype=np.bool_)
    for piece, runs in zip(pieces, columns, strict=True):
        ranked[runs] &= piece.ranked
    # lists that follow each other in their piece are copied at once, from where they are
    piece_of = np.repeat(np.arange(len(pieces)), [len(piece.starts) - 1 for piece in pieces])[order]
    first_rows = offsets(np.array([piece.n_rows for piece in pieces]))
    counts, begins = counts[order], begins - first_rows[piece_of]
    ends = begins + counts
    cut = np.flatnonzero((begins[1:] != ends[:-1]) | (np.diff(piece_of) != 0)) + 1
    edges = np.unique([0, *cut.tolist(), len(order)])
    cuts = (piece_of[edges[:-1]], begins[edges[:-1]], ends[edges[1:] - 1])
    slices = [(k, slice(a, b)) for k, a, b in zip(*(cut.tolist() for cut in cuts), strict=True)]

    def joined(columns: Sequence[NDArray], dtype: Any = None) -> NDArray:
        return np.concatenate([columns[0][:0], *(columns[k][rows] for k, rows in slices)], dtype=dtype)

    return Field(
        n_runs=n_runs,
        topics=tuple(topics),
        vocabulary=tokens.as_tokens(words),
        topic_docs=np.concatenate([np.zeros(0, dtype=np.int32), *docs]),
        doc_starts=offsets(n_docs),
        starts=offsets(lengths),
        codes=joined(codes, np.uint16 if n_docs.max(initial=0) <= 2**16 else np.uint32),
        scores=joined([piece.scores for piece in pieces]),
        file=joined([piece.file for piece in pieces]),
        rank=joined([piece.rank for piece in pieces]),
        ranked=ranked,
    )


def _documents(
    pieces: Sequence[Field],
    topics_of: Sequence[NDArray[np.int64]],
    places: Sequence[NDArray[np.int64]],
    n_topics: int,
    n_words: int,
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.unsignedinteger]]]:
    """Return the documents of each topic, and the codes of the rows of each piece among them."""
    held: list[list[tuple[int, int]]] = [[] for _ in range(n_topics)]
    for k, of in enumerate(topics_of):
        for t, topic in enumerate(of.tolist()):
            held[topic].append((k, t))
    docs: list[NDArray[np.int32]] = []
    codes: list[NDArray[np.unsignedinteger]] = [np.empty(piece.n_rows, dtype=np.uint32) for piece in pieces]
    code_of = np.full(n_words, -1, dtype=np.int32)  # on the topic at hand
    for of_topic in held:
        mine = np.zeros(0, dtype=np.int32)
        for k, t in of_topic:
            theirs = places[k][pieces[k].docs(t)].astype(np.int32)
            new = theirs[code_of[theirs] < 0]
            code_of[new] = np.arange(len(mine), len(mine) + len(new), dtype=np.int32)
            mine = np.concatenate([mine, new])
            rows = pieces[k].rows(t)
            # of the first piece on a topic the codes stay
            codes[k][rows] = (
                code_of[theirs].take(pieces[k].codes[rows]) if len(new) < len(mine) else pieces[k].codes[rows]
            )
        docs.append(mine)
        code_of[mine] = -1
    return docs, codes


#: blocks that a thread keeps of those loaded last: a study may walk through a field in two orders at once
_KEPT = 2


class BlockSource(Protocol):
    """Where blocks come from: small, and the same wherever it is copied to."""

    def load(self, i: int) -> Field:
        """Return block i, with the topics and runs that the field says."""

    def only(self, blocks: Sequence[int]) -> BlockSource:
        """Return a source of some of the blocks, numbered anew."""


class OpenField(ByTopic):
    """A field of many blocks, each of neighbouring topics and a small :class:`Field` of its own."""

    def __init__(
        self,
        topics: Sequence[str],
        parts: Sequence[range],
        lengths: NDArray[np.integer],
        ranked: NDArray[np.bool_],
        source: BlockSource,
    ):
        self.topics, self.parts = tuple(topics), list(parts)
        self.lengths, self.ranked, self.source = np.asarray(lengths, dtype=np.int64), ranked, source
        self.n_runs = len(ranked)

    @cached_property
    def n_rows(self) -> int:
        return int(self.lengths.sum())

    @cached_property
    def _part_of(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.parts)), [len(part) for part in self.parts])

    def part(self, i: int) -> Field:
        """Return a block; the last ones of each thread are kept."""
        kept = _THREAD.blocks
        for source, at, field in kept:
            if source is self.source and at == i:
                return field
        if len(kept) == _KEPT:
            # before the next one takes memory
            kept.pop(0)
        field = self.source.load(i)
        kept.append((self.source, i, field))
        return field

    def of(self, t: int) -> tuple[Field, int]:
        i = int(self._part_of[t])
        return self.part(i), t - self.parts[i].start

    def take_runs(self, chosen: Sequence[int]) -> OpenField:
        runs = np.asarray(chosen, dtype=np.int64)
        return self._changed(methodcaller("take_runs", runs.tolist()), self.lengths[:, runs], self.ranked[runs])

    def take_topics(self, chosen: Sequence[int]) -> Field:
        """Return the field of the chosen topics, in natural order, in memory."""
        topics = np.sort(np.asarray(chosen, dtype=np.int64))
        if not len(topics):
            return Field.without_topics(self.ranked)
        pieces = []
        for i in np.unique(self._part_of[topics]).tolist():
            here = topics[self._part_of[topics] == i] - self.parts[i].start
            pieces.append(self.part(i).take_topics(here.tolist()))
        every = np.arange(self.n_runs)
        return pieces[0] if len(pieces) == 1 else unite(*pieces, columns=[every] * len(pieces))

    def of_topics(self, topics: range) -> OpenField:
        """Return the field of some neighbouring topics, with all of the blocks that hold them; it is small to copy."""
        blocks = np.unique(self._part_of[topics.start : topics.stop]).tolist()
        parts = [self.parts[i] for i in blocks]
        held = range(parts[0].start, parts[-1].stop) if parts else range(0)
        mine = slice(held.start, held.stop)
        source = self.source.only(blocks)
        return OpenField(
            self.topics[mine], _ranges([len(part) for part in parts]), self.lengths[mine], self.ranked, source
        )

    def in_order(self, now: str, wanted: str) -> OpenField:
        return self if now == wanted else self.changed(methodcaller("in_order", now, wanted), self.lengths)

    def changed(self, step: Step, lengths: NDArray[np.integer]) -> OpenField:
        """Return the field with a step that is taken with each block as it is loaded."""
        return self._changed(step, lengths, self.ranked)

    def _changed(self, step: Step, lengths: NDArray[np.integer], ranked: NDArray[np.bool_]) -> OpenField:
        full = np.asarray(lengths.any(axis=1))
        sizes = [int(full[part.start : part.stop].sum()) for part in self.parts]
        blocks = [i for i, size in enumerate(sizes) if size]
        topics = [topic for topic, some in zip(self.topics, full.tolist(), strict=True) if some]
        return OpenField(
            topics, _ranges([sizes[i] for i in blocks]), lengths[full], ranked, Stepped(self.source, blocks, step)
        )

    def __getstate__(self) -> dict[str, Any]:
        derived = ("topic_row", "_part_of", "n_rows")
        return {name: value for name, value in self.__dict__.items() if name not in derived}


AnyField: TypeAlias = Field | OpenField


def cut_topics(field: Field, most: int) -> list[range]:
    """Return neighbouring topics of at most so many rows together, as blocks of an open field; no topic is cut."""
    return neighbours(field.lengths.sum(axis=1), most)


def united(first: AnyField, second: AnyField) -> AnyField:
    """Return the field of the runs of both, those of `second` last."""
    if isinstance(first, Field) and isinstance(second, Field):
        return unite(first, second)
    names = list(dict.fromkeys((*first.topics, *second.topics)))
    topics = [names[i] for i in natural_order(names)]
    place = {topic: t for t, topic in enumerate(topics)}
    lengths = np.zeros((len(topics), first.n_runs + second.n_runs), dtype=np.int64)
    lengths[[place[topic] for topic in first.topics], : first.n_runs] = first.lengths
    lengths[[place[topic] for topic in second.topics], first.n_runs :] = second.lengths
    sizes = [field.lengths[part.start : part.stop].sum() for field in (first, second) for part in field.parts]
    parts = neighbours(lengths.sum(axis=1), int(max(sizes, default=1)))
    of_part = [tuple(topics[part.start : part.stop]) for part in parts]
    columns = np.split(np.arange(lengths.shape[1]), [first.n_runs])
    source = Stacked([first, second], columns, of_part, lengths.shape[1])
    return OpenField(topics, parts, lengths, np.concatenate([first.ranked, second.ranked]), source)


def same_lists(first: AnyField, second: AnyField) -> bool:
    """Return whether two orders of the same runs have the same documents at every place."""
    parts = range(len(first.parts))
    return all(np.array_equal(first.part(i).codes, second.part(i).codes) for i in parts)


@dataclass(frozen=True, eq=False)
class Stepped:
    """Blocks of another source, each of them changed; those that would have no topic are left out."""

    source: BlockSource
    blocks: list[int]
    step: Step

    def load(self, i: int) -> Field:
        return self.step(self.source.load(self.blocks[i]))

    def only(self, blocks: Sequence[int]) -> Stepped:
        chosen = [self.blocks[i] for i in blocks]
        return Stepped(self.source.only(chosen), list(range(len(chosen))), self.step)


@dataclass(frozen=True, eq=False)
class Stacked:
    """Blocks made of those of several fields."""

    fields: list[AnyField]
    columns: list[NDArray[np.int64]]
    topics: list[tuple[str, ...]]
    n_runs: int

    def load(self, i: int) -> Field:
        pieces, columns = [], []
        for field, runs in zip(self.fields, self.columns, strict=True):
            here = self._rows(field, i)
            if here:
                pieces.append(field.take_topics(here))
                columns.append(runs)
        return unite(*pieces, columns=columns, n_runs=self.n_runs)

    def only(self, blocks: Sequence[int]) -> Stacked:
        topics = [self.topics[i] for i in blocks]
        rows = [self._rows(field, i) for field in self.fields for i in blocks]
        fields: list[AnyField] = []
        for k, field in enumerate(self.fields):
            some = [row for of_block in rows[k * len(blocks) : (k + 1) * len(blocks)] for row in of_block]
            covered = range(min(some), max(some) + 1) if some else range(0)
            fields.append(field.of_topics(covered))
        return Stacked(fields, self.columns, topics, self.n_runs)

    def _rows(self, field: AnyField, i: int) -> list[int]:
        return [field.topic_row[topic] for topic in self.topics[i] if topic in field.topic_row]


def _ranges(sizes: Sequence[int]) -> list[range]:
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    return [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]


class _Thread(threading.local):
    def __init__(self) -> None:
        self.blocks: list[tuple[BlockSource, int, Field]] = []


_THREAD = _Thread()


def forget_blocks() -> None:
    """Drop the blocks that this thread keeps."""
    _THREAD.blocks.clear()
