"""The figure of scores with two intervals each: by people's labels alone, and with a model's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.bars import check_own_names, most_rows
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 0.32  # of the width, at most
_APART = 0.17  # of a row, from its middle to either interval


def plot_forest(
    table: pd.DataFrame,
    *,
    measure: str,
    judge: str,
    confidence: float,
    top: int | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw two intervals per run, the highest estimate on top.

    Args:
        table: one row per run: ``name human human_low human_high by_judge estimate estimate_low estimate_high``.
        measure: what the scores are.
        judge: whose labels there are beside people's.
        confidence: of the intervals.
        top: how many runs at most; default 30, 15 in a column.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    check_own_names(ax, "runs")
    rows = table.iloc[table["estimate"].argsort(kind="stable").to_numpy()[::-1]]
    most = most_rows(sheet, top)
    rest = max(0, len(rows) - most)
    rows = rows.head(most)
    at = np.arange(len(rows))[::-1].astype(float)
    entries = []
    for prefix, shift, marker, colour, stroke, said in (
        ("estimate", _APART, "o", ink.first, "-", f"people and {judge}"),
        ("human", -_APART, "s", ink.second, (0, (4, 1)), "people alone"),
    ):
        low, high = (rows[f"{prefix}_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
        ax.hlines(at + shift, low, high, color=colour, linestyle=stroke, linewidth=sizes.line, zorder=2)
        points = ax.scatter(
            rows[prefix],
            at + shift,
            s=0.5 * sizes.area,
            marker=marker,
            color=colour,
            facecolor=colour if prefix == "estimate" else "white",
            linewidth=0.8,
            zorder=4,
        )
        entries.append((points, said))
    crosses = ax.scatter(
        rows["by_judge"], at, s=0.5 * sizes.area, marker="x", color=ink.strong, linewidth=0.8, zorder=3
    )
    entries.append((crosses, f"{judge} alone"))
    names = [shortened(ax, name, sizes.text, _NAME * sheet.width) for name in rows["name"]]
    ax.set_yticks(at, names)
    ax.set_ylim(-0.7, max(len(rows), 1) - 0.3)
    ends = rows[["estimate_low", "estimate_high", "human_low", "human_high", "by_judge", "estimate"]].to_numpy(float)
    ends = ends[np.isfinite(ends)]
    least, largest = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 1.0)
    air = 0.03 * max(largest - least, 1e-3)
    sheet.limit("x", (least - air, largest + air))
    more = f"; {count(rest, 'more run')} not shown" if rest else ""
    sheet.label(
        title=f"Scores by few labels of people and many of {judge}",
        x=f"{measure} ({100 * confidence:.4g} % intervals{more})",
    )
    sheet.grid("x")
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries, below=True)
    sheet.fit(1.4 * sizes.row * (max(len(rows), 2) + 0.4))
    return ax
