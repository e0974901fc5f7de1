"""Strategies whose order is fixed before the first label, to compare with those that learn."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.fusion import Fusion
from pt_reuse.pooling.adaptive.chooser import Chooser
from pt_reuse.pooling.adaptive.lists import TopicLists


class FixedOrder(Chooser):
    """Judges the documents in an order that no label changes; a subclass says which."""

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._order: list[int] = self.order().tolist()

    @abstractmethod
    def order(self) -> NDArray[np.int64]:
        """Return all documents in the order in which they are judged."""

    def choose(self) -> int:
        return self._order[len(self._order) - self.n_left]

    def observe(self, document: int, relevant: bool) -> None:
        """Learn nothing."""

    def reason(self, document: int) -> str:
        return f"place {len(self._order) - self.n_left + 1} of {len(self._order)}"


class RankOrder(FixedOrder):
    """Judge documents by their best rank in any run, those of one rank by name, descending: the order of take-N."""

    name = "rank"

    def order(self) -> NDArray[np.int64]:
        return np.arange(len(self.topic))


class RandomOrder(FixedOrder):
    """Judge documents in a random order, each order being equally likely."""

    name = "random"

    def order(self) -> NDArray[np.int64]:
        return self.random.permutation(len(self.topic))


class FusedOrder(FixedOrder):
    """Judges documents by their fused score; those of equal score by best rank, then by name, descending.

    The lists are those of the topic, down to the pool's depth. Scores have 12 digits, so sums that differ by rounding
    alone are equal. What each method computes is said in :mod:`pt_reuse.arrays.fusion`.

    Args:
        topic: the lists of the runs.
        random: not used.
        fusion: how to fuse.
    """

    def __init__(self, topic: TopicLists, random: np.random.Generator, fusion: Fusion):
        self._scores = fusion.scores(topic.rows)
        super().__init__(topic, random)

    def order(self) -> NDArray[np.int64]:
        return np.argsort(-self._scores, kind="stable")

    def reason(self, document: int) -> str:
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
        super().__init__(topic, random, Fusion("rrf", k=k))


class RankBiased(FusedOrder):
    """Fuse by the sum of (1 - p) p^(rank - 1) (Moffat and Zobel's RBP weights; Bailey et al. 2017).

    Args:
        topic: the lists of the runs.
        random: not used.
        p: at least 0 and below 1.
    """

    name = "rbp"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, p: float = 0.8):
        super().__init__(topic, random, Fusion("rbp", p=p))


class CombSum(FusedOrder):
    """Fuse by the sum of normalised scores (Fox and Shaw 1994).

    Args:
        topic: the lists of the runs.
        random: not used.
        norm: how the scores of a list are made comparable, as in :func:`~pt_reuse.pools.fusion_pool`.
    """

    name = "combsum"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, norm: str = "min-max"):
        super().__init__(topic, random, Fusion("combsum", norm=norm))


class CombMnz(FusedOrder):
    """Fuse by the sum of normalised scores times the number of runs that have the document (Fox and Shaw 1994).

    Args:
        topic: the lists of the runs.
        random: not used.
        norm: how the scores of a list are made comparable, as in :func:`~pt_reuse.pools.fusion_pool`.
    """

    name = "combmnz"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, norm: str = "min-max"):
        super().__init__(topic, random, Fusion("combmnz", norm=norm))


class Borda(FusedOrder):
    """Fuse by Borda points (Aslam and Montague 2001)."""

    name = "borda"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random, Fusion("borda"))
