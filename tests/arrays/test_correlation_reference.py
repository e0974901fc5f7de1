"""Coefficients of many rankings: equal to their definitions and to scipy's, with the properties that they must have."""

import math

import numpy as np
import pytest
from correlation_parts import (
    CORRELATIONS,
    literal_kendall,
    literal_tau_ap,
    literal_tau_ap_b,
    literal_weighted_tau,
    orders,
    rankings,
)
from hypothesis import given, settings
from scipy import stats

from pt_reuse._errors import ReuseWarning
from pt_reuse.arrays.correlation import (
    correlations,
    gamma,
    largest_drop,
    largest_rise,
    tau_a,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
    tau_b,
    weighted_tau,
)


@given(rankings())
@settings(deadline=None, max_examples=50)
def test_kendall_equals_literal_and_scipy(data):
    x, y = data
    assert (tau_a(x, y), tau_b(x, y), gamma(x, y)) == pytest.approx(literal_kendall(x, y), abs=1e-14)
    assert tau_b(x, y) == pytest.approx(stats.kendalltau(x, y, variant="b").statistic, abs=1e-12)


@pytest.mark.parametrize("levels", [3, 40, 10**9])
def test_tau_b_equals_scipy_on_many_systems(levels):
    rng = np.random.default_rng(7)
    x, ys = rng.integers(levels, size=129), rng.integers(levels, size=(20, 129))
    wanted = [stats.kendalltau(x, y).statistic for y in ys]
    np.testing.assert_allclose(correlations(x, ys)["tau_b"], wanted, rtol=0, atol=1e-12)


@given(rankings(ties=False))
@settings(deadline=None, max_examples=50)
def test_tau_ap_equals_its_definition(data):
    x, y = data
    walked = sorted(range(len(y)), key=lambda i: -y[i])
    assert tau_ap(x, y) == pytest.approx(float(literal_tau_ap(x, walked)), abs=1e-14)


@given(rankings(largest=6))
@settings(deadline=None, max_examples=50)
def test_tau_ap_a_is_the_mean_over_all_tie_breaks(data):
    _, y = data
    x = np.random.default_rng(len(y)).permutation(len(y)).tolist()
    every = [literal_tau_ap(x, order) for order in orders(y)]
    assert tau_ap_a(x, y) == pytest.approx(float(sum(every) / len(every)), abs=1e-14)


@given(rankings())
@settings(deadline=None, max_examples=50)
def test_tau_ap_b_equals_its_definition(data):
    assert tau_ap_b(*data) == pytest.approx(float(literal_tau_ap_b(*data)), abs=1e-14)


@given(rankings())
@settings(deadline=None, max_examples=50)
def test_weighted_tau_equals_literal_and_scipy(data):
    x, y = data
    assert weighted_tau(x, y) == pytest.approx(literal_weighted_tau(x, y), abs=1e-12)
    assert weighted_tau(x, y) == pytest.approx(stats.weightedtau(x, y).statistic, abs=1e-12)


# properties


@pytest.mark.parametrize("levels", [2, 12, 10**6])
def test_batch_equals_single(levels):
    rng = np.random.default_rng(levels)
    truth, estimates = rng.integers(levels, size=41) / 7, rng.integers(levels, size=(9, 41)) / 7
    estimates[3] = truth
    estimates[4] = 0.5
    if levels == 10**6:
        estimates[5, 0] = estimates[5, 1]
    table = correlations(truth, estimates)
    singles = {name: CORRELATIONS[name] for name in ("tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_b")}
    singles |= {"max_drop": largest_drop, "max_rise": largest_rise}
    assert table.columns.tolist() == list(singles)
    for name, function in singles.items():
        for i, estimate in enumerate(estimates):
            if np.isnan(table[name][i]):
                with pytest.warns(ReuseWarning) as caught:
                    assert math.isnan(function(truth, estimate))
                assert [warning.message.function for warning in caught] == [name]
            else:
                assert table[name][i] == function(truth, estimate)
    # the constant estimate has no coefficient; tau_ap is there exactly for the estimates without ties
    assert table.loc[4].isna().sum() == 5
    assert table["tau_ap"].notna().tolist() == ([levels == 10**6] * 4 + [False] * 2 + [levels == 10**6] * 3)
