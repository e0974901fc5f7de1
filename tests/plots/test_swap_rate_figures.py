"""The figure of swap rates draws what the table says."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
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


def test_lines_differ_in_grey_and_by_their_markers():
    shown = list(lines(drawn()).values())
    grey = [np.dot(mpl.colors.to_rgb(line.get_color()), (0.299, 0.587, 0.114)) for line in shown]
    assert (np.diff(grey) < -0.05).all()
    assert len({(line.get_marker(), line.get_linestyle()) for line in shown}) == len(shown)


def test_a_line_for_each_bin_against_the_size():
    ax = drawn(kind="sizes")
    rows = FOUND.table.query("judgments == 'pool' and measure == 'AP'")
    shown = lines(ax)
    assert 2 <= len(shown) <= 6
    for name, line in shown.items():
        mine = rows[np.isclose(rows["at_least"], float(name.removeprefix("from "))) & rows["rate"].notna()]
        assert np.array_equal(line.get_xdata(), mine["size"])
        assert np.array_equal(line.get_ydata(), mine["rate"])
    assert ax.get_xlabel() == "topics in a sample"


def test_intervals_are_bands_where_they_can_be_told_apart():
    assert len(drawn().collections) == 1
    ax = drawn(sizes=[5, 40])
    assert len(ax.collections) == 2
    rows = FOUND.table.query("judgments == 'pool' and measure == 'AP' and size == 40")
    known = rows[rows["rate"].notna()]
    low, high = ax.collections[1].get_datalim(ax.transData).intervaly
    assert (low, high) == pytest.approx((known["rate_low"].min(), known["rate_high"].max()))
    assert not drawn_without_intervals().collections


def drawn_without_intervals():
    with off_screen():
        return ptr.profile.stability(POOL, pairs=5, sizes=5).plot()


def test_a_line_passes_over_bins_that_few_topics_leave_empty():
    # on 5 topics, differences of P@10 come in steps of .02
    with off_screen():
        scores = ptr.score(FIELD.runs, FIELD.qrels, "P@10")
        (line,) = lines(ptr.profile.stability(scores, sizes=5, pairs=200).plot()).values()
    assert line.get_xdata()[:5] == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])
    assert line.get_ydata()[0] == 0


def test_rates_that_are_all_missing_are_no_lines():
    tied = pd.concat([POOL.per_topic.query("name == 'lex1a'").assign(name=name) for name in "ab"])
    with pytest.warns(ptr.ReuseWarning, match="all runs tie"):
        found = ptr.profile.stability(ptr.Scores.from_frame(tied), pairs=3, sizes=5)
    with off_screen():
        for kind in ("bins", "sizes"):
            assert len(found.plot(kind=kind).get_lines()[0].get_ydata()) == 0
