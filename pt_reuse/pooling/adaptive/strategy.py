"""Strategy: a kind of chooser with its options, ready to be started on any topic."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import did_you_mean, examples, told
from pt_reuse._errors import InputError
from pt_reuse.pooling.adaptive.chooser import Chooser
from pt_reuse.pooling.adaptive.lists import TopicLists, random_of_topic


class Strategy:
    """A way to choose what to judge next, with its options.

    Args:
        kind: the chooser, a subclass of :class:`Chooser`.
        **options: keyword arguments of the chooser.

    Attributes:
        kind: as given.
        options: as given.

    Raises:
        InputError: something that is no chooser, or an option that it does not know.
    """

    def __init__(self, kind: type[Chooser], **options: Any):
        if not (inspect.isclass(kind) and issubclass(kind, Chooser)):
            raise InputError(f"a strategy must be a subclass of Chooser, got {told(kind)}.", argument="kind")
        known = options_of(kind)
        for name in options:
            if name not in known:
                there = f"there is {examples(known, 12)}" if known else "it has none"
                raise InputError(
                    f"strategy {kind.name!r} has no option {name!r}; {there}.{did_you_mean(name, known)}",
                    argument=name,
                )
        self.kind = kind
        self.options: Mapping[str, Any] = dict(options)

    @property
    def name(self) -> str:
        """Return the chooser's name and the options that were given: ``epsilon-greedy(epsilon=0.1)``."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.kind.name}({options})" if options else self.kind.name

    def start(self, topic: TopicLists, seed: int) -> Chooser:
        """Return a chooser for a topic.

        Args:
            topic: the lists; the runs are tried in a random order, so that no run has an advantage of its name.
            seed: with the topic's id it decides all that is random.
        """
        random = random_of_topic(seed, topic.qid)
        return self.kind(topic.in_order(random.permutation(topic.n_runs)), random, **self.options)

    def __repr__(self) -> str:
        return f"Strategy({self.name})"


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
    order: list[int] = []
    chooser = strategy.start(topic, seed)
    known: list[bool | None] = [None if label < 0 else bool(label) for label in relevant.tolist()]
    while len(order) < budget:
        document = chooser.next()
        if document is None:
            break
        label = known[document]
        chooser.learn(document, label)
        if label is not None:
            order.append(document)
    return np.array(order, dtype=np.int64)
