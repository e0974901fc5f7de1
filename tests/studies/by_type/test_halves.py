"""Halves of units: how many there are, what is drawn, and that neither order nor other types decide it."""

from __future__ import annotations

from math import comb

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.studies.by_type import halves_of


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 9), asked=st.integers(1, 40), seed=st.integers(0, 5))
def test_halves_differ_and_are_the_smaller_ones(n, asked, seed):
    names = [f"t{i}" for i in range(n)]
    found = halves_of(names, "x", asked, seed)
    assert len(found) == min(asked, comb(n, n // 2))
    assert (found.sum(axis=1) == n // 2).all()
    assert len({tuple(row) for row in found.tolist()}) == len(found)
    # the order in which the units stand decides nothing
    order = np.random.default_rng(seed).permutation(n)
    again = halves_of([names[i] for i in order], "x", asked, seed)
    assert np.array_equal(again, found[:, order])


def test_types_are_drawn_apart():
    names = [f"r{i}" for i in range(20)]
    one, other = (halves_of(names, kind, 3, 1) for kind in ("a", "b"))
    assert not np.array_equal(one, other)
