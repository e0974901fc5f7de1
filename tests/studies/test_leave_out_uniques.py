from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import reference_lou
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RBP, RR, Bpref, Judged, P, R, Rprec, SetP, Success, infAP, nDCG
from reference import as_qrels
from reference_lou import TeamField, hand_field, records, same, team_fields

from pt_reuse._errors import ReuseWarning
from pt_reuse.arrays.pairs import rank_alone
from pt_reuse.data import topic_jobs
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.demo.simulated import simulate_field
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.scores import score
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

NATIVE = [
    AP, P @ 3, P(rel=2) @ 2, nDCG, nDCG @ 4, R @ 5, RR, Rprec, Bpref, RBP(rel=1), AP(judged_only=True),
    nDCG(judged_only=True) @ 3, Judged @ 3, Unjudged @ 5,
]  # fmt: skip
#: no unit of R in them, and unjudged is not relevant
NEVER_RISE = [P @ 1, P @ 3, P(rel=2) @ 5, RR, RBP(rel=1), Success @ 2]


def check(field, measures, *, by, depth, remove, contributors, complete, order):
    lou = leave_out_uniques(
        field.as_runs(order),
        as_qrels(field.judgments),
        measures,
        by=by,
        depth=depth,
        remove=remove,
        contributors=contributors,
        complete=complete,
    )
    expected = reference_lou.leave_out_uniques(
        field.runs,
        field.judgments,
        measures,
        field.units(by),
        field.contributors(contributors),
        depth=depth,
        remove=remove,
        complete=complete,
        order=order,
    )
    column = "name" if by == "run" else by
    same(records(lou.unique_counts, column), expected.uniques)
    same(records(lou.table, column), expected.table)
    same(records(lou.by_run), expected.by_run)
    same(records(lou.summary), expected.summary)
    same(records(lou.whole_field(), "left_out" if by == "run" else by), expected.whole_field)
    assert lou.settings["judged without contributor"] == expected.judged_elsewhere
    has = {topic for topic, labels in field.judgments.items() if any(label >= 0 for label in labels.values())}
    pool = reference_lou.depth_pool(field.runs, depth, field.contributors(contributors), order)
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


def assert_same_tables(one, other, drop=()):
    for name, frame in tables_of(one).items():
        keys = [c for c in ("measure", "team", "type", "name", "left_out") if c in frame.columns]
        frames = [f.drop(columns=list(drop), errors="ignore") for f in (frame, tables_of(other)[name])]
        left, right = (f.sort_values(keys, ignore_index=True) for f in frames)
        pd.testing.assert_frame_equal(left, right, rtol=0, atol=1e-12)


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


def test_ranks_of_a_unit_re_scored_alone():
    full, own = np.array([0.5, 0.4, 0.3]), np.array([0.3, 0.2, 0.1])
    # runs 0 and 1 are one unit: run 0 meets (.3 .2 .3), run 1 (.3 .2 .3), run 2 (.5 .4 .1)
    assert rank_alone(full, own, np.array([0, 0, 1])).tolist() == [1, 3, 3]
    assert rank_alone(full[None, None], own[None, None], np.array([0, 0, 1])).tolist() == [[[1, 3, 3]]]


# against the brute force


@settings(deadline=None, max_examples=30)
@given(
    team_fields(),
    st.sampled_from(["team", "run", "type"]),
    st.sampled_from([1, 2, 3, 8, 100]),
    st.sampled_from(["relevant", "judged"]),
    st.sampled_from(["pooled", "all", ["run0"]]),
    st.booleans(),
    st.sampled_from(["trec_eval", "trec_eval9", "file"]),
)
def test_every_table_equals_the_brute_force(field, by, depth, remove, contributors, complete, order):
    check(
        field,
        NATIVE,
        by=by,
        depth=depth,
        remove=remove,
        contributors=contributors,
        complete=complete,
        order=order,
    )


