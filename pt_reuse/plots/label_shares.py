"""Figures of labels: how those of one document spread, and where relevant passages lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.bars import check_own_names, most_rows
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 0.36  # of the width, at most


def plot_shares(
    table: pd.DataFrame, shares: pd.DataFrame, *, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw the share of each label of each document, as parts of a bar, from the lowest label to the highest.

    Args:
        table: the `table` of LabelDistributions.
        shares: its `shares`.
        top: how many documents at most; default 30, 15 in a column.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a bar for each document, those with the largest mean label on top; darker parts are higher labels.
    """
    from matplotlib.patches import Patch

    sheet = Sheet.open(place or Place())
    ax, ink = sheet.ax, sheet.ink
    check_own_names(ax, "documents")
    rows = table.sort_values("mean", ascending=False, kind="stable").head(most_rows(sheet, top))
    wide = shares.pivot_table(index=["qid", "docno"], columns="label", values="share", sort=False)
    wide = wide[sorted(wide.columns)].loc[list(zip(rows["qid"], rows["docno"], strict=True))]
    at, begin = np.arange(len(rows))[::-1], np.zeros(len(rows))
    entries = []
    for label, colour in zip(wide.columns, _shades(len(wide.columns)), strict=True):
        lengths = wide[label].to_numpy(dtype=float)
        ax.barh(at, lengths, 0.76, begin, facecolor=colour, edgecolor=ink.strong, linewidth=0.3, zorder=2)
        entries.append((Patch(facecolor=colour, edgecolor=ink.strong, linewidth=0.3), f"label {label}"))
        begin = begin + lengths
    names = [f"{qid}: {docno}" for qid, docno in zip(rows["qid"], rows["docno"], strict=True)]
    ax.set_yticks(at, [shortened(ax, name, sheet.sizes.text, _NAME * sheet.width) for name in names])
    ax.set_ylim(-0.7, max(len(rows), 1) - 0.3)
    sheet.limit("x", (0, 1))
    rest = len(table) - len(rows)
    more = f" ({count(rest, 'more document')} not shown)" if rest else ""
    sheet.label(title="How the labels of each document spread", x=f"share of the labels{more}")
    sheet.grid("x")
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries, below=True)
    sheet.fit(sheet.sizes.row * (max(len(rows), 2) + 0.4))
    return ax


def _shades(n: int) -> Sequence[tuple[float, ...]]:
    """Return colours from light to dark in equal steps."""
    from matplotlib.colors import to_rgb

    light, dark = np.array(to_rgb("#F2F2F2")), np.array(to_rgb("#10265C"))
    return [tuple(light + (dark - light) * step) for step in np.linspace(0, 1, n)]


def plot_positions(table: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the share of relevant passages in each part of their documents, and the share expected.

    Args:
        table: the `table` of PassagePositions.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a bar for each bin, and a line of steps for what is expected.
    """
    from matplotlib.patches import Patch

    sheet = Sheet.open(place or Place())
    ax, ink = sheet.ax, sheet.ink
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    ax.bar(
        low,
        table["share"],
        high - low,
        align="edge",
        facecolor=ink.rest,
        edgecolor=ink.strong,
        linewidth=0.5,
        zorder=2,
    )
    steps = np.append(table["expected_share"], table["expected_share"].iloc[-1])
    (expected,) = ax.step(
        np.append(low, high[-1]), steps, where="post", color=ink.second, linewidth=sheet.sizes.line, zorder=3
    )
    sheet.limit("x", (0, 1))
    sheet.limit("y", (0, 1.08 * max(float(table[["share", "expected_share"]].to_numpy().max()), 1e-9)))
    sheet.label(
        title="Where relevant passages lie in their documents",
        x="position in the document, 0 its beginning, 1 its end",
        y="share of relevant passages",
    )
    sheet.grid("y")
    sheet.ticks("x", "y")
    sheet.key([(Patch(facecolor=ink.rest, edgecolor=ink.strong, linewidth=0.5), "found"), (expected, "expected")])
    sheet.fit(0.5 * sheet.width if sheet.narrow else 0.4 * sheet.width)
    return ax
