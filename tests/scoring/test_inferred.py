"""xinfAP, xinfNDCG: equal to NIST's script, to a slow version, to AP and nDCG of everything; right on average."""

from __future__ import annotations

import math
import warnings

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, infAP, nDCG
from sample_parts import sample_qrels, some_samples, strata_of

import pt_reuse as ptr
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.caveats import CaveatWarning


def count(sample, stratum, of_label):
    return sum(s == stratum and of_label(label) for s, label in sample.values())


def weight(sample, stratum):
    judged = count(sample, stratum, lambda label: label >= 0)
    return count(sample, stratum, lambda label: True) / judged if judged else 0.0


def slow_xinfap(ranking, sample, rel=1, cutoff=None, epsilons=3e-5):
    """Return the mean over the relevant documents, sampled or not, of the expected precision at each."""
    estimated = {s: weight(sample, s) * count(sample, s, lambda label: label >= rel) for s in strata_of(sample)}
    total = sum(estimated.values())
    if not total:
        return 0.0
    mean = 0.0
    for stratum in strata_of(sample):
        precisions = []
        for rank, docno in enumerate(ranking[:cutoff], 1):
            if docno in sample and sample[docno][0] == stratum and sample[docno][1] >= rel:
                expected = 1.0
                for other in strata_of(sample):
                    above = [sample[d][1] for d in ranking[: rank - 1] if d in sample and sample[d][0] == other]
                    judged = [label for label in above if label >= 0]
                    share = (sum(label >= rel for label in judged) + 1e-5) / (len(judged) + epsilons)
                    expected += len(above) * share
                precisions.append(expected / rank)
        n = count(sample, stratum, lambda label: label >= rel)
        if n:
            mean += estimated[stratum] / total * sum(precisions) / n
    return mean


def slow_xinfndcg(ranking, sample, cutoff=None):
    grades = sorted({label for _, label in sample.values() if label > 0}, reverse=True)
    ideal = []
    for grade in grades:
        number = sum(weight(sample, s) * count(sample, s, grade.__eq__) for s in strata_of(sample))
        ideal += [grade] * int(number + 0.5)
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal[:cutoff], 1))
    if not best:
        return 0.0
    found = 0.0
    for stratum in strata_of(sample):
        mine = [(r, sample[d][1]) for r, d in enumerate(ranking[:cutoff], 1) if d in sample and sample[d][0] == stratum]
        judged = [(rank, label) for rank, label in mine if label >= 0]
        gain = sum(label / math.log2(rank + 1) for rank, label in judged)
        found += gain * len(mine) / len(judged) if judged else 0.0
    return found / best


def one_run(rankings, name="A"):
    rows = [(t, d, -float(r)) for t, docs in rankings.items() for r, d in enumerate(docs)]
    return RunSet.from_frames({name: pd.DataFrame(rows, columns=["qid", "docno", "score"])})


FIELD = ptr.demo.simulate_field(seed=7, n_topics=12, n_docs=600, length=60, depth=30)
POOL = ptr.depth_pool(FIELD.runs, depth=15)
JUDGED = POOL.judge(FIELD.qrels)
TOPICS = pd.DataFrame({"qid": FIELD.runs.topics, "query": "q"})
#: topic -> AP, nDCG and relevant documents of some_samples(12), as sample_eval.pl of October 2011 estimates them
NIST = {
    "1": (0.189814525326, 0.394152136767, 21.142857),
    "2": (0.331610828431, 0.426656479375, 25.714286),
    "3": (0.060889875017, 0.176474490406, 21.888889),
    "4": (0.234766375549, 0.395350582622, 21.500000),
    "5": (0.429429767490, 0.512221299670, 31.800000),
}


def values(runs, qrels, measures):
    with warnings.catch_warnings():
        # a small sample may have no document that is not relevant
        warnings.simplefilter("ignore", CaveatWarning)
        return ptr.score(runs, qrels, measures).values


def sampled(share, seed=1, **options):
    return ptr.pools.sample_pool(POOL, share=share, seed=seed, **options).judge(FIELD.qrels)


def test_they_equal_sample_eval():
    rankings, samples = some_samples(12)
    qrels = sample_qrels(samples)
    found = values(one_run(rankings), qrels, [ptr.pools.xinfAP, ptr.pools.xinfNDCG @ 1000])[:, :, 0]
    assert found[0] == pytest.approx([ap for ap, _, _ in NIST.values()], abs=1e-11)
    assert found[1] == pytest.approx([ndcg for _, ndcg, _ in NIST.values()], abs=1e-11)
    estimates = ptr.pools.estimate_relevant(qrels)["estimate"]
    assert estimates.tolist() == pytest.approx([relevant for _, _, relevant in NIST.values()], abs=1e-6)


SHARES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=1, max_size=4)


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), SHARES, st.sampled_from([None, 1, 5, 30]), st.sampled_from([1, 2]))
def test_they_equal_the_slow_version(seed, shares, cutoff, rel):
    rankings, samples = some_samples(seed, n_topics=2, shares=shares)
    ap, ndcg = ptr.pools.xinfAP(rel=rel), ptr.pools.xinfNDCG
    if cutoff is not None:
        ap, ndcg = ap @ cutoff, ndcg @ cutoff
    found = values(one_run(rankings), sample_qrels(samples), [ap, ndcg])[:, :, 0]
    for t, topic in enumerate(rankings):
        assert found[0, t] == pytest.approx(slow_xinfap(rankings[topic], samples[topic], rel, cutoff), abs=1e-12)
        assert found[1, t] == pytest.approx(slow_xinfndcg(rankings[topic], samples[topic], cutoff), abs=1e-12)


