"""Work by topics: cut into jobs, done here or elsewhere, or as shards in files."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import ShardNumber, examples
from pt_reuse._errors import InputError, having
from pt_reuse._job_tasks import Job
from pt_reuse._jobs import JobPlace, run_jobs
from pt_reuse.arrays.field import Field
from pt_reuse.arrays.open_field import AnyField, OpenField
from pt_reuse.data.array_file import ArrayFile, DamagedError, on_disk, write_arrays

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

    kind: str
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

    def job(self, topics: range, field: AnyField, *, verbose: bool = False) -> Job[Arrays]:
        """Return the job of some topics, of the field of the work or, for another process, of one with these topics."""
        if field is self.field:
            self.prepare()
            return _Here(self, topics, verbose)
        return _Sent(self.of_topics(topics, field), topics.start, self.rows_before(topics.start))


@dataclass(frozen=True)
class TopicJobs:
    """The jobs of a work, and who does them."""

    work: ArrayWork
    field: AnyField
    cut: Sequence[range]
    where: JobPlace
    n_jobs: int | None
    verbose: bool = False

    def run(self) -> Iterator[Arrays]:
        """Do the jobs, and yield what each returns, in their order."""
        if self.where is JobPlace.HERE or len(self.cut) < 2:
            for topics in self.cut:
                yield self.work.job(topics, self.field, verbose=self.verbose).run()
        elif self.where is JobPlace.THREADS:
            jobs = (self.work.job(topics, self.field) for topics in self.cut)
            yield from self._done(jobs, len(self.cut), prefer="threads")
        else:
            with on_disk(self.field) as field:
                groups = self._grouped(field)
                yield from self._done((self.work.job(some, self._having(field, some)) for some in groups), len(groups))

    def share(self, k: int, n: int) -> TopicJobs:
        """Return the k-th of n shares, counted from 1: jobs of neighbouring topics, about as many rows in each."""
        rows = np.append(self.field.lengths.sum(axis=1), 0)[self._rows(range(len(self.work.topics)))] + 1
        # each topic goes by the middle of its rows, so that a share is never cut within a topic
        owner = (np.cumsum(rows) - rows / 2) * n // max(int(rows.sum()), 1)
        first, stop = np.searchsorted(owner, [k - 1, k]).tolist()
        mine = [range(max(job.start, first), min(job.stop, stop)) for job in self.cut]
        return replace(self, cut=[job for job in mine if len(job)])

    def _done(self, jobs: Iterator[Job[Arrays]], total: int, prefer: str | None = None) -> Iterator[Arrays]:
        return run_jobs(jobs, total, desc="", unit="job", n_jobs=self.n_jobs, verbose=False, prefer=prefer)

    def _rows(self, topics: range) -> list[int]:
        # of each topic its row in the field, -1 where the field lacks it
        return [self.field.topic_row.get(self.work.topics[t], -1) for t in topics]

    def _grouped(self, field: OpenField) -> list[range]:
        # a job has as many blocks that follow one another, or parts of these, as keep the jobs few
        first, stop = self.cut[0].start, self.cut[-1].stop  # of a share not all topics
        blocks = cut_where([0] * (stop - first), parts_of(field, self._rows(range(first, stop))), 0)
        whole = [range(first + block.start, first + block.stop) for block in blocks]
        cut = whole if len(whole) >= _MANY_BLOCKS else self.cut
        size = -(-len(cut) // _JOBS)
        return [range(cut[i].start, cut[min(i + size, len(cut)) - 1].stop) for i in range(0, len(cut), size)]

    def _having(self, field: OpenField, topics: range) -> OpenField:
        held = [row for row in self._rows(topics) if row >= 0]
        return field.of_topics(range(min(held), max(held) + 1) if held else range(0))


class Execution:
    """Which jobs of a work run here: all of them; a :class:`Shard` or a :class:`Merge` says otherwise."""

    def parts(self, work: ArrayWork, jobs: TopicJobs) -> Iterator[Arrays]:
        """Yield the parts of a work in the order of its topics."""
        yield from jobs.run()


class ShardDone(Exception):  # noqa: N818 - nothing went wrong
    """The study ends here: this shard has done its share and kept it."""


_EXECUTION: ContextVar[Execution] = ContextVar("pt_reuse_execution", default=Execution())  # noqa: B039 - it has no state


@contextmanager
def executed_by(execution: Execution) -> Iterator[None]:
    """Have the work by topics of all calls inside done as an Execution says."""
    with having({_EXECUTION: execution}):
        yield


def _many(work: ArrayWork) -> int:
    # numbers of a job where there are to be many, but not more than need be: larger ones are quicker
    per_job = -(-len(work.cut(AT_ONCE_OF_MANY)) // _JOBS)
    return min(AT_ONCE_OF_MANY * per_job, AT_ONCE_IN_PROCESS)


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
        at_once = _many(work) if shown or where is not JobPlace.HERE else AT_ONCE
    jobs = TopicJobs(work, field, work.cut(at_once), where, n_jobs, inside)
    with pt.tqdm(total=len(work.topics), desc=desc, unit="topic", disable=not shown) as bar:
        for part in _EXECUTION.get().parts(work, jobs):
            yield part
            bar.update(len(part_topics(part)))


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


_FILE = re.compile(r"shard-([0-9]{1,7})-of-([0-9]{1,7})\.ptr")


@dataclass(frozen=True)
class ShardFile:
    """The file of a shard, which may not be there."""

    shard: ShardNumber
    path: Path

    @classmethod
    def of(cls, shard: ShardNumber, folder: Path) -> ShardFile:
        """Return the file of a shard in a folder."""
        return cls(shard, folder / shard.file_name)

    def write(self, parts: Iterable[Mapping[str, NDArray]], notes: Mapping[str, Any]) -> None:
        """Write arrays in parts, and what JSON can hold; the file takes its place only when it is whole."""
        arrays: dict[str, NDArray] = {}
        shapes: list[dict[str, Sequence[int]]] = []
        for i, part in enumerate(parts):
            shapes.append({name: array.shape for name, array in part.items()})
            arrays |= {f"{i}/{name}": np.ascontiguousarray(array).reshape(-1) for name, array in part.items()}
        write_arrays(self.path, arrays, {**notes, "parts": shapes})

    def notes(self) -> dict[str, Any]:
        """Return what was written beside the arrays."""
        notes = ArrayFile(self.path).notes
        if "parts" not in notes:
            raise DamagedError("it is no shard")
        # without this a copy would count as there, and never be made again
        if notes.get("shard", self.shard.number) != self.shard.number:
            raise DamagedError(f"it is shard {notes['shard']} under another name")
        return notes

    def parts(self) -> Iterator[dict[str, NDArray]]:
        """Yield the parts, read one by one."""
        file = ArrayFile(self.path)
        for i, shapes in enumerate(file.notes["parts"]):
            arrays = file.read(*(f"{i}/{name}" for name in shapes))
            yield {name: array.reshape(shape) for (name, shape), array in zip(shapes.items(), arrays, strict=True)}

    def check(self) -> None:
        """Raise a DamagedError where anything is not as it was written."""
        self.notes()
        ArrayFile(self.path).check()


class Shard(Execution):
    """Does one share of the jobs, and writes its file."""

    def __init__(self, file: ShardFile, notes: Callable[[], Mapping[str, Any]]):
        self._file, self._notes = file, notes
        self.number = file.shard
        #: which topics were done, in words
        self.done = ""

    def parts(self, work: ArrayWork, jobs: TopicJobs) -> Iterator[Arrays]:
        """Run the jobs of this share and write what comes of them."""
        share = jobs.share(self.number.number, self.number.of)
        topics = range(share.cut[0].start, share.cut[-1].stop) if share.cut else range(0)
        self.write(work, topics, share.run())
        raise ShardDone
        yield  # makes of it what Execution.parts is

    def write(self, work: ArrayWork, topics: range, parts: Iterator[Arrays]) -> None:
        """Write what comes of the topics of this share."""
        mine = [work.topics[t] for t in topics]
        beside = {"kind": work.kind, "topics": mine}
        self._file.path.parent.mkdir(parents=True, exist_ok=True)
        self._file.write(parts, {**self._notes(), "shard": self.number.number, **beside})
        ends = "no topic" if not mine else f"topic {mine[0]}" if len(mine) == 1 else f"topics {mine[0]} to {mine[-1]}"
        self.done = f"{ends} ({len(mine):,} of {len(work.topics):,})"


class Merge(Execution):
    """Reads what shards have written in place of running jobs; what a study does after its first work runs here."""

    def __init__(self, files: Sequence[ShardFile]):
        self._files, self._merged = files, False

    def parts(self, work: ArrayWork, jobs: TopicJobs) -> Iterator[Arrays]:
        """Yield the parts that are read."""
        if self._merged:
            yield from jobs.run()
            return
        self._merged = True
        reached = 0
        for part in self.read(work):
            topics = part_topics(part)
            if topics.start != reached:
                raise InputError(_gap(work, reached, topics.start))
            reached = topics.stop
            yield part
        if reached != len(work.topics):
            raise InputError(_gap(work, reached, len(work.topics)))

    def read(self, work: ArrayWork) -> Iterator[Arrays]:
        """Yield the parts of each shard, one at a time."""
        for file in self._files:
            read: list[str] = []
            try:
                notes = file.notes()
                for part in file.parts():
                    read += (work.topics[t] for t in part_topics(part))
                    yield part
            except DamagedError as error:
                raise InputError(f"{error}. Run this shard again.", place=str(file.path), argument="shards") from error
            if (notes["kind"], notes["topics"]) != (work.kind, read):
                problem = f"it holds {notes['kind']} of other topics than are merged. Run this shard again."
                raise InputError(problem, place=str(file.path), argument="shards")


def _gap(work: ArrayWork, reached: int, start: int) -> str:
    if start < reached:
        return f"parts of {examples(list(work.topics[start:reached]))} are there twice. Give each shard once."
    return f"no part is of {examples(list(work.topics[reached:start]))}. Run the shard that has them, or give its file."


def shards_in(folder: Path) -> list[ShardFile]:
    """Return the shards that a folder has, in their order."""
    named = {path: _FILE.fullmatch(path.name) for path in folder.iterdir()}
    there = (ShardFile(ShardNumber(*map(int, m.groups())), path) for path, m in named.items() if m is not None)
    return sorted((file for file in there if file.path.name == file.shard.file_name), key=lambda f: f.shard)


def in_ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as one writes them, those that follow one another as a range.

    Example:
        >>> in_ranges([3, 9, 10, 11, 12, 31, 33, 34])
        '3, 9-12, 31, 33-34'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
