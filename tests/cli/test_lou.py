"""What `pt-reuse lou` says where there is nothing to leave out, and of the embedded collection."""

from __future__ import annotations

import pytest
from command_parts import lines_of_table, run

import pt_reuse as ptr
from pt_reuse.collections.provider import DemoDataset

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture
def lou(tmp_path, capsys):
    def call(runs, qrels, *more):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        runs.write(folder / "runs")
        qrels.write(folder / "qrels.txt")
        runs.run_table.to_csv(folder / "runs.csv", index=False)
        files = ["--runs", folder / "runs", "--qrels", folder / "qrels.txt", "--metadata", folder / "runs.csv"]
        status, out, _ = run(capsys, "lou", *files, "--depth", 5, *more)
        assert status == 0
        return " ".join(out.split())

    return call


def test_the_obvious_first_try_answers_with_something(capsys):
    status, out, err = run(capsys, "lou", "--collection", "demo")
    assert (status, err) == (0, "")
    assert "depth=10, depth from=the field" in out
    demo = DemoDataset()
    expected = ptr.leave_out_uniques(demo.get_runs(), demo.get_judgments(), ["AP", "nDCG@10"])
    units = expected.table[expected.table["measure"] == "AP"].set_index("team")
    assert units["unique_relevant"].sum() > 20
    assert expected.summary["largest_loss_pct"].min() > 1
    lines = lines_of_table(out)
    at = lines.index(["team", "runs", "unique", "unique", "relevant", "tau_b", "largest", "drop", "of", "run"])
    for line in lines[at + 1 : at + 1 + len(units)]:
        row = units.loc[line[0]]
        numbers = [str(row["runs"]), str(row["unique"]), str(row["unique_relevant"]), f"{row['tau_b']:.4f}"]
        assert line[1:6] == [*numbers, str(row["max_drop"])]
    assert "Nothing to leave out" not in out
    assert "nDCG@10: judged without its own team, a run loses at most " in out


def test_why_there_is_nothing_is_said(lou, field):
    runs = field.runs
    # every run twice, in another team: no document has one contributor
    twins = ptr.RunSet.from_frames(
        {f"{name}-{team}": runs[name].drop(columns="name") for team in "AB" for name in runs.names},
        teams={f"{name}-{team}": team for team in "AB" for name in runs.names},
    )
    nothing = "so every score stays as it is, whichever team is left out."
    said = lou(twins, field.qrels)
    assert f"every judged document in the pool of depth 5 was contributed by at least two teams, {nothing}" in said
    relevant_none = ptr.Qrels(field.qrels.to_frame().assign(label=0))
    uniques = ptr.leave_out_uniques(runs, relevant_none, "AP", depth=5).unique_counts["unique"].sum()
    said = lou(runs, relevant_none)
    assert f"is {uniques} unique documents, none of them relevant (label of at least 1), {nothing}" in said
    elsewhere = field.qrels.to_frame().assign(docno=lambda frame: "other-" + frame["docno"])
    said = lou(runs, ptr.Qrels(elsewhere))
    assert f"no judged document is in the pool of depth 5 of the contributing runs, {nothing}" in said
    assert "Nothing to leave out" not in lou(runs, field.qrels)


def test_where_the_rest_is_written_is_said(lou, field):
    assert "--out DIR writes all measures, columns and rows (CSV)." in lou(field.runs, field.qrels)
