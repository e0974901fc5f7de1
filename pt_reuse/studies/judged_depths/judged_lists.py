"""How far down each list of a field documents are judged: the one place that counts unjudged documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.engine.hits import HitIndex, Hits
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet

#: rows of runs that are looked at at a time
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Owners:
    """Who alone brought a judged document, and would have left it unjudged.

    Attributes:
        of_judgment: (judgments,) the unit, -1 where several or none contributed the document.
        of_run: (runs,) the unit of each run.
    """

    of_judgment: NDArray[np.int64]
    of_run: NDArray[np.int64]


@dataclass(frozen=True)
class JudgedLists:
    """What of each list is judged, with a label of at least 0; a list is what a run returns for a topic.

    Attributes:
        depths: ranks down to which documents are counted.
        lengths: (topics, runs) how many documents each list has.
        documents: (depths, topics, runs) how many of them down to each depth.
        judged: (depths, topics, runs) how many of these are judged.
        own: (depths, topics, runs) how many of these are judged because the run's own unit alone brought them; all 0
            where nobody says who brought what.
        unbroken: (topics, runs) how many documents are judged before the first that is not.
        weight: (topics, runs) what the judged documents weigh, where a list without end has 1: the sum of
            (1 - p) p^(rank - 1).
        own_weight: (topics, runs) what those of `own` weigh among them.
    """

    depths: tuple[int, ...]
    lengths: NDArray[np.int64]
    documents: NDArray[np.int64]
    judged: NDArray[np.int64]
    own: NDArray[np.int64]
    unbroken: NDArray[np.int64]
    weight: NDArray[np.float64]
    own_weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        runs: RunSet,
        qrels: Qrels,
        depths: Sequence[int],
        *,
        p: float = 0.8,
        owners: Owners | None = None,
        verbose: bool = False,
    ) -> JudgedLists:
        """Count on the topics of the judgments.

        Args:
            runs: the field, in its ranking order.
            qrels: the judgments.
            depths: ranks down to which documents are counted.
            p: the persistence of the weights, as of RBP.
            owners: who alone brought each judged document; None where that is not known.
            verbose: show a progress bar.
        """
        index = HitIndex(runs.field, qrels.arrays.documents)
        wanted, starts = qrels.arrays.labels >= 0, qrels.arrays.documents.starts
        shape = (len(qrels.topics), len(runs))
        lengths = np.array([index.lengths(t) for t in index.topics], dtype=np.int64).reshape(shape)
        counts = np.zeros((2, len(depths), *shape), dtype=np.int64)
        unbroken, weights = np.zeros(shape, dtype=np.int64), np.zeros((2, *shape))
        with pt.tqdm(total=shape[0], desc="scoring", unit="topic", disable=not verbose) as bar:
            for topics in _blocks(lengths.sum(axis=1)):
                rows = slice(int(starts[topics.start]), int(starts[topics.stop]))
                hits = index.gather(topics, wanted[rows])
                here = slice(topics.start, topics.stop)
                cut = (len(topics), len(runs))
                mine = np.zeros(len(hits.rank), dtype=bool)
                if owners is not None:
                    owner = owners.of_judgment[rows][hits.row]
                    mine = owner == owners.of_run[hits.of % len(runs)]
                for which, chosen in enumerate((np.ones(len(mine), dtype=bool), mine)):
                    for d, depth in enumerate(depths):
                        counts[which, d, here] = _per_list(hits, chosen & (hits.rank <= depth)).reshape(cut)
                    weighed = np.bincount(
                        hits.of[chosen], (1 - p) * p ** (hits.rank[chosen] - 1.0), minlength=len(hits.lengths)
                    )
                    weights[which, here] = weighed.reshape(cut)
                # ranks ascend, so a document stands as deep as judged ones stand above it only before the first gap
                place = np.arange(len(hits.rank)) - hits.starts[:-1][hits.of]
                unbroken[here] = _per_list(hits, hits.rank == place + 1).reshape(cut)
                bar.update(len(topics))
        documents = np.minimum(lengths, np.array(depths, dtype=np.int64).reshape(-1, 1, 1))
        return cls(
            depths=tuple(depths),
            lengths=lengths,
            documents=documents,
            judged=counts[0],
            own=counts[1],
            unbroken=unbroken,
            weight=weights[0],
            own_weight=weights[1],
        )

    @property
    def residual(self) -> NDArray[np.float64]:
        """Return (topics, runs): what unjudged documents and the unseen rest weigh, the residual of RBP."""
        return np.maximum(1.0 - self.weight, 0.0)

    @property
    def judged_to(self) -> NDArray[np.float64]:
        """Return (topics, runs): the deepest rank above which nothing is unjudged, NaN where a list is empty.

        A list without an unjudged document sets no limit: it counts as deep as the run's longest list.
        """
        longest = np.broadcast_to(self.lengths.max(axis=0, initial=0), self.lengths.shape)
        found = np.where(self.unbroken < self.lengths, self.unbroken, longest).astype(np.float64)
        return np.where(self.lengths > 0, found, np.nan)


def _per_list(hits: Hits, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.bincount(hits.of[chosen], minlength=len(hits.lengths))


def _blocks(rows: NDArray[np.int64]) -> Iterator[range]:
    """Yield neighbouring topics, as many as have not too many rows together, and one at least."""
    first, held = 0, 0
    for t, n in enumerate(rows.tolist()):
        if t > first and held + n > _AT_ONCE:
            yield range(first, t)
            first, held = t, 0
        held += n
    if len(rows):
        yield range(first, len(rows))
