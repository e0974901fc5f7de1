"""The figures of pools of one type: what stands in the axes."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import pt_reuse as ptr
from pt_reuse.plots.sheet import looks

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def found():
    field = ptr.simulate_field(seed=5, n_topics=8, n_docs=150, n_teams=9, length=20, depth=5)
    return ptr.by_type(field.runs, field.qrels, ["AP", "nDCG@5"], unit="run", splits=4, depth=5, contributors="all")


def axes():
    return Figure(figsize=(7, 5)).subplots()


@pytest.mark.parametrize("split", [None, 1])
def test_actual_against_estimated_scores(found, split):
    ax = found.plot("nDCG@5", pool="neural", split=split, ax=axes(), title=None)
    rows = found.scores("neural", measure="nDCG@5", split=split)
    kinds = sorted(set(rows["type"]))
    assert len(ax.collections) == len(kinds) == 3
    numbers = found.table if split is None else found.by_split[found.by_split["split"] == split]
    numbers = numbers[(numbers["measure"] == "nDCG@5") & (numbers["pool"] == "neural")].set_index("tested")["tau_b"]
    for points, kind, look in zip(ax.collections, kinds, looks(3), strict=True):
        mine = rows[rows["type"] == kind]
        np.testing.assert_array_equal(points.get_offsets(), mine[["score", "estimated"]])
        assert tuple(points.get_facecolor()[0]) == to_rgba(look.colour)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == [f"{kind} (τ {numbers[kind]:.2f})".replace("-", "−") for kind in kinds]
    (line,) = ax.get_lines()
    assert line.get_slope() == 1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("nDCG@5, actual", "nDCG@5, by the pool of neural")
    assert ax.get_xlim() == ax.get_ylim()
