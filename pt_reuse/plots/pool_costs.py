"""The figure of pool costs: what pools of several depths find, and how runs rank by them, over the pools' sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse.plots.lettering import breadth
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_pool_costs(table: pd.DataFrame, agreement: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw two lines over the number of documents in the pool.

    Args:
        table: the `table` of PoolCosts.
        agreement: its `agreement` under one measure.
        measure: that measure.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a line for the share of relevant documents found, one for tau_b, with a band where it has an interval,
        a marker at each pool; above the lines the depths, where there is room.
    """
    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    x, tau = table["documents"].to_numpy(dtype=float), agreement["tau_b"].to_numpy(dtype=float)
    mark = 0.8 * sizes.area**0.5
    entries = []
    for values, label, colour, style, marker in (
        (table["share"].to_numpy(dtype=float), "relevant documents found", ink.first, "-", "o"),
        (tau, f"tau_b of {measure} to the ranking by all", ink.second, "--", "s"),
    ):
        (drawn,) = ax.plot(
            x, values, color=colour, linestyle=style, linewidth=sizes.line, marker=marker, markersize=mark, zorder=3
        )
        entries.append((drawn, label))
    if "tau_b_low" in agreement:
        ax.fill_between(
            x, agreement["tau_b_low"], agreement["tau_b_high"], color=ink.second, alpha=0.25, linewidth=0, zorder=2
        )
    low = min(0.0, float(agreement.filter(like="tau_b").min(axis=None)))
    sheet.limit("y", (low - 0.03, 1.12))
    sheet.limit("x", (0, 1.05 * max(float(x.max(initial=0)), 1)))
    sheet.label(title="What a pool costs and what it finds", x="documents in the pool (depth above)", y="share, tau_b")
    sheet.grid("y")
    sheet.ticks("x", whole=True)
    sheet.ticks("y")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    sheet.key(entries)
    sheet.fit(0.55 * sheet.width if sheet.narrow else 0.4 * sheet.width)
    _name_depths(sheet, table)
    return ax


def _name_depths(sheet: Sheet, table: pd.DataFrame) -> None:
    """Write each depth above its pool, the deepest first, as far as they do not touch."""
    ax, free = sheet.ax, float("inf")
    to_inches = ax.transData.transform
    for depth, documents in reversed(list(zip(table["depth"], table["documents"], strict=True))):
        text = f"{depth:,}"
        middle = sheet.inches(to_inches((documents, 1.0))[0])
        half = breadth(ax, text, sheet.sizes.text) / 2
        if middle + half < free:
            ax.annotate(text, (documents, 1.05), ha="center", va="bottom", fontsize=sheet.sizes.text)
            free = middle - half - 0.04
