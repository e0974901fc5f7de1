"""The figure of saturation: the scores of all runs on each topic, as boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_REACH = 1.5  # of a whisker, in heights of its box


def plot_saturation(
    rows: pd.DataFrame,
    scores: Sequence[NDArray[np.float64]],
    *,
    measure: str,
    maximum: float = 1.0,
    place: Place | None = None,
) -> Axes:
    """Draw a box for each topic, the topic with the highest median on the right.

    Args:
        rows: the `table` of a Saturation, of one measure.
        scores: for each of its rows the scores of the runs.
        measure: what they are of.
        maximum: the highest possible score.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a box from quartile to quartile, a stroke at the median, whiskers to the last score within 1.5 times
        the box, rings beyond; saturated topics are right of an upright line, and their boxes dark.

    Source: Voorhees, Craswell and Lin 2022, figures 2 and 7.
    """
    from matplotlib.patches import Patch

    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    keys = rows.reset_index(drop=True)
    order = keys.sort_values(["median", "mean", "qid"], kind="stable", na_position="first").index.tolist()
    dark = [bool(keys["saturated"][at]) for at in order]
    line, mark = 0.5 * sizes.line, 0.25 * sizes.area**0.5
    drawn = ax.boxplot(
        [scores[at] for at in order],
        whis=_REACH,
        widths=0.7,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"linewidth": 0.6 * line, "edgecolor": ink.strong},
        whiskerprops={"linewidth": line, "color": ink.strong},
        capprops={"linewidth": 0},
        medianprops={"linewidth": 1.2 * sizes.line, "color": ink.second, "solid_capstyle": "butt"},
        flierprops={
            "marker": "o",
            "markersize": mark,
            "markerfacecolor": "none",
            "markeredgecolor": ink.faint,
            "markeredgewidth": 0.4,
        },
        zorder=3,
    )
    for box, saturated in zip(drawn["boxes"], dark, strict=True):
        box.set_facecolor(ink.first if saturated else ink.rest)
    entries: list[tuple[Artist, str]] = [
        (Patch(facecolor=ink.rest, edgecolor=ink.strong, linewidth=0.3), "quartiles"),
        *((stroke, "median") for stroke in drawn["medians"][:1]),
    ]
    if any(dark):
        # a box between equal quartiles has no height that could be seen
        begin = ax.axvline(dark.index(True) + 0.5, color=ink.strong, linewidth=0.8, linestyle=":", zorder=2)
        entries.append((begin, "from here the median is the maximum"))
    sheet.limit("x", (0.3, max(len(order), 1) + 0.7))
    sheet.limit("y", (-0.03 * maximum, 1.03 * maximum))
    sheet.label(title="Scores on each topic", x="topics, the highest median last", y=f"{measure} of the runs")
    sheet.grid("y")
    sheet.ticks("x", whole=True)
    sheet.ticks("y")
    sheet.key(entries)
    sheet.fit(0.55 * sheet.width if sheet.narrow else 0.4 * sheet.width)
    return ax
