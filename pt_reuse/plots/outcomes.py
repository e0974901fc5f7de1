"""Figures of significance fidelity: how many pairs of runs have which outcome, and which pairs they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.bars import MOST_BARS, MOST_IN_COLUMN, check_own_names
from pt_reuse.plots.lettering import breadth, shortened
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: outcome -> its column, colour, hatch and words: steps of lightness that are told apart in print. What the judge finds
#: significant stands to the left, what people find in the middle
LOOKS = {
    "false claim": ("false_claims", "#8B0F3F", "", "by the judge only: false claim"),
    "opposite": ("opposite", "#000000", "", "by both, opposite winners"),
    "agree": ("agree", "#9DB6D9", "", "by both, same winner"),
    "missed": ("missed", "#D2691E", "//////", "by people only: missed"),
    "neither": ("neither", "#F2F2F2", "", "by neither"),
}
#: what is drawn on each colour
_INK = {"false claim": "white", "opposite": "white", "agree": "black", "missed": "black", "neither": "black"}
_NAME = 0.3  # of the width, at most


def plot_outcomes(rows: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw a bar per judge, stacked by outcome.

    Args:
        rows: of one measure, one per judge: ``judge`` and the counts of a :class:`~pt_reuse.SignificanceFidelity`.
        measure: its name.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: the first judge on top, with a number in each part that has room for one.
    """
    from matplotlib.patches import Patch

    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    check_own_names(ax, "judges")
    at = np.arange(len(rows))[::-1]
    ends = np.zeros(len(rows))
    parts: list[tuple[str, np.ndarray, np.ndarray]] = []
    entries: list[tuple[Artist, str]] = []
    for outcome, (column, colour, hatch, said) in LOOKS.items():
        lengths = rows[column].to_numpy(dtype=float)
        ax.barh(
            at,
            lengths,
            0.7,
            ends,
            facecolor=colour,
            hatch=hatch,
            edgecolor=ink.strong,
            linewidth=0.3,
            zorder=2,
            label=said,
        )
        parts.append((outcome, ends, lengths))
        ends = ends + lengths
        if lengths.any():
            entries.append((Patch(facecolor=colour, hatch=hatch, edgecolor=ink.strong, linewidth=0.3), said))
    names = [shortened(ax, name, sizes.text, _NAME * sheet.width) for name in rows["judge"]]
    ax.set_yticks(at, names)
    ax.set_ylim(-0.6, max(len(rows), 1) - 0.4)
    sheet.limit("x", (0, max(float(ends.max(initial=0)), 1.0)))
    sheet.label(title="Significant differences by each judge", x=f"pairs of runs by {measure}")
    sheet.grid("x")
    sheet.ticks("x", whole=True)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries, title="significant", below=True)
    sheet.fit(1.6 * sizes.row * (max(len(rows), 1) + 0.4))
    per_inch = max(float(ends.max(initial=0)), 1.0) / sheet.axes_size[0]
    for outcome, begins, lengths in parts:
        for y, begin, length in zip(at, begins, lengths, strict=True):
            text = f"{length:,.0f}"
            if length / per_inch < 1.25 * breadth(ax, text, sizes.text):
                continue
            # behind a number no hatch
            box = {"facecolor": LOOKS[outcome][1], "edgecolor": "none", "pad": 0.8} if LOOKS[outcome][2] else None
            ax.text(
                begin + length / 2,
                y,
                text,
                ha="center",
                va="center_baseline",
                fontsize=sizes.text,
                color=_INK[outcome],
                bbox=box,
                zorder=3,
            )
    return ax


def plot_pairs(rows: pd.DataFrame, *, measure: str, judge: str, place: Place | None = None) -> Axes:
    """Draw a cell for every two runs in the colour of its outcome.

    Args:
        rows: of one measure and judge, one per pair: ``first second outcome difference``.
        measure: its name.
        judge: its name.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes, with one image: both ways from the run that is best by people to the one that is worst.
    """
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    check_own_names(ax, "runs")
    names = _best_first(rows)
    n, row_of = len(names), {name: row for row, name in enumerate(names)}
    cells = np.full((n, n), np.nan)
    of = {outcome: code for code, outcome in enumerate(LOOKS)}
    first, second = rows["first"].map(row_of).to_numpy(), rows["second"].map(row_of).to_numpy()
    codes = rows["outcome"].map(of).to_numpy(dtype=float)
    cells[first, second] = cells[second, first] = codes
    image = ax.imshow(
        np.ma.masked_invalid(cells),
        cmap=ListedColormap([colour for _, colour, _, _ in LOOKS.values()]),
        norm=BoundaryNorm(np.arange(len(LOOKS) + 1) - 0.5, len(LOOKS)),
        interpolation="nearest",
        aspect="equal",
    )
    image.set_zorder(1)
    named = n <= (MOST_IN_COLUMN if sheet.narrow else MOST_BARS)
    if named:
        ax.set_yticks(range(n), [shortened(ax, name, sizes.text, _NAME * sheet.width) for name in names])
    else:
        ax.set_yticks([])
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    said = f"{count(n, 'run')}, the best by people first"
    sheet.label(title=f"{measure} by people and by {judge}", x=said, y="" if named else said)
    for side in ("top", "right"):
        ax.spines[side].set_visible(True)
        ax.spines[side].set_linewidth(0.6)
    entries: list[tuple[Artist, str]] = [
        (Patch(facecolor=colour, edgecolor=ink.strong, linewidth=0.4), said)
        for code, (_, colour, _, said) in enumerate(LOOKS.values())
        if (codes == code).any()
    ]
    sheet.key(entries, title="significant", below=sheet.narrow)
    sheet.fit((0.7 if sheet.narrow else 0.5) * sheet.width)
    return ax


def _best_first(rows: pd.DataFrame) -> list[str]:
    """Return the runs by their means under the labels of people, which the differences of all pairs give."""
    names = list(dict.fromkeys([*rows["first"], *rows["second"]]))
    ahead = dict.fromkeys(names, 0.0)
    for first, second, difference in rows[["first", "second", "difference"]].itertuples(index=False):
        ahead[first] += difference
        ahead[second] -= difference
    return sorted(names, key=lambda name: -round(ahead[name], 9))
