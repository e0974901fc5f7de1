"""A judge that repeats judgments with errors, and what is known of errors: confusion matrices."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, examples, fraction, shown
from pt_reuse.data.frame_columns import LABELS, as_pairs, not_labels, number_column, plain
from pt_reuse.data.judgments import as_qrels
from pt_reuse.errors import InputError
from pt_reuse.judge import KnownJudge

#: by how much the probabilities of a row may miss 1, as they were written with few digits
_TOLERANCE = 1e-6


def confusion_rows(value: Any, needed: Iterable[int]) -> dict[int, tuple[list[int], list[float]]]:
    """Return true label -> labels that may be given, and where the share of each but the last ends; or raise."""
    try:
        if isinstance(value, Mapping):
            rows = {true: row if isinstance(row, Mapping) else dict(enumerate(row)) for true, row in value.items()}
            frame = pd.DataFrame.from_dict(rows, orient="index").fillna(0.0)
        else:
            frame = pd.DataFrame(value)
    except (TypeError, ValueError) as error:
        raise _no_confusion(f"got {shown(value)}") from error
    true, given = _labels(frame.index), _labels(frame.columns)
    shares = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    sums = shares.sum(axis=1)
    odd = ~((shares >= 0).all(axis=1) & (abs(sums - 1) <= _TOLERANCE))
    if odd.any():
        row = int(odd.argmax())
        raise _no_confusion(f"got a sum of {sums[row]:g} for {true[row]}: {examples(shares[row].tolist(), 6)}")
    missing = sorted(set(needed) - set(true.tolist()))
    if missing:
        raise _no_confusion(f"label {missing[0]} occurs in the judgments, and has no row")
    found = {}
    for label, row in zip(true.tolist(), shares / sums[:, None], strict=True):
        possible = np.flatnonzero(row)
        found[label] = given[possible].tolist(), np.cumsum(row[possible])[:-1].tolist()
    return found


def _no_confusion(what: str) -> InputError:
    row = "a row for each true label, of probabilities of the labels that are given, with a sum of 1"
    return InputError(f"confusion must have {row}; {what}.", argument="confusion")


def _labels(labels: pd.Index) -> NDArray[np.int64]:
    values = pd.to_numeric(pd.Series(labels, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
    if (not_labels(values) | (values < 0)).any() or len(set(values)) < len(values):
        raise _no_confusion(f"labels are whole numbers of 0 or more, each once, got {examples(labels, 6)}")
    return values.astype(np.int64)


def label_set(labels: Any, *, least: int = LABELS[0]) -> list[int]:
    """Return a user's ``labels=``, two or more that differ, in their order, or say that they are none."""
    listed = list(labels) if isinstance(labels, Iterable) and not isinstance(labels, str | bytes) else []
    values = number_column(pd.Series([plain(label) for label in listed], dtype=object))
    odd = not_labels(values).any() or (values < least).any() or len(set(values.tolist())) < len(listed)
    if odd or len(listed) < 2:
        what = f"two or more whole numbers from {least} to {LABELS[1]}, each once"
        raise InputError(f"labels must be {what}, got {shown(labels)}.", argument="labels")
    return [int(value) for value in values]


def flips(rate: float, labels: Iterable[int] = (0, 1)) -> pd.DataFrame:
    """Return the confusion matrix of a judge who errs at a given rate.

    A document keeps its label with probability 1 - `rate`; else it gets one of the other labels, all equally likely.

    Args:
        rate: how probable an error is, between 0 and 1.
        labels: the labels that documents have and are given, at least two.

    Returns:
        DataFrame: probabilities, true labels as rows, given labels as columns; each row sums to 1.

    Raises:
        InputError: a rate outside of 0 to 1, or fewer than two labels.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.judging.flips(0.25).values.tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """
    rate = fraction("rate", rate)
    listed = label_set(labels, least=0)
    shares = np.full((len(listed), len(listed)), rate / (len(listed) - 1))
    np.fill_diagonal(shares, 1 - rate)
    return _matrix(shares, listed, listed)


