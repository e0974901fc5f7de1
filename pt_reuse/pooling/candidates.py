"""Candidates: the documents of a depth-k pool in the order of a strategy, to be cut at a number of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, whole
from pt_reuse.engine import tokens
from pt_reuse.engine.fusion import TopicRows
from pt_reuse.engine.open_field import AnyField
from pt_reuse.pooling.taking import Taken


class Per(Enum):
    """Of what a number of documents is the number."""

    TOPIC = "topic"
    ALL = "all"


@dataclass(frozen=True)
class PoolSize:
    """How many documents a pool may have; one that is made has been checked.

    Attributes:
        n: documents, 0 or more.
        per: of each topic, or of all topics together.
    """

    n: int
    per: Per

    @classmethod
    def of(cls, n: Any, per: Any) -> PoolSize:
        """Return a user's ``n=`` and ``per=``, or say what is wrong with them."""
        number = whole("n", n, "documents", least=0)
        return cls(number, Per(choice("per", per, tuple(one.value for one in Per))))

    @property
    def settings(self) -> dict[str, Any]:
        """Return what the settings of a pool say."""
        return {"n": self.n, "per": self.per.value}


@dataclass(frozen=True)
class Pooled:
    """The depth-k pool of one topic.

    Attributes:
        docs: (documents,) codes local to the topic, each once, ascending.
        best_rank: (documents,) of each, over the runs.
        code: (rows,) the document that a run has, as a code.
        rows: the same rows with documents numbered as in `docs`, and scores.
    """

    docs: NDArray[np.int64]
    best_rank: NDArray[np.int64]
    code: NDArray[Any]
    rows: TopicRows

    @classmethod
    def of(cls, coded: AnyField, t: int, depth: int, runs: NDArray[np.bool_]) -> Pooled:
        """Return the pool of a topic of a field: the first `depth` documents of the (runs,) that are chosen."""
        block, here = coded.of(t)
        at, run, rank = block.top_rows(here, depth, runs)
        code = block.codes[at]
        docs, number = np.unique(code, return_inverse=True)
        best = np.full(len(docs), np.iinfo(np.int64).max)
        np.minimum.at(best, number, rank)
        return cls(docs.astype(np.int64), best, code, TopicRows(number, run, rank, block.scores[at], len(docs)))

    def in_order(self, coded: AnyField, t: int, keys: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """Return (documents,) the positions in `docs`, in order: the one place that says how ties are broken.

        Args:
            coded: the field.
            t: the topic.
            keys: each (documents,), the most important first, the lower the earlier; of documents with equal keys the
                one of the greater name comes first.
        """
        words = coded.words_at(t).take(self.docs, axis=0)
        by_name: list[NDArray[Any]] = list(tokens.descending(words))
        return np.lexsort([*by_name, *reversed(keys)])


@dataclass(frozen=True)
class Candidates:
    """The documents of one topic, the one to take first first.

    Attributes:
        codes: (documents,) codes local to the topic.
        keys: by what they are ordered, each (documents,), the most important first, the lower the earlier; of
            documents with equal keys the one of the greater name comes first.
        pool: what they are candidates of.
        columns: name -> (documents,) what else is known of each.
    """

    codes: NDArray[np.int64]
    keys: Sequence[NDArray[Any]]
    pool: Pooled
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def ordered(
        cls, coded: AnyField, t: int, pool: Pooled, keys: Sequence[NDArray[Any]], **columns: NDArray[Any]
    ) -> Candidates:
        """Return the pool of topic `t` in the order of some keys; keys and columns are those of ``pool.docs``."""
        order = pool.in_order(coded, t, keys)
        return cls(
            pool.docs[order],
            [key[order] for key in keys],
            pool,
            {name: values[order] for name, values in columns.items()},
        )

    def __len__(self) -> int:
        return len(self.codes)

    def place_among_equals(self) -> NDArray[np.int64]:
        """Return (documents,): how many documents of the same keys come before each."""
        here = np.arange(len(self))
        new = np.ones(len(self), dtype=bool)
        new[1:] = np.any([key[1:] != key[:-1] for key in self.keys], axis=0)
        return here - np.maximum.accumulate(np.where(new, here, 0))

    def first(self, n: int) -> Taken:
        """Return the first `n` documents as what was taken of the topic."""
        rows = self.pool.rows
        columns = {name: values[:n] for name, values in self.columns.items()}
        return Taken(self.codes[:n], self.pool.code, rows.run.astype(np.int32), rows.rank.astype(np.int32), columns)


def cut(topics: Sequence[Candidates], size: PoolSize) -> Iterator[Taken]:
    """Yield what is taken of each topic.

    Of all topics together the documents of the lowest keys are taken. Of documents with equal keys the first of each
    topic comes before the second of any; topics come in natural order.

    Args:
        topics: the candidates of each topic of a field, in its order.
        size: how many documents to take.
    """
    if size.per is Per.TOPIC:
        sizes = [size.n] * len(topics)
    else:
        topic = np.repeat(np.arange(len(topics)), [len(one) for one in topics])
        n_keys = len(topics[0].keys) if topics else 0
        keys = [np.concatenate([one.keys[i] for one in topics]) for i in range(n_keys)]
        place = np.concatenate([np.zeros(0, dtype=np.int64), *(one.place_among_equals() for one in topics)])
        chosen = np.lexsort([topic, place, *reversed(keys)])[: size.n]
        sizes = np.bincount(topic[chosen], minlength=len(topics)).tolist()
    for one, n in zip(topics, sizes, strict=True):
        yield one.first(n)
