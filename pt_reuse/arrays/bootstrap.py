"""Samples of topics: intervals of the bootstrap, how far two rankings agree, how often two samples swap a pair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._jobs import run_jobs
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import rounded
from pt_reuse.errors import checked_jobs, checked_seed, fraction, per_cent, warn, whole

Ints: TypeAlias = NDArray[np.int64]

#: means are compared in units of 1e-12, differences are rounded to 1e-9 before they are binned
UNIT, HALF_ROUNDING = 10**12, 500
#: a code of a pair is twice its bin, and one more for a swap; it is a byte
MOST_BINS = 128
#: scores above this are more than units of 1e-12 can hold
MOST_SCORE = 1e6
#: a score is the sum of two numbers of this many bits, so that sums of either are exact
_BITS = 26
#: products of matrices below this size stay in one thread of the linear algebra library, whose others would spin
_SMALL = 400_000
#: bytes of the arrays that one step works on, and of the codes that are counted together
_STEP, _TALLIED = 1 << 18, 1 << 19


@dataclass(frozen=True)
class Bins:
    """Of which width bins of differences are, and how many; the last holds all that are larger, too."""

    width: int
    n: int

    @classmethod
    def of(cls, width: float, n: int) -> Bins:
        return cls(round(width * UNIT), n)


class TopicSums:
    """Scores of systems on topics, made ready for exact means over draws of topics.

    `scores` are (topics, systems), finite, at most :data:`MOST_SCORE` from 0; `has_topic` says which of them count.
    """

    def __init__(self, scores: NDArray[np.float64], has_topic: NDArray[np.bool_] | None = None):
        self.scores, self.has_topic = scores, has_topic
        counted = scores if has_topic is None else np.where(has_topic, scores, 0.0)
        exponent = int(np.frexp(np.abs(counted).max(initial=0.0))[1])
        scaled = np.ldexp(counted, _BITS - exponent)
        high = np.floor(scaled)
        parts = [high, np.rint(np.ldexp(scaled - high, _BITS))]
        self._columns = np.hstack(parts if has_topic is None else [*parts, has_topic.astype(np.float64)])
        self._unit = float(np.ldexp(float(UNIT), exponent - 2 * _BITS))

    def means(self, topics: NDArray[np.integer[Any]]) -> Ints:
        """Return (draws, systems) means over (draws, S) drawn topics, in units of 1e-12; 0 of no topic at all."""
        n_draws, size = topics.shape
        n_topics, n = self.scores.shape
        rows = int(np.clip(_SMALL // max(1, self._columns.size), 1, 64))
        counts = np.bincount(
            (topics + n_topics * np.arange(n_draws)[:, None]).ravel(), minlength=-(-n_draws // rows) * rows * n_topics
        )
        weights = counts.astype(np.float64).reshape(-1, rows, n_topics)
        sums = np.matmul(weights, self._columns).reshape(-1, self._columns.shape[1])[:n_draws]
        total = np.multiply(sums[:, :n], 2.0**_BITS)
        total += sums[:, n : 2 * n]
        total *= self._unit
        total /= size if self.has_topic is None else np.maximum(sums[:, 2 * n :], 1)
        return np.rint(total, out=total).astype(np.int64)


def _tallied(codes: NDArray[np.uint8], n_codes: int) -> Ints:
    """Return how often each code is there, counted two at a time, which takes half the steps."""
    flat = codes.reshape(-1)
    even = len(flat) // 2 * 2
    twos = np.bincount(flat[:even].view(np.uint16), minlength=n_codes << 8).reshape(n_codes, 1 << 8)
    return twos.sum(axis=1) + twos.sum(axis=0)[:n_codes] + np.bincount(flat[even:], minlength=n_codes)


def count_swaps(sums: TopicSums, drawn: NDArray[np.integer[Any]], bins: Bins) -> Ints:
    """Count the pairs of systems, and those that two samples of topics order differently, by bin."""
    n = sums.scores.shape[1]
    codes = np.zeros(2 * bins.n, dtype=np.int64)
    step = int(np.clip(2 * (_STEP // (2 * max(1, n))), 2, 2048))
    for start in range(0, len(drawn) if n > 1 else 0, step):
        block = drawn[start : start + step]
        codes += _codes(sums.means(block[:, 0]), sums.means(block[:, 1]), bins)
    by_bin = codes.reshape(bins.n, 2)
    return np.stack([by_bin.sum(axis=1), by_bin[:, 1]])


def _codes(first: Ints, second: Ints, bins: Bins) -> Ints:
    """Return how often each code comes up among all pairs of (draws, systems) means."""
    n = first.shape[1]
    small, bits = (np.uint8, 8) if n <= 1 << 8 else (np.uint16, 16)
    first, second = first - first.min(), second - second.min()
    room = 1 << (62 - bits)
    if n > 1 << 16 or first.max() >= room or second.max() >= room:
        return _codes_directly(first, second, bins)
    rank, _ = _ranks(second, bits, small)
    # systems in the order of the first sample; those that tie there in the order of the second, so that none is a swap
    key = np.sort((first << bits) | rank, axis=1)
    rank = (key & ((1 << bits) - 1)).astype(small)
    level, rest = np.divmod(key >> bits, bins.width)
    rest_rank, rests = _ranks(rest, bits, small)
    level -= level[:, :1]
    # what is left over of two means decides of one bin more or less, unless rounding does
    gaps = np.diff(rests, axis=1)
    close = ((gaps > 0) & (gaps <= HALF_ROUNDING)).any(axis=1) | (rests[:, -1] >= bins.width - HALF_ROUNDING)
    odd = close | (level[:, -1] > np.iinfo(np.uint8).max)
    if not odd.any():
        return _codes_of_bytes(level.astype(np.uint8), rest_rank, rank, bins)
    return _codes_directly(first[odd], second[odd], bins) + _codes_of_bytes(
        level[~odd].astype(np.uint8), rest_rank[~odd], rank[~odd], bins
    )


def _ranks(values: Ints, bits: int, small: type[np.unsignedinteger[Any]]) -> tuple[NDArray[Any], Ints]:
    """Return the rank of each value in its row from 0, equal ones sharing it, and the values in their order."""
    n_rows, n = values.shape
    key = np.sort((values << bits) | np.arange(n), axis=1)
    place = (key & ((1 << bits) - 1)) + n * np.arange(n_rows)[:, None]
    key >>= bits
    steps = np.zeros((n_rows, n), dtype=small)
    np.cumsum(key[:, 1:] != key[:, :-1], axis=1, dtype=small, out=steps[:, 1:])
    ranks = np.empty(n_rows * n, dtype=small)
    ranks[place.ravel()] = steps.ravel()
    return ranks.reshape(n_rows, n), key


def _codes_of_bytes(level: NDArray[np.uint8], rest: NDArray[Any], rank: NDArray[Any], bins: Bins) -> Ints:
    """Return how often each code comes up among all pairs of (draws, systems), sorted by the first sample."""
    n_draws, n = level.shape
    level, rest, rank = (np.ascontiguousarray(values.T) for values in (level, rest, rank))
    last = np.full((n, n_draws), bins.n - 1, dtype=np.uint8)
    less = np.empty((n, n_draws), dtype=bool)
    most = max(n, _TALLIED // max(1, n_draws))
    codes, filled, found = np.empty((most, n_draws), dtype=np.uint8), 0, np.zeros(2 * bins.n, dtype=np.int64)
    for lag in range(1, n):
        # every system and the one that stands so many places after it
        if filled + n - lag > most:
            found += _tallied(codes[:filled], len(found))
            filled = 0
        code, less_of = codes[filled : filled + n - lag], less[lag:]
        np.subtract(level[lag:], level[:-lag], out=code)
        np.less(rest[lag:], rest[:-lag], out=less_of)
        np.subtract(code, less_of.view(np.uint8), out=code)
        np.minimum(code, last[lag:], out=code)
        np.add(code, code, out=code)
        np.less(rank[lag:], rank[:-lag], out=less_of)
        np.add(code, less_of.view(np.uint8), out=code)
        filled += n - lag
    return found + _tallied(codes[:filled], len(found))


def _codes_directly(first: Ints, second: Ints, bins: Bins) -> Ints:
    """Return what :func:`_codes_of_bytes` does, by the definition, for means of any size."""
    codes = np.zeros(2 * bins.n, dtype=np.int64)
    n = first.shape[1]
    for lag in range(1, n):
        one, other = slice(0, n - lag), slice(lag, n)
        apart, then = first[:, other] - first[:, one], second[:, other] - second[:, one]
        bin_of = np.minimum((np.abs(apart) + HALF_ROUNDING) // bins.width, bins.n - 1)
        swapped = ((apart > 0) & (then < 0)) | ((apart < 0) & (then > 0))
        codes += np.bincount((2 * bin_of + swapped).ravel(), minlength=2 * bins.n)
    return codes


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
            # tau_ap is not defined with ties, of which most rankings of few topics have some
            known = [np.isnan(v).sum() for name, v in drawn.items() if name != "tau_ap" and not np.isnan(numbers[name])]
            if lost := next(filter(None, known), 0):
                warn(
                    f"in {lost:,} of {self.bootstrap.resamples:,} resamples of the topics all runs tie, so that there "
                    "is no ranking to compare. The intervals of the coefficients are of the other resamples."
                )
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
