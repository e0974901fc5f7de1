"""Agreement of two tests about which differences are significant, against a literal loop with scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from pt_reuse.arrays.significance import PairTests, agreement_of_tests, pair_tests, winners


def literal(one, other, alpha):
    """Count pair by pair what the tests of two (topics, systems) arrays say."""
    counts = dict.fromkeys(["ss_a", "ss_d", "sn", "ns", "nn"], 0)
    for i, j in combinations(range(one.shape[1]), 2):
        found = []
        for values in (one, other):
            x, y = values[:, i], values[:, j]
            p = 1.0 if (x == y).all() else scipy.stats.ttest_rel(x, y).pvalue
            found.append((p < alpha and x.mean() != y.mean(), x.mean() > y.mean()))
        (a, a_first), (b, b_first) = found
        kind = "ss" if a and b else "sn" if a else "ns" if b else "nn"
        counts[f"ss_{'a' if a_first == b_first else 'd'}" if kind == "ss" else kind] += 1
    return counts


def scores(seed, topics=20, systems=9, spread=0.15):
    random = np.random.default_rng(seed)
    return random.normal(0, 0.2, (topics, systems)) + random.normal(0, spread, systems)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_loop_over_scipy(seed, alpha):
    one, other = scores(seed), scores(seed + 50, topics=31)
    found = agreement_of_tests(pair_tests(one), pair_tests(other), alpha)
    expected = literal(one, other, alpha)
    assert {name: getattr(found, name) for name in expected} == expected
    weight = 2 * expected["ss_a"] + 2 * expected["ss_d"] + expected["sn"] + expected["ns"]
    assert found.agree == 2 * expected["ss_a"] / weight
    assert found.active == 2 * expected["ss_d"] / weight
    assert found.passive == (expected["sn"] + expected["ns"]) / weight
    assert found.untested == 0


def test_a_worked_example():
    one = PairTests(np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 3]), np.array([1.0, 1, -1, 1, 1, -1]),
                    np.array([0.01, 0.01, 0.01, 0.2, 0.9, np.nan]))  # fmt: skip
    other = PairTests(one.first, one.second, np.array([2.0, -3, -1, -1, 1, 1]), np.array([0.04, 0.01, 0.06, 0, 0.5, 0]))
    found = agreement_of_tests(one, other)
    assert found.row() == {
        "ss_a": 1, "ss_d": 1, "sn": 1, "ns": 1, "nn": 1, "untested": 1,
        "agree": 2 / 6, "active": 2 / 6, "passive": 2 / 6,
    }  # fmt: skip
    assert winners(one, 0.05).tolist() == [1, 1, -1, 0, 0, 0]
    # a p-value that is the level itself is significant, as everywhere else
    assert winners(other, 0.04).tolist() == [1, -1, 0, -1, 0, 1]
    assert np.array_equal(winners(other, 0.04) != 0, other.significant(0.04))


def test_corrected_tests_have_fewer_winners():
    statsmodels = pytest.importorskip("statsmodels.stats.multitest")
    one, other = pair_tests(scores(1)), pair_tests(scores(51))
    kept = [statsmodels.multipletests(tests.p, alpha=0.05, method="holm")[0] for tests in (one, other)]
    for tests, mine in zip((one, other), kept, strict=True):
        assert (winners(tests, 0.05, "holm") != 0).tolist() == mine.tolist()
    found = agreement_of_tests(one, other, 0.05, "holm")
    assert found.weight == sum(map(sum, kept)) < agreement_of_tests(one, other).weight
