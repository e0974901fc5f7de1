import inspect
import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import pt_reuse
from pt_reuse._errors import ReuseWarning
from pt_reuse.stats import correlation
from pt_reuse.stats.correlation import (
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

CORRELATIONS = {
    function.__name__: function for function in (tau_a, tau_b, gamma, tau_ap, tau_ap_a, tau_ap_b, weighted_tau)
}
EVERY = pytest.mark.parametrize("function", CORRELATIONS.values(), ids=CORRELATIONS)
SYMMETRIC = [tau_a, tau_b, gamma, tau_ap_b, weighted_tau]


def sign(a, b):
    return (a > b) - (a < b)


def literal_kendall(x, y):
    """tau-a, tau-b, gamma, one pair at a time."""
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


# by hand

X, Y = [0.4, 0.3, 0.2, 0.1], [0.4, 0.2, 0.3, 0.3]  # pairs ab ac ad bc bd cd: C C C D D tied in y


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (tau_a, 1 / 6),
        (tau_b, 1 / math.sqrt(6 * 5)),
        (gamma, 1 / 5),
        # y: a | c d | b. Orders acdb: C = 1, 2, 1 over 1, 2, 3; adcb: C = 1, 1, 1 over 1, 2, 3. Sums 7/3 and 11/6,
        # mean 25/12; 2/3 * 25/12 - 1 = 7/18
        (tau_ap_a, 7 / 18),
        # down y: c 1/1, d 1/1, b 1/3: 2 (7/3)/3 - 1 = 5/9; down x: b 1/1, c 1/2, d 1/3: 2 (11/6)/3 - 1 = 2/9; mean 7/18
        (tau_ap_b, 7 / 18),
        # weights by x and y: a 1, b 1/4, c 1/2, d 1/3 down y (c before d, as in x); a 1, b 1/2, c 1/3, d 1/4 down x.
        # Down y: + (5/4 + 3/2 + 4/3) - (3/4 + 7/12) = 11/4 over sqrt(25/4 (25/4 - 5/6)); down x: + (3/2 + 4/3 + 5/4)
        # - (5/6 + 3/4) = 5/2 over sqrt(25/4 (25/4 - 7/12))
        (weighted_tau, (11 / 4 / math.sqrt(25 / 4 * 65 / 12) + 5 / 2 / math.sqrt(25 / 4 * 17 / 3)) / 2),
    ],
)
def test_by_hand(function, wanted):
    assert function(X, Y) == pytest.approx(wanted, abs=1e-14)


def test_tau_ap_by_hand_and_its_direction():
    # truth a b c d, estimate d a b c: C = 0, 1, 2 over 1, 2, 3: 2/3 (1/2 + 2/3) - 1 = -2/9
    # the other way, walking a b c d with d a b c as truth: C = 1, 2, 0: 2/3 (1 + 1 + 0) - 1 = 1/3
    truth, estimate = [4, 3, 2, 1], [3, 2, 1, 4]
    assert tau_ap(truth, estimate) == pytest.approx(-2 / 9, abs=1e-15)
    assert tau_ap(estimate, truth) == pytest.approx(1 / 3, abs=1e-15)
    assert tau_ap(truth=truth, estimate=estimate) == tau_ap(truth, estimate)


def test_top_heavy():
    truth, top, bottom = [4, 3, 2, 1], [3, 4, 2, 1], [4, 3, 1, 2]
    assert tau_b(truth, top) == tau_b(truth, bottom)
    for function in (tau_ap, tau_ap_a, tau_ap_b, weighted_tau):
        assert function(truth, top) < function(truth, bottom)


def test_drops_by_hand():
    # ranks a 1, b 2, c 2, d 4 under the truth; a 3, b 1, c 4, d 1 under the estimate
    truth, estimate = [0.9, 0.5, 0.5, 0.1], [0.2, 0.8, 0.1, 0.8]
    assert (largest_drop(truth, estimate), largest_rise(truth, estimate)) == (2, 3)
    assert (largest_drop(estimate, truth), largest_rise(estimate, truth)) == (3, 2)
    assert type(largest_drop(truth, estimate)) is type(largest_rise(truth, estimate)) is int
    wanted = pd.DataFrame(
        {
            "name": ["a", "b", "c", "d"],
            "score": truth,
            "other_score": estimate,
            "rank": [1, 2, 2, 4],
            "other_rank": [3, 1, 4, 1],
            "drop": [2, -1, 2, -3],
        }
    )
    pd.testing.assert_frame_equal(rank_changes(truth, estimate, names=list("abcd")), wanted)
    assert rank_changes(truth, estimate)["name"].tolist() == [0, 1, 2, 3]


