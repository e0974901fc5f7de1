"""Coefficients of agreement, of sums of tables that items add, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import drawn_counts
from pt_reuse.judging.annotators.labels import NO_LABEL

#: the lowest value of a band -> its name (McHugh 2012; her "almost perfect", above .90, is "strong" here)
BANDS = {0.8: "strong", 0.6: "moderate", 0.4: "weak", 0.21: "minimal"}
#: whose bands these are
SOURCE_OF_BANDS = "McHugh 2012: strong from .80, moderate from .60, weak from .40, minimal from .21, below none"
#: why a coefficient has no value
NO_ITEMS, ONE_LABEL = "no item with two labels", "all labels are the same"
_ROUND = 12
#: (n,) values, NaN where there is none, of (n, ...) sums of tables
OfSums: TypeAlias = "Callable[[NDArray[np.float64]], NDArray[np.float64]]"


def band(value: float) -> str:
    """Return what a coefficient is called by its size, nothing where it has no value.

    Example:
        >>> [band(value) for value in (0.8, 0.79, 0.4, 0.21, 0.2, -1, float("nan"))]
        ['strong', 'moderate', 'weak', 'minimal', 'none', 'none', '']
    """
    if math.isnan(value):
        return ""
    return next((name for least, name in BANDS.items() if round(value, _ROUND) >= least), "none")


#: of some items each: (n,) their numbers, and (n, ...) the tables that each adds to the sums
Parts: TypeAlias = "Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]]"


def all_items(tables: NDArray[np.float64]) -> Parts:
    """Return the part that has every item."""
    return [(np.arange(len(tables)), tables)]


def values_by(parts: Parts, coefficient: OfSums, group: NDArray[np.int64], n: int) -> dict[str, Any]:
    """Return for each of n groups of the items ``value n_items why``.

    These are the mean of a coefficient over the parts in which it has a value, how many items are in any part, and why
    there is no value.
    """
    value = _mean_of_parts(coefficient, _sums_by(parts, group, n), n)
    n_items = np.bincount(group[_items_in(parts)], minlength=n)
    why = np.where(np.isnan(value), np.where(n_items > 0, ONE_LABEL, NO_ITEMS), "")
    return {"value": value, "n_items": n_items, "why": why.tolist()}


def value_of(parts: Parts, coefficient: OfSums, n_items: int) -> tuple[float, str]:
    """Return the value of all items together, and why there is none."""
    found = values_by(parts, coefficient, np.zeros(n_items, dtype=np.int64), 1)
    return found["value"][0], found["why"][0]


def _items_in(parts: Parts) -> NDArray[np.int64]:
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(items for items, _ in parts)]))


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made: what is drawn, how often, the seed, and the confidence."""

    over: str
    resamples: int
    seed: int
    confidence: float

    def words(self) -> str:
        if not self.resamples:
            return "none"
        return f"{100 * self.confidence:.4g}% percentile bootstrap over {self.over}, {self.resamples:,} resamples"

    def interval(self, parts: Parts, coefficient: OfSums, topic: NDArray[np.int64]) -> tuple[float, float, int]:
        """Return the percentile interval of the value of all items, and in how many resamples there is one.

        Each item has its (items,) topic; only those are drawn that have an item in a part.
        """
        unit = topic if self.over == "topics" else np.arange(len(topic))
        there = np.unique(unit[_items_in(parts)])
        if len(there) < 2 or not self.resamples:
            return math.nan, math.nan, 0
        sums, drawn = _sums_by(parts, np.searchsorted(there, unit), len(there)), np.zeros(0)
        for counts in drawn_counts(len(there), resamples=self.resamples, seed=self.seed):
            some = [np.tensordot(counts.astype(np.float64), one, 1) for one in sums]
            drawn = np.append(drawn, _mean_of_parts(coefficient, some, len(counts)))
        drawn = drawn[~np.isnan(drawn)]
        if not len(drawn):
            return math.nan, math.nan, 0
        tail = 50 * (1 - self.confidence)
        low, high = np.percentile(drawn, [tail, 100 - tail])
        return float(low), float(high), len(drawn)


