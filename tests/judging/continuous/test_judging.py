"""Judging by a protocol against plain loops, and what holds whatever the scorer, the judge and the protocol."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Hashed, slow_topic
from hypothesis import given, settings
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.judging import AutoTAR, DenseTopic, FewJudged, FruitfulBatch, NoBatchYet, Protocol, TrecDL2021

SMALL = (DenseTopic(0.6), FewJudged(25), NoBatchYet(), FruitfulBatch(0.4, 0.2, 1))
PROTOCOLS = {
    "AutoTAR": AutoTAR(topic_budget=30, presumed_negatives=10),
    "AutoTAR to the end": AutoTAR(topic_budget=100, presumed_negatives=3, growth=0.5),
    "the track": TrecDL2021(goes_on_while=SMALL, batch=5, topic_budget=45, abandon_from=20, presumed_negatives=8),
    "the track, soon abandoned": TrecDL2021(
        goes_on_while=SMALL, batch=4, abandon_above=0.5, abandon_from=8, presumed_negatives=20
    ),
    "without the query": TrecDL2021(goes_on_while=SMALL, batch=7, query_seed=False, presumed_negatives=8),
}


def pool_of(docnos, topics=TOPICS):
    rows = [(qid, docno) for qid in topics["qid"] for docno in docnos]
    return ptr.Pool.from_frame(pd.DataFrame(rows, columns=["qid", "docno"]))


@pytest.mark.parametrize(("seed", "name"), list(enumerate(PROTOCOLS)))
def test_the_same_documents_in_the_same_order_as_plain_loops(name, seed):
    protocol, first = PROTOCOLS[name], [f"d{i}" for i in (7, 3, 50, 21, 8, 30, 5, 44)]
    pooled = protocol.pool_depth is not None
    found = ptr.judging.judge_continuously(
        CORPUS, TOPICS, LABELS, protocol=protocol, pool=pool_of(first) if pooled else None, seed=seed
    )
    for row in found.topics.itertuples():
        query = TOPICS.set_index("qid")["query"][row.qid]
        slow, status = slow_topic(CORPUS, (row.qid, query), LABELS[row.qid], protocol, seed, first)
        mine = found.labels[found.labels["qid"] == row.qid]
        assert list(zip(mine["docno"], mine["round"], strict=True)) == [(docno, n) for docno, n, _ in slow]
        assert row.status == status
        chosen = mine[mine["strategy"] == "cal"]
        said = [float(reason.removeprefix("probability ")) for reason in chosen["reason"]]
        assert np.allclose(said, [p for _, _, p in slow if p is not None], atol=0.0051)
        assert mine["label"].tolist() == [LABELS[row.qid][docno] for docno in mine["docno"]]
        assert row.relevant == sum(LABELS[row.qid][docno] >= 1 for docno, _, _ in slow)


def test_documents_without_a_label_teach_nothing_and_are_not_asked_again(messages):
    some = {qid: {docno: label for docno, label in of.items() if int(docno[1:]) % 3} for qid, of in LABELS.items()}
    protocol, judge = AutoTAR(topic_budget=25, presumed_negatives=10), ptr.judging.Oracle(some, unknown="skip")
    found = messages.warned(lambda: ptr.judging.judge_continuously(CORPUS, TOPICS, judge, protocol=protocol))
    assert (found.topics["asked"] == 25).all()
    for row in found.topics.itertuples():
        query = TOPICS.set_index("qid")["query"][row.qid]
        slow, _ = slow_topic(CORPUS, (row.qid, query), some[row.qid], protocol, 0)
        expected = [docno for docno, _, _ in slow if docno in some[row.qid]]
        assert found.labels.loc[found.labels["qid"] == row.qid, "docno"].tolist() == expected
        assert row.judged == len(expected) < row.asked


@st.composite
def protocols(draw):
    conditions = draw(
        st.sampled_from([(), SMALL, (FewJudged(4),), (FruitfulBatch(0.3),), (DenseTopic(0.2), NoBatchYet())])
    )
    return Protocol(
        batch=draw(st.integers(1, 5)),
        growth=draw(st.sampled_from([0.0, 0.1, 1.0])),
        presumed_negatives=draw(st.integers(0, 5)),
        goes_on_while=conditions,
        topic_budget=draw(st.one_of(st.integers(1, 12), st.none() if conditions else st.just(9))),
        total_budget=draw(st.one_of(st.none(), st.integers(1, 25))),
        abandon_above=draw(st.sampled_from([None, 0.5])),
        abandon_from=draw(st.integers(1, 4)),
    )


labels = st.dictionaries(
    st.sampled_from(["1", "2", "10"]),
    st.dictionaries(st.sampled_from([f"d{i}" for i in range(14)]), st.sampled_from([0, 1, 2])),
)


@settings(max_examples=15, deadline=None)
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
@given(protocols(), labels, st.lists(st.sampled_from([f"d{i}" for i in range(14)]), unique=True), st.integers(0, 3))
def test_whatever_is_judged(protocol, known, pooled, seed):
    scorer = Hashed({"1": 12, "2": 3, "10": 0})
    judge = ptr.judging.Oracle({**{qid: {} for qid in scorer.of}, **known, "x": {"d": 1}}, unknown="skip")
    pool = pool_of(pooled) if pooled else None
    found = ptr.judging.judge_continuously(scorer, TOPICS, judge, protocol=protocol, pool=pool, rel=2, seed=seed)
    rounds, topics, given_labels = found.rounds, found.topics, found.labels
    assert not given_labels.duplicated(["qid", "docno"]).any(), "no document is judged twice"
    assert given_labels["label"].tolist() == [
        known[qid][docno] for qid, docno in zip(given_labels["qid"], given_labels["docno"], strict=True)
    ]
    assert (topics["qid"] == TOPICS["qid"]).all()
    assert topics["asked"].max() <= (protocol.topic_budget or np.inf)
    assert topics["asked"].sum() <= (protocol.total_budget or np.inf)
    assert (topics["judged"] == topics["pool_judged"] + topics["cal_judged"]).all()
    for row in topics.itertuples():
        mine = given_labels[given_labels["qid"] == row.qid]
        assert (row.judged, row.relevant) == (len(mine), (mine["label"] >= 2).sum())
        steps = rounds[rounds["qid"] == row.qid]
        everything = set(scorer.of[row.qid]) | set(pooled)
        if row.status == "exhausted":
            assert row.asked == len(everything)
        if len(steps):
            assert (steps["decision"].iloc[:-1] == "goes on").all()
            assert steps["decision"].iloc[-1] == row.status != "goes on"
            assert steps["asked"].is_monotonic_increasing
            assert steps["asked"].iloc[-1] == row.asked
            assert steps["round"].tolist() == list(range(1, len(steps) + 1))
        if row.status == "total budget":
            assert topics["asked"].sum() == protocol.total_budget
    # rounds go through the topics in their order
    order = rounds.groupby("round")["qid"].apply(list)
    assert all(qids == [qid for qid in TOPICS["qid"] if qid in qids] for qids in order)


@settings(max_examples=5, deadline=None)
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
@given(st.integers(1, 4), st.integers(0, 4), st.integers(1, 40), st.integers(0, 2))
def test_a_budget_is_a_prefix(batch, negatives, budget, seed):
    scorer, known = Hashed({"1": 12, "2": 9, "10": 1}), {qid: {f"d{i}": i % 2 for i in range(12)} for qid in "12"}
    judge, options = (
        ptr.judging.Oracle(known, unknown="not relevant"),
        {"batch": batch, "presumed_negatives": negatives},
    )
    whole, cut = (
        ptr.judging.judge_continuously(scorer, TOPICS, judge, protocol=Protocol(total_budget=n, **options), seed=seed)
        for n in (99, budget)
    )
    assert len(whole.labels) == 22
    pd.testing.assert_frame_equal(
        whole.labels.drop(columns="time").head(budget), cut.labels.drop(columns="time"), check_index_type=False
    )
