"""What speaks for a run: needed, needed together with others, covered by others, not pooled."""

from __future__ import annotations

import pandas as pd
import pytest
from pool_parts import (
    as_qrels,
    as_runs,
    hand,
)

from pt_reuse.studies.pool_inference.inference import infer_pool


def test_evidence_by_hand():
    runs, qrels = hand(pooled=["A", "B", "twin1"])
    found = infer_pool(runs, qrels)
    table = found.table.set_index("name")
    assert table["evidence"].tolist() == [
        "needed",
        "needed",
        "needed together",
        "needed together",
        "covered",
        "not pooled",
    ]
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
    assert found.confusion.to_dict("list") == {
        "pooled": [True, False],
        "needed": [2, 0],
        "needed together": [1, 1],
        "covered": [0, 1],
        "not pooled": [0, 1],
        "no documents": [0, 0],
    }
    row = found.summary.iloc[0]
    assert (row["at_depth"], row["below"], row["new_at_depth"], row["new_below"]) == (1, 0, 1, 0)
    assert runs.with_metadata(pooled=found.contributors).pooled.tolist() == [True, True, True, True, False, False]


def test_runs_that_cover_each_other_are_all_needed_together():
    lists = {"1": ["a", "b"]}
    other = {"1": ["c", "d"]}
    runs = as_runs({"A": lists, "B": lists, "C": other, "D": other})
    found = infer_pool(runs, as_qrels({("1", d) for d in "abcd"}))
    assert found.table["evidence"].tolist() == ["needed together"] * 4
    assert found.table["group"].tolist() == [1, 1, 2, 2]
    assert found.contributors == ["A", "B", "C", "D"]


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
