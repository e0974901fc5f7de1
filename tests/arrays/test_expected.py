"""Expected scores against every labelling, ir_measures and finite differences; learning and calibrating by others."""

from __future__ import annotations

import itertools

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, RR, P, R, Success, nDCG
from sklearn.linear_model import LogisticRegression

from pt_reuse.arrays.expected import _RIDGE, Likely, Logistic, by_unit, conformal_quantile, expected_scores
from pt_reuse.scoring.measures import native_spec

RBP = ir_measures.RBP
CHANCES = np.array([0.3, 1.0, 0.0, 0.8, 0.5])
#: measures whose expectation is exact
EXACT = [P @ 3, P @ 5, RBP(rel=1, p=0.7), Success @ 2, RR]
LABELS = (1, 2, 3)


def scored(measure, chances, total):
    """Return the expected score of a list of chances to be relevant, and the changes."""
    lists = Likely({1: chances[None, None]}, {1: np.array([total])}, {1: 1.0})
    score, changes = expected_scores(native_spec(measure), lists)
    return float(score[0, 0]), changes()[1][0, 0]


def by_ir_measures(measure, labels, others=()):
    """Return the score of a list with labels, when others are judged, too."""
    docs = [f"d{i}" for i in range(len(labels) + len(others))]
    qrels = pd.DataFrame({"query_id": "1", "doc_id": docs, "relevance": [*labels, *others]})
    run = pd.DataFrame(
        {"query_id": "1", "doc_id": docs[: len(labels)], "score": np.arange(len(labels), 0, -1, dtype=float)}
    )
    return ir_measures.calc_aggregate([measure], qrels, run)[measure]


@pytest.mark.parametrize("measure", EXACT, ids=repr)
def test_expectations_over_every_labelling(measure):
    expected = 0.0
    for labels in itertools.product((0, 1), repeat=len(CHANCES)):
        weight = np.prod([p if label else 1 - p for p, label in zip(CHANCES, labels, strict=True)])
        if weight:
            expected += weight * by_ir_measures(measure, labels, [0])
    assert scored(measure, CHANCES, 7.0)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", [*EXACT, AP, AP @ 3, R @ 4, nDCG @ 4, nDCG], ids=repr)
def test_judged_lists_have_their_scores(measure):
    for labels in itertools.product((0, 1), repeat=5):
        total = sum(labels) + 2
        found = scored(measure, np.array(labels, dtype=float), float(total))[0]
        assert found == pytest.approx(by_ir_measures(measure, labels, [1, 1, 0]), abs=1e-12)


@pytest.mark.parametrize("measure", [nDCG @ 3, nDCG, nDCG(dcg="exp-log2") @ 4], ids=repr)
def test_grades(measure):
    spec = native_spec(measure)
    rng = np.random.default_rng(3)
    for _ in range(20):
        labels, others = rng.integers(0, 4, 5), rng.integers(0, 4, 3)
        every = np.append(labels, others)
        lists = Likely(
            {label: (labels >= label).astype(float)[None, None] for label in LABELS},
            {label: np.array([(every >= label).sum()], dtype=float) for label in LABELS},
            {label: gain for label, gain in spec.gain_of_label(np.array([0, 1, 2, 3], dtype=np.int16)).items()},
        )
        found = expected_scores(spec, lists)[0][0, 0]
        assert found == pytest.approx(
            by_ir_measures(measure, labels.tolist(), others.tolist()),
            abs=1e-9 if measure.params.get("dcg") is None else 6e-6,
        )


@pytest.mark.parametrize("measure", [*EXACT, AP, AP @ 4, R @ 4, nDCG @ 4, nDCG], ids=repr)
def test_changes_are_slopes(measure):
    # a document that may be relevant is one of the expected relevant ones, too
    chances, step = np.array([0.3, 0.6, 0.2, 0.8, 0.5]), 1e-6
    _, changes = scored(measure, chances, 2.5)
    for at in range(len(chances)):
        more = chances + step * (np.arange(5) == at)
        slope = (scored(measure, more, 2.5 + step)[0] - scored(measure, chances, 2.5)[0]) / step
        cutoff = native_spec(measure).cutoff or 5
        if at < cutoff:
            assert changes[at] == pytest.approx(slope, abs=1e-5), at


def test_the_regression_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(400), rng.normal(size=(400, 3))])
    y = rng.random(400) < 1 / (1 + np.exp(-(x @ [0.5, 1.0, -2.0, 0.0])))
    found = Logistic.fit(x, y)
    peer = LogisticRegression(C=1 / _RIDGE, tol=1e-10, max_iter=1000).fit(x[:, 1:], y)
    assert found.found == pytest.approx(np.append(peer.intercept_, peer.coef_), abs=1e-3)
    # without some rows they are those of a fit without them
    exact = Logistic.fit(x[150:], y[150:]).found
    assert np.abs(exact - found.found).max() > 0.05
    assert found.without(slice(150)) == pytest.approx(exact, abs=1e-3)


def brute_quantile(errors, unit, confidence):
    units = sorted(set(unit))
    for error in sorted(errors):
        inside = sum(np.mean([e <= error for e, u in zip(errors, unit, strict=True) if u == one]) for one in units)
        if inside >= confidence * (len(units) + 1) - 1e-9:
            return error
    return np.inf


def test_conformal_quantiles():
    rng = np.random.default_rng(5)
    for n in (3, 8, 9, 12, 30):
        unit = np.repeat(np.arange(n), rng.integers(1, 5, n))
        errors = rng.exponential(size=len(unit))
        assert conformal_quantile(errors, unit, 0.9) == brute_quantile(errors, unit, 0.9)
        assert np.isinf(conformal_quantile(errors, unit, 0.9)) is np.bool_(n < 9)
    assert by_unit(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 2]), 0.5) == 3.0


def over_every_labelling(measure, chances, known):
    """Return the mean score over labellings that have a relevant document, or `known` others; without, it is 0."""
    expected = 0.0
    for labels in itertools.product((0, 1), repeat=len(chances)):
        weight = np.prod([p if label else 1 - p for p, label in zip(chances, labels, strict=True)])
        if weight and sum(labels) + known:
            expected += weight * by_ir_measures(measure, labels, [1] * known)
    return expected


@pytest.mark.parametrize("measure", [AP, AP @ 3, R @ 3, nDCG @ 3, nDCG], ids=repr)
@pytest.mark.parametrize("known", [0, 1, 5])
def test_expectations_of_ratios_are_near(measure, known):
    # where none is likely, dividing by the expected number alone would give far too much
    for chances, near in (
        ([0.05, 0.02, 0.01, 0.05], 0.005),
        ([0.3, 0.1, 0.2, 0.05], 0.06),
        ([0.6, 0.3, 0.5, 0.2], 0.13),
    ):
        found = scored(measure, np.array(chances), sum(chances) + known)[0]
        assert found == pytest.approx(over_every_labelling(measure, chances, known), abs=near / (1 + known))
