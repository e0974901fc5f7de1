"""The figure of what pools find as they grow deeper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.look import looks
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_FEW = 10  # markers of a line


def plot_found(
    table: pd.DataFrame, *, column: str, units: Sequence[str], judged_to: int, place: Place | None = None
) -> Axes:
    """Draw how many relevant documents the pool of each unit finds, in all and alone, against its depth.

    Args:
        table: the `table` of a :class:`~pt_reuse.FoundByDepth`.
        column: the one that names the units.
        units: which to draw.
        judged_to: the depth down to which everything is judged.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: for each unit a line for all, and after it a broken one for what it alone finds; an upright line at
        the depth beyond which not everything is judged, where that is in view.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    entries: list[tuple[Artist, str]] = []
    for name, look in zip(units, looks(len(units)), strict=True):
        rows = table[table[column] == name].sort_values("depth", kind="stable")
        for values, stroke, filled, said in (("relevant", "-", True, ""), ("unique", "--", False, ", alone")):
            (line,) = ax.plot(
                rows["depth"],
                rows[values],
                color=look.colour,
                linestyle=stroke,
                linewidth=sizes.line,
                marker=look.marker,
                markersize=sizes.area**0.5 * 0.7,
                markerfacecolor=look.colour if filled else "none",
                markevery=max(1, len(rows) // _FEW),
                zorder=3,
            )
            entries.append((line, shortened(ax, name, sizes.text, sheet.name_room(said)) + said))
    deepest = int(table["depth"].max())
    if 0 < judged_to < deepest:
        upright = ax.axvline(judged_to, color=sheet.ink.strong, linewidth=0.8, linestyle=":", zorder=1)
        entries.append((upright, "all is judged up to here"))
    sheet.limit("x", (0, 1.02 * deepest))
    sheet.limit("y", (0, max(float(ax.get_ylim()[1]), 1)))
    sheet.label(title="Relevant documents by depth of the pool", x="pool depth", y="relevant documents found")
    sheet.grid()
    sheet.ticks("x", "y", whole=True)
    sheet.key(entries)
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    return ax
