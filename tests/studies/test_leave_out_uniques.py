from __future__ import annotations

import math
import warnings
from functools import partial

import pandas as pd
import pytest
import reference_lou
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RBP, RR, Bpref, Judged, P, R, Rprec, SetP, Success, infAP, nDCG
from reference import as_qrels
from reference_lou import TeamField, hand_field, records, same, team_fields

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import ReuseWarning
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.scores import score
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

NATIVE = [
    AP, P @ 3, P(rel=2) @ 2, nDCG, nDCG @ 4, R @ 5, RR, Rprec, Bpref, RBP(rel=1), AP(judged_only=True),
    nDCG(judged_only=True) @ 3, Judged @ 3, Unjudged @ 5,
]  # fmt: skip


def check(field, measures, *, by, contributors="pooled", order="trec_eval", rel=1, said_by_judgments=False, **options):
    # the call wins over the judgments
    judged = as_qrels(field.judgments).with_rel(rel if said_by_judgments else 4)
    given = {} if said_by_judgments else {"rel": rel}
    lou = leave_out_uniques(
        field.as_runs(order), judged, measures, by=by, contributors=contributors, **given, **options
    )
    expected = reference_lou.leave_out_uniques(
        field.runs, field.judgments, measures, field.units(by), field.contributors(contributors), order=order, rel=rel,
        **options,
    )  # fmt: skip
    assert (lou.rel, lou.settings["relevant"]) == (rel, f"label of at least {rel}")
    column = "name" if by == "run" else by
    same(records(lou.unique_counts, column), expected.uniques)
    same(records(lou.table, column), expected.table)
    same(records(lou.by_run), expected.by_run)
    same(records(lou.summary), expected.summary)
    same(records(lou.whole_field(), "left_out" if by == "run" else by), expected.whole_field)
    assert lou.settings["judged without contributor"] == expected.judged_elsewhere
    has = {topic for topic, labels in field.judgments.items() if any(label >= 0 for label in labels.values())}
    pool = reference_lou.depth_pool(field.runs, options["depth"], field.contributors(contributors), order)
    pool = [pair for pair in pool if pair[0] in has]
    unjudged = [pair for pair in pool if field.judgments.get(pair[0], {}).get(pair[1], -1) < 0]
    assert (lou.fit.judged, lou.fit.strangers) == (lou.settings["judged"], expected.judged_elsewhere)
    assert (lou.fit.pooled, lou.fit.unjudged) == (len(pool), len(unjudged))
    assert list(lou.summary.columns) == list(expected.summary[0])
    assert list(lou.unique_counts.columns) == [column, *list(expected.uniques[0])[1:]]
    assert list(lou.table.columns) == [column, *list(expected.table[0])[1:]]
    assert lou.by_run["team"].tolist() == [field.team[name] for name in lou.by_run["name"]]
    assert lou.by_run["type"].tolist() == [field.type[name] for name in lou.by_run["name"]]
    assert lou.by_run["pooled"].tolist() == [name in field.pooled for name in lou.by_run["name"]]


def tables_of(lou):
    return {**lou.tables(), "whole_field": lou.whole_field()}


# by hand


