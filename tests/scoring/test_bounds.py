"""The bounds of scores under all labels that unjudged documents may have, against all completions."""

from __future__ import annotations

import itertools

import completions as by_hand
import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RBP, RR, Bpref, Judged, P, R, Rprec, SetP, Success, nDCG
from opened import opened

import pt_reuse as ptr
from pt_reuse.data.judgments import as_qrels
from pt_reuse.scoring.bounds import score_bounds

MEASURES = [
    AP, AP @ 3, AP(rel=2), P @ 3, P(rel=2) @ 10, R @ 3, R(rel=2) @ 10, Success @ 2, RR, RR(rel=2), Rprec,
    nDCG, nDCG @ 2, nDCG @ 4, nDCG(dcg="exp-log2") @ 3,
]  # fmt: skip
RANK_BIASED = [RBP(rel=1, p=0.5), RBP(rel=2, p=0.8) @ 3]


def runs_of(lists):
    """Return a RunSet of one run, ``{qid: [docno, ...]}``, best document first."""
    rows = [(qid, docno, -float(i)) for qid, docnos in lists.items() for i, docno in enumerate(docnos)]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    return ptr.RunSet.from_frames({"A": frame}, order="trec_eval9")


def qrels_of(labels):
    rows = [(qid, docno, label) for qid, judged in labels.items() for docno, label in judged.items()]
    return as_qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))


@pytest.mark.parametrize("seed", range(6))
def test_documents_elsewhere_that_other_new_runs_may_have_brought(seed):
    runs, labels = by_hand.small_field(seed, systems=4, tops=(1, 2, 3))
    measures = [m for m in by_hand.MEASURES if m.NAME != "Rprec"]
    field, qrels = by_hand.field_of(runs), as_qrels(by_hand.qrels_of(labels))
    more = np.random.default_rng(seed).integers(0, 3, (len(qrels.topics), len(field)))
    found = score_bounds(field, qrels, measures, others=dict.fromkeys(measures, more))
    for m, measure in enumerate(measures):
        for t, qid in enumerate(qrels.topics):
            for r, name in enumerate(field.names):
                expected = by_hand.ends(measure, runs[name][qid], labels[qid], found.highest, int(more[t, r]))
                assert (found.low[m, t, r], found.high[m, t, r]) == pytest.approx(expected, abs=1e-9), measure


def test_the_score_is_between_the_bounds_to_the_last_bit():
    field = ptr.demo.simulate_field(seed=3, n_topics=8)
    runs = field.runs.reorder("trec_eval9")
    measures = [*MEASURES, *RANK_BIASED]
    found, scores = score_bounds(runs, field.qrels, measures), ptr.score(runs, field.qrels, measures).values
    assert (found.low <= scores).all()
    assert (scores <= found.high).all()
    assert (found.high <= 1).all()
    assert (found.low < scores).any()
    # where nothing is unjudged nothing is unknown, but for what RBP allows below the list
    known = field.all_qrels.restrict(ptr.depth_pool(runs, depth=10**6, contributors="all"))
    found, scores = score_bounds(runs, known, measures), ptr.score(runs, known, measures).values
    n = len(MEASURES)
    np.testing.assert_array_equal(found.low, scores)
    np.testing.assert_array_equal(found.high[:n], scores[:n])


def test_topics_that_a_run_lacks_and_topics_in_blocks(monkeypatch):
    lists = {str(q): [f"d{q}", "u1", "u2"][: q % 4] for q in range(1, 8)}
    labels = {str(q): {f"d{q}": q % 3, "x": 1} for q in range(1, 10)}
    qrels, measures = qrels_of(labels), [*MEASURES, *RANK_BIASED]
    found = score_bounds(runs_of(lists), qrels, measures)
    for t, topic in enumerate(qrels.topics):
        if not lists.get(topic):
            assert (found.low[:, t] == 0).all()
            assert (found.high[:, t] == 0).all()
        else:
            alone = score_bounds(
                runs_of({topic: lists[topic]}), qrels_of({topic: labels[topic], "9": {"x": 2}}), measures
            )
            np.testing.assert_array_equal(alone.low[:, 0], found.low[:, t])
            np.testing.assert_array_equal(alone.high[:, 0], found.high[:, t])
    monkeypatch.setattr("pt_reuse.scoring.bounds._AT_ONCE", 1)
    for runs in (runs_of(lists), opened(runs_of(lists))):
        cut = score_bounds(runs, qrels, measures)
        np.testing.assert_array_equal(cut.low, found.low)
        np.testing.assert_array_equal(cut.high, found.high)


