"""Whether a pool is that of the judgments, what one unit alone contributed to it, and what of runs is not judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.field import AnyField
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.lists import TopicDocs
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.coding import check_in_order, check_order
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.metadata import pool_depth_of
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import TOPICS, Arrays, ArrayWork, cut_where, parts_of, run_topics, topics_array
from pt_reuse.data.units import Units
from pt_reuse.errors import count
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import Contributors, Pool, contributors_of
from pt_reuse.scoring.caveats import Caveat

#: a larger share of judgments without a contributor, or of a pool without judgments, is told by a warning
MOSTLY = 0.5
#: up to this share a pool and judgments fit; nobody's record of a pool is cleaner
SLACK = 0.05
#: the label of what was pooled and not judged
SET_ASIDE = -1
_INFER = "infer_pool(runs, qrels)"
_Work = TypeVar("_Work", bound="JudgedTopics")


@dataclass(frozen=True, kw_only=True)
class PoolFit:
    """How far a pool and the judgments are the same documents."""

    depth: int  # the pool's
    judged: int  # documents with a label of at least 0
    strangers: int  # how many of them no contributing run has down to the depth
    pooled: int  # documents of the pool, on the topics that have judgments
    unjudged: int  # how many of them have no judgment
    contributors: int  # runs that made the pool
    assumed: int  # how many of them count only because nobody recorded whether they were pooled
    set_aside: int = 0  # how many of the unjudged documents the judgments know, with label -1: pooled, and not judged
    on_record: tuple[str, int] | None = None  # the collection whose judgments these are, and the depth of its pool

    @classmethod
    def of(cls, pool: Pool, qrels: Qrels, *, depth: int) -> PoolFit:
        """Compare a pool with judgments."""
        documents, labels = pool.documents, qrels.arrays.labels_of(pool.documents)
        counts = [documents.sizes, documents.counts(labels >= 0), documents.counts(labels == SET_ASIDE)]
        return cls.counted(qrels, pool.topics, pool.contributors, np.column_stack(counts), depth=depth)

    @classmethod
    def counted(
        cls,
        qrels: Qrels,
        topics: Sequence[str],
        contributors: Contributors | None,
        counts: NDArray[np.integer],
        *,
        depth: int,
    ) -> PoolFit:
        """Compare with judgments a pool of which (topics, 3) documents, judged and set aside ones, are counted."""
        # runs bring topics that nobody judged, which is no fault of the depth
        n_judged = qrels.arrays.documents.counts(qrels.arrays.labels >= 0)
        judged_topics = [topic for topic, n in zip(qrels.topics, n_judged.tolist(), strict=True) if n]
        pooled, common, set_aside = counts[np.isin(topics, judged_topics)].sum(axis=0).tolist()
        judged = int((qrels.arrays.labels >= 0).sum())
        return cls(
            depth=depth,
            judged=judged,
            strangers=judged - common,
            pooled=pooled,
            unjudged=pooled - common,
            contributors=0 if contributors is None else len(contributors),
            assumed=0 if contributors is None else len(contributors.assumed),
            set_aside=set_aside,
            on_record=pool_depth_of(len(qrels.topics), qrels.arrays.labels),
        )

    @property
    def stranger_share(self) -> float:
        """Return the share of the judged documents that no contributing run has, 0 where nothing is judged."""
        return self.strangers / max(self.judged, 1)

    def caveats(self) -> Iterator[Caveat]:
        """Yield what is to be told: judgments that the pool does not explain, a pool that was not judged."""
        if self.stranger_share > MOSTLY:
            yield Caveat(
                f"{self.stranger_share:.0%} of the judgments have no contributor",
                f"{self.strangers:,} of {self.judged:,} judged documents ({self.stranger_share:.0%}) are within depth "
                f"{self.depth} of no contributing run: runs are missing here, the depth or the order is another, or "
                f"they were chosen otherwise; uniques may be others. {_INFER} says which runs and which depth fit the "
                "judgments.",
            )
        yield from self.of_pool()

    def of_pool(self) -> Iterator[Caveat]:
        """Yield a caveat where most of the pool has no judgment, or more than a little under assumed contributors."""
        unjudged = self.unjudged / max(self.pooled, 1)
        if unjudged <= (SLACK if self.assumed else MOSTLY):
            return
        without = f"{self.unjudged:,} of the {self.pooled:,} pooled documents ({unjudged:.0%})"
        share, known = f"{unjudged:.0%} of the pool", depth_on_record(self.on_record, self.depth)
        if self.set_aside > MOSTLY * self.unjudged:
            yield Caveat(
                f"{share} is unjudged, as of a sample",
                f"{without} have no judgment, {self.set_aside:,} of them on record as pooled and not judged (label "
                "-1): the judgments, and the uniques found here, are of a sample. infAP, xinfAP and xinfNDCG estimate "
                "from a sample.",
            )
        elif self.assumed:
            who = f"{self.assumed:,} of {count(self.contributors, 'contributing run')}"
            yield Caveat(
                f"{who} assumed, {share} unjudged",
                f"who was pooled is not on record for {who}, which count, and {without} have no judgment: some were "
                f"not pooled, or not to depth {self.depth}. {_INFER} says which runs must have been.{known}",
            )
        else:
            yield Caveat(
                f"{share} is unjudged",
                f"{without} have no judgment: nobody judged these runs to depth {self.depth}. {_INFER} says which "
                f"depth fits the judgments.{known}",
            )


def depth_on_record(on_record: tuple[str, int] | None, depth: int) -> str:
    """Return in words which depth the pool of the judgments' collection has, nothing where it is the one at hand."""
    if on_record is None or on_record[1] == depth:
        return ""
    return f" These are the judgments of reuse:{on_record[0]}, whose pool has depth={on_record[1]}."


