"""Strategies by name, by class and with options: all is checked before a run is read; labels nobody asked for."""

from __future__ import annotations

import numpy as np
import pytest
from reference_strategies import topic_of

import pt_reuse as ptr
from pt_reuse.pooling.adaptive.document_weights import Hedge
from pt_reuse.pooling.adaptive.strategy import CHOOSERS, as_strategy, judged_in_order

RUNS = [[("a", 2), ("b", 1)], [("c", 2), ("a", 1)]]


class Last(ptr.pools.Chooser):
    """The document of the worst best rank."""

    name = "last"

    def choose(self):
        return int(np.flatnonzero(self.left)[-1])

    def observe(self, document, relevant):
        """Learn nothing."""


class Depth(Last):
    name = "depth"

    def __init__(self, topic, random, *, depth):
        super().__init__(topic, random)
        if depth < 1:
            raise ptr.InputError("depth must be at least 1.", argument="depth")


@pytest.mark.parametrize("given", ["hedge", Hedge, ptr.pools.Strategy("hedge"), ptr.pools.Strategy(Hedge)], ids=repr)
def test_a_strategy_is_given_by_name_by_class_or_as_it_is(given):
    strategy = as_strategy(given)
    assert strategy.kind is Hedge
    assert strategy.name == "hedge"
    assert repr(strategy) == "Strategy(hedge)"


def test_a_strategy_of_ones_own_needs_its_class_alone():
    topic = topic_of(RUNS)
    order = judged_in_order(as_strategy(Last), topic, np.zeros(3, dtype=np.int8), seed=0, budget=9)
    assert [topic.docnos[document] for document in order.tolist()] == ["b", "a", "c"]
    assert "last" not in CHOOSERS
    assert Last(topic, np.random.default_rng()).reason(0) == ""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("epsilon-greedy", {"epsilon": 1.01}),
        ("epsilon-greedy", {"epsilon": float("nan")}),
        ("epsilon-greedy", {"epsilon": True}),
        ("epsilon-greedy", {"epsilon": "0.1"}),
        ("epsilon-greedy", {"epsilom": 0.1}),
        ("max-mean", {"rate": 0.1}),
        ("max-mean-ns", {"rate": -0.1}),
        ("hedge", {"beta": 0}),
        ("hedge", {"beta": 1}),
        ("rrf", {"k": -1}),
        ("rbp", {"p": 1}),
        ("combsum", {"norm": "minmax"}),
        ("combmnz", {"norm": None}),
        (Depth, {}),
        (Depth, {"depth": 0}),
    ],
    ids=str,
)
def test_options_are_checked_at_once(name, options, messages):
    messages.refused(lambda: ptr.pools.Strategy(name, **options), argument=next(iter(options), "depth"))


def test_a_label_that_nobody_asked_for_is_refused(messages):
    chooser = ptr.pools.Strategy("rank").start(topic_of(RUNS, qid="301"), seed=0)
    messages.refused(lambda: chooser.learn(0, True), argument="document")
    assert chooser.next() == 0
    messages.refused(lambda: chooser.learn(1, True), argument="document")
    messages.refused(lambda: chooser.learn(-1, True), argument="document")
    messages.refused(lambda: chooser.learn(7, True), argument="document")
    chooser.learn(0, True)
    messages.refused(lambda: chooser.learn(0, True), argument="document")
    assert chooser.n_left == 2


class Told(Last):
    """Chooses what it is told to."""

    name = "told"
    said = 0

    def choose(self):
        return self.said


@pytest.mark.parametrize("said", [0, -1, 3, 2**70, None, "a", 1.0, True, np.array([1])], ids=repr)
def test_a_choice_that_is_no_document_left_is_refused(said, messages, monkeypatch):
    chooser = ptr.pools.Strategy(Told).start(topic_of(RUNS, qid="301"), seed=0)
    chooser.learn(chooser.next(), True)
    monkeypatch.setattr(Told, "said", said)
    messages.refused(chooser.next)
    monkeypatch.setattr(Told, "said", np.int64(1))
    assert type(chooser.next()) is int
    chooser.learn(1, True)
    assert chooser.n_left == 1
