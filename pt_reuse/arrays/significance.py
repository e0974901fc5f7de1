"""Tests of every pair of systems, over topics or tasks, corrections for many, and how far two sets agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import CLOSE, DECIMALS, rounded
from pt_reuse.errors import InputError, choice, fraction
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
        """Return (pairs,) p-values, corrected for their number, to the bit as statsmodels does; NaN where p is."""
        known = np.flatnonzero(~np.isnan(self.p))
        p, n = self.p[known], len(known)
        found, order = np.full(len(self.p), np.nan), np.argsort(p)
        if checked_correction(correction) in ("none", "bonferroni"):
            found[known] = p if correction == "none" else np.minimum(p * n, 1)
            return found
        if correction == "holm":
            corrected = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
        else:
            corrected = np.minimum.accumulate((p[order] / (np.arange(1, n + 1) / n))[::-1])[::-1]
        found[known[order]] = np.minimum(corrected, 1)
        return found

    def significant(self, alpha: float = 0.05, correction: str = "none") -> NDArray[np.bool_]:
        """Return (pairs,) whether the corrected p-value is at most `alpha`; False where there is none."""
        return self.corrected(correction) <= alpha


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
    return np.asarray(2 * stdtr(n_topics - 1, -t))


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
    return np.asarray((as_far + drawn) / (len(signs) + drawn))


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
    from scipy.special import stdtrit

    checked_correction(correction)
    n_topics, n_pairs = len(one), one.shape[1] * (one.shape[1] - 1) // 2
    place = np.arange(n_pairs)
    levels = {
        "none": np.full(n_pairs, alpha),
        "bonferroni": np.full(n_pairs, alpha / max(1, n_pairs)),
        "holm": alpha / (n_pairs - place),
        "benjamini-hochberg": alpha * (place + 1) / max(1, n_pairs),
    }
    # from which t on the pair of the largest, of the second largest and so on, is significant
    limits, parts = -stdtrit(n_topics - 1, levels[correction] / 2), []
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
    return np.asarray(np.where(n > 0, np.take_along_axis(ordered, np.maximum(n - 1, 0)[:, None], axis=1)[:, 0], np.inf))


Mask = NDArray[np.bool_]

#: pairs tested at a time, whose differences stay in the cache
_TASKS_AT_ONCE = 64
#: convention -> what stands behind the name of the measure, and what the score of a system is
CONVENTIONS = {
    "mean": ("", "mean score over tasks"),
    "borda": (
        ", Borda",
        "Borda count: on each task the systems less the rank, ties by the mean rank; a missing score is 0 votes",
    ),
    "mean_rank": (", mean rank", "mean rank over tasks, ties by the mean rank, lower is better"),
    "z_score": (
        ", z",
        "mean over tasks of the score less the task's mean, by the deviation (of n) over systems; 0 if all are equal",
    ),
}


def counted(values: Floats, there: Mask, convention: str) -> tuple[Floats, Mask]:
    """Return (tasks, systems) what each score counts, higher for better, and which of them do."""
    if convention == "mean":
        return values, there
    if convention == "z_score":
        n = np.maximum(there.sum(axis=1, keepdims=True), 1)
        apart = np.where(there, values - np.where(there, values, 0).sum(axis=1, keepdims=True) / n, 0.0)
        spread = np.sqrt((apart**2).sum(axis=1, keepdims=True) / n)
        return np.divide(apart, spread, out=np.zeros_like(apart), where=rounded(spread) > 0), there
    from scipy.stats import rankdata

    # within each task, the best 1, ties by the mean rank; NaN where no score is
    ranks = rankdata(np.where(there, -rounded(values), np.nan), axis=1, nan_policy="omit")
    if convention == "mean_rank":
        return np.where(there, -ranks, 0.0), there
    return np.where(there, values.shape[1] - ranks, 0.0), np.ones_like(there)


def task_pair_tests(values: Floats, there: Mask, families: NDArray[np.int64] | None = None) -> PairTests:
    """Test each pair of systems by a paired t test over the tasks that both have, two-sided.

    With families, tasks of one are drawn together: the variance is that of the families' sums of deviations from the
    mean (cluster robust, with the factor G / (G - 1) and G - 1 degrees of freedom for G families). NaN where a pair
    shares fewer than two tasks, or families. A difference that is the same on every task, or the same sum of deviations
    in every family, which a t test takes for certain however few these are, has the p-value of its signs; no
    difference has 1.
    """
    if families is not None:
        order = np.argsort(families, kind="stable")
        values, there, families = values[order], there[order], families[order]
    values, weight = np.where(there, values, 0.0), there.astype(np.float64)
    n_systems = values.shape[1]
    first, second = np.triu_indices(n_systems, 1)
    difference, p = np.full((2, len(first)), np.nan)
    start = 0
    for i in range(n_systems - 1):
        others = n_systems - 1 - i
        for part in np.array_split(np.arange(i + 1, n_systems), -(-others // _TASKS_AT_ONCE)):
            columns, rows = slice(part[0], part[-1] + 1), slice(start, start := start + len(part))
            both = weight[:, i, None] * weight[:, columns]
            apart = (values[:, i, None] - values[:, columns]) * both
            difference[rows], p[rows] = _tested(apart, both, families)
    return PairTests(first, second, difference, p)


def _tested(apart: Floats, both: Floats, families: NDArray[np.int64] | None) -> tuple[Floats, Floats]:
    """Return (pairs,) means of (tasks, pairs) differences, 0 where `both` is, and their p-values; families are sorted.

    One task a family, it is the paired t test to the bit.
    """
    from scipy.special import stdtr

    n = both.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = apart.sum(axis=0) / n
        sums, groups = (apart - mean) * both, n
        if families is not None:
            begins = np.flatnonzero(np.diff(families, prepend=families[0] - 1))
            sums = np.add.reduceat(sums, begins, axis=0)
            groups = (np.add.reduceat(both, begins, axis=0) > 0).sum(axis=0).astype(np.float64)
        squares = (sums**2).sum(axis=0)
        if families is None:
            error = np.sqrt(squares / (n - 1)) / np.sqrt(n)
        else:
            error = np.sqrt(groups / (groups - 1) * squares) / n
        p = 2 * stdtr(np.maximum(groups - 1, 1), -np.abs(mean) / error)
    near = np.flatnonzero(squares <= 4 * len(sums) * CLOSE**2)
    same = near[np.ptp(sums[:, near], axis=0) < CLOSE]
    p[same] = np.where(np.abs(mean[same]) > CLOSE, np.fmax(p[same], 2.0 ** (1 - groups[same])), 1.0)
    return mean, np.where(groups < 2, np.nan, p)
