"""What may be given as two rankings: labels, rounding, kinds of numbers, and what is refused."""

import inspect
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from correlation_parts import (
    CORRELATIONS,
    X,
    Y,
)

from pt_reuse.arrays import correlation
from pt_reuse.arrays.correlation import (
    correlations,
    largest_drop,
    rank_changes,
    tau_a,
    tau_b,
)


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


# errors


def parameters(function):
    return list(inspect.signature(function).parameters)[:2]


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
