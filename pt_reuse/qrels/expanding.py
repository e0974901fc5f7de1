"""Expanded judgments: old ones and new ones, each with the round in which it was made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse._errors import InputError, door
from pt_reuse.formats.frames import number_column
from pt_reuse.qrels.judgments import Qrels, as_qrels

_MOST = 2**31


@door
def expand_judgments(old: Any, new: Any, *, conflict: str = "error") -> Qrels:
    """Return old judgments and those of a further round together, each with its round.

    The new ones are, for instance, those of :meth:`Pool.remainder`: what the pool of new runs has and nobody judged
    before. They are united as by :meth:`Qrels.union`, and every judgment has a ``round``: what it says, else 1. Where
    rounds of the new ones do not come after the last of the old, they are counted on from it: 1 becomes the next. A
    document that both have under one label is old; one that was only pooled (label -1) and is judged now is new. Other
    columns (who judged, when, why) are carried along.

    Args:
        old: the judgments so far, in any form, see :doc:`runs`.
        new: the further ones, in any form.
        conflict: the label of a document that has two, as in :meth:`Qrels.union`: ``"error"`` (default), ``"first"``,
            the old one, ``"second"``, ``"higher"`` or ``"lower"``; each judgment has the round of its label.

    Returns:
        Qrels: all judgments of either, with the column ``round``; the topics of both.

    Raises:
        InputError: a document with two labels under ``conflict="error"``, a round that is no whole number of at least
            1.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> old = ptr.Qrels(pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]}))
        >>> new = pd.DataFrame({"qid": ["1", "1"], "docno": ["c", "d"], "label": [1, 1]})
        >>> expanded = ptr.expand_judgments(old, new)
        >>> expanded.counts(by="round")[["qid", "round", "judged", "relevant"]]
          qid  round  judged  relevant
        0   1      1       2         1
        1   1      2       2         2

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?
    """
    before, after = as_qrels(old, "old"), as_qrels(new, "new")
    rounds, further = _rounds(before, "old"), _rounds(after, "new")
    last = int(rounds.max(initial=0))
    if len(further) and further.min() <= last:
        further += last
    return _in_rounds(before, rounds).union(_in_rounds(after, further), conflict=conflict)


def _rounds(qrels: Qrels, argument: str) -> NDArray[np.int64]:
    """Return (judgments,): the round that each says, 1 where it says none."""
    frame = qrels.to_frame()
    values = np.ones(len(frame))
    if "round" in frame:
        given = frame["round"].notna().to_numpy()
        values[given] = number_column(frame["round"][given])
        odd = np.flatnonzero(~((values >= 1) & (values < _MOST)) | (values != np.floor(values)))
        if len(odd):
            row = frame.iloc[int(odd[0])]
            raise InputError(
                f"the round of topic {shown(row['qid'])}, document {shown(row['docno'])} must be a whole number of at "
                f"least 1, got {shown(row['round'])}.",
                argument=argument,
            )
    return values.astype(np.int64)


def _in_rounds(qrels: Qrels, rounds: NDArray[np.int64]) -> Qrels:
    extra = pd.DataFrame(index=range(len(rounds))) if qrels.arrays.extra is None else qrels.arrays.extra
    return Qrels.of_arrays(replace(qrels.arrays, extra=extra.assign(round=rounds)), qrels.stated_rel)
