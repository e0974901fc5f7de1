"""EpsilonGreedy: ask the best run, and now and then any."""

from __future__ import annotations

import numpy as np

from pt_reuse._check import fraction
from pt_reuse.pooling.adaptive.lists import TopicLists
from pt_reuse.pooling.adaptive.max_mean import MaxMean


class EpsilonGreedy(MaxMean):
    """Pick the run with the largest mean as MaxMean does, but with probability epsilon any run that is left.

    Each step draws one number from [0, 1); below epsilon, a run is drawn, each that has documents left being as likely
    as the others. With epsilon = 0 it is MaxMean.

    Args:
        topic: the lists of the runs.
        random: of this topic and seed.
        epsilon: from 0 to 1.

    Source: Sutton and Barto, Reinforcement learning, chapter 2; Losada, Parapar and Barreiro 2017 let epsilon fall
    with the number of judgments instead (the epsilon_n-greedy of Auer et al. 2002).
    """

    name = "epsilon-greedy"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, epsilon: float = 0.1):
        super().__init__(topic, random)
        self._epsilon = fraction("epsilon", epsilon)
        self._explored = False

    def pick(self) -> int:
        """Return the first run of the largest mean, or any run."""
        self._explored = bool(self.random.random() < self._epsilon)
        if not self._explored:
            return super().pick()
        left = [run for run, documents in enumerate(self.documents_of) if documents]
        return left[int(self.random.integers(len(left)))]

    def said_of(self, run: int) -> str:
        """Return the mean of the run, and whether it was drawn."""
        return f"drawn from all, {super().said_of(run)}" if self._explored else super().said_of(run)
