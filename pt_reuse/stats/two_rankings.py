"""How well two scorings of the same systems rank them alike, in numbers that may carry intervals over topics."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._errors import warn
from pt_reuse._job_place import JobPlace
from pt_reuse._jobs import run_jobs
from pt_reuse.engine import pairs
from pt_reuse.stats._ranking_input import rounded
from pt_reuse.stats.bootstrap import TopicBootstrap, drawn_at_once

#: coefficients of two rankings
COEFFICIENTS = ("tau_b", "gamma", "tau_ap_b")
#: the most places that a system loses, and gains
CHANGES = ("max_drop", "max_rise")
#: the coefficients and changes of rank that studies report
NUMBERS = (*COEFFICIENTS, *CHANGES)
#: means of runs in draws that one job ranks
JOB_CELLS = 1 << 19


@dataclass(frozen=True)
class TopicScores:
    """Scores of systems on each topic, and over which topics their means are.

    Attributes:
        values: (topics, runs).
        has_topic: (topics, runs) whether the topic counts for the run; None where all count for all.
    """

    values: NDArray[np.float64]
    has_topic: NDArray[np.bool_] | None = None

    def of(self, topics: Sequence[int], runs: Sequence[int]) -> TopicScores:
        """Return the scores of some topics and runs, in that order."""
        rows = np.ix_(np.asarray(topics, dtype=np.int64), np.asarray(runs, dtype=np.int64))
        return TopicScores(self.values[rows], None if self.has_topic is None else self.has_topic[rows])

    def means(self, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return (draws, runs) means, each topic as often as (draws, topics) `counts` say; default one draw of all.

        A run that has none of the topics drawn has the mean 0.
        """
        n_topics = len(self.values)
        weight = np.ones((1, n_topics)) if counts is None else counts.astype(np.float64)
        if self.has_topic is None:
            return weight @ self.values / np.maximum(weight.sum(axis=1), 1)[:, None]
        return weight @ np.where(self.has_topic, self.values, 0.0) / np.maximum(weight @ self.has_topic, 1)


def ranking_agreement(
    truth: TopicScores,
    estimate: TopicScores,
    bootstrap: TopicBootstrap | None = None,
    *,
    coefficients: Sequence[str] = COEFFICIENTS,
) -> dict[str, float]:
    """Return tau_b, gamma, tau_ap_b, max_drop and max_rise of two rankings, and with a bootstrap the ends of each.

    Args:
        truth: scores of the ranking taken as right.
        estimate: of the ranking to be judged: the same topics and runs, both drawn together.
        bootstrap: over topics; None for no intervals, when the two need not have the same topics.
        coefficients: which ones, keys of :data:`pt_reuse.engine.pairs.COEFFICIENTS`.

    Returns:
        dict: the numbers under their names and, with a bootstrap, ``tau_b_low``, ``tau_b_high`` and so on after each:
        within -1 and 1, of changes of rank whole numbers from 0 to the number of runs less one. With fewer than two
        topics there is nothing to draw, and the ends are NaN.

    Warns:
        ReuseWarning: draws in which a coefficient has no value, as all runs tie; its interval is of the others.
    """
    (found,) = ranking_agreements([(truth, estimate)], 1, bootstrap, coefficients=coefficients)
    return found


def ranking_agreements(
    compared: Iterable[tuple[TopicScores, TopicScores]],
    n_compared: int,
    bootstrap: TopicBootstrap | None,
    *,
    coefficients: Sequence[str] = COEFFICIENTS,
) -> Iterator[dict[str, float]]:
    """Yield what :func:`ranking_agreement` says of each truth and estimate, with jobs that go over all of them.

    Args:
        compared: the two, made when they are asked for; all of as many topics and runs.
        n_compared: how many there are.
        bootstrap: over topics, None for no intervals.
        coefficients: which ones.
    """
    ahead: deque[tuple[dict[str, float], tuple[int, ...]]] = deque()

    def noted() -> Iterator[tuple[TopicScores, TopicScores]]:
        for truth, estimate in compared:
            found = numbers_of(truth.means(), estimate.means(), coefficients)
            ahead.append(({name: float(values[0]) for name, values in found.items()}, truth.values.shape))
            yield truth, estimate

    if bootstrap is None:
        for _ in noted():
            yield ahead.popleft()[0]
        return
    for drawn in _drawn_numbers(noted(), n_compared, bootstrap, coefficients):
        numbers, (n_topics, n_runs) = ahead.popleft()
        if n_topics > 1:
            _tell_undefined(drawn, numbers)
        yield _with_ends(numbers, drawn, n_runs, bootstrap)