@pytest.mark.parametrize("strata", [{}, {"strata": "rank", "bands": [3, 15]}, {"strata": "runs"}])
def test_of_everything_they_are_ap_and_ndcg(strata):
    qrels = sampled(1, **strata)
    exact = values(FIELD.runs, JUDGED, [AP, AP(rel=2), nDCG, nDCG @ 10])
    inferred = [ptr.pools.xinfAP, ptr.pools.xinfAP(rel=2), ptr.pools.xinfNDCG, ptr.pools.xinfNDCG @ 10]
    found = values(FIELD.runs, qrels, inferred)
    assert np.abs(found[:2] - exact[:2]).max() < 2e-5, "the epsilons of xinfAP"
    assert np.abs(found[2:] - exact[2:]).max() < 1e-12
    assert exact[0].max() > 0.5


@pytest.mark.parametrize("scores", [[1.0] * 3, [3e300, 2e300, 1e300], [-1e300, -2e300, -3e300]])
def test_ties_and_order_are_those_of_trec_eval(scores):
    samples = {"1": {"a": ("x", 1), "b": ("x", 0), "c": ("x", -1)}}
    tied = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b", "c"], "score": scores})
    qrels = pt.model.to_ir_measures(sample_qrels(samples).to_frame())
    found = ir_measures.calc_aggregate([ptr.pools.xinfAP, ptr.pools.xinfNDCG], qrels, tied)
    assert found[ptr.pools.xinfAP] == pytest.approx(slow_xinfap(["c", "b", "a"], samples["1"]))
    assert found[ptr.pools.xinfNDCG] == pytest.approx(slow_xinfndcg(["c", "b", "a"], samples["1"]))


@pytest.mark.parametrize("measure", [ptr.pools.xinfAP, ptr.pools.xinfNDCG @ 10])
def test_judgments_that_are_no_sample(measure, messages):
    qrels = sampled(0.3)
    frame = qrels.to_frame()
    other = ptr.Qrels(pd.DataFrame({"qid": ["1"], "docno": ["new"], "label": [1]}))
    systems = {"x": pt.Transformer.from_df(FIELD.runs[FIELD.runs.names[0]])}
    for bad in (JUDGED, frame[frame["label"] >= 0], qrels | other):
        messages.refused(lambda bad=bad: ptr.score(FIELD.runs, bad, measure), argument="qrels")
        messages.refused(lambda bad=bad: ptr.Experiment(systems, TOPICS, bad, [measure]), argument="qrels")
    with pytest.raises(ptr.InputError, match="sample_pool"):
        pt.Experiment(systems, TOPICS, JUDGED.to_frame(), [measure])


def test_a_cutoff_below_1(messages):
    qrels, run = (
        pt.model.to_ir_measures(sampled(0.3).to_frame()),
        pt.model.to_ir_measures(FIELD.runs[FIELD.runs.names[0]]),
    )
    messages.refused(lambda: ir_measures.calc_aggregate([ptr.pools.xinfAP @ 0], qrels, run))
    messages.refused(lambda: ptr.score(FIELD.runs, sampled(0.3), ptr.pools.xinfAP @ 0))


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 1.0]))
def test_of_one_stratum_xinfap_is_infap_but_for_the_epsilons(seed, share):
    rankings, samples = some_samples(seed, n_topics=2, shares=[share])
    found = values(one_run(rankings), sample_qrels(samples), [ptr.pools.xinfAP, infAP])[:, :, 0]
    for t, topic in enumerate(rankings):
        assert found[1, t] == pytest.approx(slow_xinfap(rankings[topic], samples[topic], epsilons=2e-5), abs=1e-7)
        assert found[0, t] == pytest.approx(slow_xinfap(rankings[topic], samples[topic]), abs=1e-12)


def test_score_experiment_and_pyterrier_agree():
    qrels = sampled([1, 0.3], strata="rank", bands=[3, 15])
    measures = [ptr.pools.xinfAP, ptr.pools.xinfNDCG @ 10, infAP]
    names = FIELD.runs.names[:3]
    scored = ptr.score(FIELD.runs, qrels, measures).mean.set_index("name").loc[names]
    systems = {f"my {name}": pt.Transformer.from_df(FIELD.runs[name].drop(columns="name")) for name in names}
    theirs = pt.Experiment(systems, TOPICS, qrels.to_frame(), measures)
    ours = ptr.Experiment(systems, TOPICS, qrels, measures, field=FIELD.runs, reuse=["rank"])
    every = ptr.score(FIELD.runs, qrels, measures).mean
    for measure in map(repr, measures):
        np.testing.assert_allclose(theirs[measure], scored[measure], rtol=1e-9)
        np.testing.assert_allclose(ours[measure], scored[measure], rtol=1e-9)
        better = (every[measure].to_numpy() > scored[measure].to_numpy()[:, None] + 1e-9).sum(axis=1)
        mine = (ours[measure].to_numpy() > ours[measure].to_numpy()[:, None] + 1e-9).sum(axis=1)
        assert ours[f"{measure} rank"].tolist() == (1 + better + mine).tolist()


def test_topics_without_results_or_relevant_documents_score_0():
    rankings, samples = some_samples(3, n_topics=3)
    del rankings["2"]
    samples["3"] = {docno: (stratum, min(label, 0)) for docno, (stratum, label) in samples["3"].items()}
    found = values(one_run(rankings), sample_qrels(samples), [ptr.pools.xinfAP, ptr.pools.xinfNDCG])[:, :, 0]
    assert (found[:, 0] > 0).all()
    assert (found[:, 1:] == 0).all()
