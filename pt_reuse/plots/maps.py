"""Figures of cells with a shade and a number: for a judge and a family, a pool and a group, two runs, two labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.plots.bars import OUTCOMES
from pt_reuse.plots.forests import effect_in_words
from pt_reuse.plots.marks import MOST_IN_COLUMN, MOST_ROWS, darker, draw_cells, frame, hatched_ground, shading, swatch
from pt_reuse.plots.sheet import DARK, Place, Sheet, Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def _grid(cells: pd.DataFrame, row: str, column: str, value: str) -> pd.DataFrame:
    wide = cells.pivot_table(index=row, columns=column, values=value, sort=False, dropna=False)
    return wide.reindex(index=list(dict.fromkeys(cells[row])), columns=list(dict.fromkeys(cells[column])))


def plot_family_map(cells: pd.DataFrame, *, column: str, measure: str, place: Place | None = None) -> Axes:
    """Draw a cell for each judge and family of runs, with its effect."""
    from matplotlib.patches import Patch, Rectangle

    sheet = Sheet.open(place, "families")
    wide = _grid(cells, "family", "judge", column)
    families, judges = list(wide.index), list(wide.columns)
    values, texts = wide.to_numpy(dtype=float), np.full(wide.shape, "", dtype=object)
    most = 1.6 * max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-12)
    # what gains and what loses are as dark as each other, so the sign stands in the cell; paler than the colours
    # themselves, so that numbers are read on all of them
    colours = shading("#B2500F", "#FFFFFF", "#2166AC")
    nothing = hatched_ground(sheet)
    for cell in cells.to_dict("records"):
        x, y, value = judges.index(cell["judge"]), families.index(cell["family"]), cell[column]
        if cell["own"]:
            edge: Style = {"fill": False, "edgecolor": DARK, "linewidth": 1.6, "zorder": 3}
            sheet.ax.add_patch(Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, **edge))
        if not pd.isna(value):
            off = cell.get(f"{column}_low", np.nan) > 0 or cell.get(f"{column}_high", np.nan) < 0
            number = f"{value:+.1f}" if column == "rank_effect" else f"{value:+.3f}"
            texts[y, x] = number.replace("-", "−") + ("*" if off else "")
    draw_cells(sheet, values, texts, (families, judges), colours, (-most, most))
    sheet.label(title="What judges make of families of runs", x="judge", y="family")
    frame(sheet)
    entries: list[tuple[Artist, str]] = [(swatch(colours(0.81)), "gains (+)"), (swatch(colours(0.19)), "loses (−)")]
    if cells["own"].any():
        entries.append((Patch(fill=False, edgecolor=DARK, linewidth=1.6), "the judge's own family"))
    if any(text.endswith("*") for text in texts.ravel()):
        entries.append((Patch(fill=False, linewidth=0), "* interval leaves out 0"))
    if np.isnan(values).any():
        entries.append((nothing, "no number"))
    sheet.key(entries, title=effect_in_words(column, measure), below=True)
    sheet.fit(1.7 * sheet.sizes.row * max(len(families), 2))
    return sheet.ax


def plot_tau_of_pools(rows: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw the mean tau_b over splits of each pool of one type on each tested group, with the lowest of a split."""
    sheet = Sheet.open(place, "pools")
    wide, least = (_grid(rows, "pool", "tested", name) for name in ("tau_b", "tau_b_min"))
    values = wide.to_numpy(dtype=float)
    texts = np.full(wide.shape, "", dtype=object)
    for at, tau in np.ndenumerate(values):
        lowest = least.to_numpy(dtype=float)[at]
        texts[at] = "" if np.isnan(tau) else f"{tau:.2f}\n({lowest:.2f})".replace("-", "−")
    known = values[~np.isnan(values)]
    if np.isnan(values).any():
        hatched_ground(sheet)
    draw_cells(sheet, values, texts, (list(wide.index), list(wide.columns)), darker(), (min(0.5, *known, 0.5), 1.0))
    sheet.label(
        title="How well a pool of one type ranks others",
        x=f"tested runs; tau_b to the gold by {measure}, mean of splits (lowest)",
        y="type that made the pool",
    )
    frame(sheet)
    sheet.fit(max(2.6 * sheet.sizes.row * len(wide), 0.2 * sheet.width))
    return sheet.ax


