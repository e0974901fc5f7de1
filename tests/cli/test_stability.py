"""`pt-reuse profile stability`, compared with the library."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import lines_of_table, run
from same import assert_same

import pt_reuse as ptr
from pt_reuse.scoring.scores import Scores


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs", compress=False)
    field.qrels.write(tmp_path / "qrels.txt")
    field.all_qrels.write(tmp_path / "all.txt")
    return tmp_path


@pytest.fixture
def scores(files):
    runs = ptr.read_runs(files / "runs")
    return {name: ptr.score(runs, files / name, ["AP", "P@5"]) for name in ("qrels.txt", "all.txt")}


def call(files, *more):
    return (
        "profile stability",
        files / "runs",
        "--qrels",
        files / "qrels.txt",
        "--measures",
        "AP,P@5",
        "--pairs",
        "50",
        *more,
    )


def test_rates_are_those_of_the_function(files, scores, capsys):
    status, printed, err = run(capsys, *call(files, "--sizes", "3,5", "--out", files / "out"))
    assert (status, err) == (0, "")
    expected = ptr.profile.stability({"qrels.txt": scores["qrels.txt"]}, sizes=[3, 5], pairs=50)
    assert_same(ptr.read_result(files / "out").table, expected.table)
    assert pd.read_csv(files / "out" / "differences.csv")["size"].tolist() == [3, 5, 3, 5]
    assert {path.name for path in (files / "out").iterdir()} == {
        "table.csv", "differences.csv", "topics.csv", "settings.json", "result.json", "swaps-AP.png", "swaps-P@5.png",
    }  # fmt: skip
    lines = lines_of_table(printed)
    rows = expected.differences_needed().query("measure == 'AP'")
    for row in rows.to_dict("records"):
        assert [str(row["size"]), f"{row['rate']:.4f}"] in [line[:2] for line in lines]
    assert expected.headline() in " ".join(printed.split())


def test_other_judgments_stand_beside(files, scores, capsys):
    given = ["--other", files / "all.txt", "--sizes", "2", "--no-replace", "--resamples", "4", "--confidence", ".5"]
    given += ["--bins", "5", "--bin-width", ".05", "--seed", "3", "--rate", ".2", "--jobs", "2", "--measures", "P@5"]
    status, printed, _ = run(capsys, *call(files, *given, "--out", files / "out"))
    assert status == 0
    scores = {name: Scores.from_frame(found.per_topic.query("measure == 'P@5'")) for name, found in scores.items()}
    expected = ptr.profile.stability(
        scores, sizes=2, pairs=50, replace=False, resamples=4, confidence=0.5, bins=5, bin_width=0.05, seed=3
    )
    assert_same(ptr.read_result(files / "out").table, expected.table)
    assert (files / "out" / "swaps-2-P@5.png").exists()
    assert "at most 20 % of the pairs" in (said := " ".join(printed.split()))
    assert "The intervals are of the rate of each bin: in table.csv" in said


def test_judgments_of_one_name_are_numbered(files, capsys):
    status, printed, _ = run(capsys, *call(files, "--other", files / "qrels.txt", "--sizes", "5"))
    assert status == 0
    assert "qrels.txt (1)" in printed
    assert "qrels.txt (2)" in printed


@pytest.mark.parametrize(
    "given", ["--pairs 0", "--sizes 9 --no-replace", "--bins 200", "--rate 2", "--seed -1", "--jobs 0", "--bin-width 0"]
)
def test_what_cannot_be_asked(given, files, capsys):
    status, _, err = run(capsys, *call(files, *given.split()))
    assert status == 2
    assert f"{given.split()[0]}" in err