def test_by_hand():
    field = hand_field()
    lou = leave_out_uniques(field.as_runs(), as_qrels(field.judgments), [P @ 2], depth=3)
    # P@2, halved by the empty second topic: A {d1 d3} 2/2, B {d3 d1} 2/2, C {d4 d3} 2/2, D {d5 d2} 1/2
    assert lou.scores.mean["P@2"].tolist() == [0.5, 0.5, 0.5, 0.25]
    assert records(lou.unique_counts) == [
        {"team": "x", "runs": 2, "contributing": 2, "unique": 2, "unique_relevant": 1, "unique_nonrelevant": 1},
        {"team": "y", "runs": 1, "contributing": 1, "unique": 1, "unique_relevant": 1, "unique_nonrelevant": 0},
        {"team": "z", "runs": 1, "contributing": 0, "unique": 0, "unique_relevant": 0, "unique_nonrelevant": 0},
    ]
    # without x, d1 goes: A .25, B .25, C .5, D .25; without y, d4 goes: C .25
    assert lou.reduced.tolist() == [[[0.25, 0.25, 0.5, 0.25], [0.5, 0.5, 0.25, 0.25], [0.5, 0.5, 0.5, 0.25]]]
    assert lou.own_scores.mean["P@2"].tolist() == [0.25, 0.25, 0.25, 0.25]
    # under x: ranks 1 1 1 4 -> 2 2 1 2; under y: 1 1 3 3
    assert lou.table["team"].tolist() == ["x", "y", "z"]
    assert lou.table["max_drop"].tolist() == [1, 2, 0]
    assert lou.table["dropped"].tolist() == ["A", "C", None]
    # x: 1 concordant pair (C, D), none discordant; 3 pairs untied in both rankings: 1 / sqrt(3 * 3)
    assert lou.table["tau_b"].tolist() == pytest.approx([1 / 3, 2 / math.sqrt(3 * 4), 1])
    assert lou.table["gamma"].tolist() == [1, 1, 1]
    by_run = lou.by_run.set_index("name")
    assert by_run["rank"].tolist() == [1, 1, 1, 4]
    # A alone with its team: C stays .5, so A and B tie with D for 2
    assert by_run["reduced_rank"].tolist() == [2, 2, 3, 4]
    assert by_run["drop"].tolist() == [1, 1, 2, 0]
    assert by_run["change"].tolist() == [-0.25, -0.25, -0.25, 0]
    assert by_run["change_pct"].tolist() == [-50, -50, -50, 0]
    assert by_run["contributed"].tolist() == [True, True, True, False]
    row = lou.summary.iloc[0]
    assert (row["own_max_drop"], row["alone_max_drop"], row["field_max_drop"], row["field_worst"]) == (0, 2, 2, "y")
    assert (row["mean_change_pct"], row["largest_loss_pct"]) == (-37.5, 50)
    assert math.isnan(row["own_tau_b"])  # all tie
    # d5 was judged although no contributor found it; d6, and d1 of the second topic, too
    assert lou.settings["judged without contributor"] == 3


def test_contributors_decide_what_is_unique():
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)

    def unique(contributors):
        found = leave_out_uniques(runs, qrels, AP, depth=3, contributors=contributors)
        return dict(zip(found.unique_counts["team"], found.unique_counts["unique"], strict=True)), found.settings[
            "contributors"
        ]

    assert unique("pooled") == ({"x": 2, "y": 1, "z": 0}, "pooled (3 of 4 runs)")
    assert unique("all") == ({"x": 0, "y": 1, "z": 1}, "all (4 of 4 runs)")
    assert unique(["C", "D"]) == ({"x": 0, "y": 2, "z": 3}, "named (2 of 4 runs)")


# against the brute force


@settings(deadline=None, max_examples=40)
@given(
    team_fields(labels=([0, 1], [0, 1, 2, 3], [-2, -1, 0, 1, 2])),
    st.fixed_dictionaries(
        {
            "by": st.sampled_from(["team", "run", "type"]),
            "depth": st.sampled_from([1, 2, 3, 8, 100]),
            "remove": st.sampled_from(["relevant", "judged"]),
            "contributors": st.sampled_from(["pooled", "all", ["run0"]]),
            "complete": st.booleans(),
            "order": st.sampled_from(["trec_eval", "trec_eval9", "file"]),
            "rel": st.sampled_from([1, 2, 3]),
            "said_by_judgments": st.booleans(),
        }
    ),
)
@pytest.mark.filterwarnings("ignore:.* documents of label 1 as relevant:pt_reuse.ReuseWarning")
def test_every_table_equals_the_brute_force(field, options):
    check(field, NATIVE, **options)


@settings(deadline=None, max_examples=15)
@given(
    # pytrec_eval does not survive a topic whose labels are all below -1
    team_fields(labels=([0, 1], [-1, 0, 1, 2])),
    st.sampled_from(["team", "run", "type"]),
    st.sampled_from(["relevant", "judged"]),
    st.booleans(),
)
def test_measures_that_ir_measures_computes_equal_the_brute_force(field, by, remove, complete):
    check(field, [infAP, AP, SetP], by=by, depth=3, remove=remove, complete=complete)