def test_measures_of_which_no_bound_is_known():
    others = [Bpref, Judged @ 3, ptr.Unjudged @ 3, AP(judged_only=True), nDCG(gains={0: 1, 1: 5}), SetP, RBP(p=0.5)]
    found = score_bounds(runs_of({"1": ["d1"]}), qrels_of({"1": {"d1": 1}}), [others[0], P @ 1, *others[1:]])
    assert found.measures == [P @ 1]
    assert found.low.shape == (1, 1, 1)


def by_brute_force(docnos, judged, top, measure):
    """Return the lowest and the highest score of a topic over all labels of what the measure sees unjudged."""
    cutoff = measure.params.get("cutoff")
    holes = [docno for docno in docnos[:cutoff] if judged.get(docno, -1) < 0]
    known = {docno: label for docno, label in judged.items() if docno not in holes}
    run = {docno: -float(i) for i, docno in enumerate(docnos)}
    complete = {}
    for i, labels in enumerate(itertools.product(range(top + 1), repeat=len(holes))):
        labelled = {**known, **dict(zip(holes, labels, strict=True))}
        # of a topic without a label of at least 0 pytrec_eval's answer is undefined
        complete[str(i)] = {"nobody's": 0, **{docno: max(label, 0) for docno, label in labelled.items()}}
    # the provider of this one prints five decimals
    same = nDCG(gains={1: 1, 2: 3, 3: 7}) @ cutoff if measure.params.get("dcg") else measure
    scores = [metric.value for metric in ir_measures.iter_calc([same], complete, dict.fromkeys(complete, run))]
    assert len(scores) == len(complete)
    return min(scores), max(scores)


@st.composite
def cases(draw):
    """Yield (documents returned, labels of some and of others)."""
    documents = [f"d{i}" for i in range(9)]
    returned = draw(st.permutations(documents[:6]))[: draw(st.integers(1, 6))]
    labels = {
        d: label for d in documents if (label := draw(st.sampled_from([None, -2, -1, 0, 0, 1, 1, 2, 3]))) is not None
    }
    holes = [d for d in returned if labels.get(d, -1) < 0]
    for docno in holes[4:]:  # every completion is scored
        labels[docno] = 0
    return returned, labels


@given(cases())
def test_as_all_completions(case):
    returned, labels = case
    # the other topic has the highest label, which the first need not have
    judged = {"1": {"elsewhere": -1, **labels}, "2": {"e": 2, "f": 0}}
    top = max(2, *judged["1"].values())
    found = score_bounds(runs_of({"1": returned, "2": ["e"]}), qrels_of(judged), MEASURES)
    assert found.measures == MEASURES
    for m, measure in enumerate(MEASURES):
        expected = by_brute_force(returned, judged["1"], top, measure)
        assert (found.low[m, 0, 0], found.high[m, 0, 0]) == pytest.approx(expected, abs=1e-9), measure


def test_bounds_by_hand():
    # d1 label 1, d2 unjudged, d3 unjudged; another document of label 1 is not retrieved, the highest label is 3
    runs = runs_of({"1": ["d1", "d2", "d3"], "2": ["e"]})
    qrels = qrels_of({"1": {"d1": 1, "x": 1}, "2": {"e": 3}})
    found = score_bounds(runs, qrels, [P @ 3, AP, RBP(rel=1, p=0.5), RBP(rel=1, p=0.5) @ 2, nDCG @ 2])
    low, high = found.low[:, 0, 0], found.high[:, 0, 0]
    assert (low[0], high[0]) == pytest.approx((1 / 3, 1))
    # 1/2 as it is; with d3 (1 + 2/3) / 3, with both 3/4; with d2 alone (1 + 1) / 3
    assert (low[1], high[1]) == pytest.approx((1 / 2, 3 / 4))
    # the weights are 1/2, 1/4, 1/8, and 1/8 for all ranks below; down to rank 2, 1/4 for these
    assert (low[2], high[2], low[3], high[3]) == pytest.approx((1 / 2, 1, 1 / 2, 1))
    # label 1 is better for d2 than 3: the ideal ranking has the other document at its second rank either way
    second = 1 / np.log2(3)
    assert (low[4], high[4]) == pytest.approx((1 / (1 + second), 1.0))
    assert (1 + 3 * second) / (3 + second) < 1
