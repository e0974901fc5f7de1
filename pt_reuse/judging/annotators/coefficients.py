"""Bootstrap intervals of coefficients of agreement: topics, or items, are drawn with replacement.

Every coefficient here is a function of tables of counts that add up over topics. So a resample is a weighted sum of the
tables of the topics, and all resamples together are one product of matrices. The values of the results themselves come
from other libraries; the tests hold the functions here equal to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import InputError
from pt_reuse.arrays.bootstrap import drawn_counts
from pt_reuse.judging.annotators.labels import NO_LABEL

#: the lowest value of a band -> its name (McHugh 2012; her "almost perfect", above .90, is "strong" here)
BANDS = {0.8: "strong", 0.6: "moderate", 0.4: "weak", 0.21: "minimal"}
_BELOW = "none"
#: whose bands these are
SOURCE_OF_BANDS = "McHugh 2012: strong from .80, moderate from .60, weak from .40, minimal from .21, below none"
#: why a coefficient has no value
NO_ITEMS, ONE_LABEL = "no item with two labels", "all labels are the same"
_ROUND = 12


@dataclass(frozen=True)
class Coefficient:
    """A value, and where there is none (NaN) a word why."""

    value: float
    why: str = ""


def band(value: float) -> str:
    """Return what a coefficient is called by its size, nothing where it has no value.

    Example:
        >>> [band(value) for value in (0.8, 0.79, 0.4, 0.21, 0.2, -1, float("nan"))]
        ['strong', 'moderate', 'weak', 'minimal', 'none', 'none', '']
    """
    if math.isnan(value):
        return ""
    return next((name for least, name in BANDS.items() if round(value, _ROUND) >= least), _BELOW)


def needed(module: str) -> Any:
    """Return a library of the extra ``judging``, or say how it is had."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"agreement of annotators needs {module.split('.')[0]}; `pip install 'pt-reuse[judging]'` brings it."
        ) from error


def check_libraries() -> None:
    """Raise where one of the libraries is missing, before anything is computed."""
    for module in ("sklearn.metrics", "statsmodels.stats.inter_rater", "krippendorff"):
        needed(module)


def share_equal(first: NDArray[np.int64], second: NDArray[np.int64]) -> Coefficient:
    """Return the share of items to which two annotators give the same label.

    Args:
        first: (items,) labels of one, -1 for none.
        second: (items,) labels of the other.
    """
    first, second = in_both(first, second)
    return Coefficient(float((first == second).mean())) if len(first) else Coefficient(math.nan, NO_ITEMS)


def cohen_kappa(
    first: NDArray[np.int64], second: NDArray[np.int64], scale: Sequence[int], weights: str | None
) -> Coefficient:
    """Return Cohen's kappa of two annotators over the items that both labelled, by scikit-learn.

    Args:
        first: (items,) labels of one, -1 for none.
        second: (items,) labels of the other.
        scale: the labels there are, in order: weights count the steps between them.
        weights: None, ``"linear"`` or ``"quadratic"``.
    """
    first, second = in_both(first, second)
    if not len(first):
        return Coefficient(math.nan, NO_ITEMS)
    if len({*first.tolist(), *second.tolist()}) == 1:
        return Coefficient(math.nan, ONE_LABEL)
    metrics = needed("sklearn.metrics")
    return Coefficient(float(metrics.cohen_kappa_score(first, second, labels=list(scale), weights=weights)))


def fleiss_kappa(counts: NDArray[np.int64]) -> Coefficient:
    """Return Fleiss' kappa by statsmodels.

    Args:
        counts: (items, labels) how many annotators gave each label, equally many for every item.
    """
    if not len(counts) or counts[0].sum() < 2:
        return Coefficient(math.nan, NO_ITEMS)
    if (counts.sum(axis=0) > 0).sum() == 1:
        return Coefficient(math.nan, ONE_LABEL)
    return Coefficient(float(needed("statsmodels.stats.inter_rater").fleiss_kappa(counts)))