# properties


@settings(deadline=None, max_examples=12)
@given(team_fields())
def test_the_names_of_runs_and_teams_change_nothing(field):
    new = {name: f"{i:02}<b>" for i, name in enumerate(field.runs)}
    teams = {team: f"T {team}" for team in set(field.team.values())}
    renamed = TeamField(
        {new[name]: run for name, run in field.runs.items()},
        field.judgments,
        {new[name]: teams[team] for name, team in field.team.items()},
        {new[name]: kind for name, kind in field.type.items()},
        [new[name] for name in field.pooled],
    )
    one, other = (leave_out_uniques(f.as_runs(), as_qrels(f.judgments), NATIVE, depth=3) for f in (field, renamed))
    for name, frame in tables_of(one).items():
        theirs = tables_of(other)[name]
        for column, names in (("name", new), ("dropped", new), ("team", teams), ("field_worst", teams)):
            if column in frame:
                assert [names.get(value) for value in frame[column]] == theirs[column].tolist()
                frame, theirs = frame.drop(columns=column), theirs.drop(columns=column)
        pd.testing.assert_frame_equal(frame, theirs, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=12)
@given(team_fields(), st.sampled_from([1, 3, 100]))
def test_removal_never_raises_measures_without_recall(field, depth):
    measures = [P @ 1, P @ 3, P(rel=2) @ 5, RR, RBP(rel=1), Success @ 2]
    lou = leave_out_uniques(field.as_runs(), as_qrels(field.judgments), measures, depth=depth, contributors="all")
    assert (lou.by_run["change"] <= 0).all()
    assert (lou.whole_field().eval("reduced_score - score") <= 0).all()


@settings(deadline=None, max_examples=12)
@given(team_fields(), st.sampled_from([1, 3, 100]))
def test_removing_judged_is_removing_relevant_where_unjudged_is_not_relevant(field, depth):
    measures = [AP, P @ 3, nDCG, nDCG @ 4, RR, Rprec]
    one, other = (
        leave_out_uniques(field.as_runs(), as_qrels(field.judgments), measures, depth=depth, remove=remove)
        for remove in ("relevant", "judged")
    )
    for name, frame in tables_of(one).items():
        theirs = tables_of(other)[name]
        pd.testing.assert_frame_equal(*(f.drop(columns="removed", errors="ignore") for f in (frame, theirs)))


@settings(deadline=None, max_examples=15)
@given(team_fields())
def test_a_single_team_owns_everything_that_was_contributed(field):
    field.team = dict.fromkeys(field.runs, "only")
    lou = leave_out_uniques(field.as_runs(), as_qrels(field.judgments), [AP, P @ 3], depth=100, contributors="all")
    # only what nobody retrieves is left to find
    assert (lou.by_run["reduced_score"] == 0).all()
    assert (lou.own_scores.values == 0).all()
    assert lou.unique_counts["unique"].tolist() == [
        int((as_qrels(field.judgments).arrays.labels >= 0).sum()) - lou.settings["judged without contributor"]
    ]
    assert (lou.by_run["drop"] <= 0).all()
    assert lou.table["tau_b"].isna().all()


