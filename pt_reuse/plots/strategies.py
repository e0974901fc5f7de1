"""The figure of a comparison of strategies: what each reaches, against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse.plots.look import COLOURS, MARKERS
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 12  # points of a line; each has a marker
#: the first lines differ by colour, those after them by their strokes, too
_STROKES = ("-", "--", ":")


def plot_strategies(
    rows: pd.DataFrame,
    *,
    strategies: Sequence[str],
    column: str,
    label: str,
    place: Place | None = None,
) -> Axes:
    """Draw a line for each strategy, the band from its lowest to its highest seed around it.

    Args:
        rows: with ``strategy budget``, the column, and the same with ``_low`` and ``_high``.
        strategies: which to draw, eighteen at most told apart.
        column: what is drawn.
        label: of the upright axis.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    shares = rows["budget"].dtype.kind == "f"
    looks = list(product(_STROKES, zip(COLOURS, MARKERS, strict=True)))
    entries = []
    for number, name in enumerate(strategies):
        mine = rows[rows["strategy"] == name].sort_values("budget", kind="stable")
        stroke, (colour, marker) = looks[number % len(looks)]
        x = mine["budget"] * 100 if shares else mine["budget"]
        low, high = mine[f"{column}_low"], mine[f"{column}_high"]
        ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0, zorder=2)
        (line,) = ax.plot(
            x,
            mine[column],
            color=colour,
            linestyle=stroke,
            linewidth=sizes.line,
            marker=marker,
            markersize=sizes.area**0.5 * 0.7,
            markevery=max(1, len(mine) // _FEW),
            zorder=3,
        )
        entries.append((line, name))
    sheet.limit("x", (0, max(float(ax.get_xlim()[1]), 1)))
    unit = "share of each topic's judged pool, %" if shares else "judgments per topic"
    sheet.label(title="What strategies of judging reach", x=unit, y=label)
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries)
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    return ax
