"""Strategies that choose by runs: fixed orders, move-to-front and bandits."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import fraction, shown
from pt_reuse.arrays.fusion import Fusion
from pt_reuse.pooling.adaptive.chooser import Chooser, TopicLists, first_of_best


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
    """Judges documents by their fused score; those of equal score (in 12 digits) by best rank, then by name."""

    def __init__(
        self,
        topic: TopicLists,
        random: np.random.Generator,
        *,
        k: float | None = None,
        p: float | None = None,
        norm: str | None = None,
    ):
        self._scores = Fusion.of(self.name, k=k, p=p, norm=norm).scores(topic.rows)
        super().__init__(topic, random)

    def order(self) -> NDArray[np.int64]:
        return np.argsort(-self._scores, kind="stable")

    def reason(self, document: int) -> str:
        return f"fused score {self._scores[document]:.4g}, {super().reason(document)}"


class ReciprocalRanks(FusedOrder):
    """Fuse by the sum of 1 / (k + rank), k = 60 (Cormack, Clarke and Büttcher 2009)."""

    name = "rrf"


class RankBiased(FusedOrder):
    """Fuse by the sum of (1 - p) p^(rank - 1), p = .8 (Moffat and Zobel's RBP weights; Bailey et al. 2017)."""

    name = "rbp"


class CombSum(FusedOrder):
    """Fuse by the sum of normalised scores (Fox and Shaw 1994)."""

    name = "combsum"


class CombMnz(FusedOrder):
    """Fuse by the sum of normalised scores times the number of runs that have the document (Fox and Shaw 1994)."""

    name = "combmnz"


class Borda(FusedOrder):
    """Fuse by Borda points (Aslam and Montague 2001)."""

    name = "borda"


class Bandit(Chooser):
    """Picks the run of the largest value that has documents left, the first of several, and its best one left.

    A subclass has the values; labels count for every run that has the document.
    """

    #: by how much labels count after the next one
    rate = 1.0

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self.run, self.value, self.n_labels = -1, 0.0, 0
        #: (runs,) documents left, and labels
        self.documents_of: NDArray[np.int64] = topic.lengths.copy()
        self.relevant: NDArray[np.float64] = np.zeros(topic.n_runs)
        self.judged: NDArray[np.float64] = np.zeros(topic.n_runs)
        self._lists = [topic.list_of(run).tolist() for run in range(topic.n_runs)]
        self._place = [0] * topic.n_runs
        self._runs_of = [np.array(runs, dtype=np.int64) for runs in topic.runs_of]

    @abstractmethod
    def values(self) -> NDArray[np.float64]:
        """Return (runs,) what each run is worth; at least one has documents left."""

    @abstractmethod
    def said(self) -> str:
        """Return in words what the run that was picked is worth."""

    def pick(self, values: NDArray[np.float64]) -> int:
        """Return the run of the largest value."""
        return int(values.argmax())

    def choose(self) -> int:
        values = np.where(self.documents_of > 0, self.values(), -np.inf)
        self.run = run = self.pick(values)
        self.value = float(values[run])
        documents, place, left = self._lists[run], self._place[run], self.left
        while not left[documents[place]]:
            place += 1
        self._place[run] = place
        return documents[place]

    def leave(self, document: int) -> None:
        self.documents_of[self._runs_of[document]] -= 1

    def observe(self, document: int, relevant: bool) -> None:
        runs = self._runs_of[document]
        self.n_labels += 1
        self.relevant[runs] = self.rate * self.relevant[runs] + relevant
        self.judged[runs] = self.rate * self.judged[runs] + 1.0

    def reason(self, document: int) -> str:
        return f"run {shown(self.topic.names[self.run])}, {self.said()}, rank {self._place[self.run] + 1}"


class MoveToFront(Bandit):
    """Stay with a run while its documents are relevant, then go to a run of the highest priority."""

    name = "mtf"

    def values(self) -> NDArray[np.float64]:
        # the run that was picked last is still it, unless its priority fell: priorities never rise
        return self.relevant - self.judged

    def observe(self, document: int, relevant: bool) -> None:
        self.judged[self.run] += not relevant

    def said(self) -> str:
        return f"priority {self.value:.0f}"


class MaxMean(Bandit):
    """Pick the run with the largest mean (1 + relevant) / (2 + judged) over its judged documents."""

    name = "max-mean"

    def values(self) -> NDArray[np.float64]:
        return (1.0 + self.relevant) / (2.0 + self.judged)

    def said(self) -> str:
        return f"mean {self.value:.3g}"


class NonStationaryMaxMean(MaxMean):
    """Pick the run with the largest mean, old labels counting less: what a run finds falls with depth."""

    name = "max-mean-ns"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, rate: float = 0.0):
        super().__init__(topic, random)
        self.rate = fraction("rate", rate)


class EpsilonGreedy(MaxMean):
    """Pick the run with the largest mean as MaxMean does, but with probability epsilon any run that is left."""

    name = "epsilon-greedy"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, epsilon: float = 0.1):
        super().__init__(topic, random)
        self._epsilon, self._explored = fraction("epsilon", epsilon), False

    def pick(self, values: NDArray[np.float64]) -> int:
        self._explored = bool(self.random.random() < self._epsilon)
        left = np.flatnonzero(self.documents_of)
        return int(left[self.random.integers(len(left))]) if self._explored else super().pick(values)

    def said(self) -> str:
        return f"{'drawn from all, ' if self._explored else ''}{super().said()}"


class UCB1Tuned(Bandit):
    """Pick the run with the largest upper confidence bound of its share of relevant documents."""

    name = "ucb1-tuned"

    def values(self) -> NDArray[np.float64]:
        judged = np.maximum(self.judged, 1)
        share, ratio = self.relevant / judged, math.log(max(self.n_labels, 1)) * (1 / judged)
        bound = np.sqrt(np.minimum(np.sqrt(2 * ratio) + share * (1 - share), 0.25) * ratio) + share
        return np.where(self.judged > 0, bound, np.inf)

    def pick(self, values: NDArray[np.float64]) -> int:
        return first_of_best(values)

    def said(self) -> str:
        return f"bound {self.value:.3g}" if self.judged[self.run] else "none of its documents has a label"


class Thompson(Bandit):
    """Draw the share of relevant documents of each run from what its labels say of it; pick the largest."""

    name = "thompson"

    def values(self) -> NDArray[np.float64]:
        left = np.flatnonzero(self.documents_of)
        relevant = self.relevant[left]
        drawn: NDArray[np.float64] = np.zeros(len(self.documents_of))
        drawn[left] = self.random.beta(1 + relevant, 1 + self.judged[left] - relevant)
        return drawn

    def said(self) -> str:
        relevant = self.relevant[self.run]
        return f"drew {self.value:.3g} from Beta({1 + relevant:.0f}, {1 + self.judged[self.run] - relevant:.0f})"
