"""plan_labels: strata and their allocation, plans, and the estimates that come of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_lou import pairs_of
from scipy import stats
from statsmodels.stats.proportion import proportion_confint, samplesize_confint_proportion

import pt_reuse as ptr
from pt_reuse.arrays.prediction_powered import stratified_variance
from pt_reuse.studies.plan_labels import LEAST, Allocation, plan_labels

#: label -> documents, and how many of these people find relevant
GROUPS = {0: (500, 25), 1: (300, 120), 2: (200, 180)}


def documents():
    """Return ``qid docno label people`` of documents that are spread over topics."""
    random, parts = np.random.default_rng(3), []
    for label, (n, relevant) in GROUPS.items():
        parts.append(pd.DataFrame({"label": label, "people": (np.arange(n) < relevant).astype(int)}))
    every = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=1).reset_index(drop=True)
    every["qid"] = random.integers(1, 6, len(every)).astype(str)
    every["docno"] = [f"d{n:04}" for n in range(len(every))]
    return every


@pytest.fixture(scope="module")
def labels():
    """Return the judge's labels."""
    return documents()[["qid", "docno", "label"]]


@pytest.fixture(scope="module")
def people():
    """Return the labels of people for the same documents."""
    return documents()[["qid", "docno", "people"]].rename(columns={"people": "label"})


@pytest.fixture(scope="module")
def runs():
    """Return two runs that find these documents, and share some."""
    every, found = documents(), {}
    for name, seed in (("good", 1), ("other", 2)):
        random = np.random.default_rng(seed)
        score = every["people"] * (2.0 if name == "good" else 0.3) + random.random(len(every))
        ranked = every[["qid", "docno"]].assign(score=score).sort_values(["qid", "score"], ascending=[True, False])
        found[name] = ranked.groupby("qid").head(60)
    return found


PRIOR = {0: 0.05, 1: 0.4, 2: 0.9}


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


def test_a_pilot_says_what_to_expect_and_is_not_asked_again(labels, people):
    pilot = people.merge(labels, on=["qid", "docno"], suffixes=("", "_judge"))
    pilot = pilot.groupby("label_judge").head(20)[["qid", "docno", "label"]]
    plan = plan_labels(labels, width=0.1, judge_rel=1, pilot=pilot)
    found = pilot.merge(labels, on=["qid", "docno"], suffixes=("", "_judge")).groupby("label_judge")["label"].sum()
    assert plan.table["share"].tolist() == pytest.approx([(x + 0.5) / 21 for x in found])
    assert plan.table["known"].tolist() == [20, 20, 20]
    assert plan.table["relevant_known"].tolist() == found.tolist()
    assert not pairs_of(plan.sample) & pairs_of(pilot)
    assert len(plan.sample) + len(plan.rest) + len(plan.known) == 1000
    # of a label that the pilot does not have the prior alone says something
    less = pilot.merge(labels[labels["label"] < 2][["qid", "docno"]])
    assert plan_labels(labels, width=0.1, judge_rel=1, pilot=less, prior=0.9).table["share"].iloc[2] == 0.9
    assert plan_labels(labels, width=0.1, prior={2: 0.8}).table["share"].tolist() == [0.5, 0.5, 0.8]


def test_which_documents_are_drawn_depends_on_the_seed_alone(labels):
    plan = plan_labels(labels, width=0.1)
    again = plan_labels(labels.sample(frac=1, random_state=4), width=0.1)
    assert pairs_of(plan.sample) == pairs_of(again.sample)
    assert pairs_of(plan.sample) != pairs_of(plan_labels(labels, width=0.1, seed=1).sample)
    assert pairs_of(plan_labels(labels, width=0.2).sample) < pairs_of(plan.sample)
    assert list(plan.sample) == ["qid", "docno", "label", "stratum", "probability"]
    counted = plan.sample["stratum"].value_counts()
    assert counted.to_dict() == dict(zip(plan.table["stratum"], plan.table["labels"], strict=True))
    mine = plan.sample.merge(labels, on=["qid", "docno"])
    assert (mine["label_x"] == mine["label_y"]).all()
    assert len(mine) == plan.labels


