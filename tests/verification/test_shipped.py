"""The figures that the package ships, on real runs and judgments."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import pt_reuse
from pt_reuse.collections.definition import find_collection
from pt_reuse.verification.verification import read_published, verify

SHIPPED = Path(pt_reuse.__file__).parent / "verification" / "data"


BUILD = Path(__file__).parents[2] / "scripts" / "build_published.py"


def test_shipped_collections():
    every = read_published()
    assert list(every) == [
        "trec-2019/deep/passages",
        "trec-2021/deep/passages",
        "trec-8/adhoc",
        "trec-covid/round1",
        "trec-covid/round5",
    ]
    for name, figures in every.items():
        submitted = set(find_collection(name).submitted["name"])
        scored = [one for one in figures if one.kind == "scores" and len(one.values) > 1]
        assert scored
        # a score for every run of the catalogue and for no other
        assert all(set(one.values) == submitted for one in scored)


def test_trec8(trec8):
    found = verify("trec-8/adhoc", runs=trec8.runs, qrels=trec8.qrels)
    unequal = found.table[found.table["equal"].map(lambda equal: equal is not True)]
    assert unequal[["what", "published", "computed"]].values.tolist() == [
        ["relevant documents of manual runs alone, as published", 1131, 1130]
    ]
    assert found.holds
    assert found.headline() == "TREC-8 ad hoc: 246 of 247 figures equal, 1 unequal (1 known to be)"
    summary, ways = found.summary.set_index("what"), found.conventions.set_index(["what", "convention"])
    assert summary.loc["MAP of the runs", ["figures", "equal"]].tolist() == [129, 129]
    # with scores as float32 one run differs
    assert ways.loc[("MAP of the runs", "order=trec_eval9"), "equal"] == 128
    assert summary.loc["best rank of a relevant document", "convention"].startswith("order=trec_eval9")
    assert summary.loc["pool of depth 10 of all runs", "convention"] == (
        "order=trec_eval, contributors=all, depth=10, measure=AP(judged_only=True), truth=MAP of the runs, "
        "decimals_of_scores=4, pool_order=file_ties"
    )
    assert found.table["known"].sum() == 1


def test_covid_round_5(covid):
    found = verify("trec-covid/round5", runs=covid.runs, qrels=covid.qrels)
    assert found.headline() == "TREC-COVID round 5: 643 of 643 figures equal"
    used = found.summary.set_index("what")["convention"]
    assert used[used.index.str.endswith("of the runs")].str.startswith("order=trec_eval9").all()
    alone = found.conventions[found.conventions["what"].str.endswith("of the runs")]
    alone = alone.assign(convention=alone["convention"].str.partition(",")[0])
    equal = alone.pivot_table(index="what", columns="convention", values="equal").astype(int)
    assert equal["order=trec_eval9"].tolist() == [126] * 5
    # as float64 some scores of four runs are not equal
    assert equal["order=trec_eval"].to_dict() == {
        "MAP of the runs": 125,
        "P@20 of the runs": 126,
        "bpref of the runs": 126,
        "nDCG@20 of the runs": 124,
        "graded RBP (p = .5) of the runs": 123,
    }


def test_shipped_scores_are_those_of_the_data(data, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", [str(BUILD), "--data", str(data), "--out", str(tmp_path)])
    runpy.run_path(str(BUILD), run_name="__main__")
    built = sorted(path.name for path in tmp_path.iterdir())
    if not built:
        pytest.skip("the test data has no published scores")
    assert {"trec-8-adhoc.csv", "trec-covid-round5.csv"} <= set(built)
    for name in built:
        assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes(), name


#: year -> folder of the data, figures, those known to be unequal, runs
YEARS = {2019: ("dl19-passages", 184, 0, 37), 2021: ("dl21-passages", 312, 1, 63)}


@pytest.fixture(scope="module", params=YEARS)
def found(request, data):
    """Return the year and what came out."""
    folder = data / YEARS[request.param][0]
    if not folder.is_dir():
        pytest.skip(f"the test data has no folder {folder.name}")
    name = f"trec-{request.param}/deep/passages"
    return request.param, verify(name, runs=folder / "inputs", qrels=folder / "qrels.gz")


def test_every_figure_is_equal_or_explained(found):
    year, verification = found
    _, figures, known, _ = YEARS[year]
    assert verification.holds
    assert len(verification.table) == figures
    unequal = verification.table[verification.table["equal"].map(lambda equal: equal is not True)]
    assert unequal["known"].tolist() == [True] * known
    if known:
        assert unequal[["name", "published"]].values.tolist() == [["smallest tau_b", 0.937]]
        assert unequal["computed"].tolist() == pytest.approx([0.93641], abs=1e-5)


def test_official_scores_are_those_of_float32_scores_from_label_2(found):
    year, verification = found
    runs = YEARS[year][3]
    ways = verification.conventions
    ways = ways[ways["what"].str.endswith("of the runs")]
    by_order = {order: rows["equal"].tolist() for order, rows in ways.groupby(ways["convention"].str.split(",").str[0])}
    assert by_order["order=trec_eval9"] == [runs] * 4
    # scored by score, not in the order of the lines, in which the pools were made
    assert sum(by_order["order=file"]) < sum(by_order["order=trec_eval"]) <= 4 * runs
    assert (by_order["order=trec_eval"] == [runs] * 4) == (year == 2019)
    used = verification.summary.set_index("what")["convention"]
    assert used["P@10 of the runs"] == "order=trec_eval9, measure=P(rel=2)@10"
