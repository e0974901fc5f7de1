"""Judge: whoever gives documents their labels; judges that repeat judgments, as they are or with errors."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, examples, fraction, shown, told
from pt_reuse.data.asking import telling_of_texts, without_texts
from pt_reuse.data.frame_columns import (
    LABELS,
    as_pairs,
    checked_labels,
    in_rows,
    not_labels,
    number_column,
    plain,
    with_provenance,
)
from pt_reuse.data.judgments import as_qrels, checked_rel
from pt_reuse.errors import InputError, located


class Judge(pt.Transformer):
    """Gives labels to documents: qrels, a person, a model.

    A judge is a transformer: it adds ``label`` (whole numbers, <NA> for a document to which it gives none), ``judge``
    (who gave it) and ``time`` (when, ISO 8601 in UTC). It can end a pipeline, and :meth:`pt_reuse.Pool.judge` takes it.
    A judge of your own has the methods :meth:`needs` and :meth:`labels_of`.

    Args:
        name: what the judge is called in the provenance of its labels.
        rel: the lowest of its labels that is relevant, >= 1; None (default): not stated, which counts as 1.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> class Short(ptr.judging.Judge):
        ...     def needs(self):
        ...         return ("qid", "docno", "text")
        ...
        ...     def labels_of(self, pairs):
        ...         return [int(len(text) < 10) for text in pairs["text"]]
        >>> found = Short("short")(pd.DataFrame({"qid": "1", "docno": ["a", "b"], "text": ["brief", "rather long"]}))
        >>> found[["docno", "label", "judge"]].values.tolist()
        [['a', 1, 'short'], ['b', 0, 'short']]
    """

    # without an address of its own pyterrier would look the documentation up on the network
    schematic: ClassVar[dict[str, Any]] = {"label": "judge", "help_url": None}

    def __init__(self, name: str, *, rel: int | None = None):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"name must be a text that says who judges, got {told(name)}.", argument="name")
        self.name, self.rel = name, checked_rel(rel)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the frame `inp` of documents, ``qid docno`` and the columns read, with ``label judge time`` and more.

        Raises:
            InputError: another number of labels than of documents, or a label that is no whole number of the range.
        """
        try:
            pt.validate.columns(inp, includes=list(self.needs()))
        except pt.validate.InputValidationError as error:
            lacking = [column for column in self.needs() if column not in inp and column not in ("qid", "docno")]
            if not lacking:
                raise
            # PyTerrier infers from its own error what a step reads
            hint = without_texts(lacking, inp.columns)
            raise pt.validate.InputValidationError(f"{error.args[0]}: {hint}", error.modes) from None
        with located(f"judge {self.name}"), telling_of_texts(inp.columns):
            said = _columns(self.labels_of(inp), inp.index)
            label = checked_labels(said.pop("label"), inp)
        columns = with_provenance(label, said, self.name)
        if label.notna().all():
            # pt.Experiment takes judgments with plain whole numbers alone
            columns["label"] = label.astype(np.int64)
        return inp.assign(**columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def needs(self) -> tuple[str, ...]:
        """Return the columns that the judge reads."""
        return ("qid", "docno")

    def known_pairs(self) -> pd.DataFrame | None:
        """Return ``qid docno`` of the documents whose labels exist already; None if the judge has to be asked."""
        return None

    def declared_labels(self) -> tuple[int, ...] | None:
        """Return the labels that the judge may give, if they are stated beforehand."""
        return None

    @abstractmethod
    def labels_of(self, pairs: pd.DataFrame) -> Iterable[Any] | Mapping[str, Sequence[Any]]:
        """Return one label for each of `pairs`, one document per row, in their order; None if the judge gives none.

        Instead of labels, it may return a mapping of columns: ``label`` and further ones, such as ``judge``, ``time``,
        a probability.
        """


def _columns(answer: Any, rows: pd.Index) -> dict[str, Any]:
    """Return the answer of a judge by column, ``label`` among them, each of which has a cell for each document."""
    if isinstance(answer, pd.DataFrame) or (isinstance(answer, Mapping) and "label" not in answer):
        what = "one label per document, or a mapping of columns with 'label'"
        raise InputError(f"labels_of must return {what}, got {told(answer)}.")
    said = dict(answer) if isinstance(answer, Mapping) else {"label": answer}
    for column, cells in said.items():
        if column == "label":
            continue
        listed = in_rows(cells, rows, f"labels_of must return one {column} per document", len(rows))
        if len(listed) != len(rows):
            raise InputError(f"labels_of must return {len(rows):,} {column}, one per document, got {len(listed):,}.")
        if isinstance(cells, pd.Series) or not hasattr(cells, "__len__"):
            # a Series would be put beside the rows by its index, and an iterator is used up
            said[column] = cells.array if isinstance(cells, pd.Series) else listed
    return said


#: what a judge with judgments may say of a document that they do not know
UNKNOWN = ("skip", "not relevant", "error")


class _Known(Judge):
    """Looks labels up in judgments; a label below 0 (pooled and not judged, junk) is none."""

    def __init__(self, qrels: Any, unknown: str, name: str):
        judgments = as_qrels(qrels)
        super().__init__(name, rel=judgments.stated_rel)
        self._unknown = choice("unknown", unknown, UNKNOWN)
        self._known = judgments.to_frame()[judgments.arrays.labels >= 0]
        pairs = zip(self._known["qid"], self._known["docno"], strict=True)
        self._rows = {pair: row for row, pair in enumerate(pairs)}
        self._labels: list[int] = self._known["label"].tolist()

    def __repr__(self) -> str:
        known = count(len(self._labels), "judgment")
        return f"{type(self).__name__}({self.name!r}, {known}, unknown={self._unknown!r})"

    def known_pairs(self) -> pd.DataFrame:
        return pd.DataFrame(list(self._rows), columns=["qid", "docno"], dtype=object)

    def _find(self, pairs: pd.DataFrame) -> tuple[list[int], list[int | None]]:
        """Return the judgment of each document, -1 where there is none, and its label."""
        rows = [self._rows.get(pair, -1) for pair in zip(*as_pairs(pairs), strict=True)]
        if self._unknown == "error" and -1 in rows:
            row = pairs.iloc[rows.index(-1)]
            raise InputError(
                f"{count(rows.count(-1), 'document')} without a judgment, such as {shown(row['docno'])} of topic "
                f"{shown(row['qid'])}. Judge documents that have one, or choose what is said of the others: "
                "unknown='skip' or 'not relevant'.",
                argument="unknown",
            )
        without = 0 if self._unknown == "not relevant" else None
        return rows, [self._labels[row] if row >= 0 else without for row in rows]


class Oracle(_Known):
    """Gives the labels of existing judgments.

    A document with a label of -1 or less (pooled and not judged, or junk) counts as one without a judgment.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`).
        unknown: the label of a document without a judgment: ``"skip"`` (no label; default), ``"not relevant"`` (label
            0), or ``"error"``.
        name: what the oracle is called in the provenance of its labels. If the judgments have the columns ``judge`` and
            ``time``, these are kept; else they are the oracle and the present time.

    Attributes:
        rel: the lowest label that is relevant, as the judgments say.

    Raises:
        InputError: no judgments, or another word for `unknown`; when it judges, an unknown document under ``"error"``.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [2, 0, -1]})
        >>> asked = pd.DataFrame({"qid": "1", "docno": ["b", "a", "c", "z"]})
        >>> ptr.judging.Oracle(qrels)(asked)["label"].tolist()
        [0, 2, <NA>, <NA>]
        >>> ptr.judging.Oracle(qrels, unknown="not relevant")(asked)["label"].tolist()
        [0, 2, 0, 0]
    """

    def __init__(self, qrels: Any, unknown: str = "skip", name: str = "oracle"):
        super().__init__(qrels, unknown, name)
        self._said = {column: self._known[column].tolist() for column in ("judge", "time") if column in self._known}

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the label of each of `pairs`, and who gave it and when, if the judgments have that."""
        rows, labels = self._find(pairs)
        said = {name: [cells[row] if row >= 0 else None for row in rows] for name, cells in self._said.items()}
        return {"label": labels, **said}


#: by how much the probabilities of a row may miss 1, as they were written with few digits
_TOLERANCE = 1e-6


def confusion_rows(value: Any, needed: Iterable[int]) -> dict[int, tuple[list[int], list[float]]]:
    """Return true label -> labels that may be given, and where the share of each but the last ends; or raise."""
    frame = _framed(value)
    true, given = _labels(frame.index), _labels(frame.columns)
    shares = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    sums = shares.sum(axis=1)
    odd = ~((shares >= 0).all(axis=1) & (abs(sums - 1) <= _TOLERANCE))
    if odd.any():
        row = int(odd.argmax())
        raise _no_confusion(f"got a sum of {sums[row]:g} for {true[row]}: {examples(shares[row].tolist(), 6)}")
    missing = sorted(set(needed) - set(true.tolist()))
    if missing:
        raise _no_confusion(f"label {missing[0]} occurs in the judgments, and has no row beside {examples(true, 6)}")
    found = {}
    for label, row in zip(true.tolist(), shares / sums[:, None], strict=True):
        possible = np.flatnonzero(row)
        found[label] = given[possible].tolist(), np.cumsum(row[possible])[:-1].tolist()
    return found


def _no_confusion(what: str) -> InputError:
    return InputError(
        "confusion must have a row for each true label, of probabilities of the labels that are given, 0 or more, "
        "with a sum of 1: a mapping of true label -> given label -> probability, a frame with true labels down and "
        f"given labels across, or an array of labels 0, 1, 2 ...; {what}.",
        argument="confusion",
    )


def _framed(value: Any) -> pd.DataFrame:
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, Mapping):
        if value and all(isinstance(row, Iterable) and not isinstance(row, str) for row in value.values()):
            rows = {true: row if isinstance(row, Mapping) else dict(enumerate(row)) for true, row in value.items()}
            return pd.DataFrame.from_dict(rows, orient="index").fillna(0.0)
    elif np.ndim(value) == 2 and np.size(value):
        return pd.DataFrame(np.asarray(value))
    raise _no_confusion(f"got {told(value)}")


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
        raise InputError(f"labels must be {what}, got {told(labels)}.", argument="labels")
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
        >>> ptr.judging.flips(0.25)
        given     0     1
        true
        0      0.75  0.25
        1      0.25  0.75
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
        >>> truth = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c", "d"], "label": [0, 0, 0, 1]})
        >>> ptr.judging.estimate_confusion(truth, truth.assign(label=[0, 0, 2, 1]))
        given         0    1         2
        true
        0      0.666667  0.0  0.333333
        1      0.000000  1.0  0.000000
    """
    true, given = (
        qrels.keep(qrels.arrays.labels >= 0).to_frame()[["qid", "docno", "label"]]
        for qrels in (as_qrels(truth, "truth"), as_qrels(judged, "judged"))
    )
    both = true.merge(given, on=["qid", "docno"])
    if both.empty:
        nothing = "no document has a label of 0 or more in both sets of judgments. Give judgments of the same topics."
        raise InputError(nothing, argument="judged")
    counts = pd.crosstab(both["label_x"], both["label_y"])
    # what is true may be given, too, though nobody did
    counts = counts.reindex(columns=sorted({*counts.index, *counts.columns}), fill_value=0)
    sizes = counts.sum(axis=1)
    found = _matrix(counts.to_numpy() / sizes.to_numpy()[:, None], counts.index.tolist(), counts.columns.tolist())
    found.attrs["documents"] = dict(zip(counts.index.tolist(), sizes.tolist(), strict=True))
    return found


def _matrix(shares: NDArray[np.float64], true: list[int], given: list[int]) -> pd.DataFrame:
    return pd.DataFrame(shares, index=pd.Index(true, name="true"), columns=pd.Index(given, name="given"))


class Noisy(_Known):
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

    def __init__(self, qrels: Any, confusion: Any, seed: int, *, unknown: str = "skip", name: str = "noisy"):
        self._seed = checked_seed(seed)
        super().__init__(qrels, unknown, name)
        self._rows_of = confusion_rows(confusion, {*self._labels, *([0] if unknown == "not relevant" else [])})

    def labels_of(self, pairs: pd.DataFrame) -> list[int | None]:
        """Return the label that each of `pairs` is given."""
        asked = zip(*as_pairs(pairs), self._find(pairs)[1], strict=True)
        return [None if true is None else self._drawn(true, qid, docno) for qid, docno, true in asked]

    def _drawn(self, true: int, qid: str, docno: str) -> int:
        labels, bounds = self._rows_of[true]
        return labels[bisect_right(bounds, _draw(self._seed, qid, docno))]


def _draw(seed: int, qid: str, docno: str) -> float:
    """Return the number from 0 to less than 1 that belongs to a document, for a seed."""
    # no qid holds a NUL byte, so that no two pairs are written the same
    text = f"{seed}\0{qid}\0{docno}".encode("utf-8", "surrogateescape")
    return (int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 11) / 2**53