def _with_ends(
    numbers: dict[str, float], drawn: dict[str, NDArray[np.float64]], n_runs: int, bootstrap: TopicBootstrap
) -> dict[str, float]:
    row: dict[str, float] = {}
    for name, number in numbers.items():
        if name in CHANGES:
            ends = bootstrap.interval(number, drawn[name], within=(0, max(0, n_runs - 1)), integer=True)
        else:
            ends = bootstrap.interval(number, drawn[name], within=(-1, 1))
        row |= {name: number, f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return row


@dataclass(frozen=True)
class _DrawnRankings:
    """The job that compares the rankings of some draws, (draws, runs) means of both.

    Means are made before, in one process: their last bits depend on how a machine multiplies matrices.
    """

    truths: NDArray[np.float64]
    estimates: NDArray[np.float64]
    coefficients: Sequence[str]

    def run(self) -> dict[str, NDArray[np.float64]]:
        """Return the numbers, (draws,) each."""
        return numbers_of(self.truths, self.estimates, self.coefficients)


def _drawn_numbers(
    compared: Iterable[tuple[TopicScores, TopicScores]],
    n_compared: int,
    bootstrap: TopicBootstrap,
    coefficients: Sequence[str],
) -> Iterator[dict[str, NDArray[np.float64]]]:
    """Yield the numbers of each two in all draws, (draws,) each; one draw of NaN where there is nothing to draw."""
    others = iter(compared)
    first = next(others, None)
    if first is None:
        return
    everyone = chain([first], others)
    n_topics, n_runs = first[0].values.shape
    if n_topics < 2:
        for _ in everyone:
            yield {name: np.full(1, np.nan) for name in (*coefficients, *CHANGES)}
        return
    rankings = max(1, JOB_CELLS // max(1, n_runs))
    n_jobs = n_compared * sum(-(-n // rankings) for n in drawn_at_once(n_topics, bootstrap.resamples))
    jobs = (job for pair in everyone for job in _jobs(*pair, bootstrap, coefficients, rankings))
    parts = _done(jobs, n_jobs, bootstrap.n_jobs, cells=n_compared * bootstrap.resamples * n_runs)
    held: list[dict[str, NDArray[np.float64]]] = []
    n = 0
    for part in parts:
        held.append(part)
        n += len(part[CHANGES[0]])
        if n == bootstrap.resamples:
            yield {name: np.concatenate([part[name] for part in held]) for name in part}
            held, n = [], 0


def _jobs(
    truth: TopicScores, estimate: TopicScores, bootstrap: TopicBootstrap, coefficients: Sequence[str], rankings: int
) -> Iterator[_DrawnRankings]:
    for counts in bootstrap.blocks(len(truth.values)):
        truths, estimates = truth.means(counts), estimate.means(counts)
        for start in range(0, len(counts), rankings):
            some = slice(start, start + rankings)
            yield _DrawnRankings(truths[some], estimates[some], coefficients)


def _done(
    jobs: Iterator[_DrawnRankings], total: int, n_jobs: int | None, *, cells: int
) -> Iterator[dict[str, NDArray[np.float64]]]:
    # what is sooner done than handed out is done here, and joblib is not even asked
    if cells < 2 * JOB_CELLS or n_jobs == 1 or JobPlace.of(n_jobs, prefer="threads") is JobPlace.HERE:
        return (job.run() for job in jobs)
    return run_jobs(jobs, total, desc="", unit="part", n_jobs=n_jobs, verbose=False, prefer="threads")


def numbers_of(
    truths: NDArray[np.float64], estimates: NDArray[np.float64], coefficients: Sequence[str] = COEFFICIENTS
) -> dict[str, NDArray[np.float64]]:
    """Return the coefficients, and max_drop and max_rise, (draws,) each, of (draws, runs) means of both."""
    found = pairs.coefficients(rounded(truths), rounded(estimates), coefficients)
    return {name: found[name].astype(np.float64) for name in (*coefficients, *CHANGES)}


def whole_changes(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with changes of rank, and their ends where there are any, as whole numbers, if none is NaN."""
    of_rank = [name for name in map(str, table) if name.removeprefix("own_").startswith((*CHANGES, "rise"))]
    return table.astype({column: np.int64 for column in of_rank if not table[column].isna().any()})


def _tell_undefined(drawn: dict[str, NDArray[np.float64]], numbers: dict[str, float]) -> None:
    """Warn where a coefficient has a value of all topics and none in some draws."""
    for name, values in drawn.items():
        lost = int(np.isnan(values).sum())
        # tau_ap is not defined with ties, of which most rankings of few topics have some
        if lost and name != "tau_ap" and not np.isnan(numbers[name]):
            warn(
                f"in {lost:,} of {len(values):,} resamples of the topics all runs tie, so that there is no ranking to "
                "compare. The intervals of the coefficients are of the other resamples."
            )
            return
