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
    """Picks a run and has the best of its documents judged that is not judged yet."""

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self.run = -1
        self.documents_of: list[int] = topic.lengths.tolist()
        self._lists = [topic.list_of(run).tolist() for run in range(topic.n_runs)]
        self._place = [0] * topic.n_runs
        self._runs_of = topic.runs_of

    @abstractmethod
    def pick(self) -> int:
        """Return a run that has documents left; at least one has. Of runs that are equally good it is the first."""

    @abstractmethod
    def credit(self, run: int, relevant: bool) -> None:
        """Learn that a document of a run, which has more documents left, is relevant or not."""

    @abstractmethod
    def retire(self, run: int) -> None:
        """Learn that a run has no documents left, and is not to be picked again."""

    @abstractmethod
    def said_of(self, run: int) -> str:
        """Return in words why a run was picked."""

    def choose(self) -> int:
        self.run = run = self.pick()
        documents, place, left = self._lists[run], self._place[run], self.left
        while not left[documents[place]]:
            place += 1
        self._place[run] = place
        return documents[place]

    def leave(self, document: int) -> None:
        left = self.documents_of
        for run in self._runs_of[document]:
            left[run] -= 1
            if not left[run]:
                self.retire(run)

    def observe(self, document: int, relevant: bool) -> None:
        left, credit = self.documents_of, self.credit
        for run in self._runs_of[document]:
            if left[run]:
                credit(run, relevant)

    def reason(self, document: int) -> str:
        return f"run {shown(self.topic.names[self.run])}, {self.said_of(self.run)}, rank {self._place[self.run] + 1}"


class MoveToFront(Bandit):
    """Stay with a run while its documents are relevant, then go to a run of the highest priority."""

    name = "mtf"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._priority: list[float] = [0 if left else -np.inf for left in self.documents_of]

    def pick(self) -> int:
        # the run that was picked last is still it, unless its priority fell: priorities never rise
        return self._priority.index(max(self._priority))

    def observe(self, document: int, relevant: bool) -> None:
        self.credit(self.run, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        self._priority[run] -= not relevant

    def retire(self, run: int) -> None:
        self._priority[run] = -np.inf

    def said_of(self, run: int) -> str:
        return f"priority {self._priority[run]}"


class MaxMean(Bandit):
    """Pick the run with the largest mean (1 + relevant) / (2 + judged) over its judged documents."""

    name = "max-mean"
    _rate = 1.0

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._mean = [0.5 if left else -1.0 for left in self.documents_of]
        self._relevant = [0.0] * topic.n_runs
        self._judged = [0.0] * topic.n_runs

    def pick(self) -> int:
        return self._mean.index(max(self._mean))

    def credit(self, run: int, relevant: bool) -> None:
        self._relevant[run] = found = self._rate * self._relevant[run] + relevant
        self._judged[run] = judged = self._rate * self._judged[run] + 1.0
        self._mean[run] = (1.0 + found) / (2.0 + judged)

    def retire(self, run: int) -> None:
        self._mean[run] = -1.0

    def said_of(self, run: int) -> str:
        return f"mean {self._mean[run]:.3g}"


class NonStationaryMaxMean(MaxMean):
    """Pick the run with the largest mean, old labels counting less: what a run finds falls with depth."""

    name = "max-mean-ns"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, rate: float = 0.0):
        super().__init__(topic, random)
        self._rate = fraction("rate", rate)


class EpsilonGreedy(MaxMean):
    """Pick the run with the largest mean as MaxMean does, but with probability epsilon any run that is left."""

    name = "epsilon-greedy"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, epsilon: float = 0.1):
        super().__init__(topic, random)
        self._epsilon = fraction("epsilon", epsilon)
        self._explored = False

    def pick(self) -> int:
        self._explored = bool(self.random.random() < self._epsilon)
        if not self._explored:
            return super().pick()
        left = [run for run, documents in enumerate(self.documents_of) if documents]
        return left[int(self.random.integers(len(left)))]

    def said_of(self, run: int) -> str:
        return f"drawn from all, {super().said_of(run)}" if self._explored else super().said_of(run)


class UCB1Tuned(Bandit):
    """Pick the run with the largest upper confidence bound of its share of relevant documents."""

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
        new = self._new
        while new and (self._judged[new[-1]] or not self.documents_of[new[-1]]):
            new.pop()
        return new[-1] if new else first_of_best(self._bounds())

    def observe(self, document: int, relevant: bool) -> None:
        self._n += 1
        super().observe(document, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        self._relevant[run] += relevant
        self._judged[run] += 1
        self._share[run] = share = self._relevant[run] / self._judged[run]
        self._variance[run] = share * (1 - share)
        self._per_label[run] = 1 / self._judged[run]

    def retire(self, run: int) -> None:
        self._share[run] = -np.inf

    def said_of(self, run: int) -> str:
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


class Thompson(Bandit):
    """Draw the share of relevant documents of each run from what its labels say of it; pick the largest."""

    name = "thompson"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        # (runs with documents left,)
        self._runs: list[int] = np.flatnonzero(topic.lengths).tolist()
        self._relevant, self._other = np.ones(len(self._runs)), np.ones(len(self._runs))
        self._at = dict(zip(self._runs, range(len(self._runs)), strict=True))
        self._drawn = 0.0

    def pick(self) -> int:
        shares = self.random.beta(self._relevant, self._other)
        best = shares.argmax()
        self._drawn = shares[best]
        return self._runs[best]

    def credit(self, run: int, relevant: bool) -> None:
        (self._relevant if relevant else self._other)[self._at[run]] += 1

    def retire(self, run: int) -> None:
        place = self._at[run]
        del self._runs[place]
        self._relevant, self._other = np.delete(self._relevant, place), np.delete(self._other, place)
        self._at = dict(zip(self._runs, range(len(self._runs)), strict=True))

    def said_of(self, run: int) -> str:
        place = self._at[run]
        return f"drew {self._drawn:.3g} from Beta({self._relevant[place]:.0f}, {self._other[place]:.0f})"
