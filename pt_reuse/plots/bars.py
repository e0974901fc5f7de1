"""Figures of lying bars, of cells with a shade and a number, and with a place for each topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.errors import count
from pt_reuse.plots.forests import effect_in_words
from pt_reuse.plots.lines import round_ranks
from pt_reuse.plots.marks import (
    HATCH,
    MOST_IN_COLUMN,
    MOST_ROWS,
    darker,
    down,
    draw_bars,
    draw_cells,
    draw_dots,
    draw_level,
    draw_line,
    finish_rows,
    frame,
    hatched_ground,
    name_points,
    shading,
    swatch,
)
from pt_reuse.plots.sheet import (
    COLOURS,
    DARK,
    FAINT,
    FIRST,
    REST,
    SECOND,
    Place,
    Sheet,
    Style,
    blend,
    breadth,
    of_tau,
    plain,
    shortened,
)

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
        top=top,
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
        top=top,
        title=f"The ranking without each {word}",
        x=f"most ranks that a run loses by {measure} without the {word}; beside it the run, and tau_b{none}",
    )


def plot_recovery(
    recovery: pd.DataFrame, *, left_out: str, lost: int, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw how many of the `lost` documents that are lost without a type each run of another type retrieves."""
    return draw_bars(
        place,
        recovery["name"].tolist(),
        [("recovered", recovery["recovered"].to_numpy())],
        [("", f"{n:,}") for n in recovery["recovered"]],
        word="run",
        top=top,
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
    ahead = dict.fromkeys([*rows["first"], *rows["second"]], 0.0)
    for run, other, difference in rows[["first", "second", "difference"]].itertuples(index=False):
        ahead[run] += difference
        ahead[other] -= difference
    ax, names = sheet.ax, sorted(ahead, key=lambda name: -round(ahead[name], 9))
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
    sheet, labels = Sheet.open(place), (list(counts.index), list(counts.columns))
    draw_cells(sheet, shares.to_numpy(dtype=float), texts, labels, darker(), (0, 1.0), upwards=True)
    sheet.label(title="How often each two labels meet", x=said, y="label of people")
    sheet.fit(max(3.2 * sheet.sizes.text / 72 * len(counts), 0.13 * sheet.width * len(counts) ** 0.5))
    for known, bound, line in zip(labels, lowest, (sheet.ax.axhline, sheet.ax.axvline), strict=True):
        below = sum(bound is not None and label < bound for label in known)
        if 0 < below < len(known):
            line(below - 0.5, color=DARK, linewidth=1.6)
    return sheet.ax
