import itertools

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

from pt_reuse._choices import TESTS
from pt_reuse.arrays.significance import PairTests, check_test, pair_tests


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


def test_drawn_signs_are_near_all_of_them():
    values = scores(13, 4)
    found = pair_tests(values, "randomisation", samples=5_000, seed=1)
    for x, y, p in each(values, found):
        assert p == pytest.approx(permuted(x, y, 2**13), abs=4 * np.sqrt(0.25 / 5_000))
    np.testing.assert_array_equal(found.p, pair_tests(values, "randomisation", samples=5_000, seed=1).p)
    assert (found.p != pair_tests(values, "randomisation", samples=5_000, seed=2).p).any()


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
def test_pairs_and_differences_are_the_same_whatever_the_test(test):
    values = alike()
    found = pair_tests(values, test, samples=50)
    assert found.first.tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert found.second.tolist() == [1, 2, 3, 4, 2, 3, 4, 3, 4, 4]
    np.testing.assert_allclose(found.difference, values.mean(axis=0)[found.first] - values.mean(axis=0)[found.second])
    assert found.p[3] == 1
    assert not found.significant()[3]


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


def test_samples_as_far_as_the_data_are_counted_whatever_the_last_bits():
    """Of four topics each way of turning signs has its mirror image, which is as far from 0."""
    values = np.random.default_rng(4).random((4, 60))
    for x, y, p in each(values, pair_tests(values, "randomisation", samples=16)):
        sums = np.abs(np.array(list(itertools.product((1, -1), repeat=4))) @ (x - y))
        assert p == (sums >= abs((x - y).sum()) - 1e-9).mean()
    means = values[:, :2].mean(axis=0)
    assert pair_tests(values[:, :2], "tukey", samples=4_000).p[0] == pytest.approx(
        np.mean([abs(np.dot(signs, values[:, 0] - values[:, 1])) >= 4 * abs(means[0] - means[1]) - 1e-9
                 for signs in itertools.product((1, -1), repeat=4)]), abs=0.04
    )  # fmt: skip


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