def test_a_topic_that_loses_its_last_relevant_document_counts_0():
    frames = {
        "A": pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "score": 1.0}),
        "B": pd.DataFrame({"qid": ["1", "2"], "docno": ["c", "b"], "score": 1.0}),
    }
    qrels = Qrels(pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": 1}))
    runs = RunSet.from_frames(frames, teams={"A": "x", "B": "y"})
    for measure in (AP, nDCG @ 5, SetP):
        lou = leave_out_uniques(runs, qrels, measure)
        assert lou.scores.mean_values.tolist() == [[1, 0.5]]
        assert lou.own_scores.mean_values.tolist() == [[0.5, 0.5]]
        assert lou.own_scores.topics == ["1", "2"]


def test_a_reduced_score_may_rise():
    """As docs/leave-out-uniques.rst shows: d2 is the team's unique, and not in the list of its run A."""

    def run(*docnos):
        return pd.DataFrame({"qid": "1", "docno": docnos, "score": [-float(i) for i in range(len(docnos))]})

    lists = {"A": run("d1"), "B": run("d2"), "C": run("d1", "d3")}
    runs = RunSet.from_frames(lists, teams={"A": "us", "B": "us", "C": "them"}, pooled=True)
    lou = leave_out_uniques(runs, as_qrels({"1": {"d1": 1, "d2": 1, "d3": 0}}), [nDCG, AP, P @ 1])
    found = lou.by_run[lou.by_run["name"] == "A"]
    assert found["score"].tolist() == pytest.approx([1 / (1 + 1 / math.log2(3)), 0.5, 1])
    assert found["reduced_score"].tolist() == [1, 1, 1]
    # the same below the cutoff: d2 is the run's own, at rank 11
    own = run("d1", *(f"x{i}" for i in range(9)), "d2")
    runs = RunSet.from_frames({"A": own, "C": run("d1")}, teams={"A": "us", "C": "them"}, pooled=True)
    judged = {"d1": 1, "d2": 1, **{f"x{i}": 0 for i in range(9)}}
    lou = leave_out_uniques(runs, as_qrels({"1": judged}), [nDCG @ 10, nDCG, P @ 10])
    change = lou.by_run[lou.by_run["name"] == "A"].set_index("measure")["change"]
    assert change["nDCG@10"] == pytest.approx(1 - 1 / (1 + 1 / math.log2(3)))
    assert change["nDCG"] == pytest.approx(1 - (1 + 1 / math.log2(12)) / (1 + 1 / math.log2(3)))
    assert change["P@10"] == 0


def test_a_run_without_any_relevant_document_has_no_percentage():
    frames = {name: pd.DataFrame({"qid": ["1"], "docno": [name], "score": 1.0}) for name in "AB"}
    qrels = Qrels(pd.DataFrame({"qid": ["1"], "docno": ["A"], "label": 1}))
    runs = RunSet.from_frames(frames, teams={"A": "x", "B": "y"})
    lou = leave_out_uniques(runs, qrels, AP)
    assert lou.by_run["change_pct"].tolist() == pytest.approx([-100, math.nan], nan_ok=True)
    assert lou.summary["mean_change_pct"].tolist() == [-100]  # over the runs that have one


def test_runs_without_teams_are_their_own_teams(messages):
    frames = {
        name: pd.DataFrame({"qid": "1", "docno": docs, "score": [2.0, 1.0]})
        for name, docs in {"A": ["d1", "d2"], "B": ["d2", "d3"], "C": ["d3", "d4"]}.items()
    }
    runs, qrels = RunSet.from_frames(frames, pooled=True), as_qrels({"1": {"d1": 1, "d2": 0, "d4": 1}})
    by_team = messages.warned(lambda: leave_out_uniques(runs, qrels, AP))
    by_run = leave_out_uniques(runs, qrels, AP, by="run")
    assert by_team.unique_counts["team"].tolist() == by_run.unique_counts["name"].tolist() == ["A", "B", "C"]
    for name in ("table", "by_run", "summary"):
        left, right = (getattr(one, name).select_dtypes("number") for one in (by_team, by_run))
        pd.testing.assert_frame_equal(left, right, check_names=False)
    # one of a team beside one without: as if its team were named like it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        some = leave_out_uniques(RunSet.from_frames(frames, teams={"A": "T", "B": "T"}, pooled=True), qrels, AP)
    told = leave_out_uniques(RunSet.from_frames(frames, teams={"A": "T", "B": "T", "C": "C"}, pooled=True), qrels, AP)
    pd.testing.assert_frame_equal(some.table, told.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        clash = RunSet.from_frames(frames, teams={"A": "C"}, pooled=True)
    messages.refused(lambda: leave_out_uniques(clash, qrels, AP), argument="by")


# relevant from another label than 1


def test_relevant_from_a_higher_label():
    """Team x alone finds d1 (1) and d2 (0), team y d4 (2); D of team z, which was not pooled, has d1, too."""
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)
    low = leave_out_uniques(runs, qrels, nDCG @ 3, depth=3)
    high = leave_out_uniques(runs, qrels, nDCG @ 3, depth=3, rel=2)
    assert low.unique_counts["unique"].tolist() == high.unique_counts["unique"].tolist() == [2, 1, 0]
    assert low.unique_counts["unique_relevant"].tolist() == [1, 1, 0]
    assert high.unique_counts["unique_relevant"].tolist() == [0, 1, 0]
    assert high.unique_counts["unique_nonrelevant"].tolist() == [2, 0, 0]
    # d1 stays judged, and so a gain for A and B of team x
    assert high.by_run["change"].tolist()[:2] == [0, 0]
    assert (low.by_run["change"][:2] < 0).all()
    assert high.by_run["change"][2] == low.by_run["change"][2] < 0


LACKING = "4 runs without 1 topic of the judgments"  # of the field by hand: topic 2, which counts 0


def test_without_a_relevant_judgment_a_warning_says_that_nothing_is_lost(messages):
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)
    pooled = {"depth": 3, "contributors": "all"}
    lou = messages.warned(lambda: leave_out_uniques(runs, qrels, [AP(rel=3), nDCG], rel=3, **pooled), times=2)
    assert (lou.by_run["change"] == 0).all()
    assert lou.settings["beware"].split("; ") == [LACKING, "no judgment is relevant from label 3"]
    # every judged unique goes all the same
    judged = messages.warned(lambda: leave_out_uniques(runs, qrels, nDCG, rel=3, remove="judged", **pooled))
    assert (judged.by_run["change"] < 0).any()
    assert judged.settings["beware"] == LACKING


