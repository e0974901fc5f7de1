"""Judge: whoever gives documents their labels; a transformer that adds `label` and who gave it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import InputError, located
from pt_reuse.formats.trec import LABELS, not_labels

#: what is known of each label beside the label: who gave it and when, by which strategy the document was chosen, in
#: which round, and why
PROVENANCE = ("judge", "time", "strategy", "round", "reason")


class Judge(pt.Transformer):
    """Gives labels to documents: qrels, a person, a model.

    A judge is a transformer: it adds ``label`` (whole numbers, <NA> for a document to which it gives none) and
    ``judge`` (who gave it). So it stands at the end of a pipeline, and :meth:`Pool.judge` takes it.

    Args:
        name: what the judge is called in the provenance of its labels.
    """

    def __init__(self, name: str):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"name must be a text that says who judges, got {told(name)}.", argument="name")
        self.name = name

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with ``label`` and ``judge``.

        Args:
            inp: the documents, one a row: ``qid docno``, and what the judge reads.
        """
        pt.validate.columns(inp, includes=list(self.needs()))
        with located(f"judge {self.name}"):
            labels = checked_labels(self.labels_of(inp), inp)
        judge = pd.Series(self.name, index=inp.index, dtype=object).where(labels.notna(), None)
        return inp.assign(label=labels, judge=judge)

    def needs(self) -> tuple[str, ...]:
        """Return the columns that the judge reads."""
        return ("qid", "docno")

    @abstractmethod
    def labels_of(self, pairs: pd.DataFrame) -> Iterable[Any]:
        """Return one label for each document, None where the judge gives none.

        Args:
            pairs: the documents, one a row; labels are in the order of the rows.
        """


def checked_labels(labels: Any, pairs: pd.DataFrame) -> pd.Series:
    """Return labels as whole numbers, one per row of `pairs`, or say what is wrong with them.

    Raises:
        InputError: another number of labels than of documents, or a label that is no whole number of the range.
    """
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"a judge must return one label per document, got {told(labels)}.")
    listed = list(labels)
    if len(listed) != len(pairs):
        raise InputError(f"the judge returned {count(len(listed), 'label')} for {count(len(pairs), 'document')}.")
    missing = np.array([label is None or label is pd.NA or label != label for label in listed], dtype=bool)
    values = pd.to_numeric(pd.Series(listed, dtype=object).mask(missing), errors="coerce").to_numpy(dtype=np.float64)
    odd = np.flatnonzero(~missing & (np.isnan(values) | not_labels(np.nan_to_num(values, nan=0.5))))
    if len(odd):
        row = pairs.iloc[int(odd[0])]
        raise InputError(
            f"{count(len(odd), 'label')} out of range, such as {shown(listed[int(odd[0])])} for topic "
            f"{shown(row['qid'])}, document {shown(row['docno'])}. A label is a whole number from {LABELS[0]} to "
            f"{LABELS[1]}, None for no label; there is {examples(dict.fromkeys(map(shown, (listed[i] for i in odd))))}."
        )
    return pd.Series(np.where(missing, 0, np.nan_to_num(values)), index=pairs.index).astype("Int64").mask(missing)
