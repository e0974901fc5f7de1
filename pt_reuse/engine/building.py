"""Code runs as a field, block of topics by block of topics."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.lists import offsets, ranges
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.places import Places
from pt_reuse.engine.run_rows import RunRows
from pt_reuse.engine.tokens import Words

_ROWS = 1 << 16  # rows of a block of small topics; a topic that has more is a block of its own
_SPARSE = 64  # cells per row beyond which a table of seen pairs costs more than hashing the pairs


@dataclass(frozen=True)
class Repeats:
    """Rows of documents that stand in the same list again, at a better rank.

    Attributes:
        run: (n,) the run of each row.
        topic: (n,) its topic.
        docs: (n, k) words of its document name.
        place: (n,) its place among the rows of the list as they stand in the file, from 1.
    """

    run: NDArray[np.int64]
    topic: NDArray[np.int64]
    docs: Words
    place: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.run)


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
    scores = np.empty(int(starts[-1]))

    def code(block: slice) -> _Block:
        rows = slice(*starts[[block.start * len(runs), block.stop * len(runs)]].tolist())
        return _code_block(runs, begins[block], lengths[block], width, scores[rows])

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
        file=_joined([run.file for run in runs], topics_of),
        rank=_joined([run.rank or Places.none() for run in runs], topics_of),
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
    return Repeats(run, topic, field.words_of(rows), field.file.of(field.starts, rows))


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
    scores: NDArray[np.float64],
) -> _Block:
    # the scores of the block's rows are filled in
    starts = offsets(lengths.ravel())
    words = np.zeros((len(scores), width), dtype="<u8")
    to_starts = starts[:-1].reshape(lengths.shape)
    for r in np.flatnonzero(lengths.any(axis=0)).tolist():
        source, target = (_rows(at[:, r], lengths[:, r]) for at in (begins, to_starts))
        words[target, : runs[r].docs.shape[1]] = runs[r].docs[source]
        scores[target] = runs[r].scores[source]
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
    again = _second_occurrences(codes, starts, lengths.shape[1], len(first))
    return _Block(words[first], n_docs, local.astype(dtype), again)


def _rows(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    if len(starts) == 1:
        return slice(int(starts[0]), int(starts[0] + lengths[0]))
    return ranges(starts, lengths)


def _second_occurrences(
    codes: NDArray[np.int64], starts: NDArray[np.int64], n_runs: int, n_docs: int
) -> NDArray[np.int64]:
    # rows whose (run, document) stands earlier; a document's code is of one topic
    run = np.tile(np.arange(n_runs), (len(starts) - 1) // max(n_runs, 1))
    key = codes + np.repeat(run * n_docs, np.diff(starts))
    if n_runs * n_docs <= _SPARSE * len(key):
        seen = np.zeros(n_runs * n_docs, dtype=np.bool_)
        seen[key] = True
        distinct = int(np.count_nonzero(seen))
    else:
        distinct = len(pd.unique(key))
    if distinct == len(key):
        return np.zeros(0, dtype=np.int64)
    first = np.unique(key, return_index=True)[1]
    later = np.ones(len(key), dtype=np.bool_)
    later[first] = False
    return np.flatnonzero(later)


def _joined(places: Sequence[Places], topics_of: Sequence[NDArray[np.int64]]) -> Places:
    lists = [held[part.lists] * len(places) + r for r, (part, held) in enumerate(zip(places, topics_of, strict=True))]
    return Places.joined(places, lists)
