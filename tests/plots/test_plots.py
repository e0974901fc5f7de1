"""Figures: what they draw is what the tables say."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawing_parts import by_run, depths, ranks
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import pt_reuse as ptr
from pt_reuse.plots.lines import plot_judged_by_rank
from pt_reuse.plots.run_scores import plot_reduced_scores
from pt_reuse.plots.sheet import NoMatplotlibError, Place

FIELD = ptr.demo.simulate_field(seed=8)


def blank():
    """Return axes whose place is fixed, for what is drawn rather than how it fits."""
    figure = Figure(figsize=(16, 8))
    FigureCanvasAgg(figure)  # keeps the renderer that texts are measured with
    return figure.add_axes((0.2, 0.3, 0.45, 0.6))


@pytest.fixture(scope="module")
def lou():
    return ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, ["AP", "nDCG@10"], depth=FIELD.depth)


@pytest.fixture(scope="module")
def agreement():
    truth, estimate = (ptr.score(FIELD.runs, qrels, ["AP", "nDCG@10"]) for qrels in (FIELD.all_qrels, FIELD.qrels))
    return truth.compare(estimate, names=("all", "pool"))


def drawn(ax):
    """Return the points of all collections, sorted."""
    points = np.concatenate([np.asarray(points.get_offsets()) for points in ax.collections])
    return points[np.lexsort(points.T)]


def expected(x, y):
    points = np.column_stack([x, y])
    return points[np.lexsort(points.T)]


def named(ax):
    return {note.get_text(): note.xy for note in ax.texts}


def test_the_change_is_drawn_once_per_run(lou):
    ax = lou.plot("nDCG@10", ax=blank())
    table = lou.by_run[lou.by_run["measure"] == "nDCG@10"]
    assert np.allclose(drawn(ax), expected(table["score"], table["change"]), atol=1e-12)


def test_the_change_in_per_cent_and_the_scores_themselves(lou):
    table = lou.by_run[lou.by_run["measure"] == "AP"]
    ax = lou.plot("AP", view="percent", ax=blank())
    assert np.allclose(drawn(ax), expected(table["score"], table["change_pct"]), atol=1e-9)
    ax = lou.plot("AP", view="scores", ax=blank())
    assert np.array_equal(drawn(ax), expected(table["score"], table["reduced_score"]))
    assert ax.get_xlim() == ax.get_ylim()


def test_the_runs_that_lose_most_are_named_at_their_points():
    table = by_run(9, 3)
    table["name"], table["reduced_score"] = [f"run{i}" for i in range(9)] * 2, table["score"]
    table["score"] = np.tile(np.linspace(0.1, 0.9, 9), 2)
    table["reduced_score"] = table["score"] - np.tile([0, 0.3, 0, 0, 0.2, 0, 0.001, 0.1, 0], 2)
    found = named(plot_reduced_scores(table, measure="AP", unit="team", place=Place(ax=blank())))
    assert set(found) == {"run1", "run4", "run7"}, "a loss that cannot be seen has no name"
    assert np.allclose(found["run4"], (0.5, -0.2))
    every = table.assign(reduced_score=table["score"] - 0.1)
    assert len(plot_reduced_scores(every, measure="AP", unit="team", place=Place(ax=blank())).texts) == 5
    nothing = table.assign(reduced_score=table["score"], drop=0)
    assert not named(plot_reduced_scores(nothing, measure="AP", unit="team", place=Place(ax=blank())))


@pytest.mark.parametrize("draw", ["scores", "drops", "uniques", "agreement", "ranks"])
def test_without_matplotlib_the_way_to_it_is_told(lou, agreement, draw, monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"] + ["matplotlib"]:
        monkeypatch.setitem(sys.modules, module, None)
    results = {"agreement": agreement.plot, "ranks": lambda: plot_judged_by_rank(ranks(9), depths(5))}
    with pytest.raises(NoMatplotlibError, match=r"drawing needs matplotlib; `pip install pt-reuse\[plots\]` brings it"):
        results.get(draw, lambda: lou.plot(kind=draw))()


def test_what_cannot_be_drawn_is_refused(lou, agreement, messages):
    messages.refused(lambda: lou.plot("P@10"), argument="measure")
    messages.refused(lambda: lou.plot(view="percents"), argument="view")
    messages.refused(lambda: lou.plot(by="types"), argument="by")
    messages.refused(lambda: agreement.plot(by="run"), argument="by")
    messages.refused(lambda: agreement.plot(view="scatter"), argument="view")
    messages.refused(lambda: lou.plot(width=84), argument="width")
    messages.refused(lambda: lou.plot(width="3.3"), argument="width")
    messages.refused(lambda: lou.plot(width=3.3, ax=blank()), argument="width")
    messages.refused(lambda: lou.plot(ax=Figure()), argument="ax")
    messages.refused(lambda: lou.plot(title=3), argument="title")
    messages.refused(lambda: lou.plot("uniques", top=0), argument="top")
    messages.refused(lambda: lou.plot("drops", top="all"), argument="top")
    frames = {name: FIELD.runs[name] for name in FIELD.runs}
    bare = ptr.score(ptr.RunSet.from_frames(frames), FIELD.qrels, "AP")
    messages.refused(lambda: bare.compare(bare).plot(by="type"), argument="by")
    assert plt.get_fignums() == [], "a figure is begun when all is checked"


def test_unique_counts_are_the_bars(lou):
    ax = lou.plot("uniques", ax=blank())
    relevant, other = ([bar.get_width() for bar in bars] for bars in ax.containers)
    counts = lou.unique_counts[lou.unique_counts["contributing"] > 0].sort_values(
        ["unique_relevant", "unique"], ascending=False, kind="stable"
    )
    assert relevant == counts["unique_relevant"].tolist()
    assert other == counts["unique_nonrelevant"].tolist()
    assert [bar.get_x() for bar in ax.containers[1]] == relevant, "one after the other"
    assert [label.get_text() for label in ax.get_yticklabels()] == counts["team"].tolist()
    assert [note.get_text() for note in ax.texts] == [
        f"{n:,.0f} of {n + m:,.0f}" for n, m in zip(relevant, other, strict=True)
    ]


def test_the_largest_drops_are_the_bars(lou):
    ax = lou.plot("nDCG@10", kind="drops", top=4, ax=blank())
    table = lou.table[lou.table["measure"] == "nDCG@10"]
    table = table[table["max_drop"] > 0].sort_values(["max_drop", "tau_b"], ascending=[False, True], kind="stable")
    rest, table = len(table) - 4, table.head(4)
    assert [bar.get_width() for bar in ax.containers[0]] == table["max_drop"].tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == table["team"].tolist()
    notes = [
        f"{run}, $\\tau_b$ {f'{tau:.3f}'.lstrip('0')}"
        for run, tau in zip(table["dropped"], table["tau_b"], strict=True)
    ]
    assert [note.get_text() for note in ax.texts] == notes
    assert str(rest) in ax.get_xlabel()