def test_no_system_no_drop():
    assert largest_drop([], []) == largest_rise([], []) == largest_drop([0.3], [0.1]) == 0
    assert list(rank_changes([], []).columns) == ["name", "score", "other_score", "rank", "other_rank", "drop"]
    assert rank_changes([0.3], [0.1])["drop"].tolist() == [0]


def test_agreement_by_hand():
    table = correlations(X, [Y, X, [0.1, 0.2, 0.3, 0.4]])
    assert table.columns.tolist() == ["tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_b", "max_drop", "max_rise"]
    np.testing.assert_allclose(
        table.to_numpy(),
        [
            [1 / 6, 1 / math.sqrt(30), 1 / 5, np.nan, 7 / 18, 2, 2],  # ranks of Y: 1 4 2 2
            [1, 1, 1, 1, 1, 0, 0],
            [-1, -1, -1, -1, -1, 3, 3],
        ],
        atol=1e-15,
    )
    assert table[["max_drop", "max_rise"]].dtypes.tolist() == [np.int64, np.int64]


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


def test_direction_of_the_fixture():
    assert tau_ap(ONE["x"], ONE["y"]) == pytest.approx(0.8519, abs=5e-5)
    assert tau_ap(ONE["y"], ONE["x"]) == pytest.approx(0.8148, abs=5e-5)  # so y is the list that is walked
    assert tau_ap_b(ONE["x"], ONE["y"]) == pytest.approx((0.8519 + 0.8148) / 2, abs=1e-4)


def test_ircor_readme():
    x = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
    y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
    digits = {"abs": 5e-8}
    assert (tau_a(x, y), tau_ap(x, y)) == pytest.approx((0.7777778, 0.7491182), **digits)  # no ties yet
    y = np.round(y * 5) / 5
    assert (tau_a(x, y), tau_ap_a(x, y)) == pytest.approx((0.7111111, 0.6074515), **digits)
    x = np.round(x * 5) / 5
    assert (tau_b(x, y), tau_ap_b(x, y)) == pytest.approx((0.75, 0.6269841), **digits)


def test_ircor_manual():
    # man/tauAP.Rd, its examples and their output
    x = np.array([0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54])
    y = np.array([0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84])
    digits = {"abs": 5e-8}
    assert (tau_ap(x, y), tau_ap_a(x, y)) == pytest.approx((0.3928571, 0.3928571), **digits)
    y = np.round(y, 1)
    assert (tau_ap_a(x, y), tau_ap_b(x, y)) == pytest.approx((0.39903, 0.3317019), abs=5e-6)
    x = np.round(x, 1)
    assert tau_ap_b(x, y) == pytest.approx(0.339418, **digits)


# reference


@given(rankings())
@settings(deadline=None)
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
@settings(deadline=None)
def test_tau_ap_equals_its_definition(data):
    x, y = data
    walked = sorted(range(len(y)), key=lambda i: -y[i])
    assert tau_ap(x, y) == pytest.approx(float(literal_tau_ap(x, walked)), abs=1e-14)


@given(rankings(largest=6))
@settings(deadline=None)
def test_tau_ap_a_is_the_mean_over_all_tie_breaks(data):
    _, y = data
    x = np.random.default_rng(len(y)).permutation(len(y)).tolist()
    every = [literal_tau_ap(x, order) for order in orders(y)]
    assert tau_ap_a(x, y) == pytest.approx(float(sum(every) / len(every)), abs=1e-14)


@given(rankings())
@settings(deadline=None)
def test_tau_ap_b_equals_its_definition(data):
    assert tau_ap_b(*data) == pytest.approx(float(literal_tau_ap_b(*data)), abs=1e-14)


@given(rankings())
@settings(deadline=None)
def test_weighted_tau_equals_literal_and_scipy(data):
    x, y = data
    assert weighted_tau(x, y) == pytest.approx(literal_weighted_tau(x, y), abs=1e-12)
    assert weighted_tau(x, y) == pytest.approx(stats.weightedtau(x, y).statistic, abs=1e-12)


# properties


@given(rankings())
@settings(deadline=None)
def test_a_ranking_agrees_with_itself(data):
    x, _ = data
    for function in (tau_b, gamma, tau_ap_b):
        assert function(x, x) == 1
        assert function(x, [-v for v in x]) == -1
    assert weighted_tau(x, x) == pytest.approx(1, abs=1e-14)
    assert weighted_tau(x, [-v for v in x]) == pytest.approx(-1, abs=1e-14)
    assert largest_drop(x, x) == largest_rise(x, x) == 0


