"""Figures of documents that later judgments know and earlier ones do not: a point per topic, or per run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.look import COLOURS
from pt_reuse.plots.points import Views, draw_points, largest_first, name_points
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_topics(
    by_topic: pd.DataFrame, *, kind: str, judgments: tuple[str, str], depth: int, place: Place | None = None
) -> Axes:
    """Draw what each topic has that the earlier judgments do not know, against its known relevant documents.

    Args:
        by_topic: one row per topic: ``qid relevant remainder new_relevant``.
        kind: ``"remainder"``, how many documents runs rank and nobody judged before, or ``"relevant"``, how many new
            relevant ones there are.
        judgments: what the earlier and the later judgments are called.
        depth: down to which rank documents of runs count.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a point per topic, those with most named by their topics where there is room.

    Source: after figure 1 of Voorhees, Soboroff and Lin 2022, https://arxiv.org/abs/2201.11086.
    """
    sheet = Sheet.open(place or Place())
    older, newer = judgments
    column = "remainder" if kind == "remainder" else "new_relevant"
    x, y = by_topic["relevant"].to_numpy(dtype=float), by_topic[column].to_numpy(dtype=float)
    sheet.ax.scatter(x, y, s=sheet.sizes.area, color=COLOURS[0], marker="o", edgecolor="white", linewidth=0.4, zorder=3)
    title, what = {
        "remainder": (
            "What runs have that nobody judged",
            f"documents to rank {depth:,} that {older} does not know",
        ),
        "relevant": ("What was found anew", f"relevant documents that {newer} alone has"),
    }[kind]
    _finish(sheet, x, y, title=title, x_label=f"relevant documents of the topic, {older}", y_label=what)
    named = pd.DataFrame({"name": by_topic["qid"].to_numpy(), "x": x, "y": y})
    _name_highest(sheet, named)
    return sheet.ax


def plot_runs(
    by_run: pd.DataFrame,
    *,
    judgments: tuple[str, str],
    depth: int,
    by: str | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw how many new relevant documents each run has, against how many of its documents nobody had judged.

    Args:
        by_run: one row per run: ``name team type unjudged new_relevant``.
        judgments: what the earlier and the later judgments are called.
        depth: down to which rank documents of runs count.
        by: the column that gives colour and marker, ``"type"`` or ``"team"``; default the type where any run has one,
            else the team, else none.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes, with one collection per coloured type or team, and one for all others.

    Source: after figure 2 of Voorhees, Soboroff and Lin 2022, https://arxiv.org/abs/2201.11086.
    """
    sheet = Sheet.open(place or Place())
    older, newer = judgments
    table = by_run.assign(score=by_run["unjudged"], other_score=by_run["new_relevant"]).reset_index(drop=True)
    views = Views(table, "scores")
    column = by or next((known for known in ("type", "team") if table[known].notna().any()), None)
    shown = largest_first(views, column) if column else []
    handles = draw_points(sheet, views, column, shown)
    names = [shortened(sheet.ax, str(group), sheet.sizes.text, sheet.name_room("")) for group in shown]
    entries = [(handles[group], name) for group, name in zip(shown, names, strict=True)]
    if column and None in handles:
        entries.append((handles[None], views.others(column, shown, column)))
    sheet.key(entries, title=column)
    x, y = table["unjudged"].to_numpy(dtype=float), table["new_relevant"].to_numpy(dtype=float)
    _finish(
        sheet,
        x,
        y,
        title="What runs have that was judged later",
        x_label=f"documents to rank {depth:,} that {older} does not know",
        y_label=f"of these relevant, {newer}",
    )
    _name_highest(sheet, pd.DataFrame({"name": table["name"].to_numpy(), "x": x, "y": y}))
    return sheet.ax


def _finish(
    sheet: Sheet, x: NDArray[np.float64], y: NDArray[np.float64], *, title: str, x_label: str, y_label: str
) -> None:
    """Set limits that begin just below 0, and labels."""
    sheet.limit("x", _from_nothing(x))
    sheet.limit("y", _from_nothing(y))
    sheet.label(title=title, x=x_label, y=y_label)
    sheet.grid()
    sheet.ticks("x", "y", whole=True)
    sheet.fit(0.55 * sheet.width if sheet.narrow else 0.45 * sheet.width)


def _from_nothing(values: NDArray[np.float64]) -> tuple[float, float]:
    most = max(float(values.max(initial=0)), 1.0)
    return -0.04 * most, 1.07 * most


def _name_highest(sheet: Sheet, points: pd.DataFrame) -> None:
    """Name the highest points above 0, the one furthest to the right first among equals."""
    named = points[points["y"] > 0].sort_values(["y", "x"], ascending=False, kind="stable")
    name_points(sheet, named, points[["x", "y"]].to_numpy(dtype=float))
