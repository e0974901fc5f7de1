"""Figures of leave-out-uniques; they draw a result's tables and compute nothing that is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots._axes import COLOURS, DARK, GREY, MARKERS, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 30
_WORDS = {"team": "team", "name": "run", "type": "type"}


def plot_reduced_scores(by_run: pd.DataFrame, *, measure: str, by: str, ax: Axes | None = None) -> Axes:
    """Draw each run's score under the full judgments against its score without the uniques of its own unit.

    Points on the diagonal lose nothing; the units whose runs lose most have a colour and a marker of their own.

    Args:
        by_run: the `by_run` table of leave-out-uniques.
        measure: one of its measures.
        by: the unit that was left out: team, run or type.
        ax: where to draw; default a new figure.

    Returns:
        The axes, with one collection per coloured unit, most affected first, and one for all others.

    Source: after figure 3 of Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR.
    """
    ax = axes(ax, 7.2, 5)
    table = by_run[by_run["measure"] == measure]
    unit = table["name" if by == "run" else by].to_numpy(dtype=object)
    loss = (table["score"] - table["reduced_score"]).groupby(unit).max().sort_values(ascending=False, kind="stable")
    shown = loss[loss > 0].index[: len(COLOURS)]
    top = max(float(table[["score", "reduced_score"]].to_numpy().max(initial=0.0)) * 1.05, 1e-3)
    ax.plot([0, top], [0, top], color=DARK, linewidth=0.8, zorder=1)
    rest = ~np.isin(unit, list(shown))
    for name, colour, marker in zip(shown, COLOURS, MARKERS, strict=False):
        rows = table[unit == name]
        label = f"{plain(str(name))} (-{loss[name]:.3f})"
        ax.scatter(rows["score"], rows["reduced_score"], s=44, color=colour, marker=marker, label=label, zorder=3)
    if rest.any():
        others = table[rest]
        n_others = len(set(unit[rest]))
        label = f"{n_others} other {by}{'s' if n_others != 1 else ''}"
        ax.scatter(others["score"], others["reduced_score"], s=18, color=GREY, label=label, zorder=2)
    ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    ax.set_xlabel(f"{measure}, all judgments")
    ax.set_ylabel(f"{measure}, without the uniques of the run's own {by}")
    ax.set_title(f"Scores with and without the {by}'s own unique documents", fontsize=11)
    ax.legend(
        title=f"{by} (largest loss of a run)", loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=9
    )
    ax.grid(color="#EEEEEE", zorder=0)
    ax.set_axisbelow(True)
    return ax


def plot_unique_counts(uniques: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how many judged documents each unit alone contributed, relevant and not relevant.

    Args:
        uniques: the `unique_counts` table of leave-out-uniques; its first column names the units.
        ax: where to draw; default a new figure.

    Returns:
        The axes: stacked bars, most unique relevant documents on top; beside each bar how many are relevant.

    Source: after the bar charts of Harman's TREC overviews and of Zobel 1998, SIGIR.
    """
    column = str(uniques.columns[0])
    counts = uniques[uniques["contributing"] > 0]
    counts = counts.sort_values(["unique_relevant", "unique"], ascending=False, kind="stable")
    hidden = len(counts) - _MOST_BARS
    counts = counts.head(_MOST_BARS)
    ax = axes(ax, 7.2, 1.4 + 0.24 * max(len(counts), 3))
    place = np.arange(len(counts))[::-1]
    relevant, other = counts["unique_relevant"].to_numpy(), counts["unique_nonrelevant"].to_numpy()
    ax.barh(place, relevant, color=COLOURS[0], label="relevant (number)")
    ax.barh(place, other, left=relevant, color="#D9D9D9", label="not relevant")
    ax.set_yticks(place, [plain(str(name)) for name in counts[column]], fontsize=8)
    for y, total, n in zip(place, relevant + other, relevant, strict=True):
        ax.annotate(
            f"{n:,}", (total, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8, color=COLOURS[0]
        )
    ax.set_ylim(-0.7, len(counts) - 0.3)
    ax.margins(x=0.08)
    word = _WORDS.get(column, column)
    ax.set_xlabel(f"judged documents that one {word} alone put into the pool")
    ax.set_title(f"What each {word} found alone" + (f" ({hidden:,} more not shown)" if hidden > 0 else ""), fontsize=11)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
