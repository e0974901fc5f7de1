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


def test_counts_by_hand():
    # pairs    ab    ac    ad    bc    bd    cd
    # x 3221   >     >     >     =     >     >
    # y 3312   =     >     >     >     >     <
    # kind     y     C     C     x     C     D
    counts = pairs.compare(np.array([3, 2, 2, 1]), np.array([[3, 3, 1, 2], [3, 2, 2, 1]])).counts
    assert [column[0] for column in counts] == [3, 1, 1, 1, 0, 6]
    assert [column[1] for column in counts] == [5, 0, 0, 0, 1, 6]  # y = x: all concordant but the pair tied in both
    assert counts._fields == ("concordant", "discordant", "tied_x_only", "tied_y_only", "tied_both", "pairs")
    assert all(column.dtype == np.int64 and column.shape == (2,) for column in counts)


def test_ranks_by_hand():
    scores = np.array([[0.2, 0.5, 0.2, 0.9], [1.0, 1.0, 1.0, 0.0], [-1.0, 0.0, -0.0, -2.0]])
    assert pairs.ranks(scores).tolist() == [[3, 2, 3, 1], [1, 1, 1, 4], [3, 1, 1, 4]]  # 0 and -0 tie
    assert pairs.ranks(scores[0]).tolist() == [3, 2, 3, 1]
    assert pairs.ranks(scores[:, None]).shape == (3, 1, 4)
    assert pairs.ranks(scores).dtype == np.int64


def test_rank_drops_by_hand():
    x = np.array([0.4, 0.3, 0.2, 0.1])
    # x ranks 1 2 3 4; ys ranks 4 1 2 3 and 1 1 3 3
    drops = pairs.rank_drops(x, np.array([[0.1, 0.4, 0.3, 0.2], [0.4, 0.4, 0.1, 0.1]]))
    assert drops.tolist() == [[3, -1, -1, -1], [0, -1, 0, -1]]


def test_above_in_both_by_hand():
    # x ranks a 1, b 2, c 2, d 4; y ranks a 1, b 1, c 4, d 3. Above c in both: a, not b (tied in x), not d.
    # Above d in both: a and b. Nobody is above a or b in both. Of b and c, which tie in x, the worse in y stands first.
    comparison = pairs.compare(np.array([3, 2, 2, 1]), np.array([[3, 3, 1, 2]]))
    assert comparison.above_in_both.tolist() == [[0, 1, 0, 2]]
    assert comparison.x_rank.tolist() == [[1, 2, 2, 4]]
    assert comparison.y_rank.tolist() == [[1, 4, 1, 3]]


def test_coefficients_by_hand():
    comparison = pairs.compare(np.array([3, 2, 2, 1]), np.array([[3, 3, 1, 2]]))
    # C 3, D 1, one pair tied in x only, one in y only, of 6; down y: shares 1/3 (c), 2/2 (d): 2 (4/3)/2 - 1 = 1/3;
    # down x: shares 0/1 (b), 1/1 (c), 2/3 (d): 2 (5/3)/3 - 1 = 1/9; mean 2/9
    wanted = {"tau_a": 2 / 6, "tau_b": 2 / 5, "gamma": 2 / 4, "tau_ap": np.nan, "tau_ap_a": np.nan, "tau_ap_b": 2 / 9}
    got = {name: kernel(comparison)[0] for name, kernel in pairs.COEFFICIENTS.items()}
    assert got == pytest.approx(wanted, nan_ok=True, abs=1e-15)


def test_tau_ap_a_by_hand():
    # truth a b c d e; estimate a | b d tied at rank 2 | e | c. Orders abdec: C = 1, 2, 3, 2 over 1, 2, 3, 4: sum 3.5;
    # adbec: C = 1, 1, 3, 2 over 1, 2, 3, 4: sum 3. Mean 3.25, so 2 * 3.25 / 4 - 1 = .625
    comparison = pairs.compare(np.array([5, 4, 3, 2, 1]), np.array([[9, 7, 1, 7, 4]]))
    assert pairs.tau_ap_a(comparison)[0] == pytest.approx(0.625, abs=1e-15)


def test_ap_correlation_is_nan_where_ties_are_not_allowed():
    ties_in_x, untied = np.array([4, 4, 2, 1]), np.array([4, 3, 2, 1])
    estimates = np.array([[4, 3, 2, 1], [4, 4, 2, 1], [4, 3, 3, 1]])  # untied; the tie of x; another tie
    for kernel in (pairs.tau_ap, pairs.tau_ap_a):
        assert np.isnan(kernel(pairs.compare(ties_in_x, estimates))).all()
    assert np.isnan(pairs.tau_ap(pairs.compare(untied, estimates))).tolist() == [False, True, True]
    assert not np.isnan(pairs.tau_ap_a(pairs.compare(untied, estimates))).any()


def test_agreement_by_hand():
    table = pairs.coefficients(np.array([4, 3, 2, 1]), np.array([[1, 4, 3, 2], [4, 3, 2, 1]]), ["tau_a"])
    # the best system becomes the last: 3 of 6 pairs turn
    assert {name: column.tolist() for name, column in table.items()} == {
        "tau_a": [0.0, 1.0],
        "max_drop": [3, 0],
        "max_rise": [1, 0],
    }


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


def test_blocks_cover_everything_once():
    assert list(pairs.blocks(0, 5)) == []
    assert list(pairs.blocks(2, 0)) == [slice(0, 2)]
    assert list(pairs.blocks(3, pairs.BLOCK_CELLS * 2)) == [slice(0, 1), slice(1, 2), slice(2, 3)]


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (3, 0), (3, 1)])
def test_nothing_to_compare(shape):
    table = pairs.coefficients(np.zeros(shape[1]), np.zeros(shape), list(pairs.COEFFICIENTS))
    assert all(len(column) == shape[0] for column in table.values())
    assert all(np.isnan(table[name]).all() for name in pairs.COEFFICIENTS)
    assert table["max_drop"].tolist() == table["max_rise"].tolist() == [0] * shape[0]
    counts = pairs.compare(np.zeros(shape[1]), np.zeros(shape)).counts
    assert all(column.shape == (shape[0],) for column in counts)
