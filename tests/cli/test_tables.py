"""Commands take tables of runs wherever they take run files."""

from __future__ import annotations

import pytest
from command_parts import run

from pt_reuse.data.run_reading import read_runs
from pt_reuse.demo.simulated import simulate_field

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = pytest.mark.usefixtures("no_pictures")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the same runs and judgments as run files and as tables."""
    made = tmp_path_factory.mktemp("tables")
    field = simulate_field(seed=3)
    field.qrels.write(made / "qrels")
    field.runs.write(made / "runs")
    field.runs.run_table.to_csv(made / "labels.csv", index=False)
    # in the order of the files
    runs = read_runs(made / "runs", metadata=made / "labels.csv")
    for ending in ("parquet", "arrow"):
        runs.write_table(made / f"runs.{ending}")
    return made


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        (["score", "{runs}", "--measures", "AP"], "arrow"),
        (["unjudged", "{runs}"], "parquet"),
        (["pool", "{runs}", "--depth", "5"], "arrow"),
        (["lou", "--runs", "{runs}", "--measures", "AP", "--depth", "5"], "parquet"),
        (["profile coverage", "--runs", "{runs}", "--measures", "AP", "--depth", "5"], "arrow"),
    ],
    ids=["score", "unjudged", "pool", "lou", "coverage"],
)
def test_tables_give_what_run_files_give(command, ending, folder, capsys, tmp_path):
    said = {}
    for source, labels in (("runs", ["--metadata", folder / "labels.csv"]), (f"runs.{ending}", [])):
        given = [word.format(runs=folder / source) for word in command]
        out = tmp_path / source
        status, _, errors = run(capsys, *given, *labels, "--qrels", folder / "qrels", "--out", out)
        assert status == 0, errors
        said[source] = {path.name: path.read_bytes() for path in out.glob("*.csv")}
    ours, theirs = said.values()
    assert ours
    assert ours == theirs
