"""Strategies by hand: small fields whose choices are worked out in the comments, and what holds between strategies."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP
from reference_strategies import pair_changes, term, topic_of, topics

from pt_reuse.pooling.adaptive.strategy import CHOOSERS, Strategy, judged_in_order


def topic(*runs):
    return topic_of([[(doc, -i) for i, doc in enumerate(run)] for run in runs])


@pytest.mark.parametrize("name", ["hedge", "mtc"])
@pytest.mark.parametrize("n", range(2, 13))
def test_sums_that_differ_by_rounding_alone_are_equal(name, n):
    # n lists of n documents, each document at each rank once: all are worth the same, added up in another order
    lists = topic(*([f"d{(start + i) % n:02}" for i in range(n)] for start in range(n)))
    chooser = CHOOSERS[name](lists, np.random.default_rng(0))
    assert chooser.next() == 0


# what holds between strategies


@given(given=topics(), seed=st.integers(0, 5))
@settings(max_examples=15, deadline=None)
def test_strategies_that_are_others_by_an_option(given, seed):
    runs, labels = given
    lists = topic_of(runs)
    known = np.array([{True: 1, False: 0, None: -1}[labels[doc]] for doc in lists.docnos], dtype=np.int8)

    def order(name, **options):
        return judged_in_order(Strategy(name, **options), lists, known, seed=seed, budget=99).tolist()

    assert order("epsilon-greedy", epsilon=0) == order("max-mean") == order("max-mean-ns", rate=1)


@given(given=topics(most_runs=1), data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_terms_of_average_precision_add_up_to_trec_evals(given, data):
    (scored,), _ = given
    run = [doc for doc, _ in scored]
    relevant = data.draw(st.sets(st.sampled_from(run), min_size=1))
    total = sum(term(run, i, j) for i in relevant for j in relevant if run.index(i) <= run.index(j))
    qrels = pd.DataFrame({"query_id": "1", "doc_id": sorted(relevant), "relevance": 1})
    ranked = pd.DataFrame({"query_id": "1", "doc_id": run, "score": [float(-i) for i in range(len(run))]})
    assert total / len(relevant) == pytest.approx(ir_measures.calc_aggregate([AP], qrels, ranked)[AP])


@given(given=topics(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_what_a_label_changes_is_what_average_precision_changes(given, data):
    runs, labels = given
    one, other = ([doc for doc, _ in data.draw(st.sampled_from(runs))] for _ in range(2))
    docs = sorted(labels)
    doc = data.draw(st.sampled_from(docs))
    known = {each: data.draw(st.sampled_from([True, False, None])) for each in docs if each != doc}

    def difference(relevant):
        # the sum of x_i x_j / max(rank_i, rank_j) over i <= j, of one run minus the other
        pairs = [(i, j) for n, i in enumerate(docs) for j in docs[n:] if i in relevant and j in relevant]
        return sum(term(one, i, j) - term(other, i, j) for i, j in pairs)

    certain = {each for each, label in known.items() if label}
    possible = {each for each, label in known.items() if label is not False}
    if_relevant, if_not = pair_changes(one, other, doc, docs, known)
    assert if_relevant == pytest.approx(difference(certain | {doc}) - difference(certain))
    assert if_not == pytest.approx(difference(possible | {doc}) - difference(possible))
