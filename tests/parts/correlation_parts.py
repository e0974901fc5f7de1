"""The coefficients, and each of them by its definition, slow and obvious."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pt_reuse.arrays.correlation import (
    gamma,
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


X, Y = [0.4, 0.3, 0.2, 0.1], [0.4, 0.2, 0.3, 0.3]  # pairs ab ac ad bc bd cd: C C C D D tied in y
