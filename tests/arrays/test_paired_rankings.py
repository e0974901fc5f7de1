"""Pairs of rankings of which each has its own truth, against scipy and against one truth at a time."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.arrays import pairs

NAMES = list(pairs.COEFFICIENTS)


@st.composite
def paired(draw):
    """Two rankings a row, of few levels, so that they tie."""
    n, s, levels = draw(st.integers(0, 12)), draw(st.integers(0, 5)), draw(st.integers(1, 12))
    level = st.integers(0, levels - 1)
    sides = [np.array(draw(st.lists(level, min_size=s * n, max_size=s * n)), dtype=float) for _ in range(2)]
    return tuple(side.reshape(s, n) for side in sides)


@given(paired())
@settings(deadline=None)
def test_each_row_is_what_it_is_alone(batch):
    xs, ys = batch
    found = pairs.coefficients(xs, ys, NAMES)
    for i in range(len(xs)):
        alone = pairs.coefficients(xs[i], ys[i : i + 1], NAMES)
        for name, column in found.items():
            np.testing.assert_array_equal(column[i], alone[name][0], err_msg=name)


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


def concordant(table):
    """Return the concordant pairs of a table of counts: each cell times all that is below it and to its right."""
    return sum(
        int(table[i, j] * table[i + 1 :, j + 1 :].sum()) for i in range(table.shape[0]) for j in range(table.shape[1])
    )


def test_blocks_change_nothing(monkeypatch):
    random = np.random.default_rng(1)
    xs, ys = random.integers(9, size=(23, 30)), random.integers(9, size=(23, 30))
    whole = pairs.coefficients(xs, ys, NAMES)
    monkeypatch.setattr(pairs, "BLOCK_CELLS", 30 * 4)
    for name, column in pairs.coefficients(xs, ys, NAMES).items():
        np.testing.assert_array_equal(column, whole[name])
