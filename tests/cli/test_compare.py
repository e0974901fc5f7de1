"""`pt-reuse compare`: what is named on the command line."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr
from pt_reuse.collections.provider import DemoDataset


@pytest.fixture
def files(tmp_path, field):
    """Return a folder with runs and two sets of judgments: those of the pool, and of every document retrieved."""
    field.runs.write(tmp_path / "runs")
    field.all_qrels.write(tmp_path / "all.txt")
    field.qrels.write(tmp_path / "pool.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path


@pytest.fixture
def given(files):
    runs = [files / "runs", "--metadata", files / "runs.csv"]
    return ["compare", *runs, "--qrels", files / "all.txt", "--other", files / "pool.txt"]


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_topics_are_told_in_words_of_the_shell(given, files, field, capsys, messages):
    field.qrels.select(field.qrels.topics[:3]).write(files / "pool.txt", overwrite=True)
    status, _, err = run(capsys, *given)
    assert status == 0
    messages.told(err)
    status, _, err = run(capsys, *given, "--topics", "own", "--resamples", 5)
    assert status == 2
    messages.told(err)
    status, _, err = run(capsys, *given, "--topics", "all")
    assert status == 2
    messages.told(err)


@pytest.mark.parametrize("names", ["one", "same,same", "a,b,c", ""])
def test_names_that_are_no_two(names, given, capsys, messages):
    status, out, err = run(capsys, *given, f"--judgment-names={names}")
    assert (status, out) == (2, "")
    messages.told(err)


def test_a_collection_and_its_complete_judgments(capsys, tmp_path):
    words = ["compare", "--collection", "demo", "--qrels", "demo:complete", "--other", "demo", "--measures", "AP"]
    status, out, _ = run(capsys, *words, "--out", tmp_path)
    assert status == 0
    demo = DemoDataset()
    expected = ptr.compare_judgments(
        demo.get_runs(), demo.get_judgments("complete"), demo.get_judgments(), "AP", names=("demo:complete", "demo")
    )
    assert f"{expected.headline()}." in out
    pd.testing.assert_frame_equal(ptr.read_result(tmp_path).table, expected.table)
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "scores-AP.png", "topics-AP.png", "remainder.png", "relevant.png", "runs.png",
    }  # fmt: skip