def plot_pairs(rows: pd.DataFrame, *, measure: str, judge: str, place: Place | None = None) -> Axes:
    """Draw a cell for every two runs in the colour of its outcome, both ways from the best by people to the worst."""
    from matplotlib.colors import ListedColormap

    sheet = Sheet.open(place, "runs")
    ax, names = sheet.ax, _best_first(rows)
    cells = np.full((len(names), len(names)), np.nan)
    first, second = (rows[column].map(names.index).to_numpy() for column in ("first", "second"))
    codes = rows["outcome"].map(list(OUTCOMES).index).to_numpy(dtype=float)
    cells[first, second] = cells[second, first] = codes
    colours = ListedColormap([colour for _, colour, *_ in OUTCOMES.values()])
    ax.imshow(np.ma.masked_invalid(cells), cmap=colours, vmin=-0.5, vmax=len(OUTCOMES) - 0.5, interpolation="nearest")
    named = names if len(names) <= (MOST_IN_COLUMN if sheet.narrow else MOST_ROWS) else []
    ax.set_yticks(range(len(named)), [sheet.short(name, 0.3) for name in named])
    ax.set_xticks([])
    said = f"{count(len(names), 'run')}, the best by people first"
    sheet.label(title=f"{measure} by people and by {judge}", x=said, y="" if named else said)
    ax.tick_params(axis="y", length=0)
    frame(sheet)
    entries = [
        (swatch(colour), words)
        for code, (_, colour, _, words, _) in enumerate(OUTCOMES.values())
        if (codes == code).any()
    ]
    sheet.key(entries, title="significant", below=True)
    sheet.fit((0.7 if sheet.narrow else 0.5) * sheet.width)
    return ax


def _best_first(rows: pd.DataFrame) -> list[str]:
    names = list(dict.fromkeys([*rows["first"], *rows["second"]]))
    ahead = dict.fromkeys(names, 0.0)
    for first, second, difference in rows[["first", "second", "difference"]].itertuples(index=False):
        ahead[first] += difference
        ahead[second] -= difference
    return sorted(names, key=lambda name: -round(ahead[name], 9))


def plot_label_confusion(
    rows: pd.DataFrame, *, said: str, lowest: tuple[int | None, int | None], place: Place | None = None
) -> Axes:
    """Draw how often each label of people meets each label of a judge, darker where the share is larger.

    Lines part what is relevant from what is not, the lowest relevant label of either.
    """
    counts, shares = (
        rows.pivot_table(index="label", columns="judge_label", values=name, aggfunc="sum") for name in ("n", "share")
    )
    texts = np.vectorize(lambda n, share: f"{n:,.0f}\n{100 * share:.0f}%", otypes=[object])(counts, shares)
    labels = list(counts.index), list(counts.columns)
    ax = _confusion(place, shares.to_numpy(dtype=float), texts, labels, most=1.0, x=said, y="label of people")
    for known, bound, line in zip(labels, lowest, (ax.axhline, ax.axvline), strict=True):
        below = sum(bound is not None and label < bound for label in known)
        if 0 < below < len(known):
            line(below - 0.5, color=DARK, linewidth=1.6)
    return ax


def _confusion(
    place: Place | None,
    cells: NDArray[np.float64],
    texts: NDArray,
    labels: tuple[Sequence[object], Sequence[object]],
    *,
    most: float,
    x: str,
    y: str,
) -> Axes:
    sheet = Sheet.open(place)
    draw_cells(sheet, cells, texts, labels, darker(), (0, most), upwards=True)
    sheet.label(title="How often each two labels meet", x=x, y=y)
    lines = 1 + any("\n" in text for text in texts.ravel())
    sheet.fit(max((lines + 1.2) * sheet.sizes.text / 72 * len(cells), 0.13 * sheet.width * len(cells) ** 0.5))
    return sheet.ax
