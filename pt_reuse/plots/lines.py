"""Figures of lines: over depths, budgets, sizes and differences, and ranks from people to a judge."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from pt_reuse.errors import count
from pt_reuse.plots.marks import STROKES, draw_level, draw_line, name_at_right, not_shown
from pt_reuse.plots.sheet import (
    COLOURS,
    DARK,
    FAINT,
    FIRST,
    MARKERS,
    MOST,
    SECOND,
    Place,
    Sheet,
    Style,
    blend,
    breadth,
    look,
    looks,
)

T = TypeVar("T")

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: markers of a line at most
_FEW = 12
#: runs either way that are drawn strongly where ranks change
_NAMED = 3
#: p-values below are not told apart
_LEAST_P = 1e-5
#: what a part of a population is drawn as, in this order
_PARTS: tuple[Style, ...] = (
    {"colour": FIRST, "linestyle": "-", "marker": "o"},
    {"colour": SECOND, "linestyle": "--", "marker": "D"},
    {"colour": FAINT, "linestyle": "-.", "marker": "^"},
)


def _many(number: int) -> dict[str, Any]:
    mine = look(number)
    return {"linestyle": STROKES[number // MOST % 4], "colour": mine.colour, "marker": mine.marker}


def plot_found(
    table: pd.DataFrame, *, column: str, units: Sequence[str], judged_to: int, place: Place | None = None
) -> Axes:
    """Draw how many relevant documents the pool of each unit finds against its depth: in all, and, broken, alone."""
    sheet = Sheet.open(place)
    entries: list[tuple[Artist, str]] = []
    field = looks(table.loc[table[column] != "all", column])
    for name in units:
        rows = table[table[column] == name].sort_values("depth", kind="stable")
        mine = field[name]
        for values, stroke, face, said in (("relevant", "-", mine.stroke, ""), ("unique", "--", "none", ", alone")):
            style: Style = {"linestyle": stroke, "marker": mine.marker, "markerfacecolor": face}
            every = max(1, len(rows) // 10)
            line = draw_line(sheet, rows["depth"], rows[values], mine.stroke, markevery=every, **style)
            entries.append((line, sheet.legend_name(name, said)))
    deepest = int(table["depth"].max())
    if 0 < judged_to < deepest:
        entries.append((draw_level(sheet, "x", judged_to, ":"), "all is judged up to here"))
    sheet.limit("x", (0, 1.02 * deepest))
    sheet.limit("y", (0, max(float(sheet.ax.get_ylim()[1]), 1)))
    sheet.label(title="Relevant documents by depth of the pool", x="pool depth", y="relevant documents found")
    return sheet.finish(entries, whole="xy")


def plot_growth(table: pd.DataFrame, whole: pd.DataFrame, *, by: str, place: Place | None = None) -> Axes:
    """Draw the mean number of items that some units find, and the least that there are."""
    sheet, row = Sheet.open(place), whole.iloc[0]
    # one item that a single unit found leaves no interval
    low, high = (row["chao2"] if pd.isna(row[end]) else row[end] for end in ("chao2_low", "chao2_high"))
    sheet.ax.axhspan(low, high, color=SECOND, alpha=0.12, linewidth=0, zorder=1)
    entries = [
        (draw_line(sheet, table["units"], table["expected"], FIRST, marker="o"), "found, the mean over choices"),
        (draw_level(sheet, "y", row["chao2"], "--"), f"at least there (Chao2){', and interval' if low < high else ''}"),
    ]
    sheet.limit("y", (0, 1.05 * max(float(high), 1)))
    sheet.limit("x", (0, 1.03 * len(table)))
    sheet.label(title="Items that answers have", x=f"{by}s", y="items found")
    return sheet.finish(entries, (0.6, 0.3), grid="y", whole="xy")


def plot_judged_by_rank(by_rank: pd.DataFrame, by_topic: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the share of judged documents at each rank, of an inferred pool's tables, and a line at every depth."""
    sheet = Sheet.open(place)
    depths = np.unique(by_topic["depth"].to_numpy())
    depths = depths[depths > 0]
    shown = by_rank[by_rank["rank"] <= max(2 * int(depths.max(initial=0)), 20)]
    size = 0.7 if len(shown) <= 25 else 0
    of = {
        "judged": "runs judged as deep as the pool",
        "new_judged": "their new documents",
        "other_judged": "other runs",
    }
    entries: list[tuple[Artist, str]] = []
    for (column, said), style in zip(of.items(), _PARTS, strict=True):
        if shown[column].notna().any():
            entries.append((draw_line(sheet, shown["rank"], shown[column], size=size, **style), said))
    for depth in depths:
        upright = draw_level(sheet, "x", depth, ":")
    if len(depths):
        entries.append((upright, "depth" if len(depths) == 1 else "depth of a topic"))
    sheet.limit("y", (-0.03, 1.03))
    sheet.label(title="Where the judged documents end", x="rank", y="share of the documents that is judged")
    return sheet.finish(entries, (0.5, 0.4), grid="y", whole="x")


