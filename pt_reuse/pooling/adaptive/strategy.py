"""The strategies by name, and a strategy with its options, ready to be started on any topic."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import did_you_mean, examples, told
from pt_reuse._errors import InputError, arguments_as, door, wrong
from pt_reuse.pooling.adaptive import bandits
from pt_reuse.pooling.adaptive.chooser import Chooser, TopicLists, random_of_topic
from pt_reuse.pooling.adaptive.document_weights import Hedge, MinimalTestCollection

#: name -> chooser; those that learn from labels first, then those whose order is fixed
CHOOSERS: dict[str, type[Chooser]] = {
    kind.name: kind
    for kind in (
        bandits.MoveToFront,
        bandits.MaxMean,
        bandits.NonStationaryMaxMean,
        bandits.EpsilonGreedy,
        bandits.UCB1Tuned,
        bandits.Thompson,
        Hedge,
        MinimalTestCollection,
        bandits.RankOrder,
        bandits.ReciprocalRanks,
        bandits.RankBiased,
        bandits.CombSum,
        bandits.CombMnz,
        bandits.Borda,
        bandits.RandomOrder,
    )
}
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
        needed = {name for name, default in known.items() if default is inspect.Parameter.empty}
        wrong = [*(name for name in self.options if name not in known), *(needed - self.options.keys())]
        if wrong:
            what = f"needs its option {wrong[0]!r}" if wrong[0] in known else f"has no option {wrong[0]!r}"
            there = f"there is {examples(known, 12)}" if known else "it has none"
            raise InputError(f"strategy {self.kind.name!r} {what}; {there}.", argument=wrong[0])
        # what a chooser takes its own constructor says: ask it before any run is read
        self.start(_SMALLEST, seed=0)

    @property
    def name(self) -> str:
        """Return the chooser's name and the options that were given: ``epsilon-greedy(epsilon=0.1)``."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.kind.name}({options})" if options else self.kind.name

    def start(self, topic: TopicLists, seed: int) -> Chooser:
        """Return a chooser for the lists of a `topic`; its id and the `seed` decide all that is random.

        The runs are tried in a random order, so that none has an advantage of its name or its place in the field.
        """
        random = random_of_topic(seed, topic.qid)
        by_name = np.array(sorted(range(topic.n_runs), key=topic.names.__getitem__), dtype=np.int64)
        return self.kind(topic.in_order(by_name[random.permutation(topic.n_runs)]), random, **self.options)

    def __repr__(self) -> str:
        return f"Strategy({self.name})"


def as_strategy(strategy: str | Strategy | type[Chooser]) -> Strategy:
    """Return a strategy as it is, or the one of a name or chooser, with its defaults."""
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
    return wrong("kind", why)


def options_of(kind: type[Chooser]) -> dict[str, Any]:
    """Return the options of a chooser and their defaults."""
    parameters = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


def judged_in_order(
    strategy: Strategy, topic: TopicLists, relevant: NDArray[np.int8], *, seed: int, budget: int
) -> NDArray[np.int64]:
    """Return (judged,) the documents that get a label, in the order of judging; see :func:`judging`."""
    return np.fromiter(islice(judging(strategy.start(topic, seed), relevant), budget), dtype=np.int64)


def judging(chooser: Chooser, relevant: NDArray[np.int8]) -> Iterator[int]:
    """Yield the documents that get a label, each before the chooser learns it; (documents,) 1, 0, or -1 for none."""
    known: list[bool | None] = [None if label < 0 else bool(label) for label in relevant.tolist()]
    while (document := chooser.next()) is not None:
        label = known[document]
        if label is not None:
            yield document
        chooser.learn(document, label)
