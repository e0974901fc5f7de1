"""Coefficients of agreement, of sums of tables that items add, and their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

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


class Part(NamedTuple):
    """Some of the items, (n,) their numbers, and (n, ...) the tables that each adds to the sums."""

    items: NDArray[np.int64]
    tables: NDArray[np.float64]


def all_items(tables: NDArray[np.float64]) -> Part:
    """Return the part that has every item."""
    return Part(np.arange(len(tables)), tables)


class Interval(NamedTuple):
    """A percentile interval, and the number of resamples in which there is a value."""

    low: float = math.nan
    high: float = math.nan
    defined: int = 0


def values_by(
    parts: Sequence[Part], coefficient: OfSums, group: NDArray[np.int64], n: int
) -> tuple[NDArray[np.float64], list[str]]:
    """Return (n,) the mean of a coefficient over the parts in which it has a value, for n groups, and why it has none.

    Args:
        parts: some of the items each.
        coefficient: of the sums of a part.
        group: (items,) the group of each item.
        n: how many groups there are.
    """
    total, known, some = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    for part in parts:
        own, place = np.unique(group[part.items], return_inverse=True)
        values = coefficient(_sums_by(part.tables, place, len(own)))
        total[own] += np.nan_to_num(values)
        known[own] += ~np.isnan(values)
        some[own] = True
    values = _divided(total, known)
    return values, ["" if n_known else ONE_LABEL if has else NO_ITEMS for n_known, has in zip(known, some, strict=True)]


def value_of(parts: Sequence[Part], coefficient: OfSums, n_items: int) -> tuple[float, str]:
    """Return what :func:`values_by` returns of all items together."""
    (value,), (why,) = values_by(parts, coefficient, np.zeros(n_items, dtype=np.int64), 1)
    return value, why


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
        return f"{100 * self.confidence:.4g} % percentile bootstrap over {self.over}, {self.resamples:,} resamples"

    def interval(self, parts: Sequence[Part], coefficient: OfSums, topic: NDArray[np.int64]) -> Interval:
        """Return the interval of what :func:`values_by` returns of all items, of which each has its (items,) topic."""
        unit = topic if self.over == "topics" else np.arange(len(topic))
        drawn = np.unique(np.concatenate([unit[part.items] for part in parts] or [unit[:0]]))
        if len(drawn) < 2 or not self.resamples:
            return Interval()
        added = []
        for part in parts:
            own, place = np.unique(unit[part.items], return_inverse=True)
            added.append((np.searchsorted(drawn, own), _sums_by(part.tables, place, len(own))))
        means = []
        for counts in drawn_counts(len(drawn), resamples=self.resamples, seed=self.seed):
            weights = counts.astype(np.float64)
            total, known = np.zeros(len(weights)), np.zeros(len(weights))
            for own, tables in added:
                mine = weights if len(own) == len(drawn) else weights[:, own]
                sums = mine @ tables.reshape(len(own), math.prod(tables.shape[1:]))
                values = coefficient(sums.reshape(len(weights), *tables.shape[1:]))
                total += np.nan_to_num(values)
                known += ~np.isnan(values)
            means.append(_divided(total, known))
        found = np.concatenate(means)
        found = found[~np.isnan(found)]
        if not len(found):
            return Interval()
        tail = 50 * (1 - self.confidence)
        low, high = np.percentile(found, [tail, 100 - tail])
        return Interval(float(low), float(high), len(found))


def _sums_by(tables: NDArray[np.float64], group: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Return (n, ...): the sum of (items, ...) tables over the items of each of n groups."""
    # with no item at all there is no -1 that could be inferred
    columns = tables.reshape(len(tables), math.prod(tables.shape[1:])).T
    sums = [np.bincount(group, weights=column, minlength=n).astype(np.float64) for column in columns]
    return np.stack(sums, axis=1).reshape(n, *tables.shape[1:])


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


@dataclass(frozen=True)
class CohenKappa:
    """Cohen's kappa of (n, labels, labels) confusion matrices."""

    weights: str | None

    def __call__(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        steps = np.abs(np.subtract.outer(np.arange(sums.shape[1]), np.arange(sums.shape[1])))
        weight = {None: steps > 0, "linear": steps, "quadratic": steps**2}[self.weights].astype(np.float64)
        expected = np.einsum("ri,rj,ij->r", sums.sum(axis=2), sums.sum(axis=1), weight)
        return 1 - _divided((sums * weight).sum(axis=(1, 2)) * sums.sum(axis=(1, 2)), expected)


def fleiss_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Fleiss' kappa of sums of :func:`fleiss_tables` over items with equally many labels."""
    items, totals = sums[:, -1], sums[:, 1:-1]
    expected = _divided((totals**2).sum(axis=1), totals.sum(axis=1) ** 2)
    one = (totals > 0).sum(axis=1) < 2
    return np.where(one, np.nan, _divided(_divided(sums[:, 0], items) - expected, 1 - expected))


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Krippendorff's alpha, nominal or ordinal, of (n, labels, labels) coincidences."""

    level: str

    def distance(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, labels, labels) how far labels lie apart that are given so often, (n, labels)."""
        if self.level == "nominal":
            return np.broadcast_to(1 - np.eye(totals.shape[1]), (*totals.shape, totals.shape[1]))
        # labels between two, and half of each of the two
        middle = totals.cumsum(axis=1) - totals / 2
        return (middle[:, :, None] - middle[:, None, :]) ** 2

    def __call__(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        totals = sums.sum(axis=2)
        distance = self.distance(totals)
        expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
        observed = (sums * distance).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
        return 1 - _divided(observed, expected)


def _divided(dividend: NDArray[np.float64], divisor: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(dividend, divisor, out=np.full(len(divisor), np.nan), where=divisor != 0)
