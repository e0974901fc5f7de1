"""The figure of two sets of scores of the same runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse.plots._axes import COLOURS, DARK, GREY, MARKERS, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_two_scores(
    changes: pd.DataFrame,
    *,
    measure: str,
    by: str,
    judgments: tuple[str, str] = ("first judgments", "other judgments"),
    ax: Axes | None = None,
) -> Axes:
    """Draw each run's score under one set of judgments against its score under another.

    Args:
        changes: the `changes` table of an Agreement.
        measure: one of its measures.
        by: the column that gives colour and marker, ``"type"`` or ``"team"``; beyond the six most common, grey.
        judgments: what to call the two sets on the axes.
        ax: where to draw; default a new figure.

    Returns:
        The axes, with one collection per coloured type or team.
    """
    ax = axes(ax, 7.2, 5)
    table = changes[changes["measure"] == measure]
    kinds = table[by].fillna("not given")
    shown = kinds.value_counts(sort=True).index[: len(COLOURS)]
    top = max(float(table[["score", "other_score"]].to_numpy().max(initial=0.0)) * 1.05, 1e-3)
    ax.plot([0, top], [0, top], color=DARK, linewidth=0.8, zorder=1)
    for kind, colour, marker in zip(sorted(shown), COLOURS, MARKERS, strict=False):
        rows = table[kinds == kind]
        ax.scatter(
            rows["score"], rows["other_score"], s=44, color=colour, marker=marker, label=plain(str(kind)), zorder=3
        )
    rest = table[~kinds.isin(shown)]
    if len(rest):
        ax.scatter(rest["score"], rest["other_score"], s=18, color=GREY, label=f"other {by}s", zorder=2)
    ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    ax.set_xlabel(f"{measure}, {judgments[0]}")
    ax.set_ylabel(f"{measure}, {judgments[1]}")
    ax.set_title("The same runs under two sets of judgments", fontsize=11)
    ax.legend(title=by, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=9)
    ax.grid(color="#EEEEEE", zorder=0)
    ax.set_axisbelow(True)
    return ax
