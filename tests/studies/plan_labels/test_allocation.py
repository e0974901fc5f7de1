"""How labels are allocated to strata: against every way to do it, and against Neyman's formula."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.arrays.stratified import stratified_variance
from pt_reuse.studies.label_strata import LEAST, Allocation, smallest


def variance(weights, shares, units, drawn):
    return stratified_variance(weights, shares, drawn=np.array(drawn, dtype=float), units=units.astype(float))


STRATUM = st.tuples(st.integers(1, 7), st.floats(0, 1), st.sampled_from([-1.0, 0.5, 1.0, 2.0]))


@given(st.lists(STRATUM, min_size=1, max_size=3), st.data())
@settings(max_examples=40, deadline=None)
def test_no_other_allocation_of_as_many_labels_has_a_smaller_variance(strata, data):
    units, shares, weights = (np.array(column) for column in zip(*strata, strict=True))
    allocation = Allocation.neyman(weights, shares, units)
    total = data.draw(st.integers(allocation.fewest, allocation.most))
    mine = allocation.of(total)
    assert mine.sum() == total
    assert (mine <= units).all()
    assert (mine >= np.minimum(LEAST, units)).all()
    ways = product(*(range(min(LEAST, n), n + 1) for n in units.tolist()))
    least = min(variance(weights, shares, units, way) for way in ways if sum(way) == total)
    assert variance(weights, shares, units, mine) == pytest.approx(least, abs=1e-12)
    if total < allocation.most:
        assert (allocation.of(total + 1) >= mine).all()


def test_without_bounds_it_is_neymans_formula():
    weights, shares = np.array([0.6, 0.3, 0.1]), np.array([0.05, 0.5, 0.9])
    allocation = Allocation.neyman(weights, shares, np.array([60_000, 30_000, 10_000]))
    spread = weights * np.sqrt(shares * (1 - shares))
    assert np.abs(allocation.of(1000) - 1000 * spread / spread.sum()).max() < 1


def test_what_a_full_stratum_cannot_take_goes_to_the_others():
    allocation = Allocation.neyman(np.array([5.0, 1.0, 0.0]), np.array([0.5, 0.5, 0.5]), np.array([4, 40, 9]))
    assert allocation.of(30).tolist() == [4, 26, 0]
    assert (allocation.fewest, allocation.most) == (4, 44)


def test_shares_of_0_and_1_get_what_every_stratum_gets():
    allocation = Allocation.neyman(np.ones(3), np.array([0.0, 1.0, 0.5]), np.array([50, 1, 50]))
    assert allocation.of(20).tolist() == [2, 1, 17]


@pytest.mark.parametrize("bound", [0, 3, 9, 50])
def test_the_smallest_number_that_fits(bound):
    assert smallest(2, 9, lambda n: n >= bound) == min(max(bound, 2), 9)
