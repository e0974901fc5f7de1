"""The figure of discriminative power: the p-values of all pairs of systems, sorted."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.look import COLOURS, MARKERS
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: the highest p-value in view, as a multiple of alpha
_TOP = 4
#: markers of a line
_FEW = 12
_STROKES = ("-", "--", ":")


def plot_achieved_levels(
    rows: pd.DataFrame, *, lines: str, alpha: float, of: str = "", place: Place | None = None
) -> Axes:
    """Draw the p-values of the pairs, the largest first, in a line for each measure or set of judgments.

    The legend says how many pairs are significant, after the correction of the result, which the line does not show.

    Args:
        rows: one per pair, with ``p``, ``significant`` and the column of the lines.
        lines: the column that tells lines apart.
        alpha: the level of significance.
        of: what all lines are of, for the upright axis.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    looks, entries, longest = list(product(_STROKES, zip(COLOURS, MARKERS, strict=True))), [], 1
    for number, (name, mine) in enumerate(rows.groupby(lines, sort=False)):
        stroke, (colour, marker) = looks[number % len(looks)]
        p = np.sort(mine["p"].dropna().to_numpy())[::-1]
        longest = max(longest, len(p))
        in_view = np.flatnonzero(p <= _TOP * alpha)
        (line,) = ax.plot(
            np.arange(1, len(p) + 1),
            p,
            color=colour,
            linestyle=stroke,
            linewidth=sizes.line,
            marker=marker,
            markersize=sizes.area**0.5 * 0.7,
            markevery=in_view[:: max(1, len(in_view) // _FEW)].tolist(),
            zorder=3,
        )
        entries.append((line, f"{name}: {mine['significant'].mean():.0%} significant"))
    level = ax.axhline(alpha, color=ink.strong, linewidth=sizes.line, linestyle=(0, (1, 1)), zorder=2)
    entries.append((level, f"p = {alpha:g}"))
    sheet.limit("x", (0, longest + 1))
    sheet.limit("y", (0, min(1.0, _TOP * alpha)))
    sheet.label(
        title="Which pairs of systems differ significantly",
        x="pairs of systems, from the largest p-value",
        y=f"p-value{f' ({of})' if of else ''}",
    )
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries)
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    return ax
