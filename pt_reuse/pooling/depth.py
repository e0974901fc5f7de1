"""Depth-k pooling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, positive
from pt_reuse._errors import door
from pt_reuse.engine import tokens
from pt_reuse.engine.open_field import AnyField
from pt_reuse.pooling.contributors import Contributors, contributors_of
from pt_reuse.pooling.depths import Depths
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.taking import Taken, piece_of, pool_of_pieces
from pt_reuse.runs.given import as_runs
from pt_reuse.runs.ordering import check_order_or_none
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.topic_cuts import cut_where, parts_of
from pt_reuse.runs.topic_jobs import ArrayWork
from pt_reuse.runs.topic_parts import TOPICS, Arrays, run_topics, topics_array


@door
def depth_pool(
    runs: Any,
    depth: int | None = None,
    *,
    depth_by_run: Mapping[str, int] | None = None,
    depth_by_topic: Mapping[str, int] | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
    n_jobs: int | None = None,
) -> Pool:
    """Pool the top documents of the contributing runs.

    The depth-k pool of a topic is the union of the first k documents of every contributing run, in the order in which
    the field is pooled. A run shorter than k contributes all it has.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        depth: documents per run and topic, >= 1; default the one on record for the collection (``runs.pool_depth``),
            else 100, as in most TREC tracks.
        depth_by_run: run name -> its own depth, on all topics; a run that is not named has `depth`.
        depth_by_topic: topic -> its own depth, of all runs; a topic that is not named has `depth`. Where a run and a
            topic both have one, the smaller counts.
        contributors: ``"pooled"`` (default) for the runs on record as pooled and those of which nobody recorded it,
            ``"all"`` for every run, or run names.
        order: the order in which documents are pooled, one of ``"trec_eval"``, ``"trec_eval9"``, ``"rank"``,
            ``"file"``; default the one in which the field is pooled. Scores are not concerned.
        n_jobs: topics at a time, as joblib takes it; default what ``joblib.parallel_config`` says, else 1. The pool
            does not depend on it.

    Returns:
        Pool: the documents with their contributors and best ranks; its ``run_table`` lists the contributing runs.

    Raises:
        InputError: a depth that is no whole number of at least 1, an unknown run or topic, no contributing run, an
            order that the field does not know.

    Warns:
        ReuseWarning: `depth_by_run` names runs that do not contribute.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, teams={"A": "x", "B": "y"}, pooled=["B"])
        >>> ptr.depth_pool(runs, depth=1).to_frame()
          qid docno  rank  runs  teams  types
        0   1    d2     1     1      1      0
        >>> ptr.depth_pool(runs, depth=1, depth_by_run={"A": 2}, contributors="all")
        Pool: 2 documents, 1 topic, 2 runs (strategy=depth, depth=1, depth_by_run=1 run: 2, contributors=all,
        order=trec_eval)

    Source: Sparck Jones and van Rijsbergen 1975; Harman, TREC overview papers. On TREC-8 ad hoc the depth-100 pool of
    the 71 pooled runs is exactly the 86,830 documents that NIST judged.
    """
    check_pooling(depth, order)
    jobs = checked_jobs(n_jobs)
    runs = as_runs(runs)
    common = depth_of(runs, depth).value
    chosen = contributors_of(runs, contributors)
    depths = Depths.of(runs, common, by_run=depth_by_run, by_topic=depth_by_topic, contributors=chosen)
    return _pool_to(runs.in_pool_order(order), depths, chosen, n_jobs=jobs)


#: to which depth most TREC tracks pooled
USUAL_DEPTH = 100


class DepthFrom(Enum):
    """Who says to which depth runs are pooled."""

    CALL = "the call"
    FIELD = "the field"
    DEFAULT = "the default"


@dataclass(frozen=True)
class PoolDepth:
    """To which depth runs are pooled.

    Attributes:
        value: documents per run and topic.
        origin: who says so.
    """

    value: int
    origin: DepthFrom


def depth_of(runs: RunSet, depth: int | None) -> PoolDepth:
    """Return the user's ``depth=``, else the one that the field knows of itself, else the usual one."""
    if depth is not None:
        return PoolDepth(checked_depth(depth), DepthFrom.CALL)
    if runs.pool_depth is not None:
        return PoolDepth(runs.pool_depth, DepthFrom.FIELD)
    return PoolDepth(USUAL_DEPTH, DepthFrom.DEFAULT)


