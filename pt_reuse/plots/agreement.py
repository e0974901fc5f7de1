"""The figure of two sets of scores of the same runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.points import Views, draw_points, largest_first, limit, name_losses
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_two_scores(
    changes: pd.DataFrame,
    *,
    measure: str,
    kind: str = "change",
    by: str | None = None,
    judgments: tuple[str, str] = ("first judgments", "other judgments"),
    place: Place | None = None,
) -> Axes:
    """Draw each run's score under one set of judgments against what becomes of it under another.

    Runs on the line keep their score. Those that lose most are named where there is room.

    Args:
        changes: the `changes` table of an Agreement; where it has ``other_measure``, the other scores are of that one.
        measure: one of its measures.
        kind: what the upright axis shows, one of :data:`~pt_reuse.plots.points.VIEWS`: the ``"change"`` of the score,
            the same in ``"percent"`` of the first score, or the other ``"scores"`` themselves, with a diagonal.
        by: the column that gives colour and marker, ``"type"`` or ``"team"``; beyond six, those whose runs change most
            have a colour. Default the type where any run has one, else the team, else none.
        judgments: what to call the two sets on the axes.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes, with one collection per coloured type or team, and one for all others.
    """
    sheet = Sheet.open(place or Place())
    rows = changes[changes["measure"] == measure]
    views = Views(rows, kind)
    column = by or next((known for known in ("type", "team") if views.table[known].notna().any()), None)
    shown = largest_first(views, column) if column else []
    handles = draw_points(sheet, views, column, shown)
    names = [shortened(sheet.ax, str(group), sheet.sizes.text, sheet.name_room("")) for group in shown]
    entries = [(handles[group], name) for group, name in zip(shown, names, strict=True)]
    if column and None in handles:
        entries.append((handles[None], views.others(column, shown, column)))
    limit(sheet, views)
    first, other = judgments
    other_measure = rows["other_measure"].iloc[0] if "other_measure" in rows else measure
    what, (here, there) = f"of {measure} ", (first, other)
    if other_measure != measure:
        what, (here, there) = "", (f"{measure}, {first}", f"{other_measure}, {other}")
    y = {
        "change": f"change {what}({there} − {here})",
        "percent": f"change {what}in % ({there} against {here})",
        "scores": f"{other_measure}, {other}",
    }
    sheet.label(
        title="The same runs under two sets of judgments", x=f"{measure}, {first}{views.not_drawn()}", y=y[kind]
    )
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries, title=column)
    sheet.fit(None if kind == "scores" else 0.55 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    name_losses(sheet, views)
    return sheet.ax
