"""Experiment where documents are relevant from another label than 1, and where the field knows its depth."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_parts import OTHERS, QRELS, TOPICS, frames
from ir_measures import AP, nDCG

import pt_reuse as ptr

# hand-made judgments are no pool of these runs
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

MEASURES = [AP(rel=2), nDCG @ 5]


def table(qrels, **given):
    return ptr.Experiment(frames(), TOPICS, qrels, MEASURES, reuse=["lou", "rank"], depth=8, **given)


def test_from_the_judgments_or_the_call():
    judged = ptr.Qrels(QRELS)
    low, high = table(judged), table(judged.with_rel(2))
    assert high.attrs["reuse"]["settings"]["relevant"] == "label of at least 2"
    assert low.attrs["reuse"]["settings"]["relevant"] == "label of at least 1"
    pd.testing.assert_frame_equal(high, table(QRELS, rel=2))
    pd.testing.assert_frame_equal(low, table(QRELS))
    pd.testing.assert_frame_equal(low, table(judged.with_rel(2), rel=1))
    # AP counts from 2 in both; nDCG keeps what label 1 is worth only where its documents stay judged
    columns = [column for column in low if column.startswith("AP(rel=2)")]
    pd.testing.assert_frame_equal(low[columns], high[columns])
    assert (high["nDCG@5 LOU (no field)"] >= low["nDCG@5 LOU (no field)"]).all()
    assert (high["nDCG@5 LOU (no field)"] > low["nDCG@5 LOU (no field)"]).any()


def test_columns_are_those_of_the_study():
    judged = ptr.Qrels(QRELS).with_rel(2)
    found = table(judged)
    runs = ptr.RunSet.from_frames(frames(), teams={name: name for name in frames()}, pooled=True, order="trec_eval9")
    lou = ptr.leave_out_uniques(runs, judged.select(TOPICS["qid"]), MEASURES, depth=8)
    expected = lou.by_run[lou.by_run["measure"] == "nDCG@5"].set_index("name")["reduced_score"]
    assert found.set_index("name")["nDCG@5 LOU (no field)"].to_dict() == pytest.approx(expected.to_dict(), abs=1e-12)


def test_a_measure_that_counts_lower_labels(messages):
    call = lambda: ptr.Experiment(frames(), TOPICS, QRELS, [AP], rel=2, reuse=["rank"])  # noqa: E731
    messages.warned(call)


def test_a_label_that_no_judgment_has_is_told_once(messages):
    result = messages.warned(lambda: table(QRELS, rel=4, field=OTHERS, pooled=True))
    assert (result["nDCG@5 drop"] == 0).all()
    assert result.attrs["reuse"]["settings"]["beware"] == "no judgment is relevant from label 4"
