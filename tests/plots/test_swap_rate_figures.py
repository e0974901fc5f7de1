"""The figure of swap rates draws what the table says."""

from __future__ import annotations

import numpy as np
import pytest

import pt_reuse as ptr
from pt_reuse.plots.sheet import off_screen

FIELD = ptr.simulate_field(seed=8)
POOL, ALL = (ptr.score(FIELD.runs, qrels, ["AP", "RR"]) for qrels in (FIELD.qrels, FIELD.all_qrels))
FOUND = ptr.profile.stability({"pool": POOL, "all": ALL}, pairs=60, sizes=[5, 10, 15, 20, 25, 30, 40], resamples=12)


def lines(ax):
    """Return the lines by their labels, without the level one."""
    return {line.get_label(): line for line in ax.get_lines() if line.get_label()[0] != "_"}


def drawn(**options):
    with off_screen():
        return FOUND.plot(**options)


@pytest.mark.parametrize("width", [3.3, 7])
def test_a_line_for_each_size_against_the_difference(width):
    ax = drawn(measure="RR", judgments="all", width=width)
    rows = FOUND.table.query("judgments == 'all' and measure == 'RR'")
    shown = lines(ax)
    assert list(shown) == ["5", "10", "15", "20", "25", "30", "40"]
    for size, line in shown.items():
        mine = rows[(rows["size"] == int(size)) & rows["rate"].notna()]
        assert np.array_equal(line.get_xdata(), mine["at_least"])
        assert np.array_equal(line.get_ydata(), mine["rate"])
    assert ax.get_xlabel().replace("\n", " ") == "difference on the first sample (the last point: 0.2 and above)"
    assert (ax.get_ylabel(), ax.get_ylim()[0]) == ("swap rate", 0)
    assert "RR" in ax.get_title()
    assert ax.get_legend().get_title().get_text() == "topics in a sample"
    assert [line.get_ydata()[0] for line in ax.get_lines() if len(line.get_xdata()) == 2] == [0.05]
