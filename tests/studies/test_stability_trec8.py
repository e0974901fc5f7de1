"""Swap rates of TREC-8 ad hoc, AP of 129 runs on 50 topics, against those that another program found."""

from __future__ import annotations

import pytest

import pt_reuse as ptr

#: size -> bin -> rate, with 1,000 pairs of samples of another seed
KNOWN = {
    25: {0: 0.440, 1: 0.337, 2: 0.249, 5: 0.084, 10: 0.010},
    50: {0: 0.416, 1: 0.275, 2: 0.168, 5: 0.0285, 10: 0.001},
}


def test_swap_rates(trec8):
    found = ptr.profile.stability(ptr.score(trec8.runs, trec8.qrels, "AP"), sizes=[25, 50], pairs=1000)
    assert (found.table.groupby("size")["pairs"].sum() == 8256 * 1000).all()
    for size, rates in KNOWN.items():
        rows = found.table[found.table["size"] == size].set_index("bin")
        for at, rate in rates.items():
            assert rows.loc[at, "rate"] == pytest.approx(rate, abs=0.006), (size, at)
