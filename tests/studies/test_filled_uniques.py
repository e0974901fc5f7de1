"""Leave-out-uniques with the holes filled by a judge: the truth, several judges, their grades, and what is refused."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Bpref, Judged, P, nDCG
from reference import as_qrels
from reference_lou import (
    team_fields,
)

import pt_reuse as ptr
from pt_reuse.judge import Oracle
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: judgments made at random are nobody's pool, and relevant from 2 on for some measures alone
pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.* count documents of label 1:pt_reuse.ReuseWarning"),
]

MEASURES = [AP, P @ 3, nDCG @ 4, Bpref, nDCG(judged_only=True) @ 3, Judged @ 3, RR(rel=2)]


@settings(deadline=None, max_examples=3)
@given(team_fields(labels=([0, 1], [0, 1, 2])), st.sampled_from(["team", "run"]))
def test_filled_with_the_truth_is_the_truth(field, by):
    qrels = as_qrels(field.judgments)
    for judge in (qrels, Oracle(qrels)):
        found = leave_out_uniques(field.as_runs(), qrels, MEASURES, by=by, depth=3, fill=judge)
        assert (found.filled["labelled"] == found.filled["removed"]).all()
        assert (found.filled["judge_relevant"] == found.filled["relevant"]).all()
        for way in ("filled", "judge_alone"):
            assert not found.filled[[f"{way}_{name}" for name in ("change", "max_drop", "own_rise")]].to_numpy().any()
        assert not found.filled_summary[["filled_above", "judge_alone_above"]].to_numpy().any()


def test_judges_are_stacked_and_each_is_asked_once_for_all():
    asked = []

    def generous(frame):
        asked.append(frame)
        return [2] * len(frame)

    field = ptr.demo.simulate_field(seed=7, n_topics=6)
    found = leave_out_uniques(
        field.runs, field.qrels, [AP, nDCG @ 10], depth=field.depth, fill={"a": generous, "b": field.qrels}
    )
    assert len(asked) == 1
    assert asked[0].columns.tolist() == ["qid", "docno"]
    assert len(asked[0]) == (field.qrels.to_frame()["label"] >= 0).sum()
    assert found.filled["judge"].unique().tolist() == found.filled_summary["judge"].unique().tolist() == ["a", "b"]
    one = leave_out_uniques(field.runs, field.qrels, [AP, nDCG @ 10], depth=field.depth, fill={"b": field.qrels})
    for name in ("filled", "filled_summary"):
        both, alone = getattr(found, name), getattr(one, name)
        pd.testing.assert_frame_equal(both[both["judge"] == "b"].reset_index(drop=True), alone)
    assert (found.filled_summary.query("judge == 'a'")["filled_above"] > 0).all()


FIELD = ptr.demo.simulate_field(seed=11, n_topics=8, n_docs=120, n_teams=4, length=30, depth=10)
#: a judge that finds everything one grade better, as far as grades go, and does not know some documents
GENEROUS = FIELD.all_qrels.to_frame().assign(label=lambda f: (f["label"] + 1).clip(upper=f["label"].max()))
GENEROUS = GENEROUS.sample(frac=0.95, random_state=1)


def filled(**options):
    given = {"depth": 10, "fill": {"generous": GENEROUS}, "resamples": 200, "seed": 3, **options}
    return ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, [nDCG @ 10, AP], **given)


def test_grades_above_those_of_people_weigh_as_the_highest_of_people():
    higher = FIELD.all_qrels.to_frame().assign(label=lambda f: 2 * f["label"])
    with pytest.raises(ptr.InputError) as error:
        filled(fill={"higher": higher})
    assert error.value.argument == "judge_rel"
    lowered = higher.assign(label=higher["label"].clip(upper=FIELD.qrels.to_frame()["label"].max()))
    asked, known = (filled(fill={"higher": labels}, judge_rel=1) for labels in (higher, lowered))
    pd.testing.assert_frame_equal(asked.filled, known.filled)
    # a map says which label of people each of them is
    mapped = filled(fill={"higher": higher}, judge_rel={2 * label: label for label in range(4)})
    truth = filled(fill={"higher": FIELD.all_qrels})
    pd.testing.assert_frame_equal(mapped.filled, truth.filled)


def test_options_of_a_judge_need_one_that_knows_something(messages):
    for argument, value in (("judge_rel", 2), ("holes", "unjudged")):
        messages.refused(
            lambda given={argument: value}: ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, AP, **given),
            argument=argument,
        )
    messages.refused(lambda: filled(fill={"j": lambda frame: [None] * len(frame)}), argument="fill")


def test_a_judge_that_was_fitted_on_the_uniques_is_told(messages):
    seen = ptr.judging.Calibrated(FIELD.all_qrels, FIELD.qrels, share=[FIELD.qrels.topics[0]])
    found = messages.warned(lambda: filled(fill={"seen": seen}, resamples=0))
    assert found.settings["beware"].startswith("seen was fitted on ")
