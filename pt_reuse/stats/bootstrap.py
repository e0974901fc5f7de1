"""The bootstrap over topics: what is drawn, and the interval that the draws give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, fraction, whole


@dataclass(frozen=True)
class TopicBootstrap:
    """How intervals over topics are made.

    Attributes:
        resamples: how often as many topics as there are are drawn with replacement, 1 or more.
        seed: of the draws.
        confidence: the share of the draws between the ends of an interval, before it is corrected.
    """

    resamples: int
    seed: int
    confidence: float

    def words(self) -> str:
        """Return how intervals are made, for settings."""
        return f"{100 * self.confidence:.4g} % bias-corrected bootstrap over topics, {self.resamples:,} resamples"

    def counts(self, n_topics: int) -> NDArray[np.int64]:
        """Return (resamples, topics): how often each topic is drawn; the same for every caller."""
        random = np.random.default_rng(self.seed)
        drawn = random.integers(0, n_topics, (self.resamples, n_topics)) + n_topics * np.arange(self.resamples)[:, None]
        return np.bincount(drawn.ravel(), minlength=self.resamples * n_topics).reshape(self.resamples, n_topics)

    def interval(self, estimate: float, drawn: NDArray[np.float64]) -> tuple[float, float]:
        """Return the ends of the bias-corrected interval of an estimate, NaN where it has none.

        Args:
            estimate: of all topics.
            drawn: (resamples,) the same of each draw; draws without a value are left out.
        """
        from scipy.special import ndtr, ndtri

        found = drawn[~np.isnan(drawn)]
        if np.isnan(estimate) or not len(found):
            return float("nan"), float("nan")
        below = ((found < estimate).sum() + (found == estimate).sum() / 2) / len(found)
        bias = ndtri(min(max(below, 0.5 / len(found)), 1 - 0.5 / len(found)))
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(found, ndtr(2 * bias + ndtri([tail, 1 - tail])))
        return float(low), float(high)


def checked_bootstrap(*, resamples: Any, seed: Any, confidence: Any) -> TopicBootstrap | None:
    """Return what a user's ``resamples=``, ``seed=`` and ``confidence=`` ask for; None for no intervals."""
    n = whole("resamples", resamples, "draws", least=0)
    asked = TopicBootstrap(n, checked_seed(seed), fraction("confidence", confidence, ends=False))
    return asked if n else None
