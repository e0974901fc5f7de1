"""Saturation: medians over the runs against numpy and plain sorting."""

from __future__ import annotations

import statistics
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pt_reuse as ptr


def scores_of(values, *, measure="P@10", complete=True, has_topic=None):
    """Return Scores of (topics, runs) values under one measure."""
    values = np.asarray(values, dtype=float)
    n_topics, n_runs = values.shape
    table = pd.DataFrame({"name": [f"r{n}" for n in range(n_runs)], "team": None, "type": None})
    return ptr.Scores(
        run_table=table,
        topics=[str(n) for n in range(1, n_topics + 1)],
        measures=[measure],
        values=values[None],
        complete=complete,
        has_topic=np.ones(values.shape, dtype=bool) if has_topic is None else np.asarray(has_topic),
        settings={"order": "trec_eval"},
    )


#: topics x runs: all at the maximum, half at it, just below half, all tied at 0
VALUES = [[1, 1, 1, 1, 1], [1, 1, 1, 0.2, 0], [1, 1, 0.9, 0.9, 0], [0, 0, 0, 0, 0]]


def test_by_hand():
    found = ptr.profile.saturation(scores_of(VALUES))
    assert found.table["highest"].tolist() == [1, 1, 1, 0]
    (summary,) = found.summary.to_dict("records")
    assert summary == {
        "measure": "P@10",
        "topics": 4,
        "saturated": 2,
        "near": 3,
        "mean_median": pytest.approx(2.9 / 4),
        "saturated_topics": "1 2",
    }


def test_sums_that_miss_the_maximum_by_a_bit_are_at_it():
    # sum() of Python 3.12 and later does not miss it
    found = ptr.profile.saturation(scores_of([[reduce(add, [0.1] * 10)] * 5]))
    assert found.scores.values.max() < 1
    assert found.table[["saturated", "at_maximum"]].values.tolist() == [[True, 5]]


@given(st.lists(st.lists(st.integers(0, 10), min_size=5, max_size=5), min_size=1, max_size=4), st.integers(0, 10))
@settings(max_examples=15, deadline=None)
def test_medians_and_quartiles_are_those_of_the_standard_library(tenths, share):
    values = np.array(tenths) / 10
    found = ptr.profile.saturation(scores_of(values), share=share / 10)
    for row, of in zip(found.table.to_dict("records"), values.tolist(), strict=True):
        assert row["median"] == statistics.median(of)
        low, _, high = statistics.quantiles(of, n=4, method="inclusive")
        assert (row["low_quartile"], row["high_quartile"]) == (pytest.approx(low), pytest.approx(high))
        assert row["saturated"] == (sorted(of)[2] == 1)
        assert row["near"] == (sorted(of)[2] * 10 >= share)
        assert row["at_maximum"] == of.count(1.0)


def test_runs_without_a_topic_count_0_or_not_at_all():
    has = [[True, True, True, False, False, True, True]]
    values = [[1, 1, 1, 0, 0, 0.5, 0.5]]
    all_ = ptr.profile.saturation(scores_of(values, has_topic=has))
    own = ptr.profile.saturation(scores_of(values, has_topic=has, complete=False))
    assert (all_.table["runs"].tolist(), all_.table["median"].tolist()) == ([7], [0.5])
    assert (own.table["runs"].tolist(), own.table["median"].tolist()) == ([5], [1.0])
    nobody = ptr.profile.saturation(scores_of(values, has_topic=[[False] * 7], complete=False))
    assert nobody.table["median"].isna().all()
    assert nobody.summary[["saturated", "near"]].values.tolist() == [[0, 0]]


def test_what_cannot_be(messages):
    scores = scores_of(VALUES)
    messages.refused(lambda: ptr.profile.saturation(scores.mean), argument="scores")
    messages.refused(lambda: ptr.profile.saturation(scores_of([[7, 0, 0, 0, 0]])), argument="maximum")
