"""FusedOrder: judge first what the fused runs rank highest, by one of the ways to fuse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.fusion import Fusion
from pt_reuse.pooling.adaptive.fixed import FixedOrder
from pt_reuse.pooling.adaptive.lists import TopicLists


class FusedOrder(FixedOrder):
    """Judges documents by their fused score; those of equal score by best rank, then by name, descending.

    The lists are those of the topic, down to the pool's depth. Scores have 12 digits, so sums that differ by rounding
    alone are equal. What each method computes is said in :mod:`pt_reuse.engine.fusion`.

    Args:
        topic: the lists of the runs.
        random: not used.
        fusion: how to fuse.
    """

    def __init__(self, topic: TopicLists, random: np.random.Generator, fusion: Fusion):
        self._scores = fusion.scores(topic.rows)
        super().__init__(topic, random)

    def order(self) -> NDArray[np.int64]:
        """Return the documents by their scores."""
        return np.argsort(-self._scores, kind="stable")

    def reason(self, document: int) -> str:
        """Return the document's score and place."""
        return f"fused score {self._scores[document]:.4g}, {super().reason(document)}"


class ReciprocalRanks(FusedOrder):
    """Fuse by the sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009).

    Args:
        topic: the lists of the runs.
        random: not used.
        k: at least 0.
    """

    name = "rrf"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, k: float = 60):
        super().__init__(topic, random, Fusion.of("rrf", k=k))


class RankBiased(FusedOrder):
    """Fuse by the sum of (1 - p) p^(rank - 1) (Moffat and Zobel's RBP weights; Bailey et al. 2017).

    Args:
        topic: the lists of the runs.
        random: not used.
        p: at least 0 and below 1.
    """

    name = "rbp"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, p: float = 0.8):
        super().__init__(topic, random, Fusion.of("rbp", p=p))


class CombSum(FusedOrder):
    """Fuse by the sum of normalised scores (Fox and Shaw 1994).

    Args:
        topic: the lists of the runs.
        random: not used.
        norm: how the scores of a list are made comparable, as in :func:`~pt_reuse.fusion_pool`.
    """

    name = "combsum"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, norm: str = "min-max"):
        super().__init__(topic, random, Fusion.of("combsum", norm=norm))


class CombMnz(FusedOrder):
    """Fuse by the sum of normalised scores times the number of runs that have the document (Fox and Shaw 1994).

    Args:
        topic: the lists of the runs.
        random: not used.
        norm: how the scores of a list are made comparable, as in :func:`~pt_reuse.fusion_pool`.
    """

    name = "combmnz"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, norm: str = "min-max"):
        super().__init__(topic, random, Fusion.of("combmnz", norm=norm))


class Borda(FusedOrder):
    """Fuse by Borda points (Aslam and Montague 2001)."""

    name = "borda"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random, Fusion.of("borda"))
