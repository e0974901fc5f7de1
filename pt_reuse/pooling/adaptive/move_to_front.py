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

    def pick(self) -> int:
        """Return the first run of the highest priority."""
        # the run that was picked last is still it, unless its priority fell: priorities never rise
        return self._priority.index(max(self._priority))

    def observe(self, document: int, relevant: bool) -> None:
        """Credit the picked run alone."""
        self.credit(self.run, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        """Lower the priority of a run where its document is not relevant."""
        self._priority[run] -= not relevant

    def retire(self, run: int) -> None:
        """Take a run out."""
        self._priority[run] = -np.inf

    def said_of(self, run: int) -> str:
        """Return the priority of the run."""
        return f"priority {self._priority[run]}"
