"""Where each run has its judged and unjudged documents, topic by topic: what pool inference looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse._jobs import JobPlace, folder_for_jobs, run_jobs
from pt_reuse.arrays.open_field import AnyField, OpenField
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels


class KeptArray(Protocol):
    """An array that is somewhere."""

    def get(self) -> NDArray[Any]:
        """Return it, to be read."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """An array as it is."""

    array: NDArray[Any]

    def get(self) -> NDArray[Any]:
        """Return it."""
        return self.array


@dataclass(frozen=True)
class InFile:
    """An array in a file, of which the system holds what is being read; a job for another process takes the place."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str

    def get(self) -> NDArray[Any]:
        """Return it."""
        if 0 in self.shape:
            return np.zeros(self.shape, dtype=self.dtype)
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


class Keeper:
    """Keeps arrays: in memory, or one after the other in a file.

    Args:
        path: of the file; None for memory.
    """

    def __init__(self, path: Path | None = None):
        self._path = path

    def keep(self, array: NDArray[Any]) -> KeptArray:
        """Keep an array."""
        if self._path is None:
            return InMemory(array)
        with self._path.open("ab") as file:
            kept = InFile(str(self._path), file.tell(), array.shape, array.dtype.str)
            array.tofile(file)
        return kept


@contextmanager
def keeper(*, in_file: bool) -> Iterator[Keeper]:
    """Give what keeps arrays for as long as the context lasts, in a file where they are too large or go to workers."""
    if not in_file:
        yield Keeper()
        return
    with folder_for_jobs() as folder:
        yield Keeper(Path(folder) / "topics")


