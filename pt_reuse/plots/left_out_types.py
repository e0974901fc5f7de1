"""The figure of what is recovered: runs that retrieve documents which are lost without a type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.bars import Bars, draw_bars
from pt_reuse.plots.lettering import plain
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_recovery(
    recovery: pd.DataFrame, *, left_out: str, lost: int, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw how many documents that are lost without a type each run of another type retrieves.

    Args:
        recovery: the rows of one left-out type of the `recovery` table of a :class:`~pt_reuse.LeftOutTypes`.
        left_out: the type.
        lost: how many documents are lost.
        top: how many runs at most, those that recover most; default 30, 15 in a column.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a bar per run, most recovered on top, its number beside it.
    """
    bars = Bars(
        names=[str(name) for name in recovery["name"]],
        parts=[("recovered", recovery["recovered"].to_numpy())],
        notes=[("", f"{n:,}") for n in recovery["recovered"]],
        word="run",
    )
    return draw_bars(
        Sheet.open(place or Place()),
        bars,
        top=top,
        title=f"Who recovers what is lost without {plain(left_out)}",
        x=f"recovered of {count(lost, 'relevant document')} that {plain(left_out)} runs alone contributed",
    )
