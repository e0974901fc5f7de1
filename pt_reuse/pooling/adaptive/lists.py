"""TopicLists: what a strategy sees of one topic, the lists of the contributing runs down to the pool's depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.fusion import TopicRows
from pt_reuse.engine.lists import offsets, ranges
from pt_reuse.runs.run_set import RunSet


@dataclass(frozen=True)
class TopicLists:
    """The lists of some runs on one topic; documents are numbered by best rank, those of one rank by name, descending.

    Attributes:
        qid: the topic.
        names: the runs, in the order in which those are tried that a strategy takes for equally good.
        docnos: (documents,) their names; the pool of the topic.
        starts: (runs + 1,) into `codes`.
        codes: (rows,) the documents of each run, best first.
        scores: (rows,) as read.
    """

    qid: str
    names: tuple[str, ...]
    docnos: tuple[str, ...]
    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.docnos)

    @property
    def n_runs(self) -> int:
        """Return the number of runs."""
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): how many documents each run has."""
        return np.diff(self.starts)

    def list_of(self, run: int) -> NDArray[np.int64]:
        """Return the documents of one run, best first."""
        return self.codes[self.starts[run] : self.starts[run + 1]]

    @cached_property
    def run(self) -> NDArray[np.int64]:
        """Return (rows,): the run of each row."""
        return np.repeat(np.arange(self.n_runs), self.lengths)

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Return (rows,): the rank of each row in its list, from 1."""
        return np.arange(1, len(self.codes) + 1) - self.starts[:-1][self.run]

    @cached_property
    def by_document(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (documents + 1,) where those of each document begin, and (rows,) the rows, document by document."""
        return offsets(np.bincount(self.codes, minlength=len(self))), np.argsort(self.codes, kind="stable")

    @cached_property
    def runs_of(self) -> list[list[int]]:
        """Return for each document the runs that have it, in their order."""
        starts, rows = self.by_document
        run = self.run[rows].tolist()
        return [run[start:end] for start, end in pairwise(starts.tolist())]

    @property
    def rows(self) -> TopicRows:
        """Return the lists as fusion takes them."""
        return TopicRows(self.codes, self.run, self.rank, self.scores, len(self))

    def in_order(self, runs: NDArray[np.int64]) -> TopicLists:
        """Return the same lists with the runs in another order; the documents keep their numbers."""
        rows = ranges(self.starts[runs], self.lengths[runs])
        names = tuple(self.names[run] for run in runs.tolist())
        return TopicLists(
            self.qid, names, self.docnos, offsets(self.lengths[runs]), self.codes[rows], self.scores[rows]
        )


def topic_lists(ranked: RunSet, depth: int, contributing: NDArray[np.bool_]) -> Iterator[TopicLists]:
    """Yield the lists of every topic of a field.

    Args:
        ranked: the field, in the order in which it is pooled.
        depth: documents of each run that count, >= 1.
        contributing: (runs,) which runs count.
    """
    field = ranked.field
    names = tuple(name for name, counts in zip(ranked.names, contributing.tolist(), strict=True) if counts)
    place = np.cumsum(contributing) - 1
    for t, qid in enumerate(field.topics):
        code, run, rank = field.top(t, depth, contributing)
        docs, number = np.unique(code, return_inverse=True)
        best = np.full(len(docs), np.iinfo(np.int32).max, dtype=np.int32)
        np.minimum.at(best, number, rank)
        words = tokens.as_words(field.vocabulary).take(field.docs(t)[docs], axis=0)
        keys: list[NDArray[Any]] = [*tokens.descending(words), best]
        order = np.lexsort(keys)
        new = np.empty(len(docs), dtype=np.int64)
        new[order] = np.arange(len(docs))
        docnos = tokens.decode(tokens.as_tokens(words.take(order, axis=0)))
        sizes = np.bincount(place[run], minlength=len(names))
        scores = field.scores[field.starts[t * field.n_runs + run] + rank - 1]
        yield TopicLists(qid, names, tuple(docnos), offsets(sizes), new[number], scores)


def random_of_topic(seed: int, qid: str) -> np.random.Generator:
    """Return the random numbers of one topic: the same in every process, whichever other topics there are."""
    key = int.from_bytes(blake2b(qid.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")
    return np.random.default_rng([seed, key])
