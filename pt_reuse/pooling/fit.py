"""Whether a pool is that of the judgments, and the documents that one unit alone contributed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.ordering import check_in_order, check_order
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import TOPICS, Arrays, ArrayWork, cut_where, parts_of, run_topics, topics_array
from pt_reuse.data.units import Units
from pt_reuse.pooling.pool import Contributors, Pool
from pt_reuse.scoring.caveats import Caveat

#: a larger share of judgments without a contributor, or of a pool without judgments, is told by a warning
MOSTLY = 0.5
#: up to this share a pool and judgments fit; nobody's record of a pool is cleaner
SLACK = 0.05
#: the label of what was pooled and not judged
SET_ASIDE = -1
_INFER = "infer_pool(runs, qrels)"


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

    @classmethod
    def of(cls, pool: Pool, qrels: Qrels, judged: NDArray[np.bool_], *, depth: int) -> PoolFit:
        """Compare a pool with judgments; (documents of the pool,) say which have a label of at least 0."""
        documents, labels = pool.documents, qrels.arrays.labels
        aside = np.zeros(len(documents), dtype=bool)
        if (labels == SET_ASIDE).any():
            rows = qrels.arrays.documents.find(documents)
            aside = (rows >= 0) & (labels[rows] == SET_ASIDE)
        counts = np.column_stack([documents.sizes, documents.counts(judged), documents.counts(aside)])
        found = cls.counted(qrels, pool.contributors, counts[np.isin(pool.topics, _judged_topics(qrels))], depth=depth)
        return replace(found, contributors=len(pool.run_table))

    @classmethod
    def counted(
        cls, qrels: Qrels, contributors: Contributors | None, counts: NDArray[np.integer], *, depth: int
    ) -> PoolFit:
        """Compare with judgments a pool whose documents were counted, (topics, 3) as :class:`PoolUniques` has it."""
        pooled, common, set_aside = counts.sum(axis=0).tolist()
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
        )

    @property
    def stranger_share(self) -> float:
        """Return the share of the judged documents that no contributing run has, 0 where nothing is judged."""
        return self.strangers / max(self.judged, 1)

    @property
    def unjudged_share(self) -> float:
        """Return the share of the pool that has no judgment, 0 where the pool is empty."""
        return self.unjudged / max(self.pooled, 1)

    def in_words(self) -> str:
        """Return how many judged documents have no contributor, as the beginning of a sentence."""
        of = f"{self.strangers:,} of {self.judged:,} judged documents ({self.stranger_share:.0%})"
        return f"{of} are within depth {self.depth} of no contributing run"

    def caveats(self) -> Iterator[Caveat]:
        """Yield what is to be told: judgments that the pool does not explain, a pool that was not judged."""
        yield from self.of_judgments()
        yield from self.of_pool()

    def of_judgments(self) -> Iterator[Caveat]:
        """Yield a caveat where most judgments have no contributor."""
        if self.stranger_share > MOSTLY:
            yield Caveat(
                f"{self.stranger_share:.0%} of the judgments have no contributor",
                f"{self.in_words()}. If contributing runs are missing here, or the depth or the order is not the "
                "pool's, uniques are not what they were. If the documents were chosen otherwise, by a classifier "
                f"for instance, they stay whoever is left out. {_INFER} says which runs and which depth fit the "
                "judgments.",
            )

    def of_pool(self) -> Iterator[Caveat]:
        """Yield a caveat where most of the pool has no judgment, or more than a little under assumed contributors."""
        without = f"{self.unjudged:,} of the {self.pooled:,} pooled documents ({self.unjudged_share:.0%})"
        share = f"{self.unjudged_share:.0%} of the pool"
        not_theirs = "uniques are not what they were. "
        if self.unjudged_share <= (SLACK if self.assumed else MOSTLY):
            return
        if self.set_aside > MOSTLY * self.unjudged:
            yield Caveat(
                f"{share} is unjudged, as of a sample",
                f"{without} have no judgment, {self.set_aside:,} of them on record as pooled and not judged (label "
                "-1): the judgments are of a sample. Uniques are those among the documents that were judged, a "
                "part of all. infAP, xinfAP and xinfNDCG estimate from a sample; AP and nDCG take what was not "
                "judged for not relevant.",
            )
        elif self.assumed:
            who = f"{self.assumed:,} of {count(self.contributors, 'contributing run')}"
            yield Caveat(
                f"{who} assumed, {share} unjudged",
                f"who was pooled is not on record for {who}. They count as contributors, and {without} have no "
                f"judgment: some were not pooled, or not to depth {self.depth}, and {not_theirs}{_INFER} says which "
                "runs must have been; runs.with_metadata(pooled=...) keeps it.",
            )
        else:
            yield Caveat(
                f"{share} is unjudged",
                f"{without} have no judgment: nobody judged these runs to depth {self.depth}, and "
                f"{not_theirs}{_INFER} says which depth fits the judgments.",
            )


def _judged_topics(qrels: Qrels) -> list[str]:
    """Return the topics with judgments: runs bring topics that nobody judged, which is no fault of the depth."""
    n_judged = qrels.arrays.documents.counts(qrels.arrays.labels >= 0)
    return [topic for topic, n in zip(qrels.topics, n_judged.tolist(), strict=True) if n]


@dataclass(frozen=True)
class PoolUniques:
    """What a pool has of the judged documents of some topics."""

    NAMES: ClassVar = ("row", "owner", "counts")

    row: NDArray[np.integer]  # (documents,)
    owner: NDArray[np.integer]  # (documents,) that unit, as a position among the units
    counts: NDArray[np.integer]  # (topics, 3) documents of the pool

    @classmethod
    def of(cls, parts: Iterable[Arrays]) -> PoolUniques:
        found = [tuple(part[name] for name in cls.NAMES) for part in parts]
        nothing = np.zeros(0, dtype=np.int32)
        rows, owners, counts = zip((nothing, nothing, nothing.reshape(0, 3)), *found, strict=True)
        return cls(np.concatenate(rows), np.concatenate(owners), np.concatenate(counts))

    def arrays(self) -> Arrays:
        return {name: getattr(self, name) for name in self.NAMES}

    def taken_out(self, qrels: Qrels, lowest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return unit and row of the judgments that are taken out: the uniques that have at least a label."""
        gone = qrels.arrays.labels[self.row] >= lowest
        return self.owner[gone], self.row[gone]

    def fit(self, qrels: Qrels, contributors: Contributors, *, depth: int) -> PoolFit:
        """Return how far the pool and the judgments are the same documents; for the counts of all topics."""
        known = np.isin(qrels.topics, _judged_topics(qrels))
        return PoolFit.counted(qrels, contributors, self.counts[known], depth=depth)


