"""Work by topics: cut into jobs, done here or elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._jobs import Job, JobPlace, run_jobs
from pt_reuse.arrays.field import AnyField, Field, OpenField
from pt_reuse.data.store import on_disk

#: what a job returns: arrays alone, so that they can be sent, saved and loaded. ``TOPICS`` is always among them
Arrays: TypeAlias = dict[str, NDArray[Any]]
#: the name of the array that says which topics a part is of: the first one, and the one after the last
TOPICS = "topics"
#: numbers held at a time for a job: scores, rows of runs and judgments; 128 MB
AT_ONCE = 1 << 24
#: the same where a progress bar is to move, and where several jobs run at a time: at least, and in a process of its own
AT_ONCE_OF_MANY, AT_ONCE_IN_PROCESS = AT_ONCE >> 5, AT_ONCE >> 2
#: jobs at most, each of neighbouring topics
_JOBS = 256
#: blocks from which on a job takes whole ones, so that each is read once
_MANY_BLOCKS = 32


def cut_where(sizes: Sequence[int], part: Sequence[int], at_once: int) -> list[range]:
    """Return neighbouring topics, as few ranges as hold at most so many numbers; a topic is never cut."""
    ranges, first, held, at = [], 0, 0, -1
    for t, (size, here) in enumerate(zip(sizes, part, strict=True)):
        if t > first and (held + size > at_once or (here >= 0 and at >= 0 and here != at)):
            ranges.append(range(first, t))
            first, held, at = t, 0, -1
        held += size
        at = here if here >= 0 else at
    return [*ranges, range(first, len(sizes))] if len(sizes) else []


def parts_of(field: AnyField, rows: Sequence[int]) -> list[int]:
    """Return the block in which each of some topics lies, -1 for those whose row is -1."""
    part_of = np.append(np.repeat(np.arange(len(field.parts)), [len(part) for part in field.parts]), -1)
    found: list[int] = part_of[np.asarray(rows, dtype=np.int64)].tolist()
    return found


def part_topics(part: Arrays) -> range:
    """Return the topics of a part, as positions among all topics of the work."""
    start, stop = part[TOPICS].tolist()
    return range(start, stop)


def topics_array(topics: range) -> NDArray[np.int64]:
    """Return what stands under ``TOPICS``."""
    return np.array([topics.start, topics.stop], dtype=np.int64)


class ArrayWork(ABC):
    """Work that can be done for some topics without the others; its bits do not depend on how it is cut."""

    field: AnyField
    topics: Sequence[str]
    has_own_bar: bool = False
    axes: ClassVar[Mapping[str, int]] = {}

    @abstractmethod
    def cut(self, at_once: int) -> list[range]:
        """Return neighbouring topics that belong in one job, as few jobs as hold at most so many numbers each."""

    @abstractmethod
    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return what comes of some neighbouring topics; what else is being done makes no difference to it."""

    @abstractmethod
    def of_topics(self, topics: range, field: AnyField) -> ArrayWork:
        """Return the same work of some neighbouring topics alone, small to send."""

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


def run_topics(
    work: ArrayWork,
    field: AnyField,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
    desc: str,
    at_once: int | None = None,
) -> Iterator[Arrays]:
    """Do some work topic by topic, and yield its parts in the order of the topics."""
    where = JobPlace.of(n_jobs, prefer="threads" if isinstance(field, Field) else None)
    inside = verbose and work.has_own_bar and where is JobPlace.HERE
    shown = verbose and not inside
    if at_once is None:
        at_once = AT_ONCE
        if shown or where is not JobPlace.HERE:
            # many jobs, but not more than need be: larger ones are quicker
            at_once = min(AT_ONCE_OF_MANY * -(-len(work.cut(AT_ONCE_OF_MANY)) // _JOBS), AT_ONCE_IN_PROCESS)
    cut = work.cut(at_once)
    with ExitStack() as stack:
        jobs: Iterable[Job[Arrays]]
        if where is not JobPlace.PROCESSES or len(cut) < 2:
            work.prepare()
            jobs = (TopicJob(work, topics, verbose=inside) for topics in cut)
        else:
            there = stack.enter_context(on_disk(field))
            cut = grouped(work, there, cut)
            jobs = (TopicJob.sent(work, topics, there) for topics in cut)
        bar = stack.enter_context(pt.tqdm(total=len(work.topics), desc=desc, unit="topic", disable=not shown))
        done: Iterator[Arrays] = (job.run() for job in jobs)
        if where is not JobPlace.HERE and len(cut) > 1:
            prefer = "threads" if where is JobPlace.THREADS else None
            done = run_jobs(jobs, len(cut), desc="", unit="job", n_jobs=n_jobs, verbose=False, prefer=prefer)
        for part in done:
            yield part
            bar.update(len(part_topics(part)))


def _rows(work: ArrayWork, field: AnyField, topics: range) -> list[int]:
    # of each topic its row in the field, -1 where the field lacks it
    return [field.topic_row.get(work.topics[t], -1) for t in topics]


def grouped(work: ArrayWork, field: OpenField, cut: Sequence[range]) -> list[range]:
    """Return the topics of each job of another process, as many as keep the jobs few; whole blocks of many."""
    topics = range(len(work.topics))
    whole = cut_where([0] * len(topics), parts_of(field, _rows(work, field, topics)), 0)
    cut = whole if len(whole) >= _MANY_BLOCKS else cut
    size = -(-len(cut) // _JOBS)
    return [range(cut[i].start, cut[min(i + size, len(cut)) - 1].stop) for i in range(0, len(cut), size)]


@dataclass(frozen=True)
class TopicJob:
    """Some topics of a work, or a part at a time all of a work that was made for the job, which stand elsewhere."""

    work: ArrayWork
    topics: range | None  # None for all that the work has
    before: tuple[int, int] = (0, 0)  # topics and rows of judgments before those of the work
    verbose: bool = False

    @classmethod
    def sent(cls, work: ArrayWork, topics: range, field: OpenField) -> TopicJob:
        """Return the job for another process, small to send."""
        held = [row for row in _rows(work, field, topics) if row >= 0]
        there = field.of_topics(range(min(held), max(held) + 1) if held else range(0))
        return cls(work.of_topics(topics, there), None, (topics.start, work.rows_before(topics.start)))

    @property
    def place(self) -> str:
        names = self.work.topics if self.topics is None else self.work.topics[self.topics.start : self.topics.stop]
        return f"topic {names[0]!r}" if len(names) == 1 else f"topics {names[0]!r} to {names[-1]!r}"

    def run(self) -> Arrays:
        if self.topics is not None:
            return self.work.part(self.topics, verbose=self.verbose)
        self.work.prepare()
        whole = self.work.joined([self.work.part(topics) for topics in self.work.cut(AT_ONCE_IN_PROCESS)])
        first_topic, first_row = self.before
        moved: dict[str, Any] = {TOPICS: first_topic, "topic": first_topic, "row": first_row}
        return whole | {name: whole[name] + n for name, n in moved.items() if name in whole}
