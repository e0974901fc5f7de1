"""Figures in axes of the user's: shared with others, in grids, on dark ground; what cannot be drawn into is refused."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawing_parts import box, changes, depths, lightness, ranks, unique_counts, units, within

from pt_reuse.plots.bars import plot_unique_counts, plot_unit_drops
from pt_reuse.plots.lines import plot_judged_by_rank
from pt_reuse.plots.run_scores import plot_two_scores
from pt_reuse.plots.sheet import Place


def small(factor=1.0):
    """Return a `changes` table of eight runs."""
    table = changes(8, 3).query("measure == 'AP'").assign(name=list("abcdefgh"))
    table["score"], table["other_score"] = factor * table["score"], factor * table["other_score"]
    return table


def short(n):
    """Return a `table` of leave-out-uniques with short names, whose drops are 1 to n."""
    return units(n).assign(
        team=[f"t{i}" for i in range(n)], max_drop=range(1, n + 1), dropped=[f"r{i}" for i in range(n)]
    )


def points(ax):
    return np.concatenate([np.asarray(drawn.get_offsets()) for drawn in ax.collections])


def in_view(ax):
    x, y = points(ax).T
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return bool((x > left).all() and (x < right).all() and (y > low).all() and (y < high).all())


def test_a_part_of_a_figure_is_a_place_too():
    left, right = plt.figure(figsize=(7, 3), layout="constrained").subfigures(1, 2)
    ax = plot_two_scores(small(), measure="AP", place=Place(ax=left.subplots()))
    assert ax.title.get_fontsize() != 7
    assert ax.xaxis.label.get_fontsize() == 7, "half a page is a column"
    right.subplots()
    left.figure.canvas.draw()
    assert ax.get_tightbbox().x1 <= left.bbox.x1 + 1


def test_axes_that_share_theirs_keep_every_point_in_view():
    _, (left, right) = plt.subplots(1, 2, sharey=True, sharex=True, figsize=(7, 3), layout="constrained")
    for ax, factor in ((left, 3), (right, 1)):
        table = changes(30, 3)
        table["other_score"] = table["score"] + factor * (table["other_score"] - table["score"])
        plot_two_scores(table, measure="AP", place=Place(ax=ax))
    (low, high), deepest = right.get_ylim(), points(left)[:, 1].min()
    assert low < deepest < points(right)[:, 1].min() < 0 < high


@pytest.mark.parametrize("shared", [{"sharex": True, "sharey": True}, {"sharey": True}, {"sharex": True}])
def test_shared_axes_of_scores_keep_every_point_and_the_diagonal(shared):
    left, right = plt.figure(figsize=(7, 3)).subplots(1, 2, **shared)
    for ax, factor in ((left, 0.2), (right, 1.0)):
        plot_two_scores(small(factor), measure="AP", kind="scores", place=Place(ax=ax, legend=False))
    assert in_view(left), "of the first"
    assert in_view(right), "of the second"
    assert right.get_xlim() == right.get_ylim()
    (line,) = right.get_lines()
    assert line.get_slope() == 1
    assert line.get_xy1()[0] == line.get_xy1()[1]


def test_bars_that_share_their_axis_keep_their_length_in_view():
    upper, lower = plt.figure(figsize=(5, 5), layout="constrained").subplots(2, 1, sharex=True)
    plot_unit_drops(short(9), measure="AP", place=Place(ax=upper))
    longest = upper.get_xlim()[1]
    plot_unit_drops(short(3), measure="AP", place=Place(ax=lower))
    assert longest > 9
    assert upper.get_xlim()[1] == lower.get_xlim()[1] == longest


def test_ranks_that_share_an_axis_with_others_keep_these_in_view():
    left, right = plt.figure(figsize=(7, 3)).subplots(1, 2, sharey=True)
    left.plot([0, 1], [-5, 5])
    plot_judged_by_rank(ranks(20), depths(10), place=Place(ax=right))
    low, high = left.get_ylim()
    assert low < -5
    assert high > 5


def test_what_cannot_be_drawn_into_is_refused(messages):
    def drops(ax):
        return plot_unit_drops(short(3), measure="AP", place=Place(ax=ax))

    shared = plt.figure().subplots(1, 2, sharey=True)
    messages.refused(lambda: drops(shared[0]), argument="ax")
    messages.refused(lambda: drops(shared), argument="ax")
    log = plt.figure().subplots()
    log.set_xscale("log")
    messages.refused(lambda: drops(log), argument="ax")
    messages.refused(lambda: drops(plt.figure().add_subplot(projection="polar")), argument="ax")
    assert not log.containers, "nothing is drawn before"


def test_parts_of_one_grid_have_letters_of_one_size_whatever_is_drawn_first():
    axes = plt.figure(figsize=(9, 4), layout="constrained").subplots(1, 2)
    plot_unique_counts(unique_counts(3), place=Place(ax=axes[0]))
    plot_unique_counts(unique_counts(3), place=Place(ax=axes[1]))
    assert {ax.xaxis.label.get_fontsize() for ax in axes} == {9}
    wide, narrow = plt.figure(figsize=(9, 4)).subplots(1, 2, width_ratios=[2, 1])
    plot_unique_counts(unique_counts(3), place=Place(ax=wide))
    plot_unique_counts(unique_counts(3), place=Place(ax=narrow))
    assert (wide.xaxis.label.get_fontsize(), narrow.xaxis.label.get_fontsize()) == (9, 7)


def test_names_at_bars_stay_on_the_page_when_another_part_takes_room():
    figure, axes = plt.subplots(2, 1, figsize=(3.4, 5), layout="constrained")
    ax = plot_unit_drops(short(4), measure="AP", place=Place(ax=axes[0]))
    axes[1].set_yticks([0], ["a longer name"])
    figure.draw_without_rendering()
    assert all(within(box(note), figure.bbox) for note in ax.texts)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_bars_and_lines_are_seen_on_their_ground(style):
    with plt.style.context(style):
        upper, lower = plt.figure(figsize=(7, 5)).subplots(2, 1)
        plot_unique_counts(unique_counts(3), place=Place(ax=upper))
        plot_judged_by_rank(ranks(20), depths(10), place=Place(ax=lower))
    ground = lightness(upper.get_facecolor()[:3])
    bars = [lightness(bars[0].get_facecolor()[:3]) for bars in upper.containers]
    lines = [lightness(line.get_color()) for line in lower.get_lines()]
    assert abs(bars[0] - bars[1]) > 35
    assert min(abs(ground - seen) for seen in [bars[0], *lines]) > 30
    assert 5 < abs(ground - lightness(upper.get_xgridlines()[0].get_color())) < 30, "a grid is faint"
