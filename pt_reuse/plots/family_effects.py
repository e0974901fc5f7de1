"""Figures of the effects of judges on families of runs: a map of all, and a forest of intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.bars import check_own_names, most_rows
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.look import DARK, MIDDLE
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_NAME = 0.3  # of the width, at most
#: what gains and what loses; as dark as each other, so the sign stands in the cell
_GAIN, _LOSS = "#2166AC", "#B2500F"
_AGAINST = {
    "others": "over all other runs",
    "matched": "over runs that people score alike",
    "alone": "over the others, the family left out of the field",
}
_WHAT = {"rank_effect": "ranks gained", "score_effect": "score gained"}


def _what(column: str, measure: str, against: str) -> str:
    """Return what the numbers are, in words."""
    equal = ", at equal scores by people" if column == "score_effect" and against != "matched" else ""
    return f"{_WHAT[column]} by {measure} {_AGAINST[against]}{equal}"


def plot_family_map(
    cells: pd.DataFrame, *, column: str, measure: str, against: str, place: Place | None = None
) -> Axes:
    """Draw a cell for each judge and family of runs, with its effect.

    Args:
        cells: one row each: ``judge family own`` and the effect, perhaps with its ends ``_low`` and ``_high``.
        column: the effect, ``rank_effect`` or ``score_effect``.
        measure: by which runs are scored.
        against: whom families are held against.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: an image, and a text in each cell, with a star where the interval leaves out 0; a frame around the
        cells in which the judge is of the family.
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Patch, Rectangle

    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    check_own_names(ax, "families")
    judges, families = list(dict.fromkeys(cells["judge"])), list(dict.fromkeys(cells["family"]))
    row = {family: n for n, family in enumerate(families)}
    at = {judge: n for n, judge in enumerate(judges)}
    values = np.full((len(families), len(judges)), np.nan)
    values[cells["family"].map(row), cells["judge"].map(at)] = cells[column]
    most = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    colours = LinearSegmentedColormap.from_list("effects", [_LOSS, "#FFFFFF", _GAIN])
    ax.patch.set(facecolor="white", hatch="//////", edgecolor=MIDDLE)
    image = ax.imshow(
        np.ma.masked_invalid(values),
        cmap=colours,
        # paler than the colours themselves, so that numbers are read on all of them
        norm=Normalize(-1.6 * max(most, 1e-12), 1.6 * max(most, 1e-12)),
        interpolation="nearest",
        aspect="auto",
    )
    image.set_zorder(1)
    form = "{:+.1f}" if column == "rank_effect" else "{:+.3f}"
    low, high = f"{column}_low", f"{column}_high"
    starred = False
    for cell in cells.to_dict("records"):
        x, y, value = at[cell["judge"]], row[cell["family"]], cell[column]
        if cell["own"]:
            ax.add_patch(
                Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, fill=False, edgecolor=DARK, linewidth=1.6, zorder=3)
            )
        if pd.isna(value):
            continue
        off = low in cell and bool(cell[low] > 0 or cell[high] < 0)
        starred = starred or off
        text = form.format(value).replace("-", "−") + ("*" if off else "")
        ax.text(x, y, text, ha="center", va="center_baseline", fontsize=sizes.text, color=DARK, zorder=4)
    ax.set_xticks(
        range(len(judges)),
        [shortened(ax, judge, sizes.text, _NAME * sheet.width) for judge in judges],
        rotation=30 if len(judges) > 2 else 0,
        ha="right" if len(judges) > 2 else "center",
        rotation_mode="anchor",
    )
    ax.set_yticks(range(len(families)), [shortened(ax, name, sizes.text, _NAME * sheet.width) for name in families])
    ax.tick_params(axis="both", length=0)
    sheet.label(
        title="What judges make of families of runs",
        x="judge",
        y="family",
    )
    for side in ("top", "right"):
        ax.spines[side].set_visible(True)
        ax.spines[side].set_linewidth(0.6)
    what = _what(column, measure, against)
    entries: list[tuple[Artist, str]] = [
        (Patch(facecolor=colours(0.81), edgecolor=DARK, linewidth=0.4), "gains (+)"),
        (Patch(facecolor=colours(0.19), edgecolor=DARK, linewidth=0.4), "loses (−)"),
    ]
    if bool(cells["own"].any()):
        entries.append((Patch(fill=False, edgecolor=DARK, linewidth=1.6), "the judge's own family"))
    if starred:
        entries.append((Patch(fill=False, linewidth=0), "* interval leaves out 0"))
    if not np.isfinite(values).all():
        entries.append((Patch(facecolor="white", hatch="//////", edgecolor=MIDDLE, linewidth=0.4), "no number"))
    sheet.key(entries, title=what, below=True)
    sheet.fit(1.7 * sizes.row * max(len(families), 2))
    return ax


