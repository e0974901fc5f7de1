"""How many documents of each topic are judged, and how many of these are relevant."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import examples, shown
from pt_reuse._errors import InputError
from pt_reuse.qrels.arrays import QrelsArrays


def count_labels(arrays: QrelsArrays, lowest: int, by: str | None) -> pd.DataFrame:
    """Return per topic ``qid judged relevant unjudged junk density``, see :meth:`Qrels.counts`.

    Args:
        arrays: the judgments.
        lowest: the lowest label that is relevant.
        by: a further column; its values come after ``qid``, each with a row for every topic. None for none.

    Raises:
        InputError: a column that the judgments do not have.
    """
    labels, documents = arrays.labels, arrays.documents
    group, values = _groups(arrays, by)
    n_groups, n_topics = len(values), len(documents.topics)
    cell = documents.topic * n_groups + group

    def tally(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(cell[rows], minlength=n_topics * n_groups)

    judged, relevant = tally(labels >= 0), tally(labels >= lowest)
    table = pd.DataFrame(
        {
            "qid": [topic for topic in documents.topics for _ in range(n_groups)],
            "judged": judged,
            "relevant": relevant,
            "unjudged": tally(labels == -1),
            "junk": tally(labels < -1),
            "density": relevant / np.maximum(judged, 1),
        }
    )
    if by is not None:
        table.insert(1, by, values.take(np.tile(np.arange(n_groups), n_topics)).array)
    return table


def _groups(arrays: QrelsArrays, by: str | None) -> tuple[NDArray[np.int64], pd.Series]:
    # (rows,) the group of each judgment, and the value of each group, ascending, none last
    if by is None:
        return np.zeros(len(arrays.labels), dtype=np.int64), pd.Series([None])
    known = [] if arrays.extra is None else list(arrays.extra.columns)
    if arrays.extra is None or by not in known:
        there = f"There is {examples(known, 12)}." if known else "There is none."
        raise InputError(
            f"the judgments have no column {shown(by)} beside qid, docno and label. {there}", argument="by"
        )
    column = arrays.extra[by]
    codes, values = pd.factorize(column, sort=True)
    found = pd.Series(values, dtype=column.dtype if len(values) else object)
    if (codes < 0).any():
        found = pd.concat([found, pd.Series([column[codes < 0].iloc[0]], dtype=column.dtype)], ignore_index=True)
    return np.where(codes < 0, len(values), codes).astype(np.int64), found
