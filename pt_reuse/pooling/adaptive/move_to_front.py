"""MoveToFront: stay with a run while its documents are relevant."""

from __future__ import annotations

import numpy as np

from pt_reuse.pooling.adaptive.bandit import Bandit
from pt_reuse.pooling.adaptive.lists import TopicLists


class MoveToFront(Bandit):
    """Stay with a run while its documents are relevant, then go to a run of the highest priority.

    Every run starts with the priority 0. The next document of the run is judged. Is it relevant, or gets no label, the
    run is kept. Is it not, the run's priority falls by one, and the first run of the highest priority follows. Here,
    and in no other strategy, a label counts for the picked run alone.

    Source: Cormack, Palmer and Clarke, Efficient construction of large test collections, SIGIR 1998: the local form,
    each topic by itself.
    """

    name = "mtf"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._priority: list[float] = [0 if left else -np.inf for left in self.documents_of]
        self._stays = False

    def pick(self) -> int:
        """Return the run that is kept, else the first of the highest priority."""
        if not self._stays:
            self._stays = True
            return self._priority.index(max(self._priority))
        return self.run

    def observe(self, document: int, relevant: bool) -> None:
        """Lower the priority of the picked run where the document is not relevant."""
        if not relevant:
            self.credit(self.run, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        """Lower the priority of a run, which is not kept."""
        self._priority[run] -= 1
        self._stays = False

    def retire(self, run: int) -> None:
        """Take a run out."""
        self._priority[run] = -np.inf
        if run == self.run:
            self._stays = False

    def said_of(self, run: int) -> str:
        """Return the priority of the run."""
        return f"priority {self._priority[run]}"
