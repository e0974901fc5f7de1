"""The bounds of scores under all labels that unjudged documents may have, against all completions."""

from __future__ import annotations

import completions as by_hand
import numpy as np
import pandas as pd
import pytest
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