def plot_pool_costs(table: pd.DataFrame, column: str, *, title: str, label: str, place: Place | None = None) -> Axes:
    """Draw a number of the pool of each depth over the number of its documents, the depth beside each.

    A share begins at 0; correlations are looked at closely.
    """
    sheet = Sheet.open(place)
    ax = sheet.ax
    x, y = (table[name].to_numpy(dtype=float) for name in ("documents", column))
    draw_line(sheet, x, y, FIRST, marker="o", size=0.8)
    ends = [y]
    if f"{column}_low" in table:
        ends = [table[f"{column}_low"].to_numpy(dtype=float), table[f"{column}_high"].to_numpy(dtype=float)]
        ax.fill_between(x, ends[0], ends[1], color=FIRST, alpha=0.2, linewidth=0, zorder=2)
    least = 0.0 if column == "share" else 0.7
    known = np.concatenate([[least], *(end[~np.isnan(end)] for end in ends)])
    room = 1.03 - float(known.min())
    sheet.limit("y", (float(known.min()) - 0.03 * room, 1.0 + 0.13 * room))
    sheet.limit("x", (-0.03 * x.max(initial=0), 1.05 * max(float(x.max(initial=0)), 1)))
    sheet.label(title=title, x="documents in the pool (depth beside the point)", y=label)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    sheet.finish((), (0.55, 0.4), grid="y", whole="x")
    # left above its point a depth is clear of a curve that rises ever less, and of depths before it where there is room
    right = 0.0, 0.0
    for depth, *point in zip(table["depth"], x, y, strict=True):
        left, low = (sheet.inches(pixels) for pixels in ax.transData.transform(point))
        if not np.isnan(point[1]) and (left - breadth(ax, f"{depth:,}", sheet.sizes.text) > right[0] or low > right[1]):
            where: Style = {"xytext": (-3, 2), "textcoords": "offset points", "ha": "right", "va": "bottom"}
            ax.annotate(f"{depth:,}", tuple(point), fontsize=sheet.sizes.text, **where)
            right = left, low + 1.2 * sheet.sizes.text / 72
    return ax


