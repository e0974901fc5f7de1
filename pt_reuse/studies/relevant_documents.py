"""The relevant documents of some judgments, and where the runs of a field have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.pool import Contributors
from pt_reuse.scoring.caveats import Caveat


@dataclass(frozen=True)
class RelevantDocuments:
    """The relevant documents, in the order of the judgments."""

    qids: NDArray[np.object_]  # (documents,) of each
    docnos: NDArray[np.object_]  # (documents,) of each
    labels: NDArray[np.int64]  # (documents,) of each
    rank: NDArray[np.int64]  # (documents,) the best rank, from 1, 0 where no run has the document down to the depth
    runs: NDArray[np.int64]  # (documents,) how many runs have it there

    @classmethod
    def of(cls, ranked: RunSet, qrels: Qrels, lowest: int, contributors: Contributors, depth: int) -> RelevantDocuments:
        """Find the relevant documents in runs."""
        relevant = np.flatnonzero(qrels.arrays.labels >= lowest)
        documents = qrels.arrays.documents.take(relevant)
        index = HitIndex(ranked.field, documents)
        best = np.full(len(documents), np.iinfo(np.int64).max)
        runs = np.zeros(len(documents), dtype=np.int64)
        for t in index.topics:
            hits = index.gather(range(t, t + 1)).top(depth)
            chosen = contributors.runs[hits.of % hits.n_runs]
            rows = hits.row[chosen] + int(documents.starts[t])
            np.minimum.at(best, rows, hits.rank[chosen])
            np.add.at(runs, rows, 1)
        return cls(
            documents.qids(),
            documents.docnos(),
            qrels.arrays.labels[relevant].astype(np.int64),
            np.where(runs > 0, best, 0),
            runs,
        )


def found_none(qrels: Qrels, lowest: int) -> Iterator[Caveat]:
    """Yield a caveat where no document is relevant, so that there is nothing to find."""
    labels = qrels.arrays.labels
    if (labels >= lowest).any():
        return
    largest = f"the largest is {int(labels.max())}" if len(labels) else "there is none"
    yield Caveat(
        f"no judgment is relevant from label {lowest}",
        f"no judgment has a label of at least {lowest}, {largest}. So no document is relevant, and there is nothing "
        "to find. rel= is the lowest label that is relevant.",
    )
