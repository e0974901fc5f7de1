"""Pools of what a strategy has judged, against the two methods of a chooser."""

from __future__ import annotations

import numpy as np
import pytest
from strategy_parts import asked_for

import pt_reuse as ptr
from pt_reuse.pooling.adaptive.judged import adaptive_pool
from pt_reuse.qrels.judgments import Qrels

FIELD = ptr.simulate_field(seed=7, n_topics=4, n_docs=60, n_teams=5, length=12, depth=5)
RUNS, QRELS = FIELD.runs, FIELD.qrels


@pytest.mark.parametrize("n", [0, 3, 10**6])
def test_the_pool_is_in_the_order_of_judging(n):
    pool = adaptive_pool(RUNS, QRELS, "hedge", n=n, depth=5, seed=1)
    orders = asked_for("hedge", 1, runs=RUNS, qrels=QRELS, depth=5)
    frame = pool.to_frame()
    assert pool.topics == RUNS.topics
    assert frame[["qid", "docno", "round"]].to_numpy().tolist() == [
        [qid, docno, place] for qid in RUNS.topics for place, (docno, _) in enumerate(orders[qid][:n], 1)
    ]
    assert frame["reason"].str.startswith("expected gain").all()
    contributions = ptr.depth_pool(RUNS, depth=5).contributions().merge(frame[["qid", "docno"]])
    columns = ["qid", "docno", "name", "rank"]
    assert sorted(pool.contributions()[columns].to_numpy().tolist()) == sorted(
        contributions[columns].to_numpy().tolist()
    )
    if n:
        judged = pool.judge(QRELS).to_frame()
        assert judged[["round", "reason"]].to_numpy().tolist() == frame[["round", "reason"]].to_numpy().tolist()


def test_chosen_runs_and_topics_without_judgments():
    chosen = RUNS.names[:2]
    fewer = Qrels(QRELS.to_frame().query("qid != '2'"))
    pool = adaptive_pool(RUNS, fewer, ptr.Strategy("epsilon-greedy", epsilon=0.5), n=4, depth=3, contributors=chosen)
    counted = np.isin(RUNS.names, chosen)
    strategy = ptr.Strategy("epsilon-greedy", epsilon=0.5)
    orders = asked_for(strategy, 0, runs=RUNS, qrels=fewer, depth=3, contributing=counted)
    assert pool.to_frame().groupby("qid")["docno"].apply(list).to_dict() == {
        qid: [docno for docno, _ in order[:4]] for qid, order in orders.items() if order
    }
    assert pool.counts().set_index("qid").loc["2", "documents"] == 0
    assert set(pool.contributions()["name"]) == set(chosen)
    assert pool.settings["strategy"] == "epsilon-greedy(epsilon=0.5)"


def test_what_is_wrong_is_told(messages):
    messages.refused(lambda: adaptive_pool(RUNS, QRELS, "hegde", n=3), argument="strategy")
    messages.refused(lambda: adaptive_pool(RUNS, QRELS, "hedge", n=-1), argument="n")
    messages.refused(lambda: adaptive_pool(RUNS, QRELS, "hedge", n=1, depth=0), argument="depth")
    messages.refused(lambda: adaptive_pool(RUNS, QRELS, "hedge", n=1, rel=0), argument="rel")
    messages.refused(lambda: adaptive_pool(RUNS, QRELS, "hedge", n=1, seed=-1), argument="seed")
