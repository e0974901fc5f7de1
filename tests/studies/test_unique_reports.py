"""The reports of leave-out-uniques, against the tables that they are made of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.arrays.correlation import tau_b

MEASURES = ["AP", "P@10", "nDCG@10"]


@pytest.fixture(scope="module")
def lou():
    field = ptr.simulate_field(seed=7)
    return ptr.leave_out_uniques(field.runs, field.qrels, MEASURES, depth=field.depth)


def of(frame, measure):
    return frame[frame["measure"] == measure]


def test_a_row_per_measure(lou):
    frame = lou.report().to_frame()
    assert frame.columns.tolist() == [
        "Measure", "tau-b", "Largest drop", "Worst change, %", "Of run", "Smallest tau-b, field"
    ]  # fmt: skip
    assert frame["Measure"].tolist() == MEASURES
    for row in frame.to_dict("records"):
        runs, units = of(lou.by_run, row["Measure"]), of(lou.table, row["Measure"])
        assert row["tau-b"] == pytest.approx(tau_b(runs["score"].round(12), runs["reduced_score"].round(12)), abs=1e-12)
        ranks = [(-runs[column].round(12)).rank(method="min") for column in ("score", "reduced_score")]
        assert row["Largest drop"] == (ranks[1] - ranks[0]).max()
        change = 100 * (runs["reduced_score"] / runs["score"] - 1)
        assert row["Worst change, %"] == pytest.approx(change.min())
        assert row["Of run"] == runs["name"].to_numpy()[change.argmin()]
        assert row["Smallest tau-b, field"] == units["tau_b"].min()


def test_the_unit_of_the_smallest_tau_is_named(lou):
    least = {measure: of(lou.table, measure).set_index("team")["tau_b"].idxmin() for measure in MEASURES}
    assert least == dict.fromkeys(MEASURES, "team-5")
    assert lou.report().notes[0] == (
        "The field's tau-b is smallest without team-5 under AP, P@10 and nDCG@10 (one team left out at a time)."
    )


def test_the_conventions_are_said(lou):
    found = lou.report()
    assert found.caption == (
        "Leave-out-uniques by team: the ranking of 18 runs against the one in which each run is scored without the "
        "relevant documents that its own team alone contributed to the depth-10 pool of 16 runs; the last column is "
        "the smallest tau-b when all runs are ranked without the uniques of one team."
    )
    assert found.notes[1:] == (
        "Documents are ranked in the order trec_eval and pooled in the order trec_eval; relevant is a label of at "
        "least 1; means are over all topics.",
    )
    field = ptr.simulate_field(seed=7)
    other = ptr.leave_out_uniques(
        field.runs.reorder("file"),
        field.qrels,
        "AP(rel=2)",
        by="run",
        depth=5,
        remove="judged",
        rel=2,
        contributors="all",
        complete=False,
        pool_order="trec_eval",
    )
    assert "the judged documents that it alone contributed to the depth-5 pool of 18 runs" in other.report().caption
    assert other.report().notes[1] == (
        "Documents are ranked in the order file and pooled in the order trec_eval; relevant is a label of at least 2; "
        "means are over the topics that a run has."
    )
    assert "when only that run is scored anew" in other.report("run").caption
    assert "that the run alone contributed" in other.report("unit").caption


def test_a_row_per_left_out_unit(lou):
    for measure in (None, "nDCG@10"):
        found, rows = lou.report("unit", measure=measure), of(lou.table, measure or "AP")
        frame = found.to_frame()
        assert frame.columns.tolist() == [
            "Team", "Uniques", "Relevant uniques", "tau-b", "Largest drop", "Dropped run"
        ]  # fmt: skip
        expected = rows[["team", "unique", "unique_relevant", "tau_b", "max_drop", "dropped"]]
        assert frame.astype(object).to_numpy().tolist() == expected.astype(object).to_numpy().tolist()
        assert f"under {measure or 'AP'}: " in found.caption


def test_a_row_per_run_the_best_first(lou):
    found = lou.report("run", measure="P@10")
    frame = found.to_frame()
    assert frame.columns.tolist() == ["Run", "P@10", "Without own uniques", "Change, %", "Rank", "Drop"]
    assert frame["P@10"].round(12).is_monotonic_decreasing
    rows = of(lou.by_run, "P@10").set_index("name").loc[frame["Run"]]
    expected = rows[["score", "reduced_score", "change_pct", "rank", "drop"]]
    assert frame.drop(columns="Run").to_numpy().tolist() == expected.to_numpy().tolist()
    assert len(frame) == 18
    shown = found.head(3)
    assert shown.to_frame().equals(frame.head(3))
    assert shown.notes[-1] == "The first 3 of 18 rows."
    assert found.head(18).notes == found.notes


def test_where_nothing_changes_nobody_is_named():
    field = ptr.simulate_field(seed=7)
    with pytest.warns(ptr.ReuseWarning):
        partly = ptr.leave_out_uniques(field.runs, field.qrels, "AP", depth=10, contributors=["lex1a"]).report()
    assert partly.notes[-1].startswith("Beware: ")
    # runs that lose nothing: no run stands beside a change of nothing
    unjudged = ptr.Qrels(pd.DataFrame({"qid": ["1"], "docno": ["nobody retrieves it"], "label": [1]}))
    with pytest.warns(ptr.ReuseWarning):
        found = ptr.leave_out_uniques(field.runs, unjudged, "AP", depth=1).report()
    frame = found.to_frame()
    assert frame["Worst change, %"].tolist() == [0]
    assert frame["Of run"].isna().all()
    assert np.isnan(frame["tau-b"]).all()
    # an undefined tau is not the smallest of a unit that changes nothing
    assert "-" in str(found)


def test_what_rows_there_are(lou, messages):
    messages.refused(lambda: lou.report("team"), argument="by")
    messages.refused(lambda: lou.report("unit", measure="RR"), argument="measure")
    messages.refused(lambda: lou.report().head(0), argument="n")


def test_trec8(trec8):
    found = ptr.leave_out_uniques(trec8.runs, trec8.qrels, "AP", depth=100).report()
    row = found.to_frame().to_dict("records")[0]
    assert round(row["tau-b"], 5) == 0.99806
    assert row["Largest drop"] == 2
    assert round(row["Worst change, %"], 1) == -9.9