def krippendorff_alpha(counts: NDArray[np.int64], level: str) -> Coefficient:
    """Return Krippendorff's alpha by the library of this name.

    Args:
        counts: (items, labels) how many annotators gave each label, in the order of the scale; items with fewer than
            two labels do not count.
        level: ``"nominal"`` or ``"ordinal"``.
    """
    counts = counts[counts.sum(axis=1) > 1]
    if not len(counts):
        return Coefficient(math.nan, NO_ITEMS)
    if (counts.sum(axis=0) > 0).sum() == 1:
        return Coefficient(math.nan, ONE_LABEL)
    return Coefficient(float(needed("krippendorff").alpha(value_counts=counts, level_of_measurement=level)))


def pairs_equal(counts: NDArray[np.int64]) -> Coefficient:
    """Return the share of equal ones among all pairs of labels of one item.

    Args:
        counts: (items, labels) how many annotators gave each label.
    """
    n = counts.sum(axis=1)
    pairs = (n * (n - 1)).sum()
    return Coefficient(float((counts * (counts - 1)).sum() / pairs)) if pairs else Coefficient(math.nan, NO_ITEMS)


def in_both(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels of the items that both labelled."""
    both = (first != NO_LABEL) & (second != NO_LABEL)
    return first[both], second[both]


@dataclass(frozen=True)
class Interval:
    """A percentile interval."""

    low: float
    high: float
    defined: int


NO_INTERVAL = Interval(np.nan, np.nan, 0)


class OfSums(Protocol):
    """A coefficient of tables that are sums."""

    def __call__(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (resamples,) values, NaN where there is none, of (resamples, ...) sums of tables."""


@dataclass(frozen=True)
class Part:
    """Some of the items.

    Attributes:
        items: (n,) which.
        tables: (n, ...) what each of them adds to the sums.
    """

    items: NDArray[np.int64]
    tables: NDArray[np.float64]


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made."""

    over: str
    resamples: int
    seed: int
    confidence: float

    def words(self) -> str:
        """Return how intervals are made, in words."""
        if not self.resamples:
            return "none"
        return f"{100 * self.confidence:.4g} % percentile bootstrap over {self.over}, {self.resamples:,} resamples"

    def interval(self, tables: NDArray[np.float64], topic: NDArray[np.int64], coefficient: OfSums) -> Interval:
        """Return the interval of a coefficient.

        Args:
            tables: (items, ...) what each item adds to the sums.
            topic: (items,) the topic of each item. Topics without an item here are not drawn.
            coefficient: of the sums.
        """
        return self.mean_interval([Part(np.arange(len(topic)), tables)], topic, coefficient)

    def mean_interval(self, parts: Sequence[Part], topic: NDArray[np.int64], coefficient: OfSums) -> Interval:
        """Return the interval of the mean of a coefficient over the parts in which it has a value.

        Args:
            parts: some of the items each.
            topic: (items,) the topic of each item. Topics without an item here are not drawn.
            coefficient: of the sums of a part.
        """
        names, unit = np.unique(topic if self.over == "topics" else np.arange(len(topic)), return_inverse=True)
        if len(names) < 2 or not self.resamples or not parts:
            return NO_INTERVAL
        added = []
        for part in parts:
            own, group = np.unique(unit[part.items], return_inverse=True)
            added.append((own, sums_by(part.tables, group, len(own))))
        means = []
        for counts in drawn_counts(len(names), resamples=self.resamples, seed=self.seed):
            weights = counts.astype(np.float64)
            total, known = np.zeros(len(weights)), np.zeros(len(weights))
            for own, tables in added:
                mine = weights if len(own) == len(names) else weights[:, own]
                sums = mine @ tables.reshape(len(own), math.prod(tables.shape[1:]))
                values = coefficient(sums.reshape(len(weights), *tables.shape[1:]))
                total += np.nan_to_num(values)
                known += ~np.isnan(values)
            means.append(_divided(total, known))
        found = np.concatenate(means)
        found = found[~np.isnan(found)]
        if not len(found):
            return NO_INTERVAL
        tail = 50 * (1 - self.confidence)
        low, high = np.percentile(found, [tail, 100 - tail])
        return Interval(float(low), float(high), len(found))


def sums_by(tables: NDArray[np.float64], group: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Return (n, ...): the sum of (items, ...) tables over the items of each of n groups."""
    # with no item at all there is no -1 that could be inferred
    columns = tables.reshape(len(tables), math.prod(tables.shape[1:])).T
    sums = [np.bincount(group, weights=column, minlength=n).astype(np.float64) for column in columns]
    return np.stack(sums, axis=1).reshape(n, *tables.shape[1:])


# tables: what an item adds


def confusion_tables(
    first: NDArray[np.int64], second: NDArray[np.int64], scale: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return (items, labels, labels): 1 where two annotators gave these labels, nothing where one gave none."""
    tables = np.zeros((len(first), len(scale), len(scale)))
    both = np.flatnonzero((first != NO_LABEL) & (second != NO_LABEL))
    tables[both, np.searchsorted(scale, first[both]), np.searchsorted(scale, second[both])] = 1
    return tables


def coincidence_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, labels, labels): Krippendorff's coincidences, pairs of labels over the number of labels less one.

    Args:
        counts: (items, labels) how many annotators gave each label.
    """
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    return pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]


def fleiss_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, 1 + labels + 1): the share of equal pairs of labels, how many there are of each label, and 1."""
    n = counts.sum(axis=1)
    equal = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    return np.column_stack([equal, counts, np.ones(len(counts))]).astype(np.float64)


def pair_tables(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (items, 2): pairs of labels that are equal, and all pairs."""
    n = counts.sum(axis=1)
    return np.column_stack([(counts * (counts - 1)).sum(axis=1), n * (n - 1)]).astype(np.float64)


