"""Judgments that a command is given: a file, or the name of a collection."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr
from pt_reuse.collections.provider import DemoDataset


@pytest.fixture
def mine(tmp_path):
    """Return a run of one's own on the topics of the demo."""
    demo = DemoDataset().get_runs(names="lumen-minilm-desc")["lumen-minilm-desc"]
    return ptr.RunSet.from_frames({"mine": demo.drop(columns="name")}).write(tmp_path / "mine")[0]


@pytest.mark.parametrize("name", ["demo", "reuse:demo", "demo:pool"])
def test_a_run_of_ones_own_is_judged_by_a_collection(name, mine, capsys):
    status, out, err = run(capsys, "unjudged", mine, "--qrels", name, "--cutoff", "10")
    assert (status, err) == (0, "")
    runs = ptr.read_runs([mine])
    expected = ptr.score(runs, DemoDataset().get_judgments(), ptr.Unjudged @ 10).mean["Unjudged@10"].iloc[0]
    assert expected > 0
    assert f"largest {expected:.1%} (mine: " in out


def test_a_file_comes_before_a_collection(mine, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").write_text("1 0 ENC-001 1\n1 0 ENC-002 0\n")
    assert run(capsys, "unjudged", mine, "--qrels", "demo", "--out", "out")[0] == 0
    assert pd.read_csv("out/by_topic.csv")["qid"].unique().tolist() == [1]


def test_an_alias_is_told_and_brings_what_is_relevant(tmp_path, definition, user_home, capsys):
    (user_home / "collections").mkdir(parents=True)
    (user_home / "collections" / "sim.toml").write_text("rel = 2\n" + definition)
    status, out, err = run(capsys, "score", tmp_path / "runs", "--qrels", "Mine/Sim", "--measures", "AP(rel=2)")
    assert (status, err) == (0, "pt-reuse: Mine/Sim is mine/sim.\n")
    assert "AP(rel=2)" in out
    _, out, _ = run(capsys, "score", tmp_path / "runs", "--qrels", user_home / "collections" / "sim.toml")
    assert "the best by AP(rel=2) first" in out
