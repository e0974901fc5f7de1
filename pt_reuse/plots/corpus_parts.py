"""Figures of parts of a corpus: agreement by sizes, by the share of one source, and of each two parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.plots.lettering import plain
from pt_reuse.plots.look import COLOURS, MARKERS
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: neighbours differ in colour, marker and stroke
_STROKES = ("-", "--", "-.", ":")


def plot_sizes(rows: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw agreement against the size of one part, a line for each size of the other.

    Args:
        rows: ``size other_size`` of each pair of sizes, smaller first, the column and its standard error.
        column: what is drawn.
        label: of the upright axis.
        place: where to draw; default a new figure of a page's width.
    """
    sheet = Sheet.open(place or Place())
    swapped = rows.rename(columns={"size": "other_size", "other_size": "size"})
    both = pd.concat([rows, swapped], ignore_index=True).drop_duplicates(["size", "other_size"])
    lines = [(f"{int(size):,}", mine) for size, mine in both.groupby("other_size", sort=True)]
    _draw_lines(sheet, lines, "size", column, "documents of the other part")
    sheet.limit("x", (0, float(both["size"].max()) * 1.05))
    sheet.label(title="Agreement of two parts by their sizes", x="documents drawn for one part", y=label)
    return _finish(sheet)


def plot_shares(rows: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw agreement against the share of a part that comes from the source of the other, a line for each source.

    Args:
        rows: ``source share``, the column and its standard error.
        column: what is drawn.
        label: of the upright axis.
        place: where to draw; default a new figure of a page's width.
    """
    sheet = Sheet.open(place or Place())
    shown = rows.assign(share=100 * rows["share"])
    several = len(set(shown["size"])) > 1
    keys = ["source", "size"] if several else ["source"]
    lines = []
    for key, mine in shown.groupby(keys, sort=False):
        lines.append((f"{key[0]}, {int(key[1]):,} documents" if several else str(key[0]), mine))
    _draw_lines(sheet, lines, "share", column, "source")
    sheet.limit("x", (-3, 103))
    sheet.label(
        title="Agreement by the share of one source",
        x="share of the other part from the same source, %",
        y=label,
    )
    return _finish(sheet)


def plot_grid(by_pair: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw a grid of parts, the agreement of each two as a shade and a number; the mean over draws where there are any.

    Args:
        by_pair: ``part other_part`` and the column.
        column: what is drawn.
        label: what a cell shows.
        place: where to draw; default a new figure of a page's width.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    names = list(dict.fromkeys([*by_pair["part"], *by_pair["other_part"]]))
    place_of = {name: i for i, name in enumerate(names)}
    cells: NDArray[np.float64] = np.full((len(names), len(names)), np.nan)
    means = by_pair.groupby(["part", "other_part"], sort=False)[column].mean().reset_index()
    for one, other, value in zip(means["part"], means["other_part"], means[column], strict=True):
        i, j = sorted((place_of[one], place_of[other]))
        cells[j, i] = value
    low, high = (
        (float(end) for end in (np.nanmin(cells), np.nanmax(cells))) if len(means[column].dropna()) else (0.0, 1.0)
    )
    # light greys alone, on which black numbers are read
    most = low + max(high - low, 1e-9) / 0.45
    # the first part has no row and the last no column: the grid is the lower triangle
    ax.imshow(
        cells[1:, :-1], cmap="Greys", vmin=low - 0.1 * (most - low), vmax=most, aspect="auto", interpolation="none"
    )
    for i, j in product(range(1, len(names)), range(len(names) - 1)):
        if i > j:
            text = "-" if np.isnan(cells[i, j]) else f"{cells[i, j]:.2f}"
            ax.text(j, i - 1, text, ha="center", va="center", fontsize=sizes.text, color="black")
    ax.set_xticks(range(len(names) - 1), names[:-1], rotation=90 if len(names) > 6 else 0)
    ax.set_yticks(range(len(names) - 1), names[1:])
    sheet.label(title=f"{label} of two parts", x="", y="")
    sheet.fit(max(0.28 * (len(names) - 1), 0.3 * sheet.width))
    return ax


def _draw_lines(sheet: Sheet, lines: Sequence[tuple[str, pd.DataFrame]], across: str, column: str, title: str) -> None:
    """Draw lines with standard errors, and their legend."""
    entries: list[tuple[Artist, str]] = []
    ends: list[float] = []
    for number, (name, rows) in enumerate(lines):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        stroke = _STROKES[number % len(_STROKES)]
        mine = rows.sort_values(across, kind="stable")
        error = mine[f"{column}_se"].fillna(0)
        drawn = sheet.ax.errorbar(
            mine[across],
            mine[column],
            yerr=error,
            color=colour,
            linestyle=stroke,
            linewidth=sheet.sizes.line,
            elinewidth=0.7 * sheet.sizes.line,
            capsize=2,
            marker=marker,
            markersize=sheet.sizes.area**0.5 * 0.8,
            zorder=3,
        )
        # the legend shows the line and its marker, without the bar of an error
        entries.append((drawn.lines[0], plain(name)))
        ends += [float((mine[column] - error).min()), float((mine[column] + error).max())]
    seen = [end for end in ends if not np.isnan(end)] or [0.0, 1.0]
    # differences of a few hundredths are what there is to see; 0 need not be in view
    room = max(0.12 * (max(seen) - min(seen)), 0.01)
    sheet.limit("y", (min(seen) - room, max(seen) + room))
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries, title)


def _finish(sheet: Sheet) -> Axes:
    """Give a figure with lines its height: that of its legend at least, where it stands beside the axes."""
    key = sheet.ax.get_legend()
    entries = 0 if key is None or sheet.below else len(key.get_texts()) + 1
    beside = 1.4 * entries * sheet.sizes.text / 72
    sheet.fit(max(0.62 * sheet.width if sheet.narrow else 0.42 * sheet.width, beside))
    return sheet.ax
