"""Labels as a judge gives them: checked, and beside each who gave it and when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, shown, told
from pt_reuse._errors import InputError
from pt_reuse.formats.frames import number_column
from pt_reuse.formats.trec import LABELS, not_labels

#: what is known of each label beside the label: who gave it and when, by which strategy the document was chosen, in
#: which round, and why
PROVENANCE = ("judge", "time", "strategy", "round", "reason")


def now() -> str:
    """Return the time as text of ISO 8601, in UTC, to the second: ``2026-03-01T12:00:00+00:00``."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def label_values(pairs: pd.DataFrame, labels: pd.Series) -> NDArray[np.float64]:
    """Return labels as numbers, or raise for the first that is none: the one place that says what a label is.

    Args:
        pairs: the documents, ``qid`` and ``docno``, one a row.
        labels: the label of each.

    Raises:
        InputError: a label that is no whole number of the range.
    """
    values = number_column(labels)
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row = pairs.iloc[int(odd[0])]
        raise InputError(
            f"the label of topic {shown(row['qid'])}, document {shown(row['docno'])} must be a whole number from "
            f"{LABELS[0]} to {LABELS[1]}, got {shown(labels.iloc[int(odd[0])])}. Map the labels to whole grades (0 not "
            f"relevant, 1, 2, ... relevant) first."
        )
    return values


def checked_labels(labels: Any, pairs: pd.DataFrame) -> pd.Series:
    """Return the labels that a judge gave, <NA> where it gave none (None, NaN, <NA>).

    Args:
        labels: one for each document, in the order of the rows.
        pairs: the documents, ``qid`` and ``docno``, one a row.

    Returns:
        Series: whole numbers (Int64), with the index of `pairs`.

    Raises:
        InputError: another number of labels than of documents, or a label that is no whole number of the range.
    """
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InputError(f"the judge must return one label per document, got {told(labels)}.")
    listed = pd.Series([plain(label) for label in labels], dtype=object)
    if len(listed) != len(pairs):
        raise InputError(f"the judge returned {count(len(listed), 'label')} for {count(len(pairs), 'document')}.")
    missing = listed.isna().to_numpy(dtype=bool)
    values = np.zeros(len(listed), dtype=np.int64)
    values[~missing] = label_values(pairs[~missing], listed[~missing])
    return pd.Series(pd.arrays.IntegerArray(values, missing), index=pairs.index, name="label")


def plain(value: Any) -> Any:
    """Return a number of numpy or torch as one of Python, anything else as it is."""
    return value.item() if callable(getattr(value, "item", None)) else value


def with_provenance(found: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return labels with who gave each, and when: the name, and now, where nothing else is said.

    Args:
        found: ``label``, and ``judge time`` and further columns where something is said of them.
        name: who judges.

    Returns:
        DataFrame: ``label judge time`` and all further columns; of a document without a label, nobody and never.
    """
    given = found["label"].notna().to_numpy(dtype=bool)
    said = {"label": found["label"]}
    for column, value in (("judge", name), ("time", now())):
        known = found[column].tolist() if column in found else [None] * len(found)
        cells = [None if not has else value if pd.isna(cell) else cell for has, cell in zip(given, known, strict=True)]
        said[column] = pd.Series(cells, index=found.index, dtype=object)
    return pd.DataFrame({**said, **{column: found[column] for column in found.columns if column not in said}})
