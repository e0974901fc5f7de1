"""Figures of cells: a shade or a colour for each run and topic, two runs, two labels, two parts, rank and topic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.plots.bars import OUTCOMES
from pt_reuse.plots.forests import effect_in_words
from pt_reuse.plots.lines import round_ranks
from pt_reuse.plots.marks import (
    MOST_IN_COLUMN,
    MOST_ROWS,
    draw_confusion,
    draw_image,
    frame,
    hatched_ground,
    swatch,
)
from pt_reuse.plots.sheet import COLOURS, DARK, Place, Sheet, Style, blend, plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: the most documents of each shade of minimum ranks, the last without end, and what the legend says
_MOST_DOCUMENTS = (1, 5, 10, 30, 50)
_DOCUMENTS = ("1", "2–5", "6–10", "11–30", "31–50", "more than 50")
_NAME = 0.3  # of the width, at most


def _name_few(sheet: Sheet, names: Sequence[str]) -> bool:
    """Name the rows of cells where they are few, and return whether they are."""
    few = len(names) <= (MOST_IN_COLUMN if sheet.narrow else MOST_ROWS)
    shown = names if few else []
    sheet.ax.set_yticks(range(len(shown)), [sheet.short(name, _NAME) for name in shown])
    return few


def plot_family_map(
    cells: pd.DataFrame, *, column: str, measure: str, against: str, place: Place | None = None
) -> Axes:
    """Draw a cell for each judge and family of runs, with its effect."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Patch, Rectangle

    sheet = Sheet.open(place, "families")
    ax = sheet.ax
    wide = cells.pivot_table(index="family", columns="judge", values=column, sort=False, dropna=False)
    families, judges = list(dict.fromkeys(cells["family"])), list(dict.fromkeys(cells["judge"]))
    values = wide.reindex(index=families, columns=judges).to_numpy(dtype=float)
    most = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    # what gains and what loses are as dark as each other, so the sign stands in the cell; paler than the colours
    # themselves, so that numbers are read on all of them
    colours = LinearSegmentedColormap.from_list("effects", ["#B2500F", "#FFFFFF", "#2166AC"])
    nothing = hatched_ground(sheet)
    draw_image(sheet, values, colours, Normalize(-1.6 * max(most, 1e-12), 1.6 * max(most, 1e-12)))
    low, high = f"{column}_low", f"{column}_high"
    style: Style = {"ha": "center", "va": "center_baseline", "fontsize": sheet.sizes.text, "color": DARK, "zorder": 4}
    starred = False
    for cell in cells.to_dict("records"):
        x, y, value = judges.index(cell["judge"]), families.index(cell["family"]), cell[column]
        if cell["own"]:
            edge: Style = {"fill": False, "edgecolor": DARK, "linewidth": 1.6, "zorder": 3}
            ax.add_patch(Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, **edge))
        if not pd.isna(value):
            off = low in cell and bool(cell[low] > 0 or cell[high] < 0)
            starred = starred or off
            number = f"{value:+.1f}" if column == "rank_effect" else f"{value:+.3f}"
            ax.text(x, y, number.replace("-", "−") + ("*" if off else ""), **style)
    turned: Style = {"rotation": 30, "ha": "right"} if len(judges) > 2 else {"rotation": 0, "ha": "center"}
    shown = [sheet.short(judge, _NAME) for judge in judges]
    ax.set_xticks(range(len(judges)), shown, rotation_mode="anchor", **turned)
    ax.set_yticks(range(len(families)), [sheet.short(name, _NAME) for name in families])
    ax.tick_params(axis="both", length=0)
    sheet.label(title="What judges make of families of runs", x="judge", y="family")
    frame(sheet)
    entries: list[tuple[Artist, str]] = [
        (swatch(colours(0.81), DARK, 0.4), "gains (+)"),
        (swatch(colours(0.19), DARK, 0.4), "loses (−)"),
    ]
    if cells["own"].any():
        entries.append((Patch(fill=False, edgecolor=DARK, linewidth=1.6), "the judge's own family"))
    if starred:
        entries.append((Patch(fill=False, linewidth=0), "* interval leaves out 0"))
    if not np.isfinite(values).all():
        entries.append((nothing, "no number"))
    sheet.key(entries, title=effect_in_words(column, measure, against), below=True)
    sheet.fit(1.7 * sheet.sizes.row * max(len(families), 2))
    return ax


