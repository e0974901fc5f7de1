"""PoolDocuments: the same documents as % and | of pyterrier, and as a depth pool; a pipeline step like any other."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, TOPICS, Retriever
from hypothesis import given, settings
from hypothesis import strategies as st

import pt_reuse as ptr

RUNS = FIELD.runs
NAMES = ["lex1a", "neu2a", "man3a"]


def pipelines(names=NAMES):
    return [Retriever(RUNS[name]) for name in names]


def pairs(frame):
    return set(zip(frame["qid"], frame["docno"], strict=True))


@pytest.mark.parametrize("depth", [1, 5, 1000])
def test_it_is_the_union_of_cut_pipelines_and_the_depth_pool(depth):
    a, b, c = pipelines()
    found = ptr.PoolDocuments(a, b, c, depth=depth)(TOPICS)
    assert pairs(found) == pairs((a % depth | b % depth | c % depth)(TOPICS))
    assert len(pairs(found)) == len(found)
    pool = ptr.depth_pool(RUNS, depth=depth, contributors=NAMES).to_frame().set_index(["qid", "docno"])
    assert pairs(found) == set(pool.index)
    mine = found.set_index(["qid", "docno"])
    assert mine["best_rank"].to_dict() == pool["rank"].to_dict()
    assert mine["runs"].to_dict() == pool["runs"].to_dict()
    assert (mine["query"] == "about " + mine.index.get_level_values("qid")).all()


def slow_pool(lists, depth):
    """Return {topic: [(document, best rank, runs)]} in the order of the pool, from {run: {topic: documents}}."""
    pool = {}
    for lists_of_run in lists:
        for topic, docs in lists_of_run.items():
            for rank, doc in enumerate(docs[:depth], 1):
                best, runs = pool.setdefault(topic, {}).get(doc, (rank, 0))
                pool[topic][doc] = (min(best, rank), runs + 1)
    ordered = {}
    for topic, found in pool.items():
        by_name = sorted(found, reverse=True)
        ordered[topic] = [(doc, *found[doc]) for doc in sorted(by_name, key=lambda doc: found[doc][0])]
    return ordered


DOCS = st.lists(st.sampled_from([f"d{i}" for i in range(8)]), unique=True, max_size=6)


def frame_of(lists):
    rows = [(t, d, float(-r), r) for t, docs in lists.items() for r, d in enumerate(docs)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]).astype(
        {"qid": object, "docno": object, "score": float, "rank": "int64"}
    )


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.fixed_dictionaries({"1": DOCS, "2": DOCS}), min_size=1, max_size=4), st.integers(1, 7), st.booleans()
)
def test_order_best_ranks_and_runs_equal_the_slow_version(lists, depth, ranked):
    frames = [frame_of(one) if ranked else frame_of(one).drop(columns="rank") for one in lists]
    topics = pd.DataFrame({"qid": ["1", "2"], "query": ["a", "b"]})
    found = ptr.PoolDocuments(*[pt.apply.generic(lambda _, frame=frame: frame) for frame in frames], depth=depth)(
        topics
    )
    mine = {
        qid: list(part[["docno", "best_rank", "runs"]].itertuples(index=False, name=None))
        for qid, part in found.groupby("qid")
    }
    assert mine == slow_pool(lists, depth)
    for _, part in found.groupby("qid"):
        assert part["rank"].tolist() == list(range(len(part)))
        assert part["score"].tolist() == list(range(len(part), 0, -1))


@pytest.mark.parametrize(
    ("given", "depth"),
    [((), 10), (("bm25",), 10), ((RUNS["lex1a"],), 10), (tuple(pipelines()), 0), (tuple(pipelines()), 2.5)],
    ids=["none", "text", "frame", "depth 0", "half"],
)
def test_pools_that_cannot_be(given, depth, messages):
    messages.refused(lambda: ptr.PoolDocuments(*given, depth=depth))
