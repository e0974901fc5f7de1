"""Strategies that choose by runs: fixed orders, move-to-front and bandits."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

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

    def __init__(self, topic: TopicLists, random: np.random.Generator, fusion: Fusion):
        self._scores = fusion.scores(topic.rows)
        super().__init__(topic, random)

    def order(self) -> NDArray[np.int64]:
        return np.argsort(-self._scores, kind="stable")

    def reason(self, document: int) -> str:
        return f"fused score {self._scores[document]:.4g}, {super().reason(document)}"


class ReciprocalRanks(FusedOrder):
    """Fuse by the sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009)."""

    name = "rrf"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, k: float = 60):
        super().__init__(topic, random, Fusion("rrf", k=k))


class RankBiased(FusedOrder):
    """Fuse by the sum of (1 - p) p^(rank - 1) (Moffat and Zobel's RBP weights; Bailey et al. 2017)."""

    name = "rbp"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, p: float = 0.8):
        super().__init__(topic, random, Fusion("rbp", p=p))


class CombSum(FusedOrder):
    """Fuse by the sum of normalised scores (Fox and Shaw 1994)."""

    name = "combsum"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, norm: str = "min-max"):
        super().__init__(topic, random, Fusion(self.name, norm=norm))


class CombMnz(CombSum):
    """Fuse by the sum of normalised scores times the number of runs that have the document (Fox and Shaw 1994)."""

    name = "combmnz"


class Borda(FusedOrder):
    """Fuse by Borda points (Aslam and Montague 2001)."""

    name = "borda"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random, Fusion("borda"))


class Bandit(Chooser):
    """Picks the run of the largest value, the first of several, and its best document left.

    Runs without documents left have the value -inf. Labels count for every run that has the document.
    """

    def __init__(self, topic: TopicLists, random: np.random.Generator, start: float = 0.0):
        super().__init__(topic, random)
        self.run, self.runs_of = -1, topic.runs_of
        self.documents_of: list[int] = topic.lengths.tolist()
        self.value: Any = [start if left else -np.inf for left in self.documents_of]
        self._lists = [topic.list_of(run).tolist() for run in range(topic.n_runs)]
        self._place = [0] * topic.n_runs

    @abstractmethod
    def credit(self, run: int, relevant: bool) -> None:
        """Learn that a document of a run, which has more documents left, is relevant or not."""

    @abstractmethod
    def said(self) -> str:
        """Return in words what the run that was picked is worth."""

    def pick(self) -> int:
        """Return a run that has documents left; at least one has."""
        run: int = self.value.index(max(self.value))
        return run

    def choose(self) -> int:
        self.run = run = self.pick()
        documents, place, left = self._lists[run], self._place[run], self.left
        while not left[documents[place]]:
            place += 1
        self._place[run] = place
        return documents[place]

    def leave(self, document: int) -> None:
        left = self.documents_of
        for run in self.runs_of[document]:
            left[run] -= 1
            if not left[run]:
                self.value[run] = -np.inf

    def observe(self, document: int, relevant: bool) -> None:
        left, credit = self.documents_of, self.credit
        for run in self.runs_of[document]:
            if left[run]:
                credit(run, relevant)

    def reason(self, document: int) -> str:
        return f"run {shown(self.topic.names[self.run])}, {self.said()}, rank {self._place[self.run] + 1}"


class MoveToFront(Bandit):
    """Stay with a run while its documents are relevant, then go to a run of the highest priority."""

    name = "mtf"

    def observe(self, document: int, relevant: bool) -> None:
        # the run that was picked last is still it, unless its priority fell: priorities never rise
        self.credit(self.run, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        self.value[run] -= not relevant

    def said(self) -> str:
        return f"priority {self.value[self.run]:.0f}"


class MaxMean(Bandit):
    """Pick the run with the largest mean (1 + relevant) / (2 + judged) over its judged documents."""

    name = "max-mean"
    #: by how much labels count after the next one
    rate = 1.0

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random, start=0.5)
        self._relevant, self._judged = [0.0] * topic.n_runs, [0.0] * topic.n_runs

    def credit(self, run: int, relevant: bool) -> None:
        self._relevant[run] = found = self.rate * self._relevant[run] + relevant
        self._judged[run] = judged = self.rate * self._judged[run] + 1.0
        self.value[run] = (1.0 + found) / (2.0 + judged)

    def said(self) -> str:
        return f"mean {self.value[self.run]:.3g}"


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

    def pick(self) -> int:
        self._explored = bool(self.random.random() < self._epsilon)
        if not self._explored:
            return super().pick()
        left = np.flatnonzero(self.documents_of)
        return int(left[self.random.integers(len(left))])

    def said(self) -> str:
        return f"{'drawn from all, ' if self._explored else ''}{super().said()}"


class UCB1Tuned(Bandit):
    """Pick the run with the largest upper confidence bound of its share of relevant documents."""

    name = "ucb1-tuned"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        # the value is the share, infinite where no document has a label
        super().__init__(topic, random, start=np.inf)
        self.value, self._n_labels = np.array(self.value), 0
        self._relevant, self._judged = [0] * topic.n_runs, [0] * topic.n_runs
        self._variance, self._per_label = np.zeros((2, topic.n_runs))

    def pick(self) -> int:
        return first_of_best(self._bounds())

    def observe(self, document: int, relevant: bool) -> None:
        self._n_labels += 1
        super().observe(document, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        self._relevant[run] += relevant
        self._judged[run] += 1
        self.value[run] = share = self._relevant[run] / self._judged[run]
        self._variance[run], self._per_label[run] = share * (1 - share), 1 / self._judged[run]

    def said(self) -> str:
        return (
            f"bound {self._bounds()[self.run]:.3g}" if self._judged[self.run] else "none of its documents has a label"
        )

    def _bounds(self) -> NDArray[np.float64]:
        ratio = math.log(max(self._n_labels, 1)) * self._per_label
        width = np.minimum(np.sqrt(2 * ratio) + self._variance, 0.25) * ratio
        return np.sqrt(width) + self.value


class Thompson(Bandit):
    """Draw the share of relevant documents of each run from what its labels say of it; pick the largest."""

    name = "thompson"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._relevant, self._other = np.ones((2, topic.n_runs))
        self._runs, self._drawn = np.flatnonzero(topic.lengths), 0.0

    def pick(self) -> int:
        shares = self.random.beta(self._relevant[self._runs], self._other[self._runs])
        best = shares.argmax()
        self._drawn = shares[best]
        return int(self._runs[best])

    def leave(self, document: int) -> None:
        super().leave(document)
        if not all(self.documents_of[run] for run in self.runs_of[document]):
            self._runs = np.flatnonzero(self.documents_of)

    def credit(self, run: int, relevant: bool) -> None:
        (self._relevant if relevant else self._other)[run] += 1

    def said(self) -> str:
        return f"drew {self._drawn:.3g} from Beta({self._relevant[self.run]:.0f}, {self._other[self.run]:.0f})"