def _sums_by(parts: Parts, group: NDArray[np.int64], n: int) -> list[NDArray[np.float64]]:
    """Return of each part (n, ...) the sums of its tables over the items of each of n groups."""
    found = []
    for items, tables in parts:
        sums = np.zeros((n, *tables.shape[1:]))
        np.add.at(sums, group[items], tables)
        found.append(sums)
    return found


def _mean_of_parts(coefficient: OfSums, sums: Sequence[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """Return (n,) the mean over the parts in which a coefficient has a value."""
    values = np.stack([coefficient(one) for one in sums]) if sums else np.full((1, n), np.nan)
    return _divided(np.nan_to_num(values).sum(axis=0), (~np.isnan(values)).sum(axis=0))


# tables: what an item adds; counts are (items, labels), how many annotators gave each label


def confusion_tables(first: NDArray[np.int64], second: NDArray[np.int64], scale: Sequence[int]) -> NDArray[np.float64]:
    """Return (items, labels, labels): 1 where two annotators gave these labels, nothing where one gave none."""
    tables = np.zeros((len(first), len(scale), len(scale)))
    both = np.flatnonzero((first != NO_LABEL) & (second != NO_LABEL))
    tables[both, np.searchsorted(scale, first[both]), np.searchsorted(scale, second[both])] = 1
    return tables


def coincidence_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, labels, labels): coincidences, pairs of labels over the number of labels less one."""
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    return pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]


def fleiss_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, 1 + labels + 1): the share of equal pairs of labels, how many there are of each label, and 1."""
    equal, pairs = pair_tables(counts).T
    return np.column_stack([equal / np.maximum(pairs, 1), counts, np.ones(len(counts))])


def pair_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, 2): pairs of labels that are equal, and all pairs."""
    n = counts.sum(axis=1)
    return np.column_stack([(counts * (counts - 1)).sum(axis=1), n * (n - 1)]).astype(np.float64)


# coefficients of (n, ...) sums of these


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of equal pairs of labels, of sums of :func:`pair_tables`."""
    return _divided(sums[:, 0], sums[:, 1])


def equal_share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share on the diagonal of (n, labels, labels) confusion matrices."""
    return _divided(np.trace(sums, axis1=1, axis2=2), sums.sum(axis=(1, 2)))


def cohen_kappa(sums: NDArray[np.float64], weights: str | None = None) -> NDArray[np.float64]:
    """Return Cohen's kappa of (n, labels, labels) confusion matrices."""
    steps = np.abs(np.subtract.outer(np.arange(sums.shape[1]), np.arange(sums.shape[1])))
    weight = {None: steps > 0, "linear": steps, "quadratic": steps**2}[weights].astype(np.float64)
    expected = np.einsum("ri,rj,ij->r", sums.sum(axis=2), sums.sum(axis=1), weight)
    return 1 - _divided((sums * weight).sum(axis=(1, 2)) * sums.sum(axis=(1, 2)), expected)


def fleiss_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Fleiss' kappa of sums of :func:`fleiss_tables` over items with equally many labels."""
    items, totals = sums[:, -1], sums[:, 1:-1]
    expected = _divided((totals**2).sum(axis=1), totals.sum(axis=1) ** 2)
    one = (totals > 0).sum(axis=1) < 2
    return np.where(one, np.nan, _divided(_divided(sums[:, 0], items) - expected, 1 - expected))


def distances(totals: NDArray[np.float64], level: str) -> NDArray[np.float64]:
    """Return (n, labels, labels) how far labels lie apart, nominal or ordinal, that are given so often, (n, labels)."""
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(totals.shape[1]), (*totals.shape, totals.shape[1]))
    # labels between two, and half of each of the two
    middle = totals.cumsum(axis=1) - totals / 2
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def krippendorff_alpha(sums: NDArray[np.float64], level: str) -> NDArray[np.float64]:
    """Return Krippendorff's alpha of (n, labels, labels) coincidences."""
    totals = sums.sum(axis=2)
    distance = distances(totals, level)
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    observed = (sums * distance).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
    return 1 - _divided(observed, expected)


def _divided(dividend: NDArray[np.float64], divisor: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(dividend, divisor, out=np.full(len(divisor), np.nan), where=divisor != 0)
