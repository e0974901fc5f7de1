"""What speaks for a run, how many contributed, how certain a pool is, and what is shown of it."""

from __future__ import annotations

import pandas as pd
import pytest
from pool_parts import HAND, as_qrels, as_runs, hand, pool_of

from pt_reuse.studies.infer_pool.inference import infer_pool


def test_evidence_by_hand():
    runs, qrels = hand(pooled=["A", "B", "twin1"])
    found = infer_pool(runs, qrels)
    table = found.table.set_index("name")
    words = ["needed"] * 2 + ["needed together"] * 2 + ["covered", "not pooled"]
    assert table["evidence"].tolist() == words
    assert table["contributed"].tolist() == [True, True, True, True, False, False]
    assert table["group"].tolist() == [pd.NA, pd.NA, 1, 1, pd.NA, pd.NA]
    assert table["alone"].tolist() == [1, 2, 0, 0, 0, 0]  # c; d and s
    assert table["judged_to"].tolist() == [3, 3, 3, 3, 2, 1]
    assert table["first_missing"].tolist() == [4, 4, 4, 4, pd.NA, 2]
    assert table.loc["not", ["entries", "missing", "alone_unjudged"]].tolist() == [4, 1, 1]
    assert table.loc["twin2", ["nearest", "common"]].tolist() == ["twin1", 1.0]
    assert table.loc["B", "common"] == pytest.approx(4 / 6)
    assert found.headline() == ("depth 3, 3 to 5 of 6 runs contributed, 9 of 9 judgments explained")
    assert found.explanation == (
        "exact: the pool of these runs is the judged set. Between 3 and 5 runs contributed, 4 are taken to have: "
        "2 are needed, at least 1 of 2 that are needed together, 1 is covered."
    )
    row = found.summary.iloc[0]
    assert (row["at_depth"], row["below"], row["new_at_depth"], row["new_below"]) == (1, 0, 1, 0)
    assert runs.with_metadata(pooled=found.contributors).pooled.tolist() == [True, True, True, True, False, False]


def test_a_chain_of_overlaps_is_one_group():
    runs = as_runs({"A": {"1": ["a", "c"]}, "B": {"1": ["b", "a"]}, "C": {"1": ["c", "b"]}, "E": {"1": ["e", "a"]}})
    found = infer_pool(runs, as_qrels({("1", d) for d in "abce"}), depth=2)
    assert found.table["evidence"].tolist() == ["needed together"] * 3 + ["needed"]
    # a is explained by E; c joins A and C, b joins B and C
    assert found.table["group"].tolist() == [1, 1, 1, pd.NA]


def test_a_run_that_brings_mostly_unjudged_documents_is_not_pooled():
    field = {"A": {"1": list("abcdefgh")}, "B": {"1": ["a", "b", "x", "c", "y", "d", "z", "e"]}}
    runs, qrels = as_runs(field), as_qrels({("1", d) for d in "abcdefgh"})
    found = infer_pool(runs, qrels, depth=8, tolerance=0.5)
    table = found.table.set_index("name")
    assert table["evidence"].tolist() == ["needed", "not pooled"]
    assert table.loc["B", ["missing", "alone", "alone_unjudged"]].tolist() == [3, 0, 3]


def test_a_covered_run_contributed_where_no_run_is_left_out():
    """That every run was pooled is the simplest record; one run left out, and a covered run is in doubt again."""
    field = {"A": {"1": ["a", "b"]}, "B": {"1": ["c", "d"]}, "covered": {"1": ["a", "c"]}}
    judged = pool_of(field, ["A", "B"], ["1"], {"1": 2})
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert (found.contributors, found.contributor_range) == (["A", "B", "covered"], (2, 3))
    found = infer_pool(as_runs(field | {"not": {"1": ["x"]}}), as_qrels(judged))
    assert (found.contributors, found.contributor_range) == (["A", "B"], (2, 3))


@pytest.mark.parametrize(
    ("pooled", "said", "rows", "needed"),
    [
        (None, "not on record", [pd.NA], [2]),
        (["A", "B", "twin1"], "3 of 6 runs pooled", [True, False], [2, 0]),
        (True, "6 of 6 runs pooled", [True, False], [2, 0]),
        ({**dict.fromkeys(HAND), "A": True, "not": False}, "1 of 6 runs pooled, 4 not on record",
         [True, False, pd.NA], [1, 0, 1]),
    ],
)  # fmt: skip
def test_the_record_against_the_inference(pooled, said, rows, needed):
    found = infer_pool(*hand(**({} if pooled is None else {"pooled": pooled})))
    assert found.settings["record"] == said
    assert found.confusion["pooled"].tolist() == rows
    assert found.confusion["needed"].tolist() == needed
    sums = found.confusion.drop(columns="pooled").sum().to_dict()
    assert sums == {"needed": 2, "needed together": 2, "covered": 1, "not pooled": 1, "no documents": 0}


def test_runs_that_may_have_been_pooled_are_shown_first():
    found = infer_pool(*hand(pooled=["A", "B", "twin1"]))
    lines, page = str(found).split("\n"), found._repr_html_()
    assert [line.split()[0] for line in lines[-6:]] == ["lucky", "twin1", "twin2", "A", "B", "not"]
    assert lines[3:5] == ["covered: 'lucky'", "needed together: 'twin1', 'twin2'"]
    assert found.explanation in page
    assert page.index(">lucky<") < page.index(">twin2<") < page.index(">B<")
    assert (found.by_rank["entries"].tolist(), found.by_rank["other_entries"].tolist()) == ([10, 9, 8, 4], [2, 1, 1, 0])


@pytest.mark.parametrize(
    ("judged", "extra", "tolerance", "expected"),
    [
        (100, 0, None, "exact"),
        (99, 0, 0.5, "nearly exact"),
        (95, 0, 0.5, "nearly exact"),
        (94, 0, 0.5, "most"),
        (51, 0, 0.5, "most"),
        (1, 0, 0.5, "none"),
        (100, 5, None, "nearly exact"),
        (100, 6, None, "most"),
        (100, 150, None, "partial"),
    ],
)
def test_certainty_looks_at_both_sides(judged, extra, tolerance, expected):
    lists = {"1": [f"d{i:03}" for i in range(100)]}
    pairs = {("1", doc) for doc in lists["1"][:judged]} | {("1", f"x{i}") for i in range(extra)}
    found = infer_pool(as_runs({"A": lists}), as_qrels(pairs), depth=100, tolerance=tolerance)
    assert found.certainty.value == expected


def test_almost_all_is_not_all():
    lists = {"1": [f"d{i}" for i in range(3000)]}
    judged = {("1", doc) for doc in lists["1"]}
    found = infer_pool(as_runs({"A": lists}), as_qrels(judged | {("1", "x")}))
    assert found.explanation.startswith("nearly exact: these runs explain 99.9% of the judgments; the rest")
    found = infer_pool(as_runs({"A": lists}), as_qrels(judged - {("1", "d7")}), depth=3000, tolerance=0.1)
    assert "and 1 document in their pool (below 0.1%) lacks a judgment." in found.explanation
