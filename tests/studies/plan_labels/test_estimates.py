"""What is known after people checked: estimates against the formula, intervals that cover, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import pt_reuse as ptr
from pt_reuse.labels import plan_labels
from pt_reuse.studies.label_strata import Strata, numbers_of


def estimated(plan, people):
    return plan.estimate(plan.to_pool().judge(people))


def of(result, number):
    return result.table.set_index("number").loc[number]


def test_the_estimate_is_the_stratified_one(labels, people):
    plan = plan_labels(labels, width=0.2, prior={0: 0.1})
    found = estimated(plan, people)
    mine = plan.sample.merge(people, on=["qid", "docno"], suffixes=("", "_people"))
    shares = mine.groupby("stratum")["label_people"].mean()
    one = of(found, "share relevant")
    assert one["estimate"] == pytest.approx(0.5 * shares["0"] + 0.3 * shares["1"] + 0.2 * shares["2"])
    assert (one["judge"], one["bias"]) == (0.5, pytest.approx(0.5 - one["estimate"]))
    assert (one["bias_low"], one["bias_high"]) == pytest.approx((0.5 - one["estimate_high"], 0.5 - one["estimate_low"]))
    for label in ("0", "1", "2"):
        assert of(found, f"precision, label {label}")["estimate"] == pytest.approx(shares[label])
    both = of(found, "precision, relevant labels")
    assert both["estimate"] == pytest.approx((3 * shares["1"] + 2 * shares["2"]) / 5)
    assert found.strata["checked"].tolist() == plan.table["labels"].tolist()
    assert found.settings["checked"] == f"{plan.labels} of {plan.labels} planned labels"


def test_a_census_is_the_truth_and_a_few_of_many_have_the_limits_of_statsmodels(labels, people):
    every = estimated(plan_labels(labels, budget=1000), people)
    assert of(every, "share relevant")[["estimate", "estimate_low", "estimate_high"]].tolist() == [0.325] * 3
    many = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(10**5)], "label": 1})
    plan = plan_labels(many, target="precision", budget=40)
    found = plan.estimate(plan.sample.assign(label=[1] * 13 + [0] * 27)).table.iloc[0]
    expected = proportion_confint(13, 40, method="beta")
    assert found[["estimate_low", "estimate_high"]].tolist() == pytest.approx(expected, abs=1e-3)
    with pytest.warns(ptr.ReuseWarning, match="all 40 labels are those of the judge"):
        right = plan.estimate(plan.sample.assign(label=1)).table.iloc[0]
    assert right[["estimate", "estimate_high"]].tolist() == [1, 1]
    assert right["estimate_low"] == pytest.approx(0.025 ** (1 / 40), abs=1e-3)


def test_one_document_and_strata_of_one():
    labels = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c", "d"], "label": [0, 1, 1, 1]})
    plan = plan_labels(labels, budget=3)
    assert plan.table["labels"].tolist() == [1, 2]
    found = plan.estimate(plan.sample.assign(label=1))
    assert of(found, "precision, label 0")[["estimate_low", "estimate_high"]].tolist() == [1, 1]
    assert of(found, "precision, label 1")[["estimate_low", "estimate_high"]].tolist() == pytest.approx([2 / 3, 1])


def test_a_pilot_counts_as_it_is(labels, people):
    pilot = people.iloc[:200]
    plan = plan_labels(labels, width=0.1, judge_rel=1, pilot=pilot)
    found = estimated(plan, people)
    mine = plan.sample.merge(people, on=["qid", "docno"], suffixes=("", "_people"))
    shares = mine.groupby("stratum")["label_people"].mean().reindex(plan.table["stratum"]).to_numpy()
    left = (plan.table["documents"] - plan.table["known"]).to_numpy()
    assert of(found, "share relevant")["estimate"] == pytest.approx((pilot["label"].sum() + left @ shares) / 1000)
    assert of(found, "share relevant")["checked"] == 200 + plan.labels
    # pilot and checked labels may come in one frame
    both = pd.concat([pilot, mine[["qid", "docno"]].assign(label=mine["label_people"])])
    pd.testing.assert_frame_equal(plan.estimate(both).table, found.table)


def test_runs_are_estimated_as_they_score(labels, people, runs):
    plan = plan_labels(labels, target="difference", width=0.1, runs=runs)
    found = plan_labels(labels, target="difference", budget=1000, runs=runs)
    scores = ptr.score(runs, people, "P@10").mean["P@10"]
    census = estimated(found, people).table.iloc[0]
    assert census[["estimate", "estimate_low", "estimate_high"]].tolist() == pytest.approx([scores[0] - scores[1]] * 3)
    one = estimated(plan, people).table.iloc[0]
    assert one["estimate_low"] <= scores[0] - scores[1] <= one["estimate_high"]
    single = estimated(plan_labels(labels, budget=1000, runs={"good": runs["good"]}), people).table.iloc[0]
    assert single["estimate"] == pytest.approx(scores[0])


@pytest.mark.parametrize("options", [{"target": "precision", "width": 0.25}, {"width": 0.2, "by_topic": True}])
def test_intervals_cover_the_truth(labels, people, options):
    plan, random = plan_labels(labels, **options), np.random.default_rng(1)
    every = pd.concat([plan.sample, plan.rest]).merge(people, on=["qid", "docno"], suffixes=("", "_people"))
    true = every.groupby("stratum")["label_people"].sum().reindex(plan.table["stratum"]).to_numpy()
    units, drawn = plan.table["documents"].to_numpy(), plan.table["labels"].to_numpy()
    numbers = numbers_of(plan.table, plan.target, plan.number, plan.judge_rel)
    hits, estimates = np.zeros(len(numbers)), np.zeros(len(numbers))
    for _ in range(150):
        strata = Strata.of(plan.table, random.hypergeometric(true, units - true, drawn) / drawn)
        for n, number in enumerate(numbers):
            found = strata.interval(number, drawn.astype(float), 0.95, counted=True)
            hits[n] += found.low - 1e-9 <= number.weights @ (true / units) <= found.high + 1e-9
            estimates[n] += found.estimate / 150
    assert hits.min() / 150 >= 0.93
    assert estimates == pytest.approx([number.weights @ (true / units) for number in numbers], abs=0.02)


def test_labels_that_no_plan_asked_for_are_refused(labels, people, messages):
    plan = plan_labels(labels, width=0.2, judge_rel=1, pilot=people.head(50))
    judged = people.merge(plan.sample[["qid", "docno"]])
    messages.refused(lambda: plan.estimate(people), argument="checked")
    messages.refused(lambda: plan.estimate(judged.assign(qid="99")), argument="checked")
    other = people.head(50).assign(label=lambda frame: 1 - frame["label"])
    messages.refused(lambda: plan.estimate(pd.concat([judged, other])), argument="checked")
    lone = judged.merge(plan.sample.loc[plan.sample["stratum"] != "2", ["qid", "docno"]])
    messages.refused(lambda: plan.estimate(lone), argument="checked")
    messages.refused(lambda: plan.estimate(ptr.Qrels(judged, rel=2)), argument="checked")


def test_a_pilot_of_everything_leaves_nothing_to_check():
    labels = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "c"], "label": 1})
    plan = plan_labels(labels, width=0.5, judge_rel=1, pilot=labels.assign(label=[1, 0, 1]))
    assert (plan.labels, len(plan.known), len(plan.to_pool()), plan.width) == (0, 3, 0, 0)
    found = plan.estimate(labels.assign(label=[1, 0, 1])).table.iloc[0]
    assert found[["estimate_low", "estimate", "estimate_high"]].tolist() == pytest.approx([2 / 3] * 3)
