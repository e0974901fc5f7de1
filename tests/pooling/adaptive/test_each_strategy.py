"""Each strategy against its slow version, on generated topics with ties, exhausted runs and skipped documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_strategies import SLOW, slow_order, topic_of, topics
from strategy_parts import asked_in_order

from pt_reuse.pooling.adaptive.chooser import random_of_topic
from pt_reuse.pooling.adaptive.strategy import CHOOSERS, Strategy, judged_in_order

OPTIONS = [
    ("max-mean-ns", {"rate": 0.5}),
    ("max-mean-ns", {"rate": 1}),
    ("epsilon-greedy", {"epsilon": 0.5}),
    ("epsilon-greedy", {"epsilon": 1}),
    ("hedge", {"beta": 0.9}),
    ("rrf", {"k": 1}),
]
CASES = [*((name, {}) for name in CHOOSERS), *OPTIONS]
SEEDS = st.integers(0, 3)


def coded(topic, labels):
    return np.array([{True: 1, False: 0, None: -1}[labels[doc]] for doc in topic.docnos], dtype=np.int8)


def order_of(name, runs, labels, seed, budget=10**6, **options):
    """Return the documents that get a label, in the order in which they do."""
    topic = topic_of(runs)
    order = judged_in_order(Strategy(name, **options), topic, coded(topic, labels), seed=seed, budget=budget)
    return [topic.docnos[document] for document in order.tolist()]


def asked_of(name, runs, labels, seed, **options):
    """Return all documents, those without a label too, in the order in which they are asked for."""
    return asked_in_order(Strategy(name, **options), topic_of(runs), labels, seed=seed)


def test_every_strategy_has_a_slow_version():
    assert list(SLOW) == list(CHOOSERS)
    assert [kind.name for kind in CHOOSERS.values()] == list(CHOOSERS)


@given(given=topics(), seed=SEEDS)
@settings(max_examples=50, deadline=None)
def test_each_asks_for_what_its_slow_version_asks_for(given, seed):
    runs, labels = given
    pool = sorted({doc for run in runs for doc, _ in run})
    for name, options in CASES:
        expected = slow_order(name, runs, labels, random_of_topic(seed, "1"), **options)
        assert asked_of(name, runs, labels, seed, **options) == expected, name
        assert sorted(expected) == pool, name


@pytest.mark.parametrize("name", ["ucb1-tuned", "thompson", "hedge", "mtc"])
def test_long_lists(name):
    random = np.random.default_rng(11)
    docs = [f"d{i:03}" for i in range(40)]
    runs = [[(doc, -i) for i, doc in enumerate(random.permutation(docs)[: random.integers(1, 31)])] for _ in range(7)]
    found = sorted({doc for run in runs for doc, _ in run})
    labels = {doc: bool(random.random() < 0.3) for doc in found}
    runs = [[(str(doc), score) for doc, score in run] for run in runs]
    assert order_of(name, runs, labels, 5) == slow_order(name, runs, labels, random_of_topic(5, "1"))


def mirrored(n, copies, change):
    """Return runs and labels of so many runs that have no document in common, and the same labels at the same ranks."""
    runs = [[(f"{c}-{i:03}", -i) for i in range(n)] for c in range(copies)]
    return runs, {doc: bool(i < change or i % 3 == 0) for run in runs for i, (doc, _) in enumerate(run)}


def test_hedge_chooses_as_exact_numbers_do_after_hundreds_of_labels():
    runs, labels = mirrored(170, 3, 30)
    assert len(labels) == 510
    assert order_of("hedge", runs, labels, 5) == slow_order("hedge", runs, labels, random_of_topic(5, "1"))


def tell(chooser, document, label):
    """Give a label to a document, whichever the strategy would have asked for."""
    chooser.left[document] = False
    chooser.leave(document)
    chooser.observe(document, bool(label))


def test_hedge_knows_a_tie_whatever_the_weights_went_through():
    runs, _ = mirrored(400, 2, 0)
    topic = topic_of(runs)
    number = {doc: i for i, doc in enumerate(topic.docnos)}
    chooser = CHOOSERS["hedge"](topic, np.random.default_rng(0), beta=1e-6)
    # one run is far ahead first, and then the other as far
    for run in runs:
        for doc, _ in run[:300]:
            tell(chooser, number[doc], True)
    assert chooser.choose() == min(number["0-300"], number["1-300"])


@pytest.mark.parametrize("name", ["hedge", "mtc", "ucb1-tuned", "max-mean"])
def test_the_order_of_labels_leaves_no_trace(name):
    random = np.random.default_rng(4)
    runs = [[(f"d{i:03}", -r) for r, i in enumerate(random.permutation(400)[:300])] for _ in range(6)]
    topic = topic_of(runs)
    judged = random.permutation(len(topic))[:350]
    labels = random.random(len(topic)) < 0.4
    weights = {"hedge": ("_weight",), "mtc": ("_if_relevant", "_if_not")}.get(name, ())
    said = []
    for order in (judged, judged[::-1], random.permutation(judged)):
        chooser = CHOOSERS[name](topic, np.random.default_rng(0))
        for document in order.tolist():
            tell(chooser, document, labels[document])
        learnt = [getattr(chooser, weight)[np.r_[-6:0]].tolist() for weight in weights]
        said.append([chooser.choose(), learnt])
    assert said[0] == said[1] == said[2]


@given(given=topics(), seed=SEEDS, budget=st.integers(0, 10))
@settings(max_examples=20, deadline=None)
def test_a_budget_counts_labels_and_is_a_prefix(given, seed, budget):
    runs, labels = given
    labelled = sorted(doc for doc, label in labels.items() if label is not None)
    for name in CHOOSERS:
        asked = asked_of(name, runs, labels, seed)
        whole = [doc for doc in asked if labels[doc] is not None]
        assert sorted(whole) == labelled, name
        assert order_of(name, runs, labels, seed, budget=budget) == whole[:budget], name
        assert order_of(name, runs, labels, seed, budget=len(labels) + 5) == whole, name


@pytest.mark.parametrize("runs", [[], [[]], [[], []], [[("d", 1)]], [[], [("d", 1)]]], ids=len)
def test_no_run_no_document_and_one_document(runs):
    for name in CHOOSERS:
        assert asked_of(name, runs, {"d": True}, 0) == ["d"] * any(runs), name


@given(given=topics(), seed=SEEDS, n=st.integers(0, 8))
@settings(max_examples=15, deadline=None)
def test_fed_the_same_labels_again_it_stands_where_it_stood(given, seed, n):
    runs, labels = given
    topic = topic_of(runs)
    for name in CHOOSERS:
        one, again = (Strategy(name).start(topic, seed) for _ in range(2))
        judged = []
        while len(judged) < n and (document := one.next()) is not None:
            assert one.next() == document, "asked again before the label came"
            one.learn(document, labels[topic.docnos[document]])
            judged.append(document)
        for document in judged:
            assert again.next() == document
            again.learn(document, labels[topic.docnos[document]])
        assert again.next() == one.next()
        assert again.n_left == one.n_left == len(topic) - len(judged)
        if (document := one.next()) is not None:
            assert again.reason(document) == one.reason(document) != ""
