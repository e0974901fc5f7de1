"""What is given as runs or as judgments and is none of the kind, with the exact message; and the edges of each form."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pyterrier as pt
import pytest
from faults import FRAME, LABELS, OTHER, RUN, put
from ir_measures import AP

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_set import RunSet, as_runs

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


def test_what_is_no_runs(messages):
    for odd in NO_RUNS.values():
        messages.refused(lambda odd=odd: ptr.depth_pool(odd))


SWAPPED = {
    "a Qrels and a RunSet": (QRELS, RUNS),
    "a frame and a RunSet": (LABELS, RUNS),
    "a frame and a dict": (LABELS, {"bm25": FRAME}),
    "tuples and a dict": (JUDGED, {"bm25": TUPLES}),
    "two sets of judgments": (QRELS, LABELS),
}


def test_runs_and_judgments_that_change_places(messages):
    for function, more in ((ptr.score, [AP]), (ptr.leave_out_uniques, [AP]), (ptr.infer_pool, [])):
        for pair in SWAPPED.values():
            messages.refused(lambda f=function, every=(*pair, *more): f(*every), argument="runs")


NO_JUDGMENTS = {
    "a RunSet": RUNS,
    "results": FRAME,
    "results by name": {"bm25": FRAME},
    "an iterator that was used up": iter([]),
    "labels that are none": {"1": {"a": 0.5}},
    "two labels": [*JUDGED, ir_measures.Qrel("1", "b", 1)],
    "no column of labels": LABELS[["qid", "docno"]],
}


def test_what_is_no_judgments(messages):
    for odd in NO_JUDGMENTS.values():
        messages.refused(lambda odd=odd: ptr.score(RUNS, odd, AP))


def test_runs_are_united_in_the_order_of_the_first():
    ranked = FRAME.assign(score=[1.0, 2.0])
    mine = RunSet.from_frames({"bm25": ranked}, order="file")
    both = mine | {"dense": ranked}
    assert both.order == "file"
    assert both["dense"]["docno"].tolist() == ranked["docno"].tolist()
    assert as_runs({"dense": ranked})["dense"]["docno"].tolist() == ranked["docno"].tolist()[::-1]


def test_a_topic_without_judgments_stays_a_topic(messages):
    # as pytrec_eval has it: a mean over both topics
    nested = {"1": {"a": 1}, "2": {}}
    assert as_qrels(nested).topics == ["1", "2"]
    found = messages.warned(lambda: ptr.score({"bm25": TUPLES}, nested, AP))
    assert found.settings["beware"] == "1 run without 1 topic of the judgments"
    assert found.mean["AP"].tolist() == [ir_measures.pytrec_eval.calc_aggregate([AP], nested, NESTED)[AP]] == [0.5]


# arguments of reading runs are judged before a file is read, or a pipeline run, as far as they can be


def reached(*_, **__):
    pytest.fail("the arguments were to be judged before")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    put(tmp_path, {"r/bm25": RUN, "r/dense": OTHER, "blank": b"\n"})
    monkeypatch.setattr("pt_reuse.data.run_files.parse_files", reached)
    for long in ("parse_files", "fingerprints"):
        monkeypatch.setattr(f"pt_reuse.data.store.{long}", reached)
    return tmp_path / "r"


def test_from_pipelines_labels_and_orders_as_from_frames_does():
    given = {"teams": {"a": "A"}, "pooled": (name for name in ["a"]), "order": "file", "pool_order": "rank"}
    runs = RunSet.from_pipelines({"a": pt.Transformer.from_df(FRAME)}, FRAME[["qid"]].drop_duplicates(), **given)
    assert runs.run_table.values.tolist() == [["a", "A", None, True]]
    assert (runs.order, runs.pool_order) == ("file", "rank")


# gzip files of any make, against Python's own reader


def test_a_run_file_by_name_keeps_its_lines_and_its_rank_column(tmp_path):
    (tmp_path / "theirs").write_text("1 Q0 a 2 0.5 t\n1 Q0 b 1 0.4 t\n1 Q0 c 3 0.9 t\n")
    runs = as_runs({"mine": str(tmp_path / "theirs"), "again": tmp_path / "theirs", "bm25": FRAME})
    assert runs.names == ["mine", "again", "bm25"]
    orders = {order: runs.select(["mine", "again"]).reorder(order) for order in ("trec_eval", "rank", "file")}
    for name in ("mine", "again"):
        ranked = {order: "".join(found[name]["docno"]) for order, found in orders.items()}
        assert ranked == {"trec_eval": "cab", "rank": "bac", "file": "abc"}


def test_what_is_no_run_file_by_name(messages, tmp_path):
    for name in ("good", "other"):
        (tmp_path / name).write_text("1 Q0 a 1 0.5 t\n")
    (tmp_path / "bad").write_text("1 a\n")
    for path in (tmp_path, tmp_path / "nowhere"):
        messages.refused(lambda path=path: as_runs({"mine": path}), place="run 'mine'")
    error = messages.refused(lambda: as_runs({"mine": tmp_path / "bad", "good": tmp_path / "good"}))
    assert error.place == f"{tmp_path / 'bad'}, line 1"
    as_runs([tmp_path / "good", tmp_path / "other"][:1]).write_table(tmp_path / "one.parquet")
    assert as_runs({"mine": tmp_path / "one.parquet"}).names == ["mine"]
    RunSet.from_frames({"a": FRAME, "b": FRAME}).write_table(tmp_path / "two.parquet")
    messages.refused(lambda: as_runs({"mine": tmp_path / "two.parquet"}), place="{d}/two.parquet")
