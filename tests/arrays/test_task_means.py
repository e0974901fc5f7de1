"""Conventions of leaderboards, and tests of pairs over tasks: by plain loops and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from pt_reuse.arrays.significance import counted, pair_tests, task_pair_tests

SHAPES = st.tuples(st.integers(1, 6), st.integers(2, 7))


@st.composite
def boards(draw):
    shape = draw(SHAPES)
    values = draw(arrays(float, shape, elements=st.integers(0, 6).map(lambda n: n / 8)))
    return values, draw(arrays(bool, shape))


def borda(values, there):
    """Return the votes as MTEB counts them, in loops."""
    found = np.zeros(values.shape)
    for t, i in np.argwhere(there):
        above = sum(values[t, j] > values[t, i] for j in range(values.shape[1]) if there[t, j])
        same = sum(values[t, j] == values[t, i] for j in range(values.shape[1]) if there[t, j])
        found[t, i] = values.shape[1] - (above + (same + 1) / 2)
    return found


@given(boards())
def test_votes_are_those_of_plain_loops(board):
    values, there = board
    votes, count = counted(values, there, "borda")
    assert votes == pytest.approx(borda(values, there))
    assert count.all()
    ranks, count = counted(values, there, "mean_rank")
    assert -ranks[there] == pytest.approx(values.shape[1] - borda(values, there)[there])
    assert (count == there).all()


@given(boards())
def test_z_scores_are_scipys(board):
    values, there = board
    found, _ = counted(values, there, "z_score")
    for t in range(len(values)):
        own = values[t, there[t]]
        if len(own) and np.ptp(own):
            assert found[t, there[t]] == pytest.approx(stats.zscore(own))
        else:
            assert not found[t].any()


def test_pairs_with_missing_scores_are_tested_on_the_tasks_of_both():
    rng = np.random.default_rng(3)
    values, there = rng.random((9, 5)), rng.random((9, 5)) < 0.8
    found = task_pair_tests(values, there)
    for i, j, difference, p in zip(found.first, found.second, found.difference, found.p, strict=True):
        both = there[:, i] & there[:, j]
        assert both.sum() > 1
        assert p == pytest.approx(stats.ttest_rel(values[both, i], values[both, j]).pvalue, abs=1e-12)
        assert difference == pytest.approx((values[both, i] - values[both, j]).mean())
    whole, usual = task_pair_tests(values, np.ones_like(there)), pair_tests(values)
    assert (whole.p == usual.p).all()


def test_a_family_of_one_task_each_changes_nothing_and_families_are_statsmodels_clusters():
    ols = pytest.importorskip("statsmodels.api").OLS
    rng = np.random.default_rng(5)
    values, there = rng.random((12, 4)), np.ones((12, 4), dtype=bool)
    alone = task_pair_tests(values, there, np.arange(12))
    assert alone.p == pytest.approx(pair_tests(values).p, abs=1e-12)
    families = np.array([0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 6])
    found = task_pair_tests(values, there, families)
    for i, j, p in zip(found.first, found.second, found.p, strict=True):
        fitted = ols(values[:, i] - values[:, j], np.ones(12)).fit()
        # its factor is G / (G - 1) times (N - 1) / (N - K), which is 1 for a mean
        error = fitted.get_robustcov_results("cluster", groups=families).bse[0]
        assert p == pytest.approx(2 * stats.t.sf(abs(fitted.params[0]) / error, 6), abs=1e-10)


def test_a_pair_without_two_tasks_in_common_is_not_tested():
    values = np.array([[0.1, 0.2], [0.3, 0.5], [0.2, 0.9]])
    there = np.array([[True, True], [True, False], [False, True]])
    found = task_pair_tests(values, there)
    assert np.isnan(found.p).all()
    assert found.difference == pytest.approx([-0.1])


def test_differences_alike_in_all_families_are_not_certain():
    three, none = np.array([0.1, 0.3, 0.2, 0.2, 0.3, 0.1]), np.array([0.1, -0.1, 0.2, -0.2, 0.3, -0.3])
    values = np.stack([np.zeros(6), -three, -none], axis=1)
    found = task_pair_tests(values, np.ones((6, 3), dtype=bool), np.array([0, 0, 1, 1, 2, 2]))
    assert found.p[:2] == pytest.approx([2.0**-2, 1.0])
    # more pairs than are tested at a time
    wide, there = np.random.default_rng(1).random((8, 150)), np.ones((8, 150), dtype=bool)
    assert (task_pair_tests(wide, there).p == pair_tests(wide).p).all()
