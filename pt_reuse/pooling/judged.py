"""The judgments of a pool: the label that somebody gives each document, with where it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import warn
from pt_reuse.pooling.chosen import Chosen
from pt_reuse.pooling.provenance import provenance_of
from pt_reuse.pooling.sampled_judgments import with_unsampled
from pt_reuse.qrels.asking import labels_by, rel_of
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.qrels.labelling import provenance_first

#: the round of labels that are all given at once
_ONLY_ROUND = 1


def judged_by(pool: Chosen, judge: Any) -> Qrels:
    """Return the labels of the documents of a pool, see :meth:`Pool.judge`."""
    pairs = pd.DataFrame({"qid": pool.documents.qids(), "docno": pool.documents.docnos()})
    if callable(judge):
        found, rel = labels_by(judge, pairs), rel_of(judge)
    else:
        qrels = as_qrels(judge, "judge")
        rows, rel = qrels.arrays.documents.find(pool.documents), qrels.stated_rel
        labels = np.append(qrels.arrays.labels, np.int16(0))[rows].astype(np.int64)
        found = pd.DataFrame({"label": pd.arrays.IntegerArray(labels, rows < 0)})
        if qrels.arrays.extra is not None:
            found = pd.concat([found, qrels.arrays.extra.reindex(rows).reset_index(drop=True)], axis=1)
    # how a document was chosen the pool knows, what its label is and who gave it the judge
    mine = provenance_of(pool).drop(columns=["label", "judge", "time"], errors="ignore")
    if pool.strategy is not None and "round" not in mine:
        mine["round"] = pd.Series([_ONLY_ROUND] * len(pool), dtype="Int64")
    frame = pd.concat([pairs, found.drop(columns=mine.columns, errors="ignore"), mine], axis=1)
    judged = found["label"].notna().to_numpy(dtype=bool)
    if not judged.all():
        fate = "left out" if pool.unsampled is None else "label -1 (pooled, not judged)"
        warn(f"{count(int((~judged).sum()), 'document')} of {len(pool):,} without a label, {fate}.")
    frame = provenance_first(frame)
    return with_unsampled(Qrels(frame[judged], topics=pool.topics, rel=rel), pool)
