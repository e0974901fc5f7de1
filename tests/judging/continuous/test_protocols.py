"""Conditions, decisions, batches and evaluation sets of protocols, by hand."""

from __future__ import annotations

import pytest

from pt_reuse.judging import (
    AutoTAR,
    DenseTopic,
    FewJudged,
    FruitfulBatch,
    NoBatchYet,
    Progress,
    Protocol,
    TrecDL2021,
)
from pt_reuse.judging.protocols import Status


def at(judged=200, relevant=0, batches=1, batch=(20, 0), asked=None):
    return Progress(
        asked=judged if asked is None else asked,
        judged=judged,
        relevant=relevant,
        batches=batches,
        batch_judged=batch[0],
        batch_relevant=batch[1],
    )


def test_a_topic_is_dense_above_one_half_and_not_at_it():
    assert not DenseTopic().holds(at(judged=100, relevant=50))
    assert DenseTopic().holds(at(judged=100, relevant=51))
    assert DenseTopic(0.25).holds(at(judged=100, relevant=26))
    assert DenseTopic().why(at(judged=200, relevant=101)) == "density .505 > .5"


@pytest.mark.parametrize(
    ("batches", "relevant", "goes_on"),
    [(1, 2, False), (1, 3, True), (2, 3, True), (3, 3, False), (3, 4, False), (3, 5, True), (0, 20, False)],
)
def test_a_batch_is_fruitful_above_a_fifth_and_at_first_above_a_tenth(batches, relevant, goes_on):
    assert FruitfulBatch().holds(at(batches=batches, batch=(20, relevant))) is goes_on
    assert FruitfulBatch(early_batches=0).holds(at(batches=1, batch=(20, 4))) is False


@pytest.mark.parametrize(
    ("progress", "left", "status"),
    [
        (at(), 0, Status.EXHAUSTED),
        (at(judged=150, relevant=113), 5, Status.ABANDONED),
        (at(judged=149, relevant=149), 5, Status.GOES_ON),
        (at(judged=150, relevant=112), 5, Status.GOES_ON),
        (at(judged=350, relevant=10, batches=9), 5, Status.FINISHED),
        (at(judged=350, relevant=200, batches=9), 5, Status.TOPIC_BUDGET),
        (at(judged=349, relevant=200, batches=9), 5, Status.GOES_ON),
        (at(judged=200, batches=0), 5, Status.GOES_ON),
    ],
)
def test_what_the_track_of_2021_decides(progress, left, status):
    assert TrecDL2021().decide(progress, left).status is status


def test_the_conditions_of_the_track_are_named_and_each_alone_keeps_a_topic_going():
    names = {type(condition) for condition in TrecDL2021().goes_on_while}
    assert names == {DenseTopic, FewJudged, NoBatchYet, FruitfulBatch}
    for progress, kind in (
        (at(relevant=101), DenseTopic),
        (at(judged=149), FewJudged),
        (at(batches=0, batch=(0, 0)), NoBatchYet),
        (at(batch=(20, 3)), FruitfulBatch),
    ):
        assert [type(c) for c in TrecDL2021().goes_on_while if c.holds(progress)] == [kind]
        without = [c for c in TrecDL2021().goes_on_while if not isinstance(c, kind)]
        assert TrecDL2021().decide(progress, 9).status is Status.GOES_ON
        assert TrecDL2021(goes_on_while=without).decide(progress, 9).status is Status.FINISHED


def test_which_topics_enter_the_evaluation_set():
    protocol = TrecDL2021()
    assert protocol.evaluated(Status.FINISHED, at(relevant=3))
    assert not protocol.evaluated(Status.FINISHED, at(relevant=2))
    assert protocol.evaluated(Status.TOPIC_BUDGET, at(relevant=150))
    assert not protocol.evaluated(Status.TOPIC_BUDGET, at(relevant=151))
    assert not protocol.evaluated(Status.ABANDONED, at(relevant=100))
    assert not Protocol(topic_budget=1, evaluate_from=0).evaluated(Status.TOTAL_BUDGET, Progress())


def test_batches_of_one_size_and_growing_ones():
    assert TrecDL2021().next_batch(None) == TrecDL2021().next_batch(20) == 20
    # Cormack and Grossman 2015: B grows by ceil(B / 10)
    size, expected = None, 1
    for _ in range(60):
        size = AutoTAR(topic_budget=9).next_batch(size)
        assert size == expected
        expected += -(-expected // 10)
    assert size > 500


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("pool_depth", 0),
        ("pool_order", "best"),
        ("batch", 0),
        ("batch", None),
        ("batch", 2.5),
        ("growth", -0.1),
        ("growth", float("nan")),
        ("growth", "much"),
        ("query_seed", "yes"),
        ("presumed_negatives", -1),
        ("goes_on_while", ("few judged",)),
        ("goes_on_while", FewJudged),
        ("topic_budget", -1),
        ("total_budget", 0),
        ("abandon_above", 1.5),
        ("abandon_from", 0),
        ("evaluate_up_to", -0.5),
        ("evaluate_from", -1),
    ],
)
def test_options_that_are_none(argument, value, messages):
    messages.refused(lambda: TrecDL2021(**{argument: value}), argument=argument)
