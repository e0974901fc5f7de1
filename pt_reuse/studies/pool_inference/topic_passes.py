"""Passes over the topics of a field: what one of them asks of each topic, and who does it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from pt_reuse._jobs import JobPlace, run_jobs
from pt_reuse.arrays.open_field import AnyField, OpenField
from pt_reuse.studies.pool_inference.kept_arrays import Keeper, KeptArray, keeper
from pt_reuse.studies.pool_inference.ranked_topic import RankedTopic

Given = TypeVar("Given")
Answer = TypeVar("Answer", covariant=True)
#: ranks of runs that a job looks at, at least: a pass over fewer is sooner done than handed out
_RANKS = {JobPlace.THREADS: 1 << 20, JobPlace.PROCESSES: 1 << 23}
#: jobs of a pass at most
_JOBS = 64


@dataclass(frozen=True)
class KeptTopic:
    """The runs' lists on one topic, wherever they are kept.

    Attributes:
        docs, row: see :class:`RankedTopic`.
        size: ranks of all runs.
    """

    docs: KeptArray
    row: KeptArray
    size: int

    def load(self) -> RankedTopic:
        """Return the lists."""
        return RankedTopic(self.docs.get(), self.row.get())


class TopicPass(Protocol[Answer]):
    """What a pass asks; it is small, so that it can be sent."""

    def of(self, topics: Iterable[RankedTopic]) -> Answer:
        """Return what comes of some neighbouring topics."""


@dataclass(frozen=True)
class _PassJob(Generic[Given]):
    asked: TopicPass[Given]
    topics: Sequence[KeptTopic]

    def run(self) -> Given:
        return self.asked.of(topic.load() for topic in self.topics)


@dataclass(frozen=True)
class Passes:
    """Where the lists are kept between passes, and who goes over them.

    Attributes:
        keeper: keeps the lists.
        where: who goes over them.
        n_jobs: jobs at a time.
    """

    keeper: Keeper = field(default_factory=Keeper)
    where: JobPlace = JobPlace.HERE
    n_jobs: int | None = 1

    def keep(self, docs: NDArray[Any], row: KeptArray) -> KeptTopic:
        """Keep the lists of a topic."""
        return KeptTopic(self.keeper.keep(docs), row, docs.size)

    def over(self, topics: Sequence[KeptTopic], asked: TopicPass[Given]) -> Iterator[Given]:
        """Yield what comes of neighbouring topics, all of them in order; how they are cut is to be of no matter."""
        cut = _cut(topics, _RANKS[self.where]) if self.where in _RANKS else []
        if len(cut) < 2:
            yield asked.of(topic.load() for topic in topics)
            return
        jobs = (_PassJob(asked, topics[some.start : some.stop]) for some in cut)
        yield from run_jobs(jobs, len(cut), desc="", unit="part", n_jobs=self.n_jobs, verbose=False, prefer="threads")


@contextmanager
def passes(runs: AnyField, n_jobs: int | None) -> Iterator[Passes]:
    """Give who goes over the topics of a field, in whatever order its lists stand, while the context lasts.

    Lists of an open field are kept in a file, as those of several orders are needed, and no more is held of it in
    memory than what is being read.

    Args:
        runs: the field.
        n_jobs: topics at a time, as joblib takes it; None for what ``joblib.parallel_config`` says, else 1.
    """
    size = int(runs.lengths.max(axis=1, initial=0).sum()) * runs.n_runs
    # a small field is gone over here, and joblib is not asked
    where = JobPlace.HERE if size < 2 * min(_RANKS.values()) else JobPlace.of(n_jobs, prefer="threads")
    in_file = isinstance(runs, OpenField) or where is JobPlace.PROCESSES
    with keeper(in_file=in_file) as kept:
        yield Passes(kept, where, n_jobs)


def _cut(topics: Sequence[KeptTopic], ranks: int) -> list[range]:
    # neighbouring topics of at least so many ranks, but for the last ones
    at_least = max(ranks, sum(topic.size for topic in topics) // _JOBS)
    cut, first, held = [], 0, 0
    for t, topic in enumerate(topics):
        held += topic.size
        if held >= at_least:
            cut.append(range(first, t + 1))
            first, held = t + 1, 0
    return [*cut, range(first, len(topics))] if first < len(topics) else cut
