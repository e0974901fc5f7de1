"""Tests of every pair of systems over topics, and corrections for there being many of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice
from pt_reuse._choices import CORRECTIONS, SAMPLES, TESTS
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.stats._ranking_input import DECIMALS, rounded

Floats = NDArray[np.float64]

#: tests that draw at random
RANDOM = ("randomisation", "tukey")
#: numbers held at a time
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class PairTests:
    """A two-sided paired test of every pair of systems.

    Attributes:
        first: (pairs,) position of the first system.
        second: (pairs,) position of the second, always after the first.
        difference: (pairs,) mean of first minus second.
        p: (pairs,) p-values; 1 where the two score alike on every topic, NaN with fewer than two topics.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    difference: NDArray[np.float64]
    p: NDArray[np.float64]

    def corrected(self, correction: str = "none") -> Floats:
        """Return (pairs,) p-values, corrected for the number of pairs; NaN where p is.

        Args:
            correction: a key of :data:`CORRECTIONS`: ``"bonferroni"`` and ``"holm"`` bound the chance of any false
                claim, ``"benjamini-hochberg"`` the expected share of false ones among the claims.

        Raises:
            InputError: a correction other than ``"none"`` without statsmodels.
        """
        method = checked_correction(correction)
        known = ~np.isnan(self.p)
        if method is None or not known.any():
            return self.p.copy()
        found = np.full(len(self.p), np.nan)
        given = self.p[known]
        found[known] = _holm(given) if method == "holm" else _multipletests()(given, method=method)[1]
        return found

    def significant(self, alpha: float = 0.05, correction: str = "none") -> NDArray[np.bool_]:
        """Return (pairs,) whether the corrected p-value is at most `alpha`; False where there is none."""
        return self.corrected(correction) <= alpha


def _holm(p: Floats) -> Floats:
    """Return what statsmodels returns, without its call of the garbage collector, which takes far longer."""
    order = np.argsort(p)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected


def checked_correction(correction: Any) -> str | None:
    """Return statsmodels' name of a correction, None for none; raise where it is unknown or statsmodels is missing."""
    method = CORRECTIONS[choice("correction", correction, tuple(CORRECTIONS))]
    if method is not None:
        _multipletests()
    return method


def check_test(test: Any, correction: Any) -> None:
    """Raise where a test or a correction is unknown, or the two do not go together."""
    choice("test", test, tuple(TESTS))
    checked_correction(correction)
    if test == "tukey" and correction != "none":
        raise InputError(
            Argument("correction"),
            " must be none with ",
            Option("test", "tukey"),
            f", which allows for the number of pairs itself, got {correction!r}.",
            argument="correction",
        )


def pair_tests(values: Floats, test: str = "t", *, samples: int = SAMPLES, seed: int = 0) -> PairTests:
    """Test every pair of systems, two-sided.

    Scores that differ in their last bits alone are alike: differences are rounded to 12 decimals, where the t test has
    all of them 0 and in the other tests, which compare them.

    Args:
        values: (topics, systems) scores.
        test: a key of :data:`TESTS`: ``"t"`` is Student's paired t test. ``"wilcoxon"`` is Wilcoxon's signed-rank test:
            topics on which the two score alike are left out, the p-value is the normal approximation's, without a
            continuity correction and with one for ties. ``"randomisation"`` turns the signs of the differences at
            random: p is the share of samples, the data as they are among them, whose mean is as far from 0.
            ``"tukey"`` lets the scores of all systems change places within each topic: p is the share of samples in
            which the best system's mean is as far above the worst one's as the pair is apart, so that it allows for
            the number of pairs.
        samples: of the tests that draw at random, 1 or more. With so few topics that there are no more ways of turning
            signs than samples, the randomisation test goes through each of them once and draws nothing.
        seed: of what is drawn; all pairs see the same draws.
    """
    n_topics, n = values.shape
    first, second = np.triu_indices(n, 1)
    difference, p = np.zeros(len(first)), np.full(len(first), np.nan)
    signs = _signs(n_topics, samples, seed) if test == "randomisation" and n_topics > 1 else np.ones((0, n_topics))
    by_pair: dict[str, Callable[[Floats], Floats]] = {
        "t": _student,
        "wilcoxon": _wilcoxon,
        "randomisation": lambda by_topic: _flipped(by_topic, signs, drawn=2**n_topics > samples),
    }
    start = 0
    for i in range(n - 1):
        rows = slice(start, start := start + n - 1 - i)
        by_topic = values[:, i, None] - values[:, i + 1 :]
        difference[rows] = by_topic.mean(axis=0) if n_topics else np.nan
        if n_topics >= 2 and test != "tukey":
            compared = rounded(by_topic)
            found = by_pair[test](by_topic if test == "t" else compared)
            p[rows] = np.where((compared == 0).all(axis=0), 1.0, found)
    if test == "tukey" and n_topics >= 2 and n >= 2:
        exact = rounded(values)
        ranges, totals = np.sort(_ranges(exact, samples, seed)), exact.sum(axis=0)
        apart = np.round(np.abs(totals[first] - totals[second]), DECIMALS)
        as_far = len(ranges) - np.searchsorted(ranges, apart, side="left")
        p = (1 + as_far) / (1 + len(ranges))
    return PairTests(first, second, difference, p)


