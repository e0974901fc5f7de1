from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

from pt_reuse.arrays import significance
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import PairTests, agreement_of_tests, check_test, drawn_agreement, pair_tests, winners
from pt_reuse.options import CORRECTIONS, TESTS


def scores(topics=12, runs=5, seed=5):
    random = np.random.default_rng(seed)
    return (random.random((topics, 1)) + random.normal(0, 0.2, (topics, runs)) + 0.1 * np.arange(runs)).round(2)


def alike():
    """The last system scores as the first."""
    values = scores()
    values[:, 4] = values[:, 0]
    return values


def asymptotic(x, y):
    difference = (x - y).round(12)  # .3 - .2 and .2 - .1 tie
    try:
        return scipy.stats.wilcoxon(difference, method="asymptotic").pvalue
    except ValueError:  # its name before scipy 1.15
        return scipy.stats.wilcoxon(difference, method="approx").pvalue


def permuted(x, y, samples):
    found = scipy.stats.permutation_test(
        (x, y), lambda a, b, axis: np.abs(np.mean(a - b, axis=axis)).round(12), permutation_type="samples",
        alternative="greater", n_resamples=samples, vectorized=True,
    )  # fmt: skip
    return found.pvalue


def each(values, found):
    for i, j, p in zip(found.first, found.second, found.p, strict=True):
        yield values[:, i], values[:, j], p


@pytest.mark.parametrize("values", [scores(), alike(), scores(30, 4, 2)], ids=["usual", "two alike", "more topics"])
def test_wilcoxon_is_scipy_s(values):
    for x, y, p in each(values, pair_tests(values, "wilcoxon")):
        assert p == pytest.approx(1.0 if (x == y).all() else asymptotic(x, y), abs=1e-12)


def test_few_topics_have_every_way_of_turning_signs():
    values = alike()[:10]
    for x, y, p in each(values, pair_tests(values, "randomisation", samples=1024)):
        assert p == pytest.approx(1.0 if (x == y).all() else permuted(x, y, 1024), abs=1e-12)
    # one topic more takes twice as many, and draws
    assert pair_tests(scores(11), "randomisation", samples=1024).p.min() >= 1 / 1025


def test_tukey_s_ranges_are_those_of_a_literal_loop():
    values = scores(8, 4)
    found = pair_tests(values, "tukey", samples=2_000, seed=3)
    random = np.random.default_rng(9)
    ranges = []
    for _ in range(2_000):
        means = np.array([random.permutation(row) for row in values]).mean(axis=0)
        ranges.append(means.max() - means.min())
    for d, p in zip(found.difference, found.p, strict=True):
        assert p == pytest.approx((np.array(ranges) >= abs(d) - 1e-12).mean(), abs=0.05)
    # it allows for the number of pairs, so that it claims no more than tests one by one do
    assert (found.p >= pair_tests(values, "randomisation").p - 0.05).all()
    np.testing.assert_array_equal(found.p, pair_tests(values, "tukey", samples=2_000, seed=3).p)


@pytest.mark.parametrize("test", TESTS)
def test_degenerate_fields(test):
    one_topic = pair_tests(scores(1), test)
    assert np.isnan(one_topic.p).all()
    assert not one_topic.significant().any()
    assert not one_topic.significant(correction="holm").any()
    assert len(pair_tests(scores(5, 1), test).p) == 0
    assert (pair_tests(np.full((6, 3), 0.25), test, samples=20).p == 1).all()


@pytest.mark.parametrize("test", TESTS)
def test_scores_that_differ_in_their_last_bits_are_alike(test):
    # on every topic the second is .1 + .2, a little more than .3, so that it would always win
    values = np.tile([0.3, 0.1 + 0.2, 0.5], (8, 1)) + np.array([0, 0, 0.1])
    found = pair_tests(values, test, samples=300)
    assert found.p[0] == 1
    assert (found.p[1:] < 0.05).all()


@pytest.mark.parametrize(
    ("correction", "method"), [("bonferroni", "bonferroni"), ("holm", "holm"), ("benjamini-hochberg", "fdr_bh")]
)
def test_corrections_are_statsmodels(correction, method):
    values = scores()
    found = pair_tests(values)
    reject, corrected = multipletests(found.p, alpha=0.05, method=method)[:2]
    np.testing.assert_array_equal(found.corrected(correction), corrected)
    np.testing.assert_array_equal(found.significant(0.05, correction), reject)
    assert 0 < reject.sum() < (found.p <= 0.05).sum() or method == "fdr_bh"


