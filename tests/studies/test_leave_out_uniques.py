from __future__ import annotations

import warnings
from functools import partial

import pandas as pd
import pytest
import reference_lou
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RBP, RR, Bpref, Judged, P, R, Rprec, SetP, infAP, nDCG
from reference import as_qrels
from reference_lou import hand_field, records, same, team_fields

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


@settings(deadline=None, max_examples=25)
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


def test_one_run_of_two_teams_is_told():
    rows = [("1", f"d{i}", 9.0 - i) for i in range(3)]
    frames = {name: pd.DataFrame(rows, columns=["qid", "docno", "score"]) for name in "ab"}
    frames["c"] = frames["a"].assign(docno=["d9", "d1", "d2"])
    runs = RunSet.from_frames(frames, teams={"a": "x", "b": "y", "c": "z"})
    qrels = Qrels(pd.DataFrame({"qid": "1", "docno": ["d0", "d1", "d9"], "label": 1}))
    with pytest.warns(ReuseWarning, match="runs 'b' and 'a', of two teams, have the same first 3 documents"):
        found = leave_out_uniques(runs, qrels, "P@2", depth=3, resamples=0)
    assert found.unique_counts.set_index("team")["unique"].to_dict() == {"x": 0, "y": 0, "z": 1}
    # one that was not pooled brought nothing
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        leave_out_uniques(runs, qrels, "P@2", depth=3, resamples=0, contributors=["a", "c"])
    assert not any("have the same first" in str(each.message) for each in told)


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
