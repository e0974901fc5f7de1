"""Judgments of samples: written and read with their strata, and how many relevant documents they stand for."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sample_parts import sample_qrels, some_samples, strata_of

import pt_reuse as ptr

FIELD = ptr.simulate_field(seed=7, n_topics=6, n_docs=200, length=40, depth=20)
POOL = ptr.depth_pool(FIELD.runs, depth=20)
SAMPLE = ptr.pools.sample_pool(POOL, share=[1, 0.3], strata="rank", bands=[3, 20], seed=1).judge(FIELD.qrels)


def test_a_file_with_strata_is_that_of_sample_eval(tmp_path):
    small = ptr.Qrels(
        pd.DataFrame({"qid": "7", "docno": list("abc"), "label": [1, -1, 0], "stratum": ["1-3", "4-9", "4-9"]})
    )
    path = small.write(tmp_path / "qrels", strata=True)
    assert path.read_text() == "7 0 a 1-3 1\n7 0 b 4-9 -1\n7 0 c 4-9 0\n"
    back = ptr.read_qrels(path, strata=True, rel=2)
    assert back.rel == 2
    assert back.to_frame().values.tolist() == [
        ["7", "a", 1, "1-3", 1.0], ["7", "b", -1, "4-9", 0.5], ["7", "c", 0, "4-9", 0.5]
    ]  # fmt: skip


def test_a_sample_written_and_read_is_the_same(tmp_path):
    back = ptr.read_qrels(SAMPLE.write(tmp_path / "qrels", strata=True), strata=True)
    assert list(back.to_frame()) == ["qid", "docno", "label", "stratum", "inclusion"]
    pd.testing.assert_frame_equal(back.to_frame(), SAMPLE.to_frame()[list(back.to_frame())], check_dtype=False)
    measures = [ptr.xinfAP, ptr.xinfNDCG @ 10]
    assert (ptr.score(FIELD.runs, back, measures).values == ptr.score(FIELD.runs, SAMPLE, measures).values).all()
    plain = ptr.read_qrels(SAMPLE.write(tmp_path / "plain"))
    assert list(plain.to_frame().columns) == ["qid", "docno", "label"]
    assert plain.counts().equals(SAMPLE.counts())


def slow_estimate(sample, rel):
    """Return the Horvitz-Thompson total and its standard error, document by document and stratum by stratum."""
    total, variance = 0.0, 0.0
    for stratum in strata_of(sample):
        labels = [label for s, label in sample.values() if s == stratum]
        judged = [label for label in labels if label >= 0]
        if not judged:
            return math.nan, math.nan
        hits = [float(label >= rel) for label in judged]
        total += sum(hit / (len(judged) / len(labels)) for hit in hits)
        if len(judged) == len(labels):
            continue
        if len(judged) == 1:
            variance = math.nan
            continue
        variance += len(labels) ** 2 * (1 - len(judged) / len(labels)) * np.var(hits, ddof=1) / len(judged)
    return total, math.sqrt(variance)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rel", [1, 2])
def test_relevant_documents_equal_the_slow_estimate(seed, rel):
    _, samples = some_samples(seed, shares=[(1.0, 0.5, 0.2), (0.1,), (1.0,)][seed % 3])
    found = ptr.pools.estimate_relevant(sample_qrels(samples).with_rel(rel)).set_index("qid")
    for topic, sample in samples.items():
        wanted = slow_estimate(sample, rel)
        assert found.loc[topic, ["estimate", "se"]].tolist() == pytest.approx(wanted, nan_ok=True)
        assert found.loc[topic, "pooled"] == len(sample)
        assert found.loc[topic, "judged"] == sum(label >= 0 for _, label in sample.values())
        assert found.loc[topic, "relevant"] == sum(label >= rel for _, label in sample.values())
    explicit = ptr.pools.estimate_relevant(sample_qrels(samples), rel=rel)
    pd.testing.assert_frame_equal(explicit.set_index("qid"), found)


def test_over_many_samples_the_estimate_is_unbiased_and_its_error_is_right():
    truth = POOL.judge(FIELD.qrels).counts()["relevant"].to_numpy()
    draws, errors = [], []
    for seed in range(80):
        sample = ptr.pools.sample_pool(POOL, share=[0.8, 0.4], strata="rank", bands=[3, 20], seed=seed)
        found = ptr.pools.estimate_relevant(sample.judge(FIELD.qrels))
        draws.append(found["estimate"])
        errors.append(found["se"] ** 2)
    mean, spread = np.mean(draws, axis=0), np.std(draws, axis=0, ddof=1)
    assert (np.abs(mean - truth) < 3.5 * spread / np.sqrt(len(draws))).all()
    assert np.mean(errors, axis=0) == pytest.approx(spread**2, rel=0.5)
    assert np.mean(errors) == pytest.approx(np.mean(spread**2), rel=0.15)
