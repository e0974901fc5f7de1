"""Figures of annotators: coefficients in rows, a confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.plots.bars import check_own_names, most_rows
from pt_reuse.plots.lettering import plain, shortened
from pt_reuse.plots.look import MOST, looks
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: where the bands of a kappa begin
BANDS = (0.4, 0.6, 0.8)
_NAME = 0.38  # of the width, at most


@dataclass(frozen=True)
class _Dots:
    """A dot in each row.

    Attributes:
        name: what they are.
        values: (rows,) where the dots are, NaN for none.
        low: (rows,) where a line through the dot begins, NaN for none.
        high: (rows,) where it ends.
    """

    name: str
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def plot_kappas(rows: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the kappa of each two that are compared, the largest on top, with its interval and the bands.

    Args:
        rows: rows of a table of an AnnotatorAgreement: ``first second kappa kappa_low kappa_high``.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a dot in each row, a line for its interval, and upright lines where bands begin. What has no kappa has
        no row.
    """
    sheet = Sheet.open(place or Place())
    known = rows[rows["kappa"].notna()].sort_values("kappa", ascending=False, kind="stable")
    names = [f"{first} - {second}" for first, second in zip(known["first"], known["second"], strict=True)]
    ends = [known[name].to_numpy(dtype=float) for name in ("kappa", "kappa_low", "kappa_high")]
    _draw_rows(sheet, names, [_Dots("kappa", *ends)], word="pair")
    for edge in BANDS:
        sheet.ax.axvline(edge, color=sheet.ink.strong, linewidth=0.8, linestyle=":", zorder=1)
    lowest, rest = float(np.nanmin([0.0, *ends[0], *ends[1]])), _rest(sheet, len(names), "pair")
    sheet.limit("x", (lowest - 0.03, 1.03))
    sheet.label(
        title="Agreement of annotators", x=f"Cohen's kappa and its interval{rest}\n(dotted: weak, moderate, strong)"
    )
    return _finish(sheet, names, [])


def plot_taus(table: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw how far the ranking under each annotator agrees with the one compared with, a dot for each measure.

    Args:
        table: the `table` of AnnotatorRankings.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a row per annotator, a dot per measure, of six at most.
    """
    sheet = Sheet.open(place or Place())
    names = list(dict.fromkeys(table["annotator"]))
    measures = list(dict.fromkeys(table["measure"]))
    taus = table.pivot_table(index="annotator", columns="measure", values="tau_b", dropna=False).reindex(names)
    none = np.full(len(names), np.nan)
    dots = [_Dots(name, taus[name].to_numpy(dtype=float), none, none) for name in measures[:MOST]]
    entries = _draw_rows(sheet, names, dots, word="annotator")
    lowest = float(np.nanmin([0.0, *(dot.values.min(initial=0.0, where=~np.isnan(dot.values)) for dot in dots)]))
    sheet.limit("x", (lowest - 0.03, 1.03))
    more = f" ({count(len(measures) - MOST, 'more measure')} not shown)" if len(measures) > MOST else ""
    sheet.label(
        title="Rankings of systems under the labels of each annotator",
        x=f"tau_b with the ranking under the judgments{more}{_rest(sheet, len(names), 'annotator')}",
    )
    return _finish(sheet, names, entries)


def _shown(sheet: Sheet, n: int) -> int:
    return min(n, most_rows(sheet))


def _rest(sheet: Sheet, n: int, word: str) -> str:
    rest = n - _shown(sheet, n)
    return f" ({count(rest, f'more {word}')} not shown)" if rest else ""


def _draw_rows(sheet: Sheet, names: Sequence[str], dots: Sequence[_Dots], *, word: str) -> list[tuple[Artist, str]]:
    ax = sheet.ax
    check_own_names(ax, f"{word}s")
    shown = _shown(sheet, len(names))
    rows = np.arange(shown)[::-1]
    entries: list[tuple[Artist, str]] = []
    for look, dot in zip(looks(len(dots)), dots, strict=True):
        colour = sheet.ink.first if len(dots) == 1 else look.colour
        ax.hlines(rows, dot.low[:shown], dot.high[:shown], color=colour, linewidth=sheet.sizes.line, zorder=2)
        drawn = ax.scatter(
            dot.values[:shown],
            rows,
            s=sheet.sizes.area,
            color=colour,
            marker=look.marker,
            edgecolors=look.edge,
            linewidths=0.5,
            zorder=3,
        )
        entries.append((drawn, dot.name))
    return entries


def _finish(sheet: Sheet, names: Sequence[str], entries: Sequence[tuple[Artist, str]]) -> Axes:
    ax, shown = sheet.ax, _shown(sheet, len(names))
    room = _NAME * sheet.width
    ax.set_yticks(np.arange(shown)[::-1], [shortened(ax, name, sheet.sizes.text, room) for name in names[:shown]])
    ax.set_ylim(-0.7, max(shown, 1) - 0.3)
    sheet.grid()
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries, below=True)
    sheet.fit(sheet.sizes.row * (max(shown, 2) + 0.4))
    return ax


def plot_confusion(matrix: pd.DataFrame, *, names: tuple[str, str], place: Place | None = None) -> Axes:
    """Draw a confusion matrix, darker where more items are.

    Args:
        matrix: labels of the first in rows, of the second in columns, how many items have them in the cells.
        names: what the two are called, the first first.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a cell for each two labels, with the number of items; the lowest labels are at the lower left.
    """
    from matplotlib.colors import LinearSegmentedColormap

    sheet = Sheet.open(place or Place())
    ax, counts = sheet.ax, matrix.to_numpy(dtype=float)
    shades = LinearSegmentedColormap.from_list("items", ["#F2F2F2", "#10265C"])
    most = max(counts.max(initial=0), 1)
    rows, columns = counts.shape
    ax.pcolormesh(np.arange(columns + 1), np.arange(rows + 1), counts, cmap=shades, vmin=0, vmax=most)
    for (row, column), n in np.ndenumerate(counts):
        ax.text(
            column + 0.5,
            row + 0.5,
            f"{n:,.0f}",
            ha="center",
            va="center",
            fontsize=sheet.sizes.text,
            color="white" if n > most / 2 else "black",
        )
    ax.set_xticks(np.arange(columns) + 0.5, [str(label) for label in matrix.columns])
    ax.set_yticks(np.arange(rows) + 0.5, [str(label) for label in matrix.index])
    sheet.label(title="How often each two labels meet", x=f"label of {names[1]}", y=f"label of {plain(names[0])}")
    ax.tick_params(length=0)
    sheet.fit(0.6 * sheet.width if sheet.narrow else 0.42 * sheet.width)
    return ax
