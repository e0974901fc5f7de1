"""Halves of units: how many there are, what is drawn, and that neither order nor other types decide it."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse._errors import InputError
from pt_reuse.studies.type_splits import MOST, checked_splits, halves_of


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 9), asked=st.integers(1, 40), seed=st.integers(0, 5))
def test_halves_differ_and_are_the_smaller_ones(n, asked, seed):
    names = [f"t{i}" for i in range(n)]
    found = halves_of(names, "x", asked, seed)
    assert found.possible == comb(n, n // 2)
    assert len(found) == min(asked, found.possible)
    assert (found.picked.sum(axis=1) == n // 2).all()
    assert len({tuple(row) for row in found.picked.tolist()}) == len(found)
    assert found.random == (asked < found.possible)
    # the order in which the units stand decides nothing
    order = np.random.default_rng(seed).permutation(n)
    again = halves_of([names[i] for i in order], "x", asked, seed)
    assert np.array_equal(again.picked, found.picked[:, order])


def test_each_half_is_drawn_as_often():
    names, counts = list("abcd"), {}
    for seed in range(600):
        half = tuple(halves_of(names, "x", 1, seed).picked[0].tolist())
        counts[half] = counts.get(half, 0) + 1
    assert len(counts) == 6
    assert min(counts.values()) > 70


def test_types_are_drawn_apart():
    names = [f"r{i}" for i in range(20)]
    one, other = (halves_of(names, kind, 3, 1).picked for kind in ("a", "b"))
    assert not np.array_equal(one, other)


def test_all_of_too_many_is_refused():
    names = [f"r{i}" for i in range(18)]
    assert comb(18, 9) > MOST
    with pytest.raises(InputError, match="48,620 halves"):
        halves_of(names, "x", None, 0)
    assert len(halves_of(names[:11], "x", None, 0)) == 462
    assert checked_splits("all") is None
