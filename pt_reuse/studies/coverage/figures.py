"""The figures of coverage: what is unjudged of runs and groups, and what that may do to runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.errors import count
from pt_reuse.plots.marks import (
    Kind,
    down,
    draw_kinds,
    draw_level,
    draw_line,
    finish_rows,
    most_rows,
    name_points,
    not_shown,
    notes,
)
from pt_reuse.plots.run_scores import draw_points, groups_of, largest_first
from pt_reuse.plots.sheet import DARK, FIRST, SECOND, Place, Sheet, looks

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: runs whose unjudged documents are shown at most
_UNJUDGED = 20


def plot_unjudged_runs(
    shares: NDArray[np.float64],
    run_table: pd.DataFrame,
    *,
    depth: int,
    by: str | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw the share of unjudged documents of the runs with most: the mean and the quartiles over (topics, runs)."""
    sheet = Sheet.open(place, "runs")
    known = ~np.isnan(shares)
    mean = np.where(known, shares, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    low, high = pd.DataFrame(shares).quantile([0.25, 0.75]).to_numpy()
    table = pd.DataFrame({"name": run_table["name"].to_numpy(), "mean": mean, "group": groups_of(run_table, by)})
    table = table.assign(low=low, high=high).sort_values("mean", ascending=False, kind="stable")
    some = table[table["mean"] > 0]
    rows = some.head(most_rows(sheet, None if sheet.narrow else _UNJUDGED))
    kinds = {
        name: Kind(sheet.legend_name(name), look.stroke, look.marker) for name, look in looks(table["group"]).items()
    }
    entries = draw_kinds(sheet, rows, ("mean", "low", "high"), kinds, "group")
    sheet.limit("x", (0, max(0.1, 1.05 * float(np.nanmax(rows[["mean", "high"]], initial=0.0)))))
    counts = (len(some) - len(rows), "with less"), (len(table) - len(some), "with none")
    x = f"share unjudged: mean, quartiles of topics{notes(*counts, noun='run')}"
    sheet.label(title=f"Unjudged documents down to rank {depth}", x=x)
    return finish_rows(sheet, rows["name"].tolist(), entries, title=by)


def plot_depths(table: pd.DataFrame, *, by: str | None = None, place: Place | None = None) -> Axes:
    """Draw the mean share of unjudged documents of each group over the depths."""
    sheet = Sheet.open(place)
    depths = sorted(set(table["depth"]))
    grouped = table.assign(group=groups_of(table, by))
    wide = grouped.pivot_table(index="group", columns="depth", values="unjudged")
    shown = largest_first(grouped[grouped["depth"] == depths[-1]], "group", "unjudged")
    field, runs = looks(grouped["group"]), grouped.groupby("group")["name"].nunique()
    entries: list[tuple[Artist, str]] = []
    for name in shown:
        line = draw_line(
            sheet, range(len(depths)), wide.loc[name, depths], field[name].stroke, marker=field[name].marker
        )
        entries.append((line, sheet.legend_name(name, f" ({count(int(runs[name]), 'run')})")))
    known = table[table["contributed"].fillna(False).astype(bool) & table["unjudged_without_own"].notna()]
    without = known.groupby("depth")["unjudged_without_own"].mean()
    if len(known):
        at = [depths.index(depth) for depth in without.index]
        line = draw_line(sheet, at, without, DARK, linestyle=":", zorder=2)
        entries.append((line, "contributors, had they not taken part"))
    sheet.ax.set_xticks(range(len(depths)), [f"{depth:,}" for depth in depths])
    sheet.limit("x", (-0.3, len(depths) - 0.7))
    sheet.limit("y", (0, 1.08 * max([0.05, float(wide.loc[shown].to_numpy().max()), *without])))
    x = f"documents from the top{not_shown(len(wide) - len(shown), str(by))}"
    sheet.label(title="Unjudged documents by depth", x=x, y="share unjudged, mean over runs")
    return sheet.finish(entries, (0.62, 0.42), grid="y", numbers="y", title=by)


def plot_residual(by_run: pd.DataFrame, *, label: str, by: str | None, depth: int, place: Place | None = None) -> Axes:
    """Draw a ring for each run: its share of unjudged documents, and the residual of RBP that these leave open."""
    sheet = Sheet.open(place)
    points = by_run.assign(x=by_run["unjudged"].astype(float), y=by_run["residual"].astype(float))
    entries = draw_points(sheet, points, by, largest_first(points, by, "x") if by else [], hollow=True)
    draw_level(sheet, "y", 0, zorder=2)
    # what lies on the edge is seen whole
    sheet.limit_around("x", [0.0, 0.05, *points["x"]], air=0.06)
    sheet.limit_around("y", [0.0, 0.05, *points["y"]], air=0.06)
    sheet.label(title="Unjudged documents and what they may do", x=f"share unjudged down to rank {depth}", y=label)
    sheet.finish(entries, (0.7, 0.45), title=by)
    worst = points[points["x"] > 0].sort_values("x", ascending=False, kind="stable")
    name_points(sheet, worst, points[["x", "y"]].to_numpy(dtype=float), share=0.4)
    return sheet.ax


def plot_rises(rows: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw the ranks that each run that moves gains on condensed lists, to the left what it loses; most first."""
    sheet = Sheet.open(place, "bars")
    moved = rows[rows["rise"] != 0]
    # of many those that move furthest
    shown = moved.iloc[np.sort(np.argsort(-moved["rise"].abs(), kind="stable")[: most_rows(sheet)])]
    shown = shown.sort_values("rise", ascending=False, kind="stable")
    rise, at = shown["rise"].to_numpy(dtype=float), down(len(shown))
    colours = [FIRST if up else SECOND for up in rise > 0]
    sheet.ax.barh(at, rise, 0.76, color=colours, edgecolor=DARK, linewidth=0.3, zorder=2)
    draw_level(sheet, "x", 0, zorder=3)
    sheet.limit_around("x", [0.0, 1.0, *rise])
    keep = f"; {count(len(rows) - len(moved), 'run')} keep their rank" if len(moved) < len(rows) else ""
    more = not_shown(len(moved) - len(shown), "run")
    sheet.label(title="Ranks without unjudged documents", x=f"ranks gained by {measure}, condensed lists{keep}{more}")
    return finish_rows(sheet, shown["name"].tolist(), whole=True)
