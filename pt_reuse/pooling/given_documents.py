"""Documents that a user gives for a pool: a frame, checked, and put in the form of a pool."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError
from pt_reuse.engine import tokens
from pt_reuse.engine.topic_docs import TopicDocs, sort_by_topic
from pt_reuse.formats.foreign import in_our_columns
from pt_reuse.formats.frames import check_frame, text_column, text_groups
from pt_reuse.qrels.arrays import topic_set

#: the columns of a pool's frame that are counted from its contributions
_COUNTED = ("rank", "runs", "teams", "types")


def documents_of(frame: pd.DataFrame, topics: Iterable[str] | None) -> tuple[TopicDocs, pd.DataFrame]:
    """Return the documents of a frame, and what else it knows of each, see :meth:`Pool.from_frame`.

    Raises:
        InputError: a missing column or cell, a document that stands twice, a column that a pool counts itself.
    """
    frame = in_our_columns(frame) if isinstance(frame, pd.DataFrame) else frame
    check_frame(frame, ("qid", "docno"))
    taken = [column for column in _COUNTED if column in frame.columns]
    if taken:
        raise InputError(
            f"the frame has {examples(taken, len(taken))}, which a pool counts from its contributing runs. Rename "
            f"or drop them.",
            argument="frame",
        )
    if frame.columns.duplicated().any():
        twice = frame.columns[frame.columns.duplicated()]
        raise InputError(
            f"the frame has more than one column {examples(dict.fromkeys(twice))}. Rename or drop one.",
            argument="frame",
        )
    topic, names = text_groups("qid", frame["qid"])
    words = text_column("docno", frame["docno"])
    doc, first = tokens.factorize(words)
    _check_once(frame, topic * max(len(first), 1) + doc)
    documents, rows = sort_by_topic(names, topic, words, topic_set(topics))
    columns = frame.drop(columns=["qid", "docno"])
    return documents, columns if rows is None else columns.iloc[rows]


def _check_once(frame: pd.DataFrame, pair: NDArray[np.int64]) -> None:
    again = np.flatnonzero(pd.Series(pair).duplicated().to_numpy())
    if not len(again):
        return
    row = int(again[0])
    first = int(np.flatnonzero(pair == pair[row])[0])
    qid, docno = frame["qid"].iloc[row], frame["docno"].iloc[row]
    raise InputError(
        f"topic {qid!r} has document {docno!r} more than once ({count(len(again), 'such row')} in all). Keep one row "
        f"per document.",
        argument="frame",
        place=f"rows {first:,} and {row:,}",
    )