class JudgedTopics(ArrayWork):
    """Work topic by topic of the judgments, of which it takes documents and labels alone."""

    #: numbers that a row of a run takes while it is looked at
    of_a_row = 1

    def __init__(self, field: AnyField, qrels: Qrels):
        self.field, self.qrels, self.topics = field, qrels, qrels.arrays.documents.topics
        self.index = HitIndex(field, qrels.arrays.documents)

    def cut(self, at_once: int) -> list[range]:
        at = self.index.field_topic
        rows = self.of_a_row * np.append(self.field.lengths.sum(axis=1), 0)[at]
        return cut_where(rows.tolist(), parts_of(self.field, at), at_once)

    def rows_before(self, t: int) -> int:
        return int(self.qrels.arrays.documents.starts[t])

    def of_topics(self: _Work, topics: range, field: AnyField) -> _Work:
        mine = copy(self)
        qrels = Qrels.of_arrays(replace(self.qrels.arrays, extra=None).of_topics(topics))
        JudgedTopics.__init__(mine, field, qrels)
        return mine


class UniquesWork(JudgedTopics):
    """Finding what one unit alone contributed; (runs,) units, -1 of those that did not, and two orders of the field."""

    def __init__(self, field: AnyField, qrels: Qrels, unit: NDArray[np.int64], depth: int, scored: str, pooled: str):
        super().__init__(field, qrels)
        self.unit, self.depth, self.scored, self.pooled = unit, depth, scored, pooled

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return rows of the judgments, their units, and (topics, 3) counts: documents, judged ones, set aside ones."""
        first = self.rows_before(topics.start)
        labels = np.append(self.qrels.arrays.labels[first : self.rows_before(topics.stop)], UNJUDGED)
        rows, owners = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        counts = np.zeros((len(topics), 3), dtype=np.int64)
        for i, row_of_code in enumerate(self.index.rows_of_codes(topics)):
            if row_of_code is None:
                continue
            field, at = self.field.of(self.index.field_topic[topics[i]])
            if self.pooled != self.scored:
                field, at = field.take_topics([at]).in_order(self.scored, self.pooled), 0
            top, run, _ = field.top_rows(at, self.depth, self.unit >= 0)
            code = field.codes[top]
            # the one unit that has each document, -1 for several
            unit, sole = self.unit[run], np.full(field.n_docs(at), -1, dtype=np.int64)
            sole[code] = unit
            pooled = np.flatnonzero(sole >= 0)
            sole[code[sole[code] != unit]] = -1
            row = row_of_code.take(pooled)
            label = labels[row]
            counts[i] = len(pooled), (label >= 0).sum(), (label == SET_ASIDE).sum()
            unique = (label >= 0) & (sole[pooled] >= 0)
            rows.append(row[unique].astype(np.int64) + first)
            owners.append(sole[pooled][unique])
        found = {"row": np.concatenate(rows), "owner": np.concatenate(owners), "counts": counts}
        return {TOPICS: topics_array(topics), **found}


@dataclass(frozen=True)
class PoolUniques:
    """The judged documents that one unit alone contributed, and how far the pool fits the judgments."""

    row: NDArray[np.int64]  # (uniques,) of the judgments
    owner: NDArray[np.int64]  # (uniques,) the unit, as a position
    label: NDArray[np.int16]  # (uniques,)
    fit: PoolFit

    def of_label(self, lowest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return unit and row of those with at least a label."""
        some = self.label >= lowest
        return self.owner[some], self.row[some]


