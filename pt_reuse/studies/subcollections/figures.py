"""The figures of subcollections: agreement of parts by their sizes, by the share of a source, and of each two."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.plots.marks import STROKES, draw_cells, shading
from pt_reuse.plots.sheet import Entries, Place, Sheet, Style, look, plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def plot_sizes(rows: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw agreement against the size of one part of a corpus, a line for each size of the other."""
    sheet = Sheet.open(place)
    swapped = rows.rename(columns={"size": "other_size", "other_size": "size"})
    both = pd.concat([rows, swapped], ignore_index=True).drop_duplicates(["size", "other_size"])
    lines = [(f"{int(size):,}", mine) for size, mine in both.groupby("other_size", sort=True)]
    entries = _draw_with_errors(sheet, lines, "size", column)
    sheet.limit("x", (0, float(both["size"].max()) * 1.05))
    sheet.label(title="Agreement of two parts by their sizes", x="documents drawn for one part", y=label)
    return _finish_beside(sheet, entries, "documents of the other part")


def plot_source_shares(rows: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw agreement of mixed parts against the share of each that is of its source, a line for each two sources."""
    sheet = Sheet.open(place)
    shown = rows.assign(share=100 * rows["share"])
    several = len(set(shown["size"])) > 1
    lines = []
    for key, mine in shown.groupby(["source", "size"] if several else ["source"], sort=False):
        lines.append((f"{key[0]}, {int(key[1]):,} documents" if several else str(key[0]), mine))
    entries = _draw_with_errors(sheet, lines, "share", column)
    sheet.limit("x", (-3, 103))
    sheet.label(title="Agreement by the share of the sources", x="share of each part from its source, %", y=label)
    return _finish_beside(sheet, entries, "sources")


def _draw_with_errors(
    sheet: Sheet, lines: Iterable[tuple[str, pd.DataFrame]], across: str, column: str
) -> list[tuple[Artist, str]]:
    """Draw lines with standard errors, neighbours of which differ in colour, marker and stroke."""
    entries: list[tuple[Artist, str]] = []
    ends: list[float] = []
    for number, (name, rows) in enumerate(lines):
        mine, style = rows.sort_values(across, kind="stable"), look(number)
        error = mine[f"{column}_se"].fillna(0)
        bars: Style = {"elinewidth": 0.7 * sheet.sizes.line, "capsize": 2, "linewidth": sheet.sizes.line, "zorder": 3}
        marks: Style = {"marker": style.marker, "markersize": 0.8 * sheet.sizes.area**0.5, "color": style.colour}
        stroke = STROKES[number % len(STROKES)]
        drawn = sheet.ax.errorbar(mine[across], mine[column], yerr=error, linestyle=stroke, **bars, **marks)
        # the legend shows the line and its marker, without the bar of an error
        entries.append((drawn.lines[0], plain(name)))
        ends += [float((mine[column] - error).min()), float((mine[column] + error).max())]
    # differences of a few hundredths are what there is to see; 0 need not be in view
    sheet.limit_around("y", ends, air=0.12, least=0.08)
    return entries


def _finish_beside(sheet: Sheet, entries: Entries, title: str) -> Axes:
    """Finish a figure that is as high as its legend at least, where that stands beside the axes."""
    high = 0.0 if sheet.below else 1.4 * (len(entries) + 1) * sheet.sizes.text / 72 / sheet.width
    return sheet.finish(entries, (0.62, max(0.42, high)), title=title)


def plot_parts_grid(by_pair: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw the agreement of each two parts of a corpus as a shade and a number, the mean over draws."""
    sheet = Sheet.open(place)
    names = list(dict.fromkeys([*by_pair["part"], *by_pair["other_part"]]))
    cells: NDArray[np.float64] = np.full((len(names), len(names)), np.nan)
    texts = np.full(cells.shape, "", dtype=object)
    means = by_pair.groupby(["part", "other_part"], sort=False)[column].mean().reset_index()
    for one, other, value in means.itertuples(index=False):
        i, j = sorted((names.index(one), names.index(other)))
        cells[j, i], texts[j, i] = value, "-" if np.isnan(value) else f"{value:.2f}"
    known = cells[~np.isnan(cells)]
    limits = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    # the first part has no row and the last no column: the grid is the lower triangle
    draw_cells(sheet, cells[1:, :-1], texts[1:, :-1], (names[1:], names[:-1]), shading("#F2F2F2", "#B0B0B0"), limits)
    sheet.label(title=f"{label} of two parts", x="", y="")
    sheet.fit(max(0.28 * (len(names) - 1), 0.3 * sheet.width))
    return sheet.ax
