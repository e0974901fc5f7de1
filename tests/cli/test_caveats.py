"""What the commands tell of numbers that are not what they seem: once, and in the words of a shell."""

from __future__ import annotations

import json

import pytest
from command_parts import run

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def lou(tmp_path, capsys):
    """Return what leaves uniques out of runs and judgments, as the command line does, and what it printed."""

    def call(runs, qrels, *more):
        runs.write(tmp_path / "runs", overwrite=True)
        qrels.write(tmp_path / "qrels.txt", overwrite=True)
        runs.run_table[["name", "team"]].to_csv(tmp_path / "teams", sep=" ", header=False, index=False)
        files = ["--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--teams", tmp_path / "teams"]
        status, out, err = run(capsys, "lou", *files, *more)
        assert status == 0
        return out, err

    return call


def test_judgments_mostly_without_contributor(lou, field, tmp_path, messages):
    out, err = lou(field.runs.select(field.runs.names[:1]), field.qrels, "--depth", 5, "--out", tmp_path / "out")
    messages.told(err)
    # the judgments, the only run and the only team
    assert err.count("\n") == 3
    assert "Beware" not in out
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert ptr.read_result(tmp_path / "out").fit.strangers == settings["judged without contributor"]


def test_judgments_of_relevant_documents_only(lou, field, messages):
    pooled = field.runs.select(pooled=True)
    _, err = lou(pooled, field.qrels.keep(field.qrels.arrays.labels > 0), "--depth", 1, "--measures", "bpref")
    # what the pool lacks is told once it has been made
    messages.told(err.splitlines(keepends=True)[-2])
