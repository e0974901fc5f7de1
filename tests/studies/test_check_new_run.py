"""check_new_run: a left-out team's runs as new ones, scores by ir_measures, when it abstains, bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from new_run_parts import FIELD, KNOWN, NEW, ONE, OTHERS, WHOLE
from scipy.special import logit

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.studies.new_runs.sampling import shifted

MEASURES = ["P@10", "nDCG@10", "AP"]


@pytest.fixture(scope="module")
def found():
    return ptr.check_new_run(NEW, OTHERS, KNOWN, MEASURES, depth=10)


def test_new_runs_are_predicted_as_their_team_is_when_it_is_left_out(found):
    runs = OTHERS | NEW
    measures = MEASURES[1:]
    compared = ptr.profile.compare_estimators(runs, WHOLE, measures, depth=10).by_run
    for row in found.table[found.table["measure"].isin(measures)].itertuples():
        one = compared[
            (compared["measure"] == row.measure)
            & (compared["estimator"] == row.estimator)
            & (compared["name"] == row.name)
        ].iloc[0]
        mine = [row.score, row.predicted, row.score_low, row.score_high]
        assert mine == pytest.approx(one[["zero", "predicted", "lowest", "highest"]].tolist(), abs=1e-9)
        # by AP others may gain by documents below the pool
        assert row.rank_low <= one["rank_best"] <= one["rank_worst"] <= row.rank_high
        if row.measure == "nDCG@10":
            assert (row.rank_low, row.rank_high) == (one["rank_best"], one["rank_worst"])
        if not row.abstains:
            mine = [row.predicted_low, row.predicted_high, row.predicted_rank_low, row.predicted_rank_high]
            assert mine == pytest.approx(one[["low", "high", "rank_low", "rank_high"]].tolist(), abs=1e-9)
            assert row.predicted_rank == one["predicted_rank"]


def test_scores_and_shares_are_those_of_the_judgments(found):
    scores = ptr.score(NEW, KNOWN, [*MEASURES, ptr.Unjudged @ 10]).mean.set_index("name")
    true = ptr.score(NEW, WHOLE, MEASURES).mean.set_index("name")
    for row in found.table.itertuples():
        assert row.score == pytest.approx(scores.loc[row.name, row.measure], abs=1e-12)
        assert row.unjudged == pytest.approx(scores.loc[row.name, "Unjudged@10"], abs=1e-12)
        assert row.score_low - 1e-12 <= true.loc[row.name, row.measure] <= row.score_high + 1e-12
        assert row.score_low - 1e-12 <= row.predicted_low <= row.predicted_high <= row.score_high + 1e-12
        assert row.both_low <= row.predicted_low
        assert row.both_high >= row.predicted_high
    unjudged = found.topics.groupby(["measure", "name"])["unjudged"].sum()
    for name in NEW.names:
        tops = ptr.depth_pool(NEW.select(names=[name]), depth=10, contributors="all").remainder(KNOWN)
        assert unjudged["P@10", name] == len(tops)


def test_it_abstains_without_enough_teams():
    few = OTHERS.select(team=OTHERS.teams[:6])
    known = FIELD.all_qrels.restrict(ptr.depth_pool(few, depth=10))
    table = ptr.check_new_run(NEW, few, known, "P@10", depth=10).table
    assert table["abstains"].all()
    assert table["why"].str.contains("needs 9 left-out teams").all()
    assert (table["predicted_low"] == table["score_low"]).all()
    assert (table["predicted_high"] == table["score_high"]).all()
    assert (table["to_judge"] > 0).all()
    less = ptr.check_new_run(NEW, few, known, "P@10", depth=10, confidence=0.8).table
    assert not less["why"].str.contains("left-out teams").any()


def test_it_abstains_for_a_run_unlike_those_left_out():
    # all that nobody judged, first
    best = FIELD.all_qrels.to_frame().merge(KNOWN.to_frame()[["qid", "docno"]], how="left", indicator=True)
    best = best[best["_merge"] == "left_only"].sort_values("label", ascending=False).groupby("qid").head(30)
    odd = best.assign(score=best["label"] + np.linspace(0, 0.5, len(best)))[["qid", "docno", "score"]]
    some = NEW[NEW.names[0]][["qid", "docno", "score"]].assign(score=lambda f: f["score"] - 1e6)
    odd = pd.concat([odd, some]).drop_duplicates(["qid", "docno"])
    table = ptr.check_new_run({"odd": odd}, OTHERS, KNOWN, "P@10", depth=10).table
    assert table["abstains"].all()
    assert table["why"].str.contains("are unjudged").all()
    # the judged relevant documents alone: a higher precision than any run has
    good = KNOWN.to_frame().query("label > 0").groupby("qid").head(9)
    good = good.assign(score=1.0)[["qid", "docno", "score"]]
    tail = odd.groupby("qid").tail(1).assign(score=2.0)
    good = pd.concat([tail, good]).drop_duplicates(["qid", "docno"])
    table = ptr.check_new_run({"good": good}, OTHERS, KNOWN, "P@10", depth=10).table
    assert table["why"].str.contains("more than any left-out run").all()


def test_a_field_that_is_not_judged_to_the_depth_is_told():
    shallow = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS, depth=5))
    counts = ptr.depth_pool(OTHERS, depth=10).counts(shallow)
    said = f"{counts['to_judge'].sum():,} of the {counts['documents'].sum():,} documents"
    for study in (
        lambda: ptr.check_new_run(NEW, OTHERS, shallow, "P@10", depth=10),
        lambda: ptr.judge_next(OTHERS, shallow, "P@10", new=NEW, depth=10),
        lambda: ptr.profile.compare_estimators(OTHERS, shallow, "P@10", depth=10, estimators=["zero"]),
    ):
        with pytest.warns(ptr.ReuseWarning, match=said):
            study()


def test_nothing_unjudged_is_no_doubt():
    table = ptr.check_new_run(NEW, OTHERS, WHOLE, MEASURES[:2], depth=10).table
    assert not table["abstains"].any()
    for column in ("predicted", "predicted_low", "predicted_high", "score_low", "score_high"):
        assert table[column].tolist() == pytest.approx(table["score"].tolist(), abs=1e-12)
    assert (table["rank_low"] == table["rank_high"]).all()


def test_a_sample_of_everything_is_the_truth():
    for measure in ("RBP(rel=1)", "nDCG@10"):
        plan = ptr.judge_next(OTHERS, KNOWN, measure, new=ONE, depth=10, goal="score", n=10_000)
        assert (plan.documents["inclusion"] == 1).all()
        sampled = plan.pool.judge(FIELD.all_qrels)
        row = ptr.check_new_run(ONE, OTHERS, KNOWN, measure, depth=10, sampled=sampled).table.iloc[0]
        true = ptr.score(ONE, KNOWN | sampled.to_frame()[["qid", "docno", "label"]], measure).mean_values[0, 0]
        assert row["predicted"] == pytest.approx(true, abs=1e-9)
        assert row["predicted_low"] == pytest.approx(row["predicted_high"])
        assert row["estimator"] == "sample"


def test_chances_are_shifted_to_what_a_sample_has():
    for positive in [[True, True, False], [False, False, False], [True, True, True]]:
        chance, sampled, probability = np.array([0.1, 0.3, 0.05, 0.6]), np.array([0, 1, 3]), np.array([0.5, 0.25, 1.0])
        found = shifted(chance, sampled, np.array(positive), probability)
        moved = logit(found) - logit(chance)
        assert moved == pytest.approx(np.full(4, moved[0]))
        lacking = ((np.array(positive) - found[sampled]) / probability).sum()
        assert lacking == pytest.approx(moved[0], abs=1e-6)


def test_what_is_below_the_pool_and_missing_topics_are_told():
    whole = KNOWN | FIELD.all_qrels.restrict(ptr.depth_pool(NEW, depth=10, contributors="all"))
    row = ptr.check_new_run(ONE, OTHERS, whole, "AP", depth=10).table.iloc[0]
    assert row["score_high"] > row["score_low"]
    frame = ONE[ONE.names[0]].drop(columns="name")
    some = frame[frame["qid"].isin(KNOWN.topics[:5])]
    with pytest.warns(ptr.ReuseWarning, match="lacks 7 of 12 topics") as told:
        found = ptr.check_new_run({"some": some}, OTHERS, KNOWN, "P@10", against=OTHERS.names[0], depth=10)
    assert len(told) == 1
    assert found.settings["topics missing"] == "some 7 of 12"
    # the share of what it has
    judged = ptr.score(ONE, KNOWN.select(KNOWN.topics[:5]), ptr.Unjudged @ 10).mean_values[0, 0]
    assert found.table["unjudged"].iloc[0] == pytest.approx(judged)


def test_forms_of_new_runs(found):
    frame = NEW[NEW.names[0]][["qid", "docno", "score"]]
    topics = pd.DataFrame({"qid": FIELD.qrels.topics, "query": "x"})
    for new in (frame, pt.Transformer.from_df(frame.assign(query="x"))):
        table = ptr.check_new_run(new, OTHERS, KNOWN, "P@10", depth=10, topics=topics).table
        assert table["name"].tolist() == ["new run"]
        assert table["score"].iloc[0] == found.table["score"].iloc[0]


STRANGE = pd.DataFrame({"qid": FIELD.qrels.topics[0], "docno": ["x1", "x2"], "score": [2.0, 1.0]})


def test_bad_input_is_told():
    for new, options, said in [
        (NEW, {"measures": "Rprec"}, "cannot predict"),
        (OTHERS.select(names=OTHERS.names[:1]), {}, "among the runs of the field"),
        ({"x": STRANGE}, {}, "shares no document"),
        ({"x": STRANGE.assign(qid="nowhere")}, {}, "without any topic"),
        (pt.Transformer.identity(), {}, "topics"),
        (NEW, {"sampled": KNOWN}, "inclusion"),
        (NEW, {"sampled": KNOWN, "measures": "AP"}, "a sample estimates"),
        (NEW, {"against": "nobody"}, "is no run here"),
        (ONE, {"against": ONE.names[0]}, "names the new run alone"),
    ]:
        given = {"runs": OTHERS, "measures": "P@10", "depth": 10, **options}
        with pytest.raises(ptr.InputError, match=said):
            ptr.check_new_run(new, qrels=KNOWN, **given)


@pytest.mark.filterwarnings("ignore:.*without a team")
def test_a_field_without_teams_and_one_topic():
    bare = ptr.RunSet.from_frames({name: OTHERS[name].drop(columns="name") for name in OTHERS.names}, pooled=True)
    found = ptr.check_new_run(NEW, bare, KNOWN, "P@10", depth=10)
    assert "a team of its own" in found.settings["teams"]
    topic = FIELD.qrels.topics[0]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        one = ptr.check_new_run(NEW, OTHERS, Qrels(KNOWN.select([topic]).to_frame()), "P@10", depth=10)
    assert any("1 topic" in str(each.message) for each in told)
    assert one.table["both_low"].isna().all()


def test_new_runs_without_a_team_are_teams_of_their_own():
    field = ptr.demo.simulate_field(seed=321, n_topics=10, n_docs=500, n_teams=12, length=30)
    pooled = field.runs.select(pooled=True)
    new, others = (
        pooled.select(team=pooled.teams[4]),
        pooled.select(team=[t for t in pooled.teams if t != pooled.teams[4]]),
    )
    known = field.all_qrels.restrict(ptr.depth_pool(others, depth=10))
    bare = {name: new.select(names=[name]).to_frame().drop(columns="name") for name in new.names}
    alone = new.with_metadata(teams={name: name for name in new.names})
    one, each, none = (
        ptr.check_new_run(given, others, known, "nDCG@10", depth=10).table["predicted"].tolist()
        for given in (new, alone, bare)
    )
    assert none == pytest.approx(each)
    assert one != pytest.approx(each)


def test_a_run_of_the_field_under_another_name_is_told():
    copy = OTHERS.select(OTHERS.names[0]).to_frame().assign(name="mine")
    with pytest.warns(ptr.ReuseWarning, match=f"'mine' has the same first 10 documents as '{OTHERS.names[0]}'"):
        ptr.check_new_run(copy, OTHERS, KNOWN, "P@10", depth=10)
