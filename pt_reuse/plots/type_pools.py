"""The figures of pools of one type: actual against estimated scores, and how tau spreads over splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.lettering import plain, shortened
from pt_reuse.plots.look import MOST, looks
from pt_reuse.plots.points import Views, draw_points, largest_first, limit
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def plot_type_scores(
    rows: pd.DataFrame,
    *,
    measure: str,
    pool: str,
    taus: Mapping[str, float],
    of: str,
    place: Place | None = None,
) -> Axes:
    """Draw what each run scores by the pool of one type against what it scores by the gold, around y = x.

    Args:
        rows: one row per run, with ``name type score estimated``.
        measure: its name.
        pool: the type that made the pool.
        taus: group -> tau_b of its runs, last of all that were tested.
        of: which splits that is of, in words.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes, with one collection of points per type and the line y = x.
    """
    sheet = Sheet.open(place or Place())
    views = Views(rows.rename(columns={"estimated": "other_score"}).assign(drop=0), "scores")
    shown = largest_first(views, "type")
    handles = draw_points(sheet, views, "type", shown)
    entries: list[tuple[Artist, str]] = []
    for group in shown:
        said = f" (τ {_number(taus.get(str(group), float('nan')))})"
        entries.append(
            (handles[group], shortened(sheet.ax, str(group), sheet.sizes.text, sheet.name_room(said)) + said)
        )
    if None in handles:
        entries.append((handles[None], views.others("type", shown, "type")))
    limit(sheet, views)
    sheet.label(title=scores_title(pool, taus, of), x=f"{measure}, actual", y=f"{measure}, by the pool of {pool}")
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries, title="tested")
    sheet.fit(None)
    return sheet.ax


def scores_title(pool: str, taus: Mapping[str, float], of: str) -> str:
    """Return the title of a figure of actual and estimated scores: the pool, and the tau of each tested group.

    Args:
        pool: the type that made the pool.
        taus: group -> tau_b of its runs, last of all that were tested.
        of: which splits they are of, in words.
    """
    said = [f"{plain(group)} {_number(tau)}" for group, tau in taus.items()]
    # many types would fill a figure with its title; the legend has them
    shown = said if len(said) <= MOST else said[-1:]
    return f"Pool of {plain(pool)}, {of}\nτ {', '.join(shown)}"


def plot_tau_of_pools(rows: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the mean tau_b of each pool and tested group, with its spread over splits.

    Args:
        rows: those of one measure of the `table` of a :class:`~pt_reuse.PoolsByType`.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: for each type that made a pool a point per tested group, side by side; a thin line from the least to
        the largest tau_b of a split, a thick one a standard deviation to both sides.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    pools, tested = list(dict.fromkeys(rows["pool"])), list(dict.fromkeys(rows["tested"]))
    shift = np.linspace(-0.3, 0.3, len(tested)) if len(tested) > 1 else np.zeros(1)
    entries: list[tuple[Artist, str]] = []
    kinds = looks(min(len(tested), MOST))
    for number, name in enumerate(tested):
        mine = rows[rows["tested"] == name]
        x = mine["pool"].map(pools.index).to_numpy(dtype=float) + shift[number]
        look, tau = kinds[number % len(kinds)], mine["tau_b"].to_numpy(dtype=float)
        sd = mine["tau_b_sd"].fillna(0).to_numpy(dtype=float)
        ax.vlines(x, mine["tau_b_min"], mine["tau_b_max"], color=look.colour, linewidth=0.6 * sizes.line, zorder=2)
        ax.vlines(
            x,
            np.maximum(tau - sd, -1),
            np.minimum(tau + sd, 1),
            color=look.colour,
            linewidth=2.2 * sizes.line,
            alpha=0.6,
            zorder=2,
        )
        points = ax.scatter(
            x,
            tau,
            s=sizes.area,
            color=look.colour,
            marker=look.marker,
            edgecolor=look.edge,
            linewidth=0.4,
            zorder=3,
        )
        entries.append((points, shortened(ax, name, sizes.text, sheet.name_room(""))))
    low = float(np.nanmin(rows["tau_b_min"])) if rows["tau_b_min"].notna().any() else 0.0
    sheet.limit("y", (min(low, 0.0) - 0.05, 1.05))
    sheet.limit("x", (-0.5, len(pools) - 0.5))
    room = 0.8 * sheet.axes_size[0] / max(len(pools), 1)
    sheet.label(title="How well a pool of one type ranks others", x="type that made the pool", y="tau-b to the gold")
    ax.set_xticks(range(len(pools)), [shortened(ax, pool, sizes.text, room) for pool in pools])
    sheet.grid("y")
    sheet.ticks("y")
    sheet.key(entries, title="tested")
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    return ax


def _number(tau: float) -> str:
    """Return a tau as figures show it."""
    return "−" if np.isnan(tau) else f"{tau:.2f}".replace("-", "−")
