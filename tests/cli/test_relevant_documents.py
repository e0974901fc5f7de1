"""`pt-reuse profile density`, `saturation`, `minimum-ranks` and `pool-costs`: what they print, write and refuse."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import lines_of_table, run

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture
def paths(definition, tmp_path):
    """Return the options that name the runs and the judgments."""
    return ("--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--metadata", tmp_path / "runs.csv")


def places(paths):
    """Return the same for a command that takes runs without an option."""
    return (paths[1], *paths[2:])


def test_density_of_judgments_alone(definition, field, tmp_path, capsys):
    status, out, err = run(capsys, "profile density", "--qrels", tmp_path / "qrels.txt", "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    expected = ptr.profile.density(field.qrels)
    assert f"\n{expected.headline()}." in out
    again = ptr.read_result(tmp_path / "out")
    pd.testing.assert_frame_equal(again.table, expected.table)
    assert (tmp_path / "out" / "density.png").stat().st_size > 1000


def test_density_after_pools(paths, own, field, capsys):
    expected = ptr.profile.density(field.qrels, runs=field.runs, depths=[1, 3], rel=2)
    for options in (paths, ("--collection", own)):
        status, out, err = run(capsys, "profile density", *options, "--depths", "1,3", "--rel", 2)
        assert (status, err) == (0, "")
        lines = lines_of_table(out)
        (first,) = [line for line in lines if line[:2] == ["depth-1", "pool"]]
        row = expected.summary.iloc[0]
        assert first[2:5] == [str(row["judgments"]), f"{row['per_topic']:.1f}", str(row["relevant"])]
        assert f"\n{expected.headline()}." in out


def test_density_of_rounds(field, tmp_path, capsys):
    halves = [field.qrels.select(field.qrels.topics[:2]), field.qrels.select(field.qrels.topics[2:])]
    files = [half.write(tmp_path / f"{n}.txt") for n, half in enumerate(halves, 1)]
    status, out, _ = run(capsys, "profile density", "--rounds", ",".join(map(str, files)))
    assert status == 0
    assert ptr.profile.density(field.qrels).headline() in out
    assert [line[0] for line in lines_of_table(out) if line[0].endswith(".txt") and len(line) == 8] == [
        "1.txt",
        "2.txt",
    ]


def test_saturation(paths, field, tmp_path, capsys):
    options = (*places(paths), "--measures", "P@5,AP", "--share", ".5", "--out", tmp_path / "out")
    status, out, err = run(capsys, "profile saturation", *options)
    assert (status, err) == (0, "")
    expected = ptr.profile.saturation(ptr.score(field.runs, field.qrels, ["P@5", "AP"]), share=0.5)
    assert f"\n{expected.headline()}." in out
    pd.testing.assert_frame_equal(ptr.read_result(tmp_path / "out").table, expected.table)
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {"saturation-P@5.png", "saturation-AP.png"}


def test_minimum_ranks(paths, field, tmp_path, capsys):
    options = (*places(paths), "--edges", "2,10", "--depth", 20, "--out", tmp_path / "out")
    status, out, err = run(capsys, "profile minimum-ranks", *options)
    assert (status, err) == (0, "")
    expected = ptr.pools.minimum_ranks(field.runs, field.qrels, depth=20)
    rows = {line[0]: line[1] for line in lines_of_table(out) if len(line) > 3}
    for row in expected.by_rank([2, 10]).itertuples():
        assert rows[row.ranks] == str(row.documents)
    assert ptr.read_result(tmp_path / "out").headline() == expected.headline()
    assert (tmp_path / "out" / "minimum-ranks.png").exists()


def test_pool_costs(paths, field, tmp_path, capsys):
    options = ("--depths", "1,3,5", "--measures", "AP", "--resamples", 5, "--out", tmp_path / "out")
    status, out, err = run(capsys, "profile pool-costs", *paths, *options)
    assert (status, err) == (0, "")
    expected = ptr.pools.pool_costs(field.runs, field.qrels, "AP", depths=[1, 3, 5], resamples=5)
    lines = lines_of_table(out)
    for row in expected.table.itertuples():
        assert any(line[:2] == [str(row.depth), str(row.documents)] for line in lines)
    for row in expected.agreement.itertuples():
        assert any(line[:2] == [str(row.depth), f"{row.tau_b:.4f}"] and str(row.max_drop) in line for line in lines)
    pd.testing.assert_frame_equal(ptr.read_result(tmp_path / "out").needed, expected.needed)
    assert (tmp_path / "out" / "pool-costs-AP.png").exists()


def test_what_cannot_be(paths, tmp_path, capsys, messages):
    qrels = ("--qrels", tmp_path / "qrels.txt")
    calls = (
        ("profile density",),
        ("profile density", *paths, "--depths", "0"),
        ("profile density", *qrels, "--depths", "1"),
        ("profile density", *qrels, "--rel", "0"),
        ("profile density", *qrels, "--rounds", tmp_path / "qrels.txt"),
        ("profile density", "--rounds", tmp_path / "none.txt"),
        ("profile density", *qrels, "--contributors", "all"),
        ("profile density", "--rounds", tmp_path / "qrels.txt", "--pool-order", "file"),
        ("profile saturation", *places(paths), "--share", "2"),
        ("profile saturation", *places(paths), "--measures", "XYZ"),
        ("profile minimum-ranks", *places(paths), "--depth", "0"),
        ("profile minimum-ranks", *places(paths), "--edges", "0"),
        ("profile pool-costs", *paths, "--depths", "0,1"),
        ("profile saturation", *places(paths), "--maximum", "0"),
        ("profile pool-costs", *paths, "--confidence", "2", "--resamples", "1"),
    )
    for call in calls:
        status, out, err = run(capsys, *call)
        assert (status, out) == (2, ""), call
        messages.told(err)