@dataclass(frozen=True)
class RankedTopic:
    """The runs' lists on one topic of the judgments.

    Attributes:
        docs: (runs, longest) the document at each rank, -1 past the end of a list.
        row: (documents + 1,) each document's row of the judgments, -1 for an unjudged one; the last is no document.
    """

    docs: NDArray[np.signedinteger]
    row: NDArray[np.int32]

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Return (documents,): which documents are judged."""
        return self.row[:-1] >= 0

    def entries_to(self) -> NDArray[np.int32]:
        """Return (runs, longest + 1): documents at rank k or better, for k from 0."""
        return np.minimum(self.lengths[:, None], np.arange(self.docs.shape[1] + 1)).astype(np.int32)

    def unjudged_to(self) -> NDArray[np.int32]:
        """Return (runs, longest + 1): unjudged documents at rank k or better, for k from 0."""
        return running((self.docs >= 0) & (self.row < 0).take(self.docs))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): documents of each list."""
        return (self.docs >= 0).sum(axis=1)

    def best(self, runs: NDArray[np.bool_], depth: int | None = None) -> NDArray[np.int32]:
        """Return (documents,): the best rank of each document among the chosen runs, 0 where they do not have it.

        Args:
            runs: (runs,) the chosen ones.
            depth: the last rank to look at; default all.
        """
        lists = self.docs[runs, :depth]
        rank = np.zeros(len(self.row), dtype=np.int32)
        # worst rank first: of several assignments to one document the last one stays
        rank[lists.T[::-1].ravel()] = np.repeat(np.arange(lists.shape[1], 0, -1, dtype=np.int32), len(lists))
        return rank[:-1]

    def best_run(self) -> NDArray[np.int32]:
        """Return (documents,): the first run that has each document at its best rank."""
        run = np.full(len(self.row), -1, dtype=np.int32)
        n_runs, longest = self.docs.shape
        run[self.docs.T[::-1, ::-1].ravel()] = np.tile(np.arange(n_runs - 1, -1, -1, dtype=np.int32), longest)
        return run[:-1]

    def found(self, runs: NDArray[np.bool_], depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (at most depth + 1,) each: judged and unjudged documents in the pool of the chosen runs to depth k."""
        rank = self.best(runs, depth)
        n = min(self.docs.shape[1], depth) + 1
        judged = np.bincount(rank[self.judged], minlength=n)
        every = np.bincount(rank, minlength=n)
        judged[0] = every[0] = 0
        return np.cumsum(judged), np.cumsum(every - judged)


def running(marks: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return (runs, longest + 1): how many marks are at rank k or better, for k from 0."""
    counts = np.zeros((marks.shape[0], marks.shape[1] + 1), dtype=np.int32)
    np.cumsum(marks, axis=1, out=counts[:, 1:])
    return counts


@dataclass(frozen=True)
class Tops:
    """What every run has down to the depth of each topic; documents are numbered over all topics.

    Attributes:
        run, doc: (entries,) topic by topic.
        row: (documents,) each document's row of the judgments, -1 for an unjudged one.
        starts: (topics + 1,) the entries of each topic; `doc_starts` its documents.
        n_runs: runs of the field.
    """

    run: NDArray[np.int64]
    doc: NDArray[np.int64]
    row: NDArray[np.int32]
    starts: NDArray[np.int64]
    doc_starts: NDArray[np.int64]
    n_runs: int

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Return (documents,): which documents are judged."""
        return self.row >= 0

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Return (runs,): documents of each run."""
        return np.bincount(self.run, minlength=self.n_runs)

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return (runs,): unjudged documents of each run."""
        return np.bincount(self.run[~self.judged[self.doc]], minlength=self.n_runs)

    def times(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (documents,): how many of the chosen runs have each document."""
        return np.bincount(self.doc[runs[self.run]], minlength=len(self.row))

    def alone(self, runs: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (runs,) each: judged and unjudged documents that a run has and no other of the chosen runs."""
        alone = self.times(runs)[self.doc] == runs[self.run]
        judged = self.judged[self.doc]
        n = self.n_runs
        return np.bincount(self.run[alone & judged], minlength=n), np.bincount(self.run[alone & ~judged], minlength=n)

    @cached_property
    def of_runs(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return (entries,) the entries run by run, and (runs + 1,) where those of each run begin."""
        order = np.argsort(self.run.astype(np.min_scalar_type(self.n_runs)), kind="stable")
        return order, np.append(0, np.cumsum(self.entries))

    def in_common(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (runs, chosen): documents that each run has in common with each of the chosen runs."""
        chosen = np.flatnonzero(runs)
        total = np.zeros((self.n_runs, len(chosen)))
        for first, last, base, end in zip(
            self.starts[:-1], self.starts[1:], self.doc_starts[:-1], self.doc_starts[1:], strict=True
        ):
            has = np.zeros((self.n_runs, end - base), dtype=np.float32)
            has[self.run[first:last], self.doc[first:last] - base] = 1
            has = has[:, has.any(axis=0)]
            total += has @ has[chosen].T
        return np.rint(total).astype(np.int64)


class Choice:
    """Some runs, of which one after the other goes, and what each has that no other of them has.

    Args:
        tops: what all runs have.
        runs: (runs,) the chosen ones.

    Attributes:
        runs: (runs,) those that are left.
        times: (documents,) how many of them have each document.
        judged, unjudged: (runs,) documents that one of them alone has; 0 for runs that are not chosen.
        documents: in the pool of those that are left, and `wrong`, how many of them are unjudged.
    """

    def __init__(self, tops: Tops, runs: NDArray[np.bool_]):
        self._tops, self.runs = tops, runs.copy()
        of_chosen = runs[tops.run]
        run, doc = tops.run[of_chosen], tops.doc[of_chosen]
        n = len(tops.row)
        self.times = np.bincount(doc, minlength=n)
        # of the runs that have a document the sum of their numbers: where one is left, the sum says which
        self._who = np.bincount(doc, weights=run, minlength=n).astype(np.int64)
        self.judged, self.unjudged = self._alone(np.flatnonzero(self.times == 1))
        pool = self.times > 0
        self.documents, self.wrong = int(pool.sum()), int((pool & ~tops.judged).sum())

    def drop(self, run: int) -> None:
        """Leave out one of the runs."""
        tops = self._tops
        order, starts = tops.of_runs
        docs = tops.doc[order[starts[run] : starts[run + 1]]]
        self.runs[run] = False
        self.times[docs] -= 1
        self._who[docs] -= run
        self.documents -= int(self.judged[run] + self.unjudged[run])
        self.wrong -= int(self.unjudged[run])
        self.judged[run] = self.unjudged[run] = 0
        judged, unjudged = self._alone(docs[self.times[docs] == 1])
        self.judged += judged
        self.unjudged += unjudged

    def _alone(self, docs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # how many of these documents, each of one run, are whose
        who, judged = self._who[docs], self._tops.judged[docs]
        n = self._tops.n_runs
        return np.bincount(who[judged], minlength=n), np.bincount(who[~judged], minlength=n)


@dataclass(frozen=True)
class Unjudged:
    """Asks how many unjudged documents each run has at rank k or better.

    Attributes:
        n_runs: runs of the field.
        longest: the longest list of all topics.
    """

    n_runs: int
    longest: int

    def of(self, topics: Iterable[RankedTopic]) -> NDArray[np.int64]:
        """Return (runs, longest + 1): the sum over some topics; the last count of a topic holds for deeper ranks."""
        total = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for topic in topics:
            counts = topic.unjudged_to()
            total[:, : counts.shape[1]] += counts
            total[:, counts.shape[1] :] += counts[:, -1:]
        return total


@dataclass(frozen=True)
class Found:
    """Asks how many judged and unjudged documents are in a pool to depth k.

    Attributes:
        runs: (runs,) whose pool it is.
        depth: the largest one.
    """

    runs: NDArray[np.bool_]
    depth: int

    def of(self, topics: Iterable[RankedTopic]) -> NDArray[np.int64]:
        """Return (2, topics, depth + 1): judged and unjudged documents; the last ones hold for deeper ranks."""
        return np.stack([self._of(topic) for topic in topics], axis=1)

    def _of(self, topic: RankedTopic) -> NDArray[np.int64]:
        counts = np.stack(topic.found(self.runs, self.depth))
        return np.pad(counts, ((0, 0), (0, self.depth + 1 - counts.shape[1])), mode="edge")


@dataclass(frozen=True)
class Groups:
    """Asks for the group of each document, by the best rank at which any run has it."""

    def of(self, topics: Iterable[RankedTopic]) -> list[NDArray[np.int8]]:
        """Return for each topic (documents,): 0 for rank 1, 1 for 2, 2 for 3 to 4, and so on; -1 for no run's."""
        return [self._of(topic) for topic in topics]

    @staticmethod
    def _of(topic: RankedTopic) -> NDArray[np.int8]:
        rank = topic.best(np.ones(len(topic.docs), dtype=bool))
        group = np.ceil(np.log2(np.maximum(rank, 1))).astype(np.int8)
        return np.where(rank > 0, group, np.int8(-1))


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


_NO_DOCS = np.zeros((0, 0), dtype=np.int32)


@dataclass(frozen=True)
class JudgedCodes:
    """The judgments of a field's documents, which no order of the runs changes.

    Attributes:
        topics: for each topic of the judgments its place in the field, -1 where no run has it.
        rows: for each of them (documents + 1,) the row of the judgments that a document code has, -1 for an unjudged
            one; the last is no document. None where no run has the topic.
        sizes: its documents.
        n_judged: judged documents, also those that no run has.
    """

    topics: list[int]
    rows: list[KeptArray | None]
    sizes: list[int]
    n_judged: int

    @classmethod
    def of(cls, field: AnyField, qrels: Qrels, passes: Passes) -> JudgedCodes:
        """Look the judged documents up in a field."""
        index = HitIndex(field, qrels.arrays.documents)
        rows: list[KeptArray | None] = []
        sizes = []
        for row in index.rows_of_codes(index.topics):
            kept = None if row is None else passes.keeper.keep(np.append(row, np.int32(-1)).astype(np.int32))
            rows.append(kept)
            sizes.append(0 if row is None else len(row))
        return cls(index.field_topic, rows, sizes, len(qrels))


class JudgedRanks:
    """The judged and unjudged ranks of a field that stands in some order.

    Args:
        field: the runs.
        codes: the judgments of its documents; a pair of topic and document with any label counts as judged.
        passes: who keeps the lists, and goes over them.

    Attributes:
        n_runs: runs of the field.
        n_judged: judged documents, also those that no run has.
        has_topic: (topics,) whether any run has each topic of the judgments.
        list_lengths: (topics that a run has, runs) documents of each list.
        longest: the longest of them.
    """

    def __init__(self, field: AnyField, codes: JudgedCodes, passes: Passes):
        self.n_runs, self.n_judged, self._passes = field.n_runs, codes.n_judged, passes
        self.has_topic = np.array([row is not None for row in codes.rows], dtype=bool)
        self._topics = []
        rows = []
        for at, row, size in zip(codes.topics, codes.rows, codes.sizes, strict=True):
            if row is not None:
                rows.append(at)
                self._topics.append(passes.keep(_lists(field, at, size), row))
        self.list_lengths = field.lengths[rows].astype(np.int64)
        self.longest = int(self.list_lengths.max(initial=0))

    def each(self) -> Iterator[RankedTopic | None]:
        """Yield the lists on each topic of the judgments, None where no run has it."""
        kept = iter(self._topics)
        for has in self.has_topic.tolist():
            yield next(kept).load() if has else None

    def over(self, asked: TopicPass[Given]) -> Iterator[Given]:
        """Yield what comes of the topics that any run has, in parts that follow one another."""
        return self._passes.over(self._topics, asked)

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        """Return (documents,), topic by topic: the place in `grouped` of each; the one past it for those of no run."""
        groups = [of_topic for part in self.over(Groups()) for of_topic in part]
        none = len(self.has_topic) * self._n_groups
        cells = [
            # a field that was selected from a larger one knows documents that none of its runs has
            np.where(group >= 0, t * self._n_groups + group.astype(np.int32), none).astype(np.int32)
            for t, group in zip(np.flatnonzero(self.has_topic).tolist(), groups, strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int32), *cells])

    @property
    def _n_groups(self) -> int:
        return int(np.ceil(np.log2(max(self.longest, 1)))) + 1

    @cached_property
    def grouped(self) -> NDArray[np.int64]:
        """Return (topics, groups, 2): documents by the best rank at which any run has them, and how many are judged.

        The groups are ranks 1, 2, 3 to 4, 5 to 8, and so on: the better the rank, the likelier a document is judged,
        whoever was pooled.
        """
        judged = np.concatenate([topic.judged for topic in self.each() if topic is not None])
        n_topics = len(self.has_topic)
        size = n_topics * self._n_groups
        both = [np.bincount(cells, minlength=size + 1)[:size] for cells in (self._cells, self._cells[judged])]
        return np.stack(both, axis=-1).reshape(n_topics, self._n_groups, 2)

    def outside(self, pool: NDArray[np.int64], judged: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics * groups, 2): documents of each group that are not in a pool, and how many are judged.

        Args:
            pool: the documents of the pool.
            judged: (documents,) which are judged.
        """
        rest = self.grouped.reshape(-1, 2).copy()
        for at, of in enumerate((pool, pool[judged[pool]])):
            rest[:, at] -= np.bincount(self._cells[of], minlength=len(rest))
        return rest

    @cached_property
    def entries(self) -> NDArray[np.int64]:
        """Return (runs, longest + 1): documents that a run has at rank k or better, over all topics."""
        ending = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for lengths in self.list_lengths:
            ending[np.arange(self.n_runs), lengths] += 1
        reaching = len(self.list_lengths) - np.cumsum(ending, axis=1)[:, :-1]
        return np.concatenate([np.zeros((self.n_runs, 1), dtype=np.int64), np.cumsum(reaching, axis=1)], axis=1)

    @cached_property
    def missing(self) -> NDArray[np.int64]:
        """Return (runs, longest + 1): how many of the `entries` are unjudged."""
        total = np.zeros((self.n_runs, self.longest + 1), dtype=np.int64)
        for part in self.over(Unjudged(self.n_runs, self.longest)):
            total += part
        return total

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Return (runs,): the longest list of each run."""
        return self.list_lengths.max(axis=0)

    def tops(self, depths: NDArray[np.int64]) -> Tops:
        """Return what every run has down to the depths of the topics."""
        run, doc, row, starts, doc_starts = [], [], [], [0], [0]
        for topic, depth in zip(self.each(), depths.tolist(), strict=True):
            docs = _NO_DOCS if topic is None else topic.docs[:, :depth]
            of_run, at = np.nonzero(docs >= 0)
            run.append(of_run)
            doc.append(docs[of_run, at].astype(np.int64) + doc_starts[-1])
            row.append(np.zeros(0, dtype=np.int32) if topic is None else topic.row[:-1])
            starts.append(starts[-1] + len(of_run))
            doc_starts.append(doc_starts[-1] + len(row[-1]))
        return Tops(
            np.concatenate(run),
            np.concatenate(doc),
            np.concatenate(row),
            np.array(starts),
            np.array(doc_starts),
            self.n_runs,
        )

    def depths(self, depth: int) -> NDArray[np.int64]:
        """Return (topics,): one depth for all; 0 for a topic that no run has, as nothing of it was pooled."""
        return np.where(self.has_topic, depth, 0).astype(np.int64)

    def found(self, runs: NDArray[np.bool_], depth: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (topics, depth + 1) each: judged and unjudged documents in the pool of the runs to depth k.

        Args:
            runs: (runs,) whose pool it is.
            depth: the largest one; default the longest list.
        """
        depth = self.longest if depth is None else min(depth, self.longest)
        found = np.zeros((2, len(self.has_topic), depth + 1), dtype=np.int64)
        if runs.any():
            found[:, self.has_topic] = np.concatenate(list(self.over(Found(runs, depth))), axis=1)
        return found[0], found[1]

    def topic_depths(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics,): the depth at which the pool of the chosen runs differs least from the judged set."""
        judged, unjudged = self.found(runs)
        return np.argmin(unjudged - judged, axis=1).astype(np.int64)


def _lists(field: AnyField, at: int, n_docs: int) -> NDArray[np.signedinteger]:
    # (runs, longest) the documents of a topic of the field, in as few bits as hold their numbers and -1
    lengths = field.lengths[at]
    kind = np.int16 if n_docs <= np.iinfo(np.int16).max else np.int32
    docs = np.full((field.n_runs, int(lengths.max(initial=0))), -1, dtype=kind)
    block, here = field.of(at)
    docs[np.arange(docs.shape[1]) < lengths[:, None]] = block.codes[block.rows(here)]
    return docs
