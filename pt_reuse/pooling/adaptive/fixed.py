"""FixedOrder: a chooser whose order is fixed before the first label, to compare with those that learn."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

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
        """Return the next document."""
        return self._order[len(self._order) - self.n_left]

    def observe(self, document: int, relevant: bool) -> None:
        """Learn nothing."""

    def reason(self, document: int) -> str:
        """Return the document's place in the order."""
        return f"place {len(self._order) - self.n_left + 1} of {len(self._order)}"


class RankOrder(FixedOrder):
    """Judge documents by their best rank in any run, those of one rank by name, descending: the order of take-N."""

    name = "rank"

    def order(self) -> NDArray[np.int64]:
        """Return the documents as they are numbered."""
        return np.arange(len(self.topic))


class RandomOrder(FixedOrder):
    """Judge documents in a random order, each order being equally likely."""

    name = "random"

    def order(self) -> NDArray[np.int64]:
        """Return a random order of the documents."""
        return self.random.permutation(len(self.topic))