def plot_family_forest(
    cells: pd.DataFrame,
    *,
    column: str,
    measure: str,
    against: str,
    top: int | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw a row for each judge and family of runs: the effect as a point, its interval as a line.

    Args:
        cells: one row each, as for the map.
        column: the effect, ``rank_effect`` or ``score_effect``.
        measure: by which runs are scored.
        against: whom families are held against.
        top: how many rows at most; default 30, 15 in a column.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: an upright line at 0; squares where the judge is of the family, else circles.
    """
    from matplotlib.lines import Line2D

    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    check_own_names(ax, "judges and families")
    most = most_rows(sheet, top)
    drawn = cells[cells[column].notna()]
    first = np.lexsort([-drawn[column].abs().to_numpy(), ~drawn["own"].to_numpy(dtype=bool)])[:most]
    shown = drawn.iloc[np.sort(first)].reset_index(drop=True)
    y = np.arange(len(shown))[::-1]
    value = shown[column].to_numpy(dtype=float)
    ends = [value]
    if f"{column}_low" in shown:
        low, high = (shown[f"{column}_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
        ends += [low, high]
        ax.hlines(y, low, high, color=ink.strong, linewidth=sizes.line, zorder=2)
    own = shown["own"].to_numpy(dtype=bool)
    ax.axvline(0, color=ink.strong, linewidth=0.8, zorder=1)
    for rows, marker, filled in ((own, "s", True), (~own, "o", False)):
        ax.scatter(
            value[rows],
            y[rows],
            s=sizes.area,
            marker=marker,
            facecolor=ink.first if filled else "white",
            edgecolor=ink.first,
            linewidth=0.9,
            zorder=3,
        )
    names = [f"{row.judge}: {row.family}" for row in shown[["judge", "family"]].itertuples(index=False)]
    ax.set_yticks(y, [shortened(ax, name, sizes.text, 1.3 * _NAME * sheet.width) for name in names])
    ax.set_ylim(-0.7, max(len(shown), 1) - 0.3)
    every = np.concatenate([*ends, [0.0]])
    every = every[np.isfinite(every)]
    air = 0.06 * max(float(every.max() - every.min()), 1e-6)
    sheet.limit("x", (float(every.min()) - air, float(every.max()) + air))
    rest, without = len(drawn) - len(shown), len(cells) - len(drawn)
    notes = [
        text
        for n, text in (
            (rest, f"{count(rest, 'row')} not shown"),
            (without, f"{count(without, 'row')} without a number"),
        )
        if n
    ]
    more = f" ({', '.join(notes)})" if notes else ""
    sheet.label(title="What judges make of families of runs", x=_what(column, measure, against) + more)
    sheet.grid("x")
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)

    def handle(marker: str, filled: bool) -> Artist:
        face = ink.first if filled else "white"
        return Line2D([], [], linestyle="", marker=marker, markerfacecolor=face, markeredgecolor=ink.first)

    entries: list[tuple[Artist, str]] = []
    if own.any():
        entries = [(handle("s", True), "the judge's own family"), (handle("o", False), "another family")]
    sheet.key(entries, below=True)
    sheet.fit(1.2 * sizes.row * (max(len(shown), 2) + 0.4))
    return ax
