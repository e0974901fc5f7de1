"""Judging adaptively against the order of each topic alone, with budgets, known judgments and judges of every form."""

from __future__ import annotations

from math import floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import DOCS, TOPICS, as_runs, fields
from session_parts import Greedy, Watched, in_turns, records_in

import pt_reuse as ptr
from pt_reuse.judging.protocols import judge_adaptively
from pt_reuse.pooling.adaptive.bandits import topic_lists
from pt_reuse.pooling.adaptive.strategy import Strategy, judged_in_order
from pt_reuse.pooling.depth import depth_pool

FIELD = ptr.demo.simulate_field(seed=7, n_topics=3, n_docs=60, n_teams=4, length=12, depth=4)
RUNS = FIELD.runs
LABELS = {
    qid: {docno: int(n % 3 == 0) + int(n % 6 == 0) for n, docno in enumerate(sorted(part["docno"].unique()))}
    for qid, part in RUNS.to_frame().groupby("qid")
}
ANY_LABEL = st.sampled_from([0, 0, 1, 2, None])


def orders_of(runs, labels, strategy=Greedy, *, seed=0, depth=100, rel=1):
    """Return topic -> documents in the order in which each topic alone is labelled to its end."""
    orders = {}
    for topic in topic_lists(runs, depth, np.ones(len(runs), dtype=bool)):
        found = [labels.get(topic.qid, {}).get(docno) for docno in topic.docnos]
        relevant = np.array([-1 if label is None else label >= rel for label in found], dtype=np.int8)
        order = judged_in_order(Strategy(strategy), topic, relevant, seed=seed, budget=len(topic))
        orders[topic.qid] = [topic.docnos[doc] for doc in order.tolist()]
    return orders


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
@settings(max_examples=10, deadline=None)
@given(
    fields(),
    st.dictionaries(st.sampled_from(TOPICS), st.dictionaries(st.sampled_from(DOCS), ANY_LABEL)),
    st.one_of(st.none(), st.integers(0, 9), st.floats(0, 1)),
    st.one_of(st.none(), st.integers(0, 20)),
    st.integers(1, 8),
    st.integers(0, 3),
)
def test_topics_take_turns_within_their_budgets(field, labels, budget, total, depth, seed):
    runs, judge = as_runs(field), Watched(labels)
    orders = orders_of(runs, labels, seed=seed, depth=depth)
    sizes = depth_pool(runs, depth=depth, contributors="all").to_frame()["qid"].value_counts()
    if isinstance(budget, float):
        # nearest whole number, halves up
        most = {qid: floor(budget * int(sizes.get(qid, 0)) + 0.5 + 1e-9) for qid in orders}
    else:
        most = {qid: len(order) if budget is None else budget for qid, order in orders.items()}
    judged = judge_adaptively(
        runs, Greedy, judge, budget=budget, total=total, depth=depth, contributors="all", seed=seed
    )
    labelled = in_turns(orders, most, total)
    assert len(set(judge.asked)) == len(judge.asked)
    assert {pair for pair in judge.asked if labels.get(pair[0], {}).get(pair[1]) is not None} == set(labelled)
    assert judged.topics == runs.topics
    frame = judged.to_frame()
    rows = {(row.qid, row.docno): row for row in frame.itertuples()}
    assert set(rows) == set(labelled)
    for qid, docno in labelled:
        row = rows[qid, docno]
        assert row.label == labels[qid][docno]
        assert row.round == orders[qid].index(docno) + 1
    for qid in judged.topics:
        of_topic = frame[frame["qid"] == qid]
        assert of_topic["docno"].tolist() == [docno for docno in orders[qid] if (qid, docno) in rows]


