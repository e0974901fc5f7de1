"""Figures of lying bars: uniques and what is lost without them, ranks gained, spans, outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.marks import HATCH, checked_top, down, draw_bars, draw_dots, draw_level, finish_rows, swatch
from pt_reuse.plots.sheet import (
    DARK,
    FIRST,
    REST,
    Place,
    Sheet,
    Style,
    breadth,
    check_matplotlib,
    of_tau,
    plain,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: outcome -> its column, colour, hatch, words, and the colour of letters on it: lightness that differs in print. What
#: the judge finds significant stands to the left, what people find in the middle
OUTCOMES = {
    "false claim": ("false_claims", "#8B0F3F", "", "by the judge only: false claim", "white"),
    "opposite": ("opposite", "#000000", "", "by both, opposite winners", "white"),
    "agree": ("agree", "#9DB6D9", "", "by both, same winner", "black"),
    "missed": ("missed", "#D2691E", HATCH, "by people only: missed", "black"),
    "neither": ("neither", "#F2F2F2", "", "by neither", "black"),
}


def plot_unique_counts(uniques: pd.DataFrame, *, top: int | None = None, place: Place | None = None) -> Axes:
    """Draw how many judged documents each unit alone contributed, relevant and not relevant, as stacked bars."""
    column = str(uniques.columns[0])
    counts = uniques[uniques["contributing"] > 0]
    counts = counts.sort_values(["unique_relevant", "unique"], ascending=False, kind="stable")
    word = _word(column)
    relevant, other = counts["unique_relevant"].to_numpy(), counts["unique_nonrelevant"].to_numpy()
    return draw_bars(
        place,
        counts[column].tolist(),
        [("relevant", relevant), ("not relevant", other)],
        [("", f"{n:,} of {n + m:,}") for n, m in zip(relevant, other, strict=True)],
        word=word,
        top=checked_top(top),
        title=f"What each {word} found alone",
        x=f"judged documents that one {word} alone put into the pool",
    )


def plot_unit_drops(table: pd.DataFrame, *, measure: str, top: int | None = None, place: Place | None = None) -> Axes:
    """Draw by how many ranks a run falls at most when a unit is left out and the whole field is ranked again."""
    column = str(table.columns[0])
    every = table[table["measure"] == measure]
    rows = every[every["max_drop"] > 0]
    rows = rows.sort_values(["max_drop", "tau_b"], ascending=[False, True], kind="stable")
    word, without = _word(column), len(every) - len(rows)
    none = f"; without {count(without, f'other {word}' if len(rows) else word)} no run loses any" if without else ""
    return draw_bars(
        place,
        rows[column].tolist(),
        [("largest drop", rows["max_drop"].to_numpy())],
        [(str(run), f", {of_tau(tau)}") for run, tau in zip(rows["dropped"], rows["tau_b"], strict=True)],
        word=word,
        top=checked_top(top),
        title=f"The ranking without each {word}",
        x=f"most ranks that a run loses by {measure} without the {word}; beside it the run, and tau_b{none}",
    )


def plot_recovery(
    recovery: pd.DataFrame, *, left_out: str, lost: int, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw how many of the `lost` documents that are lost without a type each run of another type retrieves."""
    check_matplotlib()
    return draw_bars(
        place,
        recovery["name"].tolist(),
        [("recovered", recovery["recovered"].to_numpy())],
        [("", f"{n:,}") for n in recovery["recovered"]],
        word="run",
        top=checked_top(top),
        title=f"Who recovers what is lost without {plain(left_out)}",
        x=f"recovered of {count(lost, 'relevant document')} that {plain(left_out)} runs alone contributed",
    )


def _word(column: str) -> str:
    return "run" if column == "name" else column


