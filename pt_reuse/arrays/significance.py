"""Tests of every pair of systems over topics, corrections for there being many, and how far two sets agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, fraction
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.errors import InputError
from pt_reuse.options import CORRECTIONS, SAMPLES, TESTS

Floats = NDArray[np.float64]

#: tests that draw at random
RANDOM = ("randomisation", "tukey")
#: numbers held at a time
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class PairTests:
    """A two-sided paired test of every pair of systems."""

    first: NDArray[np.int64]  # (pairs,) position of the first system
    second: NDArray[np.int64]  # (pairs,) position of the second, always after the first
    difference: NDArray[np.float64]  # (pairs,) mean of first minus second
    p: NDArray[np.float64]  # (pairs,) p-values

    def corrected(self, correction: str = "none") -> Floats:
        """Return (pairs,) p-values, corrected for the number of pairs; NaN where p is."""
        checked_correction(correction)
        found = np.full(len(self.p), np.nan)
        known = ~np.isnan(self.p)
        found[known] = _corrected(self.p[known], correction)
        return found

    def significant(self, alpha: float = 0.05, correction: str = "none") -> NDArray[np.bool_]:
        """Return (pairs,) whether the corrected p-value is at most `alpha`; False where there is none."""
        return self.corrected(correction) <= alpha


def _corrected(p: Floats, correction: str) -> Floats:
    """Return p-values corrected for their number, to the bit as statsmodels does."""
    n = len(p)
    if correction == "none":
        return p
    if correction == "bonferroni":
        return np.minimum(p * n, 1)
    order = np.argsort(p)
    if correction == "holm":
        corrected = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
    else:
        corrected = np.minimum.accumulate((p[order] / (np.arange(1, n + 1) / n))[::-1])[::-1]
    found = np.empty(n)
    found[order] = np.minimum(corrected, 1)
    return found


def checked_correction(correction: Any) -> str:
    """Return the name of a correction, or raise."""
    return choice("correction", correction, CORRECTIONS)


def check_test(test: Any, correction: Any) -> None:
    """Raise where a test or a correction is unknown, or the two do not go together."""
    choice("test", test, tuple(TESTS))
    checked_correction(correction)
    if test == "tukey" and correction != "none":
        raise InputError(
            "correction must be none with test='tukey', which allows for the number of pairs itself, got "
            f"{correction!r}.",
            argument="correction",
        )


def pair_tests(values: Floats, test: str = "t", *, samples: int = SAMPLES, seed: int = 0) -> PairTests:
    """Test every pair of systems, two-sided."""
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
    from scipy.special import stdtr

    n_topics = len(by_topic)
    error = by_topic.std(axis=0, ddof=1) / np.sqrt(n_topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(by_topic.mean(axis=0)) / error
    p: Floats = 2 * stdtr(n_topics - 1, -t)
    return p


def _wilcoxon(by_topic: Floats) -> Floats:
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


#: columns of a table of agreement -> what they count, or the share that they are
COUNTS = ("ss_a", "ss_d", "sn", "ns", "nn", "untested")
SHARES = ("agree", "active", "passive")


@dataclass(frozen=True)
class SignificanceAgreement:
    """How many pairs of systems two tests find significant: a number each, or (resamples,) numbers."""

    ss_a: Any  # both, with the same winner
    ss_d: Any  # both, with opposite winners
    sn: Any  # the first test alone
    ns: Any  # the second test alone
    nn: int = 0  # neither
    untested: int = 0  # pairs of which one of the tests has no p-value

    @property
    def weight(self) -> Any:
        """Return what the shares are of: significant results, of both tests together."""
        return 2 * self.ss_a + 2 * self.ss_d + self.sn + self.ns

    @property
    def agree(self) -> Any:
        """Return agree-SS_a, the share of significant results that the other test confirms; NaN where none."""
        return _share(2 * self.ss_a, self.weight)

    @property
    def active(self) -> Any:
        """Return active disagreement, the share that the other test contradicts: ``2 SS_d`` of the same."""
        return _share(2 * self.ss_d, self.weight)

    @property
    def passive(self) -> Any:
        """Return passive disagreement, the share that the other test leaves open: ``SN + NS`` of the same."""
        return _share(self.sn + self.ns, self.weight)

    @property
    def only_second(self) -> Any:
        """Return the share that the second test finds alone of all that it finds, NaN where none."""
        return _share(self.ns, self.ss_a + self.ss_d + self.ns)

    @property
    def only_first(self) -> Any:
        """Return the share that the first test finds alone of all that it finds, NaN where none."""
        return _share(self.sn, self.ss_a + self.ss_d + self.sn)

    def row(self) -> dict[str, float]:
        """Return the counts and the shares by name: ``ss_a ss_d sn ns nn untested agree active passive``."""
        return {name: getattr(self, name) for name in (*COUNTS, *SHARES)}


def _share(part: Any, whole: Any) -> Any:
    found = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.greater(whole, 0))
    return found if found.ndim else float(found)


def winners(tests: PairTests, alpha: float, correction: str = "none") -> NDArray[np.int8]:
    """Return (pairs,) who is significantly better: 1 the first system, -1 the second, 0 neither."""
    return np.where(tests.significant(alpha, correction), np.sign(tests.difference), 0).astype(np.int8)


def agreement_of_tests(
    one: PairTests, other: PairTests, alpha: float = 0.05, correction: str = "none"
) -> SignificanceAgreement:
    """Count on which pairs of systems two tests agree: of two collections, two measures, or two sets of judgments."""
    level = fraction("alpha", alpha, ends=False)
    if not (np.array_equal(one.first, other.first) and np.array_equal(one.second, other.second)):
        raise InputError("the two tests are of other pairs of systems. Test the same systems, in one order.")
    tested = ~(np.isnan(one.p) | np.isnan(other.p))
    a, b = winners(one, level, correction)[tested], winners(other, level, correction)[tested]
    ss_a, ss_d, sn, ns = _outcomes(a, b).tolist()
    nn = int(((a == 0) & (b == 0)).sum())
    return SignificanceAgreement(ss_a, ss_d, sn, ns, nn, untested=int((~tested).sum()))


def _outcomes(a: NDArray[np.int8], b: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return ss_a, ss_d, sn and ns of (..., pairs) winners, (4, ...)."""
    both = (a != 0) & (b != 0)
    cases = (both & (a == b), both & (a != b), (a != 0) & (b == 0), (a == 0) & (b != 0))
    return np.stack([case.sum(axis=-1) for case in cases])


