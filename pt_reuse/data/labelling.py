"""Labels as a judge gives them: checked, and beside each who gave it and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MappingView, Set
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import Call, InputError, Part
from pt_reuse.data.frame_columns import number_column

LABELS = (-(2**15), 2**15 - 1)


def not_labels(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are no labels: not whole, too large, or not finite."""
    return ~((values == np.floor(values)) & (values >= LABELS[0]) & (values <= LABELS[1]))


def how_to_grade(value: float) -> tuple[Part, ...]:
    """Return what to do with a number that is no label: of a fraction it is told what makes grades of scores."""
    advice = "Map the labels to whole grades (0 not relevant, 1, 2, ... relevant) first"
    if not np.isfinite(value) or value == np.floor(value):
        return (f"{advice}.",)
    return (f"{advice}: of scores and probabilities ", Call("grade_scores", "..., thresholds=0.5"), " makes them.")


#: what is known of each label beside the label: who gave it and when, by which strategy the document was chosen, in
#: which round, and why
PROVENANCE = ("judge", "time", "strategy", "round", "reason")


def provenance_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return labels with their columns in the order in which one reads them: document, label, provenance, the rest."""
    first = ["qid", "docno", "label", *(column for column in PROVENANCE if column in frame)]
    return frame[[*first, *(column for column in frame if column not in first)]]


def now() -> str:
    """Return the time as text of ISO 8601, in UTC, to the second: ``2026-03-01T12:00:00+00:00``."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def label_values(pairs: pd.DataFrame, labels: pd.Series) -> NDArray[np.float64]:
    """Return labels as numbers, or raise for the first that is none: the one place that says what a label is.

    Raises:
        InputError: a label that is no whole number of the range.
    """
    values = number_column(labels)
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row = pairs.iloc[int(odd[0])]
        raise InputError(
            f"the label of topic {shown(row['qid'])}, document {shown(row['docno'])} must be a whole number from "
            f"{LABELS[0]} to {LABELS[1]}, got {shown(labels.iloc[int(odd[0])])}. ",
            *how_to_grade(float(values[odd[0]])),
        )
    return values


def in_rows(said: Any, index: pd.Index | None, what: str) -> list[Any]:
    """Return what somebody says of some rows, one after the other: the one place that says which answers have an order.

    Args:
        said: a list, an array, an iterator, or a Series with the index of the rows, or with the default one where the
            rows do not have its numbers in another order.
        index: of the frame whose rows these are, None where no frame was handed over.
        what: how an error begins, such as ``the judge must return one label per document``.

    Raises:
        InputError: what says nothing of rows (a text, a number), or not in which order (a set, a dict or a view of one,
            a Series with another index).
    """
    wanted = f"{what}, in their order, as a list or an array"
    if isinstance(said, pd.Series):
        default = pd.RangeIndex(len(said))
        # of shuffled rows the default index may be theirs, sorted
        plainly = said.index.equals(default) and (index is None or set(index) != set(default))
        if plainly or (index is not None and said.index.equals(index)):
            return said.tolist()
        raise InputError(
            f"{wanted}, got a Series whose index ({examples(said.index)}) is another, so that its order is unclear."
        )
    if isinstance(said, str | bytes | Mapping | Set | MappingView | pd.DataFrame) or not isinstance(said, Iterable):
        raise InputError(f"{wanted}, got {told(said)}.")
    return list(said)


def checked_labels(labels: Any, pairs: pd.DataFrame) -> pd.Series:
    """Return the labels that a judge gave, <NA> where it gave none (None, NaN, <NA>).

    Returns:
        Series: whole numbers (Int64), with the index of `pairs`.

    Raises:
        InputError: labels without an order, another number of them than of documents, or a label that is no whole
            number of the range.
    """
    listed = [plain(label) for label in in_rows(labels, pairs.index, "the judge must return one label per document")]
    if len(listed) != len(pairs):
        ends = [pairs.iloc[row] for row in (0, -1)] if len(pairs) else []
        which = " to ".join(f"topic {shown(row['qid'])}, document {shown(row['docno'])}" for row in ends)
        raise InputError(
            f"the judge returned {count(len(listed), 'label')} for {count(len(pairs), 'document')}"
            f"{f', from {which}' if which else ''}."
        )
    if all(label is None or type(label) is int for label in listed):
        missing = np.array([label is None for label in listed], dtype=bool)
    else:
        missing = pd.isna(pd.Series(listed, dtype=object)).to_numpy(dtype=bool)
    values = np.array([0 if no else label for no, label in zip(missing, listed, strict=True)])
    if values.dtype.kind != "i" or (len(values) and not LABELS[0] <= values.min() <= values.max() <= LABELS[1]):
        given = pd.Series([0 if no else label for no, label in zip(missing, listed, strict=True)], dtype=object)
        values = label_values(pairs, given).astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(values.astype(np.int64), missing), index=pairs.index, name="label")


def plain(value: Any) -> Any:
    """Return a number of numpy or torch as one of Python, anything else as it is."""
    return value.item() if callable(getattr(value, "item", None)) else value


def with_provenance(label: pd.Series, said: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Return labels with who gave each, and when: the name, and now, where nothing else is said.

    Args:
        label: the label of each document, <NA> for none.
        said: what is said of each beside, by column, such as ``judge`` and ``time``; None where it is not.
        name: who judges.

    Returns:
        The columns ``label judge time`` and all others; of a document without a label, nobody and never.
    """
    given, columns = label.notna().tolist(), {"label": label}
    for column, value in (("judge", name), ("time", now())):
        known = said[column] if column in said else [None] * len(label)
        cells = [None if not has else value if pd.isna(cell) else cell for has, cell in zip(given, known, strict=True)]
        columns[column] = pd.Series(cells, index=label.index, dtype=object)
    return {**columns, **{column: values for column, values in said.items() if column not in columns}}
