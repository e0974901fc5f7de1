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
from reference_lou import contributions_of, pairs_of

import pt_reuse as ptr
from pt_reuse.arrays.lists import Fusion, TopicRows
from pt_reuse.data.run_set import RunSet
from pt_reuse.options import METHODS, NORM_NAMES
from pt_reuse.pooling.depth import depth_pool, fusion_pool, take_pool

METHOD = st.sampled_from(sorted(METHODS))
DEPTH = st.sampled_from([1, 2, 3, 100])
N = st.sampled_from([0, 1, 2, 3, 5, 7, 1000])
PER = st.sampled_from(["topic", "all"])


# a depth of each run or topic


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


# the best-ranked, and the highest-fused


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


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("depth", lambda runs: ptr.depth_pool(runs, depth=0)),
        ("order", lambda runs: ptr.depth_pool(runs, depth=1, order="trec")),
        ("contributors", lambda runs: ptr.depth_pool(runs, depth=1, contributors=["nobody"])),
        ("depth_by_run", lambda runs: ptr.depth_pool(runs, depth=1, depth_by_run={"nobody": 1})),
        ("depth_by_topic['1']", lambda runs: ptr.depth_pool(runs, depth=1, depth_by_topic={"1": 0})),
        ("n", lambda runs: ptr.pools.take_pool(runs, n=-1)),
        ("per", lambda runs: ptr.pools.take_pool(runs, n=1, per="run")),
        ("k", lambda runs: ptr.pools.fusion_pool(runs, n=1, method="borda", k=1)),
        ("method", lambda runs: ptr.pools.fusion_pool(runs, n=1, method="rff")),
    ],
)
def test_what_cannot_be_pooled_is_refused(argument, call):
    with pytest.raises(ptr.InputError) as caught:
        call(ptr.demo.simulate_field(seed=7, n_topics=1).runs)
    assert caught.value.argument == argument


# static pools of TREC-8: those of the depths on record, and what other pools of that size have


def found(collection, pool):
    return len(pool), int(collection.qrels.restrict(pool).counts()["relevant"].sum())


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
