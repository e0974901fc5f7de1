"""Pools of what a strategy has judged, against the two methods of a chooser."""

from __future__ import annotations

import pytest
from strategy_parts import asked_for

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.pooling.adaptive.strategy import adaptive_pool

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


def without(share):
    """Return the judgments without the labels of a share of each topic's documents."""
    frame = QRELS.to_frame()
    place = frame.groupby("qid").cumcount() / frame.groupby("qid")["docno"].transform("size")
    return Qrels(frame[place >= share])


@pytest.mark.filterwarnings("ignore:.*so that no pair can agree:pt_reuse.ReuseWarning")
def test_a_pool_that_tells_strategies_badly_apart_is_told(messages):
    found = QRELS.to_frame()
    relevant = Qrels(found[found["label"] > 0])
    said = "every judged document of the pool is relevant"
    pooled = ptr.depth_pool(RUNS, depth=5).to_frame()
    few = f"{1 - len(relevant) / pooled['qid'].isin(relevant.topics).sum():.0%} of the pool has no label"
    pool = messages.warned(lambda: adaptive_pool(RUNS, relevant, "rank", n=2, depth=5), times=2)
    assert pool.settings["beware"] == f"{said}; {few}"
    compared = messages.warned(
        lambda: ptr.pools.compare_strategies(RUNS, relevant, ["rank", "hedge"], depth=5, measures="AP", repeats=1),
        times=2,
    )
    assert compared.settings["beware"] == f"{said}; {few}"
    # half of it is not more than half
    assert "beware" not in adaptive_pool(RUNS, without(0.4), "rank", n=2, depth=5).settings
    assert "beware" in messages.warned(lambda: adaptive_pool(RUNS, without(0.6), "rank", n=2, depth=5)).settings
