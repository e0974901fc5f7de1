"""judge_next: the order, the decisions and their end, samples by their probabilities, goals and bad input."""

from __future__ import annotations

import contextlib
import functools
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_run_parts import FIELD, KNOWN, NEW, ONE, OTHERS
from scipy.stats import ttest_rel

import pt_reuse as ptr
from pt_reuse.studies.new_runs.estimators import Effects, wrong_stop
from pt_reuse.studies.new_runs.predictor import NewRunPredictor
from pt_reuse.studies.new_runs.sampling import draw, inclusion
from pt_reuse.study import study_of

#: more than there are documents
ALL = 10_000


def plan(measure="nDCG@10", new=ONE, n=ALL, **options):
    return ptr.judge_next(OTHERS, KNOWN, measure, new=new, depth=10, n=n, **options)


@functools.cache
def whole(measure="nDCG@10", new=ONE, goal="ranking"):
    """Return the plan of all documents that is asked for several times."""
    return plan(measure, new=new, goal=goal)


def pairs_of(frame):
    return list(map(tuple, frame[["qid", "docno"]].to_numpy()))


def test_the_documents_are_the_unjudged_ones_and_the_weightiest_first():
    found = whole("P@10")
    top = ptr.depth_pool(ONE, depth=10, contributors="all").remainder(KNOWN)
    assert set(pairs_of(found.documents)) == set(pairs_of(top.to_frame()))
    assert (np.diff(found.documents["priority"]) <= 0).all()
    assert sorted(pairs_of(found.pool.to_frame())) == sorted(pairs_of(found.documents))


@pytest.mark.parametrize("goal", ["ranking", NEW.names[0], "score"])
def test_no_goal_asks_for_more_than_the_budget(goal):
    every = whole(new=NEW, goal=goal)
    for n in (1, 17):
        found = plan(new=NEW, goal=goal, n=n)
        assert len(found.documents) == len(found.pool) == n < len(every.documents)
        if goal != "score":
            pd.testing.assert_frame_equal(found.documents, every.documents.head(n))
            pd.testing.assert_frame_equal(found.table, every.table)
            assert found.summary["labels"].equals(every.summary["labels"])


