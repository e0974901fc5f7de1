"""Figures with a row for each unit: numbers as dots, with their intervals as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.plots.marks import BANDS, checked_top, down, draw_dots, draw_level, finish_rows, most_rows, not_shown
from pt_reuse.plots.sheet import COLOURS, DARK, MIDDLE, MOST, Entries, Place, Sheet, Style, looks

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: of the width that a name may take
_WIDE_NAME = 0.38
_BANDS_SAID = "\n(dotted: weak, moderate, strong)"
#: who scores a re-ranked run -> colour, marker, whether it is filled, and by how much it stands above its row's middle
_SCORERS = {
    "itself": (COLOURS[1], "o", True, 0.22),
    "other": (MIDDLE, "|", True, 0.0),
    "people": (COLOURS[0], "s", False, -0.22),
}
_AGAINST = {
    "others": "over all other runs",
    "matched": "over runs that people score alike",
    "alone": "over the others, the family left out of the field",
}


def _draw_rows(
    sheet: Sheet,
    rows: pd.DataFrame,
    columns: tuple[str, str, str],
    at: Any,
    colour: Any,
    *,
    line: Any = "-",
    **dots: Any,
) -> Artist:
    """Draw the values of rows as dots, and their intervals as lines; `columns` name values, lower and upper ends."""
    value, low, high = columns
    if low in rows:
        style: Style = {"color": colour, "linewidth": sheet.sizes.line, "linestyles": line, "zorder": 2}
        sheet.ax.hlines(at, rows[low], rows[high], **style)
    return draw_dots(sheet, rows[value], at, **{"face": colour, "edge": colour, **dots})


def _draw_kinds(
    sheet: Sheet, rows: pd.DataFrame, columns: tuple[str, str, str], at: Any, kinds: dict[str, tuple[str, Style]]
) -> Entries:
    """Draw rows, each kind as a legend calls it and in its style, and return the legend where there are several."""
    entries = []
    for kind, (said, style) in kinds.items():
        mine = (rows["kind"] == kind).to_numpy()
        if mine.any():
            entries.append((_draw_rows(sheet, rows[mine], columns, at[mine], **style), said))
    return entries if len(entries) > 1 else []


def _least(values: Any, *others: float) -> float:
    return float(np.nanmin([*others, *np.asarray(values, dtype=float).ravel()]))


def _notes(*counts: tuple[int, str], noun: str) -> str:
    said = [f"{count(n, noun)} {why}" for n, why in counts if n]
    return f" ({', '.join(said)})" if said else ""


def plot_kappas(rows: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the kappa of each two, ``first second kappa kappa_low kappa_high``, the largest on top, and the bands."""
    sheet = Sheet.open(place, "pairs")
    known = rows[rows["kappa"].notna()].sort_values("kappa", ascending=False, kind="stable")
    shown = known.head(most_rows(sheet))
    columns = "kappa", "kappa_low", "kappa_high"
    _draw_rows(sheet, shown, columns, down(len(shown)), sheet.ink.first, edge="white", linewidth=0.5)
    for edge in BANDS:
        draw_level(sheet, "x", edge, ":")
    sheet.limit("x", (_least(known[["kappa", "kappa_low"]], 0.0) - 0.03, 1.03))
    rest = not_shown(len(known) - len(shown), "pair")
    sheet.label(title="Agreement of annotators", x=f"Cohen's kappa and its interval{rest}{_BANDS_SAID}")
    names = [f"{first} - {second}" for first, second in zip(shown["first"], shown["second"], strict=True)]
    return finish_rows(sheet, names, name_share=_WIDE_NAME, grid="both")


