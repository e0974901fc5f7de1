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
        # (runs with documents left,)
        self._runs: list[int] = np.flatnonzero(topic.lengths).tolist()
        self._relevant, self._other = np.ones(len(self._runs)), np.ones(len(self._runs))
        self._at = dict(zip(self._runs, range(len(self._runs)), strict=True))
        self._drawn = 0.0

    def pick(self) -> int:
        """Return the run that drew the largest share."""
        shares = self.random.beta(self._relevant, self._other)
        best = shares.argmax()
        self._drawn = shares[best]
        return self._runs[best]

    def credit(self, run: int, relevant: bool) -> None:
        """Take one more label into the run's distribution."""
        (self._relevant if relevant else self._other)[self._at[run]] += 1

    def retire(self, run: int) -> None:
        """Take a run out."""
        place = self._at[run]
        del self._runs[place]
        self._relevant, self._other = np.delete(self._relevant, place), np.delete(self._other, place)
        self._at = dict(zip(self._runs, range(len(self._runs)), strict=True))

    def said_of(self, run: int) -> str:
        """Return what was drawn for the run, and from what."""
        place = self._at[run]
        return f"drew {self._drawn:.3g} from Beta({self._relevant[place]:.0f}, {self._other[place]:.0f})"
