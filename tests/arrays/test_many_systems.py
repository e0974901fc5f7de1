"""Pairs among thousands of systems: the same numbers as pair by pair, for work that does not grow with the pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.arrays import pairs


@pytest.mark.parametrize("n", [385, 512, 513, 1000, 4097])
@pytest.mark.parametrize("levels", [1, 3, 200, 100_000])
def test_cutting_long_rows_changes_no_number(n, levels):
    rows = np.random.default_rng(n + levels).integers(levels, size=(5, n))
    rows[1], rows[2] = np.sort(rows[1]), np.sort(rows[2])[::-1]
    expected = [[int((row[:i] < row[i]).sum()) for i in range(n)] for row in rows]
    found = pairs._smaller_before(rows)
    assert found.dtype == np.int64
    assert found.tolist() == expected


def test_estimates_that_equal_the_truth_are_compared_once(monkeypatch):
    x, literal, rows = np.array([0.3, 0.2, 0.1]), pairs.compare, []

    def counted(truth, ys):
        rows.extend(ys.tolist())
        return literal(truth, ys)

    monkeypatch.setattr(pairs, "compare", counted)
    found = pairs.coefficients(x, np.array([x, x[::-1], x, x, [0.2, 0.2, 0.1]]), ["tau_a"])
    assert rows == [[0.3, 0.2, 0.1], [0.1, 0.2, 0.3], [0.2, 0.2, 0.1]]
    assert found["tau_a"].tolist() == [1.0, -1.0, 1.0, 1.0, 2 / 3]
    assert found["max_drop"].tolist() == [0, 2, 0, 0, 0]
    assert found["max_rise"].tolist() == [0, 2, 0, 0, 1]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 30), st.integers(1, 6), st.integers(1, 20), st.integers(0, 2**32))
def test_ranks_of_units_alone_are_those_of_the_field_as_each_sees_it(n, n_units, levels, seed):
    random = np.random.default_rng(seed)
    unit, (full, own) = random.integers(n_units, size=n), random.integers(levels, size=(2, n)) / levels
    seen = [np.where(unit == unit[r], own, full) for r in range(n)]
    expected = [1 + int((field > own[r]).sum()) for r, field in enumerate(seen)]
    assert pairs.rank_alone(full, own, unit).tolist() == expected
