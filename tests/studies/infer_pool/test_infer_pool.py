"""A pool inferred from judgments: what a slow reference finds, and what is told."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import HAND, as_qrels, as_runs, comparable, fitter, hand, pool_of, pooled_fields, top

from pt_reuse.studies.infer_pool import Certainty, infer_pool

#: judgments made at random may be of relevant documents only
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


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
        of_topic = (lists.get(row["qid"], []) for lists in field.values())
        ranks = [docs.index(row["docno"]) + 1 for docs in of_topic if row["docno"] in docs]
        assert (pd.isna(row["best_rank"]) and not ranks) or row["best_rank"] == min(ranks)
    for row in found.by_topic.to_dict("records"):
        mine = {pair for pair in judged if pair[0] == row["qid"]}
        assert row["judged"] == len(mine)
        assert row["explained"] == len(mine & pool)
        assert row["explained"] + row["deeper"] + row["other"] + row["nowhere"] == row["judged"]
        assert row["unjudged"] == len({pair for pair in pool - judged if pair[0] == row["qid"]})
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


def test_any_label_counts_as_pooled():
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [-1, 1, -2]})
    assert infer_pool(as_runs({"A": {"1": ["a", "b", "c", "d"]}}), frame).depth == 3


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


def test_no_pool_is_said_plainly():
    runs = as_runs({"A": {"1": ["x", "a"], "2": ["b"]}, "B": {"1": ["y", "a"]}})
    for depth in (None, "topic"):
        found = infer_pool(runs, as_qrels({("1", "a"), ("2", "c")}), depth=depth)
        assert (found.depth, found.contributors) == (0, [])
        assert found.certainty is Certainty.NONE
        assert found.table["evidence"].tolist() == ["not pooled"] * 2
        assert found.unexplained["origin"].tolist() == ["other run", "no run"]
        assert found.unexplained["best_rank"].tolist() == [2, pd.NA]
        assert found.summary.iloc[0][["new_at_depth", "new_below"]].isna().all()


def test_bad_input(messages):
    runs, qrels = hand()
    for tolerance in (-0.1, 1, True, float("nan")):
        messages.refused(infer_pool, runs=runs, qrels=qrels, tolerance=tolerance, argument="tolerance")
    messages.refused(lambda: infer_pool(runs, as_qrels({("7", "a")})), argument="qrels")
    nothing = qrels.keep(np.zeros(len(qrels), dtype=bool))
    messages.refused(lambda: infer_pool(runs, nothing), argument="qrels")


def test_a_chain_of_overlaps_is_one_group():
    runs = as_runs({"A": {"1": ["a", "c"]}, "B": {"1": ["b", "a"]}, "C": {"1": ["c", "b"]}, "E": {"1": ["e", "a"]}})
    found = infer_pool(runs, as_qrels({("1", d) for d in "abce"}), depth=2)
    assert found.table["evidence"].tolist() == ["needed together"] * 3 + ["needed"]
    # a is explained by E; c joins A and C, b joins B and C
    assert found.table["group"].tolist() == [1, 1, 1, pd.NA]


def test_the_record_against_the_inference():
    of_all = {**dict.fromkeys(HAND), "A": True, "not": False}
    for pooled, said, rows, needed in (
        (None, "not on record", [pd.NA], [2]),
        (["A", "B", "twin1"], "3 of 6 runs pooled", [True, False], [2, 0]),
        (of_all, "1 of 6 runs pooled, 4 not on record", [True, False, pd.NA], [1, 0, 1]),
    ):
        found = infer_pool(*hand(**({} if pooled is None else {"pooled": pooled})))
        assert found.settings["record"] == said
        assert found.confusion["pooled"].tolist() == rows
        assert found.confusion["needed"].tolist() == needed
        sums = found.confusion.drop(columns="pooled").sum().to_dict()
        assert sums == {"needed": 2, "needed_together": 2, "covered": 1, "not_pooled": 1, "no_documents": 0}


def test_certainty_looks_at_both_sides():
    lists = {"1": [f"d{i:03}" for i in range(100)]}
    for judged, extra, tolerance, expected in (
        (100, 0, None, "exact"),
        (95, 0, 0.5, "nearly exact"),
        (94, 0, 0.5, "most"),
        (1, 0, 0.5, "none"),
        (100, 5, None, "nearly exact"),
        (100, 6, None, "most"),
        (100, 150, None, "partial"),
    ):
        pairs = {("1", doc) for doc in lists["1"][:judged]} | {("1", f"x{i}") for i in range(extra)}
        found = infer_pool(as_runs({"A": lists}), as_qrels(pairs), depth=100, tolerance=tolerance)
        assert found.certainty.value == expected


def simulated(n_topics, *, n_runs=16, n_pooled=8, length=60, n_docs=400, seed=3):
    """Return runs with much in common and noise of their own, the first `n_pooled` of them the pooled ones."""
    random = np.random.default_rng(seed)
    field = {f"r{run:02}": {} for run in range(n_runs)}
    for topic in range(1, n_topics + 1):
        shared = random.normal(size=n_docs)
        for name in field:
            best = np.argsort(-(shared + random.normal(size=n_docs)))[:length]
            field[name][str(topic)] = [f"d{doc}" for doc in best]
    return field, list(field)[:n_pooled]


def dropped(judged, share, seed=5):
    pairs = sorted(judged)
    kept = np.random.default_rng(seed).choice(len(pairs), size=round(len(pairs) * (1 - share)), replace=False)
    return {pairs[at] for at in kept}


def test_topics_of_one_kind_have_one_depth():
    field, pooled = simulated(12)
    topics = [str(topic) for topic in range(1, 13)]
    true = {topic: 8 if int(topic) % 2 else 25 for topic in topics}
    judged = dropped(pool_of(field, pooled, topics, true), 0.02)
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert found.by_topic.set_index("qid")["depth"].to_dict() == true
    assert found.contributors == pooled
    assert found.tried[found.tried["best"]]["way"].tolist() == ["inferred for each topic"]


def test_a_run_that_lacks_far_more_than_the_others_is_not_of_the_pool():
    field, pooled = simulated(12)
    topics = [str(topic) for topic in range(1, 13)]
    judged = pool_of(field, pooled, topics, dict.fromkeys(topics, 15))
    # not pooled: of its own three documents a topic two are judged for another reason, and one is not
    field["stranger"] = {t: [f"x{t}", f"only{t}", f"too{t}", *field["r00"][t][:12]] for t in topics}
    others = {(topic, f"{word}{topic}") for topic in topics for word in ("only", "too")}
    runs, qrels = as_runs(field), as_qrels(dropped(judged | others, 0.01))
    names, depths = np.array(runs.names), np.full(12, 15)
    assert names[fitter(runs, qrels, 0.1, alike=True).settle(depths).runs].tolist() == pooled
    assert names[fitter(runs, qrels, 0.1).settle(depths).runs].tolist() == [*pooled, "stranger"]
    assert infer_pool(runs, qrels).contributors == pooled
    # a tolerance of the user's own holds for each run by itself
    assert infer_pool(runs, qrels, tolerance=0.1).contributors == [*pooled, "stranger"]


def test_documents_of_no_run_are_in_no_group():
    """A field that was selected from a larger one knows the documents of the others."""
    field = {"A": {"1": list("abcd")}, "B": {"1": list("wxyz")}}
    qrels = as_qrels({("1", "a"), ("1", "b"), ("1", "w")})
    alone = as_runs(field).select("A")
    assert fitter(alone, qrels).ranks.grouped.tolist() == [[[1, 1], [1, 1], [2, 0]]]
    found, same = infer_pool(alone, qrels), infer_pool(as_runs({"A": field["A"]}), qrels)
    assert found.tried.equals(same.tried)
    assert (found.depth, found.contributors) == (2, ["A"])


def test_groups_and_edges_by_hand():
    found = infer_pool(*hand(pooled=["A", "B", "twin1"]))
    table, row = found.table.set_index("name"), found.summary.iloc[0]
    assert table["group"].tolist() == [pd.NA, pd.NA, 1, 1, pd.NA, pd.NA]
    assert (found.depth, found.contributor_range, found.certainty) == (3, (3, 5), Certainty.EXACT)
    assert (row["new_at_depth"], row["new_below"]) == (1, 0)
