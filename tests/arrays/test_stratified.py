"""Intervals of stratified shares: against statsmodels, against counting every sample, and at the ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from pt_reuse.arrays.prediction_powered import (
    counted_limits,
    effective_sizes,
    exact_limits,
    joined,
    share_of,
    stratified_interval,
    stratified_variance,
)


def arrays(*values):
    return [np.array(value, dtype=float) for value in values]


@pytest.mark.parametrize(("found", "drawn"), [(0, 7), (1, 7), (3, 7), (7, 7), (40, 160), (1, 1)])
def test_limits_of_one_large_stratum_are_those_of_clopper_and_pearson(found, drawn):
    expected = proportion_confint(found, drawn, alpha=0.1, method="beta")
    assert [side[0] for side in exact_limits(*arrays([found / drawn], [drawn]), 0.9)] == pytest.approx(expected)
    # a sample of very many units is as one with replacement, but for the grid of shares that there are
    counted = counted_limits(*arrays([found / drawn], [drawn], [10**7]), 0.9)
    assert [side[0] for side in counted] == pytest.approx(np.nan_to_num(expected, nan=0.0), abs=1e-4)


@pytest.mark.parametrize(("a", "n", "b", "m"), [(3, 10, 8, 20), (0, 10, 20, 20), (30, 40, 10, 60)])
def test_the_difference_of_two_shares_is_joined_as_newcombe_does(a, n, b, m):
    limits = [proportion_confint(x, size, method="wilson") for x, size in ((a, n), (b, m))]
    low, high = zip(*limits, strict=True)
    found = joined(0.0, *arrays([1, -1], [a / n, b / m], low, high))
    expected = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff", correction=False)
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.estimate == pytest.approx(a / n - b / m)


@pytest.mark.parametrize(("units", "drawn"), [(12, 5), (15, 12), (30, 7)])
def test_exact_limits_cover_every_truth(units, drawn):
    counts = np.arange(drawn + 1)
    size = drawn / (1 - drawn / units)
    low, high = counted_limits(*arrays(counts / drawn, [size] * (drawn + 1), [units] * (drawn + 1)), 0.95)
    for true in range(units + 1):
        chance = hypergeom.pmf(counts, units, true, drawn)
        assert chance[(low <= true / units + 1e-9) & (high >= true / units - 1e-9)].sum() >= 0.95
    # one more or one less unit would not be refused, so the limits are as near as they can be
    for count in counts:
        first = round(low[count] * units)
        assert count == 0 or hypergeom.sf(count - 1, units, first - 1, drawn) <= 0.025
        assert hypergeom.sf(count - 1, units, first, drawn) > 0.025


def test_effective_sizes():
    weights, drawn, units = arrays([0.5, 0.25, 0.25], [10, 5, 5], [100, 50, 50])
    one = effective_sizes(weights, drawn, units, np.array([0, 1, 2]), 3)
    assert one.tolist() == pytest.approx([10 / 0.9, 5 / 0.9, 5 / 0.9])
    # proportional strata together are a sample of their own
    assert effective_sizes(weights, drawn, units, np.zeros(3, dtype=int), 1).tolist() == pytest.approx([20 / 0.9])
    assert effective_sizes(weights, units, units, np.array([0, 1, 2]), 3).tolist() == [np.inf] * 3


def test_a_census_has_no_width_and_what_is_not_in_the_number_does_not_count():
    cells = np.arange(3)
    weights, shares, drawn, units = arrays([0.5, 0.5, 0], [0.3, 1, 0.5], [10, 4, 0], [10, 4, 9])
    options = {"drawn": drawn, "units": units}
    found = stratified_interval(0.1, weights, shares, cells=cells, confidence=0.95, **options)
    assert (found.low, found.estimate, found.high) == pytest.approx((0.75, 0.75, 0.75))
    assert stratified_variance(weights, shares, **options) == 0


def test_the_variance_is_that_of_the_definition():
    weights, shares, drawn, units = arrays([0.7, 0.3], [0.1, 0.8], [30, 20], [700, 300])
    expected = 0.49 * 0.09 / 30 * (1 - 30 / 700) + 0.09 * 0.16 / 20 * (1 - 20 / 300)
    assert stratified_variance(weights, shares, drawn=drawn, units=units) == pytest.approx(expected)


@given(st.integers(0, 6), st.integers(0, 4), st.floats(0.6, 0.99))
def test_an_interval_holds_its_estimate_and_stays_where_the_truth_can_be(a, b, confidence):
    weights, shares, drawn, units = arrays([0.75, -0.25], [a / 6, b / 4], [6, 4], [9, 50])
    found = stratified_interval(
        0.0, weights, shares, drawn=drawn, units=units, cells=np.arange(2), confidence=confidence
    )
    assert found.low <= found.estimate <= found.high
    least = 0.75 * a / 9 - 0.25 * (b + 46) / 50
    most = 0.75 * (a + 3) / 9 - 0.25 * b / 50
    assert least - 1e-9 <= found.low <= found.high <= most + 1e-9


def test_shares_of_a_hundred_equal_those_of_fractions():
    for hundredths in range(101):
        for n in (1, 7, 50, 86_830):
            exact = Fraction(hundredths, 100) * n
            assert share_of(hundredths / 100, n) == int(exact + Fraction(1, 2))


@pytest.mark.parametrize("weights", [(0.6, 0.4), (0.5, -0.5)])
@pytest.mark.parametrize(("units", "drawn"), [((12, 8), (5, 4)), ((30, 20), (10, 8))])
def test_two_strata_cover_every_truth(weights, units, drawn):
    w, size, n = arrays(weights, units, drawn)
    counts = np.array(list(product(range(drawn[0] + 1), range(drawn[1] + 1))))
    options = {"drawn": n, "units": size, "cells": np.arange(2), "confidence": 0.95}
    found = [stratified_interval(0.0, w, count / n, **options) for count in counts]
    low, high = (np.array([getattr(one, side) for one in found]) for side in ("low", "high"))
    for true in product(range(units[0] + 1), range(units[1] + 1)):
        chance = np.prod([hypergeom.pmf(counts[:, s], units[s], true[s], drawn[s]) for s in (0, 1)], axis=0)
        value = w @ (np.array(true) / size)
        assert chance[(low <= value + 1e-9) & (high >= value - 1e-9)].sum() >= 0.93