def find_uniques(
    runs: RunSet,
    qrels: Qrels,
    units: Units,
    contributors: Contributors,
    *,
    depth: int,
    pool_order: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PoolUniques:
    """Return the judged documents that one unit alone contributed; the field stands in the order of the scores."""
    order = (runs.pool_order or runs.order) if pool_order is None else pool_order
    check_order("pool_order", order)
    check_in_order(runs.field, runs.names, runs.order, order)
    unit = np.where(contributors.runs, units.of_run, -1)
    work = UniquesWork(runs.field, qrels, unit, depth, runs.order, order)
    nothing = np.zeros(0, dtype=np.int64)
    parts: list[Arrays] = [{"row": nothing, "owner": nothing, "counts": nothing.reshape(0, 3)}]
    parts += run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="pooling")
    row, owner, counts = (np.concatenate([part[name] for part in parts]) for name in ("row", "owner", "counts"))
    fit = PoolFit.counted(qrels, qrels.topics, contributors, counts, depth=depth)
    return PoolUniques(row, owner, qrels.arrays.labels[row], fit)


def ranks_of_documents(
    ranked: RunSet, documents: TopicDocs, contributors: Contributors, depth: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return of (documents,) the best rank in contributing runs, 0 for none, and how many have each, topic by topic.

    The last of the three is (depth + 1,): how many documents of the runs, of topics with any, have which best rank.
    """
    index = HitIndex(ranked.field, documents)
    found, of_runs = np.zeros((2, len(documents)), dtype=np.int64), np.zeros(depth + 1, dtype=np.int64)
    for t, row in zip(index.topics, index.rows_of_codes(index.topics), strict=True):
        if row is None or not documents.sizes[t]:
            continue
        block, here = ranked.field.of(index.field_topic[t])
        top, _, at = block.top_rows(here, depth, contributors.runs)
        code, best = block.codes[top], np.full(len(row), depth + 1)
        np.minimum.at(best, code, at)
        n_runs = np.bincount(code, minlength=len(row))
        of_runs += np.bincount(best[n_runs > 0], minlength=depth + 1)
        known = np.flatnonzero((n_runs > 0) & (row >= 0))
        found[:, row[known]] = best[known], n_runs[known]
    return found[0], found[1], of_runs


def pool_on_topics(ranked: RunSet, depth: int, contributors: Contributors, topics: Iterable[str]) -> Pool:
    """Return the depth-k pool on topics, those of judgments: runs bring others that nobody chose to judge."""
    pool, wanted = pool_to_depth(ranked, depth, contributors), set(topics)
    known = np.array([topic in wanted for topic in pool.topics], dtype=bool)
    return pool.take(np.flatnonzero(known[pool.documents.topic]))


def unjudged_tops(runs: RunSet, qrels: Qrels, depth: int) -> Pool:
    """Return what any run has down to a depth, on the topics of the judgments, and nobody judged."""
    return pool_on_topics(runs, depth, contributors_of(runs, "all"), qrels.topics).remainder(qrels)


def with_unjudged(qrels: Qrels, further: Pool) -> Qrels:
    """Return judgments in which further documents, on topics of the judgments, stand as unjudged."""
    if not len(further):
        return qrels
    base = qrels.union(Qrels(further.to_frame()[["qid", "docno"]].assign(label=SET_ASIDE)))
    added = qrels.arrays.documents.find(base.arrays.documents) < 0
    labels = np.where(added, UNJUDGED, base.arrays.labels).astype(np.int16)
    return Qrels.of_arrays(base.arrays.labelled(labels), qrels.stated_rel)
