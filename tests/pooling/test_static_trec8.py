"""Static pools of TREC-8: those of the depths on record, and what other pools of that size have."""

from __future__ import annotations

import pytest

from pt_reuse.pooling.depth import depth_pool, fusion_pool, take_pool

#: depth -> documents and relevant documents of the pool of the 71 pooled runs, from the reference numbers
POOLS = {1: (1_487, 466), 5: (5_542, 1_239), 10: (10_134, 1_746), 20: (19_231, 2_431), 50: (45_584, 3_718)}


def found(collection, pool):
    return len(pool), int(collection.qrels.restrict(pool).counts()["relevant"].sum())


@pytest.mark.parametrize("depth", POOLS)
def test_as_many_of_the_best_ranked_documents_are_the_depth_k_pool(trec8, depth):
    assert found(trec8, depth_pool(trec8.runs, depth=depth)) == POOLS[depth]
    each = dict.fromkeys(trec8.runs.select(pooled=True).names, depth)
    assert found(trec8, depth_pool(trec8.runs, depth_by_run=each)) == POOLS[depth]
    assert found(trec8, take_pool(trec8.runs, n=POOLS[depth][0], per="all")) == POOLS[depth]


def test_a_budget_of_all_judgments_is_the_whole_pool(trec8):
    for pool in (take_pool(trec8.runs, n=86_830, per="all"), fusion_pool(trec8.runs, n=10_000)):
        assert found(trec8, pool) == (86_830, 4_728)
        assert pool.counts(trec8.qrels)["to_judge"].sum() == 0


def test_fusions_find_more_than_rank_order_with_a_tenth_of_the_judgments(trec8):
    n = 8_683
    assert found(trec8, take_pool(trec8.runs, n=n, per="all")) == (n, 1_609)
    for method in ("rrf", "combsum", "combmnz"):
        assert found(trec8, fusion_pool(trec8.runs, n=n, per="all", method=method))[1] > 2_000


def test_a_source_of_the_corpus(trec8, messages):
    # FBIS has 1,667 of the relevant documents
    part = messages.warned(lambda: trec8.runs.restrict(prefix="FBIS"))
    relevant = trec8.qrels.to_frame().query("label > 0")
    assert relevant["docno"].str.startswith("FBIS").sum() == 1_667
    whole = depth_pool(part, depth=1_000)
    assert found(trec8, whole)[1] == 1_667
    assert whole.to_frame()["docno"].str.startswith("FBIS").all()
    ranks = depth_pool(part, depth=100).to_frame()["rank"]
    assert ranks.max() == 100