def test_known_judgments_cost_nothing_and_teach_the_strategy():
    everything = judge_adaptively(RUNS, Greedy, LABELS, depth=6).to_frame()
    known = everything.sample(frac=0.5, random_state=1)[["qid", "docno", "label"]]
    judge = Watched(LABELS)
    more = judge_adaptively(RUNS, Greedy, judge, depth=6, known=known)
    there = set(zip(known["qid"], known["docno"], strict=True))
    rest = everything[[pair not in there for pair in zip(everything["qid"], everything["docno"], strict=True)]]
    assert more.to_frame()["docno"].tolist() == rest["docno"].tolist()
    assert not there & set(judge.asked)
    assert len(ptr.Qrels(known) | more) == len(everything)
    assert len(judge_adaptively(RUNS, Greedy, LABELS, depth=6, known=known, budget=2)) == 6


def test_a_document_without_a_label_costs_nothing_and_is_asked_about_once(messages):
    # a third of the documents has no label, a third one below 0
    thirds = {qid: enumerate(docs.items()) for qid, docs in LABELS.items()}
    some = {qid: {d: [label, None, -1][n % 3] for n, (d, label) in docs} for qid, docs in thirds.items()}
    judge = Watched(some)
    judged = messages.warned(judge_adaptively, runs=RUNS, strategy=Greedy, judge=judge, depth=6, budget=4)
    frame = judged.to_frame()
    labels = frame[frame["label"] >= 0]
    assert labels["qid"].tolist() == [qid for qid in RUNS.topics for _ in range(4)]
    assert labels.groupby("qid")["round"].agg(list).tolist() == [[1, 2, 3, 4]] * 3
    expected = [(qid, d) for qid, d in judge.asked if some[qid][d] == -1]
    below = frame[frame["label"] < 0]
    assert sorted(zip(below["qid"], below["docno"], strict=True)) == sorted(expected) != []
    assert len(set(judge.asked)) == len(judge.asked) > len(frame)
    # a total is of labels, too, and goes to the first topics
    with pytest.warns(ptr.ReuseWarning, match="without a label"):
        first = judge_adaptively(RUNS, Greedy, Watched(some), depth=6, total=7).to_frame()
    assert first.loc[first["label"] >= 0, "qid"].value_counts()[RUNS.topics].tolist() == [3, 2, 2]


@pytest.mark.parametrize("thought", [{1}, {1: 0.5}, ((1, 2), 3), float("inf")], ids=["object", "keys", "nested", "inf"])
def test_what_a_session_cannot_keep(tmp_path, messages, thought):
    def says(frame):
        return frame.assign(label=1, thought=pd.Series([thought] * len(frame), dtype=object, index=frame.index))

    options = {"runs": RUNS, "strategy": Greedy, "judge": says, "budget": 1}
    if not isinstance(thought, float):
        assert judge_adaptively(**options).to_frame()["thought"].tolist() == [thought] * 3
    error = messages.refused(judge_adaptively, argument="judge", **options, session=tmp_path / "s")
    assert "cannot keep" in str(error)
    assert not records_in(tmp_path / "s" / "journal.jsonl")


def test_what_cannot_be_judged_is_refused(messages):
    def judge(**options):
        return judge_adaptively(
            **{"runs": RUNS, "strategy": Greedy, "judge": LABELS, "budget": 2, "depth": 6, **options}
        )

    for budget in (-1, -0.5, 1.5, float("nan"), True, "5", 2**40):
        messages.refused(judge, argument="budget", budget=budget)
    for topics in (["1"], *(pd.DataFrame({"qid": qids, "query": "q"}) for qids in (["1", "1"], ["1"]))):
        messages.refused(judge, argument="topics", topics=topics)
    for argument, value in {"total": -1, "batch_size": 0, "seed": -1, "depth": 0, "rel": 0, "known": 3}.items():
        messages.refused(judge, argument=argument, **{argument: value})
    messages.refused(judge, judge=lambda frame: frame.assign(label=99999))
    messages.refused(judge, strategy=Stuck)


class Stuck(Greedy):
    """Chooses its first document for ever."""

    name = "stuck"

    def choose(self):
        return 0
