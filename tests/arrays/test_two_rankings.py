import numpy as np
import pandas as pd

from pt_reuse.arrays.bootstrap import TopicScores, ranking_agreement, whole_changes
from pt_reuse.arrays.correlation import tau_a


def scores(topics=12, runs=7):
    random = np.random.default_rng(5)
    truth = random.random((topics, runs)).round(2)
    return truth, np.clip(truth + random.normal(0, 0.2, truth.shape), 0, 1).round(2)


def test_coefficients_are_those_asked_for_and_topics_may_differ_without_intervals():
    truth, estimate = scores()
    row = ranking_agreement(TopicScores(truth), TopicScores(estimate[:9]), coefficients=("tau_a", "tau_ap"))
    assert list(row) == ["tau_a", "tau_ap", "max_drop", "max_rise"]
    assert row["tau_a"] == tau_a(truth.mean(axis=0), estimate[:9].mean(axis=0))


def test_some_topics_and_runs():
    truth, _ = scores()
    part = TopicScores(truth, truth > 0.5).of([3, 1], [6, 0])
    np.testing.assert_array_equal(part.values, truth[[3, 1]][:, [6, 0]])
    np.testing.assert_array_equal(part.has_topic, (truth > 0.5)[[3, 1]][:, [6, 0]])


def test_changes_of_rank_are_whole_numbers_where_there_are_any():
    table = pd.DataFrame({"tau_b": [1.0], "max_drop": [2.0], "own_max_drop_low": [0.0], "max_rise_high": [np.nan]})
    table = table.assign(rise_low=-1.0, mean_rise=0.5)
    kinds = ["float64", "int64", "int64", "float64", "int64", "float64"]
    assert whole_changes(table).dtypes.map(str).tolist() == kinds
