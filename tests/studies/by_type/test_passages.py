"""DL 2019 passages, the field of Yilmaz et al. 2020, table 2: all halves of teams, and of runs; 40 of neural runs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from real_runs import read_real
from scipy.stats import kendalltau

from pt_reuse.data.judgments import read_qrels
from pt_reuse.errors import ReuseWarning
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.scores import score
from pt_reuse.studies.by_type import by_type
from pt_reuse.studies.found_by_depth import found_by_depth

FIRST = "UNH_bm25, bm25base_ax_p, bm25base_p, bm25base_prf_p, bm25base_rm3_p"
GROUPS = ["traditional", "neural", "all"]
MEASURES = ["RR(rel=2)", "nDCG@10"]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "papers" / "pools-of-one-type.rst"


@pytest.fixture(scope="module")
def track(data):
    folder = data / "dl19-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    runs = read_real(
        folder / "inputs",
        teams=folder / "runs-pids",
        types=folder / "types",
        pooled=True,
        order="trec_eval9",
        pool_order="file",
        pool_depth=10,
    )
    return runs, read_qrels(folder / "qrels.gz").with_rel(2)


@pytest.fixture(scope="module")
def traditional(track):
    """Return all halves, pooled in the order in which the runs are scored, as in the reference numbers."""
    options = {"unit": "run", "splits": "all", "pools": "traditional", "gold": "judgments"}
    return by_type(*track, pool_order="trec_eval9", **options)


@pytest.fixture(scope="module")
def teams(track):
    """Return all halves of teams, the study's default unit."""
    with pytest.warns(ReuseWarning, match=r"2 teams with runs of several types \('TREMA-UNH', 'srchvrs'\)"):
        return by_type(*track, splits="all", gold="judgments")


def of(frame, measure, column):
    return frame[frame["measure"] == measure].set_index("tested").loc[GROUPS, column]


def test_one_half(traditional):
    row = traditional.splits.set_index("picked").loc[FIRST]
    assert row["judged"] == 815
    split = traditional.by_split[traditional.by_split["split"] == row["split"]]
    assert of(split, "RR(rel=2)", "tau_b").round(4).tolist() == [0.7333, 0.0186, 0.1116]
    assert of(split, "nDCG@10", "tau_b").round(4).tolist() == [0.3333, -0.2308, -0.3266]
    assert of(split, "nDCG@10", "runs").tolist() == [6, 26, 32]


def test_means_over_all_halves(traditional):
    assert len(traditional.splits) == 462
    assert of(traditional.table, "RR(rel=2)", "tau_b").round(3).tolist() == [0.935, 0.087, 0.310]
    assert of(traditional.table, "RR(rel=2)", "tau_b_sd").round(2).tolist() == [0.10, 0.05, 0.09]
    assert of(traditional.table, "nDCG@10", "tau_b").round(3).tolist() == [0.590, -0.028, -0.152]
    assert of(traditional.table, "nDCG@10", "tau_b_sd").round(2).tolist() == [0.32, 0.09, 0.08]


def test_random_neural_halves(track):
    found = by_type(*track, unit="run", splits=40, pools="neural", gold="judgments")
    for measure, expected in (("RR(rel=2)", [0.73, 0.97, 0.94]), ("nDCG@10", [0.76, 0.90, 0.89])):
        assert of(found.table, measure, "tau_b").tolist() == pytest.approx(expected, abs=0.045)
    assert found.settings["pool order"] == "file"
    assert found.settings["pool of all"] == 2494
    assert found.settings["pool of all without judgment"] == 0


def test_what_each_type_finds(track):
    found = found_by_depth(*track, depths=[10, 11])
    assert found.judged_to == 10
    rows = found.table.set_index(["type", "depth"])
    # relevant from label 2: counted by a script of sets
    assert rows.loc[("all", 10), ["documents", "relevant"]].tolist() == [2494, 753]
    assert rows.loc[("neural", 10), ["relevant", "unique"]].tolist() == [703, 377]
    assert rows.loc[("traditional", 10), ["relevant", "unique"]].tolist() == [376, 50]


def test_a_traditional_pool_by_teams(teams):
    assert teams.settings["unit"] == "team"
    rows = teams.table[teams.table["pool"] == "traditional"]
    assert of(rows, "RR(rel=2)", "tau_b").round(3).tolist() == [0.752, -0.014, 0.252]
    assert of(rows, "nDCG@10", "tau_b").round(3).tolist() == [-0.052, -0.075, -0.083]
    assert of(rows, "nDCG@10", "tau_b_sd").round(2).tolist() == [0.35, 0.11, 0.20]
    assert of(rows, "nDCG@10", "splits").tolist() == [3, 3, 3]
    made = teams.splits.set_index("picked").loc[["BASELINE", "TREMA-UNH", "srchvrs"]]
    assert made["runs"].tolist() == [8, 1, 2]
    assert made["judged"].tolist() == [791, 430, 560]


def test_halves_of_teams_by_scipy(track, teams):
    """Each of the three halves, scored under the judgments that are in the pool of the team's traditional runs."""
    runs, qrels = track
    table = runs.run_table.set_index("name")
    gold = score(runs, qrels, MEASURES).mean.set_index("name").round(12)
    found = teams.by_split[teams.by_split["pool"] == "traditional"]
    found = found.merge(teams.splits[["pool", "split", "picked"]]).set_index(["picked", "measure", "tested"])["tau_b"]
    for team in ("BASELINE", "TREMA-UNH", "srchvrs"):
        picked = table.index[(table["team"] == team) & (table["type"] == "traditional")]
        judged = qrels.restrict(depth_pool(runs.select(picked.tolist()), depth=10))
        estimated = score(runs, judged, MEASURES).mean.set_index("name").round(12)
        for group in GROUPS:
            tested = table.index.difference(picked)
            tested = tested[(table.loc[tested, "type"] == group) | (group == "all")]
            for measure in MEASURES:
                tau = kendalltau(gold.loc[tested, measure], estimated.loc[tested, measure]).statistic
                assert found[(team, measure, group)] == pytest.approx(tau, abs=1e-12)


def test_the_table_of_the_page(track, teams):
    """The page has what the study gives, to as many digits as it shows; equal and near are as it says."""
    text = PAGE.read_text(encoding="utf-8")
    lines = [line.strip() for line in text[text.index('"pool","measure","tested"') :].split("\n\n")[0].splitlines()]
    rows = list(csv.DictReader([line.replace("``", "") for line in lines], restkey="rest"))
    assert len(rows) == 12
    by_runs = {
        kind: by_type(*track, unit="run", splits=splits, pools=kind, gold="judgments").table
        for kind, splits in (("traditional", "all"), ("neural", 40))
    }
    for row in rows:
        measure = {"RR": "RR(rel=2)"}.get(row["measure"], row["measure"])
        mean, sd = row["here: teams"].replace(")", "").split(" (")
        mine = of(teams.table[teams.table["pool"] == row["pool"]], measure, ["tau_b", "tau_b_sd"]).loc[row["tested"]]
        for shown, number in (
            (mean, mine["tau_b"]),
            (sd, mine["tau_b_sd"]),
            (row["runs"], of(by_runs[row["pool"]], measure, "tau_b")[row["tested"]]),
        ):
            digits = len(shown.partition(".")[2])
            assert float(shown) == round(number, digits), row
        apart = abs(mine["tau_b"] - float(row["paper"])) / mine["tau_b_sd"]
        word = "equal" if apart <= 0.5 else "near" if round(apart, 1) <= 1 else "not"
        assert row["verdict"].startswith(word), row