def check_pooling(depth: Any, order: Any) -> None:
    """Raise, before runs are read, where a user's ``depth=`` or ``order=`` is none; None leaves it to the field."""
    if depth is not None:
        checked_depth(depth)
    check_order_or_none("order", order)


def checked_depth(depth: Any) -> int:
    """Return a user's ``depth=`` as an int, or say that it is no depth of a pool."""
    return positive("depth", depth, "documents per run and topic")


def pool_to_depth(ranked: RunSet, depth: int, contributors: Contributors) -> Pool:
    """Pool the top documents of the contributing runs, in the order in which the field stands."""
    return _pool_to(ranked, Depths(depth), contributors, n_jobs=None)


def _pool_to(ranked: RunSet, depths: Depths, contributors: Contributors, *, n_jobs: int | None) -> Pool:
    work = DepthPooling(ranked.field, ranked.field.topics, depths.on_topics(ranked), contributors.runs)
    pieces = run_topics(work, ranked.field, n_jobs=n_jobs, desc="pooling")
    return pool_of_pieces(
        ranked, pieces, sum(work.n_rows()), strategy="depth", contributors=contributors, settings=depths.in_words()
    )


class DepthPooling(ArrayWork):
    """Taking the top documents, topic by topic.

    Args:
        field: the runs, in the order in which they are pooled.
        topics: the topics, all of them of the field.
        depths: of each topic how many documents of every run, or (runs,) of each run its own number.
        contributors: (runs,) who contributes.
    """

    kind = "pool"

    def __init__(
        self,
        field: AnyField,
        topics: Sequence[str],
        depths: Sequence[int | NDArray[np.int64]],
        contributors: NDArray[np.bool_],
    ):
        self.field, self.topics, self.depths, self.contributors = field, topics, depths, contributors

    def _rows(self, topics: range) -> list[int]:
        return [self.field.topic_row[self.topics[t]] for t in topics]

    def n_rows(self) -> list[int]:
        """Return of each topic how many rows the contributing runs have down to its depth."""
        rows = self._rows(range(len(self.topics)))
        return [
            int(np.minimum(self.field.lengths[row], depth)[self.contributors].sum())
            for row, depth in zip(rows, self.depths, strict=True)
        ]

    def cut(self, at_once: int) -> list[range]:
        """Return neighbouring topics that belong in one job."""
        return cut_where(self.n_rows(), parts_of(self.field, self._rows(range(len(self.topics)))), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return the documents of some neighbouring topics."""
        rows = self._rows(topics)
        return {TOPICS: topics_array(topics), **piece_of(self.field, rows, self.contributors, self._tops(topics, rows))}

    def _tops(self, topics: range, rows: Sequence[int]) -> Iterator[Taken]:
        for t, row in zip(topics, rows, strict=True):
            code, run, rank = self.field.top(row, self.depths[t], self.contributors)
            taken = np.zeros(self.field.n_docs(row), dtype=bool)
            taken[code] = True
            yield Taken(np.flatnonzero(taken), code, run, rank)

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        """Return parts that follow one another as one."""
        width = max(part["words"].shape[1] for part in parts)
        return super().joined([{**part, "words": tokens.widen(part["words"], width)} for part in parts])

    def of_topics(self, topics: range, field: AnyField) -> DepthPooling:
        """Return the same work of some neighbouring topics alone."""
        mine = slice(topics.start, topics.stop)
        return DepthPooling(field, self.topics[mine], self.depths[mine], self.contributors)
