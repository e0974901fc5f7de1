"""Figures of leave-out-uniques; they draw a result's tables and compute nothing that is reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse.plots.bars import Bars, draw_bars
from pt_reuse.plots.lettering import plain, shortened
from pt_reuse.plots.look import MOST
from pt_reuse.plots.points import Views, draw_points, largest_first, limit, name_losses
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORDS = {"team": "team", "name": "run", "type": "type"}


@dataclass(frozen=True)
class TwoScores:
    """What the figure calls a run's two scores.

    Attributes:
        full: the judgments of the first.
        without: how the other was judged.
        title: of the figure.
    """

    full: str
    without: str
    title: str

    @classmethod
    def of_uniques(cls, unit: str) -> TwoScores:
        """Return the words for judgments from which a unit's uniques are taken away."""
        without = "without its own uniques" if unit == "run" else f"without the uniques of its own {unit}"
        whose = "own" if unit == "run" else f"{unit}'s"
        return cls("all judgments", without, f"What runs lose without their {whose} uniques")


def plot_reduced_scores(
    by_run: pd.DataFrame,
    *,
    measure: str,
    unit: str,
    kind: str = "change",
    by: str | None = None,
    said: TwoScores | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw each run's score against what becomes of it without the uniques of its own unit.

    Runs on the line lose nothing. Those that lose most are named where there is room.

    Args:
        by_run: the `by_run` table of leave-out-uniques.
        measure: one of its measures.
        unit: what was left out: team, run or type.
        kind: what the upright axis shows, one of :data:`~pt_reuse.plots.points.VIEWS`: the ``"change"`` of the score,
            the same in ``"percent"`` of the score, or the reduced ``"scores"`` themselves, with a diagonal.
        by: what gives colour and marker, ``"team"``, ``"type"`` or ``"run"``; default the unit that was left out. Those
            that lose most, six at most, have a colour; of others than the unit all have one where they are no more
            than six.
        said: what the two scores are called; default as leave-out-uniques calls them.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes, with one collection per coloured group, and one for all others.

    Source: the scores after figure 3 of Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR.
    """
    sheet = Sheet.open(place or Place())
    table = by_run[by_run["measure"] == measure].rename(columns={"reduced_score": "other_score"})
    views = Views(table, kind)
    by = by or unit
    column = "name" if by == "run" else by
    losses = views.losses(column)
    few = by != unit and len(set(views.groups(column))) <= MOST
    shown = largest_first(views, column) if few else losses[losses > 0].index[:MOST].tolist()
    handles = draw_points(sheet, views, column, shown)
    entries = []
    for group in shown:
        tail = f" ({views.loss_in_words(losses.get(group))})"
        name = shortened(sheet.ax, str(group), sheet.sizes.text, sheet.name_room(tail))
        entries.append((handles[group], name + tail))
    if None in handles:
        entries.append((handles[None], views.others(column, shown, by)))
    limit(sheet, views)
    words = said or TwoScores.of_uniques(unit)
    y = {
        "change": f"change of {measure} {words.without}",
        "percent": f"change of {measure} in % {words.without}",
        "scores": f"{measure}, {words.without}",
    }
    sheet.label(
        title=words.title,
        x=f"{measure}, {words.full}{views.not_drawn()}",
        y=y[kind],
    )
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries, title="run (loss)" if by == "run" else f"{by} (largest loss of a run)")
    sheet.fit(None if kind == "scores" else 0.55 * sheet.width if sheet.narrow else 0.45 * sheet.width)
    name_losses(sheet, views)
    return sheet.ax


def plot_unique_counts(uniques: pd.DataFrame, *, top: int | None = None, place: Place | None = None) -> Axes:
    """Draw how many judged documents each unit alone contributed, relevant and not relevant.

    Args:
        uniques: the `unique_counts` table of leave-out-uniques; its first column names the units.
        top: how many units at most, those with most unique relevant documents; default 30, 15 in a column.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: stacked bars, most unique relevant documents on top; beside each bar how many are relevant.

    Source: after the bar charts of Harman's TREC overviews and of Zobel 1998, SIGIR.
    """
    column = str(uniques.columns[0])
    counts = uniques[uniques["contributing"] > 0]
    counts = counts.sort_values(["unique_relevant", "unique"], ascending=False, kind="stable")
    word = _WORDS.get(column, column)
    relevant, other = counts["unique_relevant"].to_numpy(), counts["unique_nonrelevant"].to_numpy()
    bars = Bars(
        names=[str(name) for name in counts[column]],
        parts=[("relevant (number beside)", relevant), ("not relevant", other)],
        notes=[("", f"{n:,}") for n in relevant],
        word=word,
    )
    return draw_bars(
        Sheet.open(place or Place()),
        bars,
        top=top,
        title=f"What each {word} found alone",
        x=f"judged documents that one {word} alone put into the pool",
    )


def plot_unit_drops(table: pd.DataFrame, *, measure: str, top: int | None = None, place: Place | None = None) -> Axes:
    """Draw by how many ranks a run falls at most when a unit is left out and the whole field is ranked again.

    Args:
        table: the `table` of leave-out-uniques; its first column names the units.
        measure: one of its measures.
        top: how many units at most, those with the largest drop; default 30, 15 in a column.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a bar per unit, the largest drop on top; beside each bar the run that falls and the ranking's tau_b.
    """
    sheet = Sheet.open(place or Place())
    column = str(table.columns[0])
    rows = table[table["measure"] == measure].sort_values(
        ["max_drop", "tau_b"], ascending=[False, True], kind="stable", na_position="last"
    )
    word = _WORDS.get(column, column)
    notes = [
        ("no run" if pd.isna(run) else str(run), " " + plain(f"({_tau_in_words(tau)})"))
        for run, tau in zip(rows["dropped"], rows["tau_b"], strict=True)
    ]
    bars = Bars(
        names=[str(name) for name in rows[column]],
        parts=[("largest drop", rows["max_drop"].to_numpy())],
        notes=notes,
        word=word,
    )
    return draw_bars(
        sheet,
        bars,
        top=top,
        title=f"The ranking without each {word}",
        x=f"most ranks that a run loses by {measure} without the {word}",
    )


def _tau_in_words(tau: float) -> str:
    return "no tau_b" if pd.isna(tau) else f"tau_b {tau:.4f}".replace("-", "−")
