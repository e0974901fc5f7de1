"""Sensitivity of every study: its key figures are those of the study called by hand, under the defaults and not."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pt_reuse as ptr
from pt_reuse.result import key_numbers

FIELD = ptr.demo.simulate_field(seed=7, n_topics=5, n_docs=60, length=25, depth=4)
RUNS, QRELS = FIELD.runs, FIELD.qrels
STRICT = QRELS.threshold(2)
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")


def scored(study, runs=RUNS, complete=True, **options):
    return study(ptr.score(runs, QRELS, "AP", complete=complete), **options)


#: study -> what it is given besides runs and judgments, what is varied, and each value by hand
STUDIES = {
    "compare_judgments": (
        ptr.compare_judgments,
        {"measures": "AP", "qrels_b": FIELD.all_qrels},
        {
            ("rel", "the study's own"): lambda: ptr.compare_judgments(RUNS, QRELS, FIELD.all_qrels, "AP"),
            ("rel", "2"): lambda: ptr.compare_judgments(RUNS, QRELS, FIELD.all_qrels, "AP", rel=2),
            ("depth", "50"): lambda: ptr.compare_judgments(RUNS, QRELS, FIELD.all_qrels, "AP", depth=50),
        },
    ),
    "stability": (
        ptr.profile.stability,
        {"measures": "AP", "pairs": 20},
        {
            ("order", "file"): lambda: scored(ptr.profile.stability, RUNS.reorder("file"), pairs=20),
            ("complete", "False"): lambda: scored(ptr.profile.stability, complete=False, pairs=20),
            ("seed", "1"): lambda: scored(ptr.profile.stability, pairs=20, seed=1),
        },
    ),
}
VALUES = {
    "depth": int,
    "rel": int,
    "seed": int,
    "complete": lambda text: text == "True",
}


@pytest.mark.parametrize("name", STUDIES)
def test_key_figures_are_those_of_the_study_called_by_hand(name):
    study, options, calls = STUDIES[name]
    grid = {}
    for convention, value in calls:
        given = None if value == "the study's own" else VALUES.get(convention, str)(value)
        grid.setdefault(convention, []).append(given)
    found = ptr.profile.sensitivity(study, RUNS, QRELS, grid=grid, **options)
    assert found.combinations["refused"].isna().all()
    for (convention, value), call in calls.items():
        rows = found.table[(found.table["convention"] == convention) & (found.table["value"] == value)]
        expected = key_numbers(call())
        assert not expected.duplicated(["measure", "figure"]).any()
        here = dict(zip(zip(rows["measure"], rows["figure"], strict=True), rows["here"], strict=True))
        for measure, figure, number in expected.itertuples(index=False):
            assert here.pop((measure, figure)) == pytest.approx(number, abs=1e-12, nan_ok=True)
        # what it has under the defaults alone
        assert all(np.isnan(number) for number in here.values())


def test_a_study_of_judgments_alone(messages):
    def many(qrels, *, rel=1):
        return ptr.profile.density(qrels, rel=rel)

    found = ptr.profile.sensitivity(many, RUNS, QRELS)
    assert found.spans["convention"].unique().tolist() == ["rel"]
    here = found.table.set_index(["figure", "value"])["here"]
    assert here["mean_density", "2"] == pytest.approx(ptr.profile.density(STRICT).summary["mean_density"].item())
    # the order of the runs is nothing to it
    messages.refused(lambda: ptr.profile.sensitivity(many, RUNS, QRELS, grid=["order"]), argument="grid")


def test_what_is_no_study_of_runs_and_judgments(messages):
    for study in (ptr.judging.annotator_agreement, ptr.judging.judge_continuously, ptr.profile.sensitivity, dict):
        messages.refused(lambda study=study: ptr.profile.sensitivity(study, RUNS, QRELS), argument="study")
    partial = functools.partial(ptr.leave_out_uniques, depth=4)
    assert (
        ptr.profile.sensitivity(partial, RUNS, QRELS, "AP", grid={"by": ["run", "team"]}).study == "leave_out_uniques"
    )


def test_a_figure_that_is_defined_under_some_values_alone():
    def called(given):
        numbers = lambda runs, qrels, *, rel=1: {"tau": given[rel], "one": 1}  # noqa: E731
        return ptr.profile.sensitivity(numbers, RUNS, QRELS, grid={"rel": [1, 2]})

    for given in ({1: 0.5, 2: np.nan}, {1: np.nan, 2: 0.5}):
        found = called(given)
        row = found.of_figure("tau").iloc[0]
        assert (row["at"], row["lowest"], row["highest"]) == ("2", 0.5, 0.5)
        assert np.isnan(row["largest_change"])
    assert called({1: np.nan, 2: np.nan}).of_figure("tau").iloc[0]["at"] is None