@given(rankings(ties=False))
@settings(deadline=None)
def test_without_ties_the_variants_are_one(data):
    x, y = data
    assert tau_a(x, y) == tau_b(x, y) == gamma(x, y)
    assert tau_ap_a(x, y) == pytest.approx(tau_ap(x, y), abs=1e-14)
    assert tau_ap_b(x, y) == pytest.approx((tau_ap(x, y) + tau_ap(y, x)) / 2, abs=1e-14)
    assert tau_a(x, x) == tau_ap(x, x) == 1
    assert tau_ap_a(x, x) == pytest.approx(1, abs=1e-14)
    reverse = [-v for v in x]
    assert tau_ap(x, reverse) == tau_ap(reverse, x) == -1
    # the truth reversed: every place has the other systems above it right
    assert tau_ap(reverse, y) == pytest.approx(-tau_ap(x, y), abs=1e-14)


@given(rankings())
@settings(deadline=None)
def test_symmetry_antisymmetry_and_bounds(data):
    x, y = data
    reverse = [-v for v in x]
    for function in SYMMETRIC:
        assert function(x, y) == pytest.approx(function(y, x), abs=1e-14)
        assert -1 <= function(x, y) <= 1
    for function in (tau_a, tau_b, gamma):
        assert function(reverse, y) == -function(x, y)
    assert abs(gamma(x, y)) >= abs(tau_b(x, y)) - 1e-15
    assert abs(tau_b(x, y)) >= abs(tau_a(x, y)) - 1e-15
    assert 0 <= largest_drop(x, y) == largest_rise(y, x) < len(x)


@given(rankings(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_of_systems_does_not_matter(data, random):
    x, y = data
    order = random.sample(range(len(x)), len(x))
    shuffled_x, shuffled_y = [x[i] for i in order], [y[i] for i in order]
    for function in SYMMETRIC:
        assert function(shuffled_x, shuffled_y) == pytest.approx(function(x, y), abs=1e-14)
    assert largest_drop(shuffled_x, shuffled_y) == largest_drop(x, y)
    labelled = pd.Series(shuffled_x, index=order)
    assert tau_b(pd.Series(x), labelled) == 1  # matched by label


@given(rankings())
@settings(deadline=None)
def test_only_the_order_of_scores_matters(data):
    x, y = data
    for function in SYMMETRIC:
        assert function([5 * v**3 + 2 for v in x], y) == function(x, y)


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


def test_every_coefficient_is_public():
    assert list(CORRELATIONS) == ["tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_a", "tau_ap_b", "weighted_tau"]
    assert all(getattr(pt_reuse, name) is function for name, function in CORRELATIONS.items())


# labels, rounding, kinds of input


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


def test_one_series_goes_by_position():
    truth = pd.Series({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1})
    assert tau_b(truth, Y) == tau_b(X, pd.Series(Y, index=list("dcba"))) == tau_b(X, Y)
    assert rank_changes(X, pd.Series(Y, index=list("wxyz")))["name"].tolist() == list("wxyz")


def test_same_index_in_the_same_order_may_repeat_labels():
    assert tau_b(pd.Series(X, index=list("aabb")), pd.Series(Y, index=list("aabb"))) == tau_b(X, Y)


def test_frame_of_estimates_is_matched_by_column():
    truth = pd.Series({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1})
    frame = pd.DataFrame([Y[::-1], X[::-1]], columns=list("dcba"), index=["ufmg", "uiuc"])
    table = correlations(truth, frame)
    assert table.index.tolist() == ["ufmg", "uiuc"]
    pd.testing.assert_frame_equal(table.reset_index(drop=True), correlations(X, [Y, X]))
    # without labels on the truth: by position, so the second row is the reverse
    assert correlations(X, frame)["tau_b"]["uiuc"] == -1


def test_means_that_differ_by_rounding_only_are_tied():
    a, b = (0.1 + 0.2) / 2, 0.15
    assert a != b
    assert tau_b([a, b, 0.1], [0.2, 0.2, 0.1]) == 1
    assert largest_drop([a, b], [b, a]) == 0
    assert rank_changes([a, b], [b, a])["rank"].tolist() == [1, 1]
    assert rank_changes([a, b], [b, a])["score"].tolist() == [a, b]  # as given
    assert correlations([a, b, 0.1], [[0.2, 0.2, 0.1]])["tau_a"][0] == pytest.approx(2 / 3)
    assert correlation.DECIMALS == 12
    assert tau_a([0, 2e-12], [0, 1]) == 1


def test_numbers_too_large_to_round_are_compared_as_they_are():
    assert tau_a([1e300, 2e300, 0], [1, 2, 0]) == 1
    assert tau_a([2.0**60, 2.0**60 + 2.0**9, 0], [1, 2, 0]) == 1


@pytest.mark.parametrize(
    "scores",
    [
        (4, 2, 3, 3),
        np.array([4, 2, 3, 3], dtype=np.float32),
        np.array([4, 2, 3, 3], dtype=np.uint8),
        pd.Series([4, 2, 3, 3], dtype="Int64"),
        [Fraction(4), Fraction(2), 3, 3.0],
    ],
    ids=["tuple", "float32", "uint8", "nullable", "fractions"],
)
def test_kinds_of_numbers(scores):
    assert tau_b(X, scores) == tau_b(X, Y)


def test_import_does_not_load_scipy():
    code = "import sys, pt_reuse.stats.correlation as c; c.tau_b([1, 2], [1, 2]); print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# undefined: NaN and a warning


@EVERY
@pytest.mark.parametrize("scores", [[], [0.5]])
def test_fewer_than_two_systems(function, scores, messages):
    assert math.isnan(messages.warned(lambda: function(scores, scores)))


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


def test_tied_systems_are_named(messages):
    scores = pd.Series({"ok8alx": 0.3, "tno8d3": 0.4, "fub99a": 0.3})
    messages.warned(lambda: tau_ap(scores, [1, 2, 3]))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0), (2, 1)])
