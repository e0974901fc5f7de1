"""The figure of swap rates: how often another sample of topics turns a difference round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.look import COLOURS, MARKERS
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: bins that have a line of their own where lines are bins
_BINS = 6
#: lines whose intervals can be told apart
_BANDS = 3
#: the second time that markers come round, the line is broken
_STROKES = ("-", "--", ":")


def plot_swap_rates(
    rows: pd.DataFrame, *, by_size: bool, measure: str, wanted: float, place: Place | None = None
) -> Axes:
    """Draw swap rates: a line for each size of the samples against the difference, or a line for each bin by size.

    Args:
        rows: of one measure and judgments, with ``size bin at_least below rate``; with ``rate_low`` and ``rate_high``,
            there is a band around each line where these are three at most, else around the darkest.
        by_size: whether the size is what is level, and the lines are bins: of those with a rate six at most.
        measure: its name.
        wanted: a rate that a level line shows.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes; a line passes over bins without a rate.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    level, line = ("size", "at_least") if by_size else ("at_least", "size")
    names = _chosen(rows, line) if by_size else list(dict.fromkeys(rows[line]))
    entries: list[tuple[Artist, str]] = []
    for number, name in enumerate(names):
        # of few topics a measure has few values, and leaves bins empty between others
        mine = rows[(rows[line] == name) & rows["rate"].notna()].sort_values(level)
        colour = _shade(number, len(names), dark_last=not by_size)
        darkest = number == (0 if by_size else len(names) - 1)
        if "rate_low" in mine and (darkest or len(names) <= _BANDS):
            ax.fill_between(
                mine[level], mine["rate_low"], mine["rate_high"], color=colour, alpha=0.15, linewidth=0, zorder=1
            )
        (drawn,) = ax.plot(
            mine[level],
            mine["rate"],
            color=colour,
            linestyle=_STROKES[number // len(MARKERS) % len(_STROKES)],
            linewidth=sizes.line,
            marker=MARKERS[number % len(MARKERS)],
            markersize=sizes.area**0.5 * 0.6,
            markeredgewidth=0,
            zorder=3,
        )
        entries.append((drawn, f"from {name:g}" if by_size else f"{name:,}"))
    ax.axhline(wanted, color=sheet.ink.strong, linewidth=0.8, linestyle=":", zorder=2)
    highest = max(wanted, rows["rate"].max()) if rows["rate"].notna().any() else wanted
    sheet.limit("y", (0, 0.05 * np.ceil(highest * 1.04 / 0.05)))
    last = rows["at_least"].max()
    across = "topics in a sample" if by_size else f"difference on the first sample (the last point: {last:g} and above)"
    sheet.label(title=f"How often other topics turn {measure} round", x=across, y="swap rate")
    sheet.grid()
    sheet.ticks("y")
    sheet.ticks("x", whole=by_size)
    sheet.key(entries, title="difference" if by_size else "topics in a sample")
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    return ax


def _chosen(rows: pd.DataFrame, line: str) -> list[float]:
    """Return the bins to draw: those in which swaps happen, six at most, evenly."""
    seen = rows[rows["rate"] > 0].groupby(line)["rate"].max()
    bins = [float(name) for name, rate in seen.items() if rate >= 0.001] or [float(rows[line].min())]
    places = np.unique(np.linspace(0, len(bins) - 1, min(_BINS, len(bins))).round().astype(int))
    return [bins[place] for place in places]


def _shade(number: int, of: int, *, dark_last: bool) -> tuple[float, float, float]:
    """Return a colour between a light and a dark blue, which is told from its neighbours in grey, too."""
    from matplotlib.colors import to_rgb

    share = number / max(1, of - 1)
    share = share if dark_last else 1 - share
    light, dark = np.array(to_rgb(COLOURS[4])), np.array(to_rgb(COLOURS[0]))
    red, green, blue = light + share * (dark - light)
    return float(red), float(green), float(blue)
