"""Samples of pools: how many documents, with which probability, and what judging them gives."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=6, n_docs=200, length=40, depth=20)
POOL = ptr.depth_pool(FIELD.runs, depth=20)
EVERY = POOL.to_frame()
PARTS = pd.DataFrame(
    [(q, f"d{i}", "x" if i < 4 else "y", float(i)) for q in ("1", "2") for i in range(10)],
    columns=["qid", "docno", "part", "priority"],
)


def pairs(*pools):
    return {pair for pool in pools for pair in zip(pool.to_frame()["qid"], pool.to_frame()["docno"], strict=True)}


def together(sample):
    parts = [sample.to_frame().assign(sampled=True), sample.unsampled.to_frame().assign(sampled=False)]
    return pd.concat(parts, ignore_index=True)


def rounded(share, n):
    return max(1, int(share * n + 0.5))


@settings(deadline=None, max_examples=12)
@given(st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.9, 1.0]), st.integers(0, 5))
def test_a_uniform_sample_has_its_share_of_each_topic(share, seed):
    sample = ptr.pools.sample_pool(POOL, share=share, seed=seed)
    assert pairs(sample, sample.unsampled) == pairs(POOL)
    assert len(sample) + len(sample.unsampled) == len(POOL)
    both = together(sample)
    for _, topic in both.groupby("qid"):
        n = int(topic["sampled"].sum())
        assert n == rounded(share, len(topic))
        assert (topic["inclusion"] == n / len(topic)).all()
        assert (topic["stratum"] == "all").all()
    kept = ["rank", "runs", "teams", "types"]
    before = EVERY.set_index(["qid", "docno"])[kept]
    pd.testing.assert_frame_equal(
        both.set_index(["qid", "docno"])[kept].sort_index(),
        before.sort_index(),
        check_dtype=False,
        check_index_type=False,
    )


def test_bands_of_rank_have_shares_of_their_own():
    sample = ptr.pools.sample_pool(POOL, share=[1, 0.5, 0.1], strata="rank", bands=[3, 10, 20], seed=2)
    both = together(sample)
    band = {**dict.fromkeys(range(1, 4), "1-3"), **dict.fromkeys(range(4, 11), "4-10")}
    assert both["stratum"].tolist() == [band.get(rank, "11-20") for rank in both["rank"]]
    shares = {"1-3": 1, "4-10": 0.5, "11-20": 0.1}
    for (_, stratum), part in both.groupby(["qid", "stratum"]):
        assert part["sampled"].sum() == rounded(shares[stratum], len(part))
        assert (part["inclusion"] == part["sampled"].mean()).all()
    assert sample.settings["strata"] == "rank 1-3/4-10/11-20"
    assert (sample.settings["share"], sample.settings["seed"]) == ("1/0.5/0.1", 2)
    assert sample.settings["sampled"] == f"{len(sample):,} of {len(POOL):,}"
    named = ptr.pools.sample_pool(POOL, share={"1-3": 1, "11+": 0.1, "4-10": 0.5}, strata="rank",
                            bands=[3, 10, float("inf")], seed=2)  # fmt: skip
    assert pairs(named) == pairs(sample)
    one = ptr.pools.sample_pool(POOL, share=0.5, strata="rank", bands=[1, 2, 20], seed=2)
    assert set(one.to_frame()["stratum"]) == {"1", "2", "3-20"}


def test_every_document_has_its_chance():
    pool = ptr.Pool.from_frame(PARTS)
    drawn = Counter()
    n = 150
    for seed in range(n):
        drawn.update(pairs(ptr.pools.sample_pool(pool, share={"x": 0.25, "y": 0.5}, strata="part", seed=seed)))
    for qid, docno, part in PARTS[["qid", "docno", "part"]].itertuples(index=False):
        chance = 0.25 if part == "x" else 0.5
        assert abs(drawn[qid, docno] / n - chance) < 4.5 * np.sqrt(chance * (1 - chance) / n)


def test_a_sample_hangs_on_the_seed_and_the_topic_alone():
    sample = ptr.pools.sample_pool(POOL, share=0.3, seed=5)
    assert pairs(sample) != pairs(ptr.pools.sample_pool(POOL, share=0.3, seed=6))
    backwards = ptr.Pool.from_frame(EVERY.iloc[::-1][["qid", "docno"]])
    assert pairs(ptr.pools.sample_pool(backwards, share=0.3, seed=5)) == pairs(sample)
    alone = ptr.Pool.from_frame(EVERY.loc[EVERY["qid"] == "3", ["qid", "docno"]])
    assert pairs(ptr.pools.sample_pool(alone, share=0.3, seed=5)) == {pair for pair in pairs(sample) if pair[0] == "3"}
    assert pairs(sample) < pairs(ptr.pools.sample_pool(POOL, share=0.4, seed=5))
    assert sample.to_frame()["docno"].tolist() == [d for q, d in zip(EVERY["qid"], EVERY["docno"], strict=True)
                                                   if (q, d) in pairs(sample)]  # fmt: skip


def test_judging_asks_for_the_sample_alone_and_returns_the_whole_pool():
    sample = ptr.pools.sample_pool(POOL, share=[1, 0.3], strata="rank", bands=[2, 20], seed=1)
    asked = []

    def judge(frame):
        asked.extend(zip(frame["qid"], frame["docno"], strict=True))
        return [len(docno) % 2 for docno in frame["docno"]]

    qrels = sample.judge(judge)
    assert len(asked) == len(sample)
    assert set(asked) == pairs(sample)
    frame = qrels.to_frame()
    assert pairs(qrels) == pairs(POOL)
    is_sampled = [pair in set(asked) for pair in zip(frame["qid"], frame["docno"], strict=True)]
    assert (frame["label"] >= 0).tolist() == is_sampled
    assert set(frame.loc[frame["label"] < 0, "label"]) == {-1}
    keys = ["qid", "docno", "stratum", "inclusion"]
    pd.testing.assert_frame_equal(
        frame[keys].sort_values(["qid", "docno"], ignore_index=True),
        together(sample)[keys].sort_values(["qid", "docno"], ignore_index=True),
    )
    assert qrels.counts()["unjudged"].sum() == len(sample.unsampled)
    looked_up = sample.judge(FIELD.qrels.with_rel(2))
    assert looked_up.rel == 2
    truth = FIELD.qrels.to_frame().set_index(["qid", "docno"])["label"]
    for row in looked_up.to_frame().query("label >= 0").itertuples():
        assert row.label == truth[row.qid, row.docno]
    # what was judged elsewhere comes back the same way
    again = sample.judge(ptr.Qrels(frame.loc[frame["label"] >= 0, ["qid", "docno", "label"]]))
    pd.testing.assert_frame_equal(again.to_frame()[[*keys, "label"]], frame[[*keys, "label"]])


def test_without_a_team_a_sample_is_a_sample_of_what_is_left():
    sample = ptr.pools.sample_pool(POOL, share=[1, 0.4], strata="rank", bands=[3, 20], seed=1)
    team = POOL.run_table["team"].iloc[0]
    left = sample.without(team)
    assert pairs(left, left.unsampled) == pairs(POOL.without(team))
    assert pairs(left) == pairs(sample) & pairs(POOL.without(team))
    for _, part in together(left).groupby(["qid", "stratum"]):
        assert (part["inclusion"] == part["sampled"].mean()).all()
    assert len(left.judge(FIELD.qrels)) == len(POOL.without(team))
    assert ptr.score(FIELD.runs, left.judge(FIELD.qrels), ptr.pools.xinfAP).mean["xinfAP"].gt(0).all()
    assert pairs(sample) <= pairs(POOL), "the sample is as it was"


def test_samples_that_cannot_be(messages):
    ranks, parts = {"strata": "rank", "n": 5}, {"strata": "part"}
    for options in (
        *({}, {"share": 0.1, "n": 3}, {"share": 0}, {"share": 10}, {"share": "10%"}, {"n": 0}, {"n": 5, "seed": True}),
        *({"n": 5, "bands": [3, 20]}, ranks, {"n": 5, "strata": "depth"}, {"share": [1, 0.5], "strata": "teams"}),
        *(ranks | {"bands": bands} for bands in ([20, 3], [2.5, 20], "3 20", [3, 10])),
        {"share": [1, 0.5], "strata": "rank", "bands": [3, 10, 20]},
    ):
        messages.refused(lambda options=options: ptr.pools.sample_pool(POOL, **{"seed": 1, **options}))
    for options in (
        parts | {"share": {"x": 1, "y": 1, "z": 1}},
        parts | {"share": {"x": 1}},
        parts | {"share": 1, "bands": [5]},
        {"share": 1, "strata": "rank", "bands": [5]},
    ):
        messages.refused(lambda options=options: ptr.pools.sample_pool(ptr.Pool.from_frame(PARTS), **options, seed=1))
    messages.refused(lambda: ptr.pools.sample_pool(EVERY, share=0.1, seed=1))
    messages.refused(lambda: ptr.pools.sample_pool(ptr.pools.sample_pool(POOL, n=5, seed=1), n=5, seed=1))
