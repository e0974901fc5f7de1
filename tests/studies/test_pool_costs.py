"""What pools of each depth cost and find, against sets of documents."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relevant_parts import as_qrels, as_runs, fields, simulated

import pt_reuse as ptr

#: judgments made at random may be of relevant documents only
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

QUIET = pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
FIELD = simulated(n_topics=8, depth=6)


@QUIET
@given(fields(), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_sizes_are_those_of_sets(field, rel):
    lists, labels = field
    found = ptr.pools.pool_costs(
        as_runs(lists), as_qrels(labels), "AP", depths=range(1, 9), rel=rel, without_topics="zero"
    )
    known = {(qid, docno): label for qid, of in labels.items() for docno, label in of.items()}
    for row in found.table.to_dict("records"):
        pool = {(qid, d) for topics in lists.values() for qid, of in topics.items() for d in of[: row["depth"]]}
        judged = [pair for pair in pool if known.get(pair, -1) >= 0]
        relevant = [pair for pair in pool if known.get(pair, -1) >= rel]
        sizes = (row["documents"], row["judged"], row["unjudged"], row["relevant"])
        assert sizes == (len(pool), len(judged), len(pool) - len(judged), len(relevant))
    n = sum(label >= rel for label in known.values())
    for row in found.needed.to_dict("records"):
        fits = found.table[found.table["relevant"] >= math.ceil(row["share"] * n - 1e-9)]
        if n == 0 or fits.empty:
            assert pd.isna(row["depth"])
        else:
            assert (row["depth"], row["documents"]) == (fits["depth"].iloc[0], fits["documents"].iloc[0])


def test_what_was_never_judged_and_what_is_not_relevant_are_told(messages):
    runs = as_runs({"A": {"1": list("abcdefgh")}, "B": {"1": list("bacdijkl")}})
    judged = as_qrels({"1": {"a": 1, "b": 0}})
    found = messages.warned(lambda: ptr.pools.pool_costs(runs, judged, depths=[1, 2, 8]))
    assert found.settings["beware"] == "not judged to depth 8"
    nothing = messages.warned(lambda: ptr.pools.pool_costs(runs, judged, depths=2, rel=2, measures="AP(rel=2)"))
    assert nothing.table["share"].isna().all()
    assert nothing.needed[["depth", "documents"]].isna().all(axis=None)
    assert nothing.answers() == ["No relevant document is known"]


def test_what_cannot_be(messages):
    runs, qrels = FIELD.runs, FIELD.qrels
    for argument, value in [("depths", [0]), ("depths", []), ("contributors", ["nobody"])]:
        messages.refused(ptr.pools.pool_costs, runs=runs, qrels=qrels, **{argument: value}, argument=argument)
    messages.refused(lambda: ptr.pools.pool_costs(runs, as_qrels({"9": {"a": 1}})), argument="runs")
    found = ptr.pools.pool_costs(runs, qrels, "AP", depths=1)
    assert np.isfinite(found.table["cost"][0])


MEASURES = ["AP", "nDCG@5", "Judged@5"]


@pytest.fixture(scope="module")
def costs():
    return ptr.pools.pool_costs(FIELD.runs, FIELD.qrels, MEASURES, depths=[1, 2, 4, 6])


def test_the_ranking_is_that_of_restricted_judgments(costs):
    full = ptr.score(FIELD.runs, FIELD.qrels, MEASURES)
    for depth in (1, 2, 4, 6):
        reduced = FIELD.qrels.restrict(ptr.depth_pool(FIELD.runs, depth=depth))
        expected = full.compare(ptr.score(FIELD.runs, reduced, MEASURES)).table
        found = costs.agreement[costs.agreement["depth"] == depth].reset_index(drop=True)
        for column in ("measure", "tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"):
            pd.testing.assert_series_equal(found[column], expected[column], check_dtype=False)
    assert (costs.table["documents"] == [len(ptr.depth_pool(FIELD.runs, depth=d)) for d in (1, 2, 4, 6)]).all()
    end = costs.agreement[(costs.agreement["depth"] == 6) & (costs.agreement["measure"] != "Judged@5")]
    assert (end["tau_b"] == 1).all()
