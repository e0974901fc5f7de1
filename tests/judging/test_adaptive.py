"""Judging adaptively against the order of each topic alone, with budgets, known judgments and judges of every form."""

from __future__ import annotations

from math import floor

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import DOCS, TOPICS, as_runs, fields
from session_parts import Greedy, Watched, in_turns, records_in, same, told_of

import pt_reuse as ptr
from pt_reuse._errors import InputError
from pt_reuse.data.frame_columns import PROVENANCE
from pt_reuse.judging.adaptive import judge_adaptively
from pt_reuse.pooling.adaptive.chooser import topic_lists
from pt_reuse.pooling.adaptive.strategy import Strategy, judged_in_order
from pt_reuse.pooling.depth import depth_pool

FIELD = ptr.simulate_field(seed=7, n_topics=3, n_docs=60, n_teams=4, length=12, depth=4)
RUNS = FIELD.runs
POOLED = RUNS.pooled.fillna(True).to_numpy(dtype=bool)
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
@settings(max_examples=30, deadline=None)
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


def test_the_whole_pool_by_default():
    judged = judge_adaptively(RUNS, Greedy, LABELS, depth=6)
    pool = depth_pool(RUNS, depth=6)
    assert len(judged) == len(pool)
    same_pairs = pool.judge(LABELS).to_frame().sort_values(["qid", "docno"])[["qid", "docno", "label"]]
    found = judged.to_frame().sort_values(["qid", "docno"])[["qid", "docno", "label"]]
    assert found.to_numpy().tolist() == same_pairs.to_numpy().tolist()


def test_every_label_has_its_provenance():
    frame = judge_adaptively(RUNS, Strategy(Greedy, greed=0.9), Watched(LABELS), budget=3, depth=6).to_frame()
    assert list(frame) == ["qid", "docno", "label", *PROVENANCE]
    assert set(frame["judge"]) == {"watched"}
    assert set(frame["strategy"]) == {"greedy(greed=0.9)"}
    assert frame["round"].tolist() == [1, 2, 3] * 3
    n_runs = depth_pool(RUNS, depth=6).to_frame().set_index(["qid", "docno"])["runs"]
    assert [f"of {n_runs[row.qid, row.docno]} runs" for row in frame.itertuples()] == frame["reason"].tolist()
    moments = pd.to_datetime(frame["time"])
    assert (moments.dt.tz_convert("UTC") <= pd.Timestamp.now(tz="UTC")).all()


def test_a_larger_budget_begins_with_the_judgments_of_a_smaller_one():
    small, large = (judge_adaptively(RUNS, Greedy, LABELS, budget=n, depth=6) for n in (2, 5))
    frame = told_of(large)
    pd.testing.assert_frame_equal(told_of(small), frame[frame["round"] <= 2].reset_index(drop=True))


def test_one_is_a_document_and_one_point_nought_the_pool():
    assert len(judge_adaptively(RUNS, Greedy, LABELS, budget=1, depth=6)) == 3
    assert len(judge_adaptively(RUNS, Greedy, LABELS, budget=1.0, depth=6)) == len(depth_pool(RUNS, depth=6))
    nothing = judge_adaptively(RUNS, Greedy, LABELS, budget=0, depth=6)
    assert (len(nothing), nothing.topics) == (0, RUNS.topics)
    assert list(nothing.to_frame()) == ["qid", "docno", "label", *PROVENANCE]


def test_all_topics_are_asked_about_in_one_call_a_round():
    judge = Watched(LABELS)
    judge_adaptively(RUNS, Greedy, judge, budget=4, depth=6)
    assert [len(call) for call in judge.calls] == [3, 3, 3, 3]
    one_by_one = Watched(LABELS)
    judge_adaptively(RUNS, Greedy, one_by_one, budget=4, depth=6, batch_size=2)
    assert [len(call) for call in one_by_one.calls] == [2, 1] * 4
    assert one_by_one.asked == judge.asked


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


def test_known_documents_that_were_not_judged_are_asked_about():
    known = pd.DataFrame({"qid": list(LABELS), "docno": [next(iter(docs)) for docs in LABELS.values()], "label": -1})
    same(judge_adaptively(RUNS, Greedy, LABELS, known=known), judge_adaptively(RUNS, Greedy, LABELS))


def test_relevance_is_what_the_caller_or_the_judge_says():
    rows = [(qid, docno, label) for qid, docs in LABELS.items() for docno, label in docs.items()]
    graded = ptr.Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))
    order = {rel: judge_adaptively(RUNS, Greedy, graded, rel=rel) for rel in (1, 2)}
    assert order[1].to_frame()["docno"].tolist() != order[2].to_frame()["docno"].tolist()
    assert [qrels.rel for qrels in order.values()] == [1, 2]
    same(judge_adaptively(RUNS, Greedy, graded.with_rel(2)), order[2])
    for rel, judged in order.items():
        expected = orders_of(RUNS.select(pooled=True), LABELS, rel=rel)
        assert judged.to_frame()["docno"].tolist() == [docno for docs in expected.values() for docno in docs]


