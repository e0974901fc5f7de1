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


def walk(name, lists, relevant, skipped="", **options):
    """Return the documents and reasons; the runs are tried in the order in which they are given."""
    chooser = CHOOSERS[name](lists, np.random.default_rng(0), **options)
    docs, reasons = [], []
    while (document := chooser.next()) is not None:
        doc = lists.docnos[document]
        docs.append(doc)
        reasons.append(chooser.reason(document))
        chooser.learn(document, None if doc in skipped else doc in relevant)
    return "".join(docs), reasons


TWO = topic("abc", "dbe")


def test_move_to_front():
    # A: a is relevant, stay; b is not, A falls to -1; B: d, b is judged already, e; then what A has left
    docs, reasons = walk("mtf", TWO, "ade")
    assert docs == "abdec"
    assert reasons == [
        "run 'r0', priority 0, rank 1",
        "run 'r0', priority 0, rank 2",
        "run 'r1', priority 0, rank 1",
        "run 'r1', priority 0, rank 3",
        "run 'r0', priority -1, rank 3",
    ]
    # a document without a label teaches nothing: A is kept
    assert walk("mtf", TWO, "ade", skipped="b")[0] == "abcde"


def test_max_mean():
    # A: a is relevant, 2/3; b is not, A 2/4 and B, which has it, too, 1/3; so A again: c
    docs, reasons = walk("max-mean", TWO, "ade")
    assert docs == "abcde"
    means = [reason.split(", ")[1] for reason in reasons]
    assert means == ["mean 0.5", "mean 0.667", "mean 0.5", "mean 0.333", "mean 0.5"]


def test_the_non_stationary_mean_forgets():
    lists = topic("abcf", "de")
    # A: two relevant, one not, (1 + 2) / (2 + 3) = .6 against .5 of B; by its last label alone it is 1/3
    assert walk("max-mean", lists, "abde")[0] == "abcfde"
    assert walk("max-mean-ns", lists, "abde")[0] == "abcdef"
    # rate .8: relevant .8 (.8 + 1) = 1.44, judged .8 (.8 + 1) + 1 = 2.44, mean 2.44 / 4.44 = .55
    docs, reasons = walk("max-mean-ns", lists, "abde", rate=0.8)
    assert docs == "abcfde"
    assert reasons[3] == "run 'r0', mean 0.55, rank 4"


def test_upper_confidence_bounds():
    # both runs are new at first; b's label counts for both
    docs, reasons = walk("ucb1-tuned", TWO, "ade")
    assert docs[:2] == "ad"
    assert reasons[:2] == [f"run 'r{r}', none of its documents has a label, rank 1" for r in (0, 1)]
    # n = 2, p = 1 of 1 label: 1 + sqrt(ln 2 * min(1/4, sqrt(2 ln 2))) = 1 + sqrt(.1733) = 1.416
    assert reasons[2] == "run 'r0', bound 1.42, rank 2"


def test_thompson_says_what_it_drew():
    _, reasons = walk("thompson", TWO, "ade")
    assert reasons[0].endswith("from Beta(1, 1), rank 1")
    assert all(", drew 0." in reason for reason in reasons)


def test_hedge():
    # 3 documents: gains ln(3) / 2 = .549, ln(1.5) / 2 = .203, 0; a list of 2 leaves rank 3 free, a gain of 0
    lists = topic("ab", "cb")
    # a and c: .549 / 2 = .275; b: .203; c is before a by name
    docs, reasons = walk("hedge", lists, "")
    assert docs[0] == "c"
    assert reasons[0] == "expected gain 0.275"
    # c is not relevant: the second run's weight is .1^.549 = .282, its share .220, the first run's .780: a .780 * .549
    assert docs == "cab"
    assert reasons[1] == "expected gain 0.428"
    # c is relevant: the shares change places; a .220 * .549 = .121, b .203
    docs, reasons = walk("hedge", lists, "c")
    assert docs == "cba"
    assert reasons[1] == "expected gain 0.203"


def test_minimal_test_collection():
    # c: 1/3 - 1 by itself, with a 1/3 - 1/2, with b 1/3 - 1/3: -.667 if relevant, -.833 if not; a: .5 and .5
    docs, reasons = walk("mtc", topic("abc", "cab"), "c")
    assert docs == "cab"
    assert reasons[0] == "differences change by 0.667 if relevant, by 0.833 if not"
    # c is relevant: a adds 1/2 - 1/6 if relevant, and takes 1/2 + 1/6 - 1/6 if not
    assert reasons[1] == "differences change by 0.333 if relevant, by 0.5 if not"
    # c is not: a adds 1/2 if relevant, and takes 1/2 + 1/6 if not
    assert walk("mtc", topic("abc", "cab"), "")[1][1] == "differences change by 0.5 if relevant, by 0.667 if not"


def test_fixed_orders_say_their_place():
    assert walk("rank", TWO, "")[1][1] == "place 2 of 5"
    assert walk("rrf", TWO, "")[1][0] == "fused score 0.03226, place 1 of 5"  # b: 2 / 62


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
