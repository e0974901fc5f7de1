"""The command line, in process and as the installed script."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pt_reuse as ptr
from pt_reuse.cli.entry import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    field = ptr.demo.simulate_field(seed=3, n_topics=5, n_docs=200, n_teams=4, length=30, depth=5)
    folder = tmp_path_factory.mktemp("cli")
    field.runs.write(folder / "runs")
    field.qrels.write(folder / "qrels.txt")
    table = field.runs.run_table
    (folder / "teams").write_text("".join(f"{n} {t}\n" for n, t in zip(table["name"], table["team"], strict=True)))
    (folder / "types.csv").write_text(table[["name", "type"]].to_csv(index=False))
    (folder / "pooled").write_text("".join(f"{name}\n" for name in table.loc[table["pooled"], "name"]))
    table.to_csv(folder / "metadata.csv", index=False)
    return folder


def lou(folder, *more):
    files = {"runs": "runs", "qrels": "qrels.txt", "teams": "teams", "pooled": "pooled"}
    given = [word for option, name in files.items() for word in (f"--{option}", str(folder / name))]
    return ["lou", *given, "--depth", "5", *more]


@pytest.mark.usefixtures("no_pictures")
def test_out_is_not_overwritten_unless_asked(folder, tmp_path, capsys, messages):
    out = tmp_path / "out"
    out.mkdir()
    (out / "table.csv").write_text("mine")
    assert main(lou(folder, "--out", str(out))) == 2
    messages.told(capsys.readouterr().err)
    assert (out / "table.csv").read_text() == "mine"
    assert [path.name for path in out.iterdir()] == ["table.csv"]
    assert main(lou(folder, "--out", str(out), "--overwrite")) == 0
    assert (out / "table.csv").read_text().startswith("team,measure")


@pytest.mark.usefixtures("no_pictures")
def test_lou_takes_contributors_by_name(folder, tmp_path, capsys):
    runs = ptr.read_runs(folder / "runs", teams=folder / "teams")
    names = runs.names[:3]
    expected = ptr.leave_out_uniques(runs, folder / "qrels.txt", ["AP"], depth=5, contributors=names)
    (tmp_path / "names").write_text("".join(f"{name}\n" for name in names))
    # a list may be longer than a path can be
    for i, given in enumerate((",".join(names), ",".join(names * 99), str(tmp_path / "names"))):
        out = tmp_path / str(i)
        assert main(lou(folder, "--measures", "AP", "--contributors", given, "--out", str(out))) == 0
        assert (out / "unique_counts.csv").read_text() == expected.unique_counts.to_csv(index=False)


def test_the_installed_module_runs_and_warns_without_a_traceback(folder, tmp_path):
    teams = tmp_path / "teams"
    teams.write_text((folder / "teams").read_text() + "stranger nobody\n")
    command = [sys.executable, "-m", "pt_reuse.cli.entry", "runs", str(folder / "runs"), "--teams", str(teams)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0
    assert finished.stderr == "pt-reuse: note: teams has 1 name of no run: 'stranger'.\n"
    assert finished.stdout.startswith("RunSet: 8 runs")
