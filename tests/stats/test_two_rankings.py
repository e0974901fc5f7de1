import numpy as np
import pytest
import scipy.stats

from pt_reuse.stats.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.stats.significance import pair_tests
from pt_reuse.stats.two_rankings import TopicScores, ranking_agreement


def scores(topics=12, runs=7):
    random = np.random.default_rng(5)
    truth = random.random((topics, runs)).round(2)
    return truth, np.clip(truth + random.normal(0, 0.2, truth.shape), 0, 1).round(2)


def test_numbers_without_a_bootstrap_are_those_of_the_means():
    truth, estimate = scores()
    row = ranking_agreement(TopicScores(truth), TopicScores(estimate))
    assert row["tau_b"] == pytest.approx(scipy.stats.kendalltau(truth.mean(axis=0), estimate.mean(axis=0)).statistic)
    assert set(row) == {"tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"}


def test_an_interval_is_of_draws_of_both_together():
    truth, estimate = scores()
    row = ranking_agreement(TopicScores(truth), TopicScores(estimate), TopicBootstrap(200, 3, 0.9))
    assert row["tau_b_low"] <= row["tau_b"] <= row["tau_b_high"]
    alike = ranking_agreement(TopicScores(truth), TopicScores(truth), TopicBootstrap(50, 3, 0.9))
    assert (alike["tau_b_low"], alike["tau_b_high"], alike["max_drop_high"]) == (1, 1, 0)


def test_topics_of_a_run_alone_count_for_its_mean():
    truth, _ = scores()
    has = np.ones(truth.shape, dtype=bool)
    has[3:, 2] = False
    assert TopicScores(truth, has).means()[0, 2] == pytest.approx(truth[:3, 2].mean())


def test_every_pair_is_tested_as_scipy_tests_it():
    truth, _ = scores()
    truth[:, 6] = truth[:, 0]
    found = pair_tests(truth)
    for i, j, d, p in zip(found.first, found.second, found.difference, found.p, strict=True):
        expected = 1.0 if (i, j) == (0, 6) else scipy.stats.ttest_rel(truth[:, i], truth[:, j]).pvalue
        assert d == pytest.approx((truth[:, i] - truth[:, j]).mean())
        assert p == pytest.approx(expected, rel=1e-12)


def test_no_resamples_are_no_bootstrap():
    assert checked_bootstrap(resamples=0, seed=0, confidence=0.95) is None
    assert checked_bootstrap(resamples=10, seed=1, confidence=0.9) == TopicBootstrap(10, 1, 0.9)
