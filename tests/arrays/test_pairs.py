import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.arrays import pairs


def literal_counts(x, y):
    """C, D, tied in x only, tied in y only, tied in both, all: one pair at a time."""
    found = [0, 0, 0, 0, 0, 0]
    for i, j in itertools.combinations(range(len(x)), 2):
        in_x, in_y = (x[i] > x[j]) - (x[i] < x[j]), (y[i] > y[j]) - (y[i] < y[j])
        kind = 4 if in_x == in_y == 0 else 2 if in_x == 0 else 3 if in_y == 0 else 0 if in_x == in_y else 1
        found[kind] += 1
        found[5] += 1
    return found


@st.composite
def batches(draw):
    n, s = draw(st.integers(0, 12)), draw(st.integers(0, 5))
    levels = draw(st.integers(1, 12))
    level = st.integers(0, levels - 1)
    x = np.array(draw(st.lists(level, min_size=n, max_size=n)), dtype=float)
    ys = np.array(draw(st.lists(level, min_size=s * n, max_size=s * n)), dtype=float).reshape(s, n)
    return x, ys


# by hand


def test_ap_correlation_is_nan_where_ties_are_not_allowed():
    ties_in_x, untied = np.array([4, 4, 2, 1]), np.array([4, 3, 2, 1])
    estimates = np.array([[4, 3, 2, 1], [4, 4, 2, 1], [4, 3, 3, 1]])  # untied; the tie of x; another tie
    for kernel in (pairs.tau_ap, pairs.tau_ap_a):
        assert np.isnan(kernel(pairs.compare(ties_in_x, estimates))).all()
    assert np.isnan(pairs.tau_ap(pairs.compare(untied, estimates))).tolist() == [False, True, True]
    assert not np.isnan(pairs.tau_ap_a(pairs.compare(untied, estimates))).any()


# reference


@given(batches())
@settings(deadline=None, max_examples=50)
def test_counts_equal_a_literal_count(batch):
    x, ys = batch
    counts = pairs.compare(x, ys).counts
    for i, y in enumerate(ys):
        assert [column[i] for column in counts] == literal_counts(x.tolist(), y.tolist())


@given(batches())
@settings(deadline=None, max_examples=50)
def test_ranks_and_above_equal_their_definitions(batch):
    x, ys = batch
    comparison = pairs.compare(x, ys)
    for i, y in enumerate(ys):
        order = sorted(range(len(x)), key=lambda s: (-x[s], y[s]))
        assert comparison.x_rank[i].tolist() == [1 + sum(x > x[s]) for s in order]
        assert comparison.y_rank[i].tolist() == [1 + sum(y > y[s]) for s in order]
        assert comparison.above_in_both[i].tolist() == [sum((x > x[s]) & (y > y[s])) for s in order]
    drops = comparison.y_rank - comparison.x_rank
    assert (np.sort(pairs.rank_drops(x, ys)) == np.sort(drops)).all()


# properties


@pytest.mark.parametrize("levels", [5, 10_000])
def test_blocks_change_nothing(monkeypatch, levels):
    rng = np.random.default_rng(1)
    x, ys = rng.integers(levels, size=30), rng.integers(levels, size=(23, 30))
    names = list(pairs.COEFFICIENTS)
    whole, counts = pairs.coefficients(x, ys, names), pairs.compare(x, ys).counts
    monkeypatch.setattr(pairs, "BLOCK_CELLS", 30 * 4)
    assert [block.stop - block.start for block in pairs.blocks(23, 30)] == [4, 4, 4, 4, 4, 3]
    cut = pairs.coefficients(x, ys, names)
    for name, column in whole.items():
        np.testing.assert_array_equal(column, cut[name])
    parts = [pairs.compare(x, ys[block]).counts for block in pairs.blocks(23, 30)]
    for column, cut_columns in zip(counts, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(column, np.concatenate(cut_columns))


def test_more_systems_than_16_bits_can_rank():
    n = 33_000
    x = np.arange(n, dtype=float)
    x[-1] = x[-2]  # the two best tie
    pairs_of_n = n * (n - 1) // 2
    counts = pairs.compare(x, -x[None]).counts
    assert [column[0] for column in counts] == [0, pairs_of_n - 1, 0, 0, 1, pairs_of_n]
