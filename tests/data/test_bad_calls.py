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
    "frames list": lambda d: RunSet.from_frames([FRAME]),
    "one frame": lambda d: RunSet.from_frames(FRAME),
    "a frame is None": lambda d: RunSet.from_frames({"a": None}),
    "an empty run name": lambda d: RunSet.from_frames({"": FRAME}),
    "half a character in a run name": lambda d: RunSet.from_frames({"\ud800": FRAME}),
    "no score": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno"]]}),
    "no rank": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno", "score"]]}, order="rank"),
    "qid is missing": frames(qid=["1", None]),
    "docno is missing": frames(docno=[np.nan, "d"]),
    "qid 1.0": frames(qid=[1.0, 2.0]),
    "NUL in a docno": frames(docno=["a", "b\0"]),
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
    "topics without qid": lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME[["docno"]]),
    "Qrels None": lambda d: Qrels(None),
    "no label": lambda d: Qrels(LABELS[["qid", "docno"]]),
    "a label is missing": lambda d: Qrels(LABELS.assign(label=[1, np.nan])),
    "a label between": lambda d: Qrels(LABELS.assign(label=[1, 0.5])),
    "two labels": lambda d: Qrels(LABELS.assign(docno="a")),
}


# fault of a RunSet: the argument or the place that the error names
ARGUMENTS = {
    **dict.fromkeys(["frames list", "one frame", "an empty run name"], "frames"),
    "topics without qid": "topics",
    **dict.fromkeys(["unite with itself", "unite two orders", "unite two orders of pools"], "other"),
    "restrict to strangers": "docnos",
    **{fault: "order" for fault in ("reorder by rank without ranks", "reorder by tied ranks")},
    **dict.fromkeys(["reorder by missing ranks", "the pool's order by rank"], "order"),
    "units without types": "by",
    **dict.fromkeys(["write where a file is", "write into a file"], "folder"),
}
PLACES = {
    **dict.fromkeys(["a frame is None", "no score", "no rank", "qid 1.0", "NUL in a docno"], "run 'a'"),
    **{fault: "run 'a'" for fault in IN_MEMORY if fault.startswith("score ")},
    **dict.fromkeys(["tied ranks", "a rank is missing"], "run 'a'"),
    "qid is missing": "run 'a', row 1",
    "docno is missing": "run 'a', row 0",
    **dict.fromkeys(["reorder by tied ranks", "reorder by missing ranks", "the pool's order by rank"], "run 'b'"),
}


@pytest.mark.parametrize("fault", IN_MEMORY)
def test_in_memory(fault, messages, tmp_path):
    call = IN_MEMORY[fault]
    messages.refused(lambda: call(tmp_path), argument=ARGUMENTS.get(fault), place=PLACES.get(fault))


RUNS = RunSet.from_frames({"a": FRAME, "b": FRAME.assign(docno=["a", "c"])}, teams={"a": "A", "b": "B"})
JUDGED = Qrels(LABELS)
CALLS = {
    "an unknown run": lambda d: RUNS["c"],
    "select a name": lambda d: RUNS.select("aa"),
    "select a team": lambda d: RUNS.select(team="C"),
    "select leaves none": lambda d: RUNS.select("a", team="B"),
    "unite with itself": lambda d: RUNS | RUNS,
    "unite two orders": lambda d: RUNS.select("a") | RUNS.select("b").reorder("trec_eval9"),
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
    "units without types": lambda d: RUNS.units("type"),
    "write where a file is": lambda d: RUNS.write(d, compress=False),
    "write into a file": lambda d: RUNS.write(d / "input.a"),
    "write a name with a slash": lambda d: RunSet.from_frames({"a/b": FRAME}).write(d),
    "write a docno with a blank": lambda d: RunSet.from_frames({"a": FRAME.assign(docno=["a b", "c"])}).write(d),
    "write an empty run": lambda d: RunSet.from_frames({"b": FRAME, "c": FRAME.iloc[:0]}).write(d),
    "judgments that differ": lambda d: JUDGED | Qrels(LABELS.assign(label=[0, 0])),
    "select a topic": lambda d: JUDGED.select(["9"]),
    "threshold": lambda d: JUDGED.threshold(0),
    "write over judgments": lambda d: JUDGED.write(d / "input.a"),
    "write no judgments": lambda d: Qrels(LABELS.iloc[:0], topics=["1"]).write(d / "new"),
}


@pytest.mark.parametrize("fault", CALLS)
def test_call(fault, messages, tmp_path):
    put(tmp_path, {"input.a": b"mine"})
    call = CALLS[fault]
    messages.refused(lambda: call(tmp_path), argument=ARGUMENTS.get(fault), place=PLACES.get(fault))
    # nothing was written, no temporary file is left
    assert [path.name for path in tmp_path.iterdir()] == ["input.a"]
    assert (tmp_path / "input.a").read_bytes() == b"mine"
