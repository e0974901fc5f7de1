"""Sensitivity: every number is that of the study called by hand."""

from __future__ import annotations

import functools
import warnings
from itertools import product

import numpy as np
import pytest
from ir_measures import AP, nDCG

import pt_reuse as ptr
from pt_reuse.data.coding import HowPooled
from pt_reuse.result import key_numbers

FIELD = ptr.demo.simulate_field(seed=7, n_topics=8, n_docs=60, n_teams=5, length=12, depth=4)
#: scores that float32 takes for equal, so that two orders by score differ
RUNS = ptr.RunSet.from_frames(
    {name: FIELD.runs[name].assign(score=lambda f: 1000 + f["score"] / 1e6) for name in FIELD.runs.names},
    metadata=FIELD.runs.run_table,
)
QRELS = FIELD.qrels
LOU = ("own_tau_b", "own_max_drop", "field_min_tau_b", "field_max_drop", "alone_max_drop", "mean_change_pct")
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def found():
    return ptr.profile.sensitivity(ptr.leave_out_uniques, RUNS, QRELS, [AP, nDCG @ 10], depth=4)


def of(result, **wanted):
    rows = result
    for column, value in wanted.items():
        rows = rows[rows[column].isna() if value is None else rows[column] == value]
    return rows


def by_hand(runs=RUNS, **conventions):
    """Return the summary of leave-out-uniques by measure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lou = ptr.leave_out_uniques(runs, QRELS, [AP, nDCG @ 10], **{"depth": 4, **conventions})
    return lou.summary.set_index("measure")


CALLS = {
    ("order", "trec_eval9"): lambda: by_hand(RUNS.reorder("trec_eval9"), pool_order="trec_eval"),
    ("order", "file"): lambda: by_hand(RUNS.reorder("file"), pool_order="trec_eval"),
    ("pool_order", "trec_eval9"): lambda: by_hand(pool_order="trec_eval9"),
    ("contributors", "all"): lambda: by_hand(contributors="all"),
    ("depth", "2"): lambda: by_hand(depth=2),
    ("depth", "8"): lambda: by_hand(depth=8),
    ("rel", "2"): lambda: by_hand(rel=2),
    ("complete", "False"): lambda: by_hand(complete=False),
    ("remove", "judged"): lambda: by_hand(remove="judged"),
}


def test_one_convention_at_a_time_is_the_study_called_so(found):
    for convention, value in CALLS:
        summary, default = CALLS[convention, value](), by_hand()
        rows = of(found.table, convention=convention, value=value)
        assert not rows["is_default"].any()
        for measure, figure in product(["AP", "nDCG@10"], LOU):
            row = of(rows, measure=measure, figure=figure).iloc[0]
            assert row["here"] == pytest.approx(summary.loc[measure, figure], abs=1e-12)
            assert row["default"] == pytest.approx(default.loc[measure, figure], abs=1e-12)
            assert row["change"] == row["here"] - row["default"]


def test_the_usual_conventions_and_their_values(found):
    values = {name: part["value"].unique().tolist() for name, part in found.table.groupby("convention", sort=False)}
    orders = ["trec_eval", "trec_eval9", "file", "rank"]
    assert values == {
        "order": orders,
        "pool_order": orders,
        "contributors": ["pooled", "all"],
        "depth": ["2", "4", "8"],
        "rel": ["1", "2"],
        "complete": ["True", "False"],
        "remove": ["relevant", "judged"],
    }
    at_default = found.table[found.table["is_default"]]
    assert at_default.drop_duplicates("convention").set_index("convention")["value"].to_dict() == {
        "order": "trec_eval", "pool_order": "trec_eval", "contributors": "pooled", "depth": "4", "rel": "1",
        "complete": "True", "remove": "relevant",
    }  # fmt: skip
    assert (at_default["change"] == 0).all()
    # something moves with each of those that can matter here
    moving = found.spans[found.spans["at"].notna()]["convention"].unique()
    assert {"order", "pool_order", "depth", "rel"} <= set(moving)
    assert len(found.combinations) == 1 + 3 + 3 + 1 + 2 + 1 + 1 + 1
    assert found.combinations["default"].tolist() == [True] + [False] * 12


def test_the_order_of_pooling_stays_when_that_of_scoring_is_varied():
    """Lou pools in the order of scoring where nobody says another, and both would be varied at once."""

    def pooled(runs, qrels, *, depth=4):
        return {"pooled": ptr.leave_out_uniques(runs, qrels, AP, depth=depth).fit.pooled}

    found = of(ptr.profile.sensitivity(pooled, RUNS, QRELS, grid=["order"]).table, figure="pooled")
    assert (found["change"] == 0).all()
    naive = pooled(RUNS.reorder("trec_eval9"), QRELS)["pooled"]
    assert naive != found["here"].iloc[0]
    # a field that knows how it was pooled keeps that
    known = RUNS.pooled_as(HowPooled("trec_eval9"))
    assert (ptr.profile.sensitivity(pooled, known, QRELS, grid=["order"]).table["here"] == naive).all()


def test_a_warning_of_one_combination_is_kept_with_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs = RUNS.with_metadata(pooled=True)
        found = ptr.profile.sensitivity(ptr.leave_out_uniques, runs, QRELS, AP, depth=4, grid={"rel": [1, 2]})
    kept = found.combinations.set_index("rel")["warned"]
    assert kept["1"] is None
    # the command calls another function and keeps the same words
    assert not kept["2"].startswith("sensitivity")
    assert "AP counts documents of label 1 as relevant" in kept["2"]


def test_a_study_of_ones_own():
    def shallow(runs, qrels, measures, *, pool_depth=2):
        part = qrels.restrict(ptr.depth_pool(runs, depth=pool_depth))
        return ptr.score(runs, qrels, measures).compare(ptr.score(runs, part, measures))

    found = ptr.profile.sensitivity(shallow, RUNS, QRELS, "AP", grid={"pool_depth": [1, 2]})
    for depth in (1, 2):
        tau = of(found.table, value=str(depth), figure="tau_b", measure="AP")["here"].item()
        assert tau == shallow(RUNS, QRELS, "AP", pool_depth=depth).table["tau_b"].item()
    assert found.study == "shallow"
    assert found.spans["figure"].tolist() == ["tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"]


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("study", {"study": "leave_out_uniques"}),
        ("study", {"study": lambda lists: None}),
        ("grid", {"grid": {"depht": [1]}}),
        ("grid", {"grid": {"depth": []}}),
        ("grid", {"grid": {"contributors": [["a", "b", "c"], ["a", "b", "d"]]}}),
    ],
)
def test_arguments_that_are_wrong_are_told_before_runs_are_read(messages, monkeypatch, argument, given):
    monkeypatch.setattr("pt_reuse.studies.sensitivity.as_runs_before", None)
    call = {"study": ptr.leave_out_uniques, **given}
    messages.refused(lambda: ptr.profile.sensitivity(call.pop("study"), RUNS, QRELS, AP, **call), argument=argument)


def test_what_the_study_refuses_is_told_and_the_rest_is_there():
    grid = {"depth": [4, 0, 6], "contributors": {"nobody": ["stranger"], "pooled": "pooled"}}
    found = ptr.profile.sensitivity(ptr.leave_out_uniques, RUNS, QRELS, AP, depth=4, grid=grid)
    refused = found.combinations[found.combinations["refused"].notna()]
    assert refused[["depth", "contributors"]].values.tolist() == [["0", "pooled"], ["4", "nobody"]]
    assert of(found.table, convention="depth")["value"].unique().tolist() == ["4", "6"]


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_a_study_of_scores():
    def by_hand(runs=RUNS, complete=True, **options):
        return key_numbers(ptr.profile.stability(ptr.score(runs, QRELS, "AP", complete=complete), pairs=20, **options))

    calls = {
        ("order", "file"): by_hand(RUNS.reorder("file")),
        ("complete", "False"): by_hand(complete=False),
        ("seed", "1"): by_hand(seed=1),
    }
    grid = {"order": ["file"], "complete": [False], "seed": [1]}
    found = ptr.profile.sensitivity(ptr.profile.stability, RUNS, QRELS, "AP", pairs=20, grid=grid)
    assert found.combinations["refused"].isna().all()
    for (convention, value), expected in calls.items():
        rows = of(found.table, convention=convention, value=value)
        here = dict(zip(zip(rows["measure"], rows["figure"], strict=True), rows["here"], strict=True))
        for measure, figure, number in expected.itertuples(index=False):
            assert here.pop((measure, figure)) == pytest.approx(number, abs=1e-12, nan_ok=True)
        # what it has under the defaults alone
        assert all(np.isnan(number) for number in here.values())


# of any study


def test_a_study_of_judgments_alone(messages):
    def many(qrels, *, rel=1):
        return ptr.profile.density(qrels, rel=rel)

    found = ptr.profile.sensitivity(many, RUNS, QRELS)
    assert found.spans["convention"].unique().tolist() == ["rel"]
    here = found.table.set_index(["figure", "value"])["here"]
    assert here["mean_density", "2"] == pytest.approx(
        ptr.profile.density(QRELS.threshold(2)).summary["mean_density"].item()
    )
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


def test_spans_are_the_ends_over_the_values(found):
    for row in found.spans.itertuples():
        rows = of(found.table, convention=row.convention, measure=row.measure, figure=row.figure)
        assert (row.lowest, row.highest, row.default) == (
            rows["here"].min(), rows["here"].max(), rows["default"].iloc[0],
        )  # fmt: skip
        largest = rows["change"].abs().max()
        assert abs(row.largest_change) == pytest.approx(largest, abs=1e-12)
        if row.at is not None:
            assert rows.set_index("value").loc[row.at, "change"] == row.largest_change
    shown = [line.split()[:2] for line in str(found).splitlines()]
    first = found.of_figure(None, "AP")["convention"].tolist()
    assert [
        name for measure, name in filter(lambda line: len(line) == 2 and line[0] == "AP", shown) if name in first
    ] == first
    spans = found.of_figure("field_max_drop", "nDCG@10")
    widths = spans["highest"] - spans["lowest"]
    assert widths.is_monotonic_decreasing