def plot_judge_taus(table: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw tau_b of each judge in a row, the highest on top, and below the judges that of other people, as rings."""
    sheet = Sheet.open(place, "judges")
    ink, columns = sheet.ink, ("tau_b", "tau_b_low", "tau_b_high")
    known = table[table["tau_b"].notna()].sort_values(["kind", "tau_b"], ascending=[True, False], kind="stable")
    rows = known.head(most_rows(sheet))
    ring: Style = {"colour": ink.strong, "face": sheet.ax.get_facecolor(), "line": ":", "marker": "D", "linewidth": 0.9}
    kinds = {
        "model": ("judge", {"colour": ink.first, "linewidth": 0.9}),
        "people": ("other person, on the documents of this person", ring),
    }
    entries = _draw_kinds(sheet, rows, columns, down(len(rows)), kinds)
    lowest = _least(rows.reindex(columns=list(columns[:2])), 1.0)
    span = max(1 - lowest, 0.1)
    sheet.limit("x", (lowest - 0.05 * span, 1 + 0.03 * span))
    counts = (len(known) - len(rows), "more not shown"), (len(table) - len(known), "without a ranking")
    more = _notes(*counts, noun="judge")
    sheet.label(title="Rankings of the runs under other labels", x=f"tau_b with people's ranking by {measure}{more}")
    return finish_rows(sheet, rows["judge"].tolist(), entries, name_share=_WIDE_NAME, grid="both")


def plot_beside_people(rows: pd.DataFrame, *, said: str, banded: bool, place: Place | None = None) -> Axes:
    """Draw a figure of each judge and of each other person, with intervals: judges above, the largest on top."""
    sheet = Sheet.open(place, "judges")
    ax, ink = sheet.ax, sheet.ink
    order = ["kind", "together", "value"]
    known = rows[rows["value"].notna()].sort_values(order, ascending=[True, False, False], kind="stable")
    square: Style = {"colour": ink.second, "face": ax.get_facecolor(), "marker": "s", "linewidth": sheet.sizes.line}
    kinds = {
        "model": ("judge", {"colour": ink.first, "linewidth": sheet.sizes.line}),
        "people": ("other people", square),
    }
    entries = _draw_kinds(sheet, known, ("value", "low", "high"), down(len(known)), kinds)
    if entries:
        ax.axhline(int((known["kind"] == "people").sum()) - 0.5, color=ink.strong, linewidth=0.6, zorder=1)
    for edge in BANDS if banded else ():
        draw_level(sheet, "x", edge, ":")
    sheet.limit("x", (_least(known[["value", "low"]], 0.0) - 0.03, 1.03))
    without = f"\n({len(rows) - len(known):,} without a value)" if len(known) < len(rows) else ""
    x = f"{said}{_BANDS_SAID if banded else ''}{without}"
    sheet.label(title="Agreement with the judgments of people", x=x)
    return finish_rows(sheet, known["judge"].tolist(), entries, name_share=_WIDE_NAME, grid="both")


def _draw_scorer(sheet: Sheet, kind: str, x: Any, y: Any, size: float, width: float) -> Artist:
    colour, marker, filled, _ = _SCORERS[kind]
    style: Style = {"markerfacecolor": colour if filled else "white", "markeredgecolor": colour, "zorder": 3}
    size, width = sheet.sizes.area**0.5 * size, width * sheet.sizes.line
    (points,) = sheet.ax.plot(x, y, linestyle="none", marker=marker, markersize=size, markeredgewidth=width, **style)
    drawn: Artist = points
    return drawn


def plot_gains(rows: pd.DataFrame, *, measure: str, people: str, place: Place | None = None) -> Axes:
    """Draw the mean gain under each scorer, a row per judge that re-ranks, the first on top."""
    sheet = Sheet.open(place, "judges")
    judges = list(dict.fromkeys(rows["judge"]))
    at = dict(zip(judges, down(len(judges)), strict=True))
    kinds = np.select([rows["same"], rows["scorer"] == people], ["itself", "people"], "other")
    entries: list[tuple[Artist, str]] = []
    for kind, said in (("itself", "by the judge itself"), ("other", "by another judge"), ("people", "by people")):
        mine, (colour, _, _, above) = rows[kinds == kind], _SCORERS[kind]
        y = mine["judge"].map(at).astype(float) + above
        if "mean_gain_low" in mine and kind != "other":
            style: Style = {"color": colour, "linewidth": sheet.sizes.line, "zorder": 2}
            sheet.ax.hlines(y, mine["mean_gain_low"], mine["mean_gain_high"], **style)
        if len(mine):
            size = 1.6 if kind == "other" else 0.9
            entries.append((_draw_scorer(sheet, kind, mine["mean_gain"], y, size, 0.8), said))
    draw_level(sheet, "x", 0)
    ends = rows.reindex(columns=["mean_gain", "mean_gain_low", "mean_gain_high"]).to_numpy(dtype=float)
    sheet.limit_around("x", [0.0, *ends.ravel()])
    sheet.label(title="Runs re-ranked by a judge's labels", x=f"mean gain in {measure}", y="re-ranked by")
    return finish_rows(sheet, judges, entries, height=2.2, title="scored")


def plot_run_gains(
    own: pd.DataFrame, people: pd.DataFrame, *, measure: str, judge: str, place: Place | None = None
) -> Axes:
    """Draw what each run gains, under the judge that re-ranks it and under people, joined, over its score before."""
    sheet = Sheet.open(place)
    x = people["score"].astype(float)
    gains = own.set_index("name").loc[people["name"], "gain"].to_numpy(), people["gain"].to_numpy(dtype=float)
    sheet.ax.vlines(x, *gains, color=sheet.ink.faint, linewidth=0.6 * sheet.sizes.line, zorder=2)
    entries = [
        (_draw_scorer(sheet, kind, x, gain, 0.75, 0.6), sheet.legend_name(said))
        for kind, gain, said in (("itself", gains[0], f"by {judge}"), ("people", gains[1], "by people"))
    ]
    draw_level(sheet, "y", 0)
    y = f"gain in {measure} by re-ranking"
    sheet.label(title=f"Runs re-ranked by {judge}", x=f"{measure} by people, before", y=y)
    return sheet.finish(entries, (0.62, 0.42), grid="y", title="scored")


def plot_forest(
    table: pd.DataFrame,
    *,
    measure: str,
    judge: str,
    confidence: float,
    top: int | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw two intervals per run, by people and a judge and by people alone, the highest estimate on top."""
    sheet = Sheet.open(place, "runs")
    ink = sheet.ink
    rows = table.iloc[table["estimate"].argsort(kind="stable").to_numpy()[::-1]].head(most_rows(sheet, top))
    at = down(len(rows))
    entries: list[tuple[Artist, str]] = []
    for prefix, shift, marker, colour, face, line, said in (
        ("estimate", 0.17, "o", ink.first, ink.first, "-", f"people and {judge}"),
        ("human", -0.17, "s", ink.second, "white", (0, (4, 1)), "people alone"),
    ):
        columns = prefix, f"{prefix}_low", f"{prefix}_high"
        style: Style = {"line": line, "face": face, "marker": marker, "area": 0.5, "linewidth": 0.8, "zorder": 4}
        entries.append((_draw_rows(sheet, rows, columns, at + shift, colour, **style), said))
    crosses: Style = {"marker": "x", "s": 0.5 * sheet.sizes.area, "linewidth": 0.8, "zorder": 3}
    entries.append((sheet.ax.scatter(rows["by_judge"], at, color=ink.strong, **crosses), f"{judge} alone"))
    every = ["estimate_low", "estimate_high", "human_low", "human_high", "by_judge", "estimate"]
    sheet.limit_around("x", rows[every], air=0.03, least=1e-3)
    rest = len(table) - len(rows)
    more = f"; {count(rest, 'more run')} not shown" if rest else ""
    title = f"Scores by few labels of people and many of {judge}"
    sheet.label(title=title, x=f"{measure} ({100 * confidence:.4g} % intervals{more})")
    return finish_rows(sheet, rows["name"].tolist(), entries, height=1.4)


def plot_filled(rows: pd.DataFrame, *, unit: str, top: int | None = None, place: Place | None = None) -> Axes:
    """Draw a line per unit from its runs' score without its uniques to the one with them filled by a judge."""
    sheet = Sheet.open(place, "lines")
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    shown = rows.head(most_rows(sheet, top))
    at = down(len(shown))
    removed, filled = (shown[f"{way}_change"].to_numpy(dtype=float) for way in ("removed", "filled"))
    draw_level(sheet, "x", 0, zorder=2)
    first, last = np.fmin(np.fmin(removed, filled), 0), np.fmax(np.fmax(removed, filled), 0)
    ax.hlines(at, first, last, color=ink.faint, linewidth=2 * sizes.line, zorder=2.2)
    judge, measure = (str(rows[column].iloc[0]) for column in ("judge", "measure"))
    values, entries = [np.zeros(1)], []
    for way, x, shift, marker, face, said in (
        ("removed", removed, -0.22, "o", "white", "uniques removed"),
        ("filled", filled, 0.22, "D", ink.first, f"filled by {judge}"),
    ):
        values.append(x)
        if f"{way}_change_low" in shown:
            ends = [shown[f"{way}_change_{end}"].to_numpy(dtype=float) for end in ("low", "high")]
            ax.hlines(at + shift, *ends, color=ink.strong, linewidth=0.5 * sizes.line, zorder=2.5)
            values += ends
        entries.append((draw_dots(sheet, x, at, face=face, edge=DARK, marker=marker, linewidth=0.8), said))
    sheet.limit_around("x", np.concatenate(values), least=0.001)
    word = "run" if unit == "name" else unit
    more = not_shown(len(rows) - len(shown), word)
    x_label = f"mean change of {measure} of the {word}'s own runs; 0 is the true score{more}"
    sheet.label(title=f"What each {word}'s own runs lose and get back", x=x_label)
    return finish_rows(sheet, shown[unit].tolist(), entries, height=1.15)


def effect_in_words(column: str, measure: str, against: str) -> str:
    """Return what the effects of judges on families of runs are."""
    equal = ", at equal scores by people" if column == "score_effect" and against != "matched" else ""
    gained = "ranks gained" if column == "rank_effect" else "score gained"
    return f"{gained} by {measure} {_AGAINST[against]}{equal}"


def plot_family_forest(
    cells: pd.DataFrame, *, column: str, measure: str, against: str, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw a row for each judge and family of runs: the effect as a point, its interval as a line."""
    sheet = Sheet.open(place, "judges and families")
    ink, columns = sheet.ink, (column, f"{column}_low", f"{column}_high")
    drawn = cells[cells[column].notna()]
    first = np.lexsort([-drawn[column].abs().to_numpy(), ~drawn["own"].to_numpy(dtype=bool)])[: most_rows(sheet, top)]
    shown = drawn.iloc[np.sort(first)]
    at, own = down(len(shown)), shown["own"].to_numpy(dtype=bool)
    if columns[1] in shown:
        style: Style = {"color": ink.strong, "linewidth": sheet.sizes.line, "zorder": 2}
        sheet.ax.hlines(at, shown[columns[1]], shown[columns[2]], **style)
    draw_level(sheet, "x", 0)
    entries: list[tuple[Artist, str]] = []
    for rows, marker, face, said in (
        (own, "s", ink.first, "the judge's own family"),
        (~own, "o", "white", "another family"),
    ):
        style = {"face": face, "edge": ink.first, "marker": marker, "linewidth": 0.9}
        entries.append((draw_dots(sheet, shown[column][rows], at[rows], **style), said))
    sheet.limit_around("x", [0.0, *shown.reindex(columns=list(columns)).to_numpy(dtype=float).ravel()], air=0.06)
    counts = (len(drawn) - len(shown), "not shown"), (len(cells) - len(drawn), "without a number")
    x = effect_in_words(column, measure, against) + _notes(*counts, noun="row")
    sheet.label(title="What judges make of families of runs", x=x)
    names = [f"{judge}: {family}" for judge, family in zip(shown["judge"], shown["family"], strict=True)]
    return finish_rows(sheet, names, entries if own.any() else (), name_share=0.39, height=1.2)


def plot_label_estimates(table: pd.DataFrame, *, confidence: float, place: Place | None = None) -> Axes:
    """Draw the numbers of a LabelEstimate with their intervals, and an open diamond where the judge puts each."""
    sheet = Sheet.open(place)
    ax, ink, sizes, at = sheet.ax, sheet.ink, sheet.sizes, down(len(table))
    ends = [table["estimate"] - table["estimate_low"], table["estimate_high"] - table["estimate"]]
    size = sizes.area**0.5
    bars: Style = {"elinewidth": sizes.line, "capsize": 0.35 * size, "zorder": 3}
    drawn = ax.errorbar(table["estimate"], at, xerr=ends, fmt="o", color=ink.first, markersize=0.7 * size, **bars)
    entries: list[tuple[Artist, str]] = [(drawn[0], f"by people, with its {100 * confidence:g} % interval")]
    has = table["judge"].notna().to_numpy()
    if has.any():
        style: Style = {"marker": "D", "linewidth": sizes.line, "zorder": 4}
        ring = draw_dots(sheet, table.loc[has, "judge"], at[has], face="none", edge=ink.second, **style)
        entries.append((ring, "by the judge's labels"))
    sheet.limit_around("x", table[["estimate_low", "estimate_high", "judge"]], least=0.02)
    sheet.limit("y", (-0.5, len(table) - 0.5))
    ax.set_yticks(at, labels=table["number"].tolist())
    ax.tick_params(axis="y", length=0, labelsize=sizes.text)
    sheet.label(title="What people found", x="estimate", y="")
    sheet.grid("x")
    sheet.ticks("x")
    sheet.key(entries)
    sheet.fit(0.9 + 2 * sizes.row * len(table))
    return ax


def plot_tau_of_pools(rows: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the mean tau_b of each pool of one type and tested group, side by side, with its spread over splits."""
    sheet = Sheet.open(place)
    ax, width = sheet.ax, sheet.sizes.line
    pools, tested = (list(dict.fromkeys(rows[column])) for column in ("pool", "tested"))
    shift = np.linspace(-0.3, 0.3, len(tested)) if len(tested) > 1 else np.zeros(1)
    kinds = looks(min(len(tested), MOST))
    entries: list[tuple[Artist, str]] = []
    for number, name in enumerate(tested):
        mine, look = rows[rows["tested"] == name], kinds[number % len(kinds)]
        x, tau, sd = mine["pool"].map(pools.index) + shift[number], mine["tau_b"], mine["tau_b_sd"].fillna(0)
        ax.vlines(x, mine["tau_b_min"], mine["tau_b_max"], color=look.colour, linewidth=0.6 * width, zorder=2)
        ends = np.maximum(tau - sd, -1), np.minimum(tau + sd, 1)
        ax.vlines(x, *ends, color=look.colour, linewidth=2.2 * width, alpha=0.6, zorder=2)
        dots = draw_dots(sheet, x, tau, face=look.colour, edge=look.edge, marker=look.marker)
        entries.append((dots, sheet.legend_name(name)))
    sheet.limit("y", (_least(rows["tau_b_min"], 0.0) - 0.05, 1.05))
    sheet.limit("x", (-0.5, len(pools) - 0.5))
    room = 0.8 * sheet.axes_size[0] / max(len(pools), 1)
    sheet.label(title="How well a pool of one type ranks others", x="type that made the pool", y="tau_b to the gold")
    ax.set_xticks(range(len(pools)), [sheet.short(pool, room / sheet.width) for pool in pools])
    return sheet.finish(entries, grid="y", numbers="y", title="tested")


def plot_overlap(result: Any, measure: Any, place: Place | None) -> Axes:
    """Draw the share of the best systems that are the same by each measure as a point, its interval as a line."""
    sheet, rows, columns = Sheet.open(place), result.table, ("overlap", "overlap_low", "overlap_high")
    _draw_rows(sheet, rows, columns, down(len(rows)), sheet.ink.first)
    sheet.limit_around("x", [0.0, 1.0, *rows.reindex(columns=list(columns)).to_numpy().ravel()])
    sheet.label(title=result.title, x="share of the best systems that are the same")
    return finish_rows(sheet, rows["measure"].tolist(), height=1.4)


def plot_rank_intervals(
    table: pd.DataFrame, *, measure: str, said: str, noun: str, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw the rank of each system as a dot and the ranks that it may have as a line, the best on top."""
    sheet = Sheet.open(place, noun)
    rows = table.head(most_rows(sheet, checked_top(top)))
    _draw_rows(sheet, rows, ("rank", "rank_low", "rank_high"), down(len(rows)), sheet.ink.first)
    sheet.limit("x", (0.5, rows["rank_high"].max() + 0.5))
    more = not_shown(len(table) - len(rows), noun.removesuffix("s"))
    sheet.label(title=f"Ranks by {measure}", x=f"rank, {said}{more}")
    return finish_rows(sheet, rows["name"].tolist(), height=0.8, whole=True)


def plot_new_runs(
    table: pd.DataFrame,
    rivals: dict[str, float],
    *,
    measure: str,
    confidence: float,
    top: int | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw each new run's score as judged as a ring, as predicted as a dot with its interval, and under any labels.

    The best is on top; a dashed line is at the score of each rival.
    """
    sheet = Sheet.open(place, "runs")
    ink, line = sheet.ink, sheet.sizes.line
    best = table["predicted"].fillna(table["score"]).to_numpy().argsort(kind="stable")[::-1]
    rows = table.iloc[best].head(most_rows(sheet, checked_top(top)))
    at, speaks = down(len(rows)), rows["predicted"].notna().to_numpy()
    style: Style = {"color": ink.faint, "linewidth": 0.8 * line, "zorder": 1.5}
    every = sheet.ax.hlines(at, rows["score_low"], rows["score_high"], **style)
    entries: list[tuple[Artist, str]] = [(every, "under every completion")]
    if speaks.any():
        columns = "predicted", "predicted_low", "predicted_high"
        dots = _draw_rows(sheet, rows[speaks], columns, at[speaks], ink.first, linewidth=line)
        entries.append((dots, f"predicted, {100 * confidence:.4g} %"))
    rings = draw_dots(sheet, rows["score"], at, face="none", edge=ink.second, linewidth=0.9)
    entries.append((rings, "as judged"))
    for number, (name, score) in enumerate(rivals.items()):
        dashes = [(0, (4, 2)), (0, (1, 1)), (0, (6, 1, 1, 1))][number % 3]
        drawn = sheet.ax.axvline(score, color=ink.strong, linewidth=line, linestyle=dashes, zorder=1)
        entries.append((drawn, sheet.legend_name(name)))
    ends = rows[["score_low", "score_high"]].to_numpy(dtype=float).ravel()
    sheet.limit_around("x", [*ends, *rivals.values()], air=0.04)
    more = not_shown(len(table) - len(rows), "run")
    sheet.label(title=f"What new runs score by {measure}", x=f"{measure}{more}")
    return finish_rows(sheet, rows["name"].tolist(), entries, height=1.2)


def plot_estimators(table: pd.DataFrame, *, measure: str, place: Place | None = None) -> Axes:
    """Draw the mean error of each estimator as a dot, the smallest on top."""
    sheet = Sheet.open(place)
    _draw_rows(sheet, table, ("error", "error_low", "error_high"), down(len(table)), sheet.ink.first)
    sheet.limit_around("x", [0.0, *table["error"].tolist()], air=0.06)
    sheet.label(title=f"Errors of predicted {measure}", x="mean absolute error of the score")
    return finish_rows(sheet, [name.replace("_", " ") for name in table["estimator"]], height=1.2)


def plot_labels_needed(
    table: pd.DataFrame, *, confidence: float, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw the labels that the decision on each pair takes as a dot, and a line to what most courses need at most."""
    sheet = Sheet.open(place, "pairs")
    rows = table.sort_values("expected", ascending=False, kind="stable").head(most_rows(sheet, checked_top(top)))
    _draw_rows(sheet, rows, ("expected", "expected", "most"), down(len(rows)), sheet.ink.first)
    sheet.limit_around("x", [0.0, *rows["most"].tolist()], air=0.04)
    more = not_shown(len(table) - len(rows), "pair")
    said = f"labels until it is decided, and what {100 * confidence:.4g} % need at most{more}"
    sheet.label(title="What decisions take", x=said)
    names = [f"{first} > {second}" for first, second in zip(rows["first"], rows["second"], strict=True)]
    return finish_rows(sheet, names, name_share=0.39, height=0.9, whole=True)
