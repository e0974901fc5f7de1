"""The strategies by name, and a strategy with its options, ready to be started on any topic."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import did_you_mean, examples, told
from pt_reuse._errors import Argument, InputError, arguments_as, door
from pt_reuse.pooling.adaptive.bandits import (
    Borda,
    CombMnz,
    CombSum,
    EpsilonGreedy,
    MaxMean,
    MoveToFront,
    NonStationaryMaxMean,
    RandomOrder,
    RankBiased,
    RankOrder,
    ReciprocalRanks,
    Thompson,
    UCB1Tuned,
)
from pt_reuse.pooling.adaptive.chooser import Chooser, TopicLists, random_of_topic
from pt_reuse.pooling.adaptive.document_weights import Hedge, MinimalTestCollection

#: those that learn from labels
_LEARNING: tuple[type[Chooser], ...] = (
    MoveToFront,
    MaxMean,
    NonStationaryMaxMean,
    EpsilonGreedy,
    UCB1Tuned,
    Thompson,
    Hedge,
    MinimalTestCollection,
)
_FIXED: tuple[type[Chooser], ...] = (RankOrder, ReciprocalRanks, RankBiased, CombSum, CombMnz, Borda, RandomOrder)

#: name -> chooser; those that learn from labels first, then those whose order is fixed
CHOOSERS: dict[str, type[Chooser]] = {kind.name: kind for kind in (*_LEARNING, *_FIXED)}


#: a topic with one run of one document, on which a chooser is tried before any run is read
_SMALLEST = TopicLists.of("1", {"run": ["d"]})


class Strategy:
    """A way to choose what to judge next, with its options.

    Args:
        kind: its name, such as ``"hedge"``, or a chooser of your own, a subclass of :class:`~pt_reuse.pools.Chooser`.
        **options: keyword arguments of the chooser, such as ``epsilon=0.2``.

    Attributes:
        kind: the chooser.
        options: as given.

    Raises:
        InputError: an unknown name, something that is no chooser, or an option that it does not know or does not take.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.pools.Strategy("epsilon-greedy", epsilon=0.2)
        Strategy(epsilon-greedy(epsilon=0.2))
    """

    @door
    def __init__(self, kind: str | type[Chooser], **options: Any):
        self.kind = _chooser(kind)
        self.options: Mapping[str, Any] = dict(options)
        self._check_options()

    def _check_options(self) -> None:
        known = options_of(self.kind)
        for name in self.options:
            if name not in known:
                there = f"there is {examples(known, 12)}" if known else "it has none"
                raise InputError(
                    f"strategy {self.kind.name!r} has no option {name!r}; {there}.{did_you_mean(name, known)}",
                    argument=name,
                )
        missing = [name for name, default in known.items() if default is inspect.Parameter.empty]
        for name in missing:
            if name not in self.options:
                raise InputError(f"strategy {self.kind.name!r} needs its option {name!r}.", argument=name)
        # what a chooser takes its own constructor says: ask it before any run is read
        self.start(_SMALLEST, seed=0)

    @property
    def name(self) -> str:
        """Return the chooser's name and the options that were given: ``epsilon-greedy(epsilon=0.1)``."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.kind.name}({options})" if options else self.kind.name

    def start(self, topic: TopicLists, seed: int) -> Chooser:
        """Return a chooser for a topic.

        Args:
            topic: the lists; the runs are tried in a random order, so that no run has an
                advantage of its name, nor of its place in the field.
            seed: with the topic's id it decides all that is random; the same in every process.
        """
        random = random_of_topic(seed, topic.qid)
        by_name = np.array(sorted(range(topic.n_runs), key=topic.names.__getitem__), dtype=np.int64)
        return self.kind(topic.in_order(by_name[random.permutation(topic.n_runs)]), random, **self.options)

    def __repr__(self) -> str:
        return f"Strategy({self.name})"


def as_strategy(strategy: str | Strategy | type[Chooser]) -> Strategy:
    """Return a strategy as it is, or the one of a name or chooser, with its defaults.

    Raises:
        InputError: an unknown name, or something that is no strategy.
    """
    if isinstance(strategy, Strategy):
        return strategy
    with arguments_as(kind="strategy"):
        return Strategy(strategy)


def _chooser(kind: str | type[Chooser]) -> type[Chooser]:
    if isinstance(kind, str) and kind in CHOOSERS:
        return CHOOSERS[kind]
    if not (inspect.isclass(kind) and issubclass(kind, Chooser)):
        near = did_you_mean(kind, CHOOSERS) if isinstance(kind, str) else ""
        raise _no_kind(
            f" must be the name of a strategy, one of {examples(CHOOSERS, len(CHOOSERS))}, or a subclass of Chooser, "
            f"got {told(kind)}.{near}"
        )
    if inspect.isabstract(kind):
        lacking = examples(sorted(kind.__abstractmethods__), 12)
        raise _no_kind(f": the chooser {kind.__name__} lacks the methods {lacking}. Define them.")
    if not isinstance(getattr(kind, "name", None), str):
        raise _no_kind(f": the chooser {kind.__name__} has no name. Give its class the attribute name, a text.")
    return kind


def _no_kind(why: str) -> InputError:
    return InputError(Argument("kind"), why, argument="kind")


def options_of(kind: type[Chooser]) -> dict[str, Any]:
    """Return the options of a chooser and their defaults."""
    parameters = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


def judged_in_order(
    strategy: Strategy, topic: TopicLists, relevant: NDArray[np.int8], *, seed: int, budget: int
) -> NDArray[np.int64]:
    """Return the labelled documents of a topic in the order in which a strategy has them judged.

    Args:
        strategy: the strategy.
        topic: the lists of the runs.
        relevant: (documents,) 1 relevant, 0 not, -1 for a document to which the judge gives no label, which costs
            nothing.
        seed: of what is random.
        budget: how many labels at most.

    Returns:
        (judged,) documents, each once; all that have a label when the budget is as large as the pool.
    """
    asked = judging(strategy.start(topic, seed), relevant)
    return np.fromiter(islice(asked, budget), dtype=np.int64)


def judging(chooser: Chooser, relevant: NDArray[np.int8]) -> Iterator[int]:
    """Yield the labelled documents in the order in which a chooser has them judged, each before it learns the label.

    Args:
        chooser: of a topic.
        relevant: (documents,) as in :func:`judged_in_order`.
    """
    known: list[bool | None] = [None if label < 0 else bool(label) for label in relevant.tolist()]
    while (document := chooser.next()) is not None:
        label = known[document]
        if label is not None:
            yield document
        chooser.learn(document, label)
