"""What a pooling strategy took of each topic, and the pool it makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.lists import offsets
from pt_reuse.engine.open_field import AnyField
from pt_reuse.engine.tokens import Words
from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.pooling.contributions import Contributions
from pt_reuse.pooling.contributors import Contributors
from pt_reuse.pooling.pool import Pool
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.topic_parts import Arrays


@dataclass(frozen=True)
class Taken:
    """What a strategy took of one topic of a field.

    Attributes:
        codes: (documents,) codes of the documents it took, local to the topic, each once, in its order.
        code: (rows,) which documents runs have; those it did not take do not count.
        run: (rows,) the run of each row, as a row of the field, each once per document; runs that do not contribute do
            not count.
        rank: (rows,) the rank, from 1, at which the run has the document.
        columns: name -> (documents,) what else is known of each document: round, priority, inclusion probability.
            Every topic has the same names.
    """

    codes: NDArray[Any]
    code: NDArray[Any]
    run: NDArray[np.int32]
    rank: NDArray[np.int32]
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def pool_of(
    runs: RunSet, taken: Iterable[Taken], *, strategy: str, contributors: Contributors, settings: Mapping[str, Any]
) -> Pool:
    """Return the pool of what a strategy took.

    Args:
        runs: the field, in the order in which it was pooled.
        taken: what was taken of each topic of the field, in the order of its topics.
        strategy: what it is called.
        contributors: the runs from which it was taken.
        settings: its conventions, for display; strategy, contributors and order are added.

    Returns:
        Pool: the documents in the order in which they were taken, with the contributing runs that have them.
    """
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
    """Return the documents of some topics, with the contributing runs that have them, as arrays.

    Args:
        field: the runs, in the order in which they were pooled.
        topics: rows of the field.
        contributors: (runs,) from which documents were taken.
        taken: what was taken of each of the topics.

    Returns:
        ``size`` (topics,), how many documents each has; ``words`` (documents, k), their names; ``runs`` (documents,),
        how many contributing runs have each; ``run`` and ``rank``, which these are, among them, and at which ranks.
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
    """Return the pool of the documents of all topics, see :func:`pool_of`.

    Args:
        runs: as there.
        pieces: follow one another; each is needed until the next one only.
        n_rows: how many rows the runs have in all pieces together.
        strategy: as there.
        contributors: as there.
        settings: as there.
    """
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
            "contributors": contributors.rule.value,
            **runs.settings,
            **({"pooled": contributors.note} if contributors.note else {}),
        },
    )
