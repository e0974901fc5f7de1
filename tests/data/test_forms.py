"""What is given as runs or as judgments and is none of the kind, with the exact message; and the edges of each form."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from faults import FRAME, LABELS, put
from ir_measures import AP

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs
from pt_reuse.data.run_set import RunSet

RUNS, QRELS = RunSet.from_frames({"bm25": FRAME}), Qrels(LABELS)
TUPLES = [ir_measures.ScoredDoc("1", "a", 2.0), ir_measures.ScoredDoc("1", "b", 1.0)]
JUDGED = [ir_measures.Qrel("1", "a", 1), ir_measures.Qrel("1", "b", 0)]
NESTED = {"1": {"a": 2.0, "b": 1.0}}
IDENTITY = pt.Transformer.identity()

NO_RUNS = {
    "nothing": None,
    "a number": 5,
    "bytes": b"x",
    "a dict of nothing": {},
    "pipelines": {"bm25": IDENTITY, "dense": IDENTITY},
    "a pipeline": IDENTITY,
    "a pipeline among results": {"bm25": FRAME, "dense": IDENTITY},
    "a run without its name": FRAME,
    "tuples without their name": TUPLES,
    "a dict without its name": NESTED,
    "a frame of other things": pd.DataFrame({"x": [1]}),
    "a name and a number that is written so": pd.concat([FRAME.assign(name=1), FRAME.assign(name="1")]),
    "a name that is missing": FRAME.assign(name=["bm25", None]),
    "no column of scores": {"bm25": FRAME[["qid", "docno"]]},
    "a path among results": {"bm25": "input.bm25"},
    "plain tuples": {"bm25": [("1", "a", 2.0)]},
    "judgments by name": {"bm25": JUDGED},
    "an iterator that was used up": {"bm25": iter([])},
    "a document twice": {"bm25": TUPLES * 2},
    "a score that is none": {"bm25": [ir_measures.ScoredDoc("1", "a", None)]},
    "no file": "nowhere",
    "no file among several": ["nowhere", "there"],
    "paths and others": ["nowhere", 5],
}


@pytest.mark.parametrize("given", NO_RUNS)
def test_what_is_no_runs(given, messages):
    messages.refused(lambda: ptr.depth_pool(NO_RUNS[given]))


def test_the_argument_is_called_as_the_user_calls_it(messages):
    messages.refused(lambda: as_runs(5, argument="field"), argument="field")
    messages.refused(lambda: as_runs("nowhere", argument="field"), argument="field")
    messages.refused(lambda: as_runs({"a": IDENTITY}, argument="field"), argument="field")
    messages.refused(lambda: as_qrels(5, "judgments"), argument="judgments")


SWAPPED = {
    "a Qrels and a RunSet": (QRELS, RUNS),
    "a frame and a RunSet": (LABELS, RUNS),
    "a frame and a dict": (LABELS, {"bm25": FRAME}),
    "a frame of ir_measures and a dict": (LABELS.rename(columns={"label": "relevance"}), {"bm25": FRAME}),
    "tuples and a dict": (JUDGED, {"bm25": TUPLES}),
    "two sets of judgments": (QRELS, LABELS),
}


@pytest.mark.parametrize("function", [ptr.score, ptr.leave_out_uniques, ptr.infer_pool])
@pytest.mark.parametrize("given", SWAPPED)
def test_runs_and_judgments_that_change_places(given, function, messages):
    more = () if function is ptr.infer_pool else (AP,)
    messages.refused(lambda: function(*SWAPPED[given], *more), argument="runs")


NO_JUDGMENTS = {
    "a RunSet": RUNS,
    "results": FRAME,
    "results by name": {"bm25": FRAME},
    "results by name, nested": {"bm25": NESTED},
    "tuples of results": TUPLES,
    "plain tuples": [("1", "a", 1)],
    "an iterator that was used up": iter([]),
    "labels that are none": {"1": {"a": 0.5}},
    "labels that are words": {"1": {"a": "yes"}},
    "two labels": [*JUDGED, ir_measures.Qrel("1", "b", 1)],
    "no column of labels": LABELS[["qid", "docno"]],
    "a set": {"a"},
}


@pytest.mark.parametrize("given", NO_JUDGMENTS)
def test_what_is_no_judgments(given, messages):
    messages.refused(lambda: ptr.score(RUNS, NO_JUDGMENTS[given], AP))


def test_a_run_set_is_not_made_anew():
    assert as_runs(RUNS) is RUNS
    assert as_qrels(QRELS) is QRELS


def test_files_that_need_options_are_advised_to_be_read_before(tmp_path, messages):
    put(tmp_path, {"r/a": b"1 Q0 d1 1 2.5 a\n1 Q0 d1 2 1.5 a\n", "s/a": b"1 Q0 d1 1 2.5 a\n1 Q0 d2 1.5 a\n"})
    put(tmp_path, {"t/a": b"a picture\0", "u/a": b"1 Q0 d1 1 2.5 a\n1 Q0 d2 2 1.5 b\n"})
    for folder in "rstu":
        messages.refused(lambda folder=folder: ptr.depth_pool(tmp_path / folder))
    messages.refused(lambda: ptr.depth_pool({"a": [*TUPLES, TUPLES[0]]}))


def test_judgments_are_read_before_run_files(tmp_path, monkeypatch, messages):
    put(tmp_path, {"r/a": b"1 Q0 d1 1 2.5 a\n"})
    monkeypatch.setattr("pt_reuse.data.run_files.parse_files", lambda *_, **__: pytest.fail("runs were read"))
    for function in (ptr.score, ptr.leave_out_uniques, ptr.infer_pool):
        more = () if function is ptr.infer_pool else (AP,)
        messages.refused(lambda f=function, more=more: f(tmp_path / "r", tmp_path / "none", *more), argument="qrels")


def test_runs_are_united_in_the_order_of_the_first():
    ranked = FRAME.assign(score=[1.0, 2.0])
    mine = RunSet.from_frames({"bm25": ranked}, order="file")
    both = mine | {"dense": ranked}
    assert both.order == "file"
    assert both["dense"]["docno"].tolist() == ranked["docno"].tolist()
    assert as_runs({"dense": ranked})["dense"]["docno"].tolist() == ranked["docno"].tolist()[::-1]


def test_tuples_stand_in_the_order_of_a_file():
    runs = RunSet.from_frames({"a": TUPLES[::-1]}, order="file")
    assert runs["a"]["docno"].tolist() == ["b", "a"]


def test_a_topic_without_judgments_stays_a_topic():
    # as pytrec_eval has it: a mean over both topics
    nested = {"1": {"a": 1}, "2": {}}
    assert as_qrels(nested).topics == ["1", "2"]
    mine = ptr.score({"bm25": TUPLES}, nested, AP).mean["AP"].tolist()
    assert mine == [ir_measures.pytrec_eval.calc_aggregate([AP], nested, NESTED)[AP]] == [0.5]


def test_what_tuples_say_more_is_carried_along():
    frame = as_qrels([ir_measures.Qrel("1", "a", 1, "r1"), ir_measures.Qrel("2", "a", 0, "r2")]).to_frame()
    assert frame.to_dict("list") == {"qid": ["1", "2"], "docno": ["a", "a"], "label": [1, 0], "iteration": ["r1", "r2"]}


def test_a_frame_with_both_names_of_a_column_has_ours():
    frame = FRAME.assign(query_id="other", doc_id="other")
    assert as_runs({"a": frame})["a"].equals(as_runs({"a": FRAME})["a"])


def test_names_that_are_numbers_are_texts():
    frame = pd.concat([FRAME.assign(name=1), FRAME.assign(name=np.int64(2))])
    assert as_runs(frame).names == ["1", "2"]
    assert as_runs({1: FRAME}).names == ["1"]


def test_documents_alone_may_have_the_columns_of_others():
    theirs = LABELS.rename(columns={"qid": "query_id", "docno": "doc_id"})[["query_id", "doc_id"]]
    assert len(QRELS - theirs) == 0
    assert (
        ptr.Pool.from_frame(theirs).to_frame()[["qid", "docno"]].values.tolist()
        == LABELS[["qid", "docno"]].values.tolist()
    )
    pool = ptr.depth_pool(RUNS, depth=2)
    judge = lambda frame: frame.rename(columns={"qid": "query_id", "docno": "doc_id"}).assign(relevance=1)  # noqa: E731
    assert pool.judge(judge).to_frame()["label"].tolist() == [1] * len(pool)


def test_the_home_folder_is_meant_by_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(put(tmp_path / "elsewhere", {"x": b""}) or tmp_path / "elsewhere")
    RUNS.write("~/runs")
    QRELS.write("~/qrels")
    put(tmp_path, {"teams": b"bm25 A\n", "pooled": b"bm25\n"})
    read = ptr.read_runs("~/runs/*", names="file", cache="~/cache", teams="~/teams", pooled="~/pooled")
    assert (read.teams, read.pooled.tolist()) == (["A"], [True])
    assert ptr.read_runs(["~/runs/input.bm25.gz"], names="file").names == ["bm25"]
    assert ptr.read_qrels("~/qrels").to_frame().equals(QRELS.to_frame())
    scores = ptr.score("~/runs", "~/qrels", AP)
    scores.save("~/saved")
    assert ptr.read_result("~/saved").mean.equals(scores.mean)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cache", "elsewhere", "pooled", "qrels", "runs", "saved", "teams",
    ]  # fmt: skip
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["x"]


def test_one_name_as_pooled_is_a_list(messages):
    messages.refused(lambda: RunSet.from_frames({"neu2a": FRAME}, pooled="neu2a"), argument="pooled")


def test_the_order_of_the_pool_is_called_as_the_function_calls_it(messages):
    bare = RunSet.from_frames({"a": FRAME.drop(columns="rank")})
    messages.refused(lambda: ptr.leave_out_uniques(bare, QRELS, AP, by="run", pool_order="rank"), argument="pool_order")
    messages.refused(lambda: ptr.depth_pool(bare, order="rank"), argument="order")
