"""compare_strategies against judgments built by hand, and on budgets and labels of every kind."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import strategy_parts
from same import assert_same
from scipy.stats import kendalltau

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.studies import compare_strategies as strategies_study
from pt_reuse.studies.compare_strategies import checked_budgets

#: judgments cut to a budget are nobody's pool
pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.*no pair can agree:pt_reuse.ReuseWarning"),
]

FIELD = ptr.demo.simulate_field(seed=7, n_topics=4, n_docs=60, n_teams=5, length=12, depth=5)
RUNS, QRELS = FIELD.runs, FIELD.qrels
BY_HAND = ["rank", "mtf", "random"]


def asked_for(strategy, seed, **options):
    """Return {topic: [(docno, label)]} in the order of judging."""
    return strategy_parts.asked_for(strategy, seed, **{"runs": RUNS, "qrels": QRELS, "depth": 5, **options})


def cut(orders, share):
    """Return the judgments of a share of each topic, and how many."""
    rows = [
        (qid, docno, label)
        for qid, order in orders.items()
        for docno, label in order[: math.floor(round(share * len(order), 9) + 0.5)]
    ]
    return Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]), topics=QRELS.topics), len(rows)


@pytest.mark.parametrize("strategy", BY_HAND)
def test_counts_scores_and_ranks_are_those_of_judgments_built_by_hand(strategy):
    found = ptr.pools.compare_strategies(
        RUNS, QRELS, strategy, budgets=[0.2, 0.5], measures=["AP", "Bpref"], depth=5, repeats=2, seed=3
    )
    full = ptr.score(RUNS, QRELS, ["AP", "Bpref"]).mean
    n_relevant = int((QRELS.restrict(ptr.depth_pool(RUNS, depth=5)).to_frame()["label"] >= 1).sum())
    rows = iter(found.by_seed.to_dict("records"))
    for share in (0.2, 0.5):
        for seed in (3, 4):
            built, judged = cut(asked_for(strategy, seed), share)
            relevant = int((built.to_frame()["label"] >= 1).sum())
            scores = ptr.score(RUNS, built, ["AP", "Bpref"]).mean
            for measure in ("AP", "Bpref"):
                row = next(rows)
                assert (row["strategy"], row["budget"], row["seed"], row["measure"]) == (strategy, share, seed, measure)
                assert (row["judged"], row["relevant"]) == (judged, relevant)
                assert row["recall"] == relevant / n_relevant
                truth, estimate = full[measure].round(12), scores[measure].round(12)
                assert row["tau_b"] == pytest.approx(kendalltau(truth, estimate).statistic, abs=1e-12, nan_ok=True)
                assert row["tau_ap_b"] == pytest.approx(ptr.rankings.tau_ap_b(truth, estimate), abs=1e-12, nan_ok=True)
                assert row["max_drop"] == ptr.rankings.largest_drop(truth, estimate)
    assert next(rows, None) is None


def test_a_document_without_a_label_costs_nothing():
    frame = QRELS.to_frame()
    fewer = Qrels(frame[frame.index % 3 > 0], topics=QRELS.topics)
    found = ptr.pools.compare_strategies(RUNS, fewer, "rank", budgets=4, measures="AP", depth=5, repeats=1)
    assert found.table["judged"].tolist() == [16]
    built = [pair for order in asked_for("rank", 0, qrels=fewer).values() for pair in order[:4]]
    assert found.table["relevant"].tolist() == [sum(label >= 1 for _, label in built)]
    assert found.settings["without a label in the pool"] == len(ptr.depth_pool(RUNS, depth=5)) - sum(
        map(len, asked_for("rank", 0, qrels=fewer).values())
    )


def test_what_is_wrong_is_told(messages):
    def refuse(argument, strategies="rank", **options):
        given = {"budgets": 0.1, "measures": "AP", "depth": 5, **options}
        messages.refused(lambda: ptr.pools.compare_strategies(RUNS, QRELS, strategies, **given), argument=argument)

    for budgets in ([0.1, -0.5], 1.5, [0.1, 5], []):
        refuse("budgets", budgets=budgets)
    refuse("strategies", strategies=["rank", "rank"])
    refuse("strategies", strategies=[])
    refuse("strategies", strategies=3)
    refuse("strategies", strategies="rnak")
    other = Qrels(pd.DataFrame({"qid": QRELS.topics, "docno": "nowhere", "label": 1}))
    messages.refused(lambda: ptr.pools.compare_strategies(RUNS, other, "rank", measures="AP"), argument="qrels")


def compare(runs=RUNS, qrels=QRELS, strategies="rank", **options):
    return ptr.pools.compare_strategies(
        runs, qrels, strategies, **{"budgets": 0.5, "measures": "AP", "depth": 5, "repeats": 1, **options}
    )


def test_every_budget_stands_on_the_curve():
    assert checked_budgets(0.005).curve(9) == [0, 0.005]
    assert checked_budgets([0.1 + 0.2, 0.025]).curve(9) == sorted([*(i / 100 for i in range(31)), 0.025])
    assert checked_budgets([3, 10**9]).curve(4) == [0, 1, 2, 3, 4, 10**9]
    assert checked_budgets(np.array(0.25)).values == (0.25,)
    found = compare(budgets=[2, 10**9])
    assert found.curve["budget"].max() == 10**9
    assert found.curve["recall"].iloc[-1] == 1
    assert len(found.curve) < 100


def test_parts_of_the_work_make_the_same_whole(monkeypatch):
    def found():
        measures = ["AP", "Bpref", "infAP"]
        return compare(strategies=["mtf", "random"], measures=measures, budgets=[0.2, 0.7], repeats=3, leave_out="run")

    whole = found()
    for few in (0, 40):
        monkeypatch.setattr(strategies_study, "AT_ONCE", few)
        assert_same(found(), whole)


def test_groups_move_as_their_runs_do():
    found = ptr.pools.compare_strategies(RUNS, QRELS, "mtf", budgets=0.2, measures="AP", depth=5, repeats=1)
    built, _ = cut(asked_for("mtf", 0), 0.2)
    changes = ptr.rankings.rank_changes(
        ptr.score(RUNS, QRELS, "AP").mean["AP"], ptr.score(RUNS, built, "AP").mean["AP"]
    )
    table = RUNS.run_table
    before, after = (ptr.score(RUNS, qrels, "AP").mean["AP"] for qrels in (QRELS, built))
    pct = (100 * (after - before) / before).to_numpy()
    unpooled = [team for team, part in table.groupby("team") if not part["pooled"].any()]
    assert unpooled
    assert set(found.groups["group"]) == {*table["type"], *unpooled}
    for row in found.groups.itertuples():
        mine = (table[row.by] == row.group).to_numpy()
        assert row.runs == mine.sum()
        assert row.mean_drop == pytest.approx(changes["drop"].to_numpy()[mine].mean())
        assert row.change_pct == pytest.approx(pct[mine].mean())
        assert row.others_change_pct == pytest.approx(pct[~mine].mean())


@pytest.mark.parametrize("by", ["team", "run"])
def test_leaving_out_builds_the_judgments_without_each_unit(by):
    found = ptr.pools.compare_strategies(
        RUNS, QRELS, "mtf", budgets=0.5, measures="AP", depth=5, repeats=1, leave_out=by
    ).left_out
    pooled = RUNS.pooled.fillna(True).to_numpy(dtype=bool)
    column = RUNS.run_table["name" if by == "run" else by]
    orders = asked_for("mtf", 0)
    built, _ = cut(orders, 0.5)
    full = ptr.score(RUNS, built, "AP").mean["AP"].to_numpy().round(12)
    own, fields = full.copy(), {}
    relevant = QRELS.to_frame().query("label >= 1")
    alone = ptr.depth_pool(RUNS, depth=5).uniques(by=by)
    alone = alone.merge(relevant, on=["qid", "docno"])
    for unit in dict.fromkeys(column[pooled]):
        topics = set(alone.loc[alone["name" if by == "run" else by] == unit, "qid"])
        if not topics:
            continue
        theirs = asked_for("mtf", 0, contributing=pooled & (column != unit).to_numpy())
        n = {qid: math.floor(round(0.5 * len(order), 9) + 0.5) for qid, order in orders.items()}
        rows = [
            (qid, *pair) for qid in orders for pair in (theirs.get(qid, []) if qid in topics else orders[qid])[: n[qid]]
        ]
        without = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]), topics=QRELS.topics)
        scores = ptr.score(RUNS, without, "AP").mean["AP"].to_numpy().round(12)
        mine = (column == unit).to_numpy()
        own[mine], fields[unit] = scores[mine], scores
    (row,) = found.to_dict("records")
    assert row["units"] == len(fields) > 0
    assert row["own_tau_b"] == pytest.approx(kendalltau(full, own).statistic)
    loss = -100 * (own - full) / full
    assert row["largest_loss_pct"] == pytest.approx(max(0, np.nanmax(loss)))
    drops = {unit: ptr.rankings.largest_drop(full, scores) for unit, scores in fields.items()}
    assert row["field_max_drop"] == max(drops.values())
    assert row["field_min_tau_b"] == pytest.approx(min(kendalltau(full, s).statistic for s in fields.values()))
    assert row["field_worst"] is None or drops[row["field_worst"]] == max(drops.values())
