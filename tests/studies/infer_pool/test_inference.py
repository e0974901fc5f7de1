"""A pool inferred from judgments is what a slow reference finds, and what a complete pool proves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import DOCS, TOPICS, as_qrels, as_runs, comparable, fitter, hand, pool_of, pooled_fields, top

from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.studies.infer_pool.evidence import Certainty
from pt_reuse.studies.infer_pool.inference import infer_pool


def is_tolerated(documents, judged, tolerance):
    missing = sum(pair not in judged for pair in documents)
    return bool(documents) and missing <= tolerance * len(documents) + 1e-9


def alone_of(field, names, name, topics, depths):
    return set(top(field[name], topics, depths)) - pool_of(field, set(names) - {name}, topics, depths)


def slow_settle(field, judged, topics, depths, tolerance):
    names = [name for name in field if is_tolerated(top(field[name], topics, depths), judged, tolerance)]
    while True:
        loss = {}
        for name in names:
            alone = alone_of(field, names, name, topics, depths)
            loss[name] = len(alone - judged) - len(alone & judged)
        worst = max(names, key=lambda name: loss[name], default=None)
        if worst is None or loss[worst] <= 0:
            return names
        names.remove(worst)


def slow_common_depth(field, judged, topics, tolerance):
    longest = max((len(lists.get(topic, [])) for lists in field.values() for topic in topics), default=0)
    differences = []
    for k in range(longest + 1):
        depths = dict.fromkeys(topics, k)
        names = [name for name in field if is_tolerated(top(field[name], topics, depths), judged, tolerance)]
        differences.append(len(judged ^ pool_of(field, names, topics, depths)))
    return int(np.argmin(differences))


def slow_judged_to(lists, judged, topics, tolerance):
    longest = max((len(lists.get(topic, [])) for topic in topics), default=0)
    good = [
        k
        for k in range(1, longest + 1)
        if is_tolerated(top(lists, topics, dict.fromkeys(topics, k)), judged, tolerance)
    ]
    return max(good, default=0)


def slow_evidence(field, judged, topics, depths, names):
    needed = [name for name in names if alone_of(field, names, name, topics, depths) & judged]
    still_open = (pool_of(field, names, topics, depths) - pool_of(field, needed, topics, depths)) & judged
    evidence = {}
    for name, lists in field.items():
        if name in needed:
            evidence[name] = "needed"
        elif name in names:
            evidence[name] = "needed together" if still_open & set(top(lists, topics, depths)) else "covered"
        else:
            evidence[name] = "not pooled" if any(lists.get(topic) for topic in topics) else "no documents"
    return evidence


@settings(deadline=None, max_examples=30)
@given(pooled_fields(), st.sampled_from([0.0, 0.1, 0.25, 0.5]), st.sampled_from([None, None, 1, 2, 4, 50]))
def test_agrees_with_the_slow_reference(made, tolerance, depth):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    topics = sorted({topic for topic, _ in judged})
    runs, qrels = as_runs(field), as_qrels(judged)
    found = infer_pool(runs, qrels, depth="common" if depth is None else depth, tolerance=tolerance)

    expected_depth = slow_common_depth(field, judged, topics, tolerance)
    used = expected_depth if depth is None else depth
    depths = dict.fromkeys(topics, used)
    with_runs = {topic for lists in field.values() for topic, docs in lists.items() if docs}
    assert found.depth == used
    assert found.by_topic["depth"].tolist() == [used if topic in with_runs else 0 for topic in found.by_topic["qid"]]

    names = slow_settle(field, judged, topics, depths, tolerance)
    evidence = slow_evidence(field, judged, topics, depths, names)
    pool = pool_of(field, names, topics, depths)
    assert dict(zip(found.table["name"], found.table["evidence"], strict=True)) == evidence
    # where no run is seen not to have been pooled, all are taken to have been
    taken = ("needed", "needed together", *([] if "not pooled" in evidence.values() else ["covered"]))
    assert found.contributors == [name for name in field if evidence[name] in taken]
    for row in found.table.to_dict("records"):
        lists = field[row["name"]]
        mine = top(lists, topics, depths)
        alone = alone_of(field, names, row["name"], topics, depths)
        first = [
            rank for topic in topics for rank, doc in enumerate(lists.get(topic, []), 1) if (topic, doc) not in judged
        ]
        assert row["judged_to"] == slow_judged_to(lists, judged, topics, tolerance)
        assert (row["entries"], row["missing"]) == (len(mine), sum(pair not in judged for pair in mine))
        assert (row["alone"], row["alone_unjudged"]) == (len(alone & judged), len(alone - judged))
        assert first == [] if pd.isna(row["first_missing"]) else row["first_missing"] == min(first)
        shared = {
            other: len(set(mine) & set(top(field[other], topics, depths)))
            for other in found.contributors
            if other != row["name"]
        }
        if max(shared.values(), default=0) == 0:
            assert row["nearest"] is None
            assert np.isnan(row["common"])
        else:
            assert shared[row["nearest"]] == max(shared.values())
            assert row["common"] == pytest.approx(shared[row["nearest"]] / len(mine))

    summary = found.summary.iloc[0]
    assert summary["explained"] == len(judged & pool)
    assert summary["unjudged"] == len(pool - judged)
    deeper = pool_of(field, names, topics, dict.fromkeys(topics, 99)) - pool
    every = pool_of(field, field, topics, dict.fromkeys(topics, 99))
    origin = found.unexplained.set_index(["qid", "docno"])["origin"].to_dict()
    assert origin == {
        pair: "below the depth" if pair in deeper else "other run" if pair in every else "no run"
        for pair in judged - pool
    }
    for row in found.unexplained.to_dict("records"):
        ranks = {
            name: lists[row["qid"]].index(row["docno"]) + 1
            for name, lists in field.items()
            if row["docno"] in lists.get(row["qid"], [])
        }
        if ranks or row["best_run"] is not None:
            assert ranks[row["best_run"]] == row["best_rank"] == min(ranks.values())
    for row in found.by_topic.to_dict("records"):
        mine = {pair for pair in judged if pair[0] == row["qid"]}
        assert row["judged"] == len(mine)
        assert row["explained"] == len(mine & pool)
        assert row["explained"] + row["deeper"] + row["other"] + row["nowhere"] == row["judged"]
        assert row["unjudged"] == len({pair for pair in pool - judged if pair[0] == row["qid"]})
        if row["qid"] in with_runs:
            fits = [len(mine ^ pool_of(field, names, [row["qid"]], {row["qid"]: k})) for k in range(8)]
            assert row["own_depth"] == int(np.argmin(fits))
    for row in found.by_rank.to_dict("records"):
        at = [
            (topic, field[name][topic][row["rank"] - 1])
            for name in names
            for topic in topics
            if len(field[name].get(topic, [])) >= row["rank"]
        ]
        new = set(at) - pool_of(field, names, topics, dict.fromkeys(topics, row["rank"] - 1))
        assert (row["entries"], row["new"]) == (len(at), len(new))
        if at:
            assert row["judged"] == pytest.approx(np.mean([pair in judged for pair in at]))
        if new:
            assert row["new_judged"] == pytest.approx(np.mean([pair in judged for pair in new]))


@settings(deadline=None, max_examples=15)
@given(pooled_fields())
def test_what_a_complete_pool_proves(made):
    """The judged set is exactly the pool of known contributors to one depth."""
    field, names, depth, _ = made
    judged = pool_of(field, names, TOPICS, dict.fromkeys(TOPICS, depth))
    if not judged:
        return
    runs, qrels = as_runs(field), as_qrels(judged)
    of_topics = {(topic, doc) for topic, _ in judged for doc in DOCS}
    given_depth = infer_pool(runs, qrels, depth=depth)
    evidence = dict(zip(given_depth.table["name"], given_depth.table["evidence"], strict=True))
    assert len(given_depth.unexplained) == 0
    assert given_depth.certainty is Certainty.EXACT
    # at the true depth: what is needed did contribute, and whatever contributed is recognised as judged as deep
    assert {name for name, word in evidence.items() if word == "needed"} <= set(names)
    assert not {name for name in names if evidence[name] == "not pooled"}
    # of each group that is needed together, one contributed
    for _, group in given_depth.table.dropna(subset="group").groupby("group"):
        assert set(group["name"]) & set(names)
    # the contributors suffice: their pool is the judged set
    pool = depth_pool(runs, depth=depth, contributors=given_depth.contributors).to_frame()
    assert set(zip(pool["qid"], pool["docno"], strict=True)) & of_topics == judged

    free = infer_pool(runs, qrels)
    assert free.depth <= depth <= max(free.summary.iloc[0]["depth_up_to"], depth)
    assert len(free.unexplained) == 0
    pool = depth_pool(runs, depth=free.depth, contributors=free.contributors).to_frame()
    assert set(zip(pool["qid"], pool["docno"], strict=True)) & of_topics == judged
    by_topic = infer_pool(runs, qrels, depth="topic")
    assert len(by_topic.unexplained) == 0


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
    assert (found["explained"], found["unjudged"]) == (own.explained, own.unjudged)
    assert found["bits"] == own.bits


def slow_range(field, judged, found):
    """Try every set of the runs judged as deep, the small ones first."""
    depths = dict(zip(found.by_topic["qid"], found.by_topic["depth"], strict=True))
    deep = found.table["name"][found.table["evidence"].isin(["needed", "needed together", "covered"])].tolist()
    topics = sorted(depths)
    explained = pool_of(field, deep, topics, depths) & judged
    for n in range(len(deep) + 1):
        for names in combinations(deep, n):
            if pool_of(field, names, topics, depths) & judged == explained:
                return n, len(deep)
    raise AssertionError


@settings(deadline=None, max_examples=15)
@given(pooled_fields())
def test_agrees_with_trying_every_set(made):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    found = infer_pool(as_runs(field), as_qrels(judged), depth="common", tolerance=0.2)
    assert found.contributor_range == slow_range(field, judged, found)


def test_three_runs_of_which_two_do():
    # each document is in two of three runs, so that any two of them have all
    field = {"A": {"1": ["a", "b"]}, "B": {"1": ["b", "c"]}, "C": {"1": ["c", "a"]}, "not": {"1": ["x", "a"]}}
    found = infer_pool(as_runs(field), as_qrels({("1", doc) for doc in "abc"}), depth=2)
    assert (found.depth, found.contributor_range) == (2, (2, 3))


def test_depths_by_topic():
    # each topic was pooled as deep as its budget allowed
    field = {
        "A": {"1": list("abcdefghij"), "2": list("klmnopqrst")},
        "B": {"1": list("abxcdefghi"), "2": list("klUVWXYZmn")},
    }
    judged = pool_of(field, ["A", "B"], ["1", "2"], {"1": 7, "2": 2})
    runs, qrels = as_runs(field), as_qrels(judged)
    common = infer_pool(runs, qrels, depth="common")
    assert (common.depth, common.by_topic["own_depth"].tolist()) == (2, [7, 2])
    own = infer_pool(runs, qrels, depth="topic")
    assert own.depth is None
    assert infer_pool(runs, qrels).by_topic["depth"].tolist() == [7, 2]
    assert own.by_topic["depth"].tolist() == [7, 2]
    assert own.certainty is Certainty.EXACT


def test_a_depth_beyond_every_list():
    runs = as_runs({"A": {"1": ["a", "b"]}, "B": {"1": ["a", "x"]}})
    found = infer_pool(runs, as_qrels({("1", "a"), ("1", "b")}), depth=1000)
    assert (found.depth, found.contributors, found.settings["depth"]) == (1000, ["A"], "1000 (given)")
    assert infer_pool(runs, as_qrels({("1", "b")}), depth=1000).certainty is Certainty.NONE
    assert infer_pool(*hand(), depth=2**31 - 1).contributors == ["lucky"]


def test_any_label_counts_as_pooled():
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [-1, 1, -2]})
    assert infer_pool(as_runs({"A": {"1": ["a", "b", "c", "d"]}}), frame).depth == 3


def test_the_order_may_be_tried():
    near = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [1.00000001, 1.0]})
    runs, qrels = RunSet.from_frames({"A": near}), as_qrels({("1", "b")})
    assert infer_pool(runs, qrels, order="trec_eval").depth == 0
    for order in ("trec_eval9", None):  # a tie as float32; it is tried, too
        found = infer_pool(runs, qrels, order=order)
        assert (found.depth, found.order, found.settings["order"], runs.order) == (
            1,
            "trec_eval9",
            "trec_eval9",
            "trec_eval",
        )


def test_topics_and_lists_that_are_not_there():
    field = {"A": {"1": ["a", "b"], "9": ["z"]}, "B": {"1": ["c"]}, "none": {"9": ["y"]}}
    judged = {("1", "a"), ("1", "b"), ("1", "c"), ("2", "d")}
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert (found.depth, found.apart, found.topics) == (2, [], ["1", "2"])
    assert found.table["evidence"].tolist() == ["needed", "needed", "no documents"]
    assert found.table["judged_to"].tolist() == [2, 1, 0]
    assert found.by_topic[["qid", "explained", "nowhere"]].to_numpy().tolist() == [["1", 3, 0], ["2", 0, 1]]
    by_topic = infer_pool(as_runs(field), as_qrels(judged), depth="topic")
    assert by_topic.depth == 2  # a topic that no run has is at no depth
    assert by_topic.by_topic["own_depth"].tolist() == [2, 0]


def test_no_pool_is_said_plainly():
    runs = as_runs({"A": {"1": ["x", "a"], "2": ["b"]}, "B": {"1": ["y", "a"]}})
    for depth in (None, "topic"):
        found = infer_pool(runs, as_qrels({("1", "a"), ("2", "c")}), depth=depth)
        assert (found.depth, found.contributors) == (0, [])
        assert found.headline() == "no pool found, 0 of 2 judgments explained"
        assert found.table["evidence"].tolist() == ["not pooled"] * 2
        assert found.unexplained["origin"].tolist() == ["other run", "no run"]
        assert found.unexplained["best_rank"].tolist() == [2, pd.NA]
        assert found.unexplained["best_run"].tolist() == ["A", None]
        assert found.summary.iloc[0][["at_depth", "below"]].isna().all()


RUNS, QRELS = hand()


@pytest.mark.parametrize(
    ("argument", "runs", "qrels", "options"),
    [
        *[("tolerance", RUNS, QRELS, {"tolerance": bad}) for bad in (-0.1, 1, 1.0, "0.1", True, float("nan"))],
        *[("depth", RUNS, QRELS, {"depth": bad}) for bad in ("topics", 0, 2.5, 2**31, 10**30)],
        ("order", RUNS, QRELS, {"order": "score"}),
        ("n_jobs", RUNS, QRELS, {"n_jobs": 0}),
        ("runs", QRELS, RUNS, {}),
        ("qrels", RUNS, as_qrels({("7", "a")}), {}),
        ("qrels", RUNS, QRELS.keep(np.zeros(len(QRELS), dtype=bool)), {}),
    ],
)
def test_bad_input(argument, runs, qrels, options, messages):
    messages.refused(lambda: infer_pool(runs, qrels, **options), argument=argument)
