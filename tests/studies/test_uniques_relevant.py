"""Leave-out-uniques where documents are relevant from another label than 1."""

from __future__ import annotations

import warnings

import pytest
import reference_lou
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RBP, Bpref, P, infAP, nDCG
from reference import as_qrels
from reference_lou import hand_field, records, same, team_fields

import pt_reuse as ptr

# hand-made judgments are no pool of these runs
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

MEASURES = [AP(rel=2), AP(rel=1), P(rel=2) @ 3, P(rel=3) @ 3, nDCG, nDCG @ 3, Bpref(rel=2), RBP(rel=2)]


@settings(deadline=None, max_examples=15)
@given(
    team_fields(labels=([0, 1, 2, 3], [-1, 0, 1, 2])),
    st.sampled_from(["team", "run"]),
    st.sampled_from([1, 3, 100]),
    st.sampled_from(["relevant", "judged"]),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
def test_every_table_equals_the_brute_force(field, by, depth, remove, rel, said_by_judgments):
    arguments = {"by": by, "depth": depth, "remove": remove}
    qrels = as_qrels(field.judgments)
    if said_by_judgments:
        lou = ptr.leave_out_uniques(field.as_runs(), qrels.with_rel(rel), MEASURES, **arguments)
    else:
        # the call wins over the judgments
        lou = ptr.leave_out_uniques(field.as_runs(), qrels.with_rel(4), MEASURES, rel=rel, **arguments)
    expected = reference_lou.leave_out_uniques(
        field.runs, field.judgments, MEASURES, field.units(by), field.contributors("pooled"), depth=depth,
        remove=remove, complete=True, order="trec_eval", rel=rel,
    )  # fmt: skip
    column = "name" if by == "run" else by
    same(records(lou.unique_counts, column), expected.uniques)
    same(records(lou.table, column), expected.table)
    same(records(lou.by_run), expected.by_run)
    same(records(lou.summary), expected.summary)
    assert (lou.rel, lou.settings["relevant"]) == (rel, f"label of at least {rel}")


def test_by_hand():
    """Team x alone finds d1 (1) and d2 (0), team y d4 (2); D of team z, which was not pooled, has d1, too."""
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)
    low = ptr.leave_out_uniques(runs, qrels, nDCG @ 3, depth=3)
    high = ptr.leave_out_uniques(runs, qrels, nDCG @ 3, depth=3, rel=2)
    assert low.unique_counts["unique"].tolist() == high.unique_counts["unique"].tolist() == [2, 1, 0]
    assert low.unique_counts["unique_relevant"].tolist() == [1, 1, 0]
    assert high.unique_counts["unique_relevant"].tolist() == [0, 1, 0]
    assert high.unique_counts["unique_nonrelevant"].tolist() == [2, 0, 0]
    # d1 stays judged, and so a gain for A and B of team x
    assert high.by_run["change"].tolist()[:2] == [0, 0]
    assert (low.by_run["change"][:2] < 0).all()
    assert high.by_run["change"][2] == low.by_run["change"][2] < 0


def test_without_a_relevant_judgment_a_warning_says_that_nothing_is_lost(messages):
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)
    lou = messages.warned(lambda: ptr.leave_out_uniques(runs, qrels, [AP(rel=3), nDCG], depth=3, rel=3))
    assert (lou.by_run["change"] == 0).all()
    assert lou.settings["beware"] == "no judgment is relevant from label 3"
    # every judged unique goes all the same
    judged = ptr.leave_out_uniques(runs, qrels, nDCG, depth=3, rel=3, remove="judged")
    assert (judged.by_run["change"] < 0).any()
    assert "beware" not in judged.settings


def test_a_frame_is_relevant_from_1_and_the_judgments_say_otherwise(tmp_path):
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments)
    file = qrels.write(tmp_path / "q")
    for judged, rel in ((qrels.to_frame(), 1), (file, 1), (qrels, 1), (qrels.with_rel(2), 2)):
        assert ptr.leave_out_uniques(runs, judged, nDCG, depth=3).rel == rel


@pytest.mark.parametrize("rel", [0, "2", True, 2.0])
def test_no_grade(rel, messages):
    field = hand_field()
    messages.refused(
        lambda: ptr.leave_out_uniques(field.as_runs(), as_qrels(field.judgments), "AP", rel=rel), argument="rel"
    )


def test_measures_that_count_lower_labels(messages):
    field = hand_field()
    runs, qrels = field.as_runs(), as_qrels(field.judgments).with_rel(2)
    measures = [AP, P @ 2, nDCG, infAP, AP(rel=1), RBP(rel=2)]
    messages.warned(lambda: ptr.score(runs, qrels, measures))
    messages.warned(lambda: ptr.leave_out_uniques(runs, qrels, "AP", depth=3))
    messages.warned(lambda: ptr.leave_out_uniques(runs, as_qrels(field.judgments), "P@2", depth=3, rel=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ptr.score(runs, qrels, [AP(rel=1), AP(rel=2), nDCG @ 2, "Unjudged@2", "RBP(rel=1)"])
        ptr.score(runs, qrels.with_rel(1), "AP")
        ptr.leave_out_uniques(runs, qrels, "AP", depth=3, rel=1)
