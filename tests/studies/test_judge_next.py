"""judge_next: the order, the decisions and their end, samples by their probabilities, goals and bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

import pt_reuse as ptr
from pt_reuse.studies.new_runs.effects import Effects, wrong_stop
from pt_reuse.studies.new_runs.sampling import draw, inclusion
from pt_reuse.study import study_of

FIELD = ptr.demo.simulate_field(seed=7, n_topics=12, n_docs=600, n_teams=14, length=40)
NEW = FIELD.runs.select(names=FIELD.runs.select(pooled=True).names[-2:])
OTHERS = FIELD.runs.select(names=[name for name in FIELD.runs.names if name not in NEW.names])
ONE = NEW.select(names=NEW.names[:1])
KNOWN = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS, depth=10))


def plan(measure="nDCG@10", new=ONE, **options):
    return ptr.judge_next(OTHERS, KNOWN, measure, new=new, depth=10, **options)


def test_the_documents_are_the_unjudged_ones_and_the_weightiest_first():
    found = plan("P@10")
    top = ptr.depth_pool(ONE, depth=10, contributors="all").remainder(KNOWN)
    assert set(map(tuple, found.documents[["qid", "docno"]].to_numpy())) == set(
        map(tuple, top.to_frame()[["qid", "docno"]].to_numpy())
    )
    assert (np.diff(found.documents["priority"]) <= 0).all()
    assert len(found.next(n=5)) == 5
    assert len(found.pool) == len(found.documents)
    assert found.next(n=5).to_frame()[["qid", "docno"]].merge(found.documents.head(5)).shape[0] == 5


def test_what_is_expected_is_what_is_known_and_chances():
    found = plan("P@10")
    known = ptr.score(ONE, KNOWN, "P@10").mean_values[0, 0]
    row = found.scores.set_index("name").loc[ONE.names[0]]
    assert row["zero"] == pytest.approx(known, abs=1e-12)
    expected = known + found.documents["chance"].sum() / 10 / len(KNOWN.topics)
    assert row["score"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10", "R@10", "AP", "nDCG", "RBP(rel=1)"])
def test_with_every_label_decisions_are_those_of_the_scores(measure):
    labels = plan(measure).pool.judge(FIELD.all_qrels)
    found = plan(measure, judged=labels)
    assert not len(found.documents)
    whole = KNOWN | labels.to_frame()[["qid", "docno", "label"]]
    true = ptr.score(OTHERS | ONE, whole, measure).mean.set_index("name")[measure]
    mine = found.scores.set_index("name")["score"]
    assert mine[ONE.names[0]] == pytest.approx(true[ONE.names[0]], abs=1e-9)
    for row in found.table.itertuples():
        apart = true[row.first] - true[row.second]
        assert row.decided == "as judged"
        assert row.difference == pytest.approx(apart, abs=1e-9)
        assert row.half == 0
        assert row.expected == row.most == row.by_bounds == 0


def test_what_is_unjudged_below_the_cutoff_still_lengthens_the_ideal_list():
    labels = plan("nDCG@5").pool.judge(FIELD.all_qrels)
    found = plan("nDCG@5", judged=labels)
    assert not len(found.documents)
    assert set(found.table["decided"]) == {"as judged"}


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10", "R@10", "AP"])
def test_two_new_runs_with_every_label(measure):
    labels = plan(measure, new=NEW).pool.judge(FIELD.all_qrels)
    found = plan(measure, new=NEW, judged=labels)
    scores = ptr.score(OTHERS | NEW, KNOWN | labels.to_frame()[["qid", "docno", "label"]], measure)
    true = scores.mean.set_index("name")[measure]
    for row in found.table.itertuples():
        assert row.difference == pytest.approx(true[row.first] - true[row.second], abs=1e-9)
        if len(set(scores.per_topic.loc[scores.per_topic["name"].isin([row.first, row.second]), "value"])) > 1:
            both = [scores.values[0][:, scores.names.index(name)] for name in (row.first, row.second)]
            assert row.significant == (ttest_rel(*both).pvalue < 0.05)


def test_a_run_that_has_the_documents_is_not_told_apart_until_they_are_judged():
    twin = {"twin": ONE[ONE.names[0]].drop(columns="name")}
    twin = ptr.RunSet.from_frames(twin, pooled=False, teams={"twin": "twins"})
    found = ptr.judge_next(OTHERS | twin, KNOWN, "P@10", new=ONE, depth=10, goal=(ONE.names[0], "twin"))
    assert found.table[["decided", "abstains"]].to_numpy().tolist() == [["", True]]
    labels = found.pool.judge(FIELD.all_qrels)
    after = ptr.judge_next(OTHERS | twin, KNOWN, "P@10", new=ONE, depth=10, goal=(ONE.names[0], "twin"), judged=labels)
    assert after.table["difference"].tolist() == pytest.approx([0], abs=1e-12)


@pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
@pytest.mark.parametrize("measure", ["P@4", "RBP(rel=1)@4", "nDCG@4", "R@4", "AP@4", "RR@4"])
def test_what_is_decided_under_every_completion_is_so_under_each(measure):
    n_decided = 0
    for seed in (2, 6, 11):
        field = ptr.demo.simulate_field(seed=seed, n_topics=3, n_docs=60, n_teams=12, length=8)
        new, others = field.runs.select(names=field.runs.names[:2]), field.runs.select(names=field.runs.names[4:])
        known = field.all_qrels.restrict(ptr.depth_pool(others, depth=4))
        found = ptr.judge_next(others, known, measure, new=new, depth=4)
        sure = found.table[found.table["decided"] == "under every completion"]
        n_decided += len(sure)
        highest = int(known.to_frame()["label"].max())
        for labels in itertools.product((0, 1, highest), repeat=len(found.documents)):
            whole = known | found.documents[["qid", "docno"]].assign(label=list(labels))
            score = ptr.score(others | new, whole, measure).mean.set_index("name")[measure]
            apart = score[sure["first"]].to_numpy() - score[sure["second"]].to_numpy()
            assert apart.min(initial=1) > -1e-9, (seed, labels)
    assert n_decided > 10


def test_labels_that_are_none_of_the_plan_are_told():
    labels = plan().next(n=3).judge(FIELD.all_qrels).to_frame()[["qid", "docno", "label"]]
    other = KNOWN.to_frame()[["qid", "docno", "label"]].head(1)
    with pytest.raises(ptr.InputError, match="has the label"):
        plan(judged=pd.concat([labels, other.assign(label=1 - other["label"].clip(upper=1))]))
    with pytest.warns(ptr.ReuseWarning, match="1 document"):
        plan(judged=pd.concat([labels, other.assign(docno="nobody has it")]))


def test_labels_bring_decisions():
    first = plan()
    later = plan(judged=first.next(n=12).judge(FIELD.all_qrels))
    assert len(later.documents) == len(first.documents) - 12
    assert (later.table["decided"] != "").sum() >= (first.table["decided"] != "").sum()
    assert later.settings["judged since"] == 12
    assert (first.table["expected"] <= first.table["by_bounds"] + 1e-9).all()
    assert ((first.table["decided"] == "") == (first.table["expected"] > 0)).all()


def test_labels_are_those_that_decide_all_open_pairs_together():
    for measure, new in (("P@10", ONE), ("nDCG@10", ONE), ("P@10", NEW)):
        found = plan(measure, new=new)
        is_open, said = found.table["decided"] == "", found.summary().iloc[0]
        assert (said["open"], said["unjudged"]) == (is_open.sum(), len(found.documents))
        assert (found.labels, found.labels_most) == (said["labels"], said["labels_most"])
        # no fewer than the pair that takes most, and no document twice
        assert found.table.loc[is_open, "expected"].max() <= said["labels"] <= said["labels_most"]
        assert said["labels_most"] <= said["documents"] == len(found.documents)
        one = plan(measure, new=new, goal=found.table.loc[is_open, ["first", "second"]].iloc[0].tolist())
        assert one.labels == one.table["expected"].iloc[0]
        assert one.labels_most == one.table["most"].iloc[0]


def test_labels_announced_are_those_that_an_oracle_takes():
    announced, most, taken, documents = [], [], [], []
    for name in FIELD.runs.select(pooled=True).names[:12:3]:
        team = FIELD.runs.run_table.set_index("name")["team"]
        others = FIELD.runs.select(names=[other for other in FIELD.runs.names if team[other] != team[name]])
        known = FIELD.all_qrels.restrict(ptr.depth_pool(others, depth=10))
        new = FIELD.runs.select(names=[name])

        def planned(judged=None):
            return ptr.judge_next(others, known, "P@10", new=new, depth=10, judged=judged)  # noqa: B023

        first = planned()
        low, high = 0, len(first.documents)
        while low < high:
            middle = (low + high) // 2
            labels = first.next(n=middle).judge(FIELD.all_qrels) if middle else None
            if planned(labels).summary()["open"].iloc[0]:
                low = middle + 1
            else:
                high = middle
        announced.append(first.labels)
        most.append(first.labels_most)
        taken.append(low)
        documents.append(len(first.documents))
    assert np.sum(announced) == pytest.approx(np.sum(taken), rel=0.3)
    assert np.mean(np.array(taken) <= np.array(most)) >= 0.8
    assert (np.array(most) <= documents).all()


def test_a_run_of_which_all_is_judged_is_as_judged():
    labels = plan("nDCG@10", new=ONE).pool.judge(FIELD.all_qrels)
    whole = KNOWN | labels.to_frame()[["qid", "docno", "label"]]
    other = NEW.select(names=NEW.names[1:])
    found = ptr.judge_next(OTHERS, whole, "nDCG@10", new=NEW, depth=10)
    mine = (found.table[["first", "second"]] == ONE.names[0]).any(axis=1)
    with_other = (found.table[["first", "second"]] == other.names[0]).any(axis=1)
    assert (found.table.loc[mine & ~with_other, "decided"] == "as judged").all()
    assert not (found.table.loc[with_other, "decided"] == "as judged").any()


def test_a_sample_takes_its_own_labels():
    for n in (3, 10, 10_000):
        found = plan(goal="score", n=n)
        said = found.summary().iloc[0]
        assert said["labels"] == said["labels_most"] == said["documents"] == min(n, said["unjudged"])


def test_pairs_that_only_bounds_decide_stand_in_the_headline():
    few = OTHERS.select(team=OTHERS.teams[:6])
    known = FIELD.all_qrels.restrict(ptr.depth_pool(few, depth=10))
    found = ptr.judge_next(few, known, "P@10", new=ONE, depth=10)
    assert found.summary()["abstains"].iloc[0] == found.table["abstains"].sum() == len(few)
    assert f"{len(few)} pairs only bounds" in found.headline()
    assert "bounds" not in plan("P@10", judged=plan("P@10").pool.judge(FIELD.all_qrels)).headline()


def test_goals():
    a, b = NEW.names
    both = plan(new=NEW)
    assert len(both.table) == 1 + 2 * len(OTHERS)
    assert len(plan(new=NEW, goal=a).table) == len(OTHERS) + 1
    pair = plan(new=NEW, goal=(a, b)).table
    assert set(pair.loc[0, ["first", "second"]]) == {a, b}
    assert len(plan(new=NEW, goal=[a, OTHERS.names[0]]).table) == 1
    unpooled = ptr.judge_next(OTHERS | NEW.with_metadata(pooled=False), KNOWN, "nDCG@10", depth=10)
    assert set(NEW.names) <= set(unpooled.scores["name"])


def test_labels_of_a_judge_are_what_is_known_before():
    alone, judged = plan("P@10"), plan("P@10", judge=FIELD.all_qrels)
    true = FIELD.all_qrels.to_frame().set_index(["qid", "docno"])["label"]
    far = [
        np.abs(each["chance"].to_numpy() - (true.reindex(each[["qid", "docno"]]).fillna(0).to_numpy() > 0)).mean()
        for each in (alone.documents, judged.documents)
    ]
    assert far[1] < far[0] / 3
    assert judged.table["expected"].mean() <= alone.table["expected"].mean()


def test_without_new_runs_they_are_those_not_pooled():
    with pytest.raises(ptr.InputError, match="not pooled"):
        ptr.judge_next(OTHERS.select(pooled=True), KNOWN, "P@10", depth=10)


def test_the_same_seed_gives_the_same_plan():
    one, other = plan(seed=3), plan(seed=3)
    assert one.table.equals(other.table)
    assert plan(goal="score", n=7, seed=1).documents.equals(plan(goal="score", n=7, seed=1).documents)
    assert not plan(goal="score", n=7, seed=1).documents.equals(plan(goal="score", n=7, seed=2).documents)


@given(st.lists(st.just(0.0) | st.floats(1e-6, 1), min_size=1, max_size=40), st.integers(1, 50))
def test_probabilities_sum_to_the_sample(sizes, n):
    sizes = np.array(sizes)
    found = inclusion(sizes, n)
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() == pytest.approx(min(n, (sizes > 0).sum()))
    rest = found[(found < 1) & (sizes > 0)]
    if len(rest):
        assert rest / rest.sum() == pytest.approx(
            sizes[(found < 1) & (sizes > 0)] / sizes[(found < 1) & (sizes > 0)].sum()
        )


def test_draws_have_their_probabilities():
    probability = inclusion(np.array([9.0, 1, 2, 3, 4, 5, 1, 1, 1, 1]), 4)
    counts = np.zeros(10)
    for seed in range(3000):
        mine = draw(probability, seed)
        assert len(mine) == len(set(mine.tolist())) == 4
        counts[mine] += 1
    assert counts / 3000 == pytest.approx(probability, abs=0.03)


def test_effects_by_hand():
    chance, change = np.array([[0.5, 0.25], [0.1, 0.0]]), np.array([[0.2, 0.4], [0.3, 0.0]])
    effects = Effects(np.arange(2), [1, 2], chance, change)
    assert effects.mean == pytest.approx([0.5 * 0.2 + 0.25 * 0.4, 0.03])
    # 0 with .5, .2 with .25, .6 with .25
    assert effects.variance == pytest.approx([0.25 * 0.04 + 0.25 * 0.36 - 0.2**2, 0.09 * 0.1 * 0.9])
    assert effects.of_labels(np.array([2, 1])) == pytest.approx([0.6, 0.3])
    least, most = effects.ends()
    assert least == pytest.approx([-0.2 - 0.03, -0.03, 0])
    assert most == pytest.approx([0.4 + 0.27, 0.27, 0])
    # the largest of the moments at which the sign is another than in the end
    apart = np.array([[-0.3, 0.2, -0.1, 0.1], [0.4, 0.3, 0.2, 0.1]])
    assert wrong_stop(apart, apart[:, -1], np.array([0.1, 0.1, 0.05, 0.01])) == pytest.approx(3)
    # what the labels cannot tell shows with the last one
    assert wrong_stop(apart, -apart[:, -1], np.ones(4)) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"goal": "nobody"}, "no run here"),
        ({"goal": OTHERS.names[:2]}, "no new run"),
        ({"goal": [NEW.names[0]] * 2}, "twice"),
        ({"goal": 3}, "goal"),
        ({"measure": ["P@10", "AP"]}, "one measure"),
        ({"measure": "Rprec"}, "cannot predict"),
        ({"n": 0, "goal": "score"}, "n"),
    ],
)
def test_bad_input_is_told(options, said):
    with pytest.raises(ptr.InputError, match=said):
        plan(**options)


def test_the_measure_that_is_said_to_be_the_default_is_the_one_used():
    stated = study_of(ptr.judge_next).parameters["measures"].flag.default
    assert set(plan(None).table["measure"]) == {stated}