@settings(deadline=None, max_examples=15)
@given(
    # pytrec_eval does not survive a topic whose labels are all below -1
    team_fields(labels=([0, 1], [-1, 0, 1, 2])),
    st.sampled_from(["team", "run", "type"]),
    st.sampled_from(["relevant", "judged"]),
    st.booleans(),
)
def test_measures_that_ir_measures_computes_equal_the_brute_force(field, by, remove, complete):
    check(
        field,
        [infAP, AP, SetP],
        by=by,
        depth=3,
        remove=remove,
        contributors="pooled",
        complete=complete,
        order="trec_eval",
    )


def test_measures_of_ir_measures_are_named_in_the_settings():
    field = hand_field()
    lou = leave_out_uniques(field.as_runs(), as_qrels(field.judgments), [infAP, AP, SetP], depth=3)
    for settings_of in (lou.settings, lou.scores.settings, lou.own_scores.settings):
        assert settings_of["by ir_measures"] == "infAP, SetP"
    assert "by ir_measures" not in leave_out_uniques(field.as_runs(), as_qrels(field.judgments), AP).settings


@pytest.mark.parametrize("at_once", [1, 1000, 2000])
def test_working_in_parts_changes_nothing(monkeypatch, at_once):
    field = simulate_field(seed=3, n_topics=4, n_docs=200, n_teams=5, length=20)
    whole = leave_out_uniques(field.runs, field.qrels, [AP, Bpref, nDCG @ 5], by="run", depth=10)
    monkeypatch.setattr(topic_jobs, "AT_ONCE", at_once)
    parts = leave_out_uniques(field.runs, field.qrels, [AP, Bpref, nDCG @ 5], by="run", depth=10)
    for name, frame in tables_of(whole).items():
        pd.testing.assert_frame_equal(frame, tables_of(parts)[name])


def test_provided_measures_show_progress(capsys):
    field = hand_field()
    leave_out_uniques(field.as_runs(), as_qrels(field.judgments), SetP, verbose=True)
    assert "ir_measures" in capsys.readouterr().err


# properties


@settings(deadline=None, max_examples=12)
@given(team_fields(), st.sampled_from(["relevant", "judged"]))
def test_a_unit_without_uniques_changes_nothing(field, remove):
    lou = leave_out_uniques(field.as_runs(), as_qrels(field.judgments), NATIVE, depth=3, remove=remove)
    idle = lou.table[lou.table["removed"] == 0]
    assert (idle["max_drop"] == 0).all()
    assert idle["dropped"].isna().all()
    assert set(idle["tau_b"].dropna()) <= {1.0}
    teams = set(idle["team"])
    mine = lou.by_run[lou.by_run["team"].isin(teams)]
    assert (mine["change"] == 0).all()
    assert (mine["drop"] == 0).all()
    whole = lou.whole_field()
    assert (whole.loc[whole["team"].isin(teams), "drop"] == 0).all()


@settings(deadline=None, max_examples=12)
@given(team_fields(), st.sampled_from([1, 3, 100]))
def test_removal_never_raises_measures_without_r(field, depth):
    lou = leave_out_uniques(field.as_runs(), as_qrels(field.judgments), NEVER_RISE, depth=depth, contributors="all")
    assert (lou.by_run["change"] <= 0).all()
    assert (lou.whole_field().eval("reduced_score - score") <= 0).all()
    assert (lou.summary["largest_loss_pct"].dropna() >= 0).all()


@settings(deadline=None, max_examples=10)
@given(team_fields(), st.sampled_from([1, 3, 100]))
def test_removing_judged_equals_removing_relevant_where_unjudged_is_not_relevant(field, depth):
    runs, qrels, measures = field.as_runs(), as_qrels(field.judgments), [AP, P @ 3, nDCG, nDCG @ 4, RR, Rprec]
    relevant = leave_out_uniques(runs, qrels, measures, depth=depth)
    judged = leave_out_uniques(runs, qrels, measures, depth=depth, remove="judged")
    assert_same_tables(relevant, judged, drop=["removed"])
    assert judged.table["removed"].tolist() == judged.table["unique"].tolist()
    assert relevant.table["removed"].tolist() == relevant.table["unique_relevant"].tolist()


