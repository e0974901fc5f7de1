"""Each strategy against its slow version, on generated topics with ties, exhausted runs and skipped documents."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_strategies import numbered, pair_changes, topic_of, topics

from pt_reuse.pooling.adaptive.bandits import random_of_topic
from pt_reuse.pooling.adaptive.strategy import CHOOSERS, Strategy, as_strategy, judged_in_order


def asked_in_order(strategy, topic, labels, *, seed, budget=None):
    """Return the documents that a strategy asks for, those without a label among them.

    Labels are {document: True, False, or None for one that the judge skips}; one that is not there has none.
    """
    chooser, order = as_strategy(strategy).start(topic, seed), []
    while (budget is None or len(order) < budget) and (document := chooser.next()) is not None:
        order.append(topic.docnos[document])
        chooser.learn(document, labels.get(topic.docnos[document]))
    return order


def labelled(run, history):
    """Return the labels of a run's documents, in the order in which they came."""
    return [label for doc, label in history if label is not None and doc in run]


def unjudged(run, history):
    seen = [doc for doc, _ in history]
    return [doc for doc in run if doc not in seen]


def live(runs, history):
    return [r for r, run in enumerate(runs) if unjudged(run, history)]


def first_best(candidates, value, tolerance=0.0):
    candidates = list(candidates)
    best = max(map(value, candidates))
    return next(each for each in candidates if value(each) >= best - tolerance)


def by_value(runs, labels, next_document):
    """Judge all documents of some runs, each chosen by a function of the history."""
    history = []
    for _ in numbered(runs):
        doc = next_document(history)
        history.append((doc, labels[doc]))
    return [doc for doc, _ in history]


def mtf(runs, labels, random):
    priority, current, history, left = [0] * len(runs), None, [], live(runs, [])
    while left:
        if current not in left:
            current = first_best(left, lambda r: priority[r])
        doc = unjudged(runs[current], history)[0]
        history.append((doc, labels[doc]))
        if labels[doc] is False:
            priority[current] -= 1
            current = None
        left = live(runs, history)
    return [doc for doc, _ in history]


def mean_of(run, history, rate=1.0):
    relevant = judged = 0.0
    for label in labelled(run, history):
        relevant, judged = rate * relevant + label, rate * judged + 1
    return (1 + relevant) / (2 + judged)


def max_mean(runs, labels, random, rate=1.0):
    def choose(history):
        r = first_best(live(runs, history), lambda r: mean_of(runs[r], history, rate))
        return unjudged(runs[r], history)[0]

    return by_value(runs, labels, choose)


def max_mean_ns(runs, labels, random, rate=0.0):
    return max_mean(runs, labels, random, rate)


def epsilon_greedy(runs, labels, random, epsilon=0.1):
    def choose(history):
        left = live(runs, history)
        if random.random() < epsilon:
            r = left[random.integers(len(left))]
        else:
            r = first_best(left, lambda r: mean_of(runs[r], history))
        return unjudged(runs[r], history)[0]

    return by_value(runs, labels, choose)


def ucb1_tuned(runs, labels, random):
    def choose(history):
        n = sum(label is not None for _, label in history)

        def bound(r):
            rewards = [float(label) for label in labelled(runs[r], history)]
            if not rewards:
                return math.inf
            mean = sum(rewards) / len(rewards)
            variance = sum(x * x for x in rewards) / len(rewards) - mean**2
            variance += math.sqrt(2 * math.log(n) / len(rewards))
            return mean + math.sqrt(math.log(n) / len(rewards) * min(1 / 4, variance))

        return unjudged(runs[first_best(live(runs, history), bound, 1e-12)], history)[0]

    return by_value(runs, labels, choose)


def thompson(runs, labels, random):
    def choose(history):
        draws = {}
        for r in live(runs, history):
            rewards = labelled(runs[r], history)
            draws[r] = random.beta(1 + sum(rewards), 1 + len(rewards) - sum(rewards))
        return unjudged(runs[first_best(draws, draws.get)], history)[0]

    return by_value(runs, labels, choose)


