"""A family of runs as the unit of commands."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture
def files(field, tmp_path):
    """Return the options that name runs whose families are their types, and judgments."""
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.run_table.rename(columns={"type": "family"}).to_csv(tmp_path / "runs.csv", index=False)
    return [tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--metadata", tmp_path / "runs.csv"]


def runs_of(field):
    return field.runs.with_metadata(metadata=field.run_table[["name"]].assign(family=field.run_table["type"]))


def test_lou_and_coverage(field, files, tmp_path, capsys):
    status, _, err = run(
        capsys, "lou", "--runs", *files, "--depth", 5, "--by", "family", "--measures", "AP", "--out", tmp_path / "o"
    )
    assert (status, err) == (0, "")
    expected = ptr.leave_out_uniques(runs_of(field), field.qrels, "AP", by="family", depth=5)
    table = pd.read_csv(tmp_path / "o" / "table.csv")
    left = ["dropped"]  # None is an empty cell of a file
    pd.testing.assert_frame_equal(table.drop(columns=left), expected.table.drop(columns=left), check_dtype=False)


def test_without_families_a_command_stops_before_it_reads(field, files, capsys, messages):
    for command, option in (("lou", "--by"), ("profile coverage", "--by"), ("by-type", "--unit")):
        status, _, err = run(capsys, command, "--runs", *files[:3], option, "family", "--types", files[-1])
        assert status == 2
        messages.told(err)
