"""compare_strategies where strategies, budgets, labels and fields are not what they usually are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from same import assert_same
from scipy.stats import kendalltau
from strategy_parts import asked_for

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.studies import compare_strategies as strategies_study
from pt_reuse.studies.compare_strategies import checked_budgets

pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.*so that no pair can agree:pt_reuse.ReuseWarning"),
]

FIELD = ptr.simulate_field(seed=7, n_topics=4, n_docs=60, n_teams=5, length=12, depth=5)
RUNS, QRELS = FIELD.runs, FIELD.qrels


def compare(runs=RUNS, qrels=QRELS, strategies="rank", **options):
    return ptr.pools.compare_strategies(
        runs, qrels, strategies, **{"budgets": 0.5, "measures": "AP", "depth": 5, "repeats": 1, **options}
    )


def test_one_run_has_no_ranking():
    name = RUNS.names[0]
    one = ptr.RunSet.from_frames({name: RUNS[name].drop(columns="name")}, teams={name: "T"})
    found = compare(one, strategies=["mtf", "hedge", "mtc"], leave_out="team")
    assert found.table["tau_b"].isna().all()
    assert (found.table["max_drop"] == 0).all()
    # without its only run a topic has no document
    assert found.left_out["largest_loss_pct"].tolist() == [100.0] * 3


def test_labels_below_0_are_none_and_topics_without_labels_count():
    frame = QRELS.to_frame()
    frame["label"] = np.where(frame.index % 5 == 0, -1, np.where(frame.index % 5 == 1, -2, frame["label"]))
    frame = frame[frame["qid"] != QRELS.topics[0]]
    qrels = Qrels(frame, topics=[*QRELS.topics, "nowhere"])
    measures = ["AP", "Bpref", "Judged@10", "infAP"]
    found = compare(qrels=qrels, strategies="mtf", budgets=3, measures=measures).by_seed.set_index("measure")
    orders = asked_for("mtf", 0, runs=RUNS, qrels=qrels, depth=5)
    rows = [(qid, *pair) for qid, order in orders.items() for pair in order[:3]]
    assert min(label for _, _, label in rows) == 0
    assert {qid for qid, _, _ in rows} == set(QRELS.topics[1:])
    assert set(found["judged"]) == {len(rows)}
    few = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]), topics=qrels.topics)
    full, cut = (ptr.score(RUNS, one, measures).mean for one in (qrels, few))
    for measure in measures:
        tau = kendalltau(full[measure].round(12), cut[measure].round(12)).statistic
        assert found.loc[measure, "tau_b"] == pytest.approx(tau, nan_ok=True)
        assert found.loc[measure, "max_drop"] == ptr.rankings.largest_drop(
            full[measure].round(12), cut[measure].round(12)
        )


def test_the_runs_of_a_unit_are_ranked_among_the_others_as_they_were():
    found = compare(strategies="mtf", budgets=0.1, leave_out="type", seed=2).left_out.iloc[0]
    pooled, kinds = RUNS.pooled.fillna(True).to_numpy(dtype=bool), RUNS.run_table["type"].to_numpy()
    orders = asked_for("mtf", 2, runs=RUNS, qrels=QRELS, depth=5)
    n = {qid: int(0.1 * len(order) + 0.5) for qid, order in orders.items()}

    def means(judged):
        rows = [(qid, *pair) for qid, order in judged.items() for pair in order[: n[qid]]]
        qrels = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]), topics=QRELS.topics)
        return ptr.score(RUNS, qrels, "AP").mean["AP"].round(12).to_numpy()

    full = means(orders)
    alone = ptr.depth_pool(RUNS, depth=5).uniques(by="type").merge(QRELS.to_frame().query("label >= 1"))
    drops = []
    for kind in dict.fromkeys(kinds):
        topics = set(alone.loc[alone["type"] == kind, "qid"])
        theirs = asked_for("mtf", 2, runs=RUNS, qrels=QRELS, depth=5, contributing=pooled & (kinds != kind))
        without = means({qid: theirs.get(qid, []) if qid in topics else order for qid, order in orders.items()})
        scores = np.where(kinds == kind, without, full)
        drops += [
            (scores > scores[row]).sum() - (full > full[row]).sum() for row in np.flatnonzero(kinds == kind).tolist()
        ]
    assert found["alone_max_drop"] == max(drops) > 0


def test_every_budget_stands_on_the_curve():
    assert checked_budgets(0.005).curve(9) == [0, 0.005]
    assert checked_budgets([0.1 + 0.2, 0.025]).curve(9) == sorted([*(i / 100 for i in range(31)), 0.025])
    assert checked_budgets([3, 10**9]).curve(4) == [0, 1, 2, 3, 4, 10**9]
    assert checked_budgets(np.array(0.25)).values == (0.25,)
    found = compare(budgets=[2, 10**9])
    assert found.curve["budget"].max() == 10**9
    assert found.curve["recall"].iloc[-1] == 1
    assert len(found.curve) < 100


def test_a_report_is_of_one_of_the_budgets(messages):
    found = compare(strategies=["rank", "mtf"], budgets=[0.1, 1.0])
    assert found.report(budget=1).shown().equals(found.report(budget=1.0).shown())
    assert len(found.report(budget=np.float64(0.1)).shown()) == 2
    assert len(found.report().shown()) == 4
    for wrong in (0.2, "0.1"):
        messages.refused(lambda wrong=wrong: found.report(budget=wrong), argument="budget")


def test_parts_of_the_work_make_the_same_whole(monkeypatch):
    def found():
        measures = ["AP", "Bpref", "infAP"]
        return compare(strategies=["mtf", "random"], measures=measures, budgets=[0.2, 0.7], repeats=3, leave_out="run")

    whole = found()
    for few in (0, 40):
        monkeypatch.setattr(strategies_study, "AT_ONCE", few)
        assert_same(found(), whole)
