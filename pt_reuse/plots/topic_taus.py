"""The figure of rankings by topic: how far two sets of judgments agree on each topic alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.lettering import plain
from pt_reuse.plots.points import name_points
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def plot_topic_taus(per_topic: pd.DataFrame, *, measured: str, overall: float, place: Place | None = None) -> Axes:
    """Draw tau_b of the runs ranked on each topic alone, the lowest first.

    Args:
        per_topic: one row per topic: ``qid tau_b``, NaN where all runs tie by one of the two.
        measured: what runs are scored by, for the label.
        overall: tau_b of the rankings by the means; NaN for none.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a point per topic that has a tau_b, the lowest named where there is room, and a line at that of the
        means.
    """
    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    drawn = per_topic[per_topic["tau_b"].notna()].sort_values("tau_b", kind="stable")
    x, y = np.arange(1, len(drawn) + 1, dtype=float), drawn["tau_b"].to_numpy(dtype=float)
    points = ax.scatter(x, y, s=sizes.area, color=ink.first, edgecolor="white", linewidth=0.4, zorder=3)
    entries: list[tuple[Artist, str]] = [(points, "one topic")]
    if not np.isnan(overall):
        line = ax.axhline(overall, color=ink.strong, linewidth=0.8, linestyle="--", zorder=2)
        entries.append((line, plain(f"means over topics ({overall:.4f})")))
    without = len(per_topic) - len(drawn)
    rest = f" ({count(without, 'topic')} without, as all runs tie)" if without else ""
    lowest = float(np.min([*y, *([] if np.isnan(overall) else [overall])], initial=1.0))
    span = max(1 - lowest, 0.1)
    # below the lowest there is room for its name
    sheet.limit("y", (lowest - 0.15 * span, 1 + 0.07 * span))
    sheet.limit("x", (0, len(drawn) + 1))
    sheet.label(
        title="The ranking of the runs on each topic",
        x=f"topics, the lowest first{rest}",
        y=f"tau_b of the two rankings by {measured}",
    )
    sheet.grid("y")
    sheet.ticks("x", whole=True)
    sheet.ticks("y")
    sheet.key(entries)
    sheet.fit(0.55 * sheet.width if sheet.narrow else 0.4 * sheet.width)
    named = pd.DataFrame({"name": drawn["qid"].to_numpy(), "x": x, "y": y})
    name_points(sheet, named, np.column_stack([x, y]))
    return ax
