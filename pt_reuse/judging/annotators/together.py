"""All annotators together: coefficients overall, of each topic and of each label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.judging.annotators.coefficients import (
    NO_ITEMS,
    ONE_LABEL,
    Coefficient,
    band,
    fleiss_kappa,
    krippendorff_alpha,
    pairs_equal,
)
from pt_reuse.judging.annotators.comparing import Comparison, Way, together
from pt_reuse.judging.annotators.labels import NO_LABEL, AnnotatorLabels
from pt_reuse.judging.annotators.resampling import (
    CohenKappa,
    Interval,
    KrippendorffAlpha,
    Part,
    coincidence_tables,
    confusion_tables,
    fleiss_of,
    fleiss_tables,
    pair_tables,
    ratio,
    sums_by,
)


@dataclass(frozen=True)
class _Counted:
    """The items of one way of comparing that have two labels or more.

    Attributes:
        way: over which items and labels.
        values: (items, annotators) their labels, -1 for none.
        counts: (items, labels) how many annotators gave each label.
        topic: (items,) their topics.
    """

    way: Way
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    topic: NDArray[np.int64]

    def take(self, kept: NDArray[np.bool_]) -> _Counted:
        return _Counted(self.way, self.values[kept], self.counts[kept], self.topic[kept])

    @property
    def of_fleiss(self) -> NDArray[np.bool_]:
        """Return (items,): whether an item has as many labels as most of these items, which Fleiss' kappa takes."""
        n = self.counts.sum(axis=1)
        found = np.bincount(n, minlength=1)
        # of several numbers that are equally frequent the largest
        chosen: NDArray[np.bool_] = n == len(found) - 1 - found[::-1].argmax()
        return chosen


def fleiss_words(labels: AnnotatorLabels, how: Comparison) -> str:
    """Return how many labels the items have that Fleiss' kappa is of, for settings."""
    told = {}
    for found in _ways(labels, how):
        fixed = found.counts[found.of_fleiss]
        if len(fixed):
            told[found.way.items] = f"items with {int(fixed[0].sum())} labels each: {count(len(fixed), 'item')}"
    relevant = told.get("relevant", "none")
    return f"{told['all']}; of the relevant ones {relevant}"


def _ways(labels: AnnotatorLabels, how: Comparison) -> Iterator[_Counted]:
    for way in how.ways(labels.values):
        n = (way.values != NO_LABEL).sum(axis=1)
        values = way.values[n > 1]
        counts = np.stack([(values == label).sum(axis=1) for label in way.scale], axis=1)
        yield _Counted(way, values, counts, way.topic[n > 1])


def _coefficients(found: _Counted, kappa: Coefficient) -> Iterator[tuple[str, Coefficient, NDArray[np.int64]]]:
    """Yield the name of each coefficient, its value, and (items, labels) the counts that it is of."""
    yield "agreement", pairs_equal(found.counts), found.counts
    yield "cohen_kappa", kappa, found.counts
    fixed = found.counts[found.of_fleiss]
    yield "fleiss_kappa", fleiss_kappa(fixed), fixed
    yield "alpha_nominal", krippendorff_alpha(found.counts, "nominal"), found.counts
    if found.way.labels == "grades":
        yield "alpha_ordinal", krippendorff_alpha(found.counts, "ordinal"), found.counts


def _parts(found: _Counted) -> list[Part]:
    """Return the items that each two annotators have in common, and how their labels meet there."""
    parts = []
    for i, j in together(found.values != NO_LABEL):
        items = np.flatnonzero((found.values[:, [i, j]] != NO_LABEL).all(axis=1))
        parts.append(Part(items, confusion_tables(found.values[items, i], found.values[items, j], found.way.scale)))
    return parts


def _mean_kappas(parts: Sequence[Part], how: Comparison, group: NDArray[np.int64], n: int) -> list[Coefficient]:
    """Return the mean kappa over pairs for each of n groups of items; pair by pair scikit-learn takes its time."""
    total, known, some = np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    for part in parts:
        own, place = np.unique(group[part.items], return_inverse=True)
        kappas = CohenKappa(how.weights)(sums_by(part.tables, place, len(own)))
        total[own] += np.nan_to_num(kappas)
        known[own] += ~np.isnan(kappas)
        some[own] = True
    return [
        Coefficient(float(total[g] / known[g])) if known[g] else Coefficient(np.nan, ONE_LABEL if some[g] else NO_ITEMS)
        for g in range(n)
    ]


def overall_table(labels: AnnotatorLabels, how: Comparison) -> pd.DataFrame:
    """Return a row for each items, labels and coefficient, with its interval."""
    rows = []
    for found in _ways(labels, how):
        parts = _parts(found)
        (kappa,) = _mean_kappas(parts, how, np.zeros(len(found.topic), dtype=np.int64), 1)
        for name, coefficient, counts in _coefficients(found, kappa):
            interval = _interval(name, found, parts, how)
            rows.append(
                {
                    "items": found.way.items,
                    "labels": found.way.labels,
                    "coefficient": name,
                    "value": coefficient.value,
                    "low": interval.low,
                    "high": interval.high,
                    "resamples": interval.defined,
                    "band": "" if name == "agreement" else band(coefficient.value),
                    "n_items": len(counts),
                    "n_labels": int(counts.sum()),
                    "why": coefficient.why,
                }
            )
    return pd.DataFrame(rows)


def _interval(name: str, found: _Counted, parts: Sequence[Part], how: Comparison) -> Interval:
    draw, topic = how.bootstrap.interval, found.topic
    if name == "agreement":
        return draw(pair_tables(found.counts), topic, ratio)
    if name == "fleiss_kappa":
        return draw(fleiss_tables(found.counts[found.of_fleiss]), topic[found.of_fleiss], fleiss_of)
    if name == "cohen_kappa":
        return how.bootstrap.mean_interval(parts, topic, CohenKappa(how.weights))
    return draw(coincidence_tables(found.counts), topic, KrippendorffAlpha(name.removeprefix("alpha_")))


def per_topic_table(labels: AnnotatorLabels, how: Comparison) -> pd.DataFrame:
    """Return a row for each topic, items, labels and coefficient."""
    rows = []
    for found in _ways(labels, how):
        kappas = _mean_kappas(_parts(found), how, found.topic, len(labels.topics))
        for t, qid in enumerate(labels.topics):
            for name, coefficient, counts in _coefficients(found.take(found.topic == t), kappas[t]):
                rows.append(
                    {
                        "qid": qid,
                        "items": found.way.items,
                        "labels": found.way.labels,
                        "coefficient": name,
                        "value": coefficient.value,
                        "n_items": len(counts),
                        "why": coefficient.why,
                    }
                )
    return pd.DataFrame(rows)


def by_label_table(labels: AnnotatorLabels, how: Comparison) -> pd.DataFrame:
    """Return a row for each items, labels and label: how often it is given, and how far annotators agree on it."""
    rows = []
    for found in _ways(labels, how):
        n = found.counts.sum(axis=1)
        for k, label in enumerate(found.way.scale):
            own = found.counts[:, k]
            # for each time that the label is given, the other labels of the item
            chances = int((own * (n - 1)).sum())
            alpha = krippendorff_alpha(np.column_stack([n - own, own]), "nominal")
            rows.append(
                {
                    "items": found.way.items,
                    "labels": found.way.labels,
                    "label": label,
                    "n": int(own.sum()),
                    "agreement": float((own * (own - 1)).sum() / chances) if chances else np.nan,
                    "alpha": alpha.value,
                    "why": alpha.why,
                }
            )
    return pd.DataFrame(rows)
