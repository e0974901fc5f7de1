"""What is given as runs or as judgments and is none of the kind, with the exact message; and the edges of each form."""

from __future__ import annotations

import ir_measures
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
    "pipelines": {"bm25": IDENTITY, "dense": IDENTITY},
    "a pipeline among results": {"bm25": FRAME, "dense": IDENTITY},
    "a run without its name": FRAME,
    "a dict without its name": NESTED,
    "a frame of other things": pd.DataFrame({"x": [1]}),
    "a name that is missing": FRAME.assign(name=["bm25", None]),
    "no column of scores": {"bm25": FRAME[["qid", "docno"]]},
    "judgments by name": {"bm25": JUDGED},
    "an iterator that was used up": {"bm25": iter([])},
    "a document twice": {"bm25": TUPLES * 2},
    "a score that is none": {"bm25": [ir_measures.ScoredDoc("1", "a", None)]},
    "no file": "nowhere",
}


@pytest.mark.parametrize("given", NO_RUNS)
def test_what_is_no_runs(given, messages):
    messages.refused(lambda: ptr.depth_pool(NO_RUNS[given]))


SWAPPED = {
    "a Qrels and a RunSet": (QRELS, RUNS),
    "a frame and a RunSet": (LABELS, RUNS),
    "a frame and a dict": (LABELS, {"bm25": FRAME}),
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
    "an iterator that was used up": iter([]),
    "labels that are none": {"1": {"a": 0.5}},
    "two labels": [*JUDGED, ir_measures.Qrel("1", "b", 1)],
    "no column of labels": LABELS[["qid", "docno"]],
}


@pytest.mark.parametrize("given", NO_JUDGMENTS)
def test_what_is_no_judgments(given, messages):
    messages.refused(lambda: ptr.score(RUNS, NO_JUDGMENTS[given], AP))


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


def test_a_topic_without_judgments_stays_a_topic():
    # as pytrec_eval has it: a mean over both topics
    nested = {"1": {"a": 1}, "2": {}}
    assert as_qrels(nested).topics == ["1", "2"]
    mine = ptr.score({"bm25": TUPLES}, nested, AP).mean["AP"].tolist()
    assert mine == [ir_measures.pytrec_eval.calc_aggregate([AP], nested, NESTED)[AP]] == [0.5]