def plot_pairs(rows: pd.DataFrame, *, measure: str, judge: str, place: Place | None = None) -> Axes:
    """Draw a cell for every two runs in the colour of its outcome, both ways from the best by people to the worst."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    sheet = Sheet.open(place, "runs")
    ax, names = sheet.ax, _best_first(rows)
    cells = np.full((len(names), len(names)), np.nan)
    first, second = (rows[column].map(names.index).to_numpy() for column in ("first", "second"))
    codes = rows["outcome"].map(list(OUTCOMES).index).to_numpy(dtype=float)
    cells[first, second] = cells[second, first] = codes
    norm = BoundaryNorm(np.arange(len(OUTCOMES) + 1) - 0.5, len(OUTCOMES))
    draw_image(sheet, cells, ListedColormap([colour for _, colour, *_ in OUTCOMES.values()]), norm, "equal")
    named = _name_few(sheet, names)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    said = f"{count(len(names), 'run')}, the best by people first"
    sheet.label(title=f"{measure} by people and by {judge}", x=said, y="" if named else said)
    frame(sheet)
    entries = [
        (swatch(colour, sheet.ink.strong, 0.4), words)
        for code, (_, colour, _, words, _) in enumerate(OUTCOMES.values())
        if (codes == code).any()
    ]
    sheet.key(entries, title="significant", below=True)
    sheet.fit((0.7 if sheet.narrow else 0.5) * sheet.width)
    return ax


def _best_first(rows: pd.DataFrame) -> list[str]:
    """Return the runs by their means under the labels of people, which the differences of all pairs give."""
    names = list(dict.fromkeys([*rows["first"], *rows["second"]]))
    ahead = dict.fromkeys(names, 0.0)
    for first, second, difference in rows[["first", "second", "difference"]].itertuples(index=False):
        ahead[first] += difference
        ahead[second] -= difference
    return sorted(names, key=lambda name: -round(ahead[name], 9))


def plot_confusion(matrix: pd.DataFrame, *, names: tuple[str, str], place: Place | None = None) -> Axes:
    """Draw a confusion matrix of two annotators, the first in rows, darker where more items are."""
    sheet = Sheet.open(place)
    counts = matrix.to_numpy(dtype=float)
    most = max(counts.max(initial=0), 1)
    labels = list(matrix.index), list(matrix.columns)
    shades: Style = {"most": most, "light": "#F2F2F2", "white_above": most / 2}
    draw_confusion(sheet, counts, [f"{n:,.0f}" for n in counts.ravel()], labels, **shades)
    sheet.label(title="How often each two labels meet", x=f"label of {names[1]}", y=f"label of {plain(names[0])}")
    sheet.ax.tick_params(length=0)
    sheet.fit(0.6 * sheet.width if sheet.narrow else 0.42 * sheet.width)
    return sheet.ax


def plot_label_confusion(
    rows: pd.DataFrame, *, said: str, lowest: tuple[int | None, int | None], place: Place | None = None
) -> Axes:
    """Draw how often each label of people meets each label of a judge, darker where the share is larger."""
    sheet = Sheet.open(place)
    counts, shares = (
        rows.pivot_table(index="label", columns="judge_label", values=name, aggfunc="sum") for name in ("n", "share")
    )
    cells = zip(counts.to_numpy().ravel(), shares.to_numpy().ravel(), strict=True)
    texts = [f"{n:,.0f}\n{100 * share:.0f} %" for n, share in cells]
    # on the shade of .6 both are read equally well
    shades: Style = {"most": 1, "light": "#F7F7F7", "white_above": 0.6}
    draw_confusion(sheet, shares.to_numpy(), texts, (list(counts.index), list(counts.columns)), **shades)
    ax, ink, n = sheet.ax, sheet.ink.strong, len(counts)
    for labels, bound, line in ((counts.index, lowest[0], ax.axhline), (counts.columns, lowest[1], ax.axvline)):
        if bound is not None and (labels < bound).any() and (labels >= bound).any():
            line(int((labels < bound).sum()), color=ink, linewidth=1.6)
    sheet.label(title="How often each two labels meet", x=said, y="label of people")
    ax.tick_params(length=0)
    sheet.fit(max(0.26 * n, 0.6) if sheet.narrow else max(0.42 * n, 0.9))
    return ax


def plot_parts_grid(by_pair: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw the agreement of each two parts of a corpus as a shade and a number, the mean over draws."""
    sheet = Sheet.open(place)
    ax = sheet.ax
    names = list(dict.fromkeys([*by_pair["part"], *by_pair["other_part"]]))
    cells: NDArray[np.float64] = np.full((len(names), len(names)), np.nan)
    means = by_pair.groupby(["part", "other_part"], sort=False)[column].mean().reset_index()
    for one, other, value in means.itertuples(index=False):
        i, j = sorted((names.index(one), names.index(other)))
        cells[j, i] = value
    known = cells[~np.isnan(cells)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    # light greys alone, on which black numbers are read
    most = low + max(high - low, 1e-9) / 0.45
    shades: Style = {"cmap": "Greys", "vmin": low - 0.1 * (most - low), "vmax": most}
    # the first part has no row and the last no column: the grid is the lower triangle
    ax.imshow(cells[1:, :-1], aspect="auto", interpolation="none", **shades)
    for i, j in product(range(1, len(names)), range(len(names) - 1)):
        if i > j:
            text = "-" if np.isnan(cells[i, j]) else f"{cells[i, j]:.2f}"
            ax.text(j, i - 1, text, ha="center", va="center", fontsize=sheet.sizes.text, color="black")
    ax.set_xticks(range(len(names) - 1), names[:-1], rotation=90 if len(names) > 6 else 0)
    ax.set_yticks(range(len(names) - 1), names[1:])
    sheet.label(title=f"{label} of two parts", x="", y="")
    sheet.fit(max(0.28 * (len(names) - 1), 0.3 * sheet.width))
    return ax


def plot_minimum_ranks(
    cells: pd.DataFrame, topics: pd.DataFrame, *, documents: str = "relevant documents", place: Place | None = None
) -> Axes:
    """Draw how many relevant documents each topic has at each minimum rank, ranks from bottom to top."""
    from matplotlib.collections import PolyCollection

    sheet = Sheet.open(place)
    order = topics.sort_values(["relevant", "qid"], kind="stable")["qid"]
    depth = int(cells["rank"].max()) if cells["rank"].notna().any() else 1
    half = max(1.0, 0.012 * depth) / 2  # so that the cell of one rank can be seen
    gap = max(0.03 * depth, 1.0)  # between the deepest rank and the row of what no run has
    missing = depth + 0.5 + gap + half
    left = cells["qid"].map({qid: number - 0.5 for number, qid in enumerate(order, 1)}).to_numpy(dtype=float)
    middle = cells["rank"].to_numpy(dtype=float, na_value=missing)
    corners = np.stack(
        [np.column_stack([left + x, middle + y]) for x, y in ((0, -half), (1, -half), (1, half), (0, half))], axis=1
    )
    shade = np.searchsorted(_MOST_DOCUMENTS, cells["documents"].to_numpy())
    entries: list[tuple[Artist, str]] = []
    for n, (colour, name) in enumerate(zip(blend(len(_DOCUMENTS), "#C9D6EA", COLOURS[0]), _DOCUMENTS, strict=True)):
        if (shade == n).any():
            style: Style = {"facecolors": [colour], "edgecolors": "none", "zorder": 3, "label": name}
            sheet.ax.add_collection(PolyCollection(list(corners[shade == n]), **style))
        entries.append((swatch(colour, sheet.ink.strong), name))
    sheet.ax.axhline(depth + 0.5 + gap / 2, color=sheet.ink.strong, linewidth=0.6, zorder=2)
    sheet.limit("x", (0.5, max(len(order), 1) + 0.5))
    sheet.limit("y", (0.5, missing + half))
    sheet.label(
        title=f"Where {documents} were first found", x="topics, the most relevant documents last", y="minimum rank"
    )
    # the last must not touch what no run has
    ranks = [rank for rank in round_ranks(depth, 5 if sheet.narrow else 10) if missing - rank > 0.04 * depth]
    sheet.ax.set_yticks([*ranks, missing], [*(f"{rank:,}" for rank in ranks), "NR"])
    return sheet.finish(entries, (0.7, 0.5), grid="y", numbers="x", whole="x", title="documents")
