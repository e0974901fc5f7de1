"""Banks of items, and the units that found them: uniques, scores without them, and how many further items there are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def weighted_recall(credit: Floats, weights: Floats, topic: NDArray[np.int64], n_topics: int) -> Floats:
    """Return (topics, runs) weighted means of (items, runs) credits; 0 where no item of a topic weighs anything."""
    sums, of_topic = np.zeros((n_topics, credit.shape[1])), np.zeros(n_topics)
    # one by one in the order of the bank, as the AutoNuggetizer adds them up
    np.add.at(sums, topic, credit * weights[:, None])
    np.add.at(of_topic, topic, weights)
    return np.divide(sums, of_topic[:, None], out=np.zeros_like(sums), where=of_topic[:, None] > 0)


def found_by_units(found: Mask, of_run: NDArray[np.int64], n_units: int) -> Mask:
    """Return (items, units) whether some run of a unit found an item."""
    by_unit = np.zeros((len(found), n_units), dtype=bool)
    np.logical_or.at(by_unit.T, of_run, found.T)
    return by_unit


def unique_to(by_unit: Mask) -> NDArray[np.int64]:
    """Return (items,) the unit that alone found an item, -1 where none or several did."""
    return np.where(by_unit.sum(axis=1) == 1, by_unit.argmax(axis=1), -1)


class Growth(NamedTuple):
    """How many items units find together."""

    expected: Floats  # (units,) by 1, 2, ... of them, in the mean over all choices
    deviation: Floats  # (units,) over the choices
    next_unit: float  # what one more unit would add
    chao2: float  # a lower bound of how many items there are
    chao2_low: float
    chao2_high: float


def growth(by_unit: Mask, confidence: float = 0.95) -> Growth:
    """Return the exact rarefaction of items over units, and Chao's bound of how many items there are.

    What one more unit adds is the slope of the curve at its end, q1 / n. The interval of Chao2 is the log-normal one.
    Source: Chao 1987, Biometrics 43, bias corrected; Colwell et al. 2004, Ecology 85, for the curve.
    """
    from scipy.stats import norm

    n, counts = by_unit.shape[1], by_unit.sum(axis=1)
    counts = counts[counts > 0]
    missed = _missed(counts, n)
    expected = (1 - missed).sum(axis=0)
    q1, q2 = int((counts == 1).sum()), int((counts == 2).sum())
    part, base = (n - 1) / n, q1 * (q1 - 1) / (2 * (q2 + 1))
    chao2 = len(counts) + part * base
    if q2:
        variance = part * base + part**2 * q1 * (2 * q1 - 1) ** 2 / (4 * (q2 + 1) ** 2)
        variance += part**2 * q1**2 * q2 * (q1 - 1) ** 2 / (4 * (q2 + 1) ** 4)
    else:
        variance = part * base + part**2 * q1 * (2 * q1 - 1) ** 2 / 4 - part**2 * q1**4 / (4 * max(chao2, 1))
    unseen, low, high = chao2 - len(counts), chao2, chao2
    if unseen > 0 and variance > 0:
        factor = float(np.exp(norm.ppf((1 + confidence) / 2) * np.sqrt(np.log1p(variance / unseen**2))))
        low, high = len(counts) + unseen / factor, len(counts) + unseen * factor
    return Growth(expected, _deviation(by_unit, missed), q1 / n, chao2, low, high)


def _missed(counts: NDArray[np.int64], n: int) -> Floats:
    """Return (items, n) the share of choices of 1, 2, ... of n units that has none of the units of an item."""
    from scipy.special import gammaln

    k, others = np.arange(1, n + 1), n - counts[:, None]
    logs = gammaln(others + 1) + gammaln(n - k + 1) - gammaln(n + 1) - gammaln(np.maximum(others - k, 0) + 1)
    return np.where(others >= k, np.exp(logs), 0.0)


def _deviation(by_unit: Mask, missed: Floats) -> Floats:
    """Return (units,) the deviation of how many items a choice of units finds, exactly, from pairs of items."""
    held = by_unit[by_unit.any(axis=1)].astype(float)
    either = np.rint(held.sum(axis=1)[:, None] + held.sum(axis=1) - held @ held.T).astype(np.int64)
    sizes, times = np.unique(either, return_counts=True)
    both_missed = (_missed(sizes, by_unit.shape[1]) * times[:, None]).sum(axis=0)
    return np.sqrt(np.maximum(both_missed - missed.sum(axis=0) ** 2, 0.0))
