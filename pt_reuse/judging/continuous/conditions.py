"""Conditions: why the judging of a topic goes on; the four of the TREC Deep Learning track of 2021."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from pt_reuse._check import count, fraction, positive, whole
from pt_reuse._errors import door
from pt_reuse.judging.continuous.progress import Progress, short


@dataclass(frozen=True)
class Condition(ABC):
    """A reason to go on with a topic.

    A protocol goes on with a topic while one of its conditions holds. A condition of your own is a frozen dataclass
    with two methods, :meth:`holds` and :meth:`why`.
    """

    @abstractmethod
    def holds(self, progress: Progress) -> bool:
        """Return whether the topic is to go on.

        Args:
            progress: how far it has come.
        """

    @abstractmethod
    def why(self, progress: Progress) -> str:
        """Return in a few words why the condition holds; asked where it does.

        Args:
            progress: how far the topic has come.
        """


@dataclass(frozen=True)
class DenseTopic(Condition):
    """A topic goes on while more than a share of what was judged is relevant: there must be more.

    Args:
        above: the relevant density that is exceeded, from 0 to 1.

    Attributes:
        above: as given.

    Example:
        >>> from pt_reuse.judging import DenseTopic, Progress
        >>> DenseTopic(0.5).holds(Progress(asked=10, judged=10, relevant=5))
        False
        >>> DenseTopic(0.5).holds(Progress(asked=10, judged=10, relevant=6))
        True
    """

    above: float = 0.5

    @door
    def __post_init__(self) -> None:
        object.__setattr__(self, "above", fraction("above", self.above))

    def holds(self, progress: Progress) -> bool:
        """Return whether the density of `progress` is above the limit."""
        return progress.density > self.above

    def why(self, progress: Progress) -> str:
        """Return the density of `progress`, and the limit."""
        return f"density {short(progress.density)} > {short(self.above)}"


@dataclass(frozen=True)
class FewJudged(Condition):
    """A topic goes on until the judge was asked for a number of its documents.

    Documents to which the judge gives no label count: they took its time, and else there might be no end.

    Args:
        below: the number of documents, at least 1.

    Attributes:
        below: as given.
    """

    below: int = 150

    @door
    def __post_init__(self) -> None:
        object.__setattr__(self, "below", positive("below", self.below, "documents"))

    def holds(self, progress: Progress) -> bool:
        """Return whether `progress` has fewer documents than that."""
        return progress.asked < self.below

    def why(self, progress: Progress) -> str:
        """Return how many documents `progress` has, and the limit."""
        return f"{count(progress.asked, 'document')} < {self.below:,}"


@dataclass(frozen=True)
class NoBatchYet(Condition):
    """A topic goes on until one batch that the scorer chose was judged.

    So no topic rests on its initial pool alone.
    """

    def holds(self, progress: Progress) -> bool:
        """Return whether `progress` has no batch."""
        return progress.batches == 0

    def why(self, progress: Progress) -> str:
        """Return that `progress` has no batch."""
        return "no batch yet"


@dataclass(frozen=True)
class FruitfulBatch(Condition):
    """A topic goes on while its last batch found relevant documents: more than a share of it, at first a smaller one.

    Args:
        above: the share of the last batch that is exceeded, from 0 to 1.
        early_above: the same for the first batches.
        early_batches: how many batches are the first; 0 for none.

    Attributes:
        above: as given.
        early_above: as given.
        early_batches: as given.
    """

    above: float = 0.2
    early_above: float = 0.1
    early_batches: int = 2

    @door
    def __post_init__(self) -> None:
        object.__setattr__(self, "above", fraction("above", self.above))
        object.__setattr__(self, "early_above", fraction("early_above", self.early_above))
        object.__setattr__(self, "early_batches", whole("early_batches", self.early_batches, "batches", least=0))

    def limit(self, progress: Progress) -> float:
        """Return the share that is to be exceeded.

        Args:
            progress: how far the topic has come.
        """
        return self.early_above if progress.batches <= self.early_batches else self.above

    def holds(self, progress: Progress) -> bool:
        """Return whether the share of the last batch of `progress` is above its limit."""
        return progress.batches > 0 and progress.batch_share > self.limit(progress)

    def why(self, progress: Progress) -> str:
        """Return the share of the last batch of `progress`, and its limit."""
        return f"last batch {short(progress.batch_share)} > {short(self.limit(progress))}"
