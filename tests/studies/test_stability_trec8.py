"""Swap rates of TREC-8 ad hoc, AP of 129 runs on 50 topics, against those that another program found."""

from __future__ import annotations

import numpy as np
import pytest

import pt_reuse as ptr
from pt_reuse.studies.stability import Stability

#: size -> bin -> rate, with 1,000 pairs of samples of another seed
KNOWN = {
    25: {0: 0.440, 1: 0.337, 2: 0.249, 5: 0.084, 10: 0.010},
    50: {0: 0.416, 1: 0.275, 2: 0.168, 5: 0.0285, 10: 0.001},
}


@pytest.fixture(scope="module")
def found(trec8):
    scores = ptr.score(trec8.runs, trec8.qrels, "AP")
    return ptr.profile.stability(scores, sizes=[5, 15, 25, 50], pairs=1000, n_jobs=2)


def test_swap_rates(found):
    assert (found.table.groupby("size")["pairs"].sum() == 8256 * 1000).all()
    for size, rates in KNOWN.items():
        rows = found.table[found.table["size"] == size].set_index("bin")
        for at, rate in rates.items():
            assert rows.loc[at, "rate"] == pytest.approx(rate, abs=0.006), (size, at)


def test_what_is_needed(found):
    """25 topics tell differences from .07 on apart, 50 topics from .05 on, where 95 of 100 pairs are to be kept."""
    needed = found.differences_needed().set_index("size")["difference"]
    assert needed[[25, 50]].tolist() == pytest.approx([0.07, 0.05])
    topics = found.topics_needed().set_index("bin")
    assert topics.loc[[5, 7], "topics"].tolist() == [50, 25]
    assert topics.loc[1, "extrapolated"]


def test_what_is_extrapolated_from_25_topics_is_near_what_50_show(found):
    few = Stability(table=found.table[found.table["size"] <= 25], settings={})
    curve = few.topics_needed().set_index("bin").loc[[1, 2, 5]]
    rates = curve["start"] * np.exp(-curve["decay"] * 50)
    at_50 = found.table[found.table["size"] == 50].set_index("bin").loc[[1, 2, 5], "rate"]
    assert (rates - at_50).abs().max() < 0.05
