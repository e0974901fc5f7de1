"""The union of two sets of judgments, by rules for documents that have two labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pt_reuse._check import count, shown
from pt_reuse._errors import InputError, Option
from pt_reuse.engine import tokens
from pt_reuse.qrels.arrays import JudgedRows, QrelsArrays

CONFLICTS = ("error", "first", "second", "higher", "lower")


def united(mine: QrelsArrays, theirs: QrelsArrays, conflict: str) -> QrelsArrays:
    """Return the judgments of both.

    Args:
        mine: the first set.
        theirs: the second set.
        conflict: one of :data:`CONFLICTS`; -1 (pooled, not judged) gives way to any label without one.

    Raises:
        InputError: a document with two labels, when that is an error.
    """
    found = mine.documents.find(theirs.documents)
    both = np.flatnonzero(found >= 0)
    old, new = mine.labels[found[both]], theirs.labels[both]
    clash = (old != new) & (old != -1) & (new != -1)
    if conflict == "error" and clash.any():
        row = int(both[np.flatnonzero(clash)[0]])
        raise InputError(
            f"topic {shown(theirs.documents.qid(row))}, document {shown(theirs.documents.docno(row))} has label "
            f"{int(mine.labels[found[row]])} and {int(theirs.labels[row])} "
            f"({count(int(clash.sum()), 'such document')}). Choose ",
            Option("conflict", "first"),
            ", 'second', 'higher' or 'lower'.",
            argument="conflict",
        )
    chosen = {
        "error": old,
        "first": old,
        "second": new,
        "higher": np.maximum(old, new),
        "lower": np.minimum(old, new),
    }
    merged = np.where(clash, chosen[conflict], np.where(old == -1, new, old))
    # a judgment that takes over another's label takes over its further columns, too: who judged, which round
    wins = both[merged != old]
    stays = np.ones(len(mine.labels), dtype=bool)
    stays[found[wins]] = False
    added = np.union1d(np.flatnonzero(found < 0), wins)
    return _stacked(mine.take(np.flatnonzero(stays)), theirs.take(added))


def _stacked(upper: QrelsArrays, lower: QrelsArrays) -> QrelsArrays:
    # no document is in both; within a topic those of the upper come first
    names = list(dict.fromkeys([*upper.documents.topics, *lower.documents.topics]))
    place = {name: t for t, name in enumerate(names)}
    parts = [upper.documents, lower.documents]
    topic = [np.array([place[name] for name in part.topics], dtype=np.int64)[part.topic] for part in parts]
    extra = None
    if upper.extra is not None or lower.extra is not None:
        extras = [
            part.extra if part.extra is not None else pd.DataFrame(index=range(len(part.labels)))
            for part in (upper, lower)
        ]
        extra = pd.concat(extras, ignore_index=True)
    rows = JudgedRows(
        names,
        np.concatenate(topic),
        tokens.stacked([part.words for part in parts]),
        np.concatenate([upper.labels, lower.labels]),
        extra,
    )
    return rows.to_arrays()
