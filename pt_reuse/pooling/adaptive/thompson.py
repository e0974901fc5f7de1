"""Thompson: ask the run whose share of relevant documents, drawn at random from what is known of it, is largest."""

from __future__ import annotations

import numpy as np

from pt_reuse.pooling.adaptive.bandit import Bandit
from pt_reuse.pooling.adaptive.lists import TopicLists


class Thompson(Bandit):
    """Draw the share of relevant documents of each run from what its labels say of it; pick the largest.

    The share of a run with documents left is drawn from Beta(1 + relevant, 1 + not relevant) over its judged documents,
    uniform before the first label; the runs draw in their order, at each step anew.

    Source: Thompson 1933; Losada, Parapar and Barreiro, Multi-armed bandits for adjudicating documents in pooling-based
    evaluation of information retrieval systems, Information Processing and Management 53 (2017): TS.
    """

    name = "thompson"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._relevant: np.ndarray = np.ones(topic.n_runs)
        self._other: np.ndarray = np.ones(topic.n_runs)
        self._runs = np.flatnonzero(topic.lengths)
        self._drawn = 0.0

    def pick(self) -> int:
        """Return the run that drew the largest share."""
        runs = self._runs
        shares = self.random.beta(self._relevant[runs], self._other[runs])
        best = shares.argmax()
        self._drawn = shares[best]
        return int(runs[best])

    def credit(self, run: int, relevant: bool) -> None:
        """Take one more label into the run's distribution."""
        (self._relevant if relevant else self._other)[run] += 1

    def retire(self, run: int) -> None:
        """Take a run out."""
        self._runs = self._runs[self._runs != run]

    def said_of(self, run: int) -> str:
        """Return what was drawn for the run, and from what."""
        return f"drew {self._drawn:.3g} from Beta({self._relevant[run]:.0f}, {self._other[run]:.0f})"
