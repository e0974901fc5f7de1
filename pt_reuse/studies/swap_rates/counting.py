"""Which samples of topics are drawn, and the counting of swaps in as many jobs as one likes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.engine.swaps import Bins, Ints, TopicSums, count_swaps

#: pairs of samples that one job counts
_SHARE = 2500
#: resamples that one job counts
_RESAMPLES = 10


@dataclass(frozen=True)
class Sampling:
    """How samples of topics are drawn; the same for every field with as many topics.

    Attributes:
        pairs: how many pairs of samples of each size.
        replace: whether a sample can have a topic twice, and both samples the same topic.
        seed: of the draws; those of one size do not depend on the other sizes.
    """

    pairs: int
    replace: bool
    seed: int

    def most(self, n_topics: int) -> int:
        """Return the largest size of the samples that is drawn where nobody names sizes."""
        return n_topics if self.replace else n_topics // 2

    def draws(self, size: int, n_topics: int) -> Ints:
        """Return (pairs, 2, size) topics."""
        random = np.random.default_rng([self.seed, size])
        if self.replace:
            return random.integers(0, n_topics, (self.pairs, 2, size))
        shuffled = random.random((self.pairs, n_topics)).argsort(axis=1)
        return shuffled[:, : 2 * size].reshape(self.pairs, 2, size)


@dataclass(frozen=True)
class Task:
    """What one job counts; it needs nothing else, so that it can run anywhere.

    Attributes:
        sums: the scores.
        drawn: (draws, 2, size) numbers of topics.
        bins: of the differences.
        topics: (resamples, topics) what each number stands for, one count for each row; None for itself.
    """

    sums: TopicSums
    drawn: Ints
    bins: Bins
    topics: Ints | None = None

    def run(self) -> Ints:
        """Return (resamples, 2, bins) pairs and swaps; of one resample where the topics stand for themselves."""
        drawn = [self.drawn] if self.topics is None else (topics[self.drawn] for topics in self.topics)
        return np.stack([count_swaps(self.sums, topics, self.bins) for topics in drawn])


def counted(
    fields: Sequence[TopicSums], drawn: Sequence[Ints], bins: Bins, *, n_jobs: int | None, verbose: bool
) -> Ints:
    """Count pairs and swaps of each field in the draws that go with it.

    Args:
        fields: scores, one for each array of draws.
        drawn: (draws, 2, size) each.
        bins: of the differences.
        n_jobs: as joblib takes it.
        verbose: whether to show a progress bar.

    Returns:
        (fields, 2, bins).
    """
    at, tasks = [], []
    for number, (sums, topics) in enumerate(zip(fields, drawn, strict=True)):
        for start in range(0, len(topics), _SHARE):
            at.append(number)
            tasks.append(Task(sums, topics[start : start + _SHARE], bins))
    found = np.zeros((len(fields), 2, bins.n), dtype=np.int64)
    for number, counts in zip(at, _run_tasks(tasks, n_jobs=n_jobs, verbose=verbose), strict=True):
        found[number] += counts[0]
    return found


def counted_again(
    fields: Sequence[TopicSums],
    drawn: Sequence[Ints],
    resampled: Sequence[Ints],
    bins: Bins,
    *,
    n_jobs: int | None,
    verbose: bool,
) -> Iterator[Ints]:
    """Yield for each field (resamples, 2, bins) pairs and swaps, its topics drawn anew for each resample.

    Args:
        fields: scores, one for each array of draws.
        drawn: (draws, 2, size) each; the same ones for every resample.
        resampled: (resamples, topics) each, which topics there are.
        bins: of the differences.
        n_jobs: as joblib takes it.
        verbose: whether to show a progress bar.
    """
    tasks = [
        Task(sums, topics, bins, lists[start : start + _RESAMPLES])
        for sums, topics, lists in zip(fields, drawn, resampled, strict=True)
        for start in range(0, len(lists), _RESAMPLES)
    ]
    done = iter(_run_tasks(tasks, n_jobs=n_jobs, verbose=verbose))
    for lists in resampled:
        yield np.concatenate([next(done) for _ in range(0, len(lists), _RESAMPLES)])


def topics_of(counts: NDArray[np.int64]) -> Ints:
    """Return (resamples, topics): which topics there are, from how often each is drawn."""
    return np.stack([np.repeat(np.arange(len(row)), row) for row in counts])


def _run_tasks(tasks: Sequence[Task], *, n_jobs: int | None, verbose: bool) -> Iterable[Ints]:
    """Run tasks by joblib, in threads unless the user has configured otherwise, and return the counts in order."""
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    generates = get_active_backend(prefer="threads")[0].supports_return_generator
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator" if generates else "list")
    done: Iterable[Ints] = parallel(delayed(_run)(task) for task in tasks)
    return pt.tqdm(done, total=len(tasks), desc="counting swaps", unit="part", disable=not verbose)


def _run(task: Task) -> Ints:
    return task.run()