def test_agreement_of_nothing_is_nan_without_warning(shape):
    table = correlations(np.zeros(shape[1]), np.zeros(shape))
    assert table.shape == (shape[0], 7)
    assert table.iloc[:, :5].isna().all(axis=None)
    assert table.dtypes.tolist() == [np.float64] * 5 + [np.int64] * 2


# errors


TWO_RANKINGS = pytest.mark.parametrize("function", [*CORRELATIONS.values(), largest_drop, largest_rise, rank_changes])


def parameters(function):
    return list(inspect.signature(function).parameters)[:2]


@TWO_RANKINGS
def test_different_lengths(function, messages):
    messages.refused(lambda: function([1, 2, 3], [1, 2]), argument=parameters(function)[1])


@TWO_RANKINGS
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(function, value, messages):
    first, second = parameters(function)
    messages.refused(lambda: function([1, 2, 3], [1, 2, value]), argument=second)
    scores = pd.Series([value, value, 3, value, value], index=list("abcde"))
    messages.refused(lambda: function(scores, scores), argument=first)


@TWO_RANKINGS
@pytest.mark.parametrize("scores", [0.5, [[1, 2], [2, 1]], {"a": 1}])
def test_not_one_dimensional(function, scores, messages):
    messages.refused(lambda: function(scores, [1, 2]), argument=parameters(function)[0])


@TWO_RANKINGS
@pytest.mark.parametrize("scores", [["0.1", "0.2"], np.array(["a", 2], dtype=object), [1j, 2], [pd.NA, 1]])
def test_not_numbers(function, scores, messages):
    messages.refused(lambda: function(scores, [1, 2]), argument=parameters(function)[0])


@pytest.mark.parametrize("scores", [[1, None], pd.Series([1, None], dtype="Int64")])
def test_missing_is_not_finite(scores, messages):
    messages.refused(lambda: tau_b([1, 2], scores), argument="y")


@TWO_RANKINGS
def test_different_labels(function, messages):
    first, second = pd.Series([1, 2, 3], index=list("abc")), pd.Series([1, 2, 3], index=list("cbd"))
    messages.refused(lambda: function(first, second), argument=parameters(function)[1])


def test_labels_that_one_side_lacks(messages):
    many = pd.Series(range(7), index=list("abcdefg"))
    messages.refused(lambda: tau_b(many[:2], many), argument="y")


@pytest.mark.parametrize("side", [0, 1])
def test_repeated_labels(side, messages):
    data = [pd.Series([1, 2, 3], index=list("aba")), pd.Series([1, 2, 3], index=list("abc"))]
    messages.refused(lambda: tau_b(*(data if side == 0 else data[::-1])), argument=["x", "y"][side])


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "a"], 5, "abc", [["a"], ["b"], ["c"]]])
def test_names_of_the_systems(names, messages):
    messages.refused(lambda: rank_changes([1, 2, 3], [1, 2, 3], names=names), argument="names")


@pytest.mark.parametrize(
    ("truth", "estimates", "argument"),
    [
        ([1, 2], [1, 2], "estimates"),
        ([[1, 2]], [[1, 2]], "truth"),
        ([1, 2], [[1, 2], [1]], "estimates"),
        ([1, 2], [[1, 2, 3]], "estimates"),
        ([1, 2, 3], pd.DataFrame([[1, np.nan, 3], [1, np.inf, 3]], columns=list("abc")), "estimates"),
        (
            pd.Series([1, 2, 3], index=list("abd")),
            pd.DataFrame([[1, 0, 3], [1, 0, 3]], columns=list("abc")),
            "estimates",
        ),
    ],
    ids=["one dimension", "two dimensions", "rows of different lengths", "lengths", "not finite", "labels"],
)
def test_agreement_errors(truth, estimates, argument, messages):
    messages.refused(lambda: correlations(truth, estimates), argument=argument)
