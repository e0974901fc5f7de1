"""`pt-reuse profile coverage` and `sensitivity`: what they show and write is what the functions return."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import lines_of_table, run

import pt_reuse as ptr
from pt_reuse._result import read_result

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs", compress=False)
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return [
        "--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--metadata", tmp_path / "runs.csv",
        "--depth", 5,
    ]  # fmt: skip


def test_coverage_of_run_files(files, field, tmp_path, capsys):
    out = tmp_path / "out"
    status, printed, err = run(
        capsys, "profile coverage", *files, "--depths", "5,10", "--measures", "nDCG@10,AP", "--all", "--out", out
    )
    assert (status, err) == (0, "")
    expected = ptr.profile.coverage(field.runs, field.qrels, ["nDCG@10", "AP"], depths=[5, 10], depth=5)
    found = read_result(out)
    by_name = [found.by_run.sort_values("name"), expected.by_run.sort_values("name")]
    pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in by_name), check_exact=False)
    # runs are read in another order than they were made
    assert sorted(found.condensed["rise"]) == sorted(expected.condensed["rise"])
    assert {path.name for path in out.iterdir()} >= {
        "topics.png",
        "depths.png",
        "residual.png",
        "rise.png",
        "flags.csv",
    }
    rows = expected.by_run.sort_values("residual", ascending=False, kind="stable")
    shown = next(line for line in lines_of_table(printed) if line[0] == rows["name"].iloc[0])
    assert f"{rows['unjudged'].iloc[0]:.4f}" in shown
    assert f"{rows['residual'].iloc[0]:.4f}" in shown
    assert "Why the pool may put a run at a disadvantage: " in printed
    assert f"{found.headline()}." in printed


@pytest.mark.parametrize(
    "wrong",
    [["--depths", "0"], ["--depths", "ten"], ["--by", "colour"], ["--measures", "Bpref"], ["--contributors", "none"]],
)
def test_what_is_wrong_is_told(files, wrong, capsys, messages):
    status, out, err = run(capsys, "profile coverage", *files, *wrong)
    assert status == 2
    assert "Settings" not in out
    messages.told(err)


def test_sensitivity_of_run_files(files, field, tmp_path, capsys):
    out = tmp_path / "out"
    status, printed, err = run(
        capsys, "profile sensitivity", *files, "--measures", "AP", "--vary", "contributors,remove,depth",
        "--depths", "2,5", "--full", "--out", out,
    )  # fmt: skip
    assert (status, err) == (0, "")
    found = read_result(out)
    expected = ptr.profile.sensitivity(
        ptr.leave_out_uniques,
        field.runs,
        field.qrels,
        "AP",
        grid={"contributors": None, "remove": None, "depth": [2, 5]},
        full=True,
        depth=5,
    )
    assert len(found.combinations) == 8
    pd.testing.assert_frame_equal(found.table, expected.table)
    assert f"{expected.headline()}." in printed
    assert (out / "sensitivity-AP.png").exists()
