"""The cliff that gives a depth away: what is judged at the depth, and one rank below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pt_reuse.studies.pool_inference.fitting import Fit
from pt_reuse.studies.pool_inference.judged_ranks import JudgedRanks

#: the largest share of the new documents one rank below a depth that is judged where the depth is that of a pool
MOST_BELOW = 0.5
#: by how much that share falls at least, where other topics are set apart
_FALL = 1 / 3


@dataclass(frozen=True)
class Cliff:
    """Shares that are judged, of the documents that the runs judged as deep have at a rank; NaN where there is none.

    Attributes:
        at_depth: of their documents at the depth of each topic.
        below: of those one rank below.
        new_at_depth: of those at the depth that no such run has at a better rank.
        new_below: the same one rank below.
    """

    at_depth: float
    below: float
    new_at_depth: float
    new_below: float

    @classmethod
    def of(cls, ranks: JudgedRanks, fit: Fit) -> Cliff:
        """Count over the topics that have a depth."""
        # (at the depth, below) x (all, new) x (documents, judged)
        counts = np.zeros((2, 2, 2), dtype=np.int64)
        for topic, depth in zip(ranks.each(), fit.depths.tolist(), strict=True):
            if topic is None or depth == 0:
                continue
            best = topic.best(fit.runs, depth + 1)
            for edge, rank in enumerate((depth, depth + 1)):
                docs = topic.docs[fit.runs, rank - 1 : rank]
                docs = docs[docs >= 0]
                new = best == rank
                counts[edge] += [
                    [len(docs), int(topic.judged[docs].sum())],
                    [int(new.sum()), int((new & topic.judged).sum())],
                ]
        shares = [judged / documents if documents else np.nan for documents, judged in counts.reshape(4, 2).tolist()]
        return cls(shares[0], shares[2], shares[1], shares[3])

    @property
    def is_there(self) -> bool:
        """Return whether the judged documents end at the depth; where nothing is new below it, they do."""
        return not self.new_below > MOST_BELOW

    @property
    def is_sharp(self) -> bool:
        """Return whether the judged share of the new documents falls at the depth; where nothing is below it, it does.

        Where other runs were pooled as well, much is judged below the depth of a pool. Where topics resemble a pool by
        accident, as much is judged below it as above.
        """
        return not self.new_at_depth - self.new_below < _FALL
