"""Scores over all orders of equal scores, against the engine on every order."""

from __future__ import annotations

import itertools

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.arrays.kernels import UNJUDGED, TiedList, over_orders
from pt_reuse.scoring.measures import native_spec, parse_measures

MEASURES = [
    "AP", "AP@2", "AP(rel=2)", "AP(judged_only=True)", "P@1", "P@3", "P(rel=2)@2", "P(judged_only=True)@2", "R@2",
    "RR", "RR@2", "RR(judged_only=True)", "Rprec", "Bpref", "Bpref(rel=2)", "RBP(rel=1)", "RBP(rel=2,p=.5)",
    "Success@1", "Success@3", "nDCG", "nDCG@2", "nDCG(dcg='exp-log2')@3", "nDCG(judged_only=True)@2",
    "nDCG(gains={1:0,2:3,0:1})@3", "Judged@2", "Unjudged@2", "Unjudged(of_cutoff=True)@4",
]  # fmt: skip


def orders(group):
    """Yield every order of documents whose groups stay one after the other."""
    parts = [np.flatnonzero(group == g).tolist() for g in np.unique(group)]
    for chosen in itertools.product(*(itertools.permutations(part) for part in parts)):
        yield [i for part in chosen for i in part]


def by_brute_force(measures, labels, group, elsewhere):
    """Return (measures, orders) scores of every order, by the engine."""
    docnos = [f"d{i}" for i in range(len(labels))]
    rows = [("1", d, label) for d, label in zip(docnos, labels, strict=True) if label is not None]
    rows += [("1", f"e{i}", label) for i, label in enumerate(elsewhere)]
    qrels = ptr.Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]), topics=["1"])
    n = len(labels)
    frames = {
        str(i): pd.DataFrame({"qid": "1", "docno": [docnos[j] for j in order], "score": np.arange(n, 0, -1.0)})
        for i, order in enumerate(orders(np.array(group)))
    }
    return ptr.score(ptr.RunSet.from_frames(frames), qrels, measures).values[:, 0]


LABELS = st.lists(st.sampled_from([None, -1, 0, 1, 2]), min_size=1, max_size=5)


@given(LABELS, st.data(), st.lists(st.sampled_from([0, 1, 2]), max_size=3))
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_every_order(labels, data, elsewhere):
    group = np.cumsum([data.draw(st.booleans()) for _ in labels])
    if not elsewhere and all(label is None for label in labels):
        elsewhere = [0]
    measures = parse_measures(MEASURES)
    every = by_brute_force(measures, labels, group, elsewhere)
    coded = np.array([UNJUDGED if label is None else label for label in labels], dtype=np.int16)
    judged = np.array([label for label in [*labels, *elsewhere] if label is not None], dtype=np.int16)
    for measure, values in zip(measures, every, strict=True):
        low, mean, high = over_orders(native_spec(measure), TiedList(coded, group), judged)
        expected = values.min(), values.mean(), values.max()
        assert np.allclose((low, mean, high), expected, atol=1e-12), (measure, low, mean, high, expected)


@pytest.mark.parametrize("name", MEASURES)
def test_many_equal_scores_take_no_time_and_are_numbers(name):
    labels = np.resize(np.array([1, 0, UNJUDGED, 2, -1], dtype=np.int16), 5000)
    (measure,) = parse_measures(name)
    judged = labels[labels != UNJUDGED]
    low, mean, high = over_orders(native_spec(measure), TiedList(labels, np.zeros(5000, dtype=np.int64)), judged)
    assert 0 <= low <= mean + 1e-12 <= high + 2e-12 <= 1 + 1e-9


def test_the_mean_of_a_reciprocal_rank():
    labels = np.array([0, 1, 0], dtype=np.int16)
    found = over_orders(native_spec(ir_measures.RR), TiedList(labels, np.zeros(3, dtype=np.int64)), labels)
    assert np.allclose(found, (1 / 3, (1 + 1 / 2 + 1 / 3) / 3, 1))
