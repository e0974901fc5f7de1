"""Coefficients of rank correlation: by hand, as published with other software, and where there is none."""

import math
import subprocess
import sys

import numpy as np
import pytest
from correlation_parts import EVERY, X, Y

from pt_reuse._errors import ReuseWarning
from pt_reuse.arrays.correlation import (
    correlations,
    gamma,
    tau_a,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
    tau_b,
    weighted_tau,
)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (tau_a, 1 / 6),
        (tau_b, 1 / math.sqrt(6 * 5)),
        (gamma, 1 / 5),
        # y: a | c d | b. Orders acdb: C = 1, 2, 1 over 1, 2, 3; adcb: C = 1, 1, 1 over 1, 2, 3. Sums 7/3 and 11/6,
        # mean 25/12; 2/3 * 25/12 - 1 = 7/18
        (tau_ap_a, 7 / 18),
        # down y: c 1/1, d 1/1, b 1/3: 2 (7/3)/3 - 1 = 5/9; down x: b 1/1, c 1/2, d 1/3: 2 (11/6)/3 - 1 = 2/9; mean 7/18
        (tau_ap_b, 7 / 18),
        # weights by x and y: a 1, b 1/4, c 1/2, d 1/3 down y (c before d, as in x); a 1, b 1/2, c 1/3, d 1/4 down x.
        # Down y: + (5/4 + 3/2 + 4/3) - (3/4 + 7/12) = 11/4 over sqrt(25/4 (25/4 - 5/6)); down x: + (3/2 + 4/3 + 5/4)
        # - (5/6 + 3/4) = 5/2 over sqrt(25/4 (25/4 - 7/12))
        (weighted_tau, (11 / 4 / math.sqrt(25 / 4 * 65 / 12) + 5 / 2 / math.sqrt(25 / 4 * 17 / 3)) / 2),
    ],
)
def test_by_hand(function, wanted):
    assert function(X, Y) == pytest.approx(wanted, abs=1e-14)


def test_tau_ap_by_hand_and_its_direction():
    # truth a b c d, estimate d a b c: C = 0, 1, 2 over 1, 2, 3: 2/3 (1/2 + 2/3) - 1 = -2/9
    # the other way, walking a b c d with d a b c as truth: C = 1, 2, 0: 2/3 (1 + 1 + 0) - 1 = 1/3
    truth, estimate = [4, 3, 2, 1], [3, 2, 1, 4]
    assert tau_ap(truth, estimate) == pytest.approx(-2 / 9, abs=1e-15)
    assert tau_ap(estimate, truth) == pytest.approx(1 / 3, abs=1e-15)
    assert tau_ap(truth=truth, estimate=estimate) == tau_ap(truth, estimate)


def test_import_does_not_load_scipy():
    code = "import sys, pt_reuse.arrays.correlation as c; c.tau_b([1, 2], [1, 2]); print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# golden: the R package ircor 1.0 (github.com/julian-urbano/ircor), x the truth and y the estimate throughout

ONE = {
    "x": [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
    "y": [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
}
TWO = {
    "x": [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
    "y": [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
}
THREE = {
    "x": [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
    "y": [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
}


@pytest.mark.parametrize(
    ("data", "untied", "x_untied", "tied"),
    [  # tests/testthat/test_tau.R and test_tauAP.R; ties come from rounding to one decimal
        (ONE, (0.9111, 0.8519, 0.8333), (0.8889, 0.7454), (0.9398, 0.7321)),
        (TWO, (0.2889, 0.2504, 0.2880), (0.3333, 0.2692), (0.3765, 0.297)),
        (THREE, (-0.6889, -0.6971, -0.668), (-0.6222, -0.5558), (-0.6510, -0.7047)),
    ],
)
def test_ircor_tests(data, untied, x_untied, tied):
    x, y = data["x"], data["y"]
    x_ties, y_ties = np.round(x, 1), np.round(y, 1)
    digits = {"abs": 5e-5}
    for function in (tau_a, tau_b, gamma):
        assert function(x, y) == pytest.approx(untied[0], **digits)
    for function in (tau_ap, tau_ap_a):
        assert function(x, y) == pytest.approx(untied[1], **digits)
    assert tau_ap_b(x, y) == pytest.approx(untied[2], **digits)
    assert (tau_a(x, y_ties), tau_ap_a(x, y_ties)) == pytest.approx(x_untied, **digits)
    assert (tau_b(x_ties, y_ties), tau_ap_b(x_ties, y_ties)) == pytest.approx(tied, **digits)
    assert (tau_b(y_ties, x_ties), tau_ap_b(y_ties, x_ties)) == pytest.approx(tied, **digits)


# undefined: NaN and a warning


@EVERY
@pytest.mark.parametrize("side", [0, 1])
def test_one_side_ties_all(function, side, messages):
    data = [[0.5, 0.5, 0.5], [0.1, 0.2, 0.3]]
    with pytest.warns(ReuseWarning) as caught:
        assert math.isnan(function(*(data if side == 0 else data[::-1])))
    assert [warning.filename for warning in caught] == [__file__]
    messages.told(caught[0].message)


@pytest.mark.parametrize(
    ("function", "truth", "estimate"),
    [
        (tau_ap, [4, 3, 3, 1], [4, 3, 2, 1]),
        (tau_ap, [4, 3, 2, 1], [4, 3, 4, 1]),
        (tau_ap_a, [4, 3, 3, 1], [4, 4, 2, 1]),
    ],
)
def test_ties_where_there_must_be_none(function, truth, estimate, messages):
    assert math.isnan(messages.warned(lambda: function(truth, estimate)))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0), (2, 1)])
def test_agreement_of_nothing_is_nan_without_warning(shape):
    table = correlations(np.zeros(shape[1]), np.zeros(shape))
    assert table.shape == (shape[0], 7)
    assert table.iloc[:, :5].isna().all(axis=None)
    assert table.dtypes.tolist() == [np.float64] * 5 + [np.int64] * 2