def hedge(runs, labels, random, beta=0.1):
    docs = numbered(runs)
    n = len(docs)
    with localcontext() as exact:
        exact.prec = 50
        logs = [Decimal(n) / rank for rank in range(1, n + 1)]
        at = [ratio.ln() / 2 for ratio in logs]
        # of each run the gain by each document
        gains = []
        for run in runs:
            free = at[len(run) :]
            mean = sum(free, Decimal(0)) / len(free) if free else None
            ranks = {doc: i for i, doc in enumerate(run)}
            gains.append({doc: at[ranks[doc]] if doc in ranks else mean for doc in docs})
        speed = -Decimal(beta).ln()

        def choose(history):
            known = [(doc, label) for doc, label in history if label is not None]
            sums = [sum((gain[doc] if label else -gain[doc] for doc, label in known), Decimal(0)) for gain in gains]
            weights = [(speed * (each - max(sums))).exp() for each in sums]
            total = sum(weights)
            seen = {doc for doc, _ in history}
            left = [doc for doc in docs if doc not in seen]
            expected = {doc: sum(w / total * gain[doc] for w, gain in zip(weights, gains, strict=True)) for doc in left}
            return first_best(left, expected.get, Decimal("1e-12"))

        return by_value(runs, labels, choose)


def mtc_weight(runs, doc, docs, known):
    changes = [pair_changes(a, b, doc, docs, known) for a, b in combinations(runs, 2)]
    if not changes:
        return 0.0
    return max(sum(pair[outcome] ** 2 for pair in changes) / len(changes) for outcome in (0, 1))


def mtc(runs, labels, random):
    docs = numbered(runs)

    def choose(history):
        known = dict(history)
        left = [doc for doc in docs if doc not in known]
        return first_best(left, lambda doc: mtc_weight(runs, doc, docs, known), 1e-12)

    return by_value(runs, labels, choose)


def rank(runs, labels, random):
    return numbered(runs)


def fused(runs, values):
    """Return the documents by the sum of what the runs give; values are exact: (run, document, rank from 1) -> one."""
    total = {
        doc: sum((values(r, doc, run.index(doc) + 1) for r, run in enumerate(runs) if doc in run), Fraction(0))
        for doc in numbered(runs)
    }
    return sorted(total, key=lambda doc: -total[doc])


def rrf(runs, labels, random, k=60):
    return fused(runs, lambda r, doc, rank: Fraction(1, k + rank))


def rbp(runs, labels, random):
    return fused(runs, lambda r, doc, rank: Fraction(1, 5) * Fraction(4, 5) ** (rank - 1))


def borda(runs, labels, random):
    c = len(numbered(runs))
    return fused(runs, lambda r, doc, rank: c - rank + 1 - Fraction(c - len(runs[r]) + 1, 2))


def min_max(scored, r, doc):
    scores = {name: Fraction(score) for name, score in scored[r]}
    low, high = min(scores.values()), max(scores.values())
    return (scores[doc] - low) / (high - low) if high > low else Fraction(0)


def combsum(runs, labels, random, scored):
    return fused(runs, lambda r, doc, rank: min_max(scored, r, doc))


def combmnz(runs, labels, random, scored):
    return fused(runs, lambda r, doc, rank: min_max(scored, r, doc) * sum(doc in run for run in runs))


def random(runs, labels, random):
    docs = numbered(runs)
    return [docs[i] for i in random.permutation(len(docs))]


#: name of a strategy -> its slow version
SLOW = {
    "mtf": mtf, "max-mean": max_mean, "max-mean-ns": max_mean_ns, "epsilon-greedy": epsilon_greedy,
    "ucb1-tuned": ucb1_tuned, "thompson": thompson, "hedge": hedge, "mtc": mtc,
    "rank": rank, "rrf": rrf, "rbp": rbp, "combsum": combsum, "combmnz": combmnz, "borda": borda, "random": random,
}  # fmt: skip


def slow_order(name, scored, labels, random, **options):
    """Return the documents as a strategy has them judged; the runs are tried in the order of the first numbers."""
    scored = [scored[r] for r in random.permutation(len(scored))]
    runs = [[doc for doc, _ in run] for run in scored]
    more = {"scored": scored} if name in ("combsum", "combmnz") else {}
    return SLOW[name](runs, labels, random, **more, **options)


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


@given(given=topics(), seed=SEEDS, budget=st.integers(0, 10))
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
