"""The figure of an inferred pool: where the judged documents end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots._axes import COLOURS, DARK, GREY, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_judged_by_rank(by_rank: pd.DataFrame, by_topic: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the share of judged documents at each rank, of the runs judged as deep and of all others.

    Args:
        by_rank: the `by_rank` table of an inferred pool.
        by_topic: its `by_topic` table, for the depths.
        ax: where to draw; default a new figure.

    Returns:
        The axes: a line for the runs judged as deep (needed, needed together or covered), one for their documents that
        are new at a rank, one for all other runs, and an upright line at every depth.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax, 7.2, 4)
    depths = np.unique(by_topic["depth"].to_numpy())
    deepest = int(depths.max(initial=0))
    shown = by_rank[by_rank["rank"] <= max(2 * deepest, 20)]
    for depth in depths[depths > 0]:
        ax.axvline(depth, color=DARK, linewidth=0.6, linestyle=":", zorder=1)
    new = "runs judged as deep, new at the rank"
    ax.plot(shown["rank"], shown["other_judged"], color=GREY, label="other runs", zorder=2)
    ax.plot(shown["rank"], shown["new_judged"], color=COLOURS[1], linestyle="--", label=new)
    ax.plot(shown["rank"], shown["judged"], color=COLOURS[0], label="runs judged as deep")
    ax.set(ylim=(-0.02, 1.02), xlabel="rank", ylabel="share of the documents that is judged")
    ax.set_title("Where the judged documents end (dotted: depth)", fontsize=11)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    # below the axes: lines and depths go through every corner of them
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, fontsize=9)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
