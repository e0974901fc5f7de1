"""Figures with a place for each topic: how it ranks runs, its density, its scores, its minimum ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.plots.lines import round_ranks
from pt_reuse.plots.marks import draw_dots, draw_level, draw_line, name_points, swatch
from pt_reuse.plots.sheet import COLOURS, DARK, FAINT, FIRST, REST, SECOND, Place, Sheet, Style, blend, of_tau, plain

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: the most documents of each shade of minimum ranks, the last without end, and what the legend says
_MOST_DOCUMENTS = (1, 5, 10, 30, 50)
_DOCUMENTS = ("1", "2–5", "6–10", "11–30", "31–50", "more than 50")


def plot_topic_taus(per_topic: pd.DataFrame, *, measured: str, overall: float, place: Place | None = None) -> Axes:
    """Draw tau_b of the runs ranked on each topic alone, the lowest first, and a line at that of the means."""
    sheet = Sheet.open(place)
    points = per_topic[per_topic["tau_b"].notna()].sort_values("tau_b", kind="stable")
    points = points.assign(name=points["qid"], x=np.arange(1.0, len(points) + 1), y=points["tau_b"].astype(float))
    entries = [(draw_dots(sheet, points["x"], points["y"], face=FIRST, edge="white"), "one topic")]
    if not np.isnan(overall):
        entries.append((draw_level(sheet, "y", overall, "--", 2), plain(f"means over topics ({of_tau(overall)})")))
    without = len(per_topic) - len(points)
    rest = f" ({count(without, 'topic')} without, as all runs tie)" if without else ""
    lowest = float(np.nanmin([1.0, overall, *points["y"]]))
    span = max(1 - lowest, 0.1)
    # below the lowest there is room for its name
    sheet.limit("y", (lowest - 0.15 * span, 1 + 0.07 * span))
    sheet.limit("x", (0, len(points) + 1))
    sheet.label(
        title="The ranking of the runs on each topic",
        x=f"topics, the lowest first{rest}",
        y=f"tau_b of the two rankings by {measured}",
    )
    sheet.finish(entries, (0.55, 0.4), grid="y", whole="x")
    name_points(sheet, points, points[["x", "y"]].to_numpy(dtype=float))
    return sheet.ax


def plot_density(
    rounds: pd.DataFrame,
    topics: pd.DataFrame,
    *,
    first_said: str = "first round",
    last_said: str = "at the end",
    place: Place | None = None,
) -> Axes:
    """Draw the relevant density of each topic after each round."""
    sheet = Sheet.open(place)
    sizes = sheet.sizes
    order = topics.sort_values(["density", "qid"], kind="stable", na_position="first")["qid"].tolist()
    seen = rounds[rounds["density"].notna()]
    x = seen["qid"].map({qid: number for number, qid in enumerate(order, 1)}).to_numpy(dtype=float)
    y = seen["density"].to_numpy(dtype=float)
    spans = pd.Series(y).groupby(x).agg(["min", "max"])
    sheet.ax.vlines(spans.index, spans["min"], spans["max"], color=FAINT, linewidth=0.6 * sizes.line, zorder=2)
    first, last = ~seen["qid"].duplicated().to_numpy(), ~seen["qid"].duplicated(keep="last").to_numpy()
    entered = np.ones(len(seen), dtype=bool)
    if "evaluated" in topics:
        entered = seen["qid"].map(topics.set_index("qid")["evaluated"]).to_numpy(dtype=bool)
    # where there is but one round, it is the last
    first &= (~last).any()
    # as large as there is room for, with as many topics beside each other
    area = min(1, (72 * 0.7 * sheet.width / max(len(order), 1)) ** 2 * 0.6 / sizes.area)
    entries = []
    for rows, label, marker, share, edge, face in (
        (first, first_said, "o", area, DARK, "none"),
        (~first & ~last, "further rounds", "o", 0.2 * area, FAINT, FAINT),
        (last & entered, last_said, "o", area, FIRST, FIRST),
        (last & ~entered, f"{last_said}, not evaluated", "D", area, SECOND, SECOND),
    ):
        if rows.any():
            style: Style = {"marker": marker, "area": share, "linewidth": 0.6}
            entries.append((draw_dots(sheet, x[rows], y[rows], face=face, edge=edge, **style), label))
    entries += [
        (draw_level(sheet, "y", value, dashes), f"density {name}")
        for value, name, dashes in ((1 / 3, "1/3", "--"), (1 / 2, "1/2", ":"))
    ]
    highest = float(np.max(y, initial=0))
    sheet.limit("y", (-0.03, 1.03 if highest > 0.9 else max(0.6, highest * 1.08)))
    sheet.limit("x", (0, len(order) + 1))
    sheet.label(title="Relevant density", x="topics, the densest last", y="relevant / judged")
    return sheet.finish(entries, (0.55, 0.4), grid="y", whole="x")


def plot_saturation(
    rows: pd.DataFrame,
    scores: Sequence[NDArray[np.float64]],
    *,
    measure: str,
    maximum: float = 1.0,
    place: Place | None = None,
) -> Axes:
    """Draw median, quartiles and range of the runs' scores on each topic, the highest median on the right."""
    sheet = Sheet.open(place)
    keys = rows.reset_index(drop=True)
    order = keys.sort_values(["median", "mean", "qid"], kind="stable", na_position="first").index.tolist()
    every = (scores[at] for at in order)
    ends = np.array([np.percentile(one, (0, 25, 50, 75, 100)) if len(one) else [np.nan] * 5 for one in every])
    x, dark = np.arange(1, len(order) + 1), [bool(keys["saturated"][at]) for at in order]
    style: Style = {"step": "mid", "linewidth": 0, "zorder": 2}
    # a single topic has no width between its neighbours
    x, shown = (x, ends) if len(x) != 1 else (np.array([0.5, 1.5]), np.repeat(ends, 2, axis=0))
    low, first, median, third, high = shown.reshape(-1, 5).T
    whole = sheet.ax.fill_between(x, low, high, color=REST, **style)
    middle = sheet.ax.fill_between(x, first, third, color=FAINT, **style)
    line = draw_line(sheet, x, median, FIRST, drawstyle="steps-mid")
    entries = [(line, "median"), (middle, "quartiles"), (whole, "lowest to highest")]
    if any(dark):
        begin = draw_level(sheet, "x", dark.index(True) + 0.5, ":", 4)
        entries.append((begin, "from here the median is the maximum"))
    sheet.limit("x", (0.5, max(len(order), 1) + 0.5))
    sheet.limit("y", (-0.03 * maximum, 1.03 * maximum))
    sheet.label(title="Scores on each topic", x="topics, the highest median last", y=f"{measure} of the runs")
    return sheet.finish(entries, (0.55, 0.4), grid="y", whole="x")


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
        entries.append((swatch(colour, DARK), name))
    sheet.ax.axhline(depth + 0.5 + gap / 2, color=DARK, linewidth=0.6, zorder=2)
    sheet.limit("x", (0.5, max(len(order), 1) + 0.5))
    sheet.limit("y", (0.5, missing + half))
    sheet.label(
        title=f"Where {documents} were first found", x="topics, the most relevant documents last", y="minimum rank"
    )
    # the last must not touch what no run has
    ranks = [rank for rank in round_ranks(depth, 5 if sheet.narrow else 10) if missing - rank > 0.04 * depth]
    sheet.ax.set_yticks([*ranks, missing], [*(f"{rank:,}" for rank in ranks), "NR"])
    return sheet.finish(entries, (0.7, 0.5), grid="y", numbers="x", whole="x", title="documents")
