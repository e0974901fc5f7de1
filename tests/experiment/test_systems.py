"""Each system runs once, and what it retrieved is saved and read as in pt.Experiment."""

from __future__ import annotations

import pickle

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import (
    FIELD,
    OTHERS,
    QRELS,
    TOPICS,
    Retriever,
    Shift,
    assert_same,
    recorded,
    retrievers,
)
from ir_measures import AP, NumRet, P

import pt_reuse as ptr


@pytest.mark.parametrize(
    "arguments", [{}, {"perquery": "both"}, {"plan": "tree", "verbose": False}, {"reuse": "unjudged"}]
)
def test_each_pipeline_runs_once(arguments):
    systems = retrievers()
    ptr.Experiment(systems, TOPICS, QRELS, [AP, NumRet], field=OTHERS, depth=8, **arguments)
    assert [system.calls for system in systems.values()] == [1, 1, 1]
    assert all(system.asked == TOPICS["qid"].tolist() for system in systems.values())


@pytest.mark.parametrize("arguments", [{"plan": "tree", "verbose": False}, {"precompute_prefix": True}])
@pytest.mark.parametrize("batch_size", [None, 3])
def test_shared_prefixes_run_once(arguments, batch_size):
    def pipelines():
        first = Retriever(FIELD.runs["lex1a"])
        return first, {
            "first": first,
            "two": first >> Shift(2),
            "five": first >> Shift(5),
            "twice": first >> Shift(5) % 9,
        }

    plain, theirs = pipelines()
    expected, _, _ = recorded(pt.Experiment, theirs, TOPICS, QRELS, [AP, P @ 3], batch_size=batch_size, **arguments)
    first, systems = pipelines()
    result, _, warned = recorded(
        ptr.Experiment, systems, TOPICS, QRELS, [AP, P @ 3], batch_size=batch_size, **arguments
    )
    assert_same(result, expected)
    assert warned == []
    assert first.calls == plain.calls == (1 if batch_size is None else 2)
    assert result["P@3 rank"].min() == 1


# saving

FORMATS = {
    "trec": "trec",
    "pickle": pickle,
    "functions": (lambda file: pd.read_pickle(file), lambda frame, file: frame.to_pickle(file)),
}


@pytest.mark.parametrize("save_format", FORMATS.values(), ids=FORMATS)
def test_saved_results_are_read_and_not_made_again(save_format, tmp_path):
    theirs_dir, ours_dir = tmp_path / "theirs", tmp_path / "ours"
    theirs_dir.mkdir()
    ours_dir.mkdir()
    pt.Experiment(retrievers(), TOPICS, QRELS, [AP], save_dir=str(theirs_dir), save_format=save_format)
    first = ptr.Experiment(retrievers(), TOPICS, QRELS, [AP], save_dir=str(ours_dir), save_format=save_format)
    theirs = {path.name for path in theirs_dir.iterdir()}
    assert {path.name for path in ours_dir.iterdir()} == {*theirs, "reuse-aggregated.csv", "reuse-perquery.csv"}
    assert (ours_dir / "aggregated.csv").read_text() == (theirs_dir / "aggregated.csv").read_text()
    systems = retrievers()
    again = ptr.Experiment(systems, TOPICS, QRELS, [AP], save_dir=ours_dir, save_format=save_format, save_mode="reuse")
    assert [system.calls for system in systems.values()] == [0, 0, 0]
    pd.testing.assert_frame_equal(again, first)
