"""Which samples of topics are drawn, and the counting of swaps in as many jobs as one likes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._jobs import run_jobs
from pt_reuse.arrays.swaps import Bins, Ints, TopicSums, count_swaps

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
    fields: Sequence[TopicSums],
    sizes: Sequence[int],
    sampling: Sampling,
    bins: Bins,
    *,
    n_jobs: int | None,
    verbose: bool,
) -> Ints:
    """Count pairs and swaps of each field in the samples of its size.

    Returns:
        (fields, 2, bins).
    """
    lines, starts = _alike_together(fields, sizes), range(0, sampling.pairs, _SHARE)
    tasks = (
        Task(fields[line], drawn[start : start + _SHARE], bins)
        for line, drawn in _drawn(lines, fields, sizes, sampling)
        for start in starts
    )
    found = np.zeros((len(fields), 2, bins.n), dtype=np.int64)
    done = _counts(tasks, len(lines) * len(starts), n_jobs=n_jobs, verbose=verbose)
    for number, counts in enumerate(done):
        found[lines[number // len(starts)]] += counts[0]
    return found


def counted_again(
    fields: Sequence[TopicSums],
    sizes: Sequence[int],
    sampling: Sampling,
    resampled: Mapping[int, Ints],
    bins: Bins,
    *,
    n_jobs: int | None,
    verbose: bool,
) -> Iterator[tuple[int, Ints]]:
    """Yield for each field (resamples, 2, bins) pairs and swaps, its topics drawn anew for each resample.

    Args:
        fields: scores, one for each size.
        sizes: of the samples.
        sampling: how these are drawn; the same ones for every resample.
        resampled: number of topics -> (resamples, topics), which topics there are.
        bins: of the differences.
        n_jobs: as joblib takes it.
        verbose: whether to show a progress bar.

    Yields:
        Which field it is, and its counts.
    """
    lines = _alike_together(fields, sizes)
    starts = range(0, min(map(len, resampled.values())), _RESAMPLES)
    tasks = (
        Task(fields[line], drawn, bins, resampled[len(fields[line].scores)][start : start + _RESAMPLES])
        for line, drawn in _drawn(lines, fields, sizes, sampling)
        for start in starts
    )
    done = _counts(tasks, len(lines) * len(starts), n_jobs=n_jobs, verbose=verbose)
    for line in lines:
        yield line, np.concatenate([next(done) for _ in starts])


def _alike_together(fields: Sequence[TopicSums], sizes: Sequence[int]) -> list[int]:
    """Return the numbers of the fields, those that see the same samples one after the other."""
    return sorted(range(len(fields)), key=lambda line: (sizes[line], len(fields[line].scores)))


def _drawn(
    lines: Sequence[int], fields: Sequence[TopicSums], sizes: Sequence[int], sampling: Sampling
) -> Iterator[tuple[int, Ints]]:
    """Yield each field's number and samples, drawn when it is its turn: those of all sizes would not fit in memory."""
    at, drawn = (0, 0), np.empty(0, dtype=np.int64)
    for line in lines:
        wanted = sizes[line], len(fields[line].scores)
        if wanted != at:
            at, drawn = wanted, sampling.draws(*wanted)
        yield line, drawn


def topics_of(counts: NDArray[np.int64]) -> Ints:
    """Return (resamples, topics): which topics there are, from how often each is drawn."""
    return np.stack([np.repeat(np.arange(len(row)), row) for row in counts])


def _counts(tasks: Iterable[Task], total: int, *, n_jobs: int | None, verbose: bool) -> Iterator[Ints]:
    """Return the counts in order, counted in threads unless the user has configured otherwise."""
    return run_jobs(tasks, total, desc="counting swaps", unit="part", n_jobs=n_jobs, verbose=verbose, prefer="threads")