def estimate_confusion(truth: Any, judged: Any) -> pd.DataFrame:
    """Return the confusion matrix of two sets of judgments of the same documents.

    Only documents with a label of 0 or more in both count. A true label that none of them has gets no row.

    Args:
        truth: the judgments that count as true, in any form (see :doc:`runs`).
        judged: the judgments that somebody else gave, in any form.

    Returns:
        DataFrame: the share of the documents of each true label (rows) that was given each label (columns); each row
            sums to 1. ``.attrs["documents"]`` has the number of documents of each row.

    Raises:
        InputError: no document has a label in both.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> truth = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [0, 0, 1]})
        >>> ptr.judging.estimate_confusion(truth, truth.assign(label=[0, 2, 1])).values.tolist()
        [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """
    true, given = (
        qrels.keep(qrels.arrays.labels >= 0).to_frame()[["qid", "docno", "label"]]
        for qrels in (as_qrels(truth, "truth"), as_qrels(judged, "judged"))
    )
    both = true.merge(given, on=["qid", "docno"])
    if both.empty:
        raise InputError("no document has a label of 0 or more in both sets of judgments.", argument="judged")
    counts = pd.crosstab(both["label_x"], both["label_y"])
    # what is true may be given, too, though nobody did
    counts = counts.reindex(columns=sorted({*counts.index, *counts.columns}), fill_value=0)
    sizes = counts.sum(axis=1)
    found = _matrix(counts.to_numpy() / sizes.to_numpy()[:, None], counts.index.tolist(), counts.columns.tolist())
    found.attrs["documents"] = dict(zip(counts.index.tolist(), sizes.tolist(), strict=True))
    return found


def _matrix(shares: NDArray[np.float64], true: list[int], given: list[int]) -> pd.DataFrame:
    return pd.DataFrame(shares, index=pd.Index(true, name="true"), columns=pd.Index(given, name="given"))


class Noisy(KnownJudge):
    """Gives the labels of existing judgments, with errors at given rates.

    The label of a document depends only on the seed, its topic and its name: not on when it is asked for, with which
    other documents, or in which process.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`). A label below 0 is no judgment.
        confusion: how probable each given label is by true label: a mapping of true label -> given label ->
            probability, or -> probabilities of labels 0, 1, 2 ...; a frame, true labels down and given labels across;
            an array, whose labels are 0, 1, 2 ... See :func:`flips` and :func:`estimate_confusion`.
        seed: the same seed gives the same labels in every process.
        unknown: the label of a document without a judgment: ``"skip"`` (no label; default), ``"not relevant"`` (label
            0, to which errors are added), or ``"error"``.
        name: what the judge is called in the provenance of its labels.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(1000)], "label": 1})
        >>> judge = ptr.judging.Noisy(qrels, ptr.judging.flips(0.25), seed=1)
        >>> float(judge(qrels)["label"].mean())
        0.752
    """

    def __init__(self, qrels: Any, confusion: Any, seed: int, *, unknown: str = "skip", name: str = "noisy"):
        self._seed = checked_seed(seed)
        super().__init__(qrels, unknown, name)
        self._rows_of = confusion_rows(confusion, {*self._labels, *([0] if unknown == "not relevant" else [])})

    def labels_of(self, pairs: pd.DataFrame) -> list[int | None]:
        asked = zip(*as_pairs(pairs), self._find(pairs)[1], strict=True)
        return [None if true is None else self._drawn(true, qid, docno) for qid, docno, true in asked]

    def _drawn(self, true: int, qid: str, docno: str) -> int:
        labels, bounds = self._rows_of[true]
        return labels[bisect_right(bounds, _draw(self._seed, qid, docno))]


def _draw(seed: int, qid: str, docno: str) -> float:
    # no qid holds a NUL byte, so that no two pairs are written the same
    text = f"{seed}\0{qid}\0{docno}".encode("utf-8", "surrogateescape")
    return (int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 11) / 2**53
