"""`pt-reuse judge compare-strategies`, compared with the function."""

from __future__ import annotations

import json

import pytest
from command_parts import run
from same import assert_same

import pt_reuse as ptr

pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.*so that no pair can agree:pt_reuse.ReuseWarning"),
    pytest.mark.filterwarnings("ignore:.*for these judgments they are so from label 2:pt_reuse.ReuseWarning"),
]


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return ["--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--metadata", tmp_path / "runs.csv"]


def test_it_writes_what_the_function_finds(files, tmp_path, capsys):
    options = ["--depth", 5, "--strategies", "mtf,random", "--budgets", ".5,.2", "--measures", "AP,Bpref"]
    more = ["--seed", 3, "--rel", 2, "--leave-out", "team", "--repeats", 2, "--out", tmp_path / "out"]
    status, out, err = run(capsys, "judge compare-strategies", *files, *options, *more)
    assert (status, err) == (0, "")
    found = ptr.pools.compare_strategies(
        ptr.read_runs(files[1], metadata=files[5]),
        ptr.read_qrels(files[3]),
        ["mtf", "random"],
        budgets=[0.2, 0.5],
        measures=["AP", "Bpref"],
        depth=5,
        repeats=2,
        seed=3,
        rel=2,
        leave_out="team",
    )
    assert_same(ptr.read_result(tmp_path / "out"), found)
    pictures = {path.name for path in (tmp_path / "out").glob("*.png")}
    kinds = [f"{kind}-{measure}.png" for kind in ("tau_b", "tau_ap_b", "max_drop") for measure in ("AP", "Bpref")]
    assert pictures == {"relevant.png", *kinds}
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert (settings["relevant"], settings["seeds"]) == ("label of at least 2", "3 to 4")
    assert f"\n{found.headline()}.\n" in out


def test_whole_numbers_are_judgments_per_topic_and_all_strategies_the_default(files, capsys):
    words = [*files, "--budgets", 3, "--repeats", 1, "--measures", "AP", "--depth", 3]
    _, out, _ = run(capsys, "judge compare-strategies", *words)
    assert "3 judgments per topic" in out
    assert all(name in out for name in ("mtc", "borda", "max-mean-ns"))
