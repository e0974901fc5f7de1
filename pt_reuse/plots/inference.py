"""The figure of an inferred pool: where the judged documents end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 25  # ranks; each has a marker


def plot_judged_by_rank(by_rank: pd.DataFrame, by_topic: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the share of judged documents at each rank, of the runs judged as deep and of all others.

    Args:
        by_rank: the `by_rank` table of an inferred pool.
        by_topic: its `by_topic` table, for the depths.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a line for the runs judged as deep (needed, needed together or covered), one for their documents that
        are new at a rank, one for all other runs, and an upright line at every depth.
    """
    sheet = Sheet.open(place or Place())
    ax, line, ink = sheet.ax, sheet.sizes.line, sheet.ink
    depths = np.unique(by_topic["depth"].to_numpy())
    depths = depths[depths > 0]
    shown = by_rank[by_rank["rank"] <= max(2 * int(depths.max(initial=0)), 20)]
    marker = sheet.sizes.area**0.5 * 0.7 if len(shown) <= _FEW else 0
    entries = []
    for column, label, colour, style, shape in (
        ("judged", "runs judged as deep", ink.first, "-", "o"),
        ("new_judged", "their new documents", ink.second, "--", "D"),
        ("other_judged", "other runs", ink.faint, "-.", "^"),
    ):
        if shown[column].notna().any():
            (drawn,) = ax.plot(
                shown["rank"],
                shown[column],
                color=colour,
                linestyle=style,
                linewidth=line,
                marker=shape,
                markersize=marker,
                zorder=3,
            )
            entries.append((drawn, label))
    for depth in depths:
        upright = ax.axvline(depth, color=ink.strong, linewidth=0.8, linestyle=":", zorder=1)
    if len(depths):
        entries.append((upright, "depth" if len(depths) == 1 else "depth of a topic"))
    sheet.limit("y", (-0.03, 1.03))
    sheet.label(title="Where the judged documents end", x="rank", y="share of the documents that is judged")
    sheet.grid("y")
    sheet.ticks("x", whole=True)
    sheet.ticks("y")
    sheet.key(entries)
    sheet.fit(0.5 * sheet.width if sheet.narrow else 0.4 * sheet.width)
    return ax