# coefficients of sums of these


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first over the second of (resamples, 2) sums."""
    return _divided(sums[:, 0], sums[:, 1])


@dataclass(frozen=True)
class CohenKappa:
    """Cohen's kappa of (resamples, labels, labels) confusion matrices."""

    weights: str | None

    def __call__(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (resamples,) values."""
        steps = np.abs(np.subtract.outer(np.arange(sums.shape[1]), np.arange(sums.shape[1])))
        weight = {None: steps > 0, "linear": steps, "quadratic": steps**2}[self.weights].astype(np.float64)
        expected = np.einsum("ri,rj,ij->r", sums.sum(axis=2), sums.sum(axis=1), weight)
        return 1 - _divided((sums * weight).sum(axis=(1, 2)) * sums.sum(axis=(1, 2)), expected)


def equal_share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share on the diagonal of (resamples, labels, labels) confusion matrices."""
    return _divided(np.trace(sums, axis1=1, axis2=2), sums.sum(axis=(1, 2)))


def fleiss_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Fleiss' kappa of sums of :func:`fleiss_tables` over items with equally many labels."""
    items, totals = sums[:, -1], sums[:, 1:-1]
    expected = _divided((totals**2).sum(axis=1), totals.sum(axis=1) ** 2)
    one = (totals > 0).sum(axis=1) < 2
    return np.where(one, np.nan, _divided(_divided(sums[:, 0], items) - expected, 1 - expected))


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Krippendorff's alpha of (resamples, labels, labels) coincidences."""

    level: str

    def __call__(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (resamples,) values."""
        totals = sums.sum(axis=2)
        n_labels = sums.shape[1]
        if self.level == "nominal":
            distance = np.broadcast_to(1 - np.eye(n_labels), sums.shape)
        else:
            # labels between two, and half of each of the two
            middle = totals.cumsum(axis=1) - totals / 2
            distance = (middle[:, :, None] - middle[:, None, :]) ** 2
        expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
        observed = (sums * distance).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
        return 1 - _divided(observed, expected)


def _divided(dividend: NDArray[np.float64], divisor: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(dividend, divisor, out=np.full(len(divisor), np.nan), where=divisor != 0)
