"""What a pool is for: judging its documents, and what of it is left to judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import as_qrels
from reference_lou import contributions_of, pairs_of, pooled_runs, records, team_fields

from pt_reuse._errors import ReuseWarning
from pt_reuse.pooling.depth import depth_pool

LABELS = ["qid", "docno", "label"]
DEPTHS = st.sampled_from([1, 2, 3, 8, 100])


@pytest.fixture
def runs():
    return pooled_runs()


def test_documents_without_a_label_are_left_out_and_counted(runs, messages):
    pool = depth_pool(runs, depth=2)
    judges = [
        as_qrels({"1": {"a": 1, "b": 0}}),
        lambda frame: [{"1a": 1, "1b": 0}.get(qid + docno) for qid, docno in frame[["qid", "docno"]].to_numpy()],
        lambda frame: (frame["qid"] + frame["docno"]).map({"1a": 1, "1b": 0}),
        lambda frame: frame[frame["docno"].isin(["a", "b"])].assign(label=[1, 0]),
        lambda frame: frame.assign(label=(frame["qid"] + frame["docno"]).map({"1a": 1, "1b": 0})),
    ]
    for judge in judges:
        with pytest.warns(ReuseWarning) as caught:
            judged = pool.judge(judge)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        messages.told(caught[0].message)
        assert sorted(records(judged.to_frame()[LABELS]), key=str) == [
            {"qid": "1", "docno": "a", "label": 1},
            {"qid": "1", "docno": "b", "label": 0},
        ]
        assert judged.topics == ["1", "2"]


def test_a_judge_sees_each_document_once_and_cannot_change_the_pool(runs):
    pool = depth_pool(runs, depth=2)
    seen = []

    def judge(frame):
        seen.append(frame.copy())
        frame["qid"] = "9"
        return np.arange(len(frame))

    judged = pool.judge(judge)
    assert len(seen) == 1
    assert list(seen[0].columns) == ["qid", "docno"]
    assert pairs_of(judged.to_frame()) == pairs_of(seen[0]) == set(contributions_of(pool))
    assert judged.to_frame()["label"].tolist() == list(range(6))


@settings(deadline=None, max_examples=12)
@given(team_fields(), DEPTHS)
def test_remainder_and_judge_equal_the_brute_force(field, depth):
    pool, qrels = depth_pool(field.as_runs(), depth=depth), as_qrels(field.judgments)
    labels = {(topic, docno): label for topic, judged in field.judgments.items() for docno, label in judged.items()}
    left = pool.remainder(qrels)
    assert contributions_of(left) == {
        pair: found for pair, found in contributions_of(pool).items() if labels.get(pair, -1) < 0
    }
    known = pool.without().remainder(pool.to_qrels() - qrels)  # nothing in it is judged
    assert len(known) == len(pool)
    pooled_and_labelled = {pair: label for pair, label in labels.items() if pair in contributions_of(pool)}
    restricted = qrels.restrict(pool)
    assert {(r["qid"], r["docno"]): r["label"] for r in records(restricted.to_frame())} == pooled_and_labelled
    if len(pooled_and_labelled) == len(pool):
        assert records(
            pool.judge(qrels).to_frame()[list(restricted.to_frame())].sort_values(["qid", "docno"])
        ) == records(restricted.to_frame().query(f"qid in {pool.topics}").sort_values(["qid", "docno"]))
