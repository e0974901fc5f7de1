"""Strategies by name, by class and with options: all is checked before a run is read; labels nobody asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_strategies import topic_of, topics
from strategy_parts import asked_for

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.adaptive.bandits import topic_lists
from pt_reuse.pooling.adaptive.strategy import CHOOSERS, adaptive_pool, as_strategy, judged_in_order
from pt_reuse.pooling.depth import depth_pool

RUNS = [[("a", 2), ("b", 1)], [("c", 2), ("a", 1)]]


class Last(ptr.pools.Chooser):
    """The document of the worst best rank."""

    name = "last"

    def choose(self):
        return int(np.flatnonzero(self.left)[-1])

    def observe(self, document, relevant):
        """Learn nothing."""


class Depth(Last):
    name = "depth"

    def __init__(self, topic, random, *, depth):
        super().__init__(topic, random)
        if depth < 1:
            raise ptr.InputError("depth must be at least 1.", argument="depth")


def test_a_strategy_of_ones_own_needs_its_class_alone():
    topic = topic_of(RUNS)
    order = judged_in_order(as_strategy(Last), topic, np.zeros(3, dtype=np.int8), seed=0, budget=9)
    assert [topic.docnos[document] for document in order.tolist()] == ["b", "a", "c"]
    assert "last" not in CHOOSERS
    assert Last(topic, np.random.default_rng()).reason(0) == ""


def test_options_are_checked_at_once(messages):
    for name, option in (
        *(("epsilon-greedy", {"epsilon": value}) for value in (1.01, float("nan"), True, "0.1")),
        *(("epsilon-greedy", {"epsilom": 0.1}), ("max-mean", {"rate": 0.1}), ("max-mean-ns", {"rate": -0.1})),
        *(("hedge", {"beta": 0}), ("hedge", {"beta": 1}), ("rrf", {"k": -1}), ("rbp", {"p": 1}), ("borda", {"k": 1})),
        *(("combsum", {"norm": "minmax"}), ("combmnz", {"norm": None}), (Depth, {}), (Depth, {"depth": 0})),
    ):
        argument = next(iter(option), "depth")
        messages.refused(lambda name=name, o=option: ptr.pools.Strategy(name, **o), argument=argument)


def test_a_choice_that_is_no_document_left_is_refused(messages, monkeypatch):
    chooser = ptr.pools.Strategy(Last).start(topic_of(RUNS, qid="301"), seed=0)
    chooser.learn(chooser.next(), True)
    for choice in (2, -1, 3):
        monkeypatch.setattr(Last, "choose", lambda self, choice=choice: choice)
        messages.refused(chooser.next)
    monkeypatch.setattr(Last, "choose", lambda self: np.int64(1))
    assert type(chooser.next()) is int


def test_a_label_that_nobody_asked_for_is_refused(messages):
    chooser = ptr.pools.Strategy("rank").start(topic_of(RUNS, qid="301"), seed=0)
    messages.refused(lambda: chooser.learn(0, True), argument="document")
    assert chooser.next() == 0
    messages.refused(lambda: chooser.learn(1, True), argument="document")
    messages.refused(lambda: chooser.learn(-1, True), argument="document")
    messages.refused(lambda: chooser.learn(7, True), argument="document")
    chooser.learn(0, True)
    messages.refused(lambda: chooser.learn(0, True), argument="document")
    assert chooser.n_left == 2


# strategies by hand: small fields whose choices are worked out in the comments, and what holds between strategies


def topic(*runs):
    return topic_of([[(doc, -i) for i, doc in enumerate(run)] for run in runs])


@pytest.mark.parametrize("name", ["hedge", "mtc"])
@pytest.mark.parametrize("n", range(2, 13))
def test_sums_that_differ_by_rounding_alone_are_equal(name, n):
    # n lists of n documents, each document at each rank once: all are worth the same, added up in another order
    lists = topic(*([f"d{(start + i) % n:02}" for i in range(n)] for start in range(n)))
    chooser = CHOOSERS[name](lists, np.random.default_rng(0))
    assert chooser.next() == 0


# the lists of a topic as strategies see them: numbering, depth, contributors, scores, the order of runs


def field(runs, qids=("1",)):
    frames = {}
    for r, run in enumerate(runs):
        rows = [(qid, doc, float(score)) for qid in qids for doc, score in run]
        frames[f"r{r}"] = pd.DataFrame(rows, columns=["qid", "docno", "score"]).astype({"qid": str, "docno": str})
    return RunSet.from_frames(frames)


@given(given=topics(), depth=st.integers(1, 9), data=st.data())
def test_the_lists_are_the_tops_of_the_contributing_runs(given, depth, data):
    runs, _ = given
    contributing = np.array([data.draw(st.booleans()) for _ in runs])
    # ties of scores fall by name, descending
    ordered = [sorted(run, key=lambda row: row[0], reverse=True) for run in runs]
    ordered = [sorted(run, key=lambda row: -row[1])[:depth] for run in ordered]
    chosen = [run for run, counts in zip(ordered, contributing.tolist(), strict=True) if counts]
    (found,) = topic_lists(field(runs), depth, contributing)
    expected = topic_of(chosen)
    names = tuple(f"r{r}" for r in np.flatnonzero(contributing).tolist())
    assert found.names == names
    assert found.docnos == expected.docnos
    for name in ("starts", "codes", "scores", "run", "rank"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    by_document = [[r for r, run in enumerate(chosen) if doc in dict(run)] for doc in found.docnos]
    assert found.runs_of == by_document
    if contributing.any() and chosen and any(chosen):
        pool = depth_pool(field(runs), depth=depth, contributors=list(names))
        assert sorted(pool.to_frame()["docno"]) == sorted(found.docnos)


# pools of what a strategy has judged, against the two methods of a chooser

FIELD = ptr.demo.simulate_field(seed=7, n_topics=4, n_docs=60, n_teams=5, length=12, depth=5)
OF_FIELD, QRELS = FIELD.runs, FIELD.qrels


@pytest.mark.parametrize("n", [0, 3, 10**6])
def test_the_pool_is_in_the_order_of_judging(n):
    pool = adaptive_pool(OF_FIELD, QRELS, "hedge", n=n, depth=5, seed=1)
    orders = asked_for("hedge", 1, runs=OF_FIELD, qrels=QRELS, depth=5)
    frame = pool.to_frame()
    assert pool.topics == OF_FIELD.topics
    assert frame[["qid", "docno", "round"]].to_numpy().tolist() == [
        [qid, docno, place] for qid in OF_FIELD.topics for place, (docno, _) in enumerate(orders[qid][:n], 1)
    ]
    assert frame["reason"].str.startswith("expected gain").all()
    contributions = ptr.depth_pool(OF_FIELD, depth=5).contributions().merge(frame[["qid", "docno"]])
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


@pytest.mark.filterwarnings("ignore:.*no pair can agree:pt_reuse.ReuseWarning")
def test_a_pool_that_tells_strategies_badly_apart_is_told(messages):
    found = QRELS.to_frame()
    relevant = Qrels(found[found["label"] > 0])
    said = "every judged document of the pool is relevant"
    pooled = ptr.depth_pool(OF_FIELD, depth=5).to_frame()
    few = f"{1 - len(relevant) / pooled['qid'].isin(relevant.topics).sum():.0%} of the pool has no label"
    pool = messages.warned(lambda: adaptive_pool(OF_FIELD, relevant, "rank", n=2, depth=5), times=2)
    assert pool.settings["beware"] == f"{said}; {few}"
    compared = messages.warned(
        lambda: ptr.pools.compare_strategies(OF_FIELD, relevant, ["rank", "hedge"], depth=5, measures="AP", repeats=1),
        times=3,
    )
    assert compared.settings["beware"] == f"judgments of relevant documents only; {said}; {few}"
    # half of it is not more than half
    assert "beware" not in adaptive_pool(OF_FIELD, without(0.4), "rank", n=2, depth=5).settings
    assert "beware" in messages.warned(lambda: adaptive_pool(OF_FIELD, without(0.6), "rank", n=2, depth=5)).settings
