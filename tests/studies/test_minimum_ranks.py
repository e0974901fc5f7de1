"""Minimum ranks of relevant documents, against looking through every list."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from relevant_parts import as_qrels, as_runs, fields

import pt_reuse as ptr

RUNS = as_runs(
    {"A": {"1": ["a", "b", "c"], "2": ["a", "b"]}, "B": {"1": ["b", "d", "a"]}},
    pooled=["A"],
)

#: judgments made at random may be of relevant documents only
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
QRELS = as_qrels({"1": {"a": 2, "b": 1, "c": 1, "x": 3, "d": 0}, "2": {"b": 1}, "3": {}})


def ranks(found):
    return {(r.qid, r.docno): None if pd.isna(r.rank) else r.rank for r in found.table.itertuples()}


def test_by_hand():
    found = ptr.pools.minimum_ranks(RUNS, QRELS)
    assert ranks(found) == {("1", "a"): 1, ("1", "b"): 1, ("1", "c"): 3, ("1", "x"): None, ("2", "b"): 2}
    assert found.table["runs"].tolist() == [2, 2, 1, 0, 1]
    assert found.topics.drop(columns="median").astype(object).where(lambda f: f.notna(), None).values.tolist() == [
        ["1", 4, 3, 1, 3],
        ["2", 1, 1, 0, 2],
        ["3", 0, 0, 0, None],
    ]
    assert found.topics["median"].tolist()[:2] == [1.0, 2.0]
    assert found.depth == 3
    table = found.by_rank([1, 2])
    assert table["ranks"].tolist() == ["1", "2", "3", "NR"]
    assert table["documents"].tolist() == [2, 1, 1, 1]
    assert table["share"].tolist() == [0.4, 0.2, 0.2, 0.2]
    assert table["up_to"].tolist()[:3] == pytest.approx([0.4, 0.6, 0.8])
    assert table[["label 1", "label 2", "label 3"]].values.tolist() == [[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert found.whole().iloc[0].to_dict() == {
        "median_rank": 1.5, "deepest_rank": 3, "in_first_ten": 4, "relevant": 5, "found": 4, "not_found": 1,
    }  # fmt: skip


@given(fields(), st.integers(1, 8), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_every_list_is_looked_through(field, depth, rel):
    lists, labels = field
    assume(any(label >= rel for of in labels.values() for label in of.values()))
    found = ptr.pools.minimum_ranks(as_runs(lists), as_qrels(labels), depth=depth, rel=rel)
    expected = {}
    for qid, of in labels.items():
        for docno, label in of.items():
            at = [topics[qid].index(docno) + 1 for topics in lists.values() if docno in topics.get(qid, [])[:depth]]
            if label >= rel:
                expected[qid, docno] = min(at, default=None)
    assert ranks(found) == expected
    assert found.by_rank()["documents"].sum() == len(expected)


def test_what_cannot_be(messages):
    messages.refused(lambda: ptr.pools.minimum_ranks(RUNS, QRELS, contributors=["C"]), argument="contributors")
    messages.refused(lambda: ptr.pools.minimum_ranks(RUNS, as_qrels({"9": {"a": 1}})), argument="runs")
    found = ptr.pools.minimum_ranks(RUNS, QRELS)
    messages.refused(lambda: found.by_rank([0]), argument="edges")
