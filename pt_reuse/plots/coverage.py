"""Figures of coverage: a map of what is unjudged, its course over the depths, and what it may do to a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.plots.bars import MOST_BARS, MOST_IN_COLUMN, check_own_names
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.look import DARK, MIDDLE, MOST, looks
from pt_reuse.plots.points import UNKNOWN, Views, draw_points, name_point
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: shares up to which a shade goes, and the shade: steps of lightness that are told apart in print
SHADES = (
    (0.0, "#FFFFFF", "none"),
    (0.1, "#D5D9E3", "to .1"),
    (0.25, "#9AA5C2", "to .25"),
    (0.5, "#55659A", "to .5"),
    (1.0, "#10265C", "more than .5"),
)
_NAME = 0.3  # of the width, at most
_LEAST = 1e-9  # less than any share of a document


def plot_unjudged_map(
    shares: NDArray[np.float64],
    run_table: pd.DataFrame,
    topics: Sequence[str],
    *,
    depth: int,
    by: str | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw a cell for each run and topic, the darker the more is unjudged.

    Args:
        shares: (topics, runs) the share of unjudged documents, NaN where a run returns none.
        run_table: one row per run, with ``name`` and the column `by`.
        topics: their names.
        depth: down to which documents were counted.
        by: the column whose groups stand together, None for none.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes, with one image: runs by group, the one with most unjudged on top of each; the topics with most last.
        Groups are named at the side where there are more runs than names have room.
    """
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    check_own_names(ax, "runs")
    group = _groups(run_table, by)
    mean_of_run = np.nan_to_num(_mean(shares, axis=0), nan=1.0)
    rows = np.lexsort([-mean_of_run, group]) if by else np.argsort(-mean_of_run, kind="stable")
    columns = np.argsort(np.nan_to_num(_mean(shares, axis=1), nan=1.0), kind="stable")
    cells = shares.T[rows][:, columns]
    ends = [-1.0, *(end + _LEAST for end, _, _ in SHADES)]
    ax.patch.set(facecolor="white", hatch="//////", edgecolor=MIDDLE)
    image = ax.imshow(
        np.ma.masked_invalid(cells),
        cmap=ListedColormap([colour for _, colour, _ in SHADES]),
        norm=BoundaryNorm(ends, len(SHADES)),
        interpolation="nearest",
        aspect="auto",
    )
    image.set_zorder(1)
    n = len(rows)
    named = n <= (MOST_IN_COLUMN if sheet.narrow else MOST_BARS)
    # where a group begins
    starts = np.flatnonzero(np.append(True, group[rows][1:] != group[rows][:-1]))
    for start in starts[1:].tolist():
        ax.axhline(start - 0.5, color=DARK, linewidth=0.8, zorder=2)
    if named:
        names = [shortened(ax, run_table["name"].iloc[row], sizes.text, _NAME * sheet.width) for row in rows.tolist()]
        ax.set_yticks(range(n), names)
    elif by:
        _name_groups(sheet, group[rows], starts)
    else:
        ax.set_yticks([])
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    if by and not named:
        label = f"{count(n, 'run')} by {by}"
    else:
        label = "runs" if named else count(n, "run")
    sheet.label(
        title=f"Unjudged documents down to rank {depth}",
        x=f"{count(len(topics), 'topic')}, those with most unjudged last",
        y=label,
    )
    for side in ("top", "right"):
        ax.spines[side].set_visible(True)
        ax.spines[side].set_linewidth(0.6)
    entries: list[tuple[Artist, str]] = [
        (Patch(facecolor=colour, edgecolor=ink.strong, linewidth=0.4), said) for _, colour, said in SHADES
    ]
    if np.isnan(cells).any():
        entries.append((Patch(facecolor="white", hatch="//////", edgecolor=MIDDLE, linewidth=0.4), "no document"))
    sheet.key(entries, title="share unjudged", below=True)
    sheet.fit(sizes.row * n if named else (0.75 if sheet.narrow else 0.6) * sheet.width)
    return ax


