"""PoolDocuments: the same documents as % and | of pyterrier, and as a depth pool; a pipeline step like any other."""

from __future__ import annotations

import pickle

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


FIELDS = st.lists(st.fixed_dictionaries({"1": DOCS, "2": DOCS}), min_size=1, max_size=4)


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


def test_a_cutoff_behind_it_takes_the_best_ranked():
    pool = ptr.PoolDocuments(*pipelines(), depth=10)
    whole, cut = pool(TOPICS), (pool % 4)(TOPICS)
    assert pairs(cut) == pairs(whole[whole["rank"] < 4])
    assert cut.groupby("qid").size().eq(4).all()


def test_columns_of_documents_come_from_the_first_pipeline_that_has_them():
    topics = pd.DataFrame({"qid": ["1"], "query": ["q"]})
    a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0], "text": ["one", "two"]})
    b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0], "text": ["another", "three"]})
    found = ptr.PoolDocuments(pt.Transformer.from_df(a), pt.Transformer.from_df(b), depth=2)(topics)
    assert found.set_index("docno")["text"].to_dict() == {"d1": "one", "d2": "two", "d3": "three"}


def test_compiled_it_asks_pipelines_for_no_more_than_it_takes():
    class Cut(Retriever):
        def __init__(self, frame, k=None):
            super().__init__(frame)
            self.k = k

        def fuse_rank_cutoff(self, k):
            return Cut(self.frame, k)

        def transform(self, inp):
            found = super().transform(inp)
            return found if self.k is None else found[found["rank"] < self.k]

    pool = ptr.PoolDocuments(Cut(RUNS["lex1a"]), Cut(RUNS["neu2a"]) >> pt.Transformer.identity(), depth=3)
    compiled = (pool >> pt.Transformer.identity()).compile()
    first = compiled[0] if hasattr(compiled, "__getitem__") else compiled
    assert isinstance(first, ptr.PoolDocuments)
    assert first.pipelines[0].k == 3
    pd.testing.assert_frame_equal(compiled(TOPICS), pool(TOPICS))


def test_batches_without_results_pass():
    nothing = pt.apply.generic(lambda inp: pd.DataFrame())
    empty = ptr.PoolDocuments(nothing, nothing, depth=3)(TOPICS)
    assert len(empty) == 0
    assert {"qid", "docno", "best_rank", "runs", "score", "rank"} <= set(empty.columns)
    alone = ptr.PoolDocuments(nothing, *pipelines(["lex1a"]), depth=3)(TOPICS)
    assert pairs(alone) == pairs((pipelines(["lex1a"])[0] % 3)(TOPICS))
    assert alone["rank"].dtype == "int64"
    assert len(ptr.PoolDocuments(*pipelines(), depth=3)(TOPICS.iloc[:0])) == 0


def test_it_goes_to_other_processes_and_is_equal_there():
    pool = ptr.PoolDocuments(pt.Transformer.from_df(RUNS["lex1a"].drop(columns="name")), depth=3)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(pool))(TOPICS), pool(TOPICS))
    same = pipelines()
    assert ptr.PoolDocuments(*same, depth=3) == ptr.PoolDocuments(*same, depth=3)
    assert hash(ptr.PoolDocuments(*same, depth=3)) == hash(ptr.PoolDocuments(*same, depth=3))
    assert ptr.PoolDocuments(*same, depth=3) != ptr.PoolDocuments(*same, depth=4)
    assert ptr.PoolDocuments(*same, depth=3) != same[0]


@pytest.mark.parametrize(
    ("given", "depth"),
    [((), 10), (("bm25",), 10), ((RUNS["lex1a"],), 10), (tuple(pipelines()), 0), (tuple(pipelines()), 2.5)],
    ids=["none", "text", "frame", "depth 0", "half"],
)
def test_pools_that_cannot_be(given, depth, messages):
    messages.refused(lambda: ptr.PoolDocuments(*given, depth=depth))


def test_a_union_has_no_first_documents(messages):
    a, b, c = (pt.Transformer.from_df(RUNS[name].drop(columns="name")) for name in NAMES)
    joined = a | b
    messages.hidden[repr(joined)] = "{union}"
    messages.refused(lambda: ptr.PoolDocuments(c, joined, depth=10)(TOPICS))


def test_a_dict_names_the_pipelines(messages):
    by_name = dict(zip(NAMES, pipelines(), strict=True))
    pool = ptr.PoolDocuments(by_name, depth=5)
    pd.testing.assert_frame_equal(pool(TOPICS), ptr.PoolDocuments(*by_name.values(), depth=5)(TOPICS))
    rebuilt = pt.inspect.transformer_apply_attributes(pool, depth=3)
    assert [one.names for one in (pool, pool.compile(), rebuilt)] == [NAMES] * 3
    assert rebuilt.depth == 3
    assert all(repr(name) in repr(pool) for name in NAMES)
    assert pool == ptr.PoolDocuments(dict(by_name), depth=5) != ptr.PoolDocuments(*by_name.values(), depth=5)
    pickle.loads(pickle.dumps(pool))
    rankless = pt.Transformer.from_df(RUNS["neu2a"][["qid", "docno"]])
    messages.hidden[repr(rankless)] = "{rankless}"
    messages.refused(lambda: ptr.PoolDocuments({"lex": by_name["lex1a"], "neu": rankless}, depth=5)(TOPICS))
    for odd in ({}, {"lex": "bm25"}, {"": by_name["lex1a"]}):
        messages.refused(lambda given=odd: ptr.PoolDocuments(given, depth=5))