@dataclass(frozen=True, eq=False)
class Pooling:
    """How the runs of a field were pooled."""

    scored: str  # the order in which the field stands
    order: str  # the order in which the runs were pooled
    depth: int  # documents per run and topic
    contributors: NDArray[np.bool_]  # (runs,) who contributed
    of_run: NDArray[np.int64]  # (runs,) the unit of each run

    @classmethod
    def of(
        cls, runs: RunSet, contributors: Contributors, units: Units, *, depth: int, pool_order: str | None
    ) -> Pooling:
        """Return how the runs of a field, in the order of the scores, were pooled; `units` are those of all runs."""
        order = (runs.pool_order or runs.order) if pool_order is None else pool_order
        check_order("pool_order", order)
        check_in_order(runs.field, runs.names, runs.order, order)
        return cls(runs.order, order, depth, contributors.runs, units.of_run)

    def uniques(self, index: HitIndex, topics: range, labels: NDArray[np.int16]) -> PoolUniques:
        """Return what the pool has of the judged documents of neighbouring topics."""
        starts = index.documents.starts
        first, stop = starts[[topics.start, topics.stop]].tolist()
        mine = np.append(labels[first:stop], UNJUDGED)
        rows, owners = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        counts = np.zeros((len(topics), 3), dtype=np.int64)
        for i, row_of_code in enumerate(index.rows_of_codes(topics)):
            if row_of_code is None:
                continue
            pooled, sole = self._pooled(index.field, index.field_topic[topics[i]])
            row = row_of_code.take(pooled)
            label = mine[row]
            judged = label >= 0
            counts[i] = len(pooled), judged.sum(), (label == SET_ASIDE).sum()
            unique = judged & (sole >= 0)
            rows.append(row[unique].astype(np.int64) + first)
            owners.append(sole[unique])
        return PoolUniques(np.concatenate(rows), np.concatenate(owners), counts)

    def _pooled(self, whole: AnyField, topic: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # the codes of the pooled documents of a topic, and of each the one unit that has it, -1 where several have
        field, at = whole.of(topic)
        if self.order != self.scored:
            field, at = field.take_topics([at]).in_order(self.scored, self.order), 0
        code, run, _ = field.top(at, self.depth, self.contributors)
        unit = self.of_run[run]
        one = np.full(field.n_docs(at), -1, dtype=np.int64)
        one[code] = unit
        pooled = np.flatnonzero(one >= 0)
        one[code[one[code] != unit]] = -1
        return pooled, one[pooled]


class UniquesWork(ArrayWork):
    """Finding the uniques of a pool, topic by topic of the judgments; the field is in the order of the scores."""

    def __init__(self, field: AnyField, qrels: Qrels, pooling: Pooling):
        self.field, self.qrels, self.pooling = field, qrels, pooling
        self.topics = qrels.arrays.documents.topics
        self.index = HitIndex(field, qrels.arrays.documents)

    def cut(self, at_once: int) -> list[range]:
        at = self.index.field_topic
        rows = np.append(self.field.lengths.sum(axis=1), 0)[at]
        return cut_where(rows.tolist(), parts_of(self.field, at), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        found = self.pooling.uniques(self.index, topics, self.qrels.arrays.labels)
        return {TOPICS: topics_array(topics), **found.arrays()}

    def rows_before(self, t: int) -> int:
        return int(self.qrels.arrays.documents.starts[t])

    def of_topics(self, topics: range, field: AnyField) -> UniquesWork:
        # of judgments no more than documents and labels matter here
        mine = replace(self.qrels.arrays, extra=None).of_topics(topics)
        return UniquesWork(field, Qrels.of_arrays(mine), self.pooling)


def find_uniques(
    runs: RunSet, qrels: Qrels, pooling: Pooling, *, n_jobs: int | None = None, verbose: bool = False
) -> PoolUniques:
    """Return the judged documents that one unit alone contributed."""
    work = UniquesWork(runs.field, qrels, pooling)
    return PoolUniques.of(run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="pooling"))
