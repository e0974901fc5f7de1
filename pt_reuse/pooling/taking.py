"""What a pooling strategy takes of each topic, in its order, and the pool that this makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.fusion import TopicRows
from pt_reuse.arrays.lists import offsets
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.tokens import Words
from pt_reuse.arrays.topic_docs import TopicDocs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import Arrays
from pt_reuse.pooling.contributors import Contributions, Contributors
from pt_reuse.pooling.pool import Pool


@dataclass(frozen=True)
class Taken:
    """What a strategy took of one topic of a field."""

    codes: NDArray[Any]  # (documents,) codes of the documents it took, local to the topic, each once, in its order
    code: NDArray[Any]  # (rows,) which documents runs have; those it did not take do not count
    run: NDArray[np.int32]  # (rows,) the run of each row, as a row of the field, each once per document
    rank: NDArray[np.int32]  # (rows,) the rank, from 1, at which the run has the document
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def pool_of(
    runs: RunSet, taken: Iterable[Taken], *, strategy: str, contributors: Contributors, settings: Mapping[str, Any]
) -> Pool:
    """Return the pool of what a strategy took, its documents in that order, with the contributing runs."""
    columns: dict[str, list[NDArray[Any]]] = {}

    def noted() -> Iterator[Taken]:
        for topic in taken:
            for name, values in topic.columns.items():
                columns.setdefault(name, []).append(values)
            yield topic

    piece = piece_of(runs.field, range(runs.field.n_topics), contributors.runs, noted())
    n_rows = len(piece["run"])
    pool = pool_of_pieces(runs, [piece], n_rows, strategy=strategy, contributors=contributors, settings=settings)
    if columns:
        pool.columns = pd.DataFrame({name: np.concatenate(parts) for name, parts in columns.items()})
    return pool


def piece_of(field: AnyField, topics: Sequence[int], contributors: NDArray[np.bool_], taken: Iterable[Taken]) -> Arrays:
    """Return the documents of some topics, rows of the field, with the contributing (runs,) that have them, as arrays.

    ``size`` (topics,), how many documents each has; ``words`` (documents, k), their names; ``runs`` (documents,), how
    many contributing runs have each; ``run`` and ``rank``, which these are, among them, and at which ranks.
    """
    place = np.zeros(field.n_runs, dtype=np.int32)
    place[contributors] = np.arange(int(contributors.sum()))
    nothing = np.zeros(0, dtype=np.int32)
    words: list[Words] = [np.zeros((0, 1), dtype="<u8")]
    sizes: list[NDArray[Any]] = [nothing]
    run: list[NDArray[np.int32]] = [nothing]
    rank: list[NDArray[np.int32]] = [nothing]
    for t, topic in zip(topics, taken, strict=True):
        n_docs = field.n_docs(t)
        # numpy sorts numbers of 16 bits several times as fast
        at = np.zeros(n_docs, dtype=np.uint16 if n_docs < 2**16 - 1 else np.uint32)
        at[topic.codes] = np.arange(1, len(topic.codes) + 1)
        at_row = at[topic.code] * contributors[topic.run]  # 0 is no document of the pool
        of_place = np.bincount(at_row, minlength=len(topic.codes) + 1)
        order = np.argsort(at_row, kind="stable")[of_place[0] :]
        words.append(field.words_at(t).take(topic.codes, axis=0))
        sizes.append(of_place[1:])
        run.append(place[topic.run[order]])
        rank.append(topic.rank[order])
    return {
        "size": np.array([len(part) for part in words[1:]], dtype=np.int64),
        "words": tokens.stacked(words),
        "runs": np.concatenate(sizes).astype(np.int64),
        "run": np.concatenate(run),
        "rank": np.concatenate(rank),
    }


def pool_of_pieces(
    runs: RunSet,
    pieces: Iterable[Arrays],
    n_rows: int,
    *,
    strategy: str,
    contributors: Contributors,
    settings: Mapping[str, Any],
) -> Pool:
    """Return the pool of the documents of all topics, see :func:`pool_of`."""
    run = np.empty(n_rows, dtype=np.min_scalar_type(max(int(contributors.runs.sum()) - 1, 0)))
    rank = np.empty(n_rows, dtype=np.min_scalar_type(int(runs.field.lengths.max(initial=0))))
    words: list[Words] = [np.zeros((0, 1), dtype="<u8")]
    size: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    n_runs, end = list(size), 0
    for piece in pieces:
        rows = slice(end, end := end + len(piece["run"]))
        run[rows], rank[rows] = piece["run"], piece["rank"]
        words.append(piece["words"])
        size.append(piece["size"])
        n_runs.append(piece["runs"])
        # before the next one takes memory
        del piece
    shared = {"contributors": contributors.rule.value, **runs.settings}
    return Pool(
        TopicDocs(runs.field.topics, offsets(np.concatenate(size)), tokens.stacked(words)),
        Contributions(offsets(np.concatenate(n_runs)), run, rank),
        run_table=runs.run_table.iloc[np.flatnonzero(contributors.runs)],
        contributors=contributors,
        order=runs.order,
        strategy=strategy,
        settings={
            "strategy": strategy,
            **settings,
            **shared,
            **({"pooled": contributors.note} if contributors.note else {}),
        },
    )


@dataclass(frozen=True)
class Pooled:
    """The depth-k pool of one topic."""

    docs: NDArray[np.int64]  # (documents,) codes local to the topic, each once, ascending
    best_rank: NDArray[np.int64]  # (documents,) of each, over the runs
    code: NDArray[Any]  # (rows,) the document that a run has, as a code
    rows: TopicRows  # the same rows with documents numbered as in `docs`, and scores

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
        """Return (documents,) the positions in `docs`, in order: the one place that says how ties are broken."""
        words = coded.words_at(t).take(self.docs, axis=0)
        by_name: list[NDArray[Any]] = list(tokens.descending(words))
        return np.lexsort([*by_name, *reversed(keys)])

    def taken(self, codes: NDArray[np.int64], columns: Mapping[str, NDArray[Any]]) -> Taken:
        """Return some documents of the topic as what was taken of it."""
        return Taken(codes, self.code, self.rows.run.astype(np.int32), self.rows.rank.astype(np.int32), columns)


@dataclass(frozen=True)
class Candidates:
    """The documents of one topic, the one to take first first; keys and columns are (documents,) each."""

    codes: NDArray[np.int64]
    keys: Sequence[NDArray[Any]]
    pool: Pooled
    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def ordered(
        cls, coded: AnyField, t: int, pool: Pooled, keys: Sequence[NDArray[Any]], **columns: NDArray[Any]
    ) -> Candidates:
        """Return the pool of topic `t` in the order of some keys; keys and columns are those of ``pool.docs``."""
        order = pool.in_order(coded, t, keys)
        ordered = {name: values[order] for name, values in columns.items()}
        return cls(pool.docs[order], [key[order] for key in keys], pool, ordered)

    def place_among_equals(self) -> NDArray[np.int64]:
        """Return (documents,): how many documents of the same keys come before each."""
        here = np.arange(len(self.codes))
        new = np.ones(len(here), dtype=bool)
        new[1:] = np.any([key[1:] != key[:-1] for key in self.keys], axis=0)
        return here - np.maximum.accumulate(np.where(new, here, 0))


def cut(topics: Sequence[Candidates], n: int, per: str) -> Iterator[Taken]:
    """Yield what is taken of each topic, `n` documents of each ``"topic"`` or of ``"all"``."""
    sizes = [n] * len(topics)
    if per == "all" and topics:
        topic = np.repeat(np.arange(len(topics)), [len(one.codes) for one in topics])
        keys = [np.concatenate(of_topics) for of_topics in zip(*(one.keys for one in topics), strict=True)]
        place = np.concatenate([one.place_among_equals() for one in topics])
        chosen = np.lexsort([topic, place, *reversed(keys)])[:n]
        sizes = np.bincount(topic[chosen], minlength=len(topics)).tolist()
    for one, size in zip(topics, sizes, strict=True):
        yield one.pool.taken(one.codes[:size], {name: values[:size] for name, values in one.columns.items()})
