"""RunSet: what it gives back, and what every operation keeps."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse._choices import ORDERS
from pt_reuse._errors import InputError
from pt_reuse.data.run_set import RunSet


def frame(lines):
    """Build a result frame of ``qid docno score`` words, ranks from 0 as they stand."""
    table = pd.DataFrame([line.split() for line in lines], columns=["qid", "docno", "score"])
    return table.assign(score=table["score"].astype(float), rank=table.groupby("qid").cumcount())


def rows(table):
    return list(table[["qid", "docno", "rank", "score"]].itertuples(index=False, name=None))


A = frame(["1 d1 3", "1 d2 2", "1 d3 2", "2 d1 1"])
B = frame(["1 d3 5", "10 d4 4", "2 d9 1", "2 d1 7"])
C = frame(["3 d1 0.5"])


@pytest.fixture
def runs():
    return RunSet.from_frames(
        {"a": A, "b": B, "c": C},
        teams={"a": "X", "b": "X", "c": "Y"},
        types={"a": "manual", "b": "automatic", "c": "automatic"},
        pooled=["a", "c"],
    )


# by hand


def test_by_hand(runs):
    assert repr(runs) == "RunSet: 3 runs (2 pooled), 2 teams, 2 types, 4 topics, 9 rows, order='trec_eval'"
    assert runs.names == list(runs) == ["a", "b", "c"]
    assert len(runs) == 3
    assert "a" in runs
    assert "d" not in runs
    assert runs.topics == ["1", "2", "3", "10"]
    assert runs.teams == ["X", "Y"]
    assert runs.types == ["manual", "automatic"]
    assert runs.pooled.tolist() == [True, False, True]
    assert rows(runs["a"]) == [("1", "d1", 0, 3.0), ("1", "d3", 1, 2.0), ("1", "d2", 2, 2.0), ("2", "d1", 0, 1.0)]
    assert rows(runs["b"]) == [("1", "d3", 0, 5.0), ("2", "d1", 0, 7.0), ("2", "d9", 1, 1.0), ("10", "d4", 0, 4.0)]
    assert list(runs["a"].columns) == ["qid", "docno", "rank", "score", "name"]
    whole = runs.to_frame()
    assert whole["name"].tolist() == ["a"] * 4 + ["b"] * 4 + ["c"]
    assert whole["rank"].dtype == np.int64


# choosing runs


def test_select(runs):
    assert runs.select("b").names == ["b"]
    assert runs.select(["c", "a"]).names == ["a", "c"]  # in field order
    assert runs.select(team="X").names == ["a", "b"]
    assert runs.select(team=["X", "Y"], type="automatic").names == ["b", "c"]
    assert runs.select(pooled=True).names == ["a", "c"]
    assert runs.select(pooled=np.False_).names == ["b"]
    assert runs.select().names == runs.names
    only = runs.select("c")
    assert only.topics == ["3"]  # topics that no run has go
    assert rows(only["c"]) == rows(runs["c"])
    assert only.run_table.to_numpy().tolist() == [["c", "Y", "automatic", True]]
    assert runs.names == ["a", "b", "c"]


def test_union(runs):
    both = runs.select("c") | runs.select(["a", "b"])
    assert both.names == ["c", "a", "b"]
    assert both.topics == runs.topics
    for name in runs:
        pd.testing.assert_frame_equal(both[name], runs[name])
    assert both.run_table["team"].tolist() == ["Y", "X", "X"]
    assert both.pooled.tolist() == [True, True, False]


def test_union_of_tables_that_differ():
    one = RunSet.from_frames(
        {"a": A}, metadata=pd.DataFrame({"name": ["a"], "team": ["X"], "year": [1999], "note": ["n"]})
    )
    two = RunSet.from_frames({"b": B}, types={"b": "manual"}, pooled=False)
    table = (one | two).run_table
    assert list(table.columns) == ["name", "team", "type", "pooled", "year", "note"]
    assert table.to_numpy().tolist() == [["a", "X", None, pd.NA, 1999, "n"], ["b", None, "manual", False, None, None]]
    assert table["pooled"].dtype == "boolean"
    assert (two | one).run_table["team"].tolist() == [None, "X"]


@pytest.mark.filterwarnings("ignore:.*no document is left")
def test_restrict(runs):
    part = runs.restrict(["d1", "d9", "unknown"])
    assert part.topics == ["1", "2", "3"]
    assert rows(part["a"]) == [("1", "d1", 0, 3.0), ("2", "d1", 0, 1.0)]
    assert rows(part["b"]) == [("2", "d1", 0, 7.0), ("2", "d9", 1, 1.0)]
    assert part.names == runs.names
    assert part.run_table.equals(runs.run_table)
    assert len(part.restrict(iter(["d9"]))["a"]) == 0
    assert rows(runs.restrict({"d3"})["a"]) == [("1", "d3", 0, 2.0)]


# metadata


# frames and pipelines


def test_from_frames_takes_what_pyterrier_gives():
    scores = pd.DataFrame({"qid": [1, 1, 2], "docno": [7, 8, 7], "score": [1, 2, 3], "query": "x"})
    runs = RunSet.from_frames({"a": scores})
    assert rows(runs["a"]) == [("1", "8", 0, 2.0), ("1", "7", 1, 1.0), ("2", "7", 0, 3.0)]
    for kind in (object, "string", "category"):
        assert rows(RunSet.from_frames({"a": scores.astype({"qid": str}).astype({"qid": kind})})["a"]) == rows(
            runs["a"]
        )
    assert rows(RunSet.from_frames({"a": scores.assign(score=["1", "2", "3e0"])})["a"]) == rows(runs["a"])
    assert rows(RunSet.from_frames({"a": scores.set_index("score", drop=False)})["a"]) == rows(runs["a"])


def test_a_run_without_rows():
    runs = RunSet.from_frames({"a": A, "none": A.iloc[:0]})
    assert len(runs["none"]) == 0
    assert list(runs["none"].columns) == ["qid", "docno", "rank", "score", "name"]
    assert runs.sizes()[["topics", "rows", "shortest", "longest"]].iloc[1].tolist() == [0, 0, 0, 0]
    nothing = RunSet.from_frames({"none": A.iloc[:0]})
    assert repr(nothing) == "RunSet: 1 run (pooled: not on record), 0 topics, 0 rows, order='trec_eval'"
    assert len(nothing.to_frame()) == len(nothing["none"]) == 0
    assert "0 rows" in nothing._repr_html_()
    assert (nothing | RunSet.from_frames({"a": A})).names == ["none", "a"]
    assert nothing.reorder("trec_eval9").topics == []
    with pytest.raises(InputError):
        nothing.restrict(["d1"])


class Fixed(pt.Transformer):
    """Gives each query the same results."""

    def __init__(self):
        self.calls = 0

    def transform(self, queries):
        self.calls += 1
        results = pd.DataFrame({"docno": ["d1", "d2"], "score": [1.0, 2.0]})
        return pt.model.add_ranks(queries.merge(results, how="cross"))


def test_from_pipelines(capfd):
    topics = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["x", "y", "z"]})
    fixed = Fixed()
    runs = RunSet.from_pipelines({"a": fixed, "b": fixed % 1}, topics, teams={"a": "A", "b": "B"}, verbose=True)
    assert rows(runs["a"])[:2] == [("1", "d2", 0, 2.0), ("1", "d1", 1, 1.0)]
    assert len(runs["b"]) == 3
    assert runs.teams == ["A", "B"]
    assert "pipelines" in "".join(capfd.readouterr())
    fixed.calls = 0
    batched = RunSet.from_pipelines({"a": fixed}, topics, batch_size=2)
    assert fixed.calls == 2
    assert rows(batched["a"]) == rows(runs["a"])
    assert RunSet.from_pipelines({"a": fixed}, topics, order="file")["a"]["docno"].tolist()[:2] == ["d1", "d2"]


# properties


def random_field(seed, order="trec_eval"):
    chance = random.Random(seed)
    frames = {}
    for r in range(5):
        lines = [
            f"{topic} d{doc} {chance.choice([0, 1, 2.5])}"
            for topic in chance.sample(range(8), 6)
            for doc in chance.sample(range(30), chance.randint(1, 20))
        ]
        frames[f"r{r}"] = frame(lines)
    return RunSet.from_frames(frames, order=order)


@pytest.mark.filterwarnings("ignore:.*no document is left")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(4))
def test_properties(seed, order):
    runs = random_field(seed, order)
    everything = runs.to_frame()
    # apart and together again
    left, right = runs.select(["r0", "r3"]), runs.select(["r1", "r2", "r4"])
    together = left | right
    assert together.names == ["r0", "r3", "r1", "r2", "r4"]
    for name in runs:
        pd.testing.assert_frame_equal(together[name], runs[name])
    # all documents are no restriction; two restrictions are that to what both have
    pd.testing.assert_frame_equal(runs.restrict(everything["docno"].unique()).to_frame(), everything)
    some, others = [f"d{i}" for i in range(20)], [f"d{i}" for i in range(10, 30)]
    twice = runs.restrict(some).restrict(others).to_frame()
    pd.testing.assert_frame_equal(twice, runs.restrict([f"d{i}" for i in range(10, 20)]).to_frame())
    # what is left stands in the order it had, with ranks closed up
    kept = everything[everything["docno"].isin(some)]
    part = runs.restrict(some).to_frame()
    assert part[["name", "qid", "docno"]].to_numpy().tolist() == kept[["name", "qid", "docno"]].to_numpy().tolist()
    assert (part["rank"] == part.groupby(["name", "qid"]).cumcount()).all()
    # restricting and selecting commute
    pd.testing.assert_frame_equal(
        runs.restrict(some).select(["r1"]).to_frame(), runs.select(["r1"]).restrict(some).to_frame()
    )
