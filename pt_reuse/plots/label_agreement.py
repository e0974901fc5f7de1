"""Figures of labels by judges beside those of people: agreement in rows, and how often each two labels meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.annotators import BANDS
from pt_reuse.plots.bars import check_own_names
from pt_reuse.plots.lettering import shortened
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME = 0.38  # of the width, at most


def plot_beside_people(rows: pd.DataFrame, *, said: str, banded: bool, place: Place | None = None) -> Axes:
    """Draw a figure of each judge and of each other person, with intervals: judges above, the largest on top.

    Args:
        rows: ``judge kind value low high together``; `kind` is ``"model"`` or ``"people"``; all other people together
            come before each of them.
        said: what the values are.
        banded: whether upright lines show where the bands of a kappa begin.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a full dot in each row of a judge, a hollow square in those of people. Who has no value has no row,
        and below it says how many these are.
    """
    sheet = Sheet.open(place or Place())
    ax, sizes = sheet.ax, sheet.sizes
    check_own_names(ax, "judges")
    known = rows[rows["value"].notna()].sort_values(
        ["kind", "together", "value"], ascending=[True, False, False], kind="stable"
    )
    upright = np.arange(len(known))[::-1]
    entries = []
    for kind, text, colour, marker in (
        ("model", "judge", sheet.ink.first, "o"),
        ("people", "other people", sheet.ink.second, "s"),
    ):
        mine = (known["kind"] == kind).to_numpy()
        if not mine.any():
            continue
        part, y = known[mine], upright[mine]
        ax.hlines(y, part["low"], part["high"], color=colour, linewidth=sizes.line, zorder=2)
        drawn = ax.scatter(
            part["value"],
            y,
            s=sizes.area,
            marker=marker,
            facecolor=colour if kind == "model" else ax.get_facecolor(),
            edgecolor=colour,
            linewidth=sizes.line,
            zorder=3,
        )
        entries.append((drawn, text))
    if len(entries) > 1:
        ax.axhline(int((known["kind"] == "people").sum()) - 0.5, color=sheet.ink.strong, linewidth=0.6, zorder=1)
    if banded:
        for edge in BANDS:
            ax.axvline(edge, color=sheet.ink.strong, linewidth=0.8, linestyle=":", zorder=1)
    ends = known[["value", "low"]].to_numpy(dtype=float)
    sheet.limit("x", (float(np.nanmin(ends, initial=0.0)) - 0.03, 1.03))
    bands = "\n(dotted: weak, moderate, strong)" if banded else ""
    without = f"\n({len(rows) - len(known):,} without a value)" if len(known) < len(rows) else ""
    sheet.label(title="Agreement with the judgments of people", x=f"{said}{bands}{without}")
    names = [shortened(ax, name, sizes.text, _NAME * sheet.width) for name in known["judge"]]
    ax.set_yticks(upright, names)
    ax.set_ylim(-0.7, max(len(known), 1) - 0.3)
    sheet.grid()
    sheet.ticks("x")
    ax.tick_params(axis="y", length=0)
    sheet.key(entries if len(entries) > 1 else [], below=True)
    sheet.fit(sizes.row * (max(len(known), 2) + 0.4))
    return ax


def plot_label_confusion(
    rows: pd.DataFrame, *, said: str, lowest: tuple[int | None, int | None], place: Place | None = None
) -> Axes:
    """Draw how often each label of people meets each label of a judge, darker where the share is larger.

    Args:
        rows: ``label judge_label n share``, a row per two labels.
        said: whose label stands in the columns, and what the shares are of.
        lowest: the lowest label of people, and of the judge, that is relevant; lines are drawn below these.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a cell for each two labels, with the number of documents and the share in per cent.
    """
    from matplotlib.colors import LinearSegmentedColormap

    sheet = Sheet.open(place or Place())
    ax = sheet.ax
    counts = rows.pivot_table(index="label", columns="judge_label", values="n", aggfunc="sum")
    shares = rows.pivot_table(index="label", columns="judge_label", values="share", aggfunc="sum")
    shades = LinearSegmentedColormap.from_list("documents", ["#F7F7F7", "#10265C"])
    down, across = counts.shape
    ax.pcolormesh(np.arange(across + 1), np.arange(down + 1), shares.to_numpy(), cmap=shades, vmin=0, vmax=1)
    for (row, column), part in np.ndenumerate(shares.to_numpy()):
        ax.text(
            column + 0.5,
            row + 0.5,
            f"{counts.to_numpy()[row, column]:,.0f}\n{100 * part:.0f} %",
            ha="center",
            va="center",
            fontsize=sheet.sizes.text,
            # on the shade of .6 both are read equally well
            color="white" if part > 0.6 else "black",
        )
    for labels, bound, line in ((counts.index, lowest[0], ax.axhline), (counts.columns, lowest[1], ax.axvline)):
        if bound is not None and (labels < bound).any() and (labels >= bound).any():
            line(int((labels < bound).sum()), color=sheet.ink.strong, linewidth=1.6)
    ax.set_xticks(np.arange(across) + 0.5, [str(label) for label in counts.columns])
    ax.set_yticks(np.arange(down) + 0.5, [str(label) for label in counts.index])
    sheet.label(title="How often each two labels meet", x=said, y="label of people")
    ax.tick_params(length=0)
    sheet.fit(max(0.26 * down, 0.6) if sheet.narrow else max(0.42 * down, 0.9))
    return ax
