"""Relevant densities: round by round, however the rounds are said, against plain counting."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relevant_parts import as_qrels, as_runs, fields

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

RUNS = as_runs({"A": {"1": ["a", "b", "c"], "2": ["a", "b"]}, "B": {"1": ["b", "d", "a"], "2": ["e"]}}, pooled=True)
QRELS = as_qrels({"1": {"a": 2, "b": 0, "c": 1, "d": 0, "x": 3}, "2": {"a": 0, "b": 0, "e": 1, "f": -1}, "3": {}})


def row(frame, **key):
    (found,) = frame[(frame[list(key)] == pd.Series(key)).all(axis=1)].to_dict("records")
    return found


@given(st.lists(st.lists(st.booleans(), max_size=6), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
def test_knees_are_where_a_topic_is_farthest_above_the_line(rounds):
    sets = {
        f"round {n}": as_qrels({"1": {f"d{n}.{i}": int(label) for i, label in enumerate(labels)}})
        for n, labels in enumerate(rounds)
    }
    found = ptr.profile.density(sets).table.iloc[0]
    judged = [sum(len(labels) for labels in rounds[: n + 1]) for n in range(len(rounds))]
    relevant = [sum(sum(labels) for labels in rounds[: n + 1]) for n in range(len(rounds))]
    if not relevant[-1]:
        assert found["knee"] is None
        return
    ahead = [Fraction(r, relevant[-1]) - Fraction(j, judged[-1]) for r, j in zip(relevant, judged, strict=True)]
    if max(ahead) == 0:
        assert found["knee"] is None
        return
    n = ahead.index(max(ahead))
    later = Fraction(1 + relevant[-1] - relevant[n], judged[-1] - judged[n])
    assert found["knee"] == f"round {n}"
    assert found["slope_ratio"] == pytest.approx(float(Fraction(relevant[n], judged[n]) / later))


@given(fields(), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_pools_of_depths_are_counted_as_plainly(field, rel):
    lists, labels = field
    runs, qrels = as_runs(lists, pooled=True), as_qrels(labels)
    found = ptr.profile.density(qrels, runs=runs, depths=[1, 3], rel=rel)
    for qid, of in labels.items():
        for depth in (1, 3):
            pool = {docno for topics in lists.values() for docno in topics.get(qid, [])[:depth]}
            judged = [label for docno, label in of.items() if docno in pool and label >= 0]
            cell = row(found.rounds, qid=qid, round=f"depth-{depth} pool")
            assert (cell["judged"], cell["relevant"]) == (len(judged), sum(label >= rel for label in judged))
        judged = [label for label in of.values() if label >= 0]
        share = Fraction(sum(label >= rel for label in judged), len(judged)) if judged else Fraction(0)
        end = row(found.table, qid=qid)
        assert (end["above_third"], end["above_half"]) == (share > Fraction(1, 3), share > Fraction(1, 2))
        assert end["density"] == float(share) if judged else pd.isna(end["density"])


def test_rounds_of_a_column_and_what_has_none_comes_first():
    frame = QRELS.to_frame().assign(round=pd.array([2, 1, 1, 2, None, 1, 1, 3, 1], dtype="Int64"))
    found = ptr.profile.density(frame)
    assert found.summary["round"].tolist() == ["no round given", "1", "2", "3"]
    assert found.rounds["judged"].tolist()[:4] == [1, 3, 5, 5]
    assert ptr.profile.density(frame.rename(columns={"round": "when"})).summary["round"].tolist() == ["all judgments"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["10", "9", "2", "9", "2", "10", "2", "9", "10"], ["2", "9", "10"]),
        (["r10", "r9", "r2", "r9", "r2", "r10", "r2", "r9", "r10"], ["r2", "r9", "r10"]),
        ([10.0, 9.0, 2.0, 9.0, 2.0, 10.0, 2.0, 9.0, 10.0], ["2", "9", "10"]),
    ],
)
def test_ten_comes_after_nine_however_rounds_are_written(given, names):
    found = ptr.profile.density(QRELS.to_frame().assign(round=given))
    assert found.summary["round"].tolist() == names
    # what is judged in round 2, then also in 9, then also in 10
    labels = QRELS.to_frame()["label"].tolist()
    in_round = [str(value).replace(".0", "").replace("r", "") for value in given]
    rounds = [sum(label >= 0 and said == n for label, said in zip(labels, in_round, strict=True)) for n in "29"]
    assert found.summary["judgments"].tolist() == [rounds[0], sum(rounds), 8]


def test_sets_of_rounds_alone_or_with_all_before_say_the_same():
    first, second = QRELS.select(["1"]), QRELS.select(["2", "3"])
    alone, so_far = ptr.profile.density([first, second]), ptr.profile.density({"round 1": first, "round 2": QRELS})
    pd.testing.assert_frame_equal(alone.rounds, so_far.rounds)
    assert alone.rounds["judged"].tolist() == [5, 5, 0, 3, 0, 0]
    # what was pooled only is judged when somebody judges it
    later = as_qrels({"2": {"f": 1}})
    assert row(ptr.profile.density([QRELS, later]).rounds, qid="2", round="round 2")["new_relevant"] == 1


def test_nothing_judged():
    found = ptr.profile.density(as_qrels({"1": {"a": -1}, "2": {}}))
    assert found.summary[["topics", "judgments"]].values.tolist() == [[0, 0]]
    assert found.table["density"].isna().all()


ELSEWHERE = as_qrels({"9": {"a": 1, "b": 0}})
REFUSED = [
    ("runs", {"qrels": [QRELS, QRELS], "runs": RUNS}),
    ("depths", {"depths": [1]}),
    ("depths", {"runs": RUNS, "depths": []}),
    ("contributors", {"contributors": "all"}),
    ("pool_order", {"pool_order": "file"}),
    ("runs", {"qrels": ELSEWHERE, "runs": RUNS}),
    (None, {"qrels": [QRELS, as_qrels({"1": {"a": 0}})]}),
]


@pytest.mark.parametrize(("argument", "given"), REFUSED)
def test_what_cannot_be(argument, given, messages):
    of_fault = {} if argument is None else {"argument": argument}
    messages.refused(lambda: ptr.profile.density(**{"qrels": QRELS, **given}), **of_fault)
