"""TopicLists: what a strategy sees of one topic, the lists of the contributing runs down to the pool's depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.lists import offsets
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
    """

    qid: str
    names: tuple[str, ...]
    docnos: tuple[str, ...]
    starts: NDArray[np.int64]
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.docnos)

    @property
    def n_runs(self) -> int:
        """Return the number of runs."""
        return len(self.names)

    def list_of(self, run: int) -> NDArray[np.int64]:
        """Return the documents of one run, best first."""
        return self.codes[self.starts[run] : self.starts[run + 1]]

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """Return (documents, runs): the rank, from 1, of each document; 0 where the run lacks it."""
        ranks = np.zeros((len(self), self.n_runs), dtype=np.int32)
        lengths = np.diff(self.starts)
        run = np.repeat(np.arange(self.n_runs), lengths)
        ranks[self.codes, run] = np.arange(len(self.codes)) - self.starts[:-1][run] + 1
        return ranks

    @cached_property
    def runs_of(self) -> list[NDArray[np.int64]]:
        """Return for each document the runs that have it."""
        document, run = np.nonzero(self.ranks)
        return np.split(run, np.searchsorted(document, np.arange(1, len(self))))

    def in_order(self, runs: NDArray[np.int64]) -> TopicLists:
        """Return the same lists with the runs in another order, or some of the runs; the documents stay."""
        lists = [self.list_of(run) for run in runs.tolist()]
        starts = offsets(np.array([len(one) for one in lists], dtype=np.int64))
        codes = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
        return TopicLists(self.qid, tuple(self.names[run] for run in runs.tolist()), self.docnos, starts, codes)


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
    return TopicLists(field.topics[t], names, tuple(docnos), offsets(sizes), new[number])


def random_of_topic(seed: int, qid: str) -> np.random.Generator:
    """Return the random numbers of one topic: the same in every process, whichever other topics there are."""
    key = int.from_bytes(blake2b(qid.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")
    return np.random.default_rng([seed, key])