def test_removing_judged_differs_for_measures_that_see_judgments():
    field = simulate_field(seed=1, n_topics=6)
    found = {
        remove: leave_out_uniques(field.runs, field.qrels, [Judged @ 10, Bpref], depth=field.depth, remove=remove)
        for remove in ("relevant", "judged")
    }
    for measure in ("Judged@10", "Bpref"):
        one, other = (lou.own_scores.mean[measure] for lou in found.values())
        assert not one.equals(other)


@settings(deadline=None, max_examples=12)
@given(team_fields(), st.randoms(use_true_random=False))
def test_the_order_of_the_runs_changes_nothing(field, chance):
    names = list(field.runs)
    chance.shuffle(names)
    shuffled = TeamField(
        {name: field.runs[name] for name in names}, field.judgments, field.team, field.type, field.pooled
    )
    one, other = (leave_out_uniques(f.as_runs(), as_qrels(f.judgments), NATIVE, depth=3) for f in (field, shuffled))
    # of several runs with the largest drop and the same score the first is named
    assert_same_tables(one, other, drop=["dropped"])


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


def test_scores_of_the_full_judgments_are_those_of_score():
    field = simulate_field(seed=2, n_topics=5)
    lou = leave_out_uniques(field.runs, field.qrels, [AP, infAP], depth=field.depth, complete=False)
    plain = score(field.runs, field.qrels, [AP, infAP], complete=False)
    pd.testing.assert_frame_equal(lou.scores.mean, plain.mean)
    assert lou.scores.settings == plain.settings


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


def test_nobody_pooled(messages):
    field = hand_field()
    runs = field.as_runs().with_metadata(pooled=False)
    messages.refused(lambda: leave_out_uniques(runs, as_qrels(field.judgments), AP))


def test_reports_have_columns_of_the_tables():
    field = simulate_field(seed=7)
    lou = leave_out_uniques(field.runs, field.qrels, ["AP", "nDCG@10"], depth=field.depth)
    frame = lou.report().to_frame()
    assert frame["Smallest tau-b, field"].tolist() == lou.summary["field_min_tau_b"].tolist()
    assert frame["Largest drop, field"].tolist() == lou.summary["field_max_drop"].tolist()
    rows = lou.table[lou.table["measure"] == "nDCG@10"]
    frame = lou.report("unit", measure="nDCG@10").to_frame()
    assert frame["Team"].tolist() == rows["team"].tolist()
    assert frame["Relevant uniques"].tolist() == rows["unique_relevant"].tolist()
    rows = lou.by_run[lou.by_run["measure"] == "AP"].sort_values("rank", kind="stable")
    assert lou.report("run").to_frame()["Drop"].tolist() == rows["drop"].tolist()
    assert "depth-10 pool" in lou.report("run").caption.replace("\n", " ")


def test_why_there_is_nothing_is_said():
    field = simulate_field(seed=7)
    runs, qrels = field.runs, field.qrels
    # every run twice, in another team: no document has one contributor
    names = {f"{name}-{team}": (name, team) for team in "AB" for name in runs.names}
    frames = {twin: runs[name].drop(columns="name") for twin, (name, _) in names.items()}
    twins = RunSet.from_frames(frames, teams={twin: team for twin, (_, team) in names.items()})
    none = Qrels(qrels.to_frame().assign(label=0))
    elsewhere = Qrels(qrels.to_frame().assign(docno=lambda frame: "other-" + frame["docno"]))
    for runs_here, judged, why in (
        (twins, qrels, "was contributed by at least two teams"),
        (runs, none, "none of them relevant (label of at least 1)"),
        (runs, elsewhere, "no judged document is in the pool of depth 5"),
    ):
        said = leave_out_uniques(runs_here, judged, AP, depth=5).findings()[0]
        assert said.startswith("Nothing to leave out")
        assert why in said
    assert "judged without its own team" in leave_out_uniques(runs, qrels, AP, depth=5).findings()[0]
