"""Faults of frames in memory and of calls on runs and judgments, with the exact message."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from faults import FOUR, FRAME, FRAMES, LABELS, MAP, NO_ORDER, ORDERS, SPACES, WHOLE, check, put

from pt_reuse._errors import InputError
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.qrels.reading import read_qrels
from pt_reuse.runs.run_set import RunSet


def frames(**changes):
    return lambda d: RunSet.from_frames({"a": FRAME.assign(**changes)})


IN_MEMORY = {
    "missing qrels": (lambda d: read_qrels(d / "no"), "read_qrels: {d}/no: no such file."),
    "qrels are a folder": (
        lambda d: read_qrels(d),
        f"read_qrels: {{d}} is a folder. Give the qrels file, {FOUR}.",
    ),
    "qrels None": (lambda d: read_qrels(None), "read_qrels: expected the path of a qrels file, got None."),
    "frames None": (lambda d: RunSet.from_frames(None), f"{FRAMES} NoneType."),
    "frames 5": (lambda d: RunSet.from_frames(5), f"{FRAMES} int."),
    "frames set": (lambda d: RunSet.from_frames({"a"}), f"{FRAMES} set."),
    "frames list": (lambda d: RunSet.from_frames([FRAME]), f"{FRAMES} list."),
    "one frame": (lambda d: RunSet.from_frames(FRAME), f"{FRAMES} DataFrame."),
    "no frames": (lambda d: RunSet.from_frames({}), f"{FRAMES} an empty one."),
    "a frame is None": (lambda d: RunSet.from_frames({"a": None}), "run 'a': expected a DataFrame, got NoneType."),
    "names that are one": (
        lambda d: RunSet.from_frames({1: FRAME, "1": FRAME}),
        "RunSet.from_frames: '1' given more than once. Name each run by a text of its own.",
    ),
    "an empty run name": (
        lambda d: RunSet.from_frames({"": FRAME}),
        "RunSet.from_frames: '' cannot be a run name. Name each run by a text of its own.",
    ),
    "half a character in a run name": (
        lambda d: RunSet.from_frames({"\ud800": FRAME}),
        "RunSet.from_frames: '\\ud800' cannot be a run name; it must be text that UTF-8 can hold.",
    ),
    "no score": (
        lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno"]]}),
        "run 'a': the frame must have the columns 'qid', 'docno', 'score'; 'score' not among 'qid', 'docno'.",
    ),
    "no rank": (
        lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno", "score"]]}, order="rank"),
        "run 'a': the frame must have the columns 'qid', 'docno', 'score', 'rank'; 'rank' not among 'qid', 'docno', "
        "'score'.",
    ),
    "two columns score": (
        lambda d: RunSet.from_frames({"a": pd.concat([FRAME, FRAME[["score"]]], axis=1)}),
        "run 'a': the frame has more than one column 'score'. Drop or rename one.",
    ),
    "qid is missing": (frames(qid=["1", None]), "run 'a', row 1: the qid is missing. Fill it in or drop the row."),
    "docno is missing": (
        frames(docno=[np.nan, "d"]),
        "run 'a', row 0: the docno is missing. Fill it in or drop the row.",
    ),
    "qid 1.0": (
        frames(qid=[1.0, 2.0]),
        "run 'a': the qids must be text, got numbers such as 1.0, which could be written in more than one "
        "way. Read the "
        "column as text (dtype=str).",
    ),
    "an empty docno": (frames(docno=["a", ""]), "run 'a': '' cannot be a docno; it must be text without NUL bytes."),
    "NUL in a docno": (
        frames(docno=["a", "b\0"]),
        "run 'a': 'b\\x00' cannot be a docno; it must be text without NUL bytes.",
    ),
    "half a character": (
        frames(docno=pd.Series(["a", "\ud800"], dtype=object)),
        "run 'a': '\\ud800' cannot be a docno; it must be text that UTF-8 can hold.",
    ),
    **{
        f"score {shown}": (
            frames(score=scores),
            f"run 'a': the score of topic '1', document 'b' must be a finite number, got {shown}. Mend the "
            f"row or drop it.",
        )
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
    "a document twice": (
        frames(docno="a"),
        "RunSet.from_frames: run 'a' has document 'a' more than once for topic '1'. Mend the run, or pass "
        "duplicates='best' to keep its better-ranked occurrence.",
    ),
    "tied ranks": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(rank=1)}, order="rank"),
        f"run 'a': topic '1' has rank 1 twice, {NO_ORDER}",
    ),
    "a rank is missing": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(rank=[1, np.nan])}, order="rank"),
        "run 'a': the rank of topic '1', document 'b' must be a finite number, got nan. Mend the row or drop it.",
    ),
    "order": (
        lambda d: RunSet.from_frames({"a": FRAME}, order="x"),
        f"RunSet.from_frames: order must be one of {ORDERS}, got 'x'.",
    ),
    "pipelines None": (
        lambda d: RunSet.from_pipelines(None, FRAME),
        "RunSet.from_pipelines: pipelines must be a dict of run name -> pipeline, got NoneType.",
    ),
    "a pipeline 5": (
        lambda d: RunSet.from_pipelines({"a": 5}, FRAME),
        "RunSet.from_pipelines: 'a' must be a pipeline, got int.",
    ),
    "topics None": (
        lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, None),
        "RunSet.from_pipelines: topics must be a frame with qid and query, got NoneType.",
    ),
    "topics without qid": (
        lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME[["docno"]]),
        "RunSet.from_pipelines: topics must have the columns 'qid'; 'qid' not among 'docno'.",
    ),
    "batch_size 0": (
        lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME, batch_size=0),
        "RunSet.from_pipelines: batch_size must be a whole number of topics, at least 1, got 0.",
    ),
    "Qrels None": (lambda d: Qrels(None), "Qrels: expected a DataFrame, got NoneType. Use read_qrels for a file."),
    "Qrels path": (lambda d: Qrels("x"), "Qrels: expected a DataFrame, got str. Use read_qrels for a file."),
    "no label": (
        lambda d: Qrels(LABELS[["qid", "docno"]]),
        "Qrels: the frame must have the columns 'qid', 'docno', 'label'; 'label' not among 'qid', 'docno'.",
    ),
    "a label is missing": (
        lambda d: Qrels(LABELS.assign(label=[1, np.nan])),
        "Qrels, row 1: the label is missing. Fill it in or drop the row.",
    ),
    "a label between": (
        lambda d: Qrels(LABELS.assign(label=[1, 0.5])),
        f"Qrels: the label of topic '1', document 'b' {WHOLE} 0.5. {MAP}",
    ),
    "a label too large": (
        lambda d: Qrels(LABELS.assign(label=[1, 32768])),
        f"Qrels: the label of topic '1', document 'b' {WHOLE} 32768. {MAP}",
    ),
    "two labels": (
        lambda d: Qrels(LABELS.assign(docno="a")),
        "Qrels, rows 0 and 1: topic '1', document 'a' has label 1 and 0 (1 conflicting label in all). Keep "
        "one label per "
        "document; Qrels.union(conflict=...) merges two sets of judgments by a rule.",
    ),
    "topics are a text": (
        lambda d: Qrels(LABELS, topics="401"),
        "Qrels: topics must be several topic ids, got '401'.",
    ),
}


@pytest.mark.parametrize("fault", IN_MEMORY)
def test_in_memory(fault, tmp_path):
    call, message = IN_MEMORY[fault]
    check(tmp_path, call, message)


RUNS = RunSet.from_frames({"a": FRAME, "b": FRAME.assign(docno=["a", "c"])}, teams={"a": "A", "b": "B"})
JUDGED = Qrels(LABELS)
CALLS = {
    "an unknown run": (lambda d: RUNS["c"], "RunSet: no run 'c' among 'a', 'b'."),
    "a run 5": (lambda d: RUNS[5], "RunSet: no run 5 among 'a', 'b'."),
    "select a name": (lambda d: RUNS.select("aa"), "RunSet.select: no run 'aa' among 'a', 'b'. Did you mean 'a'?"),
    "select a team": (lambda d: RUNS.select(team="C"), "RunSet.select: no team 'C' among 'A', 'B'."),
    "select a type": (
        lambda d: RUNS.select(type="x"),
        "RunSet.select: no type 'x'; no run has a type. Give types= when reading the runs.",
    ),
    "select 5": (lambda d: RUNS.select(5), "RunSet.select: names must be a text or several, got 5."),
    "select pooled": (
        lambda d: RUNS.select(pooled="yes"),
        "RunSet.select: pooled must be True or False, got 'yes'.",
    ),
    "select leaves none": (
        lambda d: RUNS.select("a", team="B"),
        "RunSet.select: no run meets all conditions. See `runs.run_table` for what there is.",
    ),
    "unite with itself": (
        lambda d: RUNS | RUNS,
        "RunSet.union: 'a', 'b' in both fields. Rename or select before uniting.",
    ),
    "unite with 5": (lambda d: RUNS | 5, "RunSet.union: expected a RunSet, got int."),
    "unite two orders": (
        lambda d: RUNS.select("a") | RUNS.select("b").reorder("trec_eval9"),
        "RunSet.union: one field is ordered 'trec_eval', the other 'trec_eval9'. Call .reorder() on one of them.",
    ),
    "restrict to a text": (
        lambda d: RUNS.restrict("a"),
        "RunSet.restrict: docnos must be several document names, got one string.",
    ),
    "restrict to None": (
        lambda d: RUNS.restrict(None),
        "RunSet.restrict: docnos must be several document names, got NoneType.",
    ),
    "restrict to strangers": (
        lambda d: RUNS.restrict(["z"]),
        "RunSet.restrict: no run retrieves any of these documents. Are they docnos of this collection?",
    ),
    "reorder by rank": (
        lambda d: RUNS.reorder("rank"),
        "RunSet.reorder: 'rank' does not follow from the scores. Read the runs again with order='rank'.",
    ),
    "reorder by x": (lambda d: RUNS.reorder("x"), f"RunSet.reorder: order must be one of {ORDERS}, got 'x'."),
    "units without types": (
        lambda d: RUNS.units("type", "study"),
        "study: by='type' needs the type of every run; 2 runs without: 'a', 'b'. Give types= when reading the "
        "runs, or use "
        "by='run'.",
    ),
    "write where a file is": (
        lambda d: RUNS.write(d, compress=False),
        "RunSet.write: {d} has 'input.a' already. Pass overwrite=True to replace what is there.",
    ),
    "write into a file": (
        lambda d: RUNS.write(d / "input.a"),
        "RunSet.write: {d}/input.a cannot be written: File exists.",
    ),
    "write to None": (lambda d: RUNS.write(None), "RunSet.write: expected a path to write to, got None."),
    "write a name with a slash": (
        lambda d: RunSet.from_frames({"a/b": FRAME}).write(d),
        "RunSet.write: 'a/b' cannot be a file name. Rename the run first.",
    ),
    "write a name with a blank": (
        lambda d: RunSet.from_frames({"a b": FRAME}).write(d),
        f"RunSet.write: run name: 'a b' {SPACES}",
    ),
    "write a docno with a blank": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(docno=["a b", "c"])}).write(d),
        f"RunSet.write: docno: 'a b' {SPACES}",
    ),
    "write a topic with a tab": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(qid="1\t2")}).write(d),
        f"RunSet.write: topic: '1\\t2' {SPACES}",
    ),
    "write an empty run": (
        lambda d: RunSet.from_frames({"b": FRAME, "c": FRAME.iloc[:0]}).write(d),
        "RunSet.write: 'c' has no documents, and an empty file is no run. Leave it out: runs.select(...).",
    ),
    "judgments that differ": (
        lambda d: JUDGED | Qrels(LABELS.assign(label=[0, 0])),
        "Qrels.union: topic '1', document 'a' has label 1 and 0 (1 such document). Choose conflict='first', 'second', "
        "'higher' or 'lower'.",
    ),
    "conflict": (
        lambda d: JUDGED.union(JUDGED, conflict="x"),
        "Qrels.union: conflict must be one of 'error', 'first', 'second', 'higher', 'lower', got 'x'.",
    ),
    "judgments and 5": (
        lambda d: JUDGED | 5,
        "Qrels.union: qrels must be a Qrels, a DataFrame or a file, got int.",
    ),
    "share": (
        lambda d: JUDGED.sample(2, seed=1),
        "Qrels.sample: share must be a number between 0 and 1, got 2.",
    ),
    "share nan": (
        lambda d: JUDGED.sample(np.nan, seed=1),
        "Qrels.sample: share must be a number between 0 and 1, got nan.",
    ),
    "seed": (
        lambda d: JUDGED.sample(0.5, seed=None),
        "Qrels.sample: seed must be a whole number, 0 or more, got None.",
    ),
    "select a topic": (lambda d: JUDGED.select(["9"]), "Qrels.select: '9' not among the topics '1'."),
    "select topics 5": (lambda d: JUDGED.select(5), "Qrels.select: topics must be topic ids, got 5."),
    "threshold": (
        lambda d: JUDGED.threshold(0),
        "Qrels.threshold: rel must be a grade, a whole number of at least 1, got 0.",
    ),
    "write over judgments": (
        lambda d: JUDGED.write(d / "input.a"),
        "Qrels.write: {d}/input.a exists. Pass overwrite=True to replace it.",
    ),
    "write judgments nowhere": (
        lambda d: JUDGED.write(d / "x" / "y"),
        "Qrels.write: {d}/x/y cannot be written: No such file or directory.",
    ),
    "write no judgments": (
        lambda d: Qrels(LABELS.iloc[:0], topics=["1"]).write(d / "new"),
        "Qrels.write: there are no judgments, and an empty file is no qrels file.",
    ),
    "write a judged docno with a blank": (
        lambda d: Qrels(LABELS.assign(docno=["a b", "c"])).write(d / "new"),
        f"Qrels.write: docno: 'a b' {SPACES}",
    ),
}


@pytest.mark.parametrize("fault", CALLS)
def test_call(fault, tmp_path):
    call, message = CALLS[fault]
    put(tmp_path, {"input.a": b"mine"})
    check(tmp_path, call, message)
    # nothing was written, no temporary file is left
    assert [path.name for path in tmp_path.iterdir()] == ["input.a"]
    assert (tmp_path / "input.a").read_bytes() == b"mine"


def test_a_name_too_long_for_a_file(tmp_path):
    with pytest.raises(InputError, match=r"aaa\.gz cannot be written: File name too long\.$"):
        RunSet.from_frames({"a" * 300: FRAME}).write(tmp_path)
