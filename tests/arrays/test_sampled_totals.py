"""Totals over sampled documents, against all samples that there could be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pt_reuse.arrays.prediction_powered import SampledDocuments, corrected_totals, effective_of_pool, totals_of

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


def test_the_estimated_lambda_makes_the_sum_of_variances_least():
    topics = [totals(sampled) for sampled in itertools.islice(stratified(), 3)]
    best = corrected_totals(topics, False, None)
    assert 0 < best.weight[0] < 1
    assert len(set(best.weight)) == 1
    for weight in np.linspace(0, 1, 51):
        assert best.variance.sum() <= corrected_totals(topics, False, weight).variance.sum() + 1e-12


def test_a_pool_that_people_labelled_in_full_needs_no_judge():
    found = corrected_totals([totals(np.ones(SIZE, dtype=bool))], False, None)
    assert found.estimate[0] == pytest.approx(TRUTH)
    assert (found.variance.tolist(), found.human_variance.tolist()) == ([0] * 3, [0] * 3)


def test_a_judge_equal_to_people_leaves_no_doubt():
    sampled = next(stratified())
    documents = SampledDocuments(sampled, np.where(STRATUM == 0, 1 / 2, 2 / 3), STRATUM, HUMAN, HUMAN)
    found = corrected_totals([totals_of(documents, WEIGHTS)], False, None)
    assert found.weight == pytest.approx(1)
    assert found.estimate[0] == pytest.approx(TRUTH)
    assert found.variance == pytest.approx(0, abs=1e-12)
    assert found.human_variance.min() > 0
    assert effective_of_pool(4, SIZE, found.human_variance, found.variance) == pytest.approx(SIZE)


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
