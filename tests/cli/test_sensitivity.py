"""`pt-reuse profile sensitivity`: what it shows and writes is what the function returns."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

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
