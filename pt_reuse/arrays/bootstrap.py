"""The bootstrap over topics: what is drawn, the interval that draws give, and how far two rankings agree with one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, checked_seed, fraction, per_cent, whole
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import rounded
from pt_reuse.errors import warn

#: counts held at a time
AT_ONCE = 1 << 21
#: what is known of the interval of the most ranks that a run loses or gains, which settings and notes say beside it
OF_DROPS = {
    "interval of the largest drop": "in simulations it holds the value in 80 to 89 of 100 fields in two of twelve "
    "populations, and in 90 to 100 in the others; where it misses more than 5 of 100, it lies too high"
}
#: any number at all
ANYWHERE = (-np.inf, np.inf)


def drawn_counts(units: int, *, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield how often each unit is drawn, (some of the resamples, units) at a time."""
    random, step = np.random.default_rng(seed), max(1, AT_ONCE // max(1, units))
    for start in range(0, resamples, step):
        n = min(step, resamples - start)
        drawn = random.integers(0, max(1, units), (n, units)) + units * np.arange(n)[:, None]
        yield np.bincount(drawn.ravel(), minlength=n * units).reshape(n, units)


@dataclass(frozen=True)
class TopicBootstrap:
    """How intervals over topics are made."""

    resamples: int
    seed: int
    confidence: float
    n_jobs: int | None = field(default=None, compare=False)

    def words(self) -> str:
        """Return how intervals are made, for settings."""
        return (
            f"{per_cent(self.confidence)} bootstrap over topics, {self.resamples:,} resamples, seed {self.seed}: the "
            "percentile interval joined with its mirror image about the estimate"
        )

    def blocks(self, n_topics: int) -> Iterator[NDArray[np.int64]]:
        """Yield (some resamples, topics) how often each topic is drawn, in bounded memory; all callers get the same."""
        return drawn_counts(n_topics, resamples=self.resamples, seed=self.seed)

    def counts(self, n_topics: int) -> NDArray[np.int64]:
        """Return (resamples, topics): how often each topic is drawn."""
        return np.concatenate(list(self.blocks(n_topics)))

    def interval(
        self,
        estimate: float,
        drawn: NDArray[np.float64],
        *,
        within: tuple[float, float] = ANYWHERE,
        integer: bool = False,
    ) -> tuple[float, float]:
        """Return the ends of the interval of a number that is computed from rankings, NaN where it has none."""
        low, high = self.percentiles(estimate, drawn)
        if np.isnan(low):
            return low, high
        reach = max(estimate - low, high - estimate)
        low, high = max(estimate - reach, within[0]), min(estimate + reach, within[1])
        if integer:
            # first of all the last bit, which would take a whole end to the next number
            low, high = float(np.floor(round(low, 9))), float(np.ceil(round(high, 9)))
        return float(min(low, estimate)), float(max(high, estimate))

    def expanded(self, n_topics: int) -> TopicBootstrap:
        """Return the bootstrap whose percentile interval suits so few topics: it leaves less of the draws outside."""
        from scipy.special import ndtr, stdtrit

        reach = float(stdtrit(n_topics - 1, (1 + self.confidence) / 2)) * (n_topics / (n_topics - 1)) ** 0.5
        return replace(self, confidence=1 - 2 * float(ndtr(-reach)))

    def percentiles(self, estimate: float, drawn: NDArray[np.float64]) -> tuple[float, float]:
        """Return the ends of the percentile interval of a mean or a ratio of sums, NaN where it has none."""
        found = drawn[~np.isnan(drawn)]
        if np.isnan(estimate) or not len(found):
            return float("nan"), float("nan")
        tail = 50 * (1 - self.confidence)
        low, high = np.percentile(found, [tail, 100 - tail]).tolist()
        return min(low, estimate), max(high, estimate)

    def share(self, n: int, of: int, drawn: NDArray[np.float64]) -> tuple[float, float]:
        """Return the ends of the interval of a share of counted things, NaN of none."""
        if not 0 < n < of:
            reach = 1 - (1 - self.confidence) ** (1 / of) if of else float("nan")
            return (0.0 if of else reach, reach) if n == 0 else (1 - reach, 1.0)
        return self.percentiles(n / of, drawn)

    def t_interval(self, estimate: float, drawn: NDArray[np.float64], n_topics: int) -> tuple[float, float]:
        """Return the ends of a t interval of what is a mean over topics, or nearly so, NaN where it has none."""
        found = drawn[~np.isnan(drawn)]
        if np.isnan(estimate) or len(found) < 2 or n_topics < 2:
            return float("nan"), float("nan")
        from scipy.special import stdtrit

        error = float(np.std(found, ddof=1)) * np.sqrt(n_topics / (n_topics - 1))
        reach = float(stdtrit(n_topics - 1, (1 + self.confidence) / 2)) * error
        return float(estimate - reach), float(estimate + reach)


def checked_bootstrap(*, resamples: Any, seed: Any, confidence: Any, n_jobs: Any = None) -> TopicBootstrap | None:
    """Return what ``resamples=``, ``seed=``, ``confidence=`` and ``n_jobs=`` ask for; None for no intervals."""
    n = whole("resamples", resamples, "draws", least=0)
    asked = TopicBootstrap(n, checked_seed(seed), fraction("confidence", confidence, ends=False), checked_jobs(n_jobs))
    return asked if n else None


#: coefficients of two rankings
USUAL_COEFFICIENTS = ("tau_b", "gamma", "tau_ap_b")
#: the most places that a system loses, and gains
CHANGES = ("max_drop", "max_rise")
#: means of runs in draws from twice as many of which on jobs are handed out
JOB_CELLS = 1 << 19


@dataclass(frozen=True)
class TopicScores:
    """Scores of systems on each topic, and over which topics their means are."""

    values: NDArray[np.float64]  # (topics, runs)
    has_topic: NDArray[np.bool_] | None = None  # (topics, runs) whether the topic counts for the run
    added: bool = False  # whether the scores are added up, as counts are, and not averaged

    def of(self, topics: Sequence[int], runs: Sequence[int]) -> TopicScores:
        rows = np.ix_(np.asarray(topics, dtype=np.int64), np.asarray(runs, dtype=np.int64))
        has_topic = None if self.has_topic is None else self.has_topic[rows]
        return replace(self, values=self.values[rows], has_topic=has_topic)

    def means(self, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return (draws, runs) means, each topic as often as (draws, topics) `counts` say; default one draw of all.

        Of scores that are added up they are the sums.
        """
        n_topics = len(self.values)
        weight = np.ones((1, n_topics)) if counts is None else counts.astype(np.float64)
        if self.has_topic is None:
            return weight @ self.values / (1 if self.added else np.maximum(weight.sum(axis=1), 1)[:, None])
        sums = weight @ np.where(self.has_topic, self.values, 0.0)
        return sums if self.added else sums / np.maximum(weight @ self.has_topic, 1)


def ranking_agreement(
    truth: TopicScores,
    estimate: TopicScores,
    bootstrap: TopicBootstrap | None = None,
    *,
    coefficients: Sequence[str] = USUAL_COEFFICIENTS,
) -> dict[str, float]:
    """Return tau_b, gamma, tau_ap_b, max_drop and max_rise of two rankings, and with a bootstrap the ends of each."""
    (found,) = ranking_agreements([(truth, estimate)], 1, bootstrap, coefficients=coefficients)
    return found


def ranking_agreements(
    compared: Iterable[tuple[TopicScores, TopicScores]],
    n_compared: int,
    bootstrap: TopicBootstrap | None,
    *,
    coefficients: Sequence[str] = USUAL_COEFFICIENTS,
) -> Iterator[dict[str, float]]:
    """Yield what :func:`ranking_agreement` says of each truth and estimate, each a job."""
    every = (_Agreement(truth, estimate, bootstrap, tuple(coefficients)) for truth, estimate in compared)
    first = next(every, None)
    if first is None:
        return
    jobs = chain([first], every)
    cells = n_compared * first.truth.values.shape[1] * (bootstrap.resamples if bootstrap else 0)
    # what is sooner done than handed out is done here, and joblib is not even asked
    if bootstrap is None or bootstrap.n_jobs == 1 or n_compared == 1 or cells < 2 * JOB_CELLS:
        yield from (job.run() for job in jobs)
    else:
        n_jobs = bootstrap.n_jobs
        yield from run_jobs(jobs, n_compared, desc="", unit="", n_jobs=n_jobs, verbose=False, prefer="threads")


@dataclass(frozen=True)
class _Agreement:
    """The job that compares two rankings, and those of all draws."""

    truth: TopicScores
    estimate: TopicScores
    bootstrap: TopicBootstrap | None
    coefficients: tuple[str, ...]

    def run(self) -> dict[str, float]:
        found = numbers_of(self.truth.means(), self.estimate.means(), self.coefficients)
        numbers = {name: float(values[0]) for name, values in found.items()}
        if self.bootstrap is None:
            return numbers
        n_topics, n_runs = self.truth.values.shape
        drawn = {name: np.full(1, np.nan) for name in numbers}
        if n_topics > 1:
            parts = [
                numbers_of(self.truth.means(counts), self.estimate.means(counts), self.coefficients)
                for counts in self.bootstrap.blocks(n_topics)
            ]
            drawn = {name: np.concatenate([part[name] for part in parts]) for name in numbers}
            _tell_undefined(drawn, numbers)
        row: dict[str, float] = {}
        for name, number in numbers.items():
            change = name in CHANGES
            within = (0, max(0, n_runs - 1)) if change else (-1, 1)
            low, high = self.bootstrap.interval(number, drawn[name], within=within, integer=change)
            row |= {name: number, f"{name}_low": low, f"{name}_high": high}
        return row


def numbers_of(
    truths: NDArray[np.float64], estimates: NDArray[np.float64], coefficients: Sequence[str] = USUAL_COEFFICIENTS
) -> dict[str, NDArray[np.float64]]:
    """Return the coefficients, and max_drop and max_rise, (draws,) each, of (draws, runs) means of both."""
    found = pairs.coefficients(rounded(truths), rounded(estimates), coefficients)
    return {name: found[name].astype(np.float64) for name in (*coefficients, *CHANGES)}


def whole_changes(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with changes of rank, and their ends where there are any, as whole numbers, if none is NaN."""
    of_rank = [name for name in map(str, table) if re.sub("^(own|alone)_", "", name).startswith((*CHANGES, "rise"))]
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
