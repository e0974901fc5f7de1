"""The figure of rankings under judges: tau_b of each, with its interval, beside other people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.bars import check_own_names, most_rows
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_NAME = 0.38  # of the width, at most
#: kind of judge -> what the legend calls it
_KINDS = {"model": "judge", "people": "other person, on the documents of this person"}


def plot_judge_taus(table: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw tau_b of each judge in a row, the highest on top, and below the judges that of other people.

    Args:
        table: one row per judge: ``judge kind tau_b`` and, where there are intervals, ``tau_b_low tau_b_high``; those
            without tau_b have no row.
        measure: by which the runs are ranked.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a dot in each row, round and filled for a judge, a ring for a person, and a line for the interval.
    """
    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    check_own_names(ax, "judges")
    known = table[table["tau_b"].notna()].sort_values(["kind", "tau_b"], ascending=[True, False], kind="stable")
    shown = min(len(known), most_rows(sheet))
    rows = known.head(shown)
    y = np.arange(len(rows))[::-1].astype(float)
    values = rows["tau_b"].to_numpy(dtype=float)
    low, high = (
        rows[f"tau_b_{end}"].to_numpy(dtype=float) if f"tau_b_{end}" in rows else values for end in ("low", "high")
    )
    entries: list[tuple[Artist, str]] = []
    for kind, said in _KINDS.items():
        mine = (rows["kind"] == kind).to_numpy()
        if not mine.any():
            continue
        model = kind == "model"
        colour = ink.first if model else ink.strong
        stroke = "-" if model else ":"
        ax.hlines(
            y[mine],
            low[mine],
            high[mine],
            color=colour,
            linewidth=sizes.line,
            linestyles=stroke,
            zorder=2,
        )
        drawn = ax.scatter(
            values[mine],
            y[mine],
            s=sizes.area,
            facecolor=colour if model else ax.get_facecolor(),
            edgecolor=colour,
            marker="o" if model else "D",
            linewidth=0.9,
            zorder=3,
        )
        entries.append((drawn, said))
    lowest = float(np.nanmin([1.0, *values, *low[~np.isnan(low)]]))
    sheet.limit("x", (lowest - 0.05 * max(1 - lowest, 0.1), 1 + 0.03 * max(1 - lowest, 0.1)))
    rest, without = len(known) - shown, len(table) - len(known)
    notes = [f"{count(n, 'judge')} {why}" for n, why in ((rest, "more not shown"), (without, "without a ranking")) if n]
    sheet.label(
        title="Rankings of the runs under other labels",
        x=f"tau_b with people's ranking by {measure}{' (' + ', '.join(notes) + ')' if notes else ''}",
    )
    room = _NAME * sheet.width
    ax.set_yticks(y, [shortened(ax, str(name), sizes.text, room) for name in rows["judge"]])
    ax.set_ylim(-0.7, max(len(rows), 1) - 0.3)
    sheet.grid()
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries if len(entries) > 1 else [], below=True)
    sheet.fit(sizes.row * (max(len(rows), 2) + 0.4))
    return ax
