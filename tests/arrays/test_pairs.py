import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
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


# reference


@given(batches())
def test_counts_equal_a_literal_count(batch):
    x, ys = batch
    counts = pairs.compare(x, ys).counts
    for i, y in enumerate(ys):
        assert [column[i] for column in counts] == literal_counts(x.tolist(), y.tolist())


@given(batches())
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


# pairs among thousands of systems: the same numbers as pair by pair, for work that does not grow with the pairs


@pytest.mark.parametrize("n", [385, 512, 513, 1000, 4097])
@pytest.mark.parametrize("levels", [1, 3, 200, 100_000])
def test_cutting_long_rows_changes_no_number(n, levels):
    rows = np.random.default_rng(n + levels).integers(levels, size=(5, n))
    rows[1], rows[2] = np.sort(rows[1]), np.sort(rows[2])[::-1]
    expected = [[int((row[:i] < row[i]).sum()) for i in range(n)] for row in rows]
    found = pairs._smaller_before(rows)
    assert found.dtype == np.int64
    assert found.tolist() == expected


@given(st.integers(0, 30), st.integers(1, 6), st.integers(1, 20), st.integers(0, 2**32))
def test_ranks_of_units_alone_are_those_of_the_field_as_each_sees_it(n, n_units, levels, seed):
    random = np.random.default_rng(seed)
    unit, (full, own) = random.integers(n_units, size=n), random.integers(levels, size=(2, n)) / levels
    seen = [np.where(unit == unit[r], own, full) for r in range(n)]
    expected = [1 + int((field > own[r]).sum()) for r, field in enumerate(seen)]
    assert pairs.rank_alone(full, own, unit).tolist() == expected


def concordant(table):
    """Return the concordant pairs of a table of counts: each cell times all that is below it and to its right."""
    return sum(
        int(table[i, j] * table[i + 1 :, j + 1 :].sum()) for i in range(table.shape[0]) for j in range(table.shape[1])
    )


@pytest.mark.parametrize("levels", [4, 30, 100_000])
@pytest.mark.parametrize("n", [2, 20, 300])
def test_each_row_is_scipy_s(levels, n):
    """300 systems take more than 8 bits a rank; 4 levels tie most of them, and of 2 systems often all: NaN."""
    random = np.random.default_rng(levels + n)
    xs, ys = (random.integers(levels, size=(25, n)) / levels for _ in range(2))
    xs[0] = xs[1] = 0.5
    ys[1] = ys[2] = 0.25
    found = pairs.coefficients(xs, ys, ["tau_b", "gamma"])
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        assert found["tau_b"][i] == pytest.approx(scipy.stats.kendalltau(x, y).statistic, nan_ok=True, abs=1e-12)
        ranks = [scipy.stats.rankdata(-side, "min") for side in (x, y)]
        assert found["max_drop"][i] == max(0, (ranks[1] - ranks[0]).max())
        assert found["max_rise"][i] == max(0, (ranks[0] - ranks[1]).max())
        if n <= 20:
            table = scipy.stats.contingency.crosstab(x, y).count
            c, d = concordant(table), concordant(table[:, ::-1])
            assert found["gamma"][i] == (
                pytest.approx((c - d) / (c + d), abs=1e-15) if c + d else pytest.approx(np.nan, nan_ok=True)
            )
    assert np.isnan([found[name][:3] for name in ("tau_b", "gamma")]).all()
