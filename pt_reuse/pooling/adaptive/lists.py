"""TopicLists: what a strategy sees of one topic, the lists of the contributing runs down to the pool's depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import examples, shown
from pt_reuse._errors import InputError, door
from pt_reuse.arrays import tokens
from pt_reuse.arrays.fusion import TopicRows
from pt_reuse.arrays.lists import offsets, ranges
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.taking import Pooled


@dataclass(frozen=True, eq=False)
class TopicLists:
    """The lists of some runs on one topic; documents are numbered by best rank, those of one rank by name, descending.

    Attributes:
        qid: the topic.
        names: the runs, in the order in which those are tried that a strategy takes for equally good.
        docnos: (documents,) their names; the pool of the topic.
        starts: (runs + 1,) into `codes`.
        codes: (rows,) the documents of each run, best first.
        scores: (rows,) as read.

    Example:
        >>> import pt_reuse as ptr
        >>> topic = ptr.pools.TopicLists.of("301", {"A": ["d1", "d2"], "B": ["d3", "d1"]})
        >>> topic.docnos, topic.runs_of
        (('d3', 'd1', 'd2'), [[1], [0, 1], [0]])
    """

    qid: str
    names: tuple[str, ...]
    docnos: tuple[str, ...]
    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    scores: NDArray[np.float64]

    @classmethod
    @door
    def of(cls, qid: str, lists: Mapping[str, Sequence[str]]) -> TopicLists:
        """Return the lists of one topic, to try a strategy on; a document's score in a run is minus its rank.

        Args:
            qid: the topic.
            lists: run -> document names, best first.

        Raises:
            InputError: a run that has a document twice.
        """
        best: dict[str, int] = {}
        for run, docnos in lists.items():
            if len(set(docnos)) < len(docnos):
                twice = [docno for docno, n in Counter(docnos).items() if n > 1]
                raise InputError(
                    f"run {shown(run)} has {examples(twice)} twice. Give each document of a run once, best first.",
                    argument="lists",
                )
            for rank, docno in enumerate(docnos, 1):
                best[docno] = min(rank, best.get(docno, rank))
        names = sorted(sorted(best, reverse=True), key=best.__getitem__)
        number = dict(zip(names, range(len(names)), strict=True))
        lengths = np.array([len(docnos) for docnos in lists.values()], dtype=np.int64)
        codes = np.array([number[docno] for docnos in lists.values() for docno in docnos], dtype=np.int64)
        scores = np.array([-rank for n in lengths.tolist() for rank in range(1, n + 1)], dtype=np.float64)
        return cls(qid, tuple(lists), tuple(names), offsets(lengths), codes, scores)

    def __len__(self) -> int:
        return len(self.docnos)

    @property
    def n_runs(self) -> int:
        """Return the number of runs."""
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return how many documents each run has, (runs,)."""
        return np.diff(self.starts)

    def list_of(self, run: int) -> NDArray[np.int64]:
        """Return the documents of one run, best first.

        Args:
            run: its number.
        """
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

    def in_order(self, order: NDArray[np.int64]) -> TopicLists:
        """Return the same lists with the runs in another order; the documents keep their numbers.

        Args:
            order: (runs,) the numbers of the runs, each once.
        """
        lengths = self.lengths[order]
        rows = ranges(self.starts[order], lengths)
        names = tuple(self.names[run] for run in order.tolist())
        return TopicLists(self.qid, names, self.docnos, offsets(lengths), self.codes[rows], self.scores[rows])


def topic_lists(ranked: RunSet, depth: int, contributing: NDArray[np.bool_]) -> Iterator[TopicLists]:
    """Yield the lists of every topic of a field.

    Args:
        ranked: the field, in the order in which it is pooled.
        depth: documents of each run that count, >= 1.
        contributing: (runs,) which runs count.
    """
    for t in range(ranked.field.n_topics):
        yield lists_of_topic(ranked, t, depth, contributing)


def lists_of_topic(ranked: RunSet, t: int, depth: int, contributing: NDArray[np.bool_]) -> TopicLists:
    """Return the lists of one topic of a field, see :func:`topic_lists`.

    Args:
        ranked: the field, in the order in which it is pooled.
        t: the topic, as a row of the field.
        depth: documents of each run that count, >= 1.
        contributing: (runs,) which runs count.
    """
    field = ranked.field
    names = tuple(name for name, counts in zip(ranked.names, contributing.tolist(), strict=True) if counts)
    place = np.cumsum(contributing) - 1
    pool = Pooled.of(field, t, depth, contributing)
    order = pool.in_order(field, t, [pool.best_rank])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    words = field.words_at(t).take(pool.docs[order], axis=0)
    docnos = tokens.decode(tokens.as_tokens(words))
    sizes = np.bincount(place[pool.rows.run], minlength=len(names))
    codes = number[pool.rows.document]
    return TopicLists(field.topics[t], names, tuple(docnos), offsets(sizes), codes, pool.rows.score)


def random_of_topic(seed: int, qid: str) -> np.random.Generator:
    """Return the random numbers of one topic: the same in every process, whichever other topics there are."""
    key = int.from_bytes(blake2b(qid.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")
    return np.random.default_rng([seed, key])