def plot_tornado(
    spans: pd.DataFrame, points: pd.DataFrame, *, names: Mapping[str, str], label: str, place: Place | None = None
) -> Axes:
    """Draw a bar per convention from the lowest to the highest value of a number, and a point for each value."""
    sheet = Sheet.open(place, "conventions")
    rows = dict(zip(spans["convention"], down(len(spans)), strict=True))
    low, high = spans["lowest"].to_numpy(dtype=float), spans["highest"].to_numpy(dtype=float)
    default = float(spans["default"].iloc[0]) if len(spans) else 0.0
    style: Style = {"facecolor": REST, "edgecolor": DARK, "linewidth": 0.3, "zorder": 2}
    sheet.ax.barh(list(rows.values()), high - low, 0.62, low, **style)
    draw_dots(sheet, points["here"], points["convention"].map(rows), face=FIRST, edge="white", area=0.6, zorder=4)
    if not np.isnan(default):
        draw_level(sheet, "x", default, zorder=3)
    # a number may be undefined at the default, or under every value
    ends = np.array([*low, *high, default])
    ends = ends[~np.isnan(ends)] if not np.isnan(ends).all() else np.zeros(1)
    # room for the values at both ends
    sheet.limit_around("x", ends, air=0.32, least=1e-3 * max(abs(float(ends.max())), 1e-3))
    sheet.label(title="What moves with a convention", x=label)
    texts = [names.get(name, name.replace("_", " ")) for name in spans["convention"]]
    ax = finish_rows(sheet, texts, name_share=0.36, height=1.5, whole=bool(np.all(ends == np.round(ends))))
    for name, least, most in zip(spans["convention"], low.tolist(), high.tolist(), strict=True):
        here = points[points["convention"] == name].set_index("here")["value"]
        for end, side, shift in ((least, "right", -5), (most, "left", 5)):
            # what lies at the default needs no name
            if most > least and end != default:
                text = shortened(ax, str(here[[end]].iloc[0]), sheet.sizes.text, 0.22 * sheet.axes_size[0])
                where: Style = {"xytext": (shift, 0), "textcoords": "offset points", "ha": side}
                ax.annotate(text, (end, rows[name]), fontsize=sheet.sizes.text, va="center_baseline", zorder=5, **where)
    return ax


def plot_outcomes(rows: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw a bar per judge, stacked by outcome, with a number in each part that has room for one."""
    sheet = Sheet.open(place, "judges")
    ax, at = sheet.ax, down(len(rows))
    ends = np.zeros(len(rows))
    entries: list[tuple[Artist, str]] = []
    for column, colour, hatch, said, _ in OUTCOMES.values():
        lengths = rows[column].to_numpy(dtype=float)
        style: Style = {"facecolor": colour, "hatch": hatch, "edgecolor": DARK, "linewidth": 0.3}
        ax.barh(at, lengths, 0.7, ends, zorder=2, label=said, **style)
        ends = ends + lengths
        if lengths.any():
            entries.append((swatch(colour, hatch=hatch), said))
    most = max(float(ends.max(initial=0)), 1.0)
    sheet.limit("x", (0, most))
    sheet.label(title="Significant differences by each judge", x=f"pairs of runs by {measure}")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    finish_rows(sheet, rows["judge"].tolist(), entries, name_share=0.3, height=1.6, whole=True, title="significant")
    begins, size = np.zeros(len(rows)), sheet.sizes.text
    for column, colour, hatch, _, letters in OUTCOMES.values():
        # behind a number no hatch
        box = {"facecolor": colour, "edgecolor": "none", "pad": 0.8} if hatch else None
        style = {"ha": "center", "va": "center_baseline", "fontsize": size, "color": letters, "bbox": box, "zorder": 3}
        for y, begin, length in zip(at, begins, rows[column], strict=True):
            if length * sheet.axes_size[0] / most >= 1.25 * breadth(ax, f"{length:,.0f}", size):
                ax.text(begin + length / 2, y, f"{length:,.0f}", **style)
        begins = begins + rows[column].to_numpy(dtype=float)
    return ax
