"""Chooser: says which document of a topic to judge next, and learns its label; every strategy is a kind of it."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import flag, shown, told
from pt_reuse._errors import InputError
from pt_reuse.pooling.adaptive.lists import TopicLists

#: values that are nearer to each other than this are equal; their rounding errors must not grow with the labels
TOLERANCE = 1e-12


class Chooser(ABC):
    """Judges one topic, document by document: :meth:`next` says which, :meth:`learn` takes its label.

    A strategy is a subclass with a `name` and two methods of its own: `choose`, which document of those left, and
    `observe`, what it learns from a label. Options are keyword-only arguments of its constructor, which checks them.
    What it does follows from its lists, its random numbers and the labels alone: fed the same labels again, it stands
    where it stood.

    Args:
        topic: the lists of the runs.
        random: of this topic and seed.

    Attributes:
        name: what the strategy is called.
        topic: as given.
        random: as given.
        left: (documents,) which are not judged yet.
        n_left: how many that are.
    """

    name: ClassVar[str]

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        self.topic, self.random = topic, random
        self.left: NDArray[np.bool_] = np.ones(len(topic), dtype=bool)
        self.n_left = len(topic)
        self._asked: int | None = None

    def next(self) -> int | None:
        """Return the document to judge, as a position in ``topic.docnos``; None when none is left.

        Asked again before the label came, it returns the same document.

        Raises:
            InputError: the strategy's `choose` returned no document that is left.
        """
        if self._asked is None and self.n_left:
            document = self.choose()
            # no more than this: it is passed a million times
            if type(document) is not int or document < 0 or document >= len(self.left) or not self.left[document]:
                document = self._checked(document)
            self._asked = document
        return self._asked

    def learn(self, document: int, relevant: bool | None) -> None:
        """Take the label of the document that `next` returned.

        Args:
            document: what `next` returned.
            relevant: whether it is relevant; None where the judge gives it no label, and nothing is learnt.

        Raises:
            InputError: a label for another document, or one that is not True, False or None.
        """
        if document != self._asked or document is None:
            raise InputError(self._not_asked(document), argument="document")
        if not (relevant is None or relevant is True or relevant is False):
            relevant = flag("relevant", relevant)
        self._asked = None
        self.left[document] = False
        self.n_left -= 1
        self.leave(document)
        if relevant is not None:
            self.observe(document, relevant)

    @abstractmethod
    def choose(self) -> int:
        """Return a document that is left; at least one is."""

    @abstractmethod
    def observe(self, document: int, relevant: bool) -> None:
        """Learn the label of a document, which is left no more.

        Args:
            document: which.
            relevant: whether it is relevant.
        """

    def leave(self, document: int) -> None:  # noqa: B027
        """Take note that a document is judged, with a label or without; `observe` follows where it has one.

        Args:
            document: which.
        """

    def reason(self, document: int) -> str:
        """Return why the document was chosen, in words; asked between `next` and `learn`.

        Args:
            document: what `next` returned.
        """
        return ""

    def _checked(self, document: Any) -> int:
        """Return what `choose` returned as an int, or say why it is no document that is left."""
        try:
            if isinstance(document, bool):
                raise TypeError
            number = operator.index(document)
        except TypeError:
            fault = f"{told(document)}, which is no whole number"
        else:
            if 0 <= number < len(self.left) and self.left[number]:
                return number
            fault = (
                f"document {shown(self.topic.docnos[number])} ({number}), which is judged already"
                if 0 <= number < len(self.left)
                else f"{number:,}, where documents are numbered from 0 to {len(self.left) - 1:,}"
            )
        raise InputError(
            f"topic {shown(self.topic.qid)}: strategy {self.name!r} chose {fault}. Let its choose() return the number "
            "of a document that is left: one for which self.left is True."
        )

    def _not_asked(self, document: int) -> str:
        def named(number: int) -> str:
            return shown(self.topic.docnos[number]) if 0 <= number < len(self.topic) else shown(number)

        asked = "none was asked for" if self._asked is None else f"asked for was {named(self._asked)}"
        return (
            f"topic {shown(self.topic.qid)}: strategy {self.name!r} was given the label of document "
            f"{named(document)}, but {asked}. Give each label to the document that next() returned."
        )


def first_of_best(values: NDArray[np.float64]) -> int:
    """Return the first position whose value is within 1e-12 of the largest."""
    # argmax is faster than max
    return int((values >= values[values.argmax()] - TOLERANCE).argmax())
