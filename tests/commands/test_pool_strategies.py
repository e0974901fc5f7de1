"""`pt-reuse pool --strategy`, compared with the pools of the functions."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr
from pt_reuse.commands.pool_strategies import STRATEGIES

DEPTH = 4


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path


def pool(files, *more):
    return ["pool", files / "runs", "--metadata", files / "runs.csv", "--depth", DEPTH, *more]


MADE = {
    "depth": ([], lambda runs: ptr.depth_pool(runs, depth=DEPTH)),
    "take": (["--n", 3], lambda runs: ptr.take_pool(runs, n=3, depth=DEPTH)),
    "rrf": (["--n", 3, "--k", 1], lambda runs: ptr.fusion_pool(runs, n=3, k=1, depth=DEPTH)),
    "rbp": (
        ["--n", 9, "--per", "all", "--p", 0.5],
        lambda runs: ptr.fusion_pool(runs, n=9, per="all", method="rbp", p=0.5, depth=DEPTH),
    ),
    "combsum": (
        ["--n", 9, "--per", "all", "--norm", "zmuv"],
        lambda runs: ptr.fusion_pool(runs, n=9, per="all", method="combsum", norm="zmuv", depth=DEPTH),
    ),
    "combmnz": (["--n", 3], lambda runs: ptr.fusion_pool(runs, n=3, method="combmnz", depth=DEPTH)),
    "borda": (["--n", 0], lambda runs: ptr.fusion_pool(runs, n=0, method="borda", depth=DEPTH)),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_makes_the_pool_of_its_function(strategy, files, field, capsys):
    more, make = MADE[strategy]
    expected, out = make(field.runs), files / "out"
    arguments = [*more, "--strategy", strategy, "--qrels", files / "qrels.txt", "--out", out]
    status, printed, err = run(capsys, *pool(files, *arguments))
    assert (status, err) == (0, "")
    written = pd.read_csv(out / "pool.csv", dtype={"qid": str})
    frame = expected.to_frame()
    if strategy == "depth":  # which says nothing of an order
        written, frame = (table.sort_values(["qid", "docno"]) for table in (written, frame))
    assert written[["qid", "docno"]].to_numpy().tolist() == frame[["qid", "docno"]].to_numpy().tolist()
    assert written.columns.tolist() == frame.columns.tolist()
    if "priority" in frame:
        assert written["priority"].tolist() == pytest.approx(frame["priority"].tolist())
    topics = pd.read_csv(out / "by_topic.csv", dtype={"qid": str})
    assert topics.to_numpy().tolist() == expected.counts(field.qrels).to_numpy().tolist()
    assert topics.columns.tolist() == ["qid", "documents", "judged", "to_judge"]
    kept = json.loads((out / "settings.json").read_text())
    assert {name: kept[name] for name in expected.settings} == json.loads(json.dumps(expected.settings))
    assert f"The pool: {len(expected)} documents of" in printed


def test_what_was_cut_is_said(files, capsys):
    _, out, _ = run(capsys, *pool(files, "--strategy", "rrf", "--n", 1200, "--per", "all"))
    assert "It has the 1,200 best of all topics together by reciprocal rank fusion. The depth, 4, is given." in out
    _, out, _ = run(capsys, *pool(files, "--strategy", "take", "--n", 2))
    assert "It has the 2 best of each topic by best rank. The depth, 4, is given." in out
    _, out, _ = run(capsys, *pool(files))
    assert "It has" not in out


@pytest.mark.parametrize(
    "wrong",
    [
        ["--strategy", "rff", "--n", 3],
        ["--strategy", "rrf"],
        ["--n", 3],
        ["--strategy", "take", "--n", -1],
        ["--strategy", "take", "--n", 3, "--per", "topics"],
        ["--strategy", "take", "--n", 3, "--k", 60],
        ["--strategy", "rbp", "--n", 3, "--p", 1],
        ["--strategy", "combsum", "--n", 3, "--norm", "minmax"],
    ],
)
def test_wrong_options_are_told_before_runs_are_read(wrong, tmp_path, capsys, messages):
    (tmp_path / "a.run").write_text("no run line\n")
    status, out, err = run(capsys, "pool", tmp_path / "a.run", *wrong)
    assert (status, out) == (2, "")
    messages.told(err)
