"""Faults of frames in memory and of calls on runs and judgments, with the exact message."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from faults import FRAME, LABELS, put

from pt_reuse.data.judgments import Qrels, read_qrels
from pt_reuse.data.run_set import RunSet


def frames(**changes):
    return lambda d: RunSet.from_frames({"a": FRAME.assign(**changes)})


IN_MEMORY = {
    "missing qrels": lambda d: read_qrels(d / "no"),
    "qrels are a folder": lambda d: read_qrels(d),
    "qrels None": lambda d: read_qrels(None),
    "frames None": lambda d: RunSet.from_frames(None),
    "frames 5": lambda d: RunSet.from_frames(5),
    "frames set": lambda d: RunSet.from_frames({"a"}),
    "frames list": lambda d: RunSet.from_frames([FRAME]),
    "one frame": lambda d: RunSet.from_frames(FRAME),
    "no frames": lambda d: RunSet.from_frames({}),
    "a frame is None": lambda d: RunSet.from_frames({"a": None}),
    "names that are one": lambda d: RunSet.from_frames({1: FRAME, "1": FRAME}),
    "an empty run name": lambda d: RunSet.from_frames({"": FRAME}),
    "half a character in a run name": lambda d: RunSet.from_frames({"\ud800": FRAME}),
    "no score": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno"]]}),
    "no rank": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno", "score"]]}, order="rank"),
    "two columns score": lambda d: RunSet.from_frames({"a": pd.concat([FRAME, FRAME[["score"]]], axis=1)}),
    "qid is missing": frames(qid=["1", None]),
    "docno is missing": frames(docno=[np.nan, "d"]),
    "qid 1.0": frames(qid=[1.0, 2.0]),
    "an empty docno": frames(docno=["a", ""]),
    "NUL in a docno": frames(docno=["a", "b\0"]),
    "half a character": frames(docno=pd.Series(["a", "\ud800"], dtype=object)),
    **{
        f"score {shown}": frames(score=scores)
        for shown, scores in {
            "nan": [1, np.nan],
            "inf": [1, np.inf],
            "'x'": ["1", "x"],
            "'1_0'": ["1", "1_0"],
            "'nan'": ["1", "nan"],
            "None": pd.Series([1, None], dtype=object),
            "<NA>": pd.array([1, None], dtype="Int64"),
            "1j": pd.Series([1, 1j], dtype=object),
            "1" + "0" * 76 + "...": pd.Series([1, 10**400], dtype=object),
            "Timestamp('2021-01-01 00:00:00')": pd.Series([1, pd.Timestamp("2021")], dtype=object),
        }.items()
    },
    "a document twice": frames(docno="a"),
    "tied ranks": lambda d: RunSet.from_frames({"a": FRAME.assign(rank=1)}, order="rank"),
    "a rank is missing": lambda d: RunSet.from_frames({"a": FRAME.assign(rank=[1, np.nan])}, order="rank"),
    "order": lambda d: RunSet.from_frames({"a": FRAME}, order="x"),
    "pipelines None": lambda d: RunSet.from_pipelines(None, FRAME),
    "a pipeline 5": lambda d: RunSet.from_pipelines({"a": 5}, FRAME),
    "topics None": lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, None),
    "topics without qid": lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME[["docno"]]),
    "batch_size 0": lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME, batch_size=0),
    "Qrels None": lambda d: Qrels(None),
    "Qrels path": lambda d: Qrels("x"),
    "no label": lambda d: Qrels(LABELS[["qid", "docno"]]),
    "a label is missing": lambda d: Qrels(LABELS.assign(label=[1, np.nan])),
    "a label between": lambda d: Qrels(LABELS.assign(label=[1, 0.5])),
    "a label too large": lambda d: Qrels(LABELS.assign(label=[1, 32768])),
    "two labels": lambda d: Qrels(LABELS.assign(docno="a")),
    "topics are a text": lambda d: Qrels(LABELS, topics="401"),
}


# fault of a RunSet: the argument or the place that the error names
ARGUMENTS = {
    **dict.fromkeys(["frames None", "frames 5", "frames set", "frames list", "one frame", "no frames"], "frames"),
    **dict.fromkeys(["names that are one", "an empty run name"], "frames"),
    **dict.fromkeys(["pipelines None", "a pipeline 5"], "pipelines"),
    **dict.fromkeys(["topics None", "topics without qid"], "topics"),
    "batch_size 0": "batch_size",
    "order": "order",
    "pool_order": "pool_order",
    **dict.fromkeys(["unite with itself", "unite with 5", "unite two orders", "unite two orders of pools"], "other"),
    **dict.fromkeys(["restrict to a text", "restrict to None", "restrict to strangers"], "docnos"),
    **dict.fromkeys(["reorder by x", "reorder by rank without ranks", "reorder by tied ranks"], "order"),
    **dict.fromkeys(["reorder by missing ranks", "the pool's order by rank"], "order"),
    "units without types": "by",
    **dict.fromkeys(["write where a file is", "write into a file"], "folder"),
}
PLACES = {
    **dict.fromkeys(["a frame is None", "no score", "no rank", "two columns score", "qid 1.0"], "run 'a'"),
    **dict.fromkeys(["an empty docno", "NUL in a docno", "half a character"], "run 'a'"),
    **{fault: "run 'a'" for fault in IN_MEMORY if fault.startswith("score ")},
    **dict.fromkeys(["tied ranks", "a rank is missing"], "run 'a'"),
    "qid is missing": "run 'a', row 1",
    "docno is missing": "run 'a', row 0",
    **dict.fromkeys(["reorder by tied ranks", "reorder by missing ranks", "the pool's order by rank"], "run 'b'"),
    "a docno too long for a frame": "run 'b'",
}


@pytest.mark.parametrize("fault", IN_MEMORY)
def test_in_memory(fault, messages, tmp_path):
    call = IN_MEMORY[fault]
    messages.refused(lambda: call(tmp_path), argument=ARGUMENTS.get(fault), place=PLACES.get(fault))


RUNS = RunSet.from_frames({"a": FRAME, "b": FRAME.assign(docno=["a", "c"])}, teams={"a": "A", "b": "B"})
JUDGED = Qrels(LABELS)
CALLS = {
    "an unknown run": lambda d: RUNS["c"],
    "a run 5": lambda d: RUNS[5],
    "select a name": lambda d: RUNS.select("aa"),
    "select a team": lambda d: RUNS.select(team="C"),
    "select a type": lambda d: RUNS.select(type="x"),
    "select 5": lambda d: RUNS.select(5),
    "select pooled": lambda d: RUNS.select(pooled="yes"),
    "select leaves none": lambda d: RUNS.select("a", team="B"),
    "unite with itself": lambda d: RUNS | RUNS,
    "unite with 5": lambda d: RUNS | 5,
    "unite two orders": lambda d: RUNS.select("a") | RUNS.select("b").reorder("trec_eval9"),
    "restrict to a text": lambda d: RUNS.restrict("a"),
    "restrict to None": lambda d: RUNS.restrict(None),
    "restrict to strangers": lambda d: RUNS.restrict(["z"]),
    "reorder by rank without ranks": lambda d: RunSet.from_frames({"b": FRAME.drop(columns="rank")}).reorder("rank"),
    "reorder by tied ranks": lambda d: RunSet.from_frames({"b": FRAME.assign(rank=1)}).reorder("rank"),
    "reorder by missing ranks": lambda d: RunSet.from_frames({"b": FRAME.assign(rank=[None, 1])}).reorder("rank"),
    "the pool's order by rank": lambda d: RunSet.from_frames(
        {"b": FRAME.assign(rank="x")}, pool_order="rank"
    ).in_pool_order(),
    "unite two orders of pools": lambda d: (
        RunSet.from_frames({"x": FRAME}, pool_order="file") | RunSet.from_frames({"y": FRAME}, pool_order="rank")
    ),
    "pool_order": lambda d: RunSet.from_frames({"a": FRAME}, pool_order="x"),
    "a docno too long for a frame": lambda d: RunSet.from_frames({"b": FRAME.assign(docno=["a", "é" * 600])}),
    "reorder by x": lambda d: RUNS.reorder("x"),
    "units without types": lambda d: RUNS.units("type"),
    "write where a file is": lambda d: RUNS.write(d, compress=False),
    "write into a file": lambda d: RUNS.write(d / "input.a"),
    "write to None": lambda d: RUNS.write(None),
    "write a name with a slash": lambda d: RunSet.from_frames({"a/b": FRAME}).write(d),
    "write a name with a blank": lambda d: RunSet.from_frames({"a b": FRAME}).write(d),
    "write a docno with a blank": lambda d: RunSet.from_frames({"a": FRAME.assign(docno=["a b", "c"])}).write(d),
    "write a topic with a tab": lambda d: RunSet.from_frames({"a": FRAME.assign(qid="1\t2")}).write(d),
    "write an empty run": lambda d: RunSet.from_frames({"b": FRAME, "c": FRAME.iloc[:0]}).write(d),
    "judgments that differ": lambda d: JUDGED | Qrels(LABELS.assign(label=[0, 0])),
    "conflict": lambda d: JUDGED.union(JUDGED, conflict="x"),
    "judgments and 5": lambda d: JUDGED | 5,
    "share": lambda d: JUDGED.sample(2, seed=1),
    "share nan": lambda d: JUDGED.sample(np.nan, seed=1),
    "seed": lambda d: JUDGED.sample(0.5, seed=None),
    "select a topic": lambda d: JUDGED.select(["9"]),
    "select topics 5": lambda d: JUDGED.select(5),
    "threshold": lambda d: JUDGED.threshold(0),
    "write over judgments": lambda d: JUDGED.write(d / "input.a"),
    "write judgments nowhere": lambda d: JUDGED.write(d / "x" / "y"),
    "write no judgments": lambda d: Qrels(LABELS.iloc[:0], topics=["1"]).write(d / "new"),
    "write a judged docno with a blank": lambda d: Qrels(LABELS.assign(docno=["a b", "c"])).write(d / "new"),
}


@pytest.mark.parametrize("fault", CALLS)
def test_call(fault, messages, tmp_path):
    put(tmp_path, {"input.a": b"mine"})
    call = CALLS[fault]
    messages.refused(lambda: call(tmp_path), argument=ARGUMENTS.get(fault), place=PLACES.get(fault))
    # nothing was written, no temporary file is left
    assert [path.name for path in tmp_path.iterdir()] == ["input.a"]
    assert (tmp_path / "input.a").read_bytes() == b"mine"


def test_a_name_too_long_for_a_file(messages, tmp_path):
    name = "a" * 300
    messages.hidden[name] = "{name}"
    messages.refused(lambda: RunSet.from_frames({name: FRAME}).write(tmp_path), argument="folder")
