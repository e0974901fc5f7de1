"""Every figure for a column and for a page, of nasty data: nothing cut off or on top of another, all legible."""

from __future__ import annotations

from functools import cache, partial

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawing_parts import by_run, changes, check, depths, names, ranks, saturation, units
from matplotlib.colors import to_hex

from pt_reuse.plots.bars import (
    plot_density,
    plot_minimum_ranks,
    plot_saturation,
    plot_tau_of_pools,
    plot_unique_counts,
    plot_unit_drops,
)
from pt_reuse.plots.forests import plot_estimators, plot_labels_needed, plot_rank_intervals
from pt_reuse.plots.lines import plot_judged_by_rank, plot_plans, plot_pool_costs
from pt_reuse.plots.run_scores import plot_new_by_topic, plot_reduced_scores, plot_squares, plot_two_scores
from pt_reuse.plots.sheet import Place, looks, off_screen
from pt_reuse.studies.coverage import plot_rises


def unique_counts(n=40, column="team"):
    """Return a `unique_counts` table of leave-out-uniques."""
    random = np.random.default_rng(2)
    relevant, other = random.integers(0, 500, n), random.integers(0, 99_000, n)
    frame = pd.DataFrame({column: names(n, column), "runs": 2, "contributing": 1, "unique": relevant + other})
    return frame.assign(unique_relevant=relevant, unique_nonrelevant=other)


def plans(strategies=1):
    """Return plans of one measure, half of them checked."""
    rows = pool_costs().merge(pd.DataFrame({"topics": [12, 25, 50, 100]}), how="cross")
    rows = rows.merge(pd.DataFrame({"strategy": ["rank", "mtf", "hedge"][:strategies]}), how="cross")
    judgments = rows["documents"] * rows["topics"] / 50
    reached = {"judgments_reached": 1.04 * judgments, "tau_b_reached": rows["tau_b"] - 0.01}
    rows = rows.assign(judge="as judged", judgments=judgments, **reached)
    rows.loc[rows["topics"] > 25, list(reached)] = np.nan
    return rows


def rank_table(n=63):
    """Return a `table` of rank intervals of one measure."""
    rank, reach = np.arange(1, n + 1), np.random.default_rng(4).integers(0, n, (2, n))
    ends = {"rank_low": np.maximum(rank - reach[0], 1), "rank_high": np.minimum(rank + reach[1], n)}
    return pd.DataFrame({"name": names(n, "run"), "rank": rank, **ends})


def densities(n=93, rounds=8):
    """Return the tables `rounds` and `topics` of judging by a protocol; the last topic has no judgment."""
    random = np.random.default_rng(4)
    qids = names(n, "topic")
    steps = random.uniform(0, 1, (n, rounds)).cumsum(axis=1) / np.arange(1, rounds + 1) * random.uniform(0, 1, (n, 1))
    table = pd.DataFrame({"qid": np.repeat(qids, rounds), "density": steps.ravel()})
    table.loc[table["qid"] == qids[-1], "density"] = np.nan
    topics = pd.DataFrame({"qid": qids, "density": table.groupby("qid", sort=False)["density"].last().to_numpy()})
    return table, topics.assign(evaluated=topics["density"] < 0.5)


def minimum_ranks(topics=53, *, depth=100, n=3000):
    """Return the cells and the `topics` of a MinimumRanks."""
    random = np.random.default_rng(6)
    qids = names(topics, "topic")
    rank = random.geometric(0.05, n)
    table = pd.DataFrame({"qid": random.choice(qids, n), "rank": pd.array(rank, dtype="Int64")})
    table.loc[table["rank"] > depth, "rank"] = pd.NA
    if n:
        table.loc[0, "rank"] = depth
    cells = table.groupby(["qid", "rank"], dropna=False).size().rename("documents").reset_index()
    relevant = table.groupby("qid").size().reindex(qids, fill_value=0)
    return cells.astype({"rank": "Int64"}), pd.DataFrame({"qid": qids, "relevant": relevant.to_numpy()})


def pool_costs(n=7):
    """Return the pool of each depth, what it finds, and how it ranks, with intervals."""
    depths = [1, 2, 5, 10, 20, 50, 100][:n]
    share = np.linspace(0.2, 1, 7)[:n]
    table = pd.DataFrame({"depth": depths, "documents": [800 * depth for depth in depths], "share": share})
    tau = 1 - 0.3 * (1 - share)
    return table.assign(tau_b=tau, tau_b_low=tau - 0.05, tau_b_high=np.minimum(tau + 0.03, 1))