def test_what_is_expected_is_what_is_known_and_chances():
    found = whole("P@10")
    known = ptr.score(ONE, KNOWN, "P@10").mean_values[0, 0]
    row = found.scores.set_index("name").loc[ONE.names[0]]
    assert row["zero"] == pytest.approx(known, abs=1e-12)
    expected = known + found.documents["chance"].sum() / 10 / len(KNOWN.topics)
    assert row["score"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", ["AP", "RBP(rel=1)", "nDCG@5"])
def test_with_every_label_decisions_are_those_of_the_scores(measure):
    # what is unjudged below the cutoff has no say
    labels = whole(measure, new=NEW).pool.judge(FIELD.all_qrels)
    found = plan(measure, new=NEW, judged=labels)
    assert not len(found.documents)
    judged = KNOWN | labels.to_frame()[["qid", "docno", "label"]]
    scores = ptr.score(OTHERS | NEW, judged, measure)
    true, by_run = scores.mean.set_index("name")[measure], dict(zip(scores.names, scores.values[0].T, strict=True))
    for row in found.table.itertuples():
        assert row.decided == "as judged"
        assert row.difference == pytest.approx(true[row.first] - true[row.second], abs=1e-9)
        assert row.half == row.expected == row.most == row.by_bounds == 0
        if (by_run[row.first] != by_run[row.second]).any():
            assert row.significant == (ttest_rel(by_run[row.first], by_run[row.second]).pvalue < 0.05)
    for column in ("score", "zero"):
        # the others, too, as they are judged by now
        assert found.scores[column].to_numpy() == pytest.approx(true[found.scores["name"]].to_numpy(), abs=1e-9)
    assert found.summary["leader"].item() == true.idxmax()


def test_a_run_that_has_the_documents_is_not_told_apart_until_they_are_judged():
    twin = {"twin": ONE[ONE.names[0]].drop(columns="name")}
    twin = ptr.RunSet.from_frames(twin, pooled=False, teams={"twin": "twins"})
    pair = {"new": ONE, "depth": 10, "goal": (ONE.names[0], "twin")}
    found = ptr.judge_next(OTHERS | twin, KNOWN, "P@10", **pair)
    assert found.table[["decided", "abstains"]].to_numpy().tolist() == [["", True]]
    labels = found.pool.judge(FIELD.all_qrels)
    after = ptr.judge_next(OTHERS | twin, KNOWN, "P@10", judged=labels, **pair)
    assert after.table["difference"].tolist() == pytest.approx([0], abs=1e-12)


@pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
@pytest.mark.parametrize("measure", ["nDCG@4", "AP@4"])
def test_what_is_decided_under_every_completion_is_so_under_each(measure):
    n_decided, n_ranked = 0, 0
    # of eight teams only bounds decide
    for seed, n_teams in ((2, 12), (26, 8)):
        field = ptr.demo.simulate_field(seed=seed, n_topics=3, n_docs=60, n_teams=n_teams, length=8)
        new, others = field.runs.select(names=field.runs.names[:2]), field.runs.select(names=field.runs.names[4:])
        known = field.all_qrels.restrict(ptr.depth_pool(others, depth=4))
        found = ptr.judge_next(others, known, measure, new=new, depth=4)
        sure = found.table[found.table["decided"] == "under every completion"]
        n_decided += len(sure)
        ranked = found.scores[found.scores["decided"] == "under every completion"]
        n_ranked += len(ranked)
        highest = int(known.to_frame()["label"].max())
        for labels in itertools.product((0, highest), repeat=len(found.documents)):
            complete = known | found.documents[["qid", "docno"]].assign(label=list(labels))
            score = ptr.score(others | new, complete, measure).mean.set_index("name")[measure]
            apart = score[sure["first"]].to_numpy() - score[sure["second"]].to_numpy()
            assert apart.min(initial=1) > -1e-9, (seed, labels)
            for row in ranked.itertuples():
                assert row.rank_low <= 1 + (score > score[row.name] + 1e-9).sum() <= row.rank_high
    assert n_decided > 5
    assert n_ranked > 0


def test_labels_that_are_none_of_the_plan_are_told():
    labels = plan(n=3).pool.judge(FIELD.all_qrels).to_frame()[["qid", "docno", "label"]]
    other = KNOWN.to_frame()[["qid", "docno", "label"]].head(1)
    with pytest.raises(ptr.InputError, match="has the label"):
        plan(judged=pd.concat([labels, other.assign(label=1 - other["label"].clip(upper=1))]))
    with pytest.raises(ptr.InputError, match="has the label 9"):
        plan(judged=labels.assign(label=9))


def test_labels_of_documents_and_topics_that_no_new_run_has_change_nothing():
    labels = plan(n=3).pool.judge(FIELD.all_qrels).to_frame()[["qid", "docno", "label"]]
    # so many relevant ones would change what nDCG divides by, and no judgment has a 9
    elsewhere = pd.DataFrame({"qid": labels["qid"].iloc[0], "docno": [f"none {n}" for n in range(30)], "label": 2})
    nine = elsewhere.assign(docno="none", label=9).head(1)
    others = [pd.concat([elsewhere, nine, labels.assign(qid="another topic")]), elsewhere.head(0)]
    alone = plan(judged=labels)
    for other in others:
        told = pytest.warns(ptr.ReuseWarning, match=f"{len(other)} doc") if len(other) else contextlib.nullcontext()
        with told:
            found = plan(judged=pd.concat([labels, other]))
        assert found.settings == alone.settings
        for table in ("table", "documents", "scores", "summary"):
            pd.testing.assert_frame_equal(getattr(found, table), getattr(alone, table))


def test_labels_are_those_that_decide_all_open_pairs_together():
    for measure, new in (("nDCG@10", ONE), ("P@10", NEW)):
        found = whole(measure, new=new)
        is_open, row = found.table["decided"] == "", found.summary.iloc[0]
        assert (row["open"], row["decided"], row["pairs"]) == (is_open.sum(), (~is_open).sum(), len(is_open))
        assert row["settled"] == row["open"]
        # no fewer than the pair that takes most, and no document twice
        assert found.table.loc[is_open, "expected"].max() <= row["labels"] <= row["labels_most"]
        assert row["labels_most"] <= row["documents"] == row["unjudged"] == len(found.documents)
        some = plan(measure, new=new, n=3).summary.iloc[0]
        assert 0 <= some["settled"] < some["open"]
        one = plan(measure, new=new, goal=found.table.loc[is_open, ["first", "second"]].iloc[0].tolist())
        assert one.summary[["labels", "labels_most"]].equals(
            one.table[["expected", "most"]].set_axis(["labels", "labels_most"], axis=1)
        )


def announced_and_taken(field, team, monkeypatch):
    """Yield of each open pair of a left-out team's runs, and of all of them together, what it is, the labels announced,
    and those that an oracle takes, who judges four at a time."""
    of_others = [name for name, of in field.runs.run_table[["name", "team"]].to_numpy() if of != team]
    new, others = field.runs.select(team=team), field.runs.select(names=of_others)
    known = field.all_qrels.restrict(ptr.depth_pool(others, depth=10))
    # a weak run that has one of the documents
    unjudged = ptr.depth_pool(new, depth=10, contributors="all").remainder(known).to_frame()
    sharing = others[others.names[-1]].drop(columns="name")
    qid, docno = unjudged[["qid", "docno"]].iloc[len(unjudged) // 3]
    sharing = sharing[(sharing["qid"] != qid) | (sharing["docno"] != docno)]
    sharing.loc[sharing.loc[sharing["qid"] == qid, "score"].idxmax(), "docno"] = docno
    rivals = ["sharing", *others.names[:6]]
    others |= ptr.RunSet.from_frames({"sharing": sharing}, pooled=False, teams={"sharing": "alone"})
    # what is learned is the same after each label
    learned = []

    def learn_once(*args, **options):
        learned[:] = learned or [NewRunPredictor(*args, **options)]
        return learned[0]

    monkeypatch.setattr("pt_reuse.studies.judge_next.NewRunPredictor", learn_once)
    for name in new.names:
        rounds, taken, judged, n = [], {}, None, 0
        options = {"new": new, "goal": [name, *rivals], "depth": 10, "n": 4}
        while not rounds or rounds[-1].summary["open"].item():
            found = ptr.judge_next(others, known, "nDCG@10", judged=judged, **options)
            rounds.append(found)
            for row in found.table[found.table["decided"] != ""].itertuples():
                taken.setdefault({row.first, row.second}.difference([name]).pop(), n)
            labels = found.pool.judge(field.all_qrels)
            judged = labels if judged is None else judged | labels
            n = len(judged)
        first = rounds[0]
        for row in first.table[first.table["decided"] == ""].itertuples():
            (rival,) = {row.first, row.second}.difference([name])
            yield "sharing" if rival == "sharing" else "apart", row.expected, taken[rival]
        yield "all", first.summary["labels"].item(), n
        # what was decided is so by all labels
        tops = ptr.depth_pool(new, depth=10, contributors="all").judge(field.all_qrels)
        true = ptr.score(others | new, known | tops, "nDCG@10").mean.set_index("name")["nDCG@10"]
        last = rounds[-1].table
        assert (true[last["first"]].to_numpy() > true[last["second"]].to_numpy() - 1e-9).all()


@pytest.mark.parametrize(("n_teams", "teams"), [(13, (1, 5)), (8, (1,))])
def test_the_labels_announced_for_a_pair_are_those_an_oracle_takes(n_teams, teams, monkeypatch):
    # of eight teams only bounds decide
    field = ptr.demo.simulate_field(seed=7, n_topics=10, n_docs=600, n_teams=n_teams, length=30)
    pairs = [pair for team in teams for pair in announced_and_taken(field, f"team-{team}", monkeypatch)]
    assert len(pairs) >= 8
    means = pd.DataFrame(pairs, columns=["pair", "announced", "taken"]).groupby("pair").mean()
    assert means["announced"].tolist() == pytest.approx(means["taken"].tolist(), rel=0.25)
    assert means.index.tolist() == ["all", "apart", "sharing"]


def test_a_run_of_which_all_is_judged_is_as_judged():
    labels = whole().pool.judge(FIELD.all_qrels)
    judged = KNOWN | labels.to_frame()[["qid", "docno", "label"]]
    other = NEW.select(names=NEW.names[1:])
    found = ptr.judge_next(OTHERS, judged, "nDCG@10", new=NEW, depth=10)
    mine = (found.table[["first", "second"]] == ONE.names[0]).any(axis=1)
    with_other = (found.table[["first", "second"]] == other.names[0]).any(axis=1)
    assert (found.table.loc[mine & ~with_other, "decided"] == "as judged").all()
    assert not (found.table.loc[with_other, "decided"] == "as judged").any()


def test_where_only_bounds_decide_ranks_are_those_under_every_completion():
    few = OTHERS.select(team=OTHERS.teams[:6])
    known = FIELD.all_qrels.restrict(ptr.depth_pool(few, depth=10))
    found = ptr.judge_next(few, known, "nDCG@10", new=ONE, depth=10)
    assert found.summary["abstains"].iloc[0] == found.table["abstains"].sum() == len(few)
    mine = found.scores.set_index("name").loc[ONE.names[0]]
    bounds = ptr.profile.bounds(few | ONE, known, "nDCG@10").table.set_index("name").loc[ONE.names[0]]
    assert mine["decided"] == "under every completion"
    assert (mine["rank_low"], mine["rank_high"]) == (bounds["rank_low"], bounds["rank_high"])
    assert mine["rank_low"] < mine["rank_high"] == len(few)
    assert any(f"rank {mine['rank_low']} to {mine['rank_high']}" in line for line in found.answers())


@pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
def test_answers_say_what_labels_cost():
    # where a few courses need many labels, most need fewer than the mean
    one = ptr.judge_next(OTHERS, KNOWN.select(KNOWN.topics[:1]), "nDCG@10", new=NEW, depth=10)
    assert one.summary["labels"].item() > one.summary["labels_most"].item()
    assert "(60 to 61 seconds at 30 seconds a label)" in " ".join(one.answers())
    assert "to estimate the scores of the new runs" in whole(new=NEW, goal="score").answers()[0]


def test_new_runs_and_a_field_in_the_other_order_are_told():
    with pytest.warns(ptr.ReuseWarning, match="other way round.* judge_next"), contextlib.suppress(ptr.InputError):
        ptr.judge_next(ONE, KNOWN, "P@10", new=OTHERS, depth=10)
    three = FIELD.runs.select(names=FIELD.runs.names[:3])
    rest = FIELD.runs.select(names=FIELD.runs.names[3:8])
    for pooled in (True, False):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ptr.check_new_run(rest.with_metadata(pooled=pooled), three, KNOWN, "P@10", depth=10)
        assert any("other way round" in str(each.message) for each in told) == pooled


@pytest.mark.parametrize("measure", ["nDCG@5", "AP@10"])
def test_check_new_run_decides_the_same_pairs_before_a_label_is_given(measure):
    n_decided, n_pairs = 0, 0
    for new in (ONE, NEW):
        found = whole(measure, new=new)
        ahead = {frozenset((row.first, row.second)): (row.first, row.decided) for row in found.table.itertuples()}
        checked = ptr.check_new_run(new, OTHERS, KNOWN, measure, against=[*OTHERS.names, *new.names], depth=10).against
        assert {frozenset(pair) for pair in checked[["name", "rival"]].to_numpy()} == set(ahead)
        for row in checked.itertuples():
            first, decided = ahead[frozenset((row.name, row.rival))]
            assert bool(decided) == (row.decided_by != "not decided"), row
            assert row.winner in (("neither", first) if decided else ("",))
            n_decided, n_pairs = n_decided + bool(decided), n_pairs + 1
    assert n_decided > n_pairs / 2


def test_goals():
    a, b = NEW.names
    both = whole(new=NEW)
    assert len(both.table) == 1 + 2 * len(OTHERS)
    assert len(whole(new=NEW, goal=a).table) == len(OTHERS) + 1
    pair = plan(new=NEW, goal=(a, b)).table
    assert set(pair.loc[0, ["first", "second"]]) == {a, b}
    three = plan(new=NEW, goal=[OTHERS.names[0], b, OTHERS.names[1]]).table
    assert {frozenset(pair) for pair in three[["first", "second"]].to_numpy()} == {
        frozenset((b, name)) for name in OTHERS.names[:2]
    }
    assert set(both.scores.loc[both.scores["rank"].notna(), "name"]) == {a, b}
    unpooled = ptr.judge_next(OTHERS | NEW.with_metadata(pooled=False), KNOWN, "nDCG@10", depth=10)
    assert set(NEW.names) <= set(unpooled.scores["name"])


def test_labels_of_a_judge_are_what_is_known_before():
    alone, judged = whole("P@10"), plan("P@10", judge=FIELD.all_qrels)
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


def test_bad_input_is_told():
    for options, said in [
        ({"goal": "nobody"}, "no run here"),
        ({"goal": OTHERS.names[:2]}, "no new run"),
        ({"goal": [NEW.names[0]] * 2}, "twice"),
        ({"goal": 3}, "goal"),
        ({"measure": ["P@10", "AP"]}, "one measure"),
        ({"measure": "Rprec"}, "cannot predict"),
        ({"n": 0, "goal": "score"}, "n"),
    ]:
        with pytest.raises(ptr.InputError, match=said):
            plan(**options)


def test_the_measure_that_is_said_to_be_the_default_is_the_one_used():
    stated = study_of(ptr.judge_next).parameters["measures"].flag.default
    assert set(plan(None).table["measure"]) == {stated}
