"""What a pool is for: judging its documents, and what of it is left to judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference import as_qrels
from reference_lou import pooled_runs, records

import pt_reuse as ptr
from pt_reuse.data import frame_columns
from pt_reuse.errors import ReuseWarning
from pt_reuse.pooling.depth import depth_pool

LABELS = ["qid", "docno", "label"]


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


# what is known of a label when a pool is judged: who gave it and when, and how its document was chosen

CHOSEN = pd.DataFrame(
    {
        "qid": ["1", "1", "2"],
        "docno": ["a", "b", "a"],
        "strategy": "take",
        "round": [1, 2, 1],
        "priority": [0.5, 0.25, 1.0],
        "stratum": ["top", "rest", "top"],
        "reason": ["rank 1", None, "rank 1"],
    }
)
NOON = "2026-03-01T12:00:00+00:00"


@pytest.fixture
def pool():
    return ptr.Pool.from_frame(CHOSEN)


@pytest.fixture
def noon(monkeypatch):
    monkeypatch.setattr(frame_columns, "now", lambda: NOON)


def rows(qrels, *columns):
    frame = qrels.to_frame()
    return frame[list(columns)].replace({np.nan: None}).to_numpy().tolist()


def graded(frame):
    return [2, 0, 1]


def test_labels_keep_what_the_pool_and_the_judge_know(pool, noon):
    frame = pool.judge(graded).to_frame()
    columns = "qid docno label judge time strategy round reason priority stratum"
    assert list(frame.columns) == columns.split()
    assert frame["label"].tolist() == [2, 0, 1]
    assert set(frame["judge"]) == {"graded"}
    assert set(frame["time"]) == {NOON}
    chosen = ["strategy", "round", "priority", "stratum", "reason"]
    pd.testing.assert_frame_equal(frame[chosen], CHOSEN[chosen])


def test_judgments_that_are_looked_up_keep_what_they_know(pool):
    known = ptr.Qrels(
        pd.DataFrame(
            {
                "qid": ["1", "1", "2", "9"],
                "docno": ["b", "a", "a", "x"],
                "label": [0, 3, 1, 1],
                "judge": ["ann", "ben", None, "cy"],
                "round": [7, 7, 7, 7],
                "iteration": ["0", "1", "2", "3"],
            }
        )
    )
    judged = pool.judge(known)
    assert rows(judged, "docno", "label", "judge", "iteration", "round") == [
        ["a", 3, "ben", "1", 1],
        ["b", 0, "ann", "0", 2],
        ["a", 1, None, "2", 1],
    ]
    assert "time" not in judged.to_frame(), "nobody said when"


def listed(docnos):
    return pd.DataFrame({"qid": "1", "docno": docnos, "score": range(len(docnos), 0, -1)})


RUNS = ptr.RunSet.from_frames({"A": listed(["a", "b", "c"]), "B": listed(["b", "d"])}, pooled=True)
PLACES = {
    "a": "rank 1 of run A",
    "b": "rank 1 of run B, best of 2 runs",
    "c": "rank 3 of run A",
    "d": "rank 2 of run B",
}


def reasons(qrels):
    return dict(rows(qrels, "docno", "reason"))


def test_labels_of_a_static_pool_say_strategy_round_and_reason():
    for pool, name in ((ptr.depth_pool(RUNS, depth=3), "depth"), (ptr.pools.take_pool(RUNS, n=9), "take")):
        assert not {"strategy", "round", "reason"} & set(pool.to_frame()), "the pool stays as slim as it is"
        judged = pool.judge(lambda frame: [1] * len(frame))
        assert list(judged.to_frame()) == ["qid", "docno", "label", "judge", "time", "strategy", "round", "reason"]
        assert {tuple(row) for row in rows(judged, "strategy", "round")} == {(name, 1)}
        assert reasons(judged) == PLACES
    left = ptr.depth_pool(RUNS, depth=3).without(run="B").judge(lambda frame: [1] * len(frame))
    assert reasons(left) == {"a": "rank 1 of run A", "b": "rank 2 of run A", "c": "rank 3 of run A"}
    fused = ptr.pools.fusion_pool(RUNS, n=2).judge(lambda frame: [0, 1])
    assert rows(fused, "docno", "strategy", "reason") == [
        ["b", "rrf", "priority 0.03252, rank 1 of run B, best of 2 runs"],
        ["a", "rrf", "priority 0.01639, rank 1 of run A"],
    ]


def test_labels_of_a_sample_say_how_they_were_drawn():
    sample = ptr.pools.sample_pool(ptr.depth_pool(RUNS, depth=3), n=2, seed=1)
    judged = sample.judge(lambda frame: [1] * len(frame))
    said = [row for row in rows(judged, "label", "strategy", "round", "reason") if row[0] >= 0]
    assert said == [[1, "depth", 1, "drawn from stratum all with probability 0.5"]] * 2
    assert [row[1:] for row in rows(judged, "label", "strategy", "round", "reason") if row[0] < 0] == [[None] * 3] * 2
    later = sample.unsampled.judge(lambda frame: [0] * len(frame))
    assert reasons(later) == {docno: PLACES[docno] for docno in later.to_frame()["docno"]}
    assert sorted(rows(ptr.judging.expand_judgments(judged, later), "label", "round")) == [[0, 2]] * 2 + [[1, 1]] * 2
