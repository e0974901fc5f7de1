"""The figure of minimum ranks: how many relevant documents each topic has at each rank, as a map of shades."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: the most documents of each shade, the last without end
SHADES = (1, 5, 10, 30, 50)
_NAMES = ("1", "2–5", "6–10", "11–30", "31–50", "more than 50")
_LIGHT, _DARK = "#C9D6EA", "#10265C"
_GAP = 0.03  # of the depth, between the deepest rank and the row of what no run has


def plot_minimum_ranks(
    cells: pd.DataFrame, topics: pd.DataFrame, *, documents: str = "relevant documents", place: Place | None = None
) -> Axes:
    """Draw the cells, topics from left to right and ranks from bottom to top.

    Args:
        cells: what :meth:`MinimumRanks.cells` returns: ``qid rank documents``.
        topics: the `topics` of a MinimumRanks.
        documents: what is counted, for the title.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: one collection of rectangles for each shade that occurs; topics with most relevant documents on the
        right; the row ``NR`` above the ranks.

    Source: Voorhees, Craswell and Lin 2022, figures 5 and 6.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    sheet = Sheet.open(place or Place())
    ax, ink = sheet.ax, sheet.ink
    order = topics.sort_values(["relevant", "qid"], kind="stable")["qid"]
    at = {qid: number for number, qid in enumerate(order, 1)}
    depth = int(cells["rank"].max()) if cells["rank"].notna().any() else 1
    high = max(1.0, 0.012 * depth)  # so that the cell of one rank can be seen
    missing = depth + 0.5 + max(_GAP * depth, 1.0) + high / 2
    x = cells["qid"].map(at).to_numpy(dtype=float)
    y = cells["rank"].to_numpy(dtype=float, na_value=missing)
    shade = np.searchsorted(SHADES, cells["documents"].to_numpy())
    entries: list[tuple[Artist, str]] = []
    for n, (colour, name) in enumerate(zip(_colours(), _NAMES, strict=True)):
        chosen = shade == n
        left, middle = x[chosen] - 0.5, y[chosen]
        corners = [
            np.column_stack([left + right, middle + down])
            for right, down in ((0, -high / 2), (1, -high / 2), (1, high / 2), (0, high / 2))
        ]
        if chosen.any():
            ax.add_collection(
                PolyCollection(
                    list(np.stack(corners, axis=1)), facecolors=[colour], edgecolors="none", zorder=3, label=name
                )
            )
        entries.append((Patch(facecolor=colour, edgecolor=ink.strong, linewidth=0.3), name))
    line = depth + 0.5 + max(_GAP * depth, 1.0) / 2
    ax.axhline(line, color=ink.strong, linewidth=0.6, zorder=2)
    sheet.limit("x", (0.5, max(len(order), 1) + 0.5))
    sheet.limit("y", (0.5, missing + high / 2))
    sheet.label(
        title=f"Where {documents} were first found", x="topics, the most relevant documents last", y="minimum rank"
    )
    sheet.grid("y")
    sheet.ticks("x", whole=True)
    _number_ranks(sheet, depth, missing)
    sheet.key(entries, title="documents")
    sheet.fit(0.7 * sheet.width if sheet.narrow else 0.5 * sheet.width)
    return ax


def _number_ranks(sheet: Sheet, depth: int, missing: float) -> None:
    """Write round ranks beside the map, and NR."""
    step = next(s for s in _steps() if depth / s <= (5 if sheet.narrow else 10))
    ranks = [1, *range(step, depth + 1, step)] if step > 1 else list(range(1, depth + 1))
    # the last must not touch what no run has
    ranks = [rank for rank in ranks if missing - rank > 0.04 * depth]
    sheet.ax.set_yticks([*ranks, missing], [*(f"{rank:,}" for rank in ranks), "NR"])


def _steps() -> list[int]:
    return [unit * 10**power for power in range(10) for unit in (1, 2, 5)]


def _colours() -> list[tuple[float, ...]]:
    """Return a colour for each shade, from light to dark in equal steps."""
    from matplotlib.colors import to_rgb

    light, dark = np.array(to_rgb(_LIGHT)), np.array(to_rgb(_DARK))
    return [tuple(light + (dark - light) * step) for step in np.linspace(0, 1, len(_NAMES))]