def _student(by_topic: Floats) -> Floats:
    """Return (pairs,) p-values of (topics, pairs) differences."""
    from scipy.special import stdtr

    n_topics = len(by_topic)
    error = by_topic.std(axis=0, ddof=1) / np.sqrt(n_topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(by_topic.mean(axis=0)) / error
    p: Floats = 2 * stdtr(n_topics - 1, -t)
    return p


def _wilcoxon(by_topic: Floats) -> Floats:
    """Return (pairs,) p-values of (topics, pairs) differences."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    zero = by_topic == 0
    # zeros have the first ranks, and are then left out
    rank = np.where(zero, 0.0, rankdata(np.abs(by_topic), axis=0) - zero.sum(axis=0))
    above = np.where(by_topic > 0, rank, 0.0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # the sum of squared ranks is where ties make the variance smaller
        z = (above - rank.sum(axis=0) / 2) / np.sqrt((rank**2).sum(axis=0) / 4)
    return np.where(zero.all(axis=0), 1.0, 2 * ndtr(-np.abs(z)))


def _signs(n_topics: int, samples: int, seed: int) -> Floats:
    """Return (samples, topics) signs: every way of turning them where that takes no more samples, else drawn ones."""
    if 2**n_topics <= samples:
        bits = np.arange(2**n_topics)[:, None] >> np.arange(n_topics) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (samples, n_topics), dtype=np.int8)
    return np.where(bits, -1.0, 1.0)


def _flipped(by_topic: Floats, signs: Floats, *, drawn: bool) -> Floats:
    """Return (pairs,) p-values of (topics, pairs) differences under (samples, topics) signs."""
    # sums of rounded numbers, not means: these may lie halfway between two roundings
    observed = np.round(np.abs(by_topic.sum(axis=0)), DECIMALS)
    step, as_far = max(1, _AT_ONCE // max(1, by_topic.shape[1])), np.zeros(by_topic.shape[1])
    for start in range(0, len(signs), step):
        turned = signs[start : start + step] @ by_topic
        as_far += (np.round(np.abs(turned), DECIMALS) >= observed).sum(axis=0)
    # of signs that are drawn, those of the data are one sample more
    p: Floats = (as_far + drawn) / (len(signs) + drawn)
    return p


def _ranges(values: Floats, samples: int, seed: int) -> Floats:
    """Return (samples,) the best sum less the worst, of scores that change places within each topic."""
    random, found = np.random.default_rng(seed), np.empty(samples)
    step = max(1, _AT_ONCE // values.size)
    for start in range(0, samples, step):
        n = min(step, samples - start)
        sums = random.permuted(np.broadcast_to(values, (n, *values.shape)), axis=2).sum(axis=1)
        found[start : start + n] = np.round(sums.max(axis=1) - sums.min(axis=1), DECIMALS)
    return found


def _multipletests() -> Callable[..., Any]:
    try:
        return import_module("statsmodels.stats.multitest").multipletests
    except ImportError as error:
        raise InputError(
            "a correction for many tests needs statsmodels; `pip install 'pt-reuse[studies]'` brings it. ",
            Option("correction", "none"),
            " needs nothing.",
            argument="correction",
        ) from error
