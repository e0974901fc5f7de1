"""Prediction-powered means, against ppi_py, plain formulas and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from pt_reuse.arrays.prediction_powered import (
    PLAIN,
    SampledDocuments,
    TopicValues,
    corrected_totals,
    effective_of_pool,
    powered_differences,
    powered_means,
    t_interval,
    totals_of,
)


def drawn(n=12, more=40, columns=4, seed=4, noise=0.1):
    random = np.random.default_rng(seed)
    topic = random.normal(0.4, 0.2, (n + more, 1))
    human = topic + random.normal(0, noise, (n + more, columns)) + 0.02 * np.arange(columns)
    judge = 0.3 + 1.1 * human + random.normal(0, noise, (n + more, columns))
    return TopicValues(human[:n], judge[:n], judge[n:])


def literal(y, f, f_more, lam):
    """Return estimate and standard error by the plain formulas, one number after the other."""
    n, more = len(y), len(f_more)
    estimate = sum(y) / n + lam * (sum(f_more) / more - sum(f) / n)
    rest = [a - lam * b for a, b in zip(y, f, strict=True)]
    squared = np.var(rest, ddof=1) / n + lam**2 * np.var(f_more, ddof=1) / more
    return estimate, squared**0.5


def literal_lambda(y, f, f_more):
    n, more = len(y), len(f_more)
    covariance = np.cov(y, f)[0, 1]
    return min(max(covariance / ((1 + n / more) * np.var([*f, *f_more], ddof=1)), 0), 1)


def jackknifed(y, f, f_more):
    """Return the standard error with the estimate made anew without each of the topics that people labelled."""
    n, estimates = len(y), []
    for i in range(n):
        column = [y[:i] + y[i + 1 :], f[:i] + f[i + 1 :], f_more]
        estimates.append(literal(*column, literal_lambda(*column))[0])
    of_topics = (n - 1) / n * sum((one - np.mean(estimates)) ** 2 for one in estimates)
    return (of_topics + literal_lambda(y, f, f_more) ** 2 * np.var(f_more, ddof=1) / len(f_more)) ** 0.5


@pytest.mark.parametrize(("n", "more", "noise"), [(3, 2, 0.1), (12, 40, 0.1), (8, 9, 0.6), (20, 400, 0.3)])
def test_the_variance_is_that_of_estimates_without_each_topic(n, more, noise):
    """With much noise lambda is cut to 0 without some topics."""
    values = drawn(n, more, noise=noise)
    for found, of in (
        (powered_means(values), values),
        (powered_differences(values), values.differences(0)),
    ):
        for i in range(3):
            column = [part[:, i].tolist() for part in (of.human, of.judge, of.unlabelled)]
            assert found.se[i] == pytest.approx(jackknifed(*column), abs=1e-12)
            lam = literal_lambda(*column)
            assert found.estimate[i] == pytest.approx(literal(*column, lam)[0], abs=1e-12)


def test_ppi_py_says_the_same_where_conventions_agree():
    """Point estimates are equal; its variances divide by n, and its interval is by z."""
    ppi_py = pytest.importorskip("ppi_py", reason="needs `pip install 'pt-reuse[peers]'`")
    for seed, n, more in ((0, 20, 80), (1, 8, 9), (2, 30, 300)):
        values = drawn(n, more, seed=seed)
        mine = powered_means(values)
        for i in range(4):
            column = [part[:, i] for part in (values.human, values.judge, values.unlabelled)]
            for lam in (0.0, 0.37, 1.0):
                ours = powered_means(values, lam)
                theirs = float(np.squeeze(ppi_py.ppi_mean_pointestimate(*column, lam=lam)))
                assert ours.estimate[i] == pytest.approx(theirs, abs=1e-12)
                low, high = (float(np.squeeze(end)) for end in ppi_py.ppi_mean_ci(*column, alpha=0.05, lam=lam))
                assert (low + high) / 2 == pytest.approx(ours.estimate[i], abs=1e-12)
                # both terms by a divisor of one more
                people = np.var(column[0] - lam * column[1], ddof=1) / n * (n - 1) / n
                squared = people + lam**2 * np.var(column[2], ddof=1) / more * (more - 1) / more
                reach = scipy.stats.norm.ppf(0.975) * squared**0.5
                assert (high - low) / 2 == pytest.approx(reach, rel=1e-9)
                mine_low, mine_high = (end[i] for end in t_interval(ours.estimate, ours.se, ours.n, 0.95))
                assert mine_high - mine_low > high - low, "t and n - 1 are wider"
            # its covariance divides by n, its variance of all n + N topics by n + N - 1
            theirs_lambda = mine.weight[i] * (n - 1) / n
            theirs = float(np.squeeze(ppi_py.ppi_mean_pointestimate(*column)))
            assert powered_means(values, theirs_lambda).estimate[i] == pytest.approx(theirs, abs=1e-12)
            assert 0 < mine.weight[i] < 1


def test_a_judge_that_is_always_the_same_or_against_people_is_left_out():
    values = drawn()
    flat = TopicValues(values.human, np.full((12, 4), 0.3), np.full((40, 4), 0.3))
    against = TopicValues(values.human, -values.judge, -values.unlabelled)
    for found in map(powered_means, (flat, against)):
        assert found.weight.tolist() == [0] * 4
        assert found.estimate.tolist() == found.human.tolist()
        assert found.n_eff == pytest.approx(12)


def test_what_is_the_same_on_every_topic_has_no_effective_number():
    flat = TopicValues(np.full((3, 1), 0.25), np.full((3, 1), 0.5), np.full((4, 1), 0.5))
    found = powered_means(flat)
    assert (found.estimate[0], found.se[0], found.p[0]) == (0.25, 0, 0)
    assert np.isnan(found.n_eff[0])
    nothing = powered_differences(TopicValues(*(np.repeat(part, 2, axis=1) for part in vars(flat).values())))
    assert (nothing.estimate[0], nothing.se[0], nothing.p[0]) == (0, 0, 1)


# totals over sampled documents, against all samples that there could be

SIZE = 7
STRATUM = np.array([0, 0, 0, 0, 1, 1, 1])
RANDOM = np.random.default_rng(5)
HUMAN, JUDGE = RANDOM.integers(0, 3, SIZE).astype(float), RANDOM.integers(0, 3, SIZE).astype(float)
WEIGHTS = RANDOM.random((SIZE, 3)).round(2)
TRUTH = WEIGHTS.T @ HUMAN


def totals(sampled, stratum=STRATUM, inclusion=None):
    if inclusion is None:
        share = np.bincount(stratum, weights=sampled) / np.bincount(stratum)
        inclusion = share[stratum]
    # what people did not label is not known
    human = np.where(sampled, HUMAN, 1e6)
    return totals_of(SampledDocuments(sampled, inclusion, stratum, human, JUDGE), WEIGHTS)


def stratified():
    """Yield every sample of 2 documents of the first stratum and 2 of the second."""
    for first in itertools.combinations(range(4), 2):
        for second in itertools.combinations(range(4, 7), 2):
            sampled = np.zeros(SIZE, dtype=bool)
            sampled[[*first, *second]] = True
            yield sampled


def weighted_samples():
    """Yield every sample of documents drawn one by one, and its probability."""
    inclusion = np.array([0.2, 0.9, 0.5, 1.0, 0.4, 0.7, 0.6])
    for drawn in itertools.product([False, True], repeat=SIZE):
        sampled = np.array(drawn)
        yield sampled, inclusion, float(np.where(sampled, inclusion, 1 - inclusion).prod())


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("pairs", [False, True])
def test_over_all_stratified_samples_the_mean_is_the_truth_and_the_variance_the_estimated_one(weight, pairs):
    found = [corrected_totals([totals(sampled)], pairs, weight) for sampled in stratified()]
    truth = TRUTH if not pairs else np.array([TRUTH[0] - TRUTH[1], TRUTH[0] - TRUTH[2], TRUTH[1] - TRUTH[2]])
    estimates = np.array([one.estimate[0] for one in found])
    assert estimates.mean(axis=0) == pytest.approx(truth, abs=1e-9)
    assert np.mean([one.variance for one in found], axis=0) == pytest.approx(estimates.var(axis=0), abs=1e-9)
    alone = np.array([one.human[0] for one in found])
    assert alone.mean(axis=0) == pytest.approx(truth, abs=1e-9)
    assert np.mean([one.human_variance for one in found], axis=0) == pytest.approx(alone.var(axis=0), abs=1e-9)
    if weight == 0:
        assert estimates == pytest.approx(alone)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_over_all_samples_of_documents_drawn_one_by_one(weight):
    chance, estimates, variances = [], [], []
    for sampled, inclusion, p in weighted_samples():
        if not p:
            continue
        found = corrected_totals([totals(sampled, None, inclusion)], False, weight)
        chance.append(p)
        estimates.append(found.estimate[0])
        variances.append(found.variance)
    p = np.array(chance)[:, None]
    mean = (p * np.array(estimates)).sum(axis=0)
    assert p.sum() == pytest.approx(1)
    assert mean == pytest.approx(TRUTH, abs=1e-9)
    spread = (p * (np.array(estimates) - mean) ** 2).sum(axis=0)
    assert (p * np.array(variances)).sum(axis=0) == pytest.approx(spread, abs=1e-9)


def test_a_pool_that_people_labelled_in_full_needs_no_judge():
    found = corrected_totals([totals(np.ones(SIZE, dtype=bool))], False, None)
    assert found.estimate[0] == pytest.approx(TRUTH)
    assert (found.variance.tolist(), found.human_variance.tolist()) == ([0] * 3, [0] * 3)


def test_a_stratum_with_one_labelled_document_of_several_hides_its_spread():
    sampled = np.array([True, False, False, False, True, True, False])
    found = corrected_totals([totals(sampled)], False, 1.0)
    assert np.isnan(found.variance).all()
    assert np.isfinite(found.estimate).all()
    alone = np.array([True, True, True, True, True, False, False])
    assert np.isnan(corrected_totals([totals(alone)], False, None).variance).all()


def test_equal_columns_differ_by_nothing():
    sampled = next(stratified())
    documents = SampledDocuments(sampled, np.full(SIZE, 0.5), STRATUM, HUMAN / 3, JUDGE / 7)
    twice = np.repeat(WEIGHTS[:, :1], 2, axis=1)
    found = corrected_totals([totals_of(documents, twice)], True, None)
    assert (found.estimate.tolist(), found.variance.tolist(), found.weight.tolist()) == ([[0]], [0], [0])


def test_the_effective_number_of_documents():
    """A sample of n of P has a variance of c (1/n - 1/P)."""
    n, size, wanted = 100, 500, 250
    alone, powered = 3 * (1 / n - 1 / size), 3 * (1 / wanted - 1 / size)
    found = effective_of_pool(n, size, np.array([alone, alone, 0.0]), np.array([powered, alone, 0.0]))
    assert found[:2] == pytest.approx([wanted, n])
    assert np.isnan(found[2])


def test_means_are_the_plain_formulas_column_by_column():
    values = drawn()
    found = powered_means(values, variance=PLAIN)
    for i in range(4):
        column = [part[:, i].tolist() for part in (values.human, values.judge, values.unlabelled)]
        lam = literal_lambda(*column)
        assert 0 < lam < 1
        assert found.weight[i] == pytest.approx(lam, abs=1e-12)
        estimate, se = literal(*column, lam)
        assert (found.estimate[i], found.se[i]) == pytest.approx((estimate, se), abs=1e-12)
        low, high = scipy.stats.t.interval(0.9, 11, estimate, se)
        assert [end[i] for end in t_interval(found.estimate, found.se, found.n, 0.9)] == pytest.approx(
            [low, high], abs=1e-12
        )
        assert found.p[i] == pytest.approx(2 * scipy.stats.t.sf(abs(estimate) / se, 11), abs=1e-12)
        assert found.by_judge[i] == pytest.approx(np.mean(column[1] + column[2]))
        assert found.n_eff[i] == pytest.approx(12 * (np.var(column[0], ddof=1) / 12) / se**2)


@pytest.mark.parametrize(("n", "least", "most"), [(20, 0.945, 1.25), (50, 0.945, 1.1)])
def test_intervals_cover_the_truth(n, least, most):
    """Each column is a field of its own; the judge is as far off as it likes."""
    random = np.random.default_rng(n)
    human = random.normal(0.4, 0.2, (n + 200, 4000))
    judge = 0.7 + 2 * human + random.normal(0, 0.3, human.shape)
    found = powered_means(TopicValues(human[:n], judge[:n], judge[n:]))
    low, high = t_interval(found.estimate, found.se, found.n, 0.95)
    assert ((low <= 0.4) & (high >= 0.4)).mean() > least
    assert found.estimate.mean() == pytest.approx(0.4, abs=0.002)
    # the variance is that of the estimates, or somewhat more; for a known lambda it is less
    assert 1 < (found.se**2).mean() / found.estimate.var() < most
    plain = powered_means(TopicValues(human[:n], judge[:n], judge[n:]), variance=PLAIN)
    assert (plain.se**2).mean() < found.estimate.var()
    low, high = t_interval(plain.estimate, plain.se, plain.n, 0.95)
    narrower = (high - low).mean() / np.subtract(*t_interval(found.human, found.human_se, n, 0.95)[::-1]).mean()
    # the best that a correlation of .8 can do
    assert narrower == pytest.approx(np.sqrt(1 - 0.64 * 200 / (200 + n)), rel=0.05)


def test_differences_are_means_of_differences():
    values = drawn(columns=5)
    found = powered_differences(values)
    pairs = list(itertools.combinations(range(5), 2))
    for k, (i, j) in enumerate(pairs):
        column = [(part[:, i] - part[:, j]).tolist() for part in (values.human, values.judge, values.unlabelled)]
        lam = literal_lambda(*column)
        assert found.weight[k] == pytest.approx(lam, abs=1e-9)
        assert (found.estimate[k], found.se[k]) == pytest.approx(
            (literal(*column, lam)[0], jackknifed(*column)), abs=1e-9
        )
        expected = scipy.stats.ttest_rel(values.human[:, i], values.human[:, j])
        assert found.human_p[k] == pytest.approx(expected.pvalue, abs=1e-9)
    assert len(found.estimate) == len(pairs) == 10
    assert len(powered_differences(drawn(columns=1)).estimate) == 0
