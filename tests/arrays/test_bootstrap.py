"""What is drawn, and the interval that the draws give."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from joblib import parallel_config

from pt_reuse.arrays import bootstrap
from pt_reuse.arrays.bootstrap import (
    TopicBootstrap,
    TopicScores,
    drawn_counts,
    ranking_agreement,
    ranking_agreements,
    whole_changes,
)
from pt_reuse.arrays.correlation import tau_a


def both(topics=20, runs=12, seed=5):
    random = np.random.default_rng(seed)
    truth = (random.normal(0.4, 0.1, runs) + random.normal(0, 0.2, (topics, runs))).clip(0, 1).round(2)
    return TopicScores(truth), TopicScores((truth + random.normal(0, 0.1, truth.shape)).clip(0, 1).round(2))


# drawing


def test_a_t_interval_is_that_of_the_mean():
    """Of a mean, the spread of the draws times the root of n/(n-1) is the standard error, whatever the sample."""
    values, asked = np.random.default_rng(2).gamma(2.0, size=12), TopicBootstrap(40_000, 1, 0.9)
    drawn = asked.counts(12) @ values / 12
    expected = scipy.stats.t.interval(0.9, 11, values.mean(), scipy.stats.sem(values))
    assert asked.t_interval(values.mean(), drawn, 12) == pytest.approx(expected, rel=0.01)
    # two draws whose spread is exactly that
    exact = values.mean() + np.array([-1, 1]) * scipy.stats.sem(values) * np.sqrt(11 / 12) / np.sqrt(2)
    assert asked.t_interval(values.mean(), exact, 12) == pytest.approx(expected)
    with_gaps = np.append(drawn, np.nan)
    assert asked.t_interval(values.mean(), with_gaps, 12) == asked.t_interval(values.mean(), drawn, 12)
    for estimate, some, n_topics in (
        (np.nan, drawn, 12),
        (0.5, drawn[:1], 12),
        (0.5, np.full(9, np.nan), 12),
        (0.5, drawn, 1),
    ):
        assert np.isnan(asked.t_interval(estimate, some, n_topics)).all()


def test_none_and_all_of_n_have_a_one_sided_bound():
    asked, drawn = TopicBootstrap(200, 1, 0.95), np.random.default_rng(1).uniform(size=200)
    (low, high), (least, most) = asked.share(0, 81, np.zeros(200)), asked.share(81, 81, np.ones(200))
    assert (low, most) == (0, 1)
    assert scipy.stats.binom.cdf(0, 81, high) == pytest.approx(0.05)
    assert least == pytest.approx(1 - high)
    assert asked.share(20, 81, drawn) == asked.percentiles(20 / 81, drawn)
    assert np.isnan(asked.share(0, 0, np.full(200, np.nan))).all()


def test_draws_are_those_of_numpy_whatever_is_drawn_at_once(monkeypatch):
    positions = np.random.default_rng(3).integers(0, 7, (50, 7))
    expected = [np.bincount(row, minlength=7).tolist() for row in positions]
    assert TopicBootstrap(50, 3, 0.9).counts(7).tolist() == expected
    monkeypatch.setattr(bootstrap, "AT_ONCE", 20)
    blocks = list(drawn_counts(7, resamples=50, seed=3))
    assert {len(block) for block in blocks} == {2}
    assert np.concatenate(blocks).tolist() == expected
    assert TopicBootstrap(51, 4, 0.9).counts(7)[:50].tolist() != expected


# the interval


def test_an_interval_by_hand():
    drawn = np.array([0.5, 0.6, 0.7, 0.8, 0.9, np.nan])
    half = TopicBootstrap(6, 0, 0.5)
    # percentiles 25 and 75 of five draws are the second and the fourth
    assert half.percentiles(0.75, drawn) == pytest.approx((0.6, 0.8))
    # .6 is .15 away, so the other end is .15 away too
    assert half.interval(0.75, drawn) == pytest.approx((0.6, 0.9))
    assert half.interval(0.95, drawn, within=(-1, 1)) == pytest.approx((0.6, 1.0))
    assert half.interval(-0.9, -drawn, within=(-1, 1)) == pytest.approx((-1.0, -0.6))
    # both miss their estimate but for being made to have it
    assert half.percentiles(0.99, drawn) == pytest.approx((0.6, 0.99))
    assert half.interval(3, 10 * drawn, within=(0, 4), integer=True) == (0, 4)
    assert half.interval(7, 10 * drawn, integer=True) == (6, 8)


# of two rankings


def test_draws_in_which_all_runs_tie_are_counted_and_told(messages):
    values = np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.4]])
    made = TopicBootstrap(200, 1, 0.95)
    n_without = int((made.counts(3)[:, 2] == 0).sum())
    assert 30 < n_without < 90
    with pytest.warns(match=f"in {n_without} of 200 resamples"):
        row = ranking_agreement(TopicScores(values), TopicScores(values), made)
    assert (row["tau_b"], row["tau_b_low"], row["tau_b_high"]) == (1, 1, 1)
    messages.warned(ranking_agreement, truth=TopicScores(values), estimate=TopicScores(values), bootstrap=made)


def test_topics_of_a_run_alone_count_for_its_mean_in_a_draw():
    (truth, estimate), has = both(), np.ones((20, 12), dtype=bool)
    has[5:, 2] = False
    counts = TopicBootstrap(4, 0, 0.9).counts(20)
    found = TopicScores(truth.values, has).means(counts)
    for draw, mean in zip(counts, found, strict=True):
        assert mean[2] == pytest.approx(np.repeat(truth.values[:5, 2], draw[:5]).sum() / max(1, draw[:5].sum()))
        assert mean[3] == pytest.approx(np.repeat(truth.values[:, 3], draw).mean())
    row = ranking_agreement(
        TopicScores(truth.values, has), TopicScores(estimate.values, has), TopicBootstrap(30, 0, 0.9)
    )
    assert row["tau_b_low"] <= row["tau_b"] <= row["tau_b_high"]


@pytest.mark.parametrize(("n", "confidence"), [(2, 0.95), (10, 0.9), (20, 0.95), (53, 0.99)])
def test_an_expanded_interval_of_a_mean_is_as_wide_as_that_of_student(n, confidence):
    made = TopicBootstrap(9, seed=3, confidence=confidence)
    found = made.expanded(n)
    assert (found.resamples, found.seed) == (9, 3)
    # the normal distribution that the draws of a mean of n topics have, with a variance divided by n
    half = scipy.stats.norm.ppf((1 + found.confidence) / 2) * np.sqrt((n - 1) / n)
    assert half == pytest.approx(scipy.stats.t.ppf((1 + confidence) / 2, n - 1)) or found.confidence == 1
    assert found.confidence > confidence
    assert TopicBootstrap(9, 3, 0.95).expanded(10**9).confidence == pytest.approx(0.95)


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


# draws of rankings in jobs give the bits that they give in one process, and small ones do not ask joblib

random = np.random.default_rng(4)
TRUTH = TopicScores(random.random((7, 9)).round(1))
ESTIMATES = [TopicScores((TRUTH.values + random.random((7, 9)) / 2).round(1)) for _ in range(3)]


@pytest.fixture
def small_jobs(monkeypatch):
    """Have few rankings in a job, and note how many jobs are run at a time, and for whom."""
    ran = []

    def noted(jobs, total, **options):
        found = list(run_jobs(jobs, total, **options))
        ran.append((total, len(found), options["n_jobs"]))
        return iter(found)

    run_jobs = bootstrap.run_jobs
    monkeypatch.setattr(bootstrap, "JOB_CELLS", 90)
    monkeypatch.setattr(bootstrap, "run_jobs", noted)
    return ran


def several(n_jobs=None):
    compared = ((TRUTH, estimate) for estimate in ESTIMATES)
    return list(ranking_agreements(compared, 3, TopicBootstrap(47, 3, 0.9, n_jobs)))


def test_several_are_what_each_is_alone():
    assert several(1) == [ranking_agreement(TRUTH, estimate, TopicBootstrap(47, 3, 0.9)) for estimate in ESTIMATES]
    assert list(ranking_agreements([], 0, TopicBootstrap(47, 3, 0.9))) == []
    plain = list(ranking_agreements([(TRUTH, estimate) for estimate in ESTIMATES], 3, None))
    assert plain == [ranking_agreement(TRUTH, estimate) for estimate in ESTIMATES]


def test_jobs_and_backends_give_the_same_bits(small_jobs, monkeypatch):
    alone = several(1)
    assert small_jobs == []
    assert several(2) == alone
    assert small_jobs == [(3, 3, 2)]
    with parallel_config("threading", n_jobs=2):
        assert several() == alone
    assert small_jobs[1:] == [(3, 3, None)]
    monkeypatch.setattr(bootstrap, "AT_ONCE", 7 * 12)
    assert several(2) == several(1)
