"""Pools of a variable depth, take-N and fusion-ordered pools, against loops over dicts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import TOPICS, as_runs, fields
from reference_lou import contributions_of, pairs_of, records

from pt_reuse._choices import METHODS, NORM_NAMES
from pt_reuse.arrays.fusion import Fusion, TopicRows
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool, fusion_pool, take_pool

FIELD = {
    "A": {"1": ["a", "b", "c", "d"], "2": ["p", "q"]},
    "B": {"1": ["e", "a", "f"], "2": ["q"]},
    "C": {"1": ["b"]},
}
METHOD = st.sampled_from(sorted(METHODS))
DEPTH = st.sampled_from([1, 2, 3, 100])
N = st.sampled_from([0, 1, 2, 3, 5, 7, 1000])
PER = st.sampled_from(["topic", "all"])


def listed(pool):
    """Return topic -> documents, in the order of the pool."""
    frame = pool.to_frame()
    return {topic: frame["docno"][frame["qid"] == topic].tolist() for topic in pool.topics}


# a depth of each run or topic


def test_depths_by_hand():
    runs = as_runs(FIELD)
    assert listed(depth_pool(runs, depth=1, depth_by_run={"A": 3})) == {"1": list("abce"), "2": ["p", "q"]}
    assert listed(depth_pool(runs, depth=1, depth_by_topic={"2": 2})) == {"1": list("abe"), "2": ["p", "q"]}
    both = depth_pool(runs, depth=1, depth_by_run={"A": 3, "B": 2}, depth_by_topic={"1": 2})
    assert contributions_of(both) == {
        ("1", "a"): {"A": 1, "B": 2},
        ("1", "b"): {"A": 2, "C": 1},
        ("1", "e"): {"B": 1},
        ("2", "p"): {"A": 1},
        ("2", "q"): {"A": 2, "B": 1},
    }
    assert both.settings == {
        "strategy": "depth",
        "depth": 1,
        "depth_by_run": "2 runs: 2 to 3",
        "depth_by_topic": "1 topic: 2",
        "contributors": "pooled",
        "order": "trec_eval",
        "pooled": "who was pooled is not on record: all count",
    }
    assert depth_pool(runs, depth=np.int64(2), depth_by_run={}).settings["depth"] == 2
    assert "depth_by_run" not in depth_pool(runs, depth=2, depth_by_run={}).settings


@settings(deadline=None, max_examples=15)
@given(
    fields(),
    st.integers(1, 4),
    st.dictionaries(st.sampled_from([f"r{i}" for i in range(6)]), st.integers(1, 8)),
    st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 8)),
)
def test_depths_equal_the_brute_force(field, depth, by_run, by_topic):
    runs = as_runs(field)
    by_run = {name: k for name, k in by_run.items() if name in field}
    by_topic = {topic: k for topic, k in by_topic.items() if topic in runs.topics}
    expected = {}
    for name, lists in field.items():
        for topic, docs in lists.items():
            own = [k for k in (by_run.get(name), by_topic.get(topic)) if k is not None]
            for rank, doc in enumerate(docs[: min(own) if own else depth], 1):
                expected.setdefault((topic, doc), {})[name] = rank
    pool = depth_pool(runs, depth=depth, depth_by_run=by_run, depth_by_topic=by_topic)
    assert contributions_of(pool) == expected
    alike = depth_pool(runs, depth=7, depth_by_run=dict.fromkeys(field, depth))
    assert contributions_of(alike) == contributions_of(depth_pool(runs, depth=depth))


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        ("depth_by_run", {"a": 3}),
        ("depth_by_run", {"A": 0}),
        ("depth_by_run", {"A": 2.5}),
        ("depth_by_run", 5),
        ("depth_by_run", {1: 5}),
        ("depth_by_topic", {"3": 3}),
        ("depth_by_topic", {"1": True}),
        ("depth_by_topic", ["1"]),
    ],
)
def test_depths_that_are_none(argument, wrong, messages):
    messages.refused(lambda: depth_pool(as_runs(FIELD), depth=2, **{argument: wrong}))


def test_a_depth_of_a_run_that_does_not_contribute_is_told(messages):
    runs = as_runs(FIELD, pooled=["A"])
    pool = messages.warned(lambda: depth_pool(runs, depth=1, depth_by_run={"A": 2, "B": 9}))
    assert listed(pool) == {"1": ["a", "b"], "2": ["p", "q"]}


# the best-ranked, and the highest-fused


def test_take_by_hand():
    runs = as_runs(FIELD)
    # topic 1: rank 1 e b a, rank 2 (b a) ..., rank 3 f c, rank 4 d; topic 2: rank 1 q p
    assert listed(take_pool(runs, n=4)) == {"1": ["e", "b", "a", "f"], "2": ["q", "p"]}
    assert listed(take_pool(runs, n=4, depth=2)) == {"1": ["e", "b", "a"], "2": ["q", "p"]}
    # in all: the first of each topic, then the second of each
    assert listed(take_pool(runs, n=3, per="all")) == {"1": ["e", "b"], "2": ["q"]}
    assert listed(take_pool(runs, n=4, per="all")) == {"1": ["e", "b"], "2": ["q", "p"]}
    assert listed(take_pool(runs, n=7, per="all")) == {"1": ["e", "b", "a", "f", "c"], "2": ["q", "p"]}
    pool = take_pool(runs, n=1)
    assert contributions_of(pool) == {("1", "e"): {"B": 1}, ("2", "q"): {"A": 2, "B": 1}}
    assert repr(take_pool(runs, n=2, per="all", contributors="all")) == (
        "Pool: 2 documents, 2 topics, 3 runs "
        "(strategy=take, n=2, per=all, depth=100, contributors=all, order=trec_eval)"
    )


def test_a_pool_of_nothing_has_the_topics():
    runs = as_runs(FIELD)
    for pool in (take_pool(runs, n=0), fusion_pool(runs, n=0), take_pool(runs, n=0, per="all")):
        assert len(pool) == 0
        assert pool.topics == ["1", "2"]
        assert pool.counts()["documents"].tolist() == [0, 0]
        assert len(pool.to_frame()) == len(pool.contributions()) == len(pool.uniques("run")) == 0
    assert "priority" in fusion_pool(runs, n=0).to_frame()


def by_hand(field, depth, method, norm):
    """Return ``[(key of the order, topic, docno, rank, priority)]`` of every document, by loops."""
    found = []
    for topic in sorted({topic for lists in field.values() for topic, docs in lists.items() if docs}):
        tops = [lists.get(topic, [])[:depth] for lists in field.values()]
        docs = sorted({doc for top in tops for doc in top})
        best = {doc: min(top.index(doc) + 1 for top in tops if doc in top) for doc in docs}
        score, level = dict.fromkeys(docs, 0.0), dict.fromkeys(docs, 0.0)
        if method is not None:
            rows = [(docs.index(d), r, k, -float(k)) for r, top in enumerate(tops) for k, d in enumerate(top)]
            columns = [np.array([row[i] for row in rows]) for i in range(4)]
            rows = TopicRows(columns[0], columns[1], columns[2] + 1, columns[3], len(docs))
            score = dict(zip(docs, Fusion(method, norm=norm).scores(rows).tolist(), strict=True))
            level = {doc: value / len(docs) if method == "borda" else value for doc, value in score.items()}
        keys = {doc: (-level[doc], best[doc]) for doc in docs}
        for i, doc in enumerate(sorted(docs, reverse=True)):  # names descending
            before = sum(keys[other] == keys[doc] for other in sorted(docs, reverse=True)[:i])
            found.append(((*keys[doc], before), topic, doc, best[doc], score[doc]))
    return found


def expected_pool(found, n, per):
    """Return topic -> documents in order."""
    topics = list(dict.fromkeys(topic for _, topic, *_ in found))
    order = sorted(found, key=lambda row: (row[0], topics.index(row[1])))
    taken = order[:n] if per == "all" else [row for t in topics for row in [one for one in order if one[1] == t][:n]]
    return {topic: [(row[2], row[3], row[4]) for row in taken if row[1] == topic] for topic in topics}


@settings(deadline=None, max_examples=15)
@given(fields(), DEPTH, st.none() | METHOD, st.sampled_from(sorted(NORM_NAMES)), N, PER)
def test_pools_equal_the_brute_force(field, depth, method, norm, n, per):
    runs = as_runs(field)
    if method is None:
        pool = take_pool(runs, n=n, per=per, depth=depth)
    else:
        given = {"norm": norm} if method.startswith("comb") else {}
        pool = fusion_pool(runs, n=n, per=per, depth=depth, method=method, **given)
    frame = pool.to_frame()
    priority = frame["priority"] if method else [0.0] * len(frame)
    found = {topic: [] for topic in pool.topics}
    for topic, doc, rank, value in zip(frame["qid"], frame["docno"], frame["rank"], priority, strict=True):
        found[topic].append((doc, rank, value))
    assert found == expected_pool(by_hand(field, depth, method, norm), n, per)
    # who has them is as in the depth-k pool
    whole = contributions_of(depth_pool(runs, depth=depth))
    assert contributions_of(pool) == {pair: whole[pair] for pair in pairs_of(frame)}


@settings(deadline=None, max_examples=15)
@given(fields(), st.none() | METHOD, N, PER, st.randoms(use_true_random=False))
def test_the_order_and_the_names_of_the_runs_decide_nothing(field, method, n, per, chance):
    def pool_of(runs):
        return take_pool(runs, n=n, per=per) if method is None else fusion_pool(runs, n=n, per=per, method=method)

    names = chance.sample(sorted(field), len(field))
    renamed = {f"x{i}": field[name] for i, name in enumerate(names)}
    one, other = pool_of(as_runs(field)).to_frame(), pool_of(as_runs(renamed)).to_frame()
    pd.testing.assert_frame_equal(one, other)


@settings(deadline=None, max_examples=15)
@given(fields(), st.integers(1, 7))
def test_a_depth_k_pool_is_the_best_ranked_of_as_many_documents(field, depth):
    runs = as_runs(field)
    shallow = depth_pool(runs, depth=depth)
    taken = take_pool(runs, n=len(shallow), per="all", depth=100)
    assert pairs_of(taken.to_frame()) == pairs_of(shallow.to_frame())


def test_lists_are_cut_before_they_are_fused():
    runs = RunSet.from_frames({"A": pd.DataFrame({"qid": "1", "docno": list("abc"), "score": [9.0, 8.0, 1.0]})})
    found = fusion_pool(runs, n=9, method="combsum", depth=2).to_frame()
    assert dict(zip(found["docno"], found["priority"], strict=True)) == {"a": 1.0, "b": 0.0}
    whole = fusion_pool(runs, n=9, method="combsum", depth=3).to_frame()
    assert dict(zip(whole["docno"], whole["priority"], strict=True)) == {"a": 1.0, "b": 0.875, "c": 0.0}


def test_who_contributes_and_the_order_of_the_pool():
    near = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [1.00000001, 1.0]})
    runs = RunSet.from_frames({"A": near, "B": near.iloc[1:]}, pooled=["A"], pool_depth=1, pool_order="trec_eval9")
    for make in (take_pool, fusion_pool):
        assert listed(make(runs, n=5)) == {"1": ["b"]}  # a tie as float32, and the depth on record
        assert make(runs, n=5).order == "trec_eval9"
        assert listed(make(runs, n=5, order="trec_eval")) == {"1": ["a"]}
        assert listed(make(runs, n=5, order="trec_eval", depth=2)) == {"1": ["a", "b"]}
        assert make(runs, n=5, contributors="all").run_table["name"].tolist() == ["A", "B"]
    settings_of = fusion_pool(runs, n=5, method="rbp", p=0.5).settings
    assert [settings_of[name] for name in ("strategy", "p", "n", "per", "depth")] == ["rbp", 0.5, 5, "topic", 1]


def test_pools_of_teams_and_types():
    runs = as_runs(FIELD, teams={"A": "x", "B": "x", "C": "y"}, types={"A": "m", "B": "n", "C": "n"}, pooled=True)
    of_team = depth_pool(runs, depth=1, contributors=runs.select(team="x").names)
    assert listed(of_team) == {"1": ["a", "e"], "2": ["p", "q"]}
    assert of_team.run_table["team"].tolist() == ["x", "x"]
    some, _ = runs.split_teams(seed=1)
    assert set(depth_pool(some, depth=1).run_table["team"]) == set(some.teams)
    assert listed(depth_pool(runs.select(type="n"), depth=1)) == {"1": ["b", "e"], "2": ["q"]}


def test_fused_lists_of_ranx_make_the_pool():
    kept = Path(__file__).parents[1] / "arrays" / "fused_by_ranx.json"
    names = {"rrf k=60": "rrf", "rbp p=0.8": "rbp", "combmnz norm=min-max": "combmnz", "borda": "borda"}
    compared = 0
    for case in json.loads(kept.read_text()):
        if any(len({score for _, score in run}) < len(run) for run in case["runs"]):
            continue  # ranx has a tie rule of its own
        frames = {
            f"r{i}": pd.DataFrame(run, columns=["docno", "score"]).assign(qid="1") for i, run in enumerate(case["runs"])
        }
        for name, method in names.items():
            pool = fusion_pool(RunSet.from_frames(frames), n=4, method=method, depth=1000).to_frame()
            expected = case["fused"][name]
            assert pool["priority"].tolist() == pytest.approx(sorted(expected.values(), reverse=True)[:4], rel=1e-11)
            assert [expected[doc] for doc in pool["docno"]] == pytest.approx(pool["priority"].tolist(), rel=1e-11)
            compared += 1
    assert compared >= 40


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"n": -1}, "n"),
        ({"n": 2.0}, "n"),
        ({"n": True}, "n"),
        ({"n": None}, "n"),
        ({"n": 3, "per": "topics"}, "per"),
        ({"n": 3, "depth": 0}, "depth"),
        ({"n": 3, "contributors": ["Z"]}, "contributors"),
        ({"n": 3, "order": "score"}, "order"),
    ],
)
def test_arguments_that_are_none(wrong, argument, messages):
    messages.refused(lambda: take_pool(as_runs(FIELD), **wrong), argument=argument)
    messages.refused(lambda: fusion_pool(as_runs(FIELD), **wrong), argument=argument)
    if argument != "contributors":
        messages.refused(lambda: take_pool("no-such-folder", **wrong), argument=argument)


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"method": "condorcet"}, "method"),
        ({"method": "borda", "k": 3}, "k"),
        ({"p": 0.5}, "p"),
        ({"k": -3}, "k"),
        ({"method": "combsum", "norm": "z"}, "norm"),
    ],
)
def test_fusions_that_are_none_are_told_before_runs_are_read(wrong, argument, messages):
    messages.refused(lambda: fusion_pool("no-such-folder", n=3, **wrong), argument=argument)


def test_one_run_is_taken_as_it_stands():
    field = {"A": {"1": ["c", "a", "b"], "2": ["z"]}}
    for method in METHODS:
        assert listed(fusion_pool(as_runs(field), n=2, method=method)) == {"1": ["c", "a"], "2": ["z"]}
    assert records(take_pool(as_runs(field), n=2).to_frame())[1]["docno"] == "a"
