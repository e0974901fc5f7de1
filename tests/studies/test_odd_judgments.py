"""compare_judgments where topics, labels, runs and options are not what they usually are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr

FIELD = ptr.simulate_field(seed=7, n_topics=8, n_docs=60, n_teams=4, length=10, depth=4)
RUNS, OLD, NEW = FIELD.runs, FIELD.qrels, FIELD.all_qrels
T = OLD.topics


def compare(a=OLD, b=NEW, measures="AP", runs=RUNS, **options):
    return ptr.compare_judgments(runs, a, b, measures, **{"names": ("old", "new"), "depth": 4, **options})


def test_no_topic_in_common(messages):
    other = ptr.Qrels(NEW.to_frame().assign(qid=lambda frame: "0" + frame["qid"]))
    messages.refused(lambda: compare(b=other), argument="qrels_b")
    messages.refused(lambda: compare(b=other, topics="own"), argument="qrels_b")


def test_no_judgment(messages):
    nothing = pd.DataFrame({"qid": [], "docno": [], "label": []})
    messages.refused(lambda: compare(b=nothing), argument="qrels_b")
    messages.refused(lambda: compare(a=nothing), argument="qrels_a")


def test_topics_that_one_alone_has_are_left_out_and_told(messages):
    a, b = OLD.select(T[:7]), NEW.select(T[1:])
    found = messages.warned(lambda: compare(a, b))
    assert found.per_topic["qid"].tolist() == T[1:7]
    assert found.settings["topics"] == "the 6 that both have, without 1 topic of old and 1 topic of new"
    same = compare(OLD.select(T[1:7]), NEW.select(T[1:7]))
    for name, table in same.tables().items():
        pd.testing.assert_frame_equal(found.tables()[name], table)
    one = messages.warned(lambda: compare(a, NEW))
    assert one.settings["topics"] == "the 7 that both have, without 1 topic of new"


def test_each_on_its_own_topics():
    a, b = OLD.select(T[:7]), NEW.select(T[1:])
    found = compare(a, b, topics="own")
    mine, theirs = ptr.score(RUNS, a, "AP"), ptr.score(RUNS, b, "AP")
    assert found.changes["score"].tolist() == mine.mean["AP"].tolist()
    assert found.changes["other_score"].tolist() == theirs.mean["AP"].tolist()
    assert found.per_topic["qid"].tolist() == T[1:7]
    assert found.settings["topics"] == "its own for each: 7 and 7, 6 of them in common"
    assert set(found.by_topic["qid"]) == set(T[1:7])
    # documents are counted on the topics that both have
    shared = compare(a.select(T[1:7]), b.select(T[1:7]))
    pd.testing.assert_frame_equal(found.by_run, shared.by_run)
    # topics that stand in another order are the same
    assert compare(topics="own", resamples=3).settings["topics"] == "the same 8"


def test_intervals_of_two_sets_of_topics(messages):
    messages.refused(lambda: compare(OLD.select(T[:7]), NEW, topics="own", resamples=5), argument="topics")


@pytest.mark.parametrize("n_topics", [1, 4])
def test_few_topics(n_topics, messages):
    found = messages.warned(lambda: compare(OLD.select(T[:n_topics]), NEW.select(T[:n_topics]), resamples=5))
    assert found.settings["beware"] == ("1 topic only" if n_topics == 1 else "4 topics only")
    if n_topics == 1:
        # there is nothing to draw
        row = found.table.iloc[0]
        assert np.isnan([row["tau_b_low"], row["tau_b_high"]]).all()
        assert row["tau_b"] == found.per_topic["tau_b"].iloc[0]
        assert len(found.per_topic) == 1
        assert found.report().to_frame()["Interval of tau-b"].isna().all()


def test_all_tied(messages):
    nothing = ptr.Qrels(OLD.to_frame().assign(label=0))
    found = messages.warned(lambda: compare(b=nothing, resamples=5))
    row = found.table.iloc[0]
    assert np.isnan(row[["tau_b", "gamma", "tau_ap_b", "weighted_tau", "tau_b_low"]].astype(float)).all()
    assert found.per_topic["tau_b"].isna().all()
    assert found.changes["other_rank"].eq(1).all()
    ax = found.plot(kind="topics")
    assert len(ax.collections[0].get_offsets()) == 0
    assert "(8 topics without, as all runs tie)" in " ".join(ax.get_xlabel().split())


@pytest.mark.filterwarnings("ignore:.*there is one run:pt_reuse.ReuseWarning")
def test_one_run():
    one = RUNS.select(RUNS.names[0])
    found = compare(runs=one)
    assert np.isnan(found.table["tau_b"].iloc[0])
    assert found.selected["why"].tolist() == ["best lexical, median"]


def test_relevant_documents_only(messages):
    first = OLD.to_frame().query("label > 0").drop_duplicates("qid").assign(label=1)
    found = messages.warned(lambda: compare(b=ptr.Qrels(first, topics=T), measures="nDCG@5", measures_b="RR"))
    assert found.settings["beware"] == "new: judgments of relevant documents only"
    sparse = found.by_topic[found.by_topic["new_by"] == "old"]
    assert sparse["judged"].sum() == first["qid"].nunique()


def test_negative_labels_are_no_judgments():
    frame = OLD.to_frame()
    frame.loc[frame.index[::3], "label"] = -1
    found = compare(a=ptr.Qrels(frame, topics=T))
    less = compare(a=ptr.Qrels(frame[frame["label"] >= 0], topics=T))
    pd.testing.assert_frame_equal(found.by_run, less.by_run)
    pd.testing.assert_frame_equal(found.by_topic, less.by_topic)


def test_runs_with_other_topics_count_on_those_of_the_judgments():
    more = RUNS | ptr.RunSet.from_frames({"far": pd.DataFrame({"qid": [*T, "99"], "docno": "far", "score": 1.0})})
    found = compare(runs=more)
    row = found.by_run.set_index(["new_by", "name"]).loc[("new", "far")]
    assert (row["documents"], row["unjudged"], row["new"]) == (8, 8, 0)


def test_a_run_without_the_topics(messages):
    stranger = RUNS | ptr.RunSet.from_frames({"far": pd.DataFrame({"qid": ["99"], "docno": ["d"], "score": [1.0]})})
    messages.refused(lambda: compare(runs=stranger), argument="runs", place="old")
    assert compare(runs=stranger, without_topics="zero").changes.set_index("name").loc["far", "score"] == 0


ODD = {
    "measures": {"measures": "Foo@3"},
    "measures_b": {"measures_b": "Foo@3"},
    "too few measures_b": {"measures": ["AP", "RR", "P@5"], "measures_b": ["P@5", "RR"]},
    "measures twice": {"measures": ["AP", "AP"], "measures_b": ["P@5", "RR"]},
    "names": {"names": ("same", "same")},
    "topics": {"topics": "all"},
    "selected": {"selected": 5},
    "selected strangers": {"selected": ["lex1a", "lexa"]},
    "pool_order": {"pool_order": "best"},
}


@pytest.mark.parametrize("fault", ODD)
def test_arguments_are_judged_before_judgments_are_read(fault, messages, tmp_path, monkeypatch):
    def reached(*_, **__):
        pytest.fail("the arguments were to be judged before")

    monkeypatch.setattr("pt_reuse.data.judgments.read_arrays", reached)
    nowhere = tmp_path / "qrels.txt"
    argument = fault.split()[-1] if fault.startswith("too") else fault.split()[0]
    messages.refused(lambda: compare(nowhere, nowhere, **ODD[fault]), argument=argument)


def test_the_older_may_come_second():
    found, turned = compare(), compare(NEW, OLD, names=("new", "old"))
    assert (found.newer, turned.newer) == ("new", "new")
    assert compare(b=OLD).newer == "new"
    one, other = (result.by_run[result.by_run["new_by"] == "new"] for result in (found, turned))
    pd.testing.assert_frame_equal(one.reset_index(drop=True), other.reset_index(drop=True))
    assert found.report("run").to_frame().equals(turned.report("run").to_frame())
    assert found.report("run", new_by="old").to_frame()["New"].eq(0).all()
