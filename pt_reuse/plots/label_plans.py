"""The figures of plans: what a width costs in labels, and numbers with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def plot_label_costs(curve: pd.DataFrame, *, labels: int, planned: float, place: Place | None = None) -> Axes:
    """Draw the width of an interval over the labels that it takes.

    Args:
        curve: of a plan: ``width labels proportional random``.
        labels: of the plan.
        planned: the width that is expected of it.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a line for the plan, one for proportional allocation, one for a simple random sample, strokes at the
        labels and the width of the plan.
    """
    sheet = Sheet.open(place or Place())
    ax, line, ink = sheet.ax, sheet.sizes.line, sheet.ink
    entries: list[tuple[Artist, str]] = []
    for column, label, colour, style, shape in (
        ("labels", "strata, as planned", ink.first, "-", "o"),
        ("proportional", "strata, in proportion", ink.second, "--", "D"),
        ("random", "at random", ink.faint, "-.", "^"),
    ):
        (drawn,) = ax.plot(
            curve[column],
            curve["width"],
            color=colour,
            linestyle=style,
            linewidth=line,
            marker=shape,
            markersize=0.6 * sheet.sizes.area**0.5,
            zorder=3,
        )
        entries.append((drawn, label))
    ax.axhline(planned, color=ink.strong, linewidth=0.8, linestyle=":", zorder=1)
    stroke = ax.axvline(labels, color=ink.strong, linewidth=0.8, linestyle=":", zorder=1)
    entries.append((stroke, "the plan"))
    # narrow intervals take many labels: the few that are wanted would stand at the edge
    shown = curve[curve["width"] >= 0.7 * planned]
    most = float(shown[["labels", "proportional", "random"]].max().max()) if len(shown) else float(labels)
    sheet.limit("x", (0, 1.05 * max(most, labels, 1)))
    sheet.limit("y", (0, 1.05 * max(float(curve["width"].max()), planned)))
    sheet.label(title="What a width takes", x="labels that people check", y="width of the interval")
    sheet.grid("y")
    sheet.ticks("x", whole=True)
    sheet.ticks("y")
    sheet.key(entries)
    sheet.fit(0.6 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    return ax


def plot_label_estimates(table: pd.DataFrame, *, confidence: float, place: Place | None = None) -> Axes:
    """Draw numbers with their intervals, and what the judge's own labels say.

    Args:
        table: of a LabelEstimate.
        confidence: of the intervals.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a row for each number, the first on top: a point with its interval, an open diamond where
        the judge puts it.
    """
    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    at = np.arange(len(table))[::-1]
    drawn = ax.errorbar(
        table["estimate"],
        at,
        xerr=[table["estimate"] - table["estimate_low"], table["estimate_high"] - table["estimate"]],
        fmt="o",
        color=ink.first,
        markersize=0.7 * sizes.area**0.5,
        elinewidth=sizes.line,
        capsize=0.35 * sizes.area**0.5,
        zorder=3,
    )
    entries: list[tuple[Artist, str]] = [(drawn[0], f"by people, with its {100 * confidence:g} % interval")]
    has = table["judge"].notna().to_numpy()
    if has.any():
        ring = ax.scatter(
            table.loc[has, "judge"],
            at[has],
            marker="D",
            s=sizes.area,
            facecolors="none",
            edgecolors=ink.second,
            linewidths=sizes.line,
            zorder=4,
        )
        entries.append((ring, "by the judge's labels"))
    low, high = float(table["estimate_low"].min()), float(table["estimate_high"].max())
    reach = [low, high, *table.loc[has, "judge"].tolist()]
    pad = 0.05 * max(max(reach) - min(reach), 0.02)
    sheet.limit("x", (min(reach) - pad, max(reach) + pad))
    sheet.limit("y", (-0.5, len(table) - 0.5))
    ax.set_yticks(at, labels=table["number"].tolist())
    ax.tick_params(axis="y", length=0, labelsize=sizes.text)
    sheet.label(title="What people found", x="estimate", y="")
    sheet.grid("x")
    sheet.ticks("x")
    sheet.key(entries)
    sheet.fit(0.9 + 2 * sizes.row * len(table))
    return ax
