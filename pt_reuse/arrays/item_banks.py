"""Banks of items, and the units that found them: uniques, scores without them, and how many further items there are."""

from __future__ import annotations

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


def rarefaction(by_unit: Mask) -> Floats:
    """Return (units,) how many items 1, 2, ... units find, exactly, in the mean over all choices of so many."""
    from scipy.special import gammaln

    n, counts = by_unit.shape[1], by_unit.sum(axis=1)
    counts = counts[counts > 0]
    k, others = np.arange(1, n + 1), n - counts[:, None]
    # the share of choices that has none of the units of an item
    logs = gammaln(others + 1) + gammaln(n - k + 1) - gammaln(n + 1) - gammaln(np.maximum(others - k, 0) + 1)
    return np.asarray((1 - np.where(others >= k, np.exp(logs), 0.0)).sum(axis=0))


def bank_size(by_unit: Mask, confidence: float) -> dict[str, float]:
    """Return how many items there are, how many units found, what one more would add, and Chao's bound of all.

    What one more unit adds is the slope of the curve at its end, q1 / n. The interval of Chao2 is the log-normal one;
    there is none where one unit alone found a single item.
    Source: Chao 1987, Biometrics 43, bias corrected; Colwell et al. 2004, Ecology 85, for the curve.
    """
    from scipy.stats import norm

    n, counts = by_unit.shape[1], by_unit.sum(axis=1)
    found, q1, q2 = (int(wanted.sum()) for wanted in (counts > 0, counts == 1, counts == 2))
    part, base = (n - 1) / n, q1 * (q1 - 1) / (2 * (q2 + 1))
    chao2 = found + part * base
    if q2:
        variance = part * base + part**2 * q1 * (2 * q1 - 1) ** 2 / (4 * (q2 + 1) ** 2)
        variance += part**2 * q1**2 * q2 * (q1 - 1) ** 2 / (4 * (q2 + 1) ** 4)
    else:
        variance = part * base + part**2 * q1 * (2 * q1 - 1) ** 2 / 4 - part**2 * q1**4 / (4 * max(chao2, 1))
    unseen, low, high = chao2 - found, chao2, chao2
    if q1 == 1 < n:
        # one item that one unit alone found: a logarithm of 0
        low = high = float("nan")
    elif unseen > 0 and variance > 0:
        factor = float(np.exp(norm.ppf((1 + confidence) / 2) * np.sqrt(np.log1p(variance / unseen**2))))
        low, high = found + unseen / factor, found + unseen * factor
    bound = {"chao2": chao2, "chao2_low": low, "chao2_high": high}
    return {"items": len(counts), "found": found, "unique": q1, "by_two": q2, "next_unit": q1 / n, **bound}
