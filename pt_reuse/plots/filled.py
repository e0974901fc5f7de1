"""The figure of filled holes: a line per unit from its runs' score without its uniques to the one with them filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.bars import check_own_names, most_rows
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.look import DARK
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORDS = {"team": "team", "name": "run", "type": "type"}
_NAME = 0.32  # of the width, at most


def plot_filled(rows: pd.DataFrame, *, unit: str, top: int | None = None, place: Place | None = None) -> Axes:
    """Draw a line per unit from "removed" over the truth, at 0, to "filled".

    Args:
        rows: of one judge and measure, a row per unit, the first on top: the unit, ``measure judge removed_change
            filled_change`` and, for intervals as thin lines, the ends of both.
        unit: the column that names the unit.
        top: how many units at most; default 30, 15 in a column.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a hollow mark where the uniques are removed, a filled one where the judge labels them.
    """
    from matplotlib.lines import Line2D

    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    check_own_names(ax, "lines")
    shown = rows.head(most_rows(sheet, top))
    rest, at = len(rows) - len(shown), np.arange(len(shown))[::-1]
    removed, filled = (shown[f"{way}_change"].to_numpy(dtype=float) for way in ("removed", "filled"))
    ax.axvline(0, color=ink.strong, linewidth=0.8, zorder=2)
    first, last = np.fmin(np.fmin(removed, filled), 0), np.fmax(np.fmax(removed, filled), 0)
    ax.hlines(at, first, last, color=ink.faint, linewidth=2 * sizes.line, zorder=2.2)
    values = [removed, filled, np.zeros(1)]
    for way, shift in (("removed", -0.22), ("filled", 0.22)):
        if f"{way}_change_low" in shown:
            ends = [shown[f"{way}_change_{end}"].to_numpy(dtype=float) for end in ("low", "high")]
            ax.hlines(at + shift, *ends, color=ink.strong, linewidth=0.5 * sizes.line, zorder=2.5)
            values += ends
    looks = {"removed": ("o", "white"), "filled": ("D", ink.first)}
    entries = []
    for (way, (marker, face)), x in zip(looks.items(), (removed, filled), strict=True):
        ax.scatter(x, at, s=sizes.area, marker=marker, facecolor=face, edgecolor=DARK, linewidth=0.8, zorder=3)
        handle = Line2D(
            [],
            [],
            linestyle="none",
            marker=marker,
            markerfacecolor=face,
            markeredgecolor=DARK,
            markersize=sizes.area**0.5,
        )
        entries.append((handle, way))
    judge, measure = (str(rows[column].iloc[0]) for column in ("judge", "measure"))
    word = _WORDS.get(unit, unit)
    entries[0] = (entries[0][0], "uniques removed")
    entries[1] = (entries[1][0], f"filled by {judge}")
    ax.set_yticks(at, [shortened(ax, str(name), sizes.text, _NAME * sheet.width) for name in shown[unit]])
    ax.set_ylim(-0.7, max(len(shown), 1) - 0.3)
    every = np.concatenate(values)
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    air = 0.05 * max(high - low, 0.001)
    sheet.limit("x", (low - air, high + air))
    more = f" ({count(rest, f'more {word}')} not shown)" if rest else ""
    sheet.label(
        title=f"What each {word}'s own runs lose and get back",
        x=f"mean change of {measure} of the {word}'s own runs; 0 is the true score{more}",
    )
    sheet.grid("x")
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries, below=True)
    sheet.fit(sizes.row * 1.15 * (max(len(shown), 2) + 0.4))
    return ax