def rises(n):
    """Return what runs gain on condensed lists, those in the middle nothing."""
    return pd.DataFrame({"name": names(n), "rise": np.arange(n) - n // 2})


def pools(n):
    """Return the tau_b of pools of some types, on each of them and on all."""
    types = [f"type{i}" for i in range(n)]
    rows = pd.DataFrame({"pool": types}).merge(pd.DataFrame({"tested": [*types, "all"]}), how="cross")
    tau = np.linspace(-0.2, 1, len(rows))
    tau[3] = np.nan
    return rows.assign(tau_b=tau, tau_b_min=tau - 0.1)


def new_by_topic(n=41):
    """Return topics of which many have the same numbers."""
    return pd.DataFrame({"qid": names(n, "topic"), "relevant": np.arange(n) % 6, "new_relevant": np.arange(n) % 3})


LONG = ("the judgments of everybody who took part in the track", "a pool of lexical runs alone, to depth 10")
SIZES = {3.3: 7, 7.0: 9}


def nan_scores():
    table = by_run(6, 2)
    table.loc[:2, "reduced_score"] = np.nan
    return table


FIGURES = {
    "change": partial(plot_reduced_scores, by_run(), measure="AP", unit="team"),
    "scores": partial(plot_reduced_scores, by_run(), measure="nDCG(dcg='exp-log2')@10", unit="team", kind="scores"),
    "no number": partial(plot_reduced_scores, nan_scores(), measure="AP", unit="team", by="type"),
    "two judgments": partial(plot_two_scores, changes(), measure="AP", judgments=LONG),
    "gains by team": partial(plot_two_scores, changes(change="gain"), measure="AP", kind="percent", by="team"),
    "uniques": partial(plot_unique_counts, unique_counts()),
    "uniques of nobody": partial(plot_unique_counts, unique_counts(0)),
    "drops": partial(plot_unit_drops, units(), measure="AP"),
    "ranks": partial(plot_judged_by_rank, ranks(), depths(100)),
    "ranks, depths by topic": partial(
        plot_judged_by_rank, ranks(40, others=False), depths(0, 5, 7, 8, 9, 10, 12, 14, 18, 20)
    ),
    "densities": partial(plot_density, *densities()),
    "saturation": partial(plot_saturation, *saturation(), measure="nDCG(dcg='exp-log2')@10"),
    "minimum ranks": partial(plot_minimum_ranks, *minimum_ranks()),
    "minimum ranks of nothing": partial(plot_minimum_ranks, *minimum_ranks(2, n=0)),
    "pool costs": partial(plot_pool_costs, pool_costs(), "tau_b", title="How it ranks", label="tau_b by nDCG@10"),
    "plans": partial(plot_plans, plans(), column="tau_b", title="Plans", label="tau_b (AP)", wanted=0.9),
    "plans of strategies": partial(plot_plans, plans(3), column="tau_b", title="Plans", label="tau_b (AP)"),
    "rank intervals": partial(
        plot_rank_intervals, rank_table(), measure="AP", said="95 % intervals for all at once", noun="systems"
    ),
    "estimators": partial(
        plot_estimators,
        pd.DataFrame({"estimator": ["documents", "hole_slope", "zero"], "error": [0.01, 0.02, 0.035]}),
        used="zero",
        names={"zero": "unjudged as not relevant"},
        measure="nDCG@10",
    ),
    "labels needed": partial(
        plot_labels_needed,
        pd.DataFrame(
            {"first": ["a", "b"], "second": ["c", "a run of a long name"], "expected": [3.5, 40], "most": [9, 61]}
        ),
        confidence=0.9,
    ),
    "drops of nobody": partial(plot_unit_drops, units().assign(max_drop=0), measure="AP"),
    "rises": partial(plot_rises, rises(50), measure="AP"),
    "rises of nobody": partial(plot_rises, rises(1), measure="AP"),
    "pools": partial(plot_tau_of_pools, pools(3), measure="AP"),
    "new by topic": partial(plot_new_by_topic, new_by_topic(), kind="relevant", judgments=LONG, depth=100),
    "no density": partial(plot_density, *densities(1)),
}
#: with a legend beside the axes or none, a row for each name, a map
ON_A_PAGE = ("change", "drops", "ranks", "densities", "pools")


@cache
def new(name, width):
    """Return a new figure, drawn once for all tests that look at it."""
    with off_screen():
        return FIGURES[name](place=Place(width=width))


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
    ("name", "layout"), [("drops", "constrained"), ("two judgments", None), ("scores", None), ("uniques", None)]
)
def test_axes_of_ones_own_are_whole_and_have_no_title(name, layout):
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout=layout)
    ax = FIGURES[name](place=Place(ax=axes[0]))
    assert ax is axes[0]
    assert not check(ax, 7)["title"]
    assert figure.get_size_inches().tolist() == [7, 2.8]


def test_a_legend_is_below_the_axes_where_they_are_narrow_and_beside_those_of_a_page():
    narrow, wide = (new("change", width) for width in SIZES)
    between = new("change", 5.0)
    check(between, 9)
    for ax in (narrow, between):
        assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0
    assert wide.get_legend().get_window_extent().x0 > wide.get_window_extent().x1


def test_squares_have_the_same_limits_and_the_colours_of_the_field():
    rows = pd.DataFrame(
        {"name": list("abcdef"), "team": None, "type": list("nnmmll"), "x": np.linspace(0, 1, 6), "y": 0.5}
    )
    panels = {"one": rows[rows["type"] != "l"], "other": rows[rows["type"] != "m"].assign(y=0.2)}
    left, right = plot_squares(panels, x="x", y="y", title="both").figure.axes
    assert left.get_xlim() == left.get_ylim() == right.get_xlim() == right.get_ylim()
    field = looks("lmn")
    for ax, kinds in ((left, "mn"), (right, "ln")):
        shown = [drawn for drawn in ax.collections if len(drawn.get_offsets())]
        assert [to_hex(drawn.get_facecolor()[0]).upper() for drawn in shown] == [field[kind].colour for kind in kinds]


def test_points_at_one_place_are_one_dot_as_large_as_they_are_many():
    (dots,) = plot_new_by_topic(new_by_topic(), kind="relevant", judgments=LONG, depth=9).collections
    rows = new_by_topic().groupby(["relevant", "new_relevant"]).size()
    sizes = dict(zip(map(tuple, dots.get_offsets().tolist()), dots.get_sizes(), strict=True))
    assert set(sizes) == set(rows.index)
    unit = sizes[0, 0] / rows[0, 0]
    assert all(sizes[place] == pytest.approx(unit * n) for place, n in rows.items())


# figures in axes of the user's: shared with others, in grids, on dark ground; what cannot be drawn into is refused


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
