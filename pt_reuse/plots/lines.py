"""Figures of lines: over depths, budgets, sizes and differences, and ranks from people to a judge."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.plots.marks import draw_dots, draw_level, draw_line, not_shown
from pt_reuse.plots.run_scores import groups_of
from pt_reuse.plots.sheet import COLOURS, MARKERS, MOST, Entries, Place, Sheet, Style, blend, breadth, looks, plain

T = TypeVar("T")

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: the second time that colours or markers come round, the line is broken
_STROKES = ("-", "--", ":")
#: markers of a line at most
_FEW = 12
#: runs either way that are drawn strongly where ranks change
_NAMED = 3


def _many_looks(number: int) -> dict[str, Any]:
    """Return stroke, colour and marker of one of many lines."""
    stroke, (colour, marker) = list(itertools.product(_STROKES, zip(COLOURS, MARKERS, strict=True)))[number % 18]
    return {"linestyle": stroke, "colour": colour, "marker": marker}


def plot_depths(table: pd.DataFrame, *, by: str | None = None, place: Place | None = None) -> Axes:
    """Draw the mean share of unjudged documents of each group over the depths."""
    sheet = Sheet.open(place)
    depths = sorted(set(table["depth"]))
    grouped = table.assign(group=groups_of(table, by))
    wide = grouped.pivot_table(index="group", columns="depth", values="unjudged")
    most = wide.sort_values(depths[-1], ascending=False, kind="stable").index[:MOST].tolist()
    runs = grouped.groupby("group")["name"].nunique()
    entries: list[tuple[Artist, str]] = []
    for name, look in zip(most, looks(len(most)), strict=True):
        line = draw_line(sheet, range(len(depths)), wide.loc[name, depths], look.colour, marker=look.marker)
        entries.append((line, sheet.legend_name(name, f" ({count(int(runs[name]), 'run')})")))
    known = table[table["contributed"].fillna(False).astype(bool) & table["unjudged_without_own"].notna()]
    without = known.groupby("depth")["unjudged_without_own"].mean()
    if len(known):
        at = [depths.index(depth) for depth in without.index]
        line = draw_line(sheet, at, without, sheet.ink.strong, linestyle=":", zorder=2)
        entries.append((line, "contributors, had they not taken part"))
    sheet.ax.set_xticks(range(len(depths)), [f"{depth:,}" for depth in depths])
    sheet.limit("x", (-0.3, len(depths) - 0.7))
    sheet.limit("y", (0, 1.08 * max([0.05, float(wide.loc[most].to_numpy().max()), *without])))
    rest = not_shown(len(wide) - len(most), str(by))
    sheet.label(
        title="Unjudged documents by depth", x=f"documents from the top{rest}", y="share unjudged, mean over runs"
    )
    return sheet.finish(entries, (0.62, 0.42), grid="y", numbers="y", title=by)


def plot_unjudged_runs(
    shares: NDArray[np.float64],
    run_table: pd.DataFrame,
    *,
    depth: int,
    by: str | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw the share of unjudged documents of each run, the mean and the quartiles over (topics, runs), most first."""
    sheet = Sheet.open(place)
    known = ~np.isnan(shares)
    filled = np.where(known, shares, 0.0)
    mean = filled.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    quartiles = np.array([np.percentile(of[has], (25, 75)) if has.any() else (np.nan, np.nan)
                          for of, has in zip(shares.T, known.T, strict=True)]).reshape(-1, 2)  # fmt: skip
    order = np.argsort(-mean, kind="stable")
    place_of = np.empty(len(order))
    place_of[order] = np.arange(1, len(order) + 1)
    group = groups_of(run_table, by)
    first = dict.fromkeys(group[order].tolist())
    names = list(first)[:MOST]
    entries: list[tuple[Artist, str]] = []
    for name, look in zip(names, looks(len(names)), strict=True):
        mine = group == name
        sheet.ax.vlines(place_of[mine], *quartiles[mine].T, color=look.colour, linewidth=0.6, zorder=2)
        style: Style = {"face": look.colour, "edge": look.edge, "marker": look.marker, "area": 0.6}
        dots = draw_dots(sheet, place_of[mine], mean[mine], **style)
        entries.append((dots, sheet.legend_name(name, f" ({count(int(mine.sum()), 'run')})")))
    rest = not_shown(int((~np.isin(group, names)).sum()), "run")
    sheet.limit("x", (0.2, len(order) + 0.8))
    sheet.limit("y", (-0.02, max(0.1, float(np.nanmax(np.append(quartiles, mean), initial=0.0)) * 1.05)))
    sheet.label(
        title=f"Unjudged documents down to rank {depth}",
        x=f"runs, those with most unjudged first{rest}",
        y="share unjudged: mean, quartiles of topics",
    )
    return sheet.finish(entries, (0.62, 0.42), grid="y", whole="x", title=by)


