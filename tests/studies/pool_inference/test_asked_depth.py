"""Depths that are given, inferred, or one for each topic."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import (
    as_qrels,
    as_runs,
    comparable,
    fitter,
    hand,
    pool_of,
    pooled_fields,
)

from pt_reuse.studies.pool_inference.evidence import Certainty
from pt_reuse.studies.pool_inference.inference import infer_pool


@settings(deadline=None, max_examples=15)
@given(pooled_fields(), st.sampled_from([0.0, 0.2]))
def test_topic_depths_never_fit_worse(made, tolerance):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    runs, qrels = as_runs(field), as_qrels(judged)
    fits = fitter(runs, qrels, tolerance)
    own, common = fits.own_depths(), fits.common_depth()
    # an exact answer comes before all others, then the one of fewest bits
    assert own.is_exact or (own.bits <= common.bits and not common.is_exact)
    found = infer_pool(runs, qrels, depth="topic", tolerance=tolerance).summary.iloc[0]
    if found["topics_apart"] or not found["most_contributors"]:  # the answer is of the other topics, or there is none
        assert found["judged"] + found["judged_apart"] == len(qrels)
        return
    assert found["judged"] - found["explained"] + found["unjudged"] == own.difference
    assert found["bits"] == own.bits


def test_depths_by_topic():
    # each topic was pooled as deep as its budget allowed
    field = {
        "A": {"1": list("abcdefghij"), "2": list("klmnopqrst")},
        "B": {"1": list("abxcdefghi"), "2": list("klUVWXYZmn")},
    }
    judged = pool_of(field, ["A", "B"], ["1", "2"], {"1": 7, "2": 2})
    runs, qrels = as_runs(field), as_qrels(judged)
    common = infer_pool(runs, qrels, depth="common")
    assert common.depth == 2
    assert common.by_topic["own_depth"].tolist() == [7, 2]
    assert "With a depth for each topic (2 to 7) a pool fits better: depth='topic'." in common.explanation
    own = infer_pool(runs, qrels, depth="topic")
    assert own.depth is None
    assert infer_pool(runs, qrels).by_topic["depth"].tolist() == [7, 2]
    assert own.by_topic["depth"].tolist() == [7, 2]
    assert own.certainty is Certainty.EXACT
    assert own.headline().startswith("depth 2 to 7 by topic, 2 of 2 runs contributed, ")
    assert own.settings["depth"] == "2 to 7 by topic (inferred for each topic)"


@pytest.mark.parametrize("depth", [None, 2, "topic"])
def test_a_topic_that_no_run_has_is_at_no_depth(depth):
    found = infer_pool(as_runs({"A": {"1": ["a", "b"]}}), as_qrels({("1", "a"), ("1", "b"), ("2", "c")}), depth=depth)
    assert found.by_topic["depth"].tolist() == [2, 0]
    assert found.depth == 2
    assert found.headline().startswith("depth 2, 1 of 1 run")


def test_a_depth_beyond_every_list():
    runs = as_runs({"A": {"1": ["a", "b"]}, "B": {"1": ["a", "x"]}})
    found = infer_pool(runs, as_qrels({("1", "a"), ("1", "b")}), depth=1000)
    assert (found.depth, found.contributors) == (1000, ["A"])
    assert found.settings["depth"] == "1000 (given)"
    none = infer_pool(runs, as_qrels({("1", "b")}), depth=1000)
    assert none.contributors == []
    assert none.explanation.startswith("none: no run is judged closely enough to depth 1000.")


@pytest.mark.parametrize("depth", [10**30, 2**31])
def test_a_depth_that_is_no_rank(depth, messages):
    messages.refused(lambda: infer_pool(*hand(), depth=depth), argument="depth")
    # a rank, and deeper than every list
    assert infer_pool(*hand(), depth=2**31 - 1).contributors == ["lucky"]
