"""Jobs of work by topics, for work that is the same on some of its topics as on all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pt_reuse._check import examples
from pt_reuse.engine.open_field import AnyField
from pt_reuse.runs.topic_parts import AT_ONCE_IN_PROCESS, TOPICS, Arrays, TopicJob


class ArrayWork(ABC):
    """Work of which a job shares the memory of this process, or takes along what its topics need and no more.

    In its arrays, what ``topics`` and ``topic`` name is counted among all topics, and a ``row`` among all judgments.

    Attributes:
        kind: what is done, in a word.
        field: the runs.
        topics: all topics of the work, in order.
        has_own_bar: whether a job can show a progress bar of its own.
        axes: array -> the axis along which parts are joined, where that is not the first.
    """

    kind: str
    field: AnyField
    topics: Sequence[str]
    has_own_bar: bool = False
    axes: ClassVar[Mapping[str, int]] = {}

    @abstractmethod
    def cut(self, at_once: int) -> list[range]:
        """Return neighbouring topics that belong in one job, see :class:`~pt_reuse.runs.topic_parts.TopicWork`."""

    @abstractmethod
    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return what comes of some neighbouring topics; what else is being done makes no difference to it."""

    @abstractmethod
    def of_topics(self, topics: range, field: AnyField) -> ArrayWork:
        """Return the same work of some neighbouring topics alone, small to send.

        Args:
            topics: the topics.
            field: the runs, with these topics and perhaps others.
        """

    def prepare(self) -> None:  # noqa: B027 - there may be nothing to build
        """Build what jobs of this process share; it is there before the first of them runs."""

    def rows_before(self, t: int) -> int:
        """Return how many judgments the topics before one have."""
        return 0

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        """Return parts that follow one another as one."""
        if len(parts) == 1:
            return parts[0]
        found = {name: np.concatenate([part[name] for part in parts], axis=self.axes.get(name, 0)) for name in parts[0]}
        found[TOPICS] = found[TOPICS][[0, -1]]
        return found

    def job(self, topics: range, field: AnyField, *, verbose: bool = False) -> TopicJob:
        """Return the job of some neighbouring topics, see :class:`~pt_reuse.runs.topic_parts.TopicWork`."""
        if field is self.field:
            self.prepare()
            return _Here(self, topics, verbose)
        return _Sent(self.of_topics(topics, field), topics.start, self.rows_before(topics.start))


def place_of(topics: Sequence[str], field: AnyField) -> str:
    """Return which topics these are, and the files of their runs."""
    of = f"topic {topics[0]!r}" if len(topics) == 1 else f"topics {topics[0]!r} to {topics[-1]!r}"
    rows = [field.topic_row[topic] for topic in topics if topic in field.topic_row]
    files = field.places(range(min(rows), max(rows) + 1)) if rows else []
    return f"{of} of {examples(files)}" if files else of


@dataclass(frozen=True)
class _Here:
    """A job that shares the memory of this process."""

    work: ArrayWork
    topics: range
    verbose: bool

    @property
    def place(self) -> str:
        return place_of(self.work.topics[self.topics.start : self.topics.stop], self.work.field)

    def run(self) -> Arrays:
        return self.work.part(self.topics, verbose=self.verbose)


@dataclass(frozen=True)
class _Sent:
    """A job for another process: work of its topics alone, and where these stand among all."""

    work: ArrayWork
    first_topic: int
    first_row: int

    @property
    def place(self) -> str:
        return place_of(self.work.topics, self.work.field)

    def run(self) -> Arrays:
        self.work.prepare()
        parts = [self.work.part(topics) for topics in self.work.cut(AT_ONCE_IN_PROCESS)]
        found = self.work.joined(parts)
        before: dict[str, Any] = {TOPICS: self.first_topic, "topic": self.first_topic, "row": self.first_row}
        return found | {name: found[name] + n for name, n in before.items() if name in found}
