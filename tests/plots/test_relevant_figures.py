"""Figures of relevant documents: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
from drawing_parts import minimum_ranks, saturation
from matplotlib.colors import to_hex

import pt_reuse as ptr
from pt_reuse.plots.bars import plot_saturation
from pt_reuse.plots.maps import plot_minimum_ranks

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


def test_cells_have_the_shade_of_their_number():
    cells, topics = minimum_ranks(6, depth=30, n=400)
    ax = plot_minimum_ranks(cells, topics)
    order = topics.sort_values(["relevant", "qid"], kind="stable")["qid"].tolist()
    limits = {
        "1": (1, 1),
        "2–5": (2, 5),
        "6–10": (6, 10),
        "11–30": (11, 30),
        "31–50": (31, 50),
        "more than 50": (51, 999),
    }
    drawn = {c.get_label(): c for c in ax.collections}
    for name, (low, high) in limits.items():
        expected = cells[cells["documents"].between(low, high)]
        if expected.empty:
            assert name not in drawn
            continue
        middles = {tuple(path.vertices[:4].mean(axis=0).round(3).tolist()) for path in drawn[name].get_paths()}
        above = max(y for c in ax.collections for path in c.get_paths() for _, y in path.vertices[:4])
        wanted = set()
        for qid, rank in zip(expected["qid"], expected["rank"], strict=True):
            y = round(above - 0.5, 3) if pd.isna(rank) else float(rank)
            wanted.add((float(order.index(qid) + 1), y))
        assert middles == wanted, name
    assert key(ax) == list(limits)
    assert [tick.get_text() for tick in ax.get_yticklabels()][-1] == "NR"
    light = [c.get_facecolor()[0, :3].mean() for c in ax.collections]
    assert light == sorted(light, reverse=True), "the more documents, the darker"


def test_pools_are_drawn_at_their_sizes():
    found = ptr.pools.pool_costs(FIELD.runs, FIELD.qrels, ["AP", "P@5"], depths=[1, 5, 10], resamples=5)
    ax = found.plot("P@5")
    share, tau = ax.get_lines()
    assert share.get_xdata().tolist() == tau.get_xdata().tolist() == found.table["documents"].tolist()
    assert share.get_ydata().tolist() == found.table["share"].tolist()
    rows = found.agreement[found.agreement["measure"] == "P@5"]
    assert tau.get_ydata().tolist() == rows["tau_b"].tolist()
    assert (share.get_linestyle(), tau.get_linestyle()) == ("-", "--")
    assert {note.get_text() for note in ax.texts} <= {"1", "5", "10"}
    assert key(ax) == ["relevant documents found", "tau_b of P@5 to the ranking by all"]
    assert len(ax.collections) == 1
    assert not ptr.pools.pool_costs(FIELD.runs, FIELD.qrels, depths=1).plot().collections
