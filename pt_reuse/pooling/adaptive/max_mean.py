"""MaxMean: ask the run with the largest share of relevant documents, of all that are judged or of the last ones."""

from __future__ import annotations

import numpy as np

from pt_reuse._check import fraction
from pt_reuse.pooling.adaptive.bandit import Bandit
from pt_reuse.pooling.adaptive.lists import TopicLists


class MaxMean(Bandit):
    """Pick the run with the largest mean (1 + relevant) / (2 + judged) over its judged documents.

    This is the mean of the Beta distribution of the run's share of relevant documents, which is uniform before the
    first label: a run without labels has .5. The first of equal runs is picked.

    Source: Losada, Parapar and Barreiro, Multi-armed bandits for adjudicating documents in pooling-based evaluation of
    information retrieval systems, Information Processing and Management 53 (2017): MM.
    """

    name = "max-mean"
    _rate = 1.0

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._mean = [0.5 if left else -1.0 for left in self.documents_of]
        self._relevant = [0.0] * topic.n_runs
        self._judged = [0.0] * topic.n_runs

    def pick(self) -> int:
        """Return the first run of the largest mean."""
        return self._mean.index(max(self._mean))

    def credit(self, run: int, relevant: bool) -> None:
        """Take one more label into the run's mean."""
        self._relevant[run] = found = self._rate * self._relevant[run] + relevant
        self._judged[run] = judged = self._rate * self._judged[run] + 1.0
        self._mean[run] = (1.0 + found) / (2.0 + judged)

    def retire(self, run: int) -> None:
        """Take a run out; a mean is never below 0."""
        self._mean[run] = -1.0

    def said_of(self, run: int) -> str:
        """Return the mean of the run."""
        return f"mean {self._mean[run]:.3g}"


class NonStationaryMaxMean(MaxMean):
    """Pick the run with the largest mean, old labels counting less: what a run finds falls with depth.

    With each label of a document that the run has, relevant = rate * relevant + (1 or 0) and judged = rate * judged +
    1; the mean is (1 + relevant) / (2 + judged), as of ``max-mean``.

    Args:
        topic: the lists of the runs.
        random: of this topic and seed.
        rate: from 0, the last label alone counts (default), to 1, which is MaxMean.

    Source: Losada, Parapar and Barreiro 2017, MM-NS, as others describe it; the paper's text was not at hand.
    """

    name = "max-mean-ns"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, rate: float = 0.0):
        super().__init__(topic, random)
        self._rate = fraction("rate", rate)
