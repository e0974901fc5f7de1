"""Every figure for a column and for a page, of nasty data: nothing cut off or on top of another, all legible."""

from __future__ import annotations

from functools import cache

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawing_parts import (
    by_run,
    changes,
    check,
    densities,
    depths,
    lightness,
    minimum_ranks,
    pool_costs,
    ranks,
    saturation,
    unique_counts,
    units,
)

from pt_reuse.plots.bars import plot_saturation, plot_unique_counts, plot_unit_drops
from pt_reuse.plots.lines import plot_judged_by_rank, plot_pool_costs
from pt_reuse.plots.maps import plot_minimum_ranks
from pt_reuse.plots.run_scores import plot_density, plot_reduced_scores, plot_two_scores
from pt_reuse.plots.sheet import COLOURS, MARKERS, Place, looks, off_screen

LONG = ("the judgments of everybody who took part in the track", "a pool of lexical runs alone, to depth 10")
SIZES = {3.3: 7, 7.0: 9}


def nan_scores():
    table = by_run(6, 2)
    table.loc[:2, "reduced_score"] = np.nan
    return table


FIGURES = {
    "change": lambda place: plot_reduced_scores(by_run(), measure="AP", unit="team", place=place),
    "percent": lambda place: plot_reduced_scores(by_run(), measure="AP", unit="team", kind="percent", place=place),
    "scores": lambda place: plot_reduced_scores(
        by_run(), measure="nDCG(dcg='exp-log2')@10", unit="team", kind="scores", place=place
    ),
    "of one run": lambda place: plot_reduced_scores(by_run(1, 1), measure="AP", unit="run", place=place),
    "no change": lambda place: plot_reduced_scores(by_run(change="none"), measure="AP", unit="team", place=place),
    "no number": lambda place: plot_reduced_scores(nan_scores(), measure="AP", unit="team", by="type", place=place),
    "two judgments": lambda place: plot_two_scores(changes(), measure="AP", judgments=LONG, place=place),
    "gains by team": lambda place: plot_two_scores(
        changes(change="gain"), measure="AP", kind="percent", by="team", place=place
    ),
    "two scores, no groups": lambda place: plot_two_scores(
        changes(40, types=False).assign(team=None), measure="AP", kind="scores", judgments=LONG, place=place
    ),
    "uniques": lambda place: plot_unique_counts(unique_counts(), place=place),
    "uniques of one": lambda place: plot_unique_counts(unique_counts(1, "type"), place=place),
    "uniques of nobody": lambda place: plot_unique_counts(unique_counts(0), place=place),
    "drops": lambda place: plot_unit_drops(units(), measure="AP", place=place),
    "ranks": lambda place: plot_judged_by_rank(ranks(), depths(100), place=place),
    "ranks, depths by topic": lambda place: plot_judged_by_rank(
        ranks(40, others=False), depths(0, 5, 7, 8, 9, 10, 12, 14, 18, 20), place=place
    ),
    "densities": lambda place: plot_density(*densities(), place=place),
    "densities of one topic": lambda place: plot_density(*densities(2, 1), place=place),
    "densities of rounds by name": lambda place: plot_density(
        densities()[0], densities()[1][["qid", "density"]], first_said="depth-10 pool", last_said=LONG[0], place=place
    ),
    "saturation": lambda place: plot_saturation(*saturation(), measure="nDCG(dcg='exp-log2')@10", place=place),
    "saturation of one topic": lambda place: plot_saturation(*saturation(1), measure="P@10", place=place),
    "minimum ranks": lambda place: plot_minimum_ranks(*minimum_ranks(), place=place),
    "minimum ranks, deep": lambda place: plot_minimum_ranks(*minimum_ranks(5, depth=1000), place=place),
    "minimum ranks of nothing": lambda place: plot_minimum_ranks(*minimum_ranks(2, n=0), place=place),
    "pool costs": lambda place: plot_pool_costs(*pool_costs(), measure="nDCG(dcg='exp-log2')@10", place=place),
    "pool costs of one depth": lambda place: plot_pool_costs(*pool_costs(1), measure="AP", place=place),
    "no density": lambda place: plot_density(*densities(1), place=place),
}
ON_A_PAGE = ("change", "scores", "uniques", "ranks", "densities", "saturation", "minimum ranks", "pool costs")


@cache
def new(name, width):
    """Return a new figure, drawn once for all tests that look at it."""
    with off_screen():
        return FIGURES[name](Place(width=width))


@pytest.mark.parametrize(
    ("name", "width"), [(name, width) for name in FIGURES for width in SIZES if width < 7 or name in ON_A_PAGE]
)
def test_a_new_figure_is_whole(name, width):
    before = dict(mpl.rcParams)
    ax = new(name, width)
    assert ax.figure.get_figwidth() == width
    found = check(ax, SIZES[width])
    assert len(found["title"]) == 1
    assert dict(mpl.rcParams) == before
    assert ax.figure.get_figheight() < 1.2 * width


@pytest.mark.parametrize(
    ("name", "layout"),
    [("drops", "constrained"), ("two judgments", None), ("scores", None), ("uniques", None)],
)
def test_axes_of_ones_own_are_whole_and_have_no_title(name, layout):
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout=layout)
    ax = FIGURES[name](Place(ax=axes[0]))
    assert ax is axes[0]
    assert not check(ax, 7)["title"]
    assert figure.get_size_inches().tolist() == [7, 2.8]


@pytest.mark.parametrize("name", ["two judgments", "uniques", "ranks"])
def test_a_legend_can_be_left_out_and_made_by_oneself(name):
    ax = FIGURES[name](Place(width=3.3, legend=False))
    assert ax.get_legend() is None
    _, mine = ax.get_legend_handles_labels()
    ours = new(name, 3.3).get_legend().get_texts()
    assert sorted(text.replace("\n", " ") for text in mine) == sorted(t.get_text().replace("\n", " ") for t in ours)


def test_a_legend_is_below_the_axes_where_they_are_narrow_and_beside_those_of_a_page():
    narrow, wide = (new("change", width) for width in SIZES)
    between = new("change", 5.0)
    check(between, 9)
    for ax in (narrow, between):
        assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0
    assert wide.get_legend().get_window_extent().x0 > wide.get_window_extent().x1


def test_colours_differ_by_twelve_steps_of_lightness_and_markers_differ():
    light = [lightness(colour) for colour in COLOURS]
    assert light == sorted(light)
    assert min(np.diff(light)) >= 11.5
    assert light[-1] < 85, "to be seen on white"
    assert len(set(MARKERS)) == len(COLOURS)
    for n in range(2, 7):
        chosen = [lightness(look.colour) for look in looks(n)]
        assert len(chosen) == n
        # fewer groups are further apart
        assert min(np.diff(chosen)) >= [65, 25, 12, 11.5, 11.5][n - 2]
        assert len({look.marker for look in looks(n)}) == n
