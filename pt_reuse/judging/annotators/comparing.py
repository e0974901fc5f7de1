"""Two that label the same items, compared: annotators with each other, with the majority of the others, with gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.judging.annotators.coefficients import band, cohen_kappa, share_equal
from pt_reuse.judging.annotators.labels import NO_LABEL
from pt_reuse.judging.annotators.resampling import Bootstrap, CohenKappa, confusion_tables, equal_share
from pt_reuse.judging.annotators.voting import Vote

#: two names, and (items,) labels of each, -1 for none
Two: TypeAlias = tuple[str, str, NDArray[np.int64], NDArray[np.int64]]
_COLUMNS = (
    "first", "second", "items", "labels", "n_topics", "n_items", "n_relevant", "other_relevant", "agreement",
    "agreement_low", "agreement_high", "kappa", "kappa_low", "kappa_high", "band", "why",
)  # fmt: skip
_CONFUSION = ("first", "second", "label", "other_label", "n")


@dataclass(frozen=True)
class Comparison:
    """How labels are compared.

    Attributes:
        scale: the labels there are, in order.
        rel: the lowest that is relevant.
        weights: of Cohen's kappa.
        bootstrap: how intervals are made.
        topic: (items,) the topic of each item.
    """

    scale: tuple[int, ...]
    rel: int
    weights: str | None
    bootstrap: Bootstrap
    topic: NDArray[np.int64]

    def ways(self, values: NDArray[np.int64]) -> Iterator[Way]:
        """Yield the labels over all items and over those that anyone called relevant, as grades and as binary ones.

        Args:
            values: (items, two or more) labels, -1 for none.
        """
        relevant = (values >= self.rel).any(axis=1)
        binary = np.where(values == NO_LABEL, NO_LABEL, values >= self.rel)
        for labels, taken, scale in (("grades", values, self.scale), ("binary", binary, (0, 1))):
            if labels == "grades" or len(self.scale) > 2:
                for items, kept in (("all", np.ones(len(values), dtype=bool)), ("relevant", relevant)):
                    yield Way(items, labels, taken[kept], scale, self.topic[kept])


@dataclass(frozen=True)
class Way:
    """Labels in one of the ways in which they are compared.

    Attributes:
        items: over which items, ``"all"`` or ``"relevant"``.
        labels: what of the labels, ``"grades"`` or ``"binary"``.
        values: (items, annotators) the labels, -1 for none.
        scale: the labels there are.
        topic: (items,) the topic of each item.
    """

    items: str
    labels: str
    values: NDArray[np.int64]
    scale: tuple[int, ...]
    topic: NDArray[np.int64]


def paired_table(compared: Iterable[Two], how: Comparison) -> pd.DataFrame:
    """Return a row for each two, items and labels, with agreement and kappa and their intervals."""
    rows = []
    for first, second, mine, theirs in compared:
        both = (mine != NO_LABEL) & (theirs != NO_LABEL)
        # those that one of the two left out count for neither, nor are they relevant here
        values = np.column_stack([mine[both], theirs[both]])
        for way in replace(how, topic=how.topic[both]).ways(values):
            rows.append({"first": first, "second": second, "items": way.items, "labels": way.labels} | _row(way, how))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _row(way: Way, how: Comparison) -> dict[str, object]:
    (mine, theirs), topic = way.values.T, way.topic
    lowest = how.rel if way.labels == "grades" else 1
    equal, kappa = share_equal(mine, theirs), cohen_kappa(mine, theirs, way.scale, how.weights)
    tables = confusion_tables(mine, theirs, way.scale)
    of_equal = how.bootstrap.interval(tables, topic, equal_share)
    of_kappa = how.bootstrap.interval(tables, topic, CohenKappa(how.weights))
    return {
        "n_topics": len(np.unique(topic)),
        "n_items": len(mine),
        "n_relevant": int((mine >= lowest).sum()),
        "other_relevant": int((theirs >= lowest).sum()),
        "agreement": equal.value,
        "agreement_low": of_equal.low,
        "agreement_high": of_equal.high,
        "kappa": kappa.value,
        "kappa_low": of_kappa.low,
        "kappa_high": of_kappa.high,
        "band": band(kappa.value),
        "why": kappa.why,
    }


def together(given: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return each two annotators, as positions, who labelled an item both.

    Args:
        given: (items, annotators) whether an annotator gave a label.
    """
    times = given.T.astype(np.float32) @ given.astype(np.float32)
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(times, 1) > 0)]


def others_of(values: NDArray[np.int64], annotator: int, ties: str) -> NDArray[np.int64]:
    """Return (items,): the majority of all other annotators, -1 where nobody else gave a label or a tie is unresolved.

    Args:
        values: (items, annotators) labels, -1 for none.
        annotator: who is left out, as a position.
        ties: what becomes of a tie.
    """
    return Vote.of(np.delete(values, annotator, axis=1), ties).label


def confusion_table(compared: Iterable[Two], scale: tuple[int, ...]) -> pd.DataFrame:
    """Return for each two with items in common how often each two labels meet, a row per pair of labels."""
    frames = []
    for first, second, mine, theirs in compared:
        found = confusion_tables(mine, theirs, scale).sum(axis=0).astype(np.int64)
        if not found.any():
            continue
        frames.append(
            pd.DataFrame(
                {
                    "first": first,
                    "second": second,
                    "label": np.repeat(scale, len(scale)),
                    "other_label": np.tile(scale, len(scale)),
                    "n": found.ravel(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(_CONFUSION))