def test_a_pair_without_a_p_value_is_not_counted_by_a_correction():
    found = PairTests(*np.triu_indices(3, 1), np.zeros(3), np.array([0.01, np.nan, 0.04]))
    assert found.corrected("bonferroni")[[0, 2]].tolist() == [0.02, 0.08]
    assert np.isnan(found.corrected("bonferroni")[1])
    assert found.significant(0.02, "bonferroni").tolist() == [True, False, False]


def test_refused(messages):
    messages.refused(check_test, argument="test", test="z", correction="none")
    messages.refused(check_test, argument="correction", test="t", correction="sidak")
    messages.refused(check_test, argument="correction", test="tukey", correction="holm")
    check_test("tukey", "none")


# agreement of two tests about which differences are significant, against a literal loop with scipy


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


# tests of all pairs in every resample of the topics, against the same tests of the topics drawn, written out


def tied_scores(seed, n_topics=12, n_systems=8):
    """Return two scorings with ties, twins, and systems that are apart by the same on every topic."""
    random = np.random.default_rng(seed)
    one = np.round(random.random((n_topics, n_systems)), 1) + np.linspace(0, 0.6, n_systems)
    other = np.round(one + random.normal(0, 0.2, one.shape), 1)
    one[:, 3] = one[:, 4]
    other[:, 0] = other[:, 1] + 0.1
    # the last bits alone
    other[:, 5] = other[:, 6] + 1e-16
    return one, other


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_each_draw_is_the_test_of_its_topics(correction):
    one, other = tied_scores(1)
    bootstrap = TopicBootstrap(60, 5, 0.95)
    found = drawn_agreement(one, other, bootstrap, 0.05, correction)
    for draw, counts in enumerate(bootstrap.counts(len(one))):
        rows = np.repeat(np.arange(len(one)), counts)
        expected = agreement_of_tests(pair_tests(one[rows]), pair_tests(other[rows]), 0.05, correction)
        assert (found.ss_a[draw], found.ss_d[draw], found.sn[draw], found.ns[draw]) == (
            expected.ss_a,
            expected.ss_d,
            expected.sn,
            expected.ns,
        )
        by_second = expected.ss_a + expected.ss_d + expected.ns
        by_first = expected.ss_a + expected.ss_d + expected.sn
        share = expected.ns / by_second if by_second else np.nan
        missed = expected.sn / by_first if by_first else np.nan
        assert found.only_second[draw] == pytest.approx(share, nan_ok=True)
        assert found.only_first[draw] == pytest.approx(missed, nan_ok=True)
        assert found.agree[draw] == pytest.approx(expected.agree, nan_ok=True)
    assert found.ss_a.any()
    assert found.ns.any()


def test_the_memory_that_is_held_at_a_time_changes_nothing(monkeypatch):
    one, other = tied_scores(2)
    bootstrap = TopicBootstrap(30, 1, 0.95)
    whole = drawn_agreement(one, other, bootstrap, 0.05, "holm")
    monkeypatch.setattr(significance, "_AT_ONCE", 100)
    parts = drawn_agreement(one, other, bootstrap, 0.05, "holm")
    assert (whole.ns == parts.ns).all()
    assert (whole.ss_a == parts.ss_a).all()


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


def normal_scores(seed, topics=20, systems=9, spread=0.15):
    random = np.random.default_rng(seed)
    return random.normal(0, 0.2, (topics, systems)) + random.normal(0, spread, systems)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_loop_over_scipy(seed, alpha):
    one, other = normal_scores(seed), normal_scores(seed + 50, topics=31)
    found = agreement_of_tests(pair_tests(one), pair_tests(other), alpha)
    expected = literal(one, other, alpha)
    assert {name: getattr(found, name) for name in expected} == expected
    weight = 2 * expected["ss_a"] + 2 * expected["ss_d"] + expected["sn"] + expected["ns"]
    assert found.agree == 2 * expected["ss_a"] / weight
    assert found.active == 2 * expected["ss_d"] / weight
    assert found.passive == (expected["sn"] + expected["ns"]) / weight
    assert found.untested == 0