def test_a_plan_for_runs_draws_from_what_they_hang_on(labels, runs):
    top = {name: frame.groupby("qid").head(10) for name, frame in runs.items()}
    plan = plan_labels(labels, width=0.2, runs={"good": runs["good"]})
    assert pairs_of(plan.sample) | pairs_of(plan.rest) == pairs_of(top["good"])
    judged = ptr.score({"good": runs["good"]}, labels, "P@10").mean["P@10"].iloc[0]
    assert plan.summary["judge"].tolist() == pytest.approx([judged])
    both = plan_labels(labels, target="difference", width=0.2, runs=runs)
    assert pairs_of(both.sample) | pairs_of(both.rest) == pairs_of(top["good"]) ^ pairs_of(top["other"])
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
    assert pairs_of(pool.to_frame()) == pairs_of(plan.sample)
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
    refused(lambda: plan_labels(labels, width=1), argument="width")
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
    refused(lambda: plan_labels(labels, width=0.1, prior={"1": 0.5}), argument="prior")
    refused(lambda: plan_labels(labels, width=0.1, prior=(2, 8)), argument="prior")
    refused(lambda: plan_labels(labels.assign(label=-1), width=0.1), argument="judge_labels")
    refused(lambda: plan_labels(lambda frame: [1] * len(frame), width=0.1), argument="judge_labels")
    refused(lambda: plan_labels(labels.assign(label=0.7), width=0.1), argument=None)


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


def test_a_census_is_the_truth_and_a_few_of_many_have_the_limits_of_statsmodels(labels, people):
    every = estimated(plan_labels(labels, width=1e-9), people)
    assert of(every, "share relevant")[["estimate", "estimate_low", "estimate_high"]].tolist() == [0.325] * 3
    many = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(10**5)], "label": 1})
    plan = plan_labels(many, target="precision", width=0.325)
    found = plan.estimate(plan.sample.assign(label=[1] * 13 + [0] * 27)).table.iloc[0]
    expected = proportion_confint(13, 40, method="beta")
    assert found[["estimate_low", "estimate_high"]].tolist() == pytest.approx(expected, abs=1e-3)
    with pytest.warns(ptr.ReuseWarning, match="all 40 labels are those of the judge"):
        right = plan.estimate(plan.sample.assign(label=1)).table.iloc[0]
    assert right[["estimate", "estimate_high"]].tolist() == [1, 1]
    assert right["estimate_low"] == pytest.approx(0.025 ** (1 / 40), abs=1e-3)


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
    found = plan_labels(labels, target="difference", width=1e-9, runs=runs)
    scores = ptr.score(runs, people, "P@10").mean["P@10"]
    census = estimated(found, people).table.iloc[0]
    assert census[["estimate", "estimate_low", "estimate_high"]].tolist() == pytest.approx([scores[0] - scores[1]] * 3)
    one = estimated(plan, people).table.iloc[0]
    assert one["estimate_low"] <= scores[0] - scores[1] <= one["estimate_high"]
    single = estimated(plan_labels(labels, width=1e-9, runs={"good": runs["good"]}), people).table.iloc[0]
    assert single["estimate"] == pytest.approx(scores[0])


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


def variance(weights, shares, units, drawn):
    return stratified_variance(weights, shares, drawn=np.array(drawn, dtype=float), units=units.astype(float))


STRATUM = st.tuples(st.integers(1, 7), st.floats(0, 1), st.sampled_from([-1.0, 0.5, 1.0, 2.0]))


@given(st.lists(STRATUM, min_size=1, max_size=3), st.data())
@settings(max_examples=40, deadline=None)
def test_no_other_allocation_of_as_many_labels_has_a_smaller_variance(strata, data):
    units, shares, weights = (np.array(column) for column in zip(*strata, strict=True))
    allocation = Allocation.neyman(weights, shares, units)
    total = data.draw(st.integers(allocation.fewest, allocation.most))
    mine = allocation.of(total)
    assert mine.sum() == total
    assert (mine <= units).all()
    assert (mine >= np.minimum(LEAST, units)).all()
    ways = product(*(range(min(LEAST, n), n + 1) for n in units.tolist()))
    least = min(variance(weights, shares, units, way) for way in ways if sum(way) == total)
    assert variance(weights, shares, units, mine) == pytest.approx(least, abs=1e-12)
    if total < allocation.most:
        assert (allocation.of(total + 1) >= mine).all()