def plot_depths(table: pd.DataFrame, *, by: str | None = None, place: Place | None = None) -> Axes:
    """Draw the mean share of unjudged documents of each group over the depths.

    Args:
        table: the `table` of a :class:`~pt_reuse.Coverage`.
        by: the column whose groups have a line, ``"type"`` or ``"team"``: six at most, those with most unjudged at the
            deepest depth; None for one line of all runs.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a line per group; a dotted one of the contributors, each without its own team, where that is known.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    depths = sorted(set(table["depth"]))
    at = {depth: n for n, depth in enumerate(depths)}
    wide = table.assign(group=_groups(table, by)).pivot_table(index="group", columns="depth", values="unjudged")
    most = wide.sort_values(depths[-1], ascending=False, kind="stable").index[:MOST].tolist()
    runs = table.assign(group=_groups(table, by)).groupby("group")["name"].nunique()
    entries: list[tuple[Artist, str]] = []
    for name, look in zip(most, looks(len(most)), strict=True):
        (line,) = ax.plot(
            range(len(depths)),
            wide.loc[name, depths],
            color=look.colour,
            marker=look.marker,
            markersize=0.7 * sizes.area**0.5,
            linewidth=sizes.line,
            zorder=3,
        )
        tail = f" ({count(int(runs[name]), 'run')})"
        entries.append((line, shortened(ax, str(name), sizes.text, sheet.name_room(tail)) + tail))
    known = table[table["contributed"].fillna(False).astype(bool) & table["unjudged_without_own"].notna()]
    if len(known):
        without = known.groupby("depth")["unjudged_without_own"].mean()
        (line,) = ax.plot(
            [at[d] for d in without.index], without, color=ink.strong, linestyle=":", linewidth=sizes.line
        )
        entries.append((line, "contributors, had they not taken part"))
    ax.set_xticks(range(len(depths)), [f"{depth:,}" for depth in depths])
    sheet.limit("x", (-0.3, len(depths) - 0.7))
    highest = max([0.05, float(wide.loc[most].to_numpy().max()), *(without.tolist() if len(known) else [])])
    sheet.limit("y", (0, 1.08 * highest))
    rest = len(wide) - len(most)
    more = f" ({count(rest, f'more {by}')} not shown)" if rest else ""
    sheet.label(
        title="Unjudged documents by depth", x=f"documents from the top{more}", y="share unjudged, mean over runs"
    )
    sheet.grid("y")
    sheet.ticks("y")
    sheet.key(entries, title=by)
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.42 * sheet.width)
    return ax


def plot_disadvantage(
    by_run: pd.DataFrame, *, column: str, label: str, by: str | None, depth: int, place: Place | None = None
) -> Axes:
    """Draw a point for each run: its share of unjudged documents, and what these may do to it.

    Args:
        by_run: one row per run, with ``name unjudged`` and the column.
        column: what the upright axis shows.
        label: of the upright axis.
        by: the column that gives colour and marker, None for none.
        depth: down to which documents were counted.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a collection per group; the runs with most unjudged are named where there is room.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    table = by_run.assign(score=by_run["unjudged"], other_score=by_run[column].astype(float), drop=0)
    views = Views(table, "scores")
    most = table.assign(group=_groups(table, by)).groupby("group")["unjudged"].max()
    shown = most.sort_values(ascending=False, kind="stable").index[:MOST].tolist() if by else []
    handles = draw_points(sheet, views, by, sorted(shown))
    entries: list[tuple[Artist, str]] = [
        (handles[group], shortened(ax, str(group), sizes.text, sheet.name_room(""))) for group in sorted(shown)
    ]
    if by and None in handles:
        entries.append((handles[None], views.others(by, shown, by)))
    x, y = table["score"].to_numpy(dtype=float), table["other_score"].to_numpy(dtype=float)
    ax.axhline(0, color=sheet.ink.strong, linewidth=0.8, zorder=2)
    for which, values in (("x", x), ("y", y)):
        low, high = min(0.0, float(values.min())), max(0.05, float(values.max()))
        air = 0.06 * (high - low)
        # what lies on the edge is seen whole
        if which == "x":
            sheet.limit("x", (low - air, high + air))
        else:
            sheet.limit("y", (low - air, high + air))
    sheet.label(title="Unjudged documents and what they may do", x=f"share unjudged down to rank {depth}", y=label)
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries, title=by)
    sheet.fit(0.7 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    points = ax.transData.transform(np.column_stack([x, y]))
    taken: list[NDArray[np.float64]] = []
    worst = table[table["unjudged"] > 0].sort_values("unjudged", ascending=False, kind="stable").head(sizes.named)
    for name, at, height in worst[["name", "score", "other_score"]].itertuples(index=False):
        text = shortened(ax, str(name), sizes.text, 0.4 * sheet.axes_size[0])
        name_point(sheet, text, (float(at), float(height)), points, taken)
    return ax


def _groups(table: pd.DataFrame, by: str | None) -> NDArray[np.object_]:
    """Return (rows,) the group of each row, a word where nobody gave one."""
    if by is None:
        return np.full(len(table), "all runs", dtype=object)
    return table[by].astype(object).where(table[by].notna(), UNKNOWN).to_numpy(dtype=object)


def _mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    known = ~np.isnan(values)
    n = known.sum(axis=axis)
    return np.where(n > 0, np.where(known, values, 0.0).sum(axis=axis) / np.maximum(n, 1), np.nan)


def _name_groups(sheet: Sheet, group: NDArray[np.object_], starts: NDArray[np.int64]) -> None:
    """Name the groups of neighbouring rows at the side."""
    ends = np.append(starts[1:], len(group))
    room = 1.3 * sheet.sizes.text / 72
    height = (0.75 if sheet.narrow else 0.6) * sheet.width if sheet.new else sheet.axes_size[1]
    # a group that is lower than its name stays without
    wide = [(start, end) for start, end in zip(starts, ends, strict=True) if (end - start) / len(group) * height > room]
    names = [shortened(sheet.ax, str(group[start]), sheet.sizes.text, _NAME * sheet.width) for start, _ in wide]
    sheet.ax.set_yticks([(start + end - 1) / 2 for start, end in wide], names)
