"""`pt-reuse judge compare-strategies`, compared with the function."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_parts import lines_of_table, run
from same import assert_same

import pt_reuse as ptr

pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.*so that no pair can agree:pt_reuse.ReuseWarning"),
    pytest.mark.filterwarnings("ignore:.*for these judgments they are so from label 2:pt_reuse.ReuseWarning"),
]
OPTIONS = ["--depth", 5, "--strategies", "mtf,random", "--budgets", ".5,.2", "--measures", "AP,Bpref", "--repeats", 2]


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return ["--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--metadata", tmp_path / "runs.csv"]


def expected(files, **options):
    runs = ptr.read_runs(files[1], metadata=files[5])
    return ptr.pools.compare_strategies(
        runs,
        ptr.read_qrels(files[3]),
        ["mtf", "random"],
        **{"budgets": [0.2, 0.5], "measures": ["AP", "Bpref"], "depth": 5, "repeats": 2, **options},
    )


def test_it_writes_what_the_function_finds(files, tmp_path, capsys):
    more = ["--seed", 3, "--rel", 2, "--leave-out", "team", "--jobs", 1, "--out", tmp_path / "out"]
    status, out, err = run(capsys, "judge compare-strategies", *files, *OPTIONS, *more)
    assert (status, err) == (0, "")
    found = expected(files, seed=3, rel=2, leave_out="team")
    assert_same(ptr.read_result(tmp_path / "out"), found)
    written = {path.name for path in (tmp_path / "out").iterdir()}
    pictures = {"relevant.png", "tau_b-AP.png", "tau_b-Bpref.png"}
    tables = {"table.csv", "by_seed.csv", "curve.csv", "groups.csv", "left_out.csv"}
    assert written == {*tables, *pictures, "settings.json", "result.json"}
    for name in pictures:
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert settings["relevant"] == "label of at least 2"
    assert settings["seeds"] == "3 to 4"
    assert pd.read_csv(tmp_path / "out" / "by_seed.csv")["seed"].unique().tolist() == [3, 4]
    assert f"\n{found.headline()}\n" in out
    for name in written:
        assert name in out


def test_every_budget_has_its_table_the_strategy_that_finds_most_first(files, capsys):
    _, out, _ = run(capsys, "judge compare-strategies", *files, *OPTIONS, "--leave-out", "team")
    found, lines = expected(files, leave_out="team"), lines_of_table(out)
    for budget, said in ((0.2, "20"), (0.5, "50")):
        rows = found.table[(found.table["measure"] == "AP") & (found.table["budget"] == budget)]
        rows = rows.sort_values("recall", ascending=False, kind="stable")
        judged = f"{rows['judged'].iloc[0]:,}"
        at = lines.index(["At", said, "%,", judged, "judgments", "in", "all:"])
        columns = ["recall", "tau_b", "tau_b_low", "tau_b_high", "max_drop"]
        shown = [[row["strategy"], *(f"{row[name]:.4f}" for name in columns)] for _, row in rows.iterrows()]
        assert lines[at + 2 : at + 4] == shown
        left = found.left_out[(found.left_out["measure"] == "AP") & (found.left_out["budget"] == budget)]
        at = lines.index(["At", said, "%:"])
        for line, (_, row) in zip(lines[at + 2 : at + 4], left.iterrows(), strict=True):
            assert line[:3] == [row["strategy"], f"{row['own_tau_b']:.4f}", str(row["alone_max_drop"])]
            assert line[3:5] == [f"{row['largest_loss_pct']:.4f}", str(row["field_max_drop"])]
            assert line[5] == (row["field_worst"] or "-")


def test_whole_numbers_are_judgments_per_topic(files, capsys):
    _, out, _ = run(capsys, "judge compare-strategies", *files, "--strategies", "rank", "--budgets", 3, "--repeats", 1)
    assert "At 3 judgments per topic, 15 judgments in all:" in out


def test_all_strategies_and_budgets_are_the_default(files, capsys):
    _, out, _ = run(capsys, "judge compare-strategies", *files, "--repeats", 1, "--measures", "AP", "--depth", 3)
    assert [line[1:3] for line in lines_of_table(out) if line[0] == "At"] == [
        [share, "%,"] for share in ("1", "5", "10", "25", "50")
    ]
    assert {"mtc", "borda", "max-mean-ns"} <= {line[0] for line in lines_of_table(out)}


@pytest.mark.parametrize(
    "wrong",
    [
        ["--strategies", "mft"],
        ["--strategies", "mtf,mtf"],
        ["--strategies", ","],
        ["--budgets", "10%"],
        ["--budgets", "1.5"],
        ["--budgets", ".1,5"],
        ["--budgets", "-1"],
        ["--leave-out", "teams"],
        ["--repeats", 0],
        ["--seed", -1],
        ["--jobs", 0],
        ["--rel", 0],
        ["--depth", 0],
        ["--measures", "Foo@3"],
        ["--contributors", ","],
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_wrong_options_are_told_before_runs_are_read(wrong, tmp_path, capsys, messages):
    (tmp_path / "a.run").write_text("no run line\n")
    call = ["judge compare-strategies", "--runs", tmp_path / "a.run", "--qrels", "demo"]
    status, out, err = run(capsys, *call, *wrong)
    assert (status, out) == (2, "")
    messages.told(err)