def drawn_agreement(
    one: Floats, other: Floats, bootstrap: TopicBootstrap, alpha: float = 0.05, correction: str = "none"
) -> SignificanceAgreement:
    """Test every pair of systems by Student's paired t test in each resample of the topics, in two scorings."""
    choice("correction", correction, CORRECTIONS)
    n_topics = len(one)
    limits = _limits(n_topics, one.shape[1] * (one.shape[1] - 1) // 2, alpha, correction)
    parts = []
    for counts in bootstrap.blocks(n_topics):
        sides = [_winners(values, counts.astype(np.float64), limits, correction) for values in (one, other)]
        parts += [_outcomes(a, b) for a, b in zip(*sides, strict=True)]
    return SignificanceAgreement(*np.concatenate(parts, axis=1))


def _winners(values: Floats, counts: Floats, limits: Floats, correction: str) -> Iterator[NDArray[np.int8]]:
    """Yield (some draws, pairs): 1 where the first system is significantly better, -1 the second, 0 neither."""
    first, second = np.triu_indices(values.shape[1], 1)
    difference = values[:, first] - values[:, second]
    # scores that differ in their last bits alone are alike
    difference[rounded(difference) == 0] = 0.0
    squared, n = difference**2, len(values)
    step = max(1, _AT_ONCE // max(1, difference.shape[1]))
    for start in range(0, len(counts), step):
        drawn = counts[start : start + step]
        mean = drawn @ difference / n
        spread = np.maximum(drawn @ squared - n * mean**2, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(mean == 0, 0.0, np.abs(mean) * np.sqrt(n * (n - 1) / spread))
        yield np.where(t >= _least(t, limits, correction)[:, None], np.sign(mean), 0).astype(np.int8)


def _limits(n_topics: int, n_pairs: int, alpha: float, correction: str) -> Floats:
    """Return the t from which on the pair of the largest t, of the second largest and so on, is significant."""
    from scipy.special import stdtrit

    place = np.arange(n_pairs)
    levels = {
        "none": np.full(n_pairs, alpha),
        "bonferroni": np.full(n_pairs, alpha / max(1, n_pairs)),
        "holm": alpha / (n_pairs - place),
        "benjamini-hochberg": alpha * (place + 1) / max(1, n_pairs),
    }
    found: Floats = -stdtrit(n_topics - 1, levels[correction] / 2)
    return found


def _least(t: Floats, limits: Floats, correction: str) -> Floats:
    """Return (draws,) the smallest t that is significant in each draw, infinity where none is."""
    if correction in ("none", "bonferroni") or not len(limits):
        return np.full(len(t), limits[0] if len(limits) else np.inf)
    ordered = -np.sort(-t, axis=1)
    enough = ordered >= limits
    if correction == "holm":
        # the first that is not significant ends it
        n = np.where(enough.all(axis=1), len(limits), np.argmin(enough, axis=1))
    else:
        # all above the last that is
        n = np.where(enough.any(axis=1), len(limits) - np.argmax(enough[:, ::-1], axis=1), 0)
    found: Floats = np.where(n > 0, np.take_along_axis(ordered, np.maximum(n - 1, 0)[:, None], axis=1)[:, 0], np.inf)
    return found
