"""Coefficients of agreement as other libraries compute them, and the words for their size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import InputError
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
