"""The figures of scores by a judge against scores by people: one judge, or a panel for each of several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.plots.lettering import plain, shortened
from pt_reuse.plots.look import BESIDE, COLUMN_SIZES, PAGE
from pt_reuse.plots.points import Views, draw_points, largest_first, name_points
from pt_reuse.plots.sheet import NoMatplotlibError, Place, Sheet, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: panels beside each other on a page, and in a column
_BESIDE, _IN_COLUMN = 3, 2


def plot_judge_scores(
    movers: pd.DataFrame, *, judge: str, measure: str, tau: float, place: Place | None = None
) -> Axes:
    """Draw the score of each run by a judge against the one by people; on the dashed line both are the same.

    Args:
        movers: one row per run: ``name team type score judge_score rise``.
        judge: what it is called.
        measure: by which runs are scored.
        tau: tau_b of the two rankings, for the title.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a point per run, by type, else by team; those that gain or lose most ranks are named where there is
        room.
    """
    sheet = Sheet.open(place or Place())
    views = _draw(sheet, movers, sheet.name_room(""))
    sheet.label(title=_titled(judge, tau), x=f"{measure}, people{views.not_drawn()}", y=f"{measure}, {judge}")
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.5 * sheet.width)
    moved = movers.assign(x=movers["score"], y=movers["judge_score"], most=movers["rise"].abs())
    named = moved[moved["most"] > 0].sort_values("most", ascending=False, kind="stable")
    name_points(sheet, named, moved[["x", "y"]].to_numpy(dtype=float))
    return sheet.ax


def plot_score_panels(
    movers: pd.DataFrame, taus: Mapping[str, float], *, measure: str, place: Place | None = None
) -> Axes:
    """Draw a small panel for each judge, the score of each run by it against the one by people.

    Args:
        movers: one row per judge and run: ``judge name team type score judge_score rise``.
        taus: judge -> tau_b of the two rankings, for the titles.
        measure: by which runs are scored.
        place: how wide, and whether there is a legend; its axes are of no matter.

    Returns:
        The axes of the first panel.
    """
    try:
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise NoMatplotlibError(NoMatplotlibError.TEXT) from error
    given = place or Place()
    width = PAGE if given.width is None else float(given.width)
    columns = min(len(taus), _IN_COLUMN if width < BESIDE else _BESIDE)
    rows = ceil(len(taus) / columns)
    figure = new_figure(width)
    figure.set_figheight(round(rows * (0.85 * width / columns + 0.35) + 0.6, 2))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for number, (ax, (judge, tau)) in enumerate(zip(panels, taus.items(), strict=False)):
        sheet = Sheet.open(replace(given, ax=ax, width=None, title=None, legend=False))
        views = _draw(sheet, movers[movers["judge"] == judge], width / columns - 0.5)
        last = number + columns >= len(taus)
        sheet.label(
            title="",
            x=f"{measure}, people{views.not_drawn()}" if last else "",
            y=f"{measure}, judge" if number % columns == 0 else "",
        )
        size = sheet.sizes.text
        name = shortened(ax, judge, size, 0.8 * width / columns)
        ax.set_title(f"{name}\n{_tau(tau)}", fontsize=size, pad=0.4 * size)
        sheet.grid()
        # a search for as many numbers as there is room for would lay out all panels for each
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))
    for ax in panels[len(taus) :]:
        ax.set_axis_off()
    said = "Scores by each judge against those by people" if given.title is None else given.title
    if said:
        figure.suptitle(plain(said), fontsize=sheet.sizes.text)
    handles, texts = panels[0].get_legend_handles_labels()
    if given.legend and handles:
        figure.legend(
            handles,
            texts,
            loc="outside lower center",
            ncols=min(columns, len(texts)),
            frameon=False,
            fontsize=COLUMN_SIZES.text,
        )
    first: Axes = panels[0]
    return first


def _draw(sheet: Sheet, movers: pd.DataFrame, room: float) -> Views:
    views = Views(movers.assign(other_score=movers["judge_score"], drop=-movers["rise"]), "scores")
    column = next((known for known in ("type", "team") if movers[known].notna().any()), None)
    if column == "team" and movers[column].nunique() > 6:
        column = None
    shown = largest_first(views, column) if column else []
    handles = draw_points(sheet, views, column, shown)
    ax, drawn = sheet.ax, views.drawn
    seen = [values[drawn] for values in (views.table["score"].to_numpy(dtype=float), views.upright)]
    sheet.limit("x", _limits(seen[0]))
    sheet.limit("y", _limits(seen[1]))
    # scores are the same on this line, which a lenient judge leaves below
    ax.axline((0, 0), slope=1, color=sheet.ink.strong, linewidth=0.8, linestyle="--", zorder=2)
    names = [shortened(sheet.ax, str(group), sheet.sizes.text, room) for group in shown]
    entries = [(handles[group], name) for group, name in zip(shown, names, strict=True)]
    if column and None in handles:
        entries.append((handles[None], views.others(column, shown, column)))
    sheet.key(entries, title=column)
    return views


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    air = 0.07 * max(high - low, 0.01)
    return low - air, high + air


def _tau(tau: float) -> str:
    return "no tau_b" if tau != tau else f"tau_b {tau:.4f}"


def _titled(judge: str, tau: float) -> str:
    return f"{judge} against people, {_tau(tau)}"
