"""Figures in axes of the user's: shared with others, in grids, on dark ground; what cannot be drawn into is refused."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawing_parts import changes, units

from pt_reuse.plots.bars import plot_unit_drops
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
