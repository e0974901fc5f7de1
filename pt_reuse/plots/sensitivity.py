"""The figure of a study's sensitivity: how far each convention moves a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.bars import check_own_names
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 0.36  # of the width, at most


def plot_tornado(spans: pd.DataFrame, points: pd.DataFrame, *, label: str, place: Place | None = None) -> Axes:
    """Draw a bar per convention from the lowest to the highest value of a number, and a point for each value.

    Args:
        spans: one row per convention, the first on top: ``convention default lowest highest``.
        points: one row per convention and value: ``convention value here``.
        label: what the number is.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: the bars, an upright line at the default, and at the ends of each bar the value found there, where
        the bar has a length.
    """
    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    check_own_names(ax, "conventions")
    at = dict(zip(spans["convention"], np.arange(len(spans))[::-1].tolist(), strict=True))
    low, high = spans["lowest"].to_numpy(dtype=float), spans["highest"].to_numpy(dtype=float)
    default = float(spans["default"].iloc[0]) if len(spans) else 0.0
    ax.barh(list(at.values()), high - low, 0.62, low, facecolor=ink.rest, edgecolor=ink.strong, linewidth=0.3, zorder=2)
    ax.scatter(
        points["here"],
        points["convention"].map(at),
        s=0.6 * sizes.area,
        marker="o",
        color=ink.first,
        edgecolor="white",
        linewidth=0.4,
        zorder=4,
    )
    if not np.isnan(default):
        ax.axvline(default, color=ink.strong, linewidth=0.8, zorder=3)
    names = [shortened(ax, name.replace("_", " "), sizes.text, _NAME * sheet.width) for name in spans["convention"]]
    ax.set_yticks(list(at.values()), names)
    ax.set_ylim(-0.7, max(len(spans), 1) - 0.3)
    ends = np.concatenate([low, high, [default]])
    # a number may be undefined at the default, or under every value
    ends = ends[~np.isnan(ends)] if not np.isnan(ends).all() else np.zeros(1)
    least, most = float(ends.min()), float(ends.max())
    # room for the values at both ends
    air = 0.32 * max(most - least, 1e-3 * max(abs(most), 1e-3))
    sheet.limit("x", (least - air, most + air))
    sheet.label(title="What moves with a convention", x=label)
    sheet.grid("x")
    whole = bool(np.all(ends == np.round(ends)))
    sheet.ticks("x", whole=whole)
    ax.tick_params(axis="y", length=0)
    sheet.fit(1.5 * sizes.row * (max(len(spans), 2) + 0.4))
    for name, least, most in zip(spans["convention"], low.tolist(), high.tolist(), strict=True):
        of = points[points["convention"] == name]
        for end, side, shift in ((least, "right", -5), (most, "left", 5)):
            # what lies at the default needs no name
            if most > least and end != default:
                ax.annotate(
                    shortened(
                        ax, str(of.loc[of["here"] == end, "value"].iloc[0]), sizes.text, 0.17 * sheet.axes_size[0]
                    ),
                    (end, at[name]),
                    xytext=(shift, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center_baseline",
                    fontsize=sizes.text,
                    zorder=5,
                )
    return ax
