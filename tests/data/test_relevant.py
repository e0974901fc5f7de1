"""Which label is relevant: what judgments say of it, and what becomes of it."""

from __future__ import annotations

import pandas as pd
import pytest

from pt_reuse.data.judgments import Qrels
from pt_reuse.pooling.pool import Pool

ROWS = pd.DataFrame({"qid": ["1", "1", "1", "2", "2"], "docno": list("abcde"), "label": [3, 1, 0, 2, -1]})


@pytest.mark.parametrize(("rel", "relevant"), [(1, [2, 1]), (2, [1, 1]), (3, [1, 0]), (4, [0, 0])])
def test_counted_from(rel, relevant):
    qrels = Qrels(ROWS, rel=rel)
    assert (qrels.rel, qrels.stated_rel) == (rel, rel)
    table = qrels.counts()
    assert table["relevant"].tolist() == Qrels(ROWS).counts(rel=rel)["relevant"].tolist() == relevant
    assert table["judged"].tolist() == [3, 1]
    assert table["density"].tolist() == [relevant[0] / 3, relevant[1]]
    shown = f"{sum(relevant)} relevant" + (f" from label {rel}" if rel > 1 else "")
    assert f"5 judgments, {shown} (labels" in repr(qrels)


def test_every_operation_keeps_it():
    qrels = Qrels(ROWS, rel=2)
    pool = Pool.from_frame(ROWS[["qid", "docno"]])
    for made in (qrels - ROWS[:1], qrels.restrict(pool), qrels.sample(0.5, seed=1), qrels.select(["1"]),
                 qrels | Qrels(ROWS), Qrels(ROWS) | qrels, qrels.union(ROWS), pool.judge(qrels)):  # fmt: skip
        assert made.stated_rel == 2
    assert pool.judge(ROWS).stated_rel is None
    assert qrels.with_rel(3).rel == 3
    assert qrels.with_rel(None).stated_rel is None
    assert qrels.rel == 2


def test_binary_labels_begin_at_it():
    qrels = Qrels(ROWS, rel=2)
    assert qrels.threshold().to_frame()["label"].tolist() == [1, 0, 0, 1, -1]
    assert qrels.threshold(1).to_frame()["label"].tolist() == [1, 1, 0, 1, -1]
    assert Qrels(ROWS).threshold().to_frame()["label"].tolist() == [1, 1, 0, 1, -1]
    # from then on label 1 is relevant
    assert qrels.threshold().rel == 1
    assert qrels.threshold().counts()["relevant"].tolist() == qrels.counts()["relevant"].tolist() == [1, 1]
