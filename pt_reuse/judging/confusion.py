"""Confusion: how probable it is that a document of one label is given another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import examples, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse.formats.frames import number_column
from pt_reuse.formats.grades import not_labels
from pt_reuse.qrels.judgments import as_qrels

#: by how much the probabilities of a row may miss 1, as they were written with few digits
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Confusion:
    """Probabilities of the labels that are given to documents of each true label.

    Attributes:
        true: (n,) the true labels.
        given: (m,) the labels that are given.
        shares: (n, m) the probability of each given label by true label; each row sums to 1.
    """

    true: NDArray[np.int64]
    given: NDArray[np.int64]
    shares: NDArray[np.float64]

    def label(self, true: int, draw: float) -> int:
        """Return the label that is given to a document of a true label.

        Args:
            true: the true label.
            draw: of the uniform distribution, from 0 to less than 1.
        """
        labels, bounds = self._choices[true]
        return labels[bisect_right(bounds, draw)]

    @cached_property
    def _choices(self) -> dict[int, tuple[list[int], list[float]]]:
        # true label -> the labels that can be given, and where the share of each but the last ends
        found = {}
        for true, row in zip(self.true.tolist(), self.shares, strict=True):
            possible = np.flatnonzero(row)
            found[true] = self.given[possible].tolist(), np.cumsum(row[possible])[:-1].tolist()
        return found


def as_confusion(value: Any, needed: Iterable[int]) -> Confusion:
    """Return what a user gives as a confusion matrix.

    Args:
        value: a mapping of true label -> given label -> probability, or -> probabilities of labels 0, 1, 2 ...; a
            frame, true labels down, given labels across; an array, whose labels are 0, 1, 2 ...
        needed: the true labels that occur.

    Raises:
        InputError: something else, a label that is none, a probability below 0, a row that does not sum to 1, a true
            label that occurs and has no row.
    """
    frame = _framed(value)
    true, given = (_labels(labels, what) for labels, what in ((frame.index, "rows"), (frame.columns, "columns")))
    try:
        shares = frame.to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(Argument("confusion"), " must hold numbers alone.", argument="confusion") from error
    for label, row in zip(true, shares, strict=True):
        if not (np.isfinite(row).all() and (row >= 0).all() and abs(row.sum() - 1) <= _TOLERANCE):
            raise InputError(
                Argument("confusion"),
                f": the probabilities of what is given to documents of label {label} must be 0 or more and sum to 1, "
                f"got {examples(row.tolist(), 6)}, which sum to {row.sum():g}.",
                argument="confusion",
            )
    missing = sorted(set(needed) - set(true.tolist()))
    if missing:
        raise InputError(
            Argument("confusion"),
            f" has no row for label {missing[0]}, which occurs in the judgments; it has those of {examples(true, 6)}. "
            "Say what is given to its documents.",
            argument="confusion",
        )
    order = np.argsort(true)
    return Confusion(true[order], given, shares[order] / shares[order].sum(axis=1, keepdims=True))


def _framed(value: Any) -> pd.DataFrame:
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, Mapping) and value:
        rows = {true: row if isinstance(row, Mapping) else _counted(row) for true, row in value.items()}
        return pd.DataFrame.from_dict(rows, orient="index").fillna(0.0)
    array = np.asarray(value) if isinstance(value, np.ndarray | list | tuple) else np.zeros(0)
    if array.ndim == 2 and array.size:
        return pd.DataFrame(array)
    raise InputError(
        Argument("confusion"),
        " must be a mapping of true label -> given label -> probability, a frame with true labels down and given "
        f"labels across, or an array of labels 0, 1, 2 ..., got {told(value)}.",
        argument="confusion",
    )


def _counted(row: Any) -> dict[int, Any]:
    if isinstance(row, Iterable) and not isinstance(row, str):
        return dict(enumerate(row))
    raise InputError(
        Argument("confusion"),
        f" must say the probability of each given label, by true label, got {told(row)} for one.",
        argument="confusion",
    )


def _labels(labels: pd.Index, what: str) -> NDArray[np.int64]:
    values = pd.to_numeric(pd.Series(labels, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
    odd = [label for label, wrong in zip(labels, not_labels(values) | (values < 0), strict=True) if wrong]
    if odd or len(set(values)) < len(values):
        raise InputError(
            Argument("confusion"),
            f" must have labels, whole numbers of 0 or more, for its {what}, each once, got {examples(labels, 6)}.",
            argument="confusion",
        )
    return values.astype(np.int64)


@door
def flips(rate: float, labels: Iterable[int] = (0, 1)) -> pd.DataFrame:
    """Return the confusion matrix of a judge who errs at a given rate.

    A document keeps its label with probability 1 - `rate`; else it has one of the other labels, each equally likely.

    Args:
        rate: how probable an error is, between 0 and 1.
        labels: the labels that documents have and are given, at least two.

    Returns:
        DataFrame: probabilities, true labels down, given labels across; each row sums to 1.

    Raises:
        InputError: a rate outside of 0 to 1, or fewer than two labels.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.flips(0.25)
        given     0     1
        true
        0      0.75  0.25
        1      0.25  0.75
    """
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not 0 <= rate <= 1:
        raise InputError(f"rate must be a number between 0 and 1, got {told(rate)}.", argument="rate")
    listed = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str) else []
    numbers = number_column(pd.Series(listed, dtype=object))
    if len(set(listed)) < max(2, len(listed)) or not_labels(numbers).any() or (numbers < 0).any():
        raise InputError(
            f"labels must be at least two whole numbers of 0 or more, each once, got {told(labels)}.", argument="labels"
        )
    shares = np.full((len(listed), len(listed)), rate / (len(listed) - 1))
    np.fill_diagonal(shares, 1 - rate)
    return _matrix(shares, listed, listed)


@door
def estimate_confusion(truth: Any, judged: Any) -> pd.DataFrame:
    """Return the confusion matrix that two sets of judgments of the same documents show.

    Documents count that have a label of 0 or more in both. A label that no such document truly has gets no row.

    Args:
        truth: the judgments that count as true, in any form (see :doc:`runs`).
        judged: the judgments that somebody else gave, in any form.

    Returns:
        DataFrame: of the documents of each true label (down) the share that was given each label (across); each row
        sums to 1. ``.attrs["documents"]`` says how many each row is made of.

    Raises:
        InputError: no document has a label in both.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> truth = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c", "d"], "label": [0, 0, 0, 1]})
        >>> ptr.judging.estimate_confusion(truth, truth.assign(label=[0, 0, 2, 1]))
        given         0    1         2
        true
        0      0.666667  0.0  0.333333
        1      0.000000  1.0  0.000000
    """
    true, given = as_qrels(truth, "truth"), as_qrels(judged, "judged")
    rows = true.arrays.documents.find(given.arrays.documents)
    both = (rows >= 0) & (given.arrays.labels >= 0)
    both[both] = true.arrays.labels[rows[both]] >= 0
    if not both.any():
        raise InputError(
            "no document has a label of 0 or more in both sets of judgments. Give judgments of the same topics.",
            argument="judged",
        )
    labels = true.arrays.labels[rows[both]].astype(np.int64), given.arrays.labels[both].astype(np.int64)
    kinds = [np.unique(part) for part in labels]
    # what is true may be given, too, though nobody did
    kinds[1] = np.union1d(*kinds)
    counts = np.zeros((len(kinds[0]), len(kinds[1])))
    np.add.at(counts, tuple(np.searchsorted(kind, part) for kind, part in zip(kinds, labels, strict=True)), 1)
    found = _matrix(counts / counts.sum(axis=1, keepdims=True), kinds[0].tolist(), kinds[1].tolist())
    found.attrs["documents"] = dict(zip(kinds[0].tolist(), counts.sum(axis=1).astype(int).tolist(), strict=True))
    return found


def _matrix(shares: NDArray[np.float64], true: list[int], given: list[int]) -> pd.DataFrame:
    return pd.DataFrame(shares, index=pd.Index(true, name="true"), columns=pd.Index(given, name="given"))
