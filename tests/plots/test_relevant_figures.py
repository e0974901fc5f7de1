"""Figures of relevant documents: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
from drawing_parts import saturation
from matplotlib.colors import to_hex

import pt_reuse as ptr
from pt_reuse.plots.bars import plot_saturation

FIELD = ptr.simulate_field(seed=8)


def key(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def test_densities_are_drawn_after_the_first_and_the_last_round():
    found = ptr.profile.density(FIELD.qrels, runs=FIELD.runs, depths=[2, 5])
    ax = found.plot()
    order = found.table.sort_values(["density", "qid"], kind="stable")["qid"].tolist()
    of_round = {name: of.set_index("qid")["density"] for name, of in found.rounds.groupby("round")}
    for collection, name in zip(ax.collections[1:], ("depth-2 pool", "depth-5 pool", "all judgments"), strict=True):
        points = dict(np.asarray(collection.get_offsets()).tolist())
        assert [points[n] for n in range(1, len(order) + 1)] == of_round[name].loc[order].tolist()
    assert key(ax) == ["depth-2 pool", "further rounds", "all judgments", "density 1/3", "density 1/2"]
    lines = [line.get_ydata()[0] for line in ax.get_lines()]
    assert lines == [1 / 3, 1 / 2]


def test_boxes_stand_in_the_order_of_the_medians():
    table, scores = saturation(9, 11)
    ax = plot_saturation(table, scores, measure="P@10")
    order = table.sort_values(["median", "mean"], kind="stable").index
    strokes = [line for line in ax.get_lines() if line.get_linewidth() > 1.5]
    assert [line.get_ydata()[0] for line in strokes] == table["median"].loc[order].tolist()
    boxes = [patch.get_path().vertices[:, 1] for patch in ax.patches]
    quartiles = [np.quantile(scores[at], [0.25, 0.75]).tolist() for at in order]
    assert [[box.min(), box.max()] for box in boxes] == quartiles
    dark = [to_hex(patch.get_facecolor()) != "#d9d9d9" for patch in ax.patches]
    assert dark == table["saturated"].loc[order].tolist()
    (begin,) = [line for line in ax.get_lines() if line.get_linestyle() == ":"]
    assert begin.get_xdata()[0] == dark.index(True) + 0.5
    assert key(ax) == ["quartiles", "median", "from here the median is the maximum"]
