"""Figures of circularity: what runs gain that re-rank by a judge's labels, by who scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.bars import check_own_names
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.look import COLOURS, MIDDLE
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_NAME = 0.32  # of the width, at most
#: who scores -> colour, marker, whether it is filled, and by how much it stands above the middle of its row
_LOOKS = {
    "itself": (COLOURS[1], "o", True, 0.22),
    "other": (MIDDLE, "|", True, 0.0),
    "people": (COLOURS[0], "s", False, -0.22),
}


def plot_gains(rows: pd.DataFrame, *, measure: str, people: str, place: Place | None = None) -> Axes:
    """Draw the mean gain under each scorer, a row per judge that re-ranks.

    Args:
        rows: of one measure, one per judge and scorer: ``judge scorer same mean_gain`` and, where there are intervals,
            ``mean_gain_low mean_gain_high``.
        measure: its name.
        people: the scorer that is no judge.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: the first judge on top; the judge itself a dot, people an open square, other judges strokes; intervals
        of the first two.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    check_own_names(ax, "judges")
    judges = list(dict.fromkeys(rows["judge"]))
    at = {judge: len(judges) - 1 - n for n, judge in enumerate(judges)}
    of = np.select([rows["same"], rows["scorer"] == people], ["itself", "people"], "other")
    entries: list[tuple[Artist, str]] = []
    for kind, said in (("itself", "by the judge itself"), ("other", "by another judge"), ("people", "by people")):
        mine = rows[of == kind]
        if not len(mine):
            continue
        colour, marker, filled, above = _LOOKS[kind]
        y = mine["judge"].map(at).to_numpy(dtype=float) + above
        if "mean_gain_low" in mine and kind != "other":
            ax.hlines(y, mine["mean_gain_low"], mine["mean_gain_high"], color=colour, linewidth=sizes.line, zorder=2)
        (points,) = ax.plot(
            mine["mean_gain"],
            y,
            linestyle="none",
            marker=marker,
            markersize=sizes.area**0.5 * (1.6 if kind == "other" else 0.9),
            markerfacecolor=colour if filled else "white",
            markeredgecolor=colour,
            markeredgewidth=0.8 * sizes.line,
            zorder=3,
        )
        entries.append((points, said))
    ax.axvline(0, color=ink.strong, linewidth=0.8, zorder=1)
    ax.set_yticks(list(at.values()), [shortened(ax, name, sizes.text, _NAME * sheet.width) for name in at])
    ax.set_ylim(-0.6, len(judges) - 0.4)
    ends = rows.reindex(columns=["mean_gain", "mean_gain_low", "mean_gain_high"]).to_numpy(dtype=float)
    low, high = min(0.0, float(np.nanmin(ends))), max(0.0, float(np.nanmax(ends)))
    room = 0.05 * max(high - low, 1e-6)
    sheet.limit("x", (low - room, high + room))
    sheet.label(title="Runs re-ranked by a judge's labels", x=f"mean gain in {measure}", y="re-ranked by")
    sheet.grid("x")
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries, title="scored", below=True)
    sheet.fit(2.2 * sizes.row * (len(judges) + 0.4))
    return ax


def plot_run_gains(
    own: pd.DataFrame, people: pd.DataFrame, *, measure: str, judge: str, place: Place | None = None
) -> Axes:
    """Draw what each run gains, under the judge that re-ranks it and under people.

    Args:
        own: one row per run, scored by the judge: ``name gain``.
        people: the same runs, scored by people: ``name score gain``.
        measure: what they are scored by.
        judge: who re-ranks.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: of each run a dot (the judge) and an open square (people), joined, at its score by people before.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    x = people["score"].to_numpy(dtype=float)
    gains = [own.set_index("name").loc[people["name"], "gain"].to_numpy(), people["gain"].to_numpy(dtype=float)]
    ax.vlines(x, *gains, color=ink.faint, linewidth=0.6 * sizes.line, zorder=2)
    entries: list[tuple[Artist, str]] = []
    for kind, gain, said in (("itself", gains[0], f"by {judge}"), ("people", gains[1], "by people")):
        colour, marker, filled, _ = _LOOKS[kind]
        (points,) = ax.plot(
            x,
            gain,
            linestyle="none",
            marker=marker,
            markersize=sizes.area**0.5 * 0.75,
            markerfacecolor=colour if filled else "white",
            markeredgecolor=colour,
            markeredgewidth=0.6 * sizes.line,
            zorder=3,
        )
        entries.append((points, shortened(ax, said, sizes.text, sheet.name_room(""))))
    ax.axhline(0, color=ink.strong, linewidth=0.8, zorder=1)
    sheet.label(
        title=f"Runs re-ranked by {judge}", x=f"{measure} by people, before", y=f"gain in {measure} by re-ranking"
    )
    sheet.grid("y")
    sheet.ticks("x", "y")
    sheet.key(entries, title="scored")
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.42 * sheet.width)
    return ax
