"""Judges that repeat judgments: as they are, or with the errors of a confusion matrix."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, examples, shown, told
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse.data.frame_columns import not_labels, number_column
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.judging.judge import Judge

#: what a judge with judgments may say of a document that they do not know
UNKNOWN = ("skip", "not relevant", "error")


class KnownLabels:
    """The labels of judgments by topic and document; a label below 0 (pooled and not judged, junk) is none."""

    def __init__(self, qrels: Qrels, unknown: str):
        self._unknown = choice("unknown", unknown, UNKNOWN)
        frame, judged = qrels.to_frame(), qrels.arrays.labels >= 0
        known = frame[judged]
        self._rows = {pair: row for row, pair in enumerate(zip(known["qid"], known["docno"], strict=True))}
        self.labels = known["label"].tolist()
        self._said = {column: known[column].tolist() for column in ("judge", "time") if column in known}

    def pairs(self) -> pd.DataFrame:
        """Return ``qid docno`` of the documents that have a label, one a row."""
        return pd.DataFrame(list(self._rows), columns=["qid", "docno"], dtype=object)

    def rows(self, pairs: pd.DataFrame) -> list[int]:
        """Return the judgment of each document, -1 where there is none."""
        found = [
            self._rows.get((str(qid), str(docno)), -1) for qid, docno in zip(pairs["qid"], pairs["docno"], strict=True)
        ]
        if self._unknown == "error" and -1 in found:
            row = pairs.iloc[found.index(-1)]
            raise InputError(
                f"{count(found.count(-1), 'document')} without a judgment, such as {shown(row['docno'])} of topic "
                f"{shown(row['qid'])}. Judge documents that have one, or choose what is said of the others: ",
                Option("unknown", "skip"),
                " or 'not relevant'.",
                argument="unknown",
            )
        return found

    def label(self, row: int) -> int | None:
        """Return the label of a judgment, or what is said where there is none."""
        return self.labels[row] if row >= 0 else 0 if self._unknown == "not relevant" else None

    def said(self, column: str, rows: list[int]) -> list[Any]:
        """Return ``judge`` or ``time`` of each judgment, None where nobody says."""
        cells = self._said.get(column)
        return [None if cells is None or row < 0 else cells[row] for row in rows]


class Oracle(Judge):
    """Gives the labels of judgments that exist.

    A label of -1 or less says that a document was pooled and not judged, or is junk: such a document is unknown to the
    oracle like one that is not there.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`).
        unknown: what is said of a document that has no judgment: ``"skip"`` (no label; default), ``"not relevant"``
            (label 0), or ``"error"``.
        name: what the oracle is called in the provenance of its labels. Where the judgments say themselves who gave a
            label (column ``judge``) and when (``time``), that stands; else it is the oracle, now.

    Attributes:
        rel: the lowest label that is relevant, as the judgments say.

    Raises:
        InputError: no judgments, or another word for `unknown`; when it judges, an unknown document where that is an
            error.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [2, 0, -1]})
        >>> asked = pd.DataFrame({"qid": "1", "docno": ["b", "a", "c", "z"]})
        >>> ptr.judging.Oracle(qrels)(asked)["label"].tolist()
        [0, 2, <NA>, <NA>]
        >>> ptr.judging.Oracle(qrels, unknown="not relevant")(asked)["label"].tolist()
        [0, 2, 0, 0]
    """

    @door
    def __init__(self, qrels: Any, unknown: str = "skip", name: str = "oracle"):
        judgments = as_qrels(qrels)
        super().__init__(name, rel=judgments.stated_rel)
        self._known = KnownLabels(judgments, unknown)

    def known_pairs(self) -> pd.DataFrame:
        """Return ``qid docno`` of the documents that the judgments have a label for."""
        return self._known.pairs()

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the label of each document, and who gave it, and when, where the judgments say so.

        Args:
            pairs: the documents, one a row: ``qid docno``.
        """
        rows = self._known.rows(pairs)
        said = {column: self._known.said(column, rows) for column in ("judge", "time")}
        return {"label": [self._known.label(row) for row in rows], **said}


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
        """Return the label that is given to a document of a true label."""
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
    """Return what a user gives as a confusion matrix."""
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


class Noisy(Judge):
    """Gives the labels of judgments that exist, confused at given rates.

    What a document is given depends on the seed, its topic and its name alone: not on when it is asked for, beside
    which other documents, or in which process.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`). A label below 0 is no judgment.
        confusion: how probable each given label is by true label: a mapping of true label -> given label ->
            probability, or -> probabilities of labels 0, 1, 2 ...; a frame, true labels down and given labels across;
            an array, whose labels are 0, 1, 2 ... See :func:`flips` and :func:`estimate_confusion`.
        seed: the same seed gives the same labels in every process.
        unknown: what is said of a document that has no judgment: ``"skip"`` (no label; default), ``"not relevant"`` (it
            counts as label 0, and is confused as such), or ``"error"``.
        name: what the judge is called in the provenance of its labels.

    Attributes:
        rel: the lowest label that is relevant, as the judgments say.

    Raises:
        InputError: rows of the matrix that do not sum to 1, a label of the judgments that has no row.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(1000)], "label": 1})
        >>> judge = ptr.judging.Noisy(qrels, ptr.judging.flips(0.25), seed=1)
        >>> float(judge(qrels)["label"].mean())
        0.752
    """

    @door
    def __init__(self, qrels: Any, confusion: Any, seed: int, *, unknown: str = "skip", name: str = "noisy"):
        judgments = as_qrels(qrels)
        super().__init__(name, rel=judgments.stated_rel)
        checked_seed(seed)
        self._known = KnownLabels(judgments, unknown)
        needed = {*self._known.labels, *([0] if unknown == "not relevant" else [])}
        self._confusion = as_confusion(confusion, needed)
        self._seed = int(seed)

    def known_pairs(self) -> pd.DataFrame:
        """Return ``qid docno`` of the documents that the judgments have a label for."""
        return self._known.pairs()

    def labels_of(self, pairs: pd.DataFrame) -> list[int | None]:
        """Return the label that each document is given.

        Args:
            pairs: the documents, one a row: ``qid docno``.
        """
        found = []
        for qid, docno, row in zip(pairs["qid"], pairs["docno"], self._known.rows(pairs), strict=True):
            true = self._known.label(row)
            found.append(None if true is None else self._confusion.label(true, _draw(self._seed, str(qid), str(docno))))
        return found


def _draw(seed: int, qid: str, docno: str) -> float:
    """Return the number from 0 to less than 1 that belongs to a document, for a seed."""
    # no qid holds a NUL byte, so that no two pairs are written the same
    text = f"{seed}\0{qid}\0{docno}".encode("utf-8", "surrogateescape")
    return (int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 11) / 2**53
