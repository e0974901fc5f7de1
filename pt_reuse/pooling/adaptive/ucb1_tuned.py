"""UCB1Tuned: ask the run whose share of relevant documents may be the largest."""

from __future__ import annotations

import math

import numpy as np

from pt_reuse.pooling.adaptive.bandit import Bandit
from pt_reuse.pooling.adaptive.lists import TopicLists
from pt_reuse.pooling.adaptive.ties import first_of_best


class UCB1Tuned(Bandit):
    """Pick the run with the largest upper confidence bound of its share of relevant documents.

    With n labels in all and n_r of documents that run r has, a share p of them relevant, the bound is
    p + sqrt(ln n / n_r * min(1/4, p (1 - p) + sqrt(2 ln n / n_r))). Runs of whose documents none has a label are picked
    before all others. The first of runs whose bounds are within 1e-12 of the largest is picked.

    Source: Auer, Cesa-Bianchi and Fischer, Finite-time analysis of the multiarmed bandit problem, Machine Learning 47
    (2002), section 4, on runs as in Losada, Parapar and Barreiro 2017.
    """

    name = "ucb1-tuned"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._n = 0
        self._relevant, self._judged = [0] * topic.n_runs, [0] * topic.n_runs
        self._new = list(range(topic.n_runs))[::-1]
        self._share: np.ndarray = np.where(np.array(self.documents_of) > 0, 0.0, -np.inf)
        self._variance: np.ndarray = np.zeros(topic.n_runs)
        self._per_label: np.ndarray = np.zeros(topic.n_runs)

    def pick(self) -> int:
        """Return the first run without labels, else the first of the largest bound."""
        new = self._new
        while new and (self._judged[new[-1]] or not self.documents_of[new[-1]]):
            new.pop()
        return new[-1] if new else first_of_best(self._bounds())

    def observe(self, document: int, relevant: bool) -> None:
        """Credit every run that has the document."""
        self._n += 1
        super().observe(document, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        """Take one more label into the run's share."""
        self._relevant[run] += relevant
        self._judged[run] += 1
        self._share[run] = share = self._relevant[run] / self._judged[run]
        self._variance[run] = share * (1 - share)
        self._per_label[run] = 1 / self._judged[run]

    def retire(self, run: int) -> None:
        """Take a run out."""
        self._share[run] = -np.inf

    def said_of(self, run: int) -> str:
        """Return the bound of the run."""
        return f"bound {self._bounds()[run]:.3g}" if self._judged[run] else "none of its documents has a label"

    def _bounds(self) -> np.ndarray:
        ratio = math.log(max(self._n, 1)) * self._per_label
        width = np.sqrt(2 * ratio)
        width += self._variance
        np.minimum(width, 0.25, out=width)
        width *= ratio
        np.sqrt(width, out=width)
        width += self._share
        return width
