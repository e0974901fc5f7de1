"""The figures of the reference for Voorhees, Craswell and Lin 2022, on TREC-8 and Deep Learning 2021 passages."""

from __future__ import annotations

from pathlib import Path

import pytest
from ir_measures import AP, P, nDCG
from real_runs import read_real
from scipy.stats import kendalltau

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def dl21(data):
    """Return the runs and judgments, relevant from label 2."""
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    runs = read_real(folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file")
    return runs, ptr.read_qrels(folder / "qrels.gz", rel=2)


# TREC-8 ad hoc


def test_densities_of_trec8(trec8):
    found = ptr.profile.density(trec8.qrels, runs=trec8.runs)
    # the depth-100 pool is all that was judged
    assert found.summary["round"].tolist() == ["depth-100 pool"]
    end = found.summary.iloc[-1]
    assert (end["judgments"], end["relevant"], end["above_third"], end["above_half"]) == (86_830, 4_728, 0, 0)
    assert (round(end["largest_density"], 3), round(end["mean_density"], 3)) == (0.240, 0.055)


def test_saturated_topics_of_trec8(trec8):
    found = ptr.profile.saturation(ptr.score(trec8.runs, trec8.qrels, P @ 10))
    assert found.summary[["topics", "saturated", "near"]].values.tolist() == [[50, 1, 5]]
    assert found.summary["saturated_topics"].tolist() == ["410"]


@pytest.mark.parametrize(
    ("order", "expected"), [("trec_eval9", [1_910, 1_958, 860]), ("trec_eval", [1_909, 1_959, 860])]
)
def test_minimum_ranks_of_trec8(trec8, order, expected):
    found = ptr.pools.minimum_ranks(trec8.runs.reorder(order), trec8.qrels)
    table = found.by_rank([10, 50, 100]).set_index("ranks")["documents"]
    assert table.to_dict() == dict(zip(["1-10", "11-50", "51-100", "101-1,000", "NR"], [*expected, 0, 0], strict=True))


def test_what_pools_of_trec8_cost(trec8):
    found = ptr.pools.pool_costs(trec8.runs, trec8.qrels, AP, depths=[1, 5, 10, 20, 50, 100])
    assert found.table["documents"].tolist() == [1_487, 5_542, 10_134, 19_231, 45_584, 86_830]
    assert found.table["relevant"].tolist() == [466, 1_239, 1_746, 2_431, 3_718, 4_728]
    assert found.table["unjudged"].sum() == 0
    assert found.agreement["tau_b"].round(4).tolist() == [0.7354, 0.8924, 0.9133, 0.9448, 0.9847, 1]
    assert found.agreement["max_drop"].tolist() == [61, 21, 19, 13, 8, 0]
    # all that is known is in the pool that was judged, and its last rank brings some of it
    assert found.needed["depth"].tolist()[-1] == 100


# Deep Learning 2021, passages


def test_table_1_and_figure_1(dl21):
    runs, qrels = dl21
    found = ptr.profile.density(qrels, runs=runs, depths=10)
    table = found.summary.set_index("round")
    assert table["judgments"].tolist() == [7_443, 10_828]
    assert table["relevant"].tolist() == [1_946, 3_427]
    assert table["topics"].tolist() == [53, 53]
    assert round(table["per_topic"].iloc[-1], 1) == 204.3
    assert table[["above_half", "above_third"]].values.tolist() == [[10, 19], [9, 23]]
    assert round(table["largest_density"].iloc[-1], 3) == 0.723
    assert found.table["relevant"].min() == 5


@pytest.mark.parametrize(
    ("rel", "measure", "expected"),
    [
        (2, P(rel=2) @ 10, (4, 18, 0.9604)),
        (1, nDCG @ 10, (4, 21, 0.9364)),
        (2, nDCG @ 10, (2, 14, 0.9600)),
    ],
)
def test_static_leave_out_uniques(dl21, rel, measure, expected):
    """Left-out teams with a run that drops more than ten ranks, the largest drop, and the smallest tau_b."""
    runs, qrels = dl21
    lou = ptr.leave_out_uniques(runs.reorder("file"), qrels.with_rel(rel), measure, depth=10)
    (found,) = lou.large_drops().to_dict("records")
    assert (found["units"], found["largest"], round(lou.table["tau_b"].min(), 4)) == expected
    assert (found["of"], found["names"].split(", ")[0]) == (16, "h2oloo")


def test_what_is_stored_holds_no_judgments():
    for folder in (Path(__file__).parents[2] / "docs" / "papers" / "stored").glob("too-many-ranks-*"):
        found = ptr.read_result(folder)
        assert found.table["docno"].tolist() == [str(n) for n in range(1, len(found.table) + 1)]


#: the paper counts the baselines of four institutions as teams of their own: how the names of these runs begin
BASELINES = {"bl_bcai": "bcai", "ielab-roberta": "ielab", "uogTrBase": "uogTr", "p_": "h2oloo", "paug_": "h2oloo"}


def test_teams_as_the_paper_counts_them(dl21):
    runs, qrels = dl21
    table = runs.run_table.set_index("name")["team"]
    units = {
        name: f"{team} baselines"
        for name in table.index[table == "BASELINES"]
        for start, team in BASELINES.items()
        if name.startswith(start)
    }
    split = runs.with_metadata(teams=units)
    assert (len(runs.teams), len(split.teams)) == (16, 19)
    # runs that the table does not name keep their team
    teams = split.run_table.set_index("name")["team"]
    assert teams.drop(list(units)).equals(table.drop(list(units)))
    lou = ptr.leave_out_uniques(split, qrels.with_rel(1), [P(rel=2) @ 10, nDCG @ 10], depth=10)
    found = lou.large_drops().set_index("measure")[["units", "of"]]
    assert found.loc["P(rel=2)@10"].tolist() == [3, 19]
    assert found.loc["nDCG@10"].tolist() == [5, 19]
    assert lou.table.groupby("measure")["tau_b"].min().round(3).tolist() == [0.960, 0.951]


def test_small_and_large_judgments_agree_but_for_ap(dl21):
    runs, qrels = dl21
    small, measures = qrels.restrict(ptr.depth_pool(runs, depth=10)), [P(rel=2) @ 10, nDCG @ 10, AP(rel=2)]
    found = ptr.score(runs, qrels, measures).compare(ptr.score(runs, small, measures)).table
    assert found["tau_b"].round(4).tolist() == [0.9982, 0.9949, 0.9478]
    assert found["max_drop"].tolist() == [1, 1, 9]
    strict = [ptr.score(runs, qrels.threshold(label), P @ 10) for label in (1, 2, 3)]
    agreements = [strict[0].compare(other).table.iloc[0] for other in strict[1:]]
    assert [round(row["tau_b"], 4) for row in agreements] == [0.8137, 0.7196]
    assert [max(row["max_drop"], row["max_rise"]) for row in agreements] == [13, 22]
    # tau_b by scipy
    first, third = (each.mean_values[0].round(12) for each in (strict[0], strict[2]))
    assert kendalltau(first, third).statistic == pytest.approx(agreements[1]["tau_b"], abs=1e-12)