def test_documents_without_a_label_are_counted_once(messages):
    some = {qid: dict(list(docs.items())[::2]) for qid, docs in LABELS.items()}
    judge = Watched(some)
    judged = messages.warned(judge_adaptively, runs=RUNS, strategy=Greedy, judge=judge, depth=6)
    assert len(set(judge.asked)) == len(judge.asked) == len(depth_pool(RUNS, depth=6))
    assert len(judged) == sum(docno in some[qid] for qid, docno in judge.asked)


def test_a_document_without_a_label_costs_nothing_and_is_asked_about_once(messages):
    # a third of the documents has no label, a third one below 0
    some = {
        qid: {d: [label, None, -1][n % 3] for n, (d, label) in enumerate(docs.items())} for qid, docs in LABELS.items()
    }
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
    assert first.loc[first["label"] >= 0, "qid"].value_counts().to_dict() == dict(
        zip(RUNS.topics, (3, 2, 2), strict=True)
    )


def test_judgments_that_are_given_as_a_judge_skip_what_they_do_not_know():
    some = {qid: dict(list(docs.items())[::2]) for qid, docs in LABELS.items()}
    with pytest.warns(ptr.ReuseWarning, match="without a label, left out"):
        judged = judge_adaptively(RUNS, Greedy, some, depth=6)
    with pytest.warns(ptr.ReuseWarning, match="without a label, left out"):
        looked_up = depth_pool(RUNS, depth=6).judge(some)
    pairs = ["qid", "docno", "label"]
    assert sorted(judged.to_frame()[pairs].values.tolist()) == sorted(looked_up.to_frame()[pairs].values.tolist())


def test_a_judge_may_be_a_pipeline_that_reads_texts_and_queries():
    topics = pd.DataFrame({"qid": ["9", *RUNS.topics], "query": ["none", *(f"query {t}" for t in RUNS.topics)]})
    texts = pt.apply.text(lambda row: f"text of {row['docno']}")
    seen = []

    def label(frame):
        seen.append(frame)
        return frame.assign(label=[LABELS[q][d] for q, d in zip(frame["qid"], frame["docno"], strict=True)])

    judged = judge_adaptively(RUNS, Greedy, texts >> pt.apply.generic(label), budget=3, topics=topics)
    assert (
        told_of(judged)
        .drop(columns="judge")
        .equals(told_of(judge_adaptively(RUNS, Greedy, LABELS, budget=3)).drop(columns="judge"))
    )
    read = pd.concat(seen)
    assert (read["query"] == "query " + read["qid"]).all()
    assert (read["text"] == "text of " + read["docno"]).all()


def test_a_judge_may_read_texts_from_a_collection():
    demo = pt.get_dataset("reuse:demo")
    texts = {document["docno"]: document["text"] for document in demo.documents()}
    words = ptr.judging.Callable(lambda query, text: int(query.split()[0] in text), name="words")
    judge = pt.text.get_text(demo, "text") >> words
    judged = judge_adaptively(demo.get_runs(), "mtf", judge, budget=1, depth=5, topics=demo.get_topics()).to_frame()
    query = demo.get_topics().set_index("qid")["query"]
    assert len(judged) == 41
    for row in judged.itertuples():
        assert row.label == int(query[row.qid].split()[0] in texts[row.docno])


def test_what_a_judge_says_of_a_label_beside_it_is_kept(tmp_path):
    def says(qid, docno):
        share = 0.25 if docno < "doc00030" else 0.75
        return {0: 1 - share, 1: share}

    options = {"name": "says", "reads": ("qid", "docno"), "answers": "probabilities", "labels": (0, 1)}
    judge = ptr.judging.Callable(says, **options)
    first = judge_adaptively(RUNS, Greedy, judge, budget=4, session=tmp_path / "s")
    frame = first.to_frame()
    assert frame["probability"].tolist() == [0.25 if docno < "doc00030" else 0.75 for docno in frame["docno"]]
    assert set(frame["probabilities"]) == {(0.75, 0.25), (0.25, 0.75)}
    pd.testing.assert_frame_equal(
        judge_adaptively(RUNS, Greedy, judge, budget=4, session=tmp_path / "s").to_frame(), frame
    )


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
    messages.refused(judge, argument="total", total=-1)
    messages.refused(judge, argument="batch_size", batch_size=0)
    messages.refused(judge, argument="seed", seed=-1)
    messages.refused(judge, argument="depth", depth=0)
    messages.refused(judge, argument="rel", rel=0)
    messages.refused(judge, argument="topics", topics=["1"])
    messages.refused(judge, argument="topics", topics=pd.DataFrame({"qid": ["1", "1"], "query": "q"}))
    messages.refused(judge, argument="topics", topics=pd.DataFrame({"qid": ["1"], "query": "q"}))
    messages.refused(judge, argument="known", known=3)
    messages.refused(judge, judge=lambda frame: frame.assign(label=99999))
    messages.refused(judge, strategy=Stuck)


class Stuck(Greedy):
    """Chooses its first document for ever."""

    name = "stuck"

    def choose(self):
        return 0


def test_everything_is_checked_before_runs_are_read(tmp_path):
    for wrong in ({"budget": -1}, {"total": -1}, {"seed": "a"}, {"rel": 0}, {"known": 3}, {"verbose": 1}, {"depth": 0}):
        with pytest.raises(InputError) as caught:
            judge_adaptively(tmp_path / "no such folder", Greedy, LABELS, **wrong)
        assert caught.value.argument == next(iter(wrong))