def test_runs_of_which_no_other_of_their_unit_contributed_are_told(messages):
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)

    def left_out(given, times, **options):
        # that all lack a topic is none of this, and is not told where it is said that these count 0
        call = partial(leave_out_uniques, given, qrels, [P @ 2], depth=3, without_topics="zero", **options)
        return messages.warned(call, times=times, unpooled=True)

    # team z has one run, D, which was not pooled
    for by in ("team", "run"):
        lou = left_out(runs, 1, by=by)
        mine = lou.by_run[lou.by_run["name"] == "D"]
        assert not mine["contributed"].any()
        assert (mine["change"] == 0).all()
        assert "without contributors" in lou.settings
    # a run that was not pooled, of a team that was, is scored without what its team found
    mates = runs.with_metadata(teams={"D": "x"})
    for some, options in ((mates, {}), (runs.select(["A", "B", "C"]), {}), (runs, {"contributors": "all"})):
        assert "without contributors" not in left_out(some, 0, **options).settings
    left_out(mates, 1, by="run")


def test_a_frame_is_relevant_from_1_and_the_judgments_say_otherwise(tmp_path):
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)
    file = qrels.write(tmp_path / "q")
    for judged, rel in ((qrels.to_frame(), 1), (file, 1), (qrels, 1), (qrels.with_rel(2), 2)):
        assert leave_out_uniques(runs, judged, nDCG, depth=3).rel == rel


def test_measures_that_count_lower_labels(messages):
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments).with_rel(2)
    lacking = {"without_topics": "zero"}  # a topic that all lack counts 0: said, and so not told
    measures = [AP, P @ 2, nDCG, infAP, AP(rel=1), RBP(rel=2)]
    messages.warned(lambda: score(runs, qrels, measures, **lacking))
    pooled = {"depth": 3, "contributors": "all", **lacking}
    messages.warned(lambda: leave_out_uniques(runs, qrels, "AP", **pooled))
    messages.warned(lambda: leave_out_uniques(runs, as_qrels(field.judgments), "P@2", rel=2, **pooled))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(runs, qrels, [AP(rel=1), AP(rel=2), nDCG @ 2, "Unjudged@2", "RBP(rel=1)"], **lacking)
        score(runs, qrels.with_rel(1), "AP", **lacking)
        leave_out_uniques(runs, qrels, "AP", rel=1, **pooled)
