"""On which pairs of systems two t tests agree, in each of many resamples of the topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice
from pt_reuse._choices import CORRECTIONS
from pt_reuse.stats._ranking_input import rounded
from pt_reuse.stats.bootstrap import TopicBootstrap

Floats = NDArray[np.float64]

#: numbers held at a time
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class DrawnAgreement:
    """How many pairs of systems two tests find significant in each resample; the pairs are those of two systems.

    Attributes:
        ss_a: (resamples,) by both, with the same winner.
        ss_d: (resamples,) by both, with opposite winners.
        sn: (resamples,) by the first test alone.
        ns: (resamples,) by the second test alone.
    """

    ss_a: NDArray[np.int64]
    ss_d: NDArray[np.int64]
    sn: NDArray[np.int64]
    ns: NDArray[np.int64]

    @property
    def only_second(self) -> Floats:
        """Return (resamples,) the share that the second test finds alone of all that it finds, NaN where none."""
        return _share(self.ns, self.ss_a + self.ss_d + self.ns)

    @property
    def only_first(self) -> Floats:
        """Return (resamples,) the share that the first test finds alone of all that it finds, NaN where none."""
        return _share(self.sn, self.ss_a + self.ss_d + self.sn)

    @property
    def agree(self) -> Floats:
        """Return (resamples,) agree-SS_a, see :class:`SignificanceAgreement`."""
        both = 2 * (self.ss_a + self.ss_d)
        return _share(2 * self.ss_a, both + self.sn + self.ns)


def drawn_agreement(
    one: Floats, other: Floats, bootstrap: TopicBootstrap, alpha: float = 0.05, correction: str = "none"
) -> DrawnAgreement:
    """Test every pair of systems by Student's paired t test in each resample of the topics, for two scorings at once.

    Both see the same resamples. A resample counts as so many topics as it draws. Each of its verdicts is what
    :func:`pt_reuse.stats.significance.pair_tests` says of the topics drawn: mean and variance of a difference are sums
    over topics, so that all resamples and pairs come of two products of matrices, and p-values are compared with alpha
    by the t that belongs to it.

    Args:
        one: (topics, systems) scores of the first test, two topics or more.
        other: of the second, the same topics and systems.
        bootstrap: over topics.
        alpha: the level.
        correction: for the number of pairs, a key of :data:`CORRECTIONS`; of each resample alone.
    """
    choice("correction", correction, tuple(CORRECTIONS))
    n_topics = len(one)
    limits = _limits(n_topics, one.shape[1] * (one.shape[1] - 1) // 2, alpha, correction)
    parts = []
    for counts in bootstrap.blocks(n_topics):
        sides = [_winners(values, counts.astype(np.float64), limits, correction) for values in (one, other)]
        for a, b in zip(*sides, strict=True):
            both = (a != 0) & (b != 0)
            same = both & (a == b)
            n_both, n_same = both.sum(axis=1), same.sum(axis=1)
            alone = [(side != 0).sum(axis=1) - n_both for side in (a, b)]
            parts.append(np.stack([n_same, n_both - n_same, *alone]))
    ss_a, ss_d, sn, ns = np.concatenate(parts, axis=1)
    return DrawnAgreement(ss_a, ss_d, sn, ns)


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


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
