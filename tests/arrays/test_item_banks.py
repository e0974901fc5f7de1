"""Banks of items: uniques, growth and Chao's bound, by all choices of units and plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pt_reuse.arrays.item_banks import bank_size, found_by_units, rarefaction, unique_to, weighted_recall

BANKS = st.tuples(st.integers(1, 8), st.integers(2, 6)).flatmap(lambda shape: arrays(bool, shape))


@given(BANKS)
def test_growth_is_the_mean_over_all_choices(by_unit):
    n, expected, size = by_unit.shape[1], rarefaction(by_unit), bank_size(by_unit, 0.95)
    for k in range(1, n + 1):
        numbers = [by_unit[:, list(some)].any(axis=1).sum() for some in combinations(range(n), k)]
        assert expected[k - 1] == pytest.approx(np.mean(numbers), abs=1e-9)
    # the last unit of an order adds what the slope says of the next one
    last = expected[-1] - (expected[-2] if n > 1 else 0)
    assert size["next_unit"] == pytest.approx(last, abs=1e-9)
    if size["unique"] == 1 < n:
        assert np.isnan([size["chao2_low"], size["chao2_high"]]).all()
    else:
        assert size["chao2_low"] <= size["chao2"] <= size["chao2_high"]
    assert size["chao2"] >= by_unit.any(axis=1).sum()


def test_chao2_is_that_of_its_paper():
    # 11 items of one unit, 4 of two, 10 of all of 8: by hand 25 + 7/8 * 110 / 10
    by_unit = np.zeros((25, 8), dtype=bool)
    for item in range(11):
        by_unit[item, item % 8] = True
    by_unit[11:15, :2] = True
    by_unit[15:] = True
    assert bank_size(by_unit, 0.95)["chao2"] == 25 + 7 / 8 * 110 / 10


@given(BANKS, st.integers(0, 100))
def test_uniques_and_scores_are_those_of_loops(by_run, seed):
    random = np.random.default_rng(seed)
    n_items, n_runs = by_run.shape
    of_run = random.integers(0, 3, n_runs)
    by_unit = found_by_units(by_run, of_run, 3)
    owner = unique_to(by_unit)
    credit, weights, topic = (
        by_run * random.random(by_run.shape),
        random.random(n_items),
        random.integers(0, 2, n_items),
    )
    for item in range(n_items):
        units = {of_run[run] for run in range(n_runs) if by_run[item, run]}
        assert set(np.flatnonzero(by_unit[item])) == units
        assert owner[item] == (units.pop() if len(units) == 1 else -1)
    scores = weighted_recall(credit, weights, topic, 2)
    for t, run in np.ndindex(*scores.shape):
        mine = [i for i in range(n_items) if topic[i] == t]
        whole = sum(weights[i] for i in mine)
        assert scores[t, run] == pytest.approx(sum(weights[i] * credit[i, run] for i in mine) / whole if whole else 0)
