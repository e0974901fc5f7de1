"""Plans: how many labels, which, what other ways to draw cost, and what a plan gives to those who check."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint, samplesize_confint_proportion

import pt_reuse as ptr
from pt_reuse.labels import plan_labels

PRIOR = {0: 0.05, 1: 0.4, 2: 0.9}


def pairs(frame):
    return set(zip(frame["qid"], frame["docno"], strict=True))


def test_labels_of_each_stratum_are_neymans(labels):
    plan = plan_labels(labels, width=0.1, prior=PRIOR)
    table = plan.table
    assert table["documents"].tolist() == [500, 300, 200]
    assert table["share"].tolist() == [0.05, 0.4, 0.9]
    spread = table["documents"] * np.sqrt(table["share"] * (1 - table["share"]))
    assert (table["labels"] - plan.labels * spread / spread.sum()).abs().max() < 1
    assert table["probability"].tolist() == (table["labels"] / table["documents"]).tolist()
    assert plan.labels == table["labels"].sum() == len(plan.sample) == 164
    one = plan.summary.iloc[0]
    assert (one["number"], one["target"], one["judge"], one["documents"]) == ("share relevant", True, 0.5, 1000)
    n, w, p = (table[column].to_numpy() for column in ("labels", "documents", "share"))
    assert one["se"] == pytest.approx(((w / 1000) ** 2 @ (p * (1 - p) / n * (1 - n / w))) ** 0.5)
    assert one["expected"] == pytest.approx(0.5 * 0.05 + 0.3 * 0.4 + 0.2 * 0.9)
    assert plan_labels(labels, width=0.1, prior=PRIOR, seed=5).labels == plan.labels


def test_one_large_stratum_takes_what_statsmodels_says():
    labels = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(40_000)], "label": 1})
    for share, width in ((0.5, 0.1), (0.2, 0.06)):
        plan = plan_labels(labels, target="precision", width=width, prior=share)
        normal = samplesize_confint_proportion(share, width / 2)
        # the exact interval is wider by 1 / n or so
        assert 0.97 * normal < plan.labels < 1.1 * normal
        low, high = proportion_confint(share * plan.labels, plan.labels, method="beta")
        assert plan.width == pytest.approx(high - low, rel=1e-2)
        low, high = proportion_confint(share * (plan.labels - 1), plan.labels - 1, method="beta")
        assert high - low > width * 0.998
        assert 2 * 1.96 * plan.summary.loc[0, "se"] == pytest.approx(width, rel=0.05)


def test_precision_makes_each_label_as_narrow(labels):
    plan = plan_labels(labels, target="precision", width=0.2)
    rows = plan.summary[plan.summary["target"]]
    assert rows["number"].tolist() == ["precision, label 0", "precision, label 1", "precision, label 2"]
    assert (rows["width"] <= 0.2).all()
    assert (rows["width"] > 0.195).all()
    assert plan.summary["number"].tolist()[3:] == ["share relevant", "precision, relevant labels"]
    # so many of every label come up where as many are drawn of all as the rarest needs
    at = plan.curve[plan.curve["width"] == 0.2].iloc[0]
    least = (plan.table["labels"] / plan.table["documents"]).max()
    assert at["labels"] == plan.labels
    assert at["proportional"] == pytest.approx(1000 * least, abs=10)
    assert at["random"] == at["proportional"]


def test_the_three_ways_to_draw_cost_what_their_variances_say(labels):
    curve = plan_labels(labels, width=0.1, prior=PRIOR).curve
    assert curve["labels"].is_monotonic_decreasing
    share = np.array([0.05, 0.4, 0.9])
    weight = np.array([0.5, 0.3, 0.2])
    mean, inside = weight @ share, weight @ (share * (1 - share))
    target = (0.05 / stats.norm.ppf(0.975)) ** 2
    row = curve[curve["width"] == 0.1].iloc[0]
    for column, spread in (("proportional", inside), ("random", mean * (1 - mean))):
        normal = 1 / (target / spread + 1 / 1000)
        assert normal < row[column] < 1.3 * normal
    neyman = (weight @ np.sqrt(share * (1 - share))) ** 2 / (target + inside / 1000)
    assert neyman < row["labels"] < 1.3 * neyman
    assert row["labels"] <= row["proportional"] < row["random"]


def test_a_budget_is_used_up_and_the_widest_interval_is_as_narrow_as_can_be(labels):
    plan = plan_labels(labels, target="precision", budget=150)
    assert plan.labels == 150
    assert plan_labels(labels, target="precision", width=plan.width).labels <= 150
    assert plan_labels(labels, target="precision", width=plan.width - 0.002).labels > 150
    assert plan_labels(labels, budget=150).labels == 150
    every = plan_labels(labels, budget=5000)
    assert (every.labels, every.width, len(every.rest)) == (1000, 0.0, 0)


def test_a_pilot_says_what_to_expect_and_is_not_asked_again(labels, people):
    pilot = people.merge(labels, on=["qid", "docno"], suffixes=("", "_judge"))
    pilot = pilot.groupby("label_judge").head(20)[["qid", "docno", "label"]]
    plan = plan_labels(labels, width=0.1, judge_rel=1, pilot=pilot)
    found = pilot.merge(labels, on=["qid", "docno"], suffixes=("", "_judge")).groupby("label_judge")["label"].sum()
    assert plan.table["share"].tolist() == pytest.approx([(x + 0.5) / 21 for x in found])
    assert plan.table["known"].tolist() == [20, 20, 20]
    assert plan.table["relevant_known"].tolist() == found.tolist()
    assert not pairs(plan.sample) & pairs(pilot)
    assert len(plan.sample) + len(plan.rest) + len(plan.known) == 1000
    beta = plan_labels(labels, width=0.1, judge_rel=1, pilot=pilot, prior=(2, 8))
    assert beta.table["share"].tolist() == pytest.approx([(x + 2) / 30 for x in found])
    # of a label that the pilot does not have the prior alone says something
    less = pilot.merge(labels[labels["label"] < 2][["qid", "docno"]])
    assert plan_labels(labels, width=0.1, judge_rel=1, pilot=less, prior=0.9).table["share"].iloc[2] == 0.9
    assert plan_labels(labels, width=0.1, prior={2: 0.8}).table["share"].tolist() == [0.5, 0.5, 0.8]


def test_which_documents_are_drawn_depends_on_the_seed_alone(labels):
    plan = plan_labels(labels, width=0.1)
    again = plan_labels(labels.sample(frac=1, random_state=4), width=0.1)
    assert pairs(plan.sample) == pairs(again.sample)
    assert pairs(plan.sample) != pairs(plan_labels(labels, width=0.1, seed=1).sample)
    assert pairs(plan_labels(labels, width=0.2).sample) < pairs(plan.sample)
    assert list(plan.sample) == ["qid", "docno", "label", "stratum", "probability"]
    counted = plan.sample["stratum"].value_counts()
    assert counted.to_dict() == dict(zip(plan.table["stratum"], plan.table["labels"], strict=True))
    mine = plan.sample.merge(labels, on=["qid", "docno"])
    assert (mine["label_x"] == mine["label_y"]).all()
    assert len(mine) == plan.labels


def test_every_document_of_a_stratum_is_drawn_as_often(labels):
    some = labels.groupby("label").head(12)
    plans = [plan_labels(some, budget=18, seed=seed) for seed in range(20)]
    drawn = pd.concat([plan.sample for plan in plans]).groupby(["qid", "docno"]).size()
    assert plans[0].table["labels"].tolist() == [6, 6, 6]
    assert stats.chisquare(drawn.reindex(pd.MultiIndex.from_frame(some[["qid", "docno"]]), fill_value=0)).pvalue > 0.001


def test_strata_within_topics(labels):
    plan = plan_labels(labels, width=0.1, by_topic=True)
    assert plan.table["stratum"].tolist()[:4] == ["1:0", "1:1", "1:2", "2:0"]
    sizes = labels.groupby(["qid", "label"]).size()
    assert plan.table["documents"].tolist() == sizes.tolist()
    assert (plan.table["labels"] >= 2).all()
    assert plan.settings["strata"] == "label of the judge, topic"


def test_a_plan_for_runs_draws_from_what_they_hang_on(labels, runs):
    top = {name: frame.groupby("qid").head(10) for name, frame in runs.items()}
    plan = plan_labels(labels, width=0.2, runs={"good": runs["good"]})
    assert pairs(plan.sample) | pairs(plan.rest) == pairs(top["good"])
    judged = ptr.score({"good": runs["good"]}, labels, "P@10").mean["P@10"].iloc[0]
    assert plan.summary["judge"].tolist() == pytest.approx([judged])
    assert (plan.settings["order"], plan.settings["topics"]) == ("trec_eval", "5 that the judge labelled")
    both = plan_labels(labels, target="difference", width=0.2, runs=runs)
    assert pairs(both.sample) | pairs(both.rest) == pairs(top["good"]) ^ pairs(top["other"])
    scores = ptr.score(runs, labels, "P@10").mean["P@10"]
    assert both.summary["judge"].tolist() == pytest.approx([scores[0] - scores[1]])
    assert both.summary["number"].tolist() == ["P@10, good - other"]
    assert both.summary["width"][0] <= 0.2


def test_what_the_judge_did_not_label_is_a_stratum(labels, runs):
    lacking = labels.iloc[::2]
    plan = plan_labels(lacking, width=0.2, runs={"good": runs["good"]}, prior={None: 0.1})
    assert plan.table["stratum"].tolist()[0] == "none:good"
    assert plan.table["share"].tolist()[0] == 0.1
    assert plan.table["label"].isna().tolist() == [True, False, False]
    assert plan.sample["label"].isna().sum() == plan.table["labels"].iloc[0] > 0


def test_a_plan_as_a_pool_and_as_tasks(labels, people, tmp_path):
    plan = plan_labels(labels, width=0.3)
    pool = plan.to_pool()
    assert pairs(pool.to_frame()) == pairs(plan.sample)
    assert len(pool.unsampled) == len(plan.rest)
    assert "label" not in pool.to_frame()
    judged = pool.judge(people)
    assert len(judged) == 1000
    assert (judged.to_frame()["label"] >= 0).sum() == plan.labels
    texts = dict.fromkeys(labels["docno"], "text")
    made = ptr.judging.export_tasks(pool, tmp_path / "tasks", topics={str(n): "q" for n in range(1, 6)}, texts=texts)
    assert made.table["pairs"].sum() == plan.labels
    shown = (tmp_path / "tasks" / made.table["file"][0]).read_text()
    assert "stratum" not in shown
    assert "inclusion" not in shown


def test_what_is_no_plan_is_refused(labels, people, runs, messages):
    refused = messages.refused
    refused(lambda: plan_labels(labels), argument="width")
    refused(lambda: plan_labels(labels, width=0.1, budget=5), argument="width")
    refused(lambda: plan_labels(labels, width=1), argument="width")
    refused(lambda: plan_labels(labels, width=0), argument="width")
    refused(lambda: plan_labels(labels, width=0.1, target="recall"), argument="target")
    refused(lambda: plan_labels(labels, budget=5), argument="budget")
    refused(lambda: plan_labels(labels, width=0.1, target="difference"), argument="runs")
    refused(lambda: plan_labels(labels, width=0.1, target="difference", runs={"a": runs["good"]}), argument="runs")
    refused(lambda: plan_labels(labels, width=0.1, runs=runs), argument="runs")
    refused(lambda: plan_labels(labels, width=0.1, target="precision", runs=runs), argument="runs")
    same = {"a": runs["good"], "b": runs["good"]}
    refused(lambda: plan_labels(labels, width=0.1, target="difference", runs=same), argument="runs")
    other = {"a": runs["good"].assign(qid="99")}
    refused(lambda: plan_labels(labels, width=0.1, runs=other), argument="runs")
    refused(lambda: plan_labels(labels, width=0.1, measure="P@10"), argument="measure")
    refused(lambda: plan_labels(labels, width=0.1, runs=runs, measure="nDCG@10"), argument="measure")
    refused(lambda: plan_labels(labels, width=0.1, runs=runs, measure="P@10", rel=2), argument="measure")
    refused(lambda: plan_labels(labels, width=0.1, judge_rel=1, pilot=people.assign(qid="99")), argument="pilot")
    refused(lambda: plan_labels(labels, width=0.1, prior="high"), argument="prior")
    refused(lambda: plan_labels(labels, width=0.1, prior={"1": 0.5}), argument="prior")
    refused(lambda: plan_labels(labels, width=0.1, prior=(0, 1)), argument="prior")
    refused(lambda: plan_labels(labels.assign(label=-1), width=0.1), argument="judge_labels")
    refused(lambda: plan_labels(lambda frame: [1] * len(frame), width=0.1), argument="judge_labels")
    refused(lambda: plan_labels(labels.assign(label=0.7), width=0.1), argument=None)