def plot_found(
    table: pd.DataFrame, *, column: str, units: Sequence[str], judged_to: int, place: Place | None = None
) -> Axes:
    """Draw how many relevant documents the pool of each unit finds against its depth: in all, and, broken, alone."""
    sheet = Sheet.open(place)
    entries: list[tuple[Artist, str]] = []
    for name, look in zip(units, looks(len(units)), strict=True):
        rows = table[table[column] == name].sort_values("depth", kind="stable")
        for values, stroke, face, said in (("relevant", "-", look.colour, ""), ("unique", "--", "none", ", alone")):
            style: Style = {"linestyle": stroke, "marker": look.marker, "markerfacecolor": face}
            every = max(1, len(rows) // 10)
            line = draw_line(sheet, rows["depth"], rows[values], look.colour, markevery=every, **style)
            entries.append((line, sheet.legend_name(name, said)))
    deepest = int(table["depth"].max())
    if 0 < judged_to < deepest:
        entries.append((draw_level(sheet, "x", judged_to, ":"), "all is judged up to here"))
    sheet.limit("x", (0, 1.02 * deepest))
    sheet.limit("y", (0, max(float(sheet.ax.get_ylim()[1]), 1)))
    sheet.label(title="Relevant documents by depth of the pool", x="pool depth", y="relevant documents found")
    return sheet.finish(entries, whole="xy")


def plot_judged_by_rank(by_rank: pd.DataFrame, by_topic: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the share of judged documents at each rank, of an inferred pool's tables, and a line at every depth."""
    sheet = Sheet.open(place)
    ink, depths = sheet.ink, np.unique(by_topic["depth"].to_numpy())
    depths = depths[depths > 0]
    shown = by_rank[by_rank["rank"] <= max(2 * int(depths.max(initial=0)), 20)]
    size = 0.7 if len(shown) <= 25 else 0
    entries: list[tuple[Artist, str]] = []
    for column, label, colour, stroke, marker in (
        ("judged", "runs judged as deep", ink.first, "-", "o"),
        ("new_judged", "their new documents", ink.second, "--", "D"),
        ("other_judged", "other runs", ink.faint, "-.", "^"),
    ):
        if shown[column].notna().any():
            line = draw_line(sheet, shown["rank"], shown[column], colour, linestyle=stroke, marker=marker, size=size)
            entries.append((line, label))
    for depth in depths:
        upright = draw_level(sheet, "x", depth, ":")
    if len(depths):
        entries.append((upright, "depth" if len(depths) == 1 else "depth of a topic"))
    sheet.limit("y", (-0.03, 1.03))
    sheet.label(title="Where the judged documents end", x="rank", y="share of the documents that is judged")
    return sheet.finish(entries, (0.5, 0.4), grid="y", whole="x")


def plot_pool_costs(table: pd.DataFrame, column: str, *, title: str, label: str, place: Place | None = None) -> Axes:
    """Draw a number of the pool of each depth over the number of its documents, the depth above each."""
    sheet = Sheet.open(place)
    ax, ink = sheet.ax, sheet.ink
    x, y = (table[name].to_numpy(dtype=float) for name in ("documents", column))
    draw_line(sheet, x, y, ink.first, marker="o", size=0.8)
    ends = [y, y]
    if f"{column}_low" in table:
        ends = [table[f"{column}_low"].to_numpy(dtype=float), table[f"{column}_high"].to_numpy(dtype=float)]
        ax.fill_between(x, ends[0], ends[1], color=ink.first, alpha=0.2, linewidth=0, zorder=2)
    known = np.concatenate([end[~np.isnan(end)] for end in ends])
    sheet.limit("y", (min(0.0, float(known.min(initial=0.0))) - 0.03, 1.14))
    sheet.limit("x", (0, 1.05 * max(float(x.max(initial=0)), 1)))
    sheet.label(title=title, x="documents in the pool (depth beside the point)", y=label)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    sheet.finish((), (0.55, 0.4), grid="y", whole="x")
    # each depth above its point, the deepest first, as far as they do not touch
    free = float("inf")
    for depth, documents, value in reversed(list(zip(table["depth"], x, y, strict=True))):
        middle = sheet.inches(ax.transData.transform((documents, 1.0))[0])
        half = breadth(ax, f"{depth:,}", sheet.sizes.text) / 2
        if middle + half < free and not np.isnan(value):
            where: Style = {"xytext": (0, 3), "textcoords": "offset points", "ha": "center", "va": "bottom"}
            ax.annotate(f"{depth:,}", (documents, value), fontsize=sheet.sizes.text, **where)
            free = middle - half - 0.04
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
    for number, name in enumerate(one for one in strategies if one != against):
        mine, look = rows[rows["strategy"] == name].sort_values("budget", kind="stable"), _many_looks(number)
        x = mine["budget"] * 100 if shares else mine["budget"]
        less = 0.0 if base is None else base.reindex(mine["budget"]).to_numpy(dtype=float)
        y = mine[column] - less
        sheet.ax.fill_between(x, mine[f"{column}_low"] - less, mine[f"{column}_high"] - less, color=look["colour"],
                              alpha=0.12, linewidth=0, zorder=2)  # fmt: skip
        line = draw_line(sheet, x, y, markevery=max(1, len(mine) // _FEW), **look)
        if len(mine):
            lines.append((line, float(x.iloc[-1]), float(y.iloc[-1]), name))
    if against is not None:
        draw_level(sheet, "y", 0)
    unit = "share of each topic's judged pool, %" if shares else "judgments per topic"
    said = label if against is None else f"{label}, less that of {against}"
    sheet.label(title="What strategies of judging reach", x=unit, y=said)
    return _name_ends(sheet, lines)


def _name_ends(sheet: Sheet, lines: Sequence[tuple[Artist, float, float, str]]) -> Axes:
    """Write the name of each line at its end, in the axes, and finish the figure; without a legend, no names."""
    ax, size = sheet.ax, sheet.sizes.text
    last = max((x for _, x, _, _ in lines), default=1.0)
    texts = [sheet.short(name, 0.3) for *_, name in lines] if sheet.place.legend else []
    share = max((breadth(ax, text, size) for text in texts), default=0.0) / (0.8 * sheet.width) + 0.03
    sheet.limit("x", (0, max(last, 1.0) / (1 - min(share, 0.5))))
    for line, *_, name in lines:
        line.set_label(name)
    ax.margins(y=0.06)
    sheet.grid()
    sheet.ticks("x")
    sheet.ticks("y")
    sheet.fit((0.62 if sheet.narrow else 0.45) * sheet.width)
    # no number where there is no line
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= last * 1.001])
    low, high = ax.get_ylim()
    order = sorted(range(len(texts)), key=lambda i: lines[i][2])
    apart = 1.25 * size / 72 / max(sheet.axes_size[1], 0.1) * (high - low)
    places = _spread(np.array([lines[i][2] for i in order]), apart, high)
    thin: Style = {"arrowstyle": "-", "linewidth": 0.5, "color": sheet.ink.strong, "shrinkA": 1, "shrinkB": 2}
    for i, at in zip(order, places, strict=True):
        _, x, y, _ = lines[i]
        ax.annotate(texts[i], (x, y), xytext=(last * 1.03, at), fontsize=size, va="center", arrowprops=thin)
    return ax


def plot_achieved_levels(
    rows: pd.DataFrame, *, lines: str, alpha: float, of: str = "", place: Place | None = None
) -> Axes:
    """Draw the p-values of the pairs, the largest first, in a line for each measure or set of judgments."""
    sheet = Sheet.open(place)
    entries: list[tuple[Artist, str]] = []
    longest, top = 1, 4 * alpha
    for number, (name, mine) in enumerate(rows.groupby(lines, sort=False)):
        p = np.sort(mine["p"].dropna().to_numpy())[::-1]
        longest, in_view = max(longest, len(p)), np.flatnonzero(p <= top)
        every = in_view[:: max(1, len(in_view) // _FEW)].tolist()
        line = draw_line(sheet, np.arange(1, len(p) + 1), p, markevery=every, **_many_looks(number))
        entries.append((line, f"{name}: {mine['significant'].mean():.0%} significant"))
    ink, width = sheet.ink.strong, sheet.sizes.line
    level = sheet.ax.axhline(alpha, color=ink, linewidth=width, linestyle=(0, (1, 1)), zorder=2)
    entries.append((level, f"p = {alpha:g}"))
    sheet.limit("x", (0, longest + 1))
    sheet.limit("y", (0, min(1.0, top)))
    sheet.label(
        title="Which pairs of systems differ significantly",
        x="pairs of systems, from the largest p-value",
        y=f"p-value{f' ({of})' if of else ''}",
    )
    return sheet.finish(entries)


def plot_swap_rates(
    rows: pd.DataFrame, *, by_size: bool, measure: str, wanted: float, place: Place | None = None
) -> Axes:
    """Draw swap rates: a line for each size of the samples against the difference, or a line for each bin by size."""
    sheet = Sheet.open(place)
    level, line = ("size", "at_least") if by_size else ("at_least", "size")
    names = _chosen_bins(rows, line) if by_size else list(dict.fromkeys(rows[line]))
    colours = blend(max(len(names), 2), COLOURS[4], COLOURS[0])[:: -1 if by_size else 1]
    entries: list[tuple[Artist, str]] = []
    for number, (name, colour) in enumerate(zip(names, colours, strict=False)):
        # of few topics a measure has few values, and leaves bins empty between others
        mine = rows[(rows[line] == name) & rows["rate"].notna()].sort_values(level)
        darkest = number == (0 if by_size else len(names) - 1)
        if "rate_low" in mine and (darkest or len(names) <= 3):
            ends = mine["rate_low"], mine["rate_high"]
            sheet.ax.fill_between(mine[level], *ends, color=colour, alpha=0.15, linewidth=0, zorder=1)
        stroke, marker = _STROKES[number // len(MARKERS) % len(_STROKES)], MARKERS[number % len(MARKERS)]
        style: Style = {"linestyle": stroke, "marker": marker, "markeredgewidth": 0, "size": 0.6}
        drawn = draw_line(sheet, mine[level], mine["rate"], colour, **style)
        entries.append((drawn, f"from {name:g}" if by_size else f"{name:,}"))
    draw_level(sheet, "y", wanted, ":", 2)
    highest = max(wanted, rows["rate"].max()) if rows["rate"].notna().any() else wanted
    sheet.limit("y", (0, 0.05 * np.ceil(highest * 1.04 / 0.05)))
    last = rows["at_least"].max()
    across = "topics in a sample" if by_size else f"difference on the first sample (the last point: {last:g} and above)"
    sheet.label(title=f"How often other topics reverse {measure}", x=across, y="swap rate")
    title = "difference" if by_size else "topics in a sample"
    return sheet.finish(entries, whole="x" if by_size else "", title=title)


def _chosen_bins(rows: pd.DataFrame, line: str) -> list[float]:
    """Return the bins to draw: those in which swaps happen, four at most, evenly."""
    seen = rows[rows["rate"] > 0].groupby(line)["rate"].max()
    bins = [float(name) for name, rate in seen.items() if rate >= 0.001] or [float(rows[line].min())]
    return evenly(bins, 4)


def evenly(values: Sequence[T], most: int) -> list[T]:
    """Return at most so many values, the first and the last among them, evenly."""
    places = np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int))
    return [values[place] for place in places]


def plot_label_costs(curve: pd.DataFrame, *, labels: int, planned: float, place: Place | None = None) -> Axes:
    """Draw the width of an interval over the labels that it takes: as planned, in proportion, and at random."""
    sheet = Sheet.open(place)
    ink = sheet.ink
    entries: list[tuple[Artist, str]] = []
    for column, label, colour, stroke, marker in (
        ("labels", "strata, as planned", ink.first, "-", "o"),
        ("proportional", "strata, in proportion", ink.second, "--", "D"),
        ("random", "at random", ink.faint, "-.", "^"),
    ):
        style: Style = {"linestyle": stroke, "marker": marker, "size": 0.6}
        entries.append((draw_line(sheet, curve[column], curve["width"], colour, **style), label))
    draw_level(sheet, "y", planned, ":")
    entries.append((draw_level(sheet, "x", labels, ":"), "the plan"))
    # narrow intervals take many labels: the few that are wanted would stand at the edge
    shown = curve[curve["width"] >= 0.7 * planned]
    most = float(shown[["labels", "proportional", "random"]].max().max()) if len(shown) else float(labels)
    sheet.limit("x", (0, 1.05 * max(most, labels, 1)))
    sheet.limit("y", (0, 1.05 * max(float(curve["width"].max()), planned)))
    sheet.label(title="What a width takes", x="labels that people check", y="width of the interval")
    return sheet.finish(entries, (0.6, 0.45), grid="y", whole="x")


def plot_plans(
    rows: pd.DataFrame, *, column: str, label: str, wanted: float | None = None, place: Place | None = None
) -> Axes:
    """Draw a number over the judgments of each plan, planned as a line and reached as open markers; a level wanted."""
    sheet = Sheet.open(place)
    entries: list[tuple[Artist, str]] = []
    by = ["topics", *(name for name in ("strategy", "judge") if len(set(rows[name])) > 1)]
    groups = list(rows.groupby(by, sort=False))
    for number, (key, mine) in enumerate(groups[: len(COLOURS)]):
        look = _many_looks(number)
        entries.append((draw_line(sheet, mine["judgments"], mine[column], **look), _plan_name(key)))
        reached = {**look, "linestyle": "none", "markerfacecolor": "none", "size": 1.1}
        draw_line(sheet, mine["judgments_reached"], mine[f"{column}_reached"], **reached)
    if wanted is not None:
        entries.append((draw_level(sheet, "y", wanted, ":"), "wanted"))
    x = f"judgments (open: reached within the other half){not_shown(max(len(groups) - len(COLOURS), 0), 'line')}"
    sheet.limit("x", (0, 1.05 * max(float(rows[["judgments", "judgments_reached"]].max().max()), 1.0)))
    sheet.ax.xaxis.set_major_formatter("{x:,.0f}")
    sheet.label(title="What judgments reach", x=x, y=label)
    return sheet.finish(entries, (0.6, 0.45), grid="y", whole="x")


def _plan_name(key: tuple[object, ...]) -> str:
    topics, *others = key
    return ", ".join([count(int(str(topics)), "topic"), *map(str, others)])


def plot_sizes(rows: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw agreement against the size of one part of a corpus, a line for each size of the other."""
    sheet = Sheet.open(place)
    swapped = rows.rename(columns={"size": "other_size", "other_size": "size"})
    both = pd.concat([rows, swapped], ignore_index=True).drop_duplicates(["size", "other_size"])
    lines = [(f"{int(size):,}", mine) for size, mine in both.groupby("other_size", sort=True)]
    entries = _draw_with_errors(sheet, lines, "size", column)
    sheet.limit("x", (0, float(both["size"].max()) * 1.05))
    sheet.label(title="Agreement of two parts by their sizes", x="documents drawn for one part", y=label)
    return _finish_beside(sheet, entries, "documents of the other part")


def plot_source_shares(rows: pd.DataFrame, *, column: str, label: str, place: Place | None = None) -> Axes:
    """Draw agreement of mixed parts against the share of each that is of its source, a line for each two sources."""
    sheet = Sheet.open(place)
    shown = rows.assign(share=100 * rows["share"])
    several = len(set(shown["size"])) > 1
    lines = []
    for key, mine in shown.groupby(["source", "size"] if several else ["source"], sort=False):
        lines.append((f"{key[0]}, {int(key[1]):,} documents" if several else str(key[0]), mine))
    entries = _draw_with_errors(sheet, lines, "share", column)
    sheet.limit("x", (-3, 103))
    sheet.label(title="Agreement by the share of the sources", x="share of each part from its source, %", y=label)
    return _finish_beside(sheet, entries, "sources")


def _draw_with_errors(
    sheet: Sheet, lines: Sequence[tuple[str, pd.DataFrame]], across: str, column: str
) -> list[tuple[Artist, str]]:
    """Draw lines with standard errors, neighbours of which differ in colour, marker and stroke."""
    entries: list[tuple[Artist, str]] = []
    ends: list[float] = []
    size, width = sheet.sizes.area**0.5 * 0.8, sheet.sizes.line
    for number, (name, rows) in enumerate(lines):
        mine = rows.sort_values(across, kind="stable")
        error = mine[f"{column}_se"].fillna(0)
        drawn = sheet.ax.errorbar(
            mine[across],
            mine[column],
            yerr=error,
            color=COLOURS[number % len(COLOURS)],
            linestyle=("-", "--", "-.", ":")[number % 4],
            linewidth=width,
            elinewidth=0.7 * width,
            capsize=2,
            marker=MARKERS[number % len(MARKERS)],
            markersize=size,
            zorder=3,
        )
        # the legend shows the line and its marker, without the bar of an error
        entries.append((drawn.lines[0], plain(name)))
        ends += [float((mine[column] - error).min()), float((mine[column] + error).max())]
    seen = [end for end in ends if not np.isnan(end)] or [0.0, 1.0]
    # differences of a few hundredths are what there is to see; 0 need not be in view
    room = max(0.12 * (max(seen) - min(seen)), 0.01)
    sheet.limit("y", (min(seen) - room, max(seen) + room))
    return entries


def _finish_beside(sheet: Sheet, entries: Entries, title: str) -> Axes:
    """Finish a figure that is as high as its legend at least, where that stands beside the axes."""
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.key(entries, title)
    key = sheet.ax.get_legend()
    n = 0 if key is None or sheet.below else len(key.get_texts()) + 1
    sheet.fit(max(0.62 * sheet.width if sheet.narrow else 0.42 * sheet.width, 1.4 * n * sheet.sizes.text / 72))
    return sheet.ax


def plot_judge_ranks(movers: pd.DataFrame, *, judge: str, measure: str, place: Place | None = None) -> Axes:
    """Draw how ranks change from people, on the left, to a judge, on the right; the best run is on top."""
    sheet = Sheet.open(place)
    ax, ink, width, n = sheet.ax, sheet.ink, sheet.sizes.line, len(movers)
    up, down = movers[movers["rise"] > 0].head(_NAMED), movers[movers["rise"] < 0].tail(_NAMED)
    named = pd.concat([up, down]).sort_values("judge_rank", kind="stable")
    entries: list[tuple[Artist, str]] = []
    for rows, colour, style, said in (
        (movers[~movers["name"].isin(named["name"])], ink.faint, {"linewidth": 0.6 * width, "zorder": 2}, "other runs"),
        (up, ink.first, {"marker": "o"}, "gain most ranks"),
        (down, ink.second, {"linestyle": "--", "marker": "s"}, "lose most ranks"),
    ):
        drawn = [draw_line(sheet, [0, 1], ranks, colour, **style) for ranks in rows[["rank", "judge_rank"]].to_numpy()]
        entries += [(line, said) for line in drawn[-1:]]
    ax.set_ylim(max(n, 2) + 0.5, 0.5)
    sheet.label(title=f"Ranks of {count(n, 'run')} by {measure}", x="", y="rank")
    ax.set_xticks([0, 1], ["people", sheet.short(judge, 0.3)])
    ax.set_yticks(round_ranks(n, 6))
    sheet.grid("y")
    _name_movers(sheet, named, entries, max(n, 2))
    return ax


def _name_movers(sheet: Sheet, named: pd.DataFrame, entries: Entries, n: int) -> None:
    """Write names in the axes, right of the judge, and fit the figure."""
    ax, size, left, gap, axes_share = sheet.ax, sheet.sizes.text, 0.04, 0.06, 0.84
    texts = [f"{sheet.short(name, 0.3)} {rise:+d}" for name, rise in named[["name", "rise"]].itertuples(index=False)]
    share = max((breadth(ax, text, size) for text in texts), default=0) / (axes_share * sheet.width)
    right = (1 + gap + left * share) / (1 - share) if share < 0.6 else 1 + gap
    sheet.limit("x", (-left, right + left))
    sheet.key(entries, below=True)
    sheet.fit(0.75 * sheet.width if sheet.narrow else 0.55 * sheet.width)
    apart = 1.3 * size / 72 / max(sheet.axes_size[1], 0.1) * n
    ranks = named["judge_rank"].to_numpy(dtype=float)
    arrow: Style = {"arrowstyle": "-", "linewidth": 0.4, "color": sheet.ink.strong, "shrinkA": 1, "shrinkB": 3}
    for text, rank, at in zip(texts, ranks, _spread(ranks, apart, n), strict=True):
        ax.annotate(text, (1.0, rank), xytext=(1 + gap, at), fontsize=size, va="center", arrowprops=arrow)


def round_ranks(n: int, most: int) -> list[int]:
    """Return rank 1 and round ranks up to `n`, about `most` of them."""
    round_numbers = (digit * 10**power for power in itertools.count() for digit in (1, 2, 5))
    step = next(number for number in round_numbers if n / number <= most)
    return [1, *range(step, n + 1, step)] if step > 1 else list(range(1, n + 1))


def _spread(wanted: NDArray[np.float64], apart: float, last: float) -> list[float]:
    """Return places in order, no two nearer than `apart`, near those wanted and none beyond the last."""
    found = wanted.tolist()
    for i in range(1, len(found)):
        found[i] = max(found[i], found[i - 1] + apart)
    if found:
        found[-1] = min(found[-1], last)
    for i in range(len(found) - 2, -1, -1):
        found[i] = min(found[i], found[i + 1] - apart)
    return found
