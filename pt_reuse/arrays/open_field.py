"""OpenField: a field whose blocks lie elsewhere, each loaded when it is needed and dropped when another one is."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import ByTopic, Field, Step
from pt_reuse.arrays.lists import natural_order, neighbours, offsets, taken


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
    every_code = np.concatenate(codes, dtype=np.uint16 if n_docs.max(initial=0) <= 2**16 else np.uint32)
    ranked = np.ones(n_runs, dtype=np.bool_)
    for piece, runs in zip(pieces, columns, strict=True):
        ranked[runs] &= piece.ranked
    scores, file, rank = (
        taken(np.concatenate([getattr(piece, name) for piece in pieces]), begins, counts[order])
        for name in ("scores", "file", "rank")
    )
    return Field(
        n_runs=n_runs,
        topics=tuple(topics),
        vocabulary=tokens.as_tokens(words),
        topic_docs=np.concatenate([np.zeros(0, dtype=np.int32), *docs]),
        doc_starts=offsets(n_docs),
        starts=offsets(lengths),
        codes=taken(every_code, begins, counts[order]),
        scores=scores,
        file=file,
        rank=rank,
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
            codes[k][rows] = code_of[theirs].take(pieces[k].codes[rows])
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

    def n_docs(self, t: int) -> int:
        field, at = self.of(t)
        return field.n_docs(at)

    def words_at(self, t: int) -> NDArray[np.uint64]:
        field, at = self.of(t)
        return field.words_at(at)

    def top(
        self, t: int, depth: int | NDArray[np.int64], runs: NDArray[np.bool_]
    ) -> tuple[NDArray, NDArray[np.int32], NDArray[np.int32]]:
        field, at = self.of(t)
        return field.top(at, depth, runs)

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
