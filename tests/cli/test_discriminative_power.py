"""`pt-reuse profile discriminative-power`, and intervals of `pt-reuse lou`, compared with the library."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import lines_of_table, run

import pt_reuse as ptr


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
    return [files / "runs", "--metadata", files / "runs.csv", "--qrels", files / "all.txt"]


def test_power_is_that_of_the_library(given, files, field, capsys):
    out = files / "out"
    options = ["--other", files / "pool.txt", "--correction", "none", "--alpha", ".2", "--out", out, "--all"]
    status, printed, err = run(capsys, "profile discriminative-power", *given, *options)
    assert (status, err) == (0, "")
    runs = ptr.read_runs(files / "runs", metadata=files / "runs.csv")
    judged = {"all.txt": field.all_qrels, "pool.txt": field.qrels}
    scores = {name: ptr.score(runs, qrels, ["AP", "nDCG@10"]) for name, qrels in judged.items()}
    expected = ptr.profile.discriminative_power(scores, correction="none", alpha=0.2)
    saved = ptr.read_result(out)
    for name, table in expected.tables().items():
        pd.testing.assert_frame_equal(saved.tables()[name], table)
    lines = lines_of_table(printed)
    for row in expected.table.to_dict("records"):
        shown = next(line for line in lines if line[:2] == [row["judgments"], row["measure"]])
        assert shown[2:5] == [str(row["pairs"]), str(row["significant"]), f"{row['power']:.4f}"]
    assert len(expected.changed) > 0
    for row in expected.changed.to_dict("records"):
        assert [row["measure"], row["first"], row["second"], row["verdict"]] in [line[:4] for line in lines]
    assert sorted(path.name for path in out.glob("*.png")) == ["levels-AP.png", "levels-nDCG@10.png"]


def test_one_set_of_judgments_and_a_test_that_draws(given, field, capsys):
    options = ["--test", "tukey", "--samples", "50", "--seed", "3", "--measures", "AP"]
    status, printed, err = run(capsys, "profile discriminative-power", *given, *options)
    assert (status, err) == (0, "")
    assert "samples=50, seed=3" in printed
    assert "correction=by the test itself" in printed
    assert "verdict" not in printed


@pytest.mark.parametrize(
    "options",
    [["--test", "z"], ["--correction", "sidak"], ["--test", "tukey", "--correction", "holm"], ["--alpha", "2"],
     ["--samples", "0"], ["--seed", "-1"]],
    ids=" ".join,
)  # fmt: skip
def test_refused_before_anything_is_read(options, capsys, tmp_path):
    (tmp_path / "a.run").write_text("no run\n")
    (tmp_path / "qrels").write_text("no judgments\n")
    given = [tmp_path / "a.run", "--qrels", tmp_path / "qrels"]
    status, printed, err = run(capsys, "profile discriminative-power", *given, *options)
    assert (status, printed) == (2, "")
    assert err.startswith(f"pt-reuse: {options[-2]} must be")


def test_intervals_of_leave_out_uniques(given, files, field, capsys):
    out, runs, *rest = files / "out", *given[:-1], files / "pool.txt"
    options = ["--depth", "5", "--resamples", "40", "--seed", "2", "--confidence", ".9", "--measures", "AP"]
    status, printed, err = run(capsys, "lou", "--runs", runs, *rest, *options, "--out", out)
    assert (status, err) == (0, "")
    field_runs = ptr.read_runs(files / "runs", metadata=files / "runs.csv")
    expected = ptr.leave_out_uniques(field_runs, field.qrels, "AP", depth=5, resamples=40, seed=2, confidence=0.9)
    pd.testing.assert_frame_equal(ptr.read_result(out).table, expected.table)
    row = expected.summary.iloc[0]
    shown = f"{row['own_tau_b_low']:.4f} to {row['own_tau_b_high']:.4f}"
    assert shown in printed
    row = expected.table.iloc[0]
    assert f"{row['tau_b_low']:.4f} to {row['tau_b_high']:.4f}" in printed
    assert f"{row['max_drop_low']} to {row['max_drop_high']}" in printed
    status, _, err = run(capsys, "lou", "--runs", runs, *rest, "--resamples", "-1")
    assert (status, err.split(" must")[0]) == (2, "pt-reuse: --resamples")
