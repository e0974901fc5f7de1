"""InitialPool: what a protocol has judged before a classifier chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pt_reuse.judging.continuous.scorer import digest
from pt_reuse.pooling.pool import Pool


@dataclass(frozen=True)
class InitialPool:
    """The documents that are judged first, topic by topic.

    Attributes:
        name: what the pool is called in the provenance of labels.
        documents: topic -> its documents in the order in which they are judged, and why each is in the pool.
    """

    name: str
    documents: Mapping[str, tuple[tuple[str, str], ...]]

    @classmethod
    def of(cls, pool: Pool, name: str) -> InitialPool:
        """Return the documents of a pool, those of the best rank first, those that no run contributed last."""
        frame = pool.to_frame()[["qid", "docno", "rank"]].sort_values("rank", kind="stable", na_position="last")
        found: dict[str, list[tuple[str, str]]] = {}
        for qid, docno, rank in zip(frame["qid"], frame["docno"], frame["rank"].fillna(0), strict=True):
            found.setdefault(qid, []).append((docno, f"best rank {rank:,}" if rank else "in the pool"))
        return cls(name, {qid: tuple(found.get(qid, ())) for qid in pool.topics})

    @property
    def size(self) -> int:
        """Return how many documents there are."""
        return sum(map(len, self.documents.values()))

    def fingerprint(self) -> str:
        """Return what tells this pool from others."""
        parts = (part for qid, documents in self.documents.items() for part in (qid, [docno for docno, _ in documents]))
        return f"{self.size:,} documents, {digest(*parts)}"