def plot_strategies(
    rows: pd.DataFrame,
    *,
    strategies: Sequence[str],
    column: str,
    label: str,
    against: str | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw a line for each strategy over the budget, named at its end; less that of the strategy `against`, if any."""
    sheet = Sheet.open(place)
    shares = rows["budget"].dtype.kind == "f"
    base = None if against is None else rows[rows["strategy"] == against].set_index("budget")[column]
    lines = []
    for number, name in enumerate(strategy for strategy in strategies if strategy != against):
        mine, style = rows[rows["strategy"] == name].sort_values("budget", kind="stable"), _many(number)
        x = mine["budget"] * 100 if shares else mine["budget"]
        less = 0.0 if base is None else base.reindex(mine["budget"]).to_numpy(dtype=float)
        y, band = mine[column] - less, [mine[f"{column}_{end}"] - less for end in ("low", "high")]
        sheet.ax.fill_between(x, *band, color=style["colour"], alpha=0.12, linewidth=0, zorder=2)
        line = draw_line(sheet, x, y, markevery=max(1, len(mine) // _FEW), **style)
        if len(mine):
            lines.append((line, float(x.iloc[-1]), float(y.iloc[-1]), name))
    if against is not None:
        draw_level(sheet, "y", 0)
    unit = "share of each topic's judged pool, %" if shares else "judgments per topic"
    said = label if against is None else f"{label}, less that of {against}"
    sheet.label(title="What strategies of judging reach", x=unit, y=said)
    # the name of each line stands at its end, in the axes; without a legend, no names
    ax, size = sheet.ax, sheet.sizes.text
    last = max((x for _, x, _, _ in lines), default=1.0)
    shown = sorted(lines, key=lambda line: line[2]) if sheet.place.legend else []
    texts = [sheet.short(name, 0.3) for *_, name in shown]
    share = max((breadth(ax, text, size) for text in texts), default=0.0) / (0.8 * sheet.width) + 0.03
    sheet.limit("x", (0, max(last, 1.0) / (1 - min(share, 0.5))))
    for line, *_, name in lines:
        line.set_label(name)
    ax.margins(y=0.06)
    sheet.finish(heights=(0.62, 0.45))
    # no number where there is no line
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= last * 1.001])
    low, high = ax.get_ylim()
    apart = 1.25 * size / 72 / max(sheet.axes_size[1], 0.1) * (high - low)
    name_at_right(sheet, texts, [(x, y) for _, x, y, _ in shown], last * 1.03, apart, high)
    return ax


def plot_achieved_levels(
    rows: pd.DataFrame, *, lines: str, alpha: float, of: str = "", place: Place | None = None
) -> Axes:
    """Draw the p-values of the pairs on a log axis, the largest first, a line for each measure or set of judgments."""
    sheet = Sheet.open(place)
    entries: list[tuple[Artist, str]] = []
    longest = 1
    for number, (name, mine) in enumerate(rows.groupby(lines, sort=False)):
        p = np.sort(mine["p"].dropna().to_numpy())[::-1]
        longest = max(longest, len(p))
        in_view = np.flatnonzero(p >= _LEAST_P)
        every = in_view[:: max(1, len(in_view) // _FEW)].tolist()
        # what is 0 to the last digit leaves the axes below, as all that is smaller than they show
        line = draw_line(
            sheet, np.arange(1, len(p) + 1), np.maximum(p, 0.01 * _LEAST_P), markevery=every, **_many(number)
        )
        entries.append((line, f"{name}: {mine['significant'].mean():.0%} significant"))
    level = sheet.ax.axhline(alpha, color=DARK, linewidth=sheet.sizes.line, linestyle=(0, (1, 1)), zorder=2)
    entries.append((level, f"p = {alpha:g}"))
    sheet.ax.set_yscale("log")
    sheet.limit("x", (0, longest + 1))
    sheet.limit("y", (_LEAST_P, 1.3))
    sheet.label(
        title="Which pairs of systems differ significantly",
        x="pairs of systems, from the largest p-value",
        y=f"p-value{f' ({of})' if of else ''}",
    )
    return sheet.finish(entries, numbers="x")


def plot_swap_rates(rows: pd.DataFrame, *, measure: str, wanted: float, place: Place | None = None) -> Axes:
    """Draw swap rates against the difference on the first sample, a line for each size of the samples."""
    sheet = Sheet.open(place)
    sizes = list(dict.fromkeys(rows["size"]))
    colours = blend(max(len(sizes), 2), COLOURS[4], COLOURS[0])
    entries: list[tuple[Artist, str]] = []
    for number, (size, colour) in enumerate(zip(sizes, colours, strict=False)):
        # of few topics a measure has few values, and leaves bins empty between others
        mine = rows[(rows["size"] == size) & rows["rate"].notna()].sort_values("at_least")
        if "rate_low" in mine and (number == len(sizes) - 1 or len(sizes) <= 3):
            ends = mine["rate_low"], mine["rate_high"]
            sheet.ax.fill_between(mine["at_least"], *ends, color=colour, alpha=0.15, linewidth=0, zorder=1)
        style: Style = {"marker": MARKERS[number % MOST], "markeredgewidth": 0, "size": 0.6}
        entries.append((draw_line(sheet, mine["at_least"], mine["rate"], colour, **style), f"{size:,}"))
    draw_level(sheet, "y", wanted, ":", 2)
    highest = max(wanted, rows["rate"].max()) if rows["rate"].notna().any() else wanted
    sheet.limit("y", (0, 0.05 * np.ceil(highest * 1.04 / 0.05)))
    x = f"difference on the first sample (the last point: {rows['at_least'].max():g} and above)"
    sheet.label(title=f"How often other topics reverse {measure}", x=x, y="swap rate")
    return sheet.finish(entries, title="topics in a sample")


def evenly(values: Sequence[T], most: int) -> list[T]:
    """Return at most so many values, the first and the last among them, evenly."""
    places = np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int))
    return [values[place] for place in places]


def plot_label_costs(curve: pd.DataFrame, *, labels: int, planned: float, place: Place | None = None) -> Axes:
    """Draw the width of an interval over the labels that it takes: as planned, in proportion, and at random."""
    sheet = Sheet.open(place)
    of = {"labels": "strata, as planned", "proportional": "strata, in proportion", "random": "at random"}
    entries: list[tuple[Artist, str]] = [
        (draw_line(sheet, curve[column], curve["width"], size=0.6, **style), said)
        for (column, said), style in zip(of.items(), _PARTS, strict=True)
    ]
    draw_level(sheet, "y", planned, ":")
    entries.append((draw_level(sheet, "x", labels, ":"), "the plan"))
    # narrow intervals take many labels: the few that are wanted would stand at the edge
    shown = curve[curve["width"] >= 0.7 * planned]
    most = float(shown[[*of]].max().max()) if len(shown) else float(labels)
    sheet.limit("x", (0, 1.05 * max(most, labels, 1)))
    sheet.limit("y", (0, 1.05 * max(float(curve["width"].max()), planned)))
    sheet.label(title="What a width takes", x="labels that people check", y="width of the interval")
    return sheet.finish(entries, (0.6, 0.45), grid="y", whole="x")


def plot_plans(
    rows: pd.DataFrame, *, column: str, title: str, label: str, wanted: float | None = None, place: Place | None = None
) -> Axes:
    """Draw a number over the judgments of each plan, planned as a line and reached as open markers; a level wanted."""
    sheet = Sheet.open(place)
    entries: list[tuple[Artist, str]] = []
    by = ["topics", *(name for name in ("strategy", "judge") if len(set(rows[name])) > 1)]
    groups = list(rows.groupby(by, sort=False))
    for number, ((topics, *others), mine) in enumerate(groups[:MOST]):
        style = _many(number)
        line = draw_line(sheet, mine["judgments"], mine[column], **style)
        entries.append((line, ", ".join([count(int(str(topics)), "topic"), *map(str, others)])))
        reached = {**style, "linestyle": "none", "markerfacecolor": "none", "size": 1.1}
        draw_line(sheet, mine["judgments_reached"], mine[f"{column}_reached"], **reached)
    if wanted is not None:
        entries.append((draw_level(sheet, "y", wanted, ":"), "wanted"))
    x = f"judgments (open: reached within the other half){not_shown(max(len(groups) - MOST, 0), 'line')}"
    sheet.limit("x", (0, 1.05 * max(float(rows[["judgments", "judgments_reached"]].max().max()), 1.0)))
    sheet.ax.xaxis.set_major_formatter("{x:,.0f}")
    sheet.label(title=title, x=x, y=label)
    return sheet.finish(entries, (0.6, 0.45), grid="y", whole="x")


def plot_judge_ranks(movers: pd.DataFrame, *, judge: str, measure: str, place: Place | None = None) -> Axes:
    """Draw how ranks change from people, on the left, to a judge, on the right; the best run is on top."""
    sheet = Sheet.open(place)
    ax, width, n = sheet.ax, sheet.sizes.line, max(len(movers), 2)
    up, down = movers[movers["rise"] > 0].head(_NAMED), movers[movers["rise"] < 0].tail(_NAMED)
    named = pd.concat([up, down]).sort_values("judge_rank", kind="stable")
    entries: list[tuple[Artist, str]] = []
    for rows, colour, style, said in (
        (movers[~movers["name"].isin(named["name"])], FAINT, {"linewidth": 0.6 * width, "zorder": 2}, "other runs"),
        (up, FIRST, {"marker": "o"}, "gain most ranks"),
        (down, SECOND, {"linestyle": "--", "marker": "s"}, "lose most ranks"),
    ):
        drawn = [draw_line(sheet, [0, 1], ranks, colour, **style) for ranks in rows[["rank", "judge_rank"]].to_numpy()]
        entries += [(line, said) for line in drawn[-1:]]
    ax.set_ylim(n + 0.5, 0.5)
    sheet.label(title=f"Ranks of {count(len(movers), 'run')} by {measure}", x="", y="rank")
    ax.set_xticks([0, 1], ["people", sheet.short(judge, 0.3)])
    ax.set_yticks(round_ranks(len(movers), 6))
    sheet.grid("y")
    # the names of those that move stand in the axes, right of the judge
    left, gap, axes_share = 0.04, 0.06, 0.84
    texts = [f"{sheet.short(name, 0.3)} {rise:+d}" for name, rise in named[["name", "rise"]].itertuples(index=False)]
    widths = (breadth(ax, text, sheet.sizes.text) for text in texts)
    share = max(widths, default=0) / (axes_share * sheet.width)
    right = (1 + gap + left * share) / (1 - share) if share < 0.6 else 1 + gap
    sheet.limit("x", (-left, right + left))
    sheet.key(entries, below=True)
    sheet.fit(0.75 * sheet.width if sheet.narrow else 0.55 * sheet.width)
    apart = 1.3 * sheet.sizes.text / 72 / max(sheet.axes_size[1], 0.1) * n
    name_at_right(sheet, texts, [(1.0, float(rank)) for rank in named["judge_rank"]], 1 + gap, apart, n)
    return ax


def round_ranks(n: int, most: int) -> list[int]:
    """Return rank 1 and round ranks up to `n`, about `most` of them."""
    round_numbers = (digit * 10**power for power in itertools.count() for digit in (1, 2, 5))
    step = next(number for number in round_numbers if n / number <= most)
    return [1, *range(step, n + 1, step)] if step > 1 else list(range(1, n + 1))
