"""PoolFit: how far a pool and the judgments are the same documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import Call
from pt_reuse.data.judgments import Qrels
from pt_reuse.pooling.contributors import Contributors
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.caveats import Caveat

#: a larger share of judgments without a contributor, or of a pool without judgments, is told by a warning
MOSTLY = 0.5
#: up to this share a pool and judgments fit; nobody's record of a pool is cleaner
SLACK = 0.05
#: the label of what was pooled and not judged
SET_ASIDE = -1
_INFER = Call("infer_pool", "runs, qrels")


@dataclass(frozen=True, kw_only=True)
class PoolFit:
    """How far a pool and the judgments are the same documents.

    Attributes:
        depth: the pool's.
        judged: documents with a label of at least 0.
        strangers: how many of them no contributing run has down to the depth.
        pooled: documents of the pool, on the topics that have judgments.
        unjudged: how many of them have no judgment.
        contributors: runs that made the pool.
        assumed: how many of them count only because nobody recorded whether they were pooled.
        set_aside: how many of the unjudged documents the judgments know, with label -1: pooled, and not judged.
    """

    depth: int
    judged: int
    strangers: int
    pooled: int
    unjudged: int
    contributors: int
    assumed: int
    set_aside: int = 0

    @classmethod
    def of(cls, pool: Pool, qrels: Qrels, judged: NDArray[np.bool_], *, depth: int) -> PoolFit:
        """Compare the pool of some runs with judgments.

        Args:
            pool: the pool.
            qrels: the judgments.
            judged: (documents of the pool,) whether each has a label of at least 0.
            depth: the pool's.
        """
        mine, labels = pool.documents, qrels.arrays.labels
        # runs bring topics that nobody judged, which is no fault of the depth
        of_topic = qrels.arrays.documents.counts(labels >= 0)
        known = {topic for topic, n in zip(qrels.topics, of_topic.tolist(), strict=True) if n}
        of_known = [topic in known for topic in mine.topics]
        pooled = int(mine.sizes[of_known].sum())
        chosen = pool.contributors
        found = cls.counted(
            qrels,
            chosen,
            pooled=pooled,
            common=int(judged.sum()),
            set_aside=int(_set_aside(pool, qrels)[np.repeat(of_known, mine.sizes)].sum()),
            depth=depth,
        )
        return replace(found, contributors=len(pool.run_table))

    @classmethod
    def counted(
        cls, qrels: Qrels, contributors: Contributors | None, *, pooled: int, common: int, set_aside: int, depth: int
    ) -> PoolFit:
        """Compare a pool of which documents were counted with judgments.

        Args:
            qrels: the judgments.
            contributors: the runs that made the pool, None where nobody chose them.
            pooled: documents of the pool, on the topics that have judgments.
            common: how many of them have a label of at least 0.
            set_aside: how many of them have label -1.
            depth: the pool's.
        """
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
                (
                    f"{self.in_words()}. If contributing runs are missing here, or the depth or the order is not the "
                    "pool's, uniques are not what they were. If the documents were chosen otherwise, by a classifier "
                    "for instance, they stay whoever is left out. ",
                    _INFER,
                    " says which runs and which depth fit the judgments.",
                ),
            )

    def of_pool(self) -> Iterator[Caveat]:
        """Yield a caveat where most of the pool has no judgment, or more than a little under assumed contributors."""
        without = f"{self.unjudged:,} of the {self.pooled:,} pooled documents ({self.unjudged_share:.0%})"
        if self.unjudged_share > (SLACK if self.assumed else MOSTLY) and self.set_aside > MOSTLY * self.unjudged:
            yield Caveat(
                f"{self.unjudged_share:.0%} of the pool is unjudged, as of a sample",
                (
                    f"{without} have no judgment, {self.set_aside:,} of them on record as pooled and not judged (label "
                    "-1): the judgments are of a sample. Uniques are those among the documents that were judged, a "
                    "part of all. ",
                    "infAP, xinfAP and xinfNDCG estimate from a sample; AP and nDCG take what was not judged for not "
                    "relevant.",
                ),
            )
            return
        if self.assumed and self.unjudged_share > SLACK:
            who = f"{self.assumed:,} of {count(self.contributors, 'contributing run')}"
            yield Caveat(
                f"{who} assumed, {self.unjudged_share:.0%} of the pool unjudged",
                (
                    f"who was pooled is not on record for {who}. They count as contributors, and {without} have no "
                    f"judgment: some were not pooled, or not to depth {self.depth}, and uniques are not what they "
                    "were. ",
                    _INFER,
                    " says which runs must have been; ",
                    Call("runs.with_metadata", "pooled=..."),
                    " keeps it.",
                ),
            )
        elif self.unjudged_share > MOSTLY:
            yield Caveat(
                f"{self.unjudged_share:.0%} of the pool is unjudged",
                (
                    f"{without} have no judgment: nobody judged these runs to depth {self.depth}, and uniques are not "
                    "what they were. ",
                    _INFER,
                    " says which depth fits the judgments.",
                ),
            )


def _set_aside(pool: Pool, qrels: Qrels) -> NDArray[np.bool_]:
    """Return (documents of the pool,): which the judgments know as pooled and not judged."""
    labels = qrels.arrays.labels
    if not (labels == SET_ASIDE).any():
        return np.zeros(len(pool), dtype=bool)
    rows = qrels.arrays.documents.find(pool.documents)
    return (rows >= 0) & (labels[rows] == SET_ASIDE)
