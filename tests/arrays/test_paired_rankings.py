"""Pairs of rankings of which each has its own truth, against scipy and against one truth at a time."""

import numpy as np
import pytest
import scipy.stats

from pt_reuse.arrays import pairs


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
