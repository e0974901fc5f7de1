"""How many documents the pool of each depth has, and how many of them are judged and relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.contributors import Contributors
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import Pool


@dataclass(frozen=True)
class PoolSizes:
    """The sizes of the pools of a field at every depth, on the topics of some judgments.

    Attributes:
        rank: (judgments,) the best rank of each judged document over the contributors, 0 where none has it.
        pooled: (depths,) documents of the pool of depth 1, 2 and so on.
        judged: (depths,) how many of these are judged.
        relevant: (depths,) how many are relevant.
        n_relevant: how many are relevant in all.
        n_topics: topics with judgments.
    """

    rank: NDArray[np.int64]
    pooled: NDArray[np.int64]
    judged: NDArray[np.int64]
    relevant: NDArray[np.int64]
    n_relevant: int
    n_topics: int

    @classmethod
    def of(cls, ranked: RunSet, qrels: Qrels, contributors: Contributors, lowest: int) -> PoolSizes:
        """Count the documents of a field."""
        field, labels = ranked.field, qrels.arrays.labels
        index = HitIndex(field, qrels.arrays.documents)
        longest = max(int(field.lengths[:, contributors.runs].max(initial=1)), 1)
        rank, pooled = np.zeros(len(labels), dtype=np.int64), np.zeros(longest + 1, dtype=np.int64)
        starts = qrels.arrays.documents.starts.tolist()
        for t, rows in zip(index.topics, index.rows_of_codes(index.topics), strict=True):
            if rows is None:
                continue
            code, _, at = field.top(index.field_topic[t], longest, contributors.runs)
            best = np.full(len(rows), longest + 1)
            np.minimum.at(best, code, at)
            found = best <= longest
            # a topic that nobody judged is no part of what pools cost
            if starts[t + 1] > starts[t]:
                pooled += np.bincount(best[found], minlength=longest + 1)
            known = found & (rows >= 0)
            rank[rows[known]] = best[known]
        relevant = labels >= lowest
        of_judged, of_relevant = (
            np.bincount(rank[kept & (rank > 0)], minlength=longest + 1) for kept in (labels >= 0, relevant)
        )
        return cls(
            rank,
            np.cumsum(pooled)[1:],
            np.cumsum(of_judged)[1:],
            np.cumsum(of_relevant)[1:],
            int(relevant.sum()),
            int((np.diff(starts) > 0).sum()),
        )

    def table(self, depths: Sequence[int]) -> pd.DataFrame:
        """Return one row per depth; see ``PoolCosts``."""
        # runs that end before a depth bring all they have
        at = np.minimum(depths, len(self.pooled)) - 1
        documents, judged, relevant = self.pooled[at], self.judged[at], self.relevant[at]
        new, new_relevant = np.diff(documents, prepend=0), np.diff(relevant, prepend=0)
        return pd.DataFrame(
            {
                "depth": depths,
                "documents": documents,
                "per_topic": documents / max(self.n_topics, 1),
                "judged": judged,
                "unjudged": documents - judged,
                "relevant": relevant,
                "share": relevant / self.n_relevant if self.n_relevant else np.nan,
                "new_documents": new,
                "new_relevant": new_relevant,
                "cost": np.divide(new, new_relevant, out=np.full(len(new), np.nan), where=new_relevant > 0),
            }
        )

    def needed(self, shares: Sequence[float]) -> pd.DataFrame:
        """Return for each share of the relevant documents the smallest depth whose pool has it, and its size."""
        wanted = np.ceil(np.round(np.array(shares) * self.n_relevant, 9)).astype(np.int64)
        at = np.searchsorted(self.relevant, wanted)
        missing = (at >= len(self.relevant)) | (wanted == 0)
        at = np.where(missing, 0, at)
        columns = {"depth": at + 1, "documents": self.pooled[at]}
        numbers = {name: pd.Series(values, dtype="Int64").mask(missing) for name, values in columns.items()}
        return pd.DataFrame({"share": list(shares), "relevant": wanted, **numbers})


def pool_on_topics(ranked: RunSet, depth: int, contributors: Contributors, qrels: Qrels) -> Pool:
    """Return the depth-k pool on the topics of the judgments: runs bring topics that nobody chose to judge."""
    pool, topics = pool_to_depth(ranked, depth, contributors), set(qrels.topics)
    known = np.array([topic in topics for topic in pool.documents.topics], dtype=bool)
    return pool.take(np.flatnonzero(known[pool.documents.topic]))
