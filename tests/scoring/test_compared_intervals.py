"""Intervals of Scores.compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement

OF_RANKINGS = ("tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_b", "max_drop", "max_rise")


@pytest.fixture(scope="module")
def both():
    field = ptr.simulate_field(seed=7, n_topics=12)
    return tuple(ptr.score(field.runs, qrels, ["AP", "P@10"]) for qrels in (field.all_qrels, field.qrels))


def test_ends_are_those_of_the_rankings(both):
    one, other = both
    found = one.compare(other, resamples=40, seed=3, confidence=0.8)
    for row in found.table.to_dict("records"):
        sides = [TopicScores(scores.of(row["measure"]).to_numpy()) for scores in both]
        names = OF_RANKINGS[:5]
        assert row.items() >= ranking_agreement(*sides, TopicBootstrap(40, 3, 0.8), coefficients=names).items() or (
            np.isnan(row["tau_ap"])
        )
        assert row["tau_b_low"] < row["tau_b"] < row["tau_b_high"] <= 1
    columns = list(found.table)
    assert columns[:4] == ["measure", "tau_a", "tau_a_low", "tau_a_high"]
    assert columns[columns.index("weighted_tau") + 1] == "max_drop"
    assert pd.api.types.is_integer_dtype(found.table["max_rise_high"])


def test_topics_in_another_order_are_matched(both):
    field = ptr.simulate_field(seed=7, n_topics=12)
    turned = ptr.score(field.runs, field.qrels.select(field.qrels.topics[::-1]), ["P@10", "AP"])
    found = both[0].compare(turned, resamples=20, seed=1).table
    pd.testing.assert_frame_equal(found, both[0].compare(both[1], resamples=20, seed=1).table)


def test_refused_and_told(both, messages):
    field = ptr.simulate_field(seed=7, n_topics=12)
    part = ptr.score(field.runs, field.qrels.select(field.qrels.topics[:4]), ["AP", "P@10"])
    messages.refused(both[0].compare, argument="resamples", other=part, resamples=10)
    assert len(both[0].compare(part).table) == 2
    messages.refused(both[0].compare, argument="resamples", other=part, resamples=0.5)
    messages.refused(both[0].compare, argument="confidence", other=both[1], confidence=2)
    found = messages.warned(part.compare, times=1, other=part, resamples=10)
    assert found.table["tau_b_low"].tolist() == [1, 1]
