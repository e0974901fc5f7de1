"""Coefficients of rank correlation: by their definitions, as published with other software, and where there is none."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from pt_reuse.arrays import correlation
from pt_reuse.arrays.correlation import (
    correlations,
    gamma,
    largest_drop,
    largest_rise,
    rank_changes,
    tau_a,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
    tau_b,
    weighted_tau,
)
from pt_reuse.errors import ReuseWarning

CORRELATIONS = {
    function.__name__: function for function in (tau_a, tau_b, gamma, tau_ap, tau_ap_a, tau_ap_b, weighted_tau)
}


EVERY = pytest.mark.parametrize("function", CORRELATIONS.values(), ids=CORRELATIONS)


def sign(a, b):
    return (a > b) - (a < b)


def literal_kendall(x, y):
    """tau-a, tau_b, gamma, one pair at a time."""
    signs = [(sign(x[i], x[j]), sign(y[i], y[j])) for i, j in itertools.combinations(range(len(x)), 2)]
    c_minus_d = sum(a * b for a, b in signs)
    untied_x, untied_y = sum(a != 0 for a, _ in signs), sum(b != 0 for _, b in signs)
    both = sum(a * b != 0 for a, b in signs)
    return c_minus_d / len(signs), c_minus_d / math.sqrt(untied_x * untied_y), c_minus_d / both


def literal_tau_ap(truth, order):
    """Yilmaz et al. 2008, down a list of systems, best first."""
    total = Fraction(0)
    for i in range(2, len(order) + 1):
        correct = sum(truth[order[j]] > truth[order[i - 1]] for j in range(i - 1))
        total += Fraction(correct, i - 1)
    return 2 * total / (len(order) - 1) - 1


def orders(estimate):
    """All orders of the systems that the estimate allows, best first."""
    groups = [[i for i, own in enumerate(estimate) if own == level] for level in sorted(set(estimate), reverse=True)]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield list(itertools.chain(*parts))


def literal_tau_ap_b(x, y):
    """Urbano and Marrero 2017, the case of correlations, both ways."""

    def walk(truth, estimate):
        shares = []
        for i, own in enumerate(estimate):
            above = [j for j, other in enumerate(estimate) if other > own]
            if above:
                shares.append(Fraction(sum(truth[j] > truth[i] for j in above), len(above)))
        return 2 * sum(shares) / len(shares) - 1

    return (walk(x, y) + walk(y, x)) / 2


def literal_weighted_tau(x, y):
    """Vigna 2015 with additive hyperbolic weights."""

    def one_way(first, second):
        by_rank = sorted(range(len(x)), key=lambda i: (first[i], second[i]), reverse=True)
        weight = {system: 1 / (place + 1) for place, system in enumerate(by_rank)}
        agree = norm_x = norm_y = 0.0
        for i, j in itertools.combinations(range(len(x)), 2):
            w = weight[i] + weight[j]
            agree += w * sign(x[i], x[j]) * sign(y[i], y[j])
            norm_x += w * (x[i] != x[j])
            norm_y += w * (y[i] != y[j])
        return agree / math.sqrt(norm_x * norm_y)

    return (one_way(x, y) + one_way(y, x)) / 2


@st.composite
def rankings(draw, ties=True, largest=9):
    """Two lists of scores, neither all tied; scores are tenths."""
    n = draw(st.integers(2, largest))
    if ties:
        level = st.integers(0, draw(st.integers(1, 9)))
        x, y = (draw(st.lists(level, min_size=n, max_size=n)) for _ in range(2))
        assume(len(set(x)) > 1 and len(set(y)) > 1)
    else:
        x, y = draw(st.permutations(range(n))), draw(st.permutations(range(n)))
    return [v / 10 for v in x], [v / 10 for v in y]


X, Y = [0.4, 0.3, 0.2, 0.1], [0.4, 0.2, 0.3, 0.3]  # pairs ab ac ad bc bd cd: C C C D D tied in y


# golden: the R package ircor 1.0 (github.com/julian-urbano/ircor), x the truth and y the estimate throughout

ONE = {
    "x": [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
    "y": [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
}
TWO = {
    "x": [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
    "y": [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
}
THREE = {
    "x": [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
    "y": [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
}


@pytest.mark.parametrize(
    ("data", "untied", "x_untied", "tied"),
    [  # tests/testthat/test_tau.R and test_tauAP.R; ties come from rounding to one decimal
        (ONE, (0.9111, 0.8519, 0.8333), (0.8889, 0.7454), (0.9398, 0.7321)),
        (TWO, (0.2889, 0.2504, 0.2880), (0.3333, 0.2692), (0.3765, 0.297)),
        (THREE, (-0.6889, -0.6971, -0.668), (-0.6222, -0.5558), (-0.6510, -0.7047)),
    ],
)
def test_ircor_tests(data, untied, x_untied, tied):
    x, y = data["x"], data["y"]
    x_ties, y_ties = np.round(x, 1), np.round(y, 1)
    digits = {"abs": 5e-5}
    for function in (tau_a, tau_b, gamma):
        assert function(x, y) == pytest.approx(untied[0], **digits)
    for function in (tau_ap, tau_ap_a):
        assert function(x, y) == pytest.approx(untied[1], **digits)
    assert tau_ap_b(x, y) == pytest.approx(untied[2], **digits)
    assert (tau_a(x, y_ties), tau_ap_a(x, y_ties)) == pytest.approx(x_untied, **digits)
    assert (tau_b(x_ties, y_ties), tau_ap_b(x_ties, y_ties)) == pytest.approx(tied, **digits)
    assert (tau_b(y_ties, x_ties), tau_ap_b(y_ties, x_ties)) == pytest.approx(tied, **digits)


# undefined: NaN and a warning


@EVERY
@pytest.mark.parametrize("side", [0, 1])
def test_one_side_ties_all(function, side, messages):
    data = [[0.5, 0.5, 0.5], [0.1, 0.2, 0.3]]
    with pytest.warns(ReuseWarning) as caught:
        assert math.isnan(function(*(data if side == 0 else data[::-1])))
    assert [warning.filename for warning in caught] == [__file__]
    messages.told(caught[0].message)


@pytest.mark.parametrize(
    ("function", "truth", "estimate"),
    [
        (tau_ap, [4, 3, 3, 1], [4, 3, 2, 1]),
        (tau_ap, [4, 3, 2, 1], [4, 3, 4, 1]),
        (tau_ap_a, [4, 3, 3, 1], [4, 4, 2, 1]),
    ],
)
def test_ties_where_there_must_be_none(function, truth, estimate, messages):
    assert math.isnan(messages.warned(lambda: function(truth, estimate)))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0), (2, 1)])
def test_agreement_of_nothing_is_nan_without_warning(shape):
    table = correlations(np.zeros(shape[1]), np.zeros(shape))
    assert table.shape == (shape[0], 7)
    assert table.iloc[:, :5].isna().all(axis=None)
    assert table.dtypes.tolist() == [np.float64] * 5 + [np.int64] * 2


# coefficients of many rankings: equal to their definitions and to scipy's, with the properties that they must have


@given(rankings())
def test_kendall_equals_literal_and_scipy(data):
    x, y = data
    assert (tau_a(x, y), tau_b(x, y), gamma(x, y)) == pytest.approx(literal_kendall(x, y), abs=1e-14)
    assert tau_b(x, y) == pytest.approx(stats.kendalltau(x, y, variant="b").statistic, abs=1e-12)


@given(rankings(ties=False))
def test_tau_ap_equals_its_definition(data):
    x, y = data
    walked = sorted(range(len(y)), key=lambda i: -y[i])
    assert tau_ap(x, y) == pytest.approx(float(literal_tau_ap(x, walked)), abs=1e-14)


@given(rankings(largest=6))
def test_tau_ap_a_is_the_mean_over_all_tie_breaks(data):
    _, y = data
    x = np.random.default_rng(len(y)).permutation(len(y)).tolist()
    every = [literal_tau_ap(x, order) for order in orders(y)]
    assert tau_ap_a(x, y) == pytest.approx(float(sum(every) / len(every)), abs=1e-14)


@given(rankings())
def test_tau_ap_b_equals_its_definition(data):
    assert tau_ap_b(*data) == pytest.approx(float(literal_tau_ap_b(*data)), abs=1e-14)


@given(rankings())
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
                with pytest.warns(ReuseWarning, match=f"^{name} is NaN"):
                    assert math.isnan(function(truth, estimate))
            else:
                assert table[name][i] == function(truth, estimate)
    # the constant estimate has no coefficient; tau_ap is there exactly for the estimates without ties
    assert table.loc[4].isna().sum() == 5
    assert table["tau_ap"].notna().tolist() == ([levels == 10**6] * 4 + [False] * 2 + [levels == 10**6] * 3)


# what may be given as two rankings: labels, rounding, kinds of numbers, and what is refused


def test_series_are_matched_by_label():
    truth = pd.Series({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1})
    estimate = pd.Series({"d": 0.3, "c": 0.3, "b": 0.2, "a": 0.4})  # Y, backwards
    for name in ("tau_a", "tau_b", "gamma", "tau_ap_a", "tau_ap_b", "weighted_tau"):
        assert CORRELATIONS[name](truth, estimate) == CORRELATIONS[name](X, Y)
    assert largest_drop(truth, estimate) == 2
    changes = rank_changes(truth, estimate)
    assert changes["name"].tolist() == ["a", "b", "c", "d"]
    assert changes["other_score"].tolist() == Y
    assert rank_changes(truth, estimate, names=["w", "x", "y", "z"])["name"].tolist() == ["w", "x", "y", "z"]


def test_means_that_differ_by_rounding_only_are_tied():
    a, b = (0.1 + 0.2) / 2, 0.15
    assert a != b
    assert tau_b([a, b, 0.1], [0.2, 0.2, 0.1]) == 1
    assert largest_drop([a, b], [b, a]) == 0
    assert rank_changes([a, b], [b, a])["rank"].tolist() == [1, 1]
    assert rank_changes([a, b], [b, a])["score"].tolist() == [a, b]  # as given
    assert correlations(np.array([a, b, 0.1]), np.array([[0.2, 0.2, 0.1]]))["tau_a"][0] == pytest.approx(2 / 3)
    assert correlation.DECIMALS == 12
    assert tau_a([0, 2e-12], [0, 1]) == 1


def test_numbers_too_large_to_round_are_compared_as_they_are():
    assert tau_a([1e300, 2e300, 0], [1, 2, 0]) == 1
    assert tau_a([2.0**60, 2.0**60 + 2.0**9, 0], [1, 2, 0]) == 1


@pytest.mark.parametrize(
    ("x", "y", "argument"),
    [
        ([1, 2], [[1, 2]], "y"),
        ([[1, 2]], [1, 2], "x"),
        ([1, 2], [[1, 2], [1]], "y"),
        ([1, "2"], [1, 2], "x"),
        ([1, 2], [1, 2, 3], "y"),
        ([1, 2, 3], pd.Series([1, np.nan, 3], index=list("abc")), "y"),
        (pd.Series([1, 2, 3], index=list("abd")), pd.Series([1, 2, 3], index=list("abc")), "y"),
        (pd.Series([1, 2, 3], index=list("aab")), pd.Series([1, 2, 3], index=list("abb")), "y"),
    ],
)
def test_what_is_no_two_rankings(x, y, argument, messages):
    messages.refused(lambda: tau_b(x, y), argument=argument)


@pytest.mark.parametrize("names", [["a", "b"], ["a", "a", "b"]])
def test_names_that_are_none(names, messages):
    messages.refused(lambda: rank_changes([3, 2, 1], [1, 2, 3], names), argument="names")


def test_tau_ap_by_hand_and_its_direction():
    # truth a b c d, estimate d a b c: C = 0, 1, 2 over 1, 2, 3: 2/3 (1/2 + 2/3) - 1 = -2/9
    # the other way, walking a b c d with d a b c as truth: C = 1, 2, 0: 2/3 (1 + 1 + 0) - 1 = 1/3
    truth, estimate = [4, 3, 2, 1], [3, 2, 1, 4]
    assert tau_ap(truth, estimate) == pytest.approx(-2 / 9, abs=1e-15)
    assert tau_ap(estimate, truth) == pytest.approx(1 / 3, abs=1e-15)
    assert tau_ap(truth=truth, estimate=estimate) == tau_ap(truth, estimate)
