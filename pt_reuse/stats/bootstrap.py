"""The bootstrap over topics: what is drawn, and the interval that the draws give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, checked_seed, fraction, whole

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
    """Yield how often each unit is drawn, (some of the resamples, units) at a time.

    Each resample draws as many units as there are, with replacement. The same seed draws the same whoever calls.

    Args:
        units: topics, or items, 0 or more.
        resamples: how often they are drawn.
        seed: of the random numbers.
    """
    random = np.random.default_rng(seed)
    for n in drawn_at_once(units, resamples):
        drawn = random.integers(0, max(1, units), (n, units)) + units * np.arange(n)[:, None]
        yield np.bincount(drawn.ravel(), minlength=n * units).reshape(n, units)


def drawn_at_once(units: int, resamples: int) -> Iterator[int]:
    """Yield how many of the resamples :func:`drawn_counts` gives at a time."""
    step = max(1, AT_ONCE // max(1, units))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


@dataclass(frozen=True)
class TopicBootstrap:
    """How intervals over topics are made.

    Of a number that is computed from a ranking the draws are biased: a resample adds to the noise of the topics, so
    that it swaps more systems, and its tau lies below that of all topics about as that of all topics lies below the
    one of the population. A percentile interval then lies low on both counts and may not contain its own estimate. So
    :meth:`interval` joins it with its mirror image about the estimate, which lies as much too high (the basic
    bootstrap): it reaches as far to either side as the farther end of the percentile interval. In simulations it
    covers the value of the population most often of all that were compared (docs/studies/intervals.rst), and is about a
    third wider than the percentile interval; bias-corrected ones (BC and BCa) cover it no more often than that one. A
    mean, or a ratio of sums, has draws around its estimate: :meth:`percentiles` is the plain interval. For few topics
    that is a little too narrow: :meth:`expanded` and :meth:`t_interval` are wider. Which study takes which stands on
    that page, too.

    Attributes:
        resamples: how often as many topics as there are are drawn with replacement, 1 or more.
        seed: of the draws.
        confidence: the share of the draws between the ends of the percentile interval.
        n_jobs: parts of the draws worked on at a time, where rankings of many are compared, as joblib takes it; None
            for what ``joblib.parallel_config`` says, else 1. No number depends on it.
    """

    resamples: int
    seed: int
    confidence: float
    n_jobs: int | None = field(default=None, compare=False)

    def words(self) -> str:
        """Return how intervals are made, for settings."""
        return (
            f"{100 * self.confidence:.4g} % bootstrap over topics, {self.resamples:,} resamples, seed {self.seed}: the "
            "percentile interval joined with its mirror image about the estimate"
        )

    def blocks(self, n_topics: int) -> Iterator[NDArray[np.int64]]:
        """Yield (some resamples, topics) how often each topic is drawn, in bounded memory."""
        return drawn_counts(n_topics, resamples=self.resamples, seed=self.seed)

    def counts(self, n_topics: int) -> NDArray[np.int64]:
        """Return (resamples, topics): how often each topic is drawn; the same for every caller."""
        return np.concatenate(list(self.blocks(n_topics)))

    def interval(
        self,
        estimate: float,
        drawn: NDArray[np.float64],
        *,
        within: tuple[float, float] = ANYWHERE,
        integer: bool = False,
    ) -> tuple[float, float]:
        """Return the ends of the interval of a number that is computed from rankings, NaN where it has none.

        The interval contains the estimate, which is its middle where `within` cuts neither end.

        Args:
            estimate: of all topics.
            drawn: (resamples,) the same of each draw; draws without a value are left out.
            within: the least and the largest value there is, (-1, 1) of a correlation.
            integer: whether values are whole numbers, as drops are: then the ends are, too, rounded outwards.
        """
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
        """Return the bootstrap whose percentile interval suits so few topics: it leaves less of the draws outside.

        The percentile interval of a mean is that of the normal distribution with a standard deviation divided by n, and
        not by n - 1, so that it is too narrow for few topics. This one takes the tails that make it as wide as
        Student's interval: 0.9 instead of 2.5 % on either side for 10 topics, 1.6 for 20, 2.1 for 50.

        Args:
            n_topics: how many topics there are, 2 or more.

        Source: Hesterberg 2015, What teachers should know about the bootstrap, The American Statistician 69 (the
        expanded percentile interval).
        """
        from scipy.special import ndtr, stdtrit

        reach = float(stdtrit(n_topics - 1, (1 + self.confidence) / 2)) * (n_topics / (n_topics - 1)) ** 0.5
        return replace(self, confidence=1 - 2 * float(ndtr(-reach)))

    def percentiles(self, estimate: float, drawn: NDArray[np.float64]) -> tuple[float, float]:
        """Return the ends of the percentile interval of a mean or a ratio of sums, NaN where it has none.

        Args:
            estimate: of all topics. It belongs to the interval, also where a few draws happen to miss it.
            drawn: (resamples,) the same of each draw; draws without a value are left out.
        """
        found = drawn[~np.isnan(drawn)]
        if np.isnan(estimate) or not len(found):
            return float("nan"), float("nan")
        tail = 50 * (1 - self.confidence)
        low, high = np.percentile(found, [tail, 100 - tail]).tolist()
        return min(low, estimate), max(high, estimate)

    def share(self, n: int, of: int, drawn: NDArray[np.float64]) -> tuple[float, float]:
        """Return the ends of the interval of a share of counted things, NaN of none.

        Where none or all of them count, every draw gives the same, and the percentile interval would have no width. So
        the other end is then the one-sided bound of as many independent things, ``1 - (1 - confidence) ** (1 / of)``
        of none. Things of one topic are alike, so that the true bound lies farther off.

        Args:
            n: how many count.
            of: of how many.
            drawn: (resamples,) the share of each draw; draws without a value are left out.
        """
        if not 0 < n < of:
            reach = 1 - (1 - self.confidence) ** (1 / of) if of else float("nan")
            return (0.0 if of else reach, reach) if n == 0 else (1 - reach, 1.0)
        return self.percentiles(n / of, drawn)

    def t_interval(self, estimate: float, drawn: NDArray[np.float64], n_topics: int) -> tuple[float, float]:
        """Return the ends of a t interval of what is a mean over topics, or nearly so, NaN where it has none.

        Of few topics the draws of a mean vary too little, and percentiles of the normal law are too near: the standard
        deviation of the draws counts the root of n/(n-1) times, and t with n-1 degrees of freedom.

        Args:
            estimate: of all topics.
            drawn: (resamples,) the same of each draw; draws without a value are left out.
            n_topics: over which the mean is.
        """
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
