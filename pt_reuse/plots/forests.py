"""Figures with a row for each unit: numbers as dots, with their intervals as lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pt_reuse.plots.marks import (
    BANDS,
    Kind,
    down,
    draw_dots,
    draw_intervals,
    draw_kinds,
    draw_level,
    finish_rows,
    most_rows,
    not_shown,
    notes,
)
from pt_reuse.plots.sheet import COLOURS, DARK, FAINT, FIRST, MIDDLE, SECOND, Place, Sheet, Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: of the width that a name may take
_WIDE_NAME = 0.38
_BANDS_SAID = "\n(dotted: weak, moderate, strong)"
_PEOPLE = Kind("by people", FIRST, "s", hollow=True, shift=-0.22)
_ITSELF = Kind("by the judge itself", COLOURS[1], shift=0.22)


def _least(values: Any, *others: float) -> float:
    return float(np.nanmin([*others, *np.asarray(values, dtype=float).ravel()]))


def plot_kappas(rows: pd.DataFrame, *, place: Place | None = None) -> Axes:
    """Draw the kappa of each two, ``first second kappa kappa_low kappa_high``, the largest on top, and the bands."""
    sheet = Sheet.open(place, "pairs")
    known = rows[rows["kappa"].notna()].sort_values("kappa", ascending=False, kind="stable")
    shown = known.head(most_rows(sheet))
    draw_intervals(sheet, shown, down(len(shown)), ("kappa", "kappa_low", "kappa_high"), Kind())
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
    known = table[table["tau_b"].notna()].sort_values(["kind", "tau_b"], ascending=[True, False], kind="stable")
    rows = known.head(most_rows(sheet))
    people = Kind("other person, on the documents of this person", DARK, "D", hollow=True, stroke=":")
    columns = "tau_b", "tau_b_low", "tau_b_high"
    entries = draw_kinds(sheet, rows, columns, {"model": Kind("judge"), "people": people})
    lowest = _least(rows.reindex(columns=list(columns[:2])), 1.0)
    span = max(1 - lowest, 0.1)
    sheet.limit("x", (lowest - 0.05 * span, 1 + 0.03 * span))
    counts = (len(known) - len(rows), "more not shown"), (len(table) - len(known), "without a ranking")
    x = f"tau_b with people's ranking by {measure}{notes(*counts, noun='judge')}"
    sheet.label(title="Rankings of the runs under other labels", x=x)
    return finish_rows(sheet, rows["judge"].tolist(), entries, name_share=_WIDE_NAME, grid="both")


def plot_beside_people(rows: pd.DataFrame, *, said: str, place: Place | None = None) -> Axes:
    """Draw the kappa of each judge and of each other person, with intervals: judges above, the largest on top."""
    sheet = Sheet.open(place, "judges")
    order = ["kind", "together", "value"]
    known = rows[rows["value"].notna()].sort_values(order, ascending=[True, False, False], kind="stable")
    people = Kind("other people", SECOND, "s", hollow=True)
    entries = draw_kinds(sheet, known, ("value", "low", "high"), {"model": Kind("judge"), "people": people})
    if len(entries) > 1:
        sheet.ax.axhline(int((known["kind"] == "people").sum()) - 0.5, color=DARK, linewidth=0.6, zorder=1)
    for edge in BANDS:
        draw_level(sheet, "x", edge, ":")
    sheet.limit("x", (_least(known[["value", "low"]], 0.0) - 0.03, 1.03))
    without = f"\n({len(rows) - len(known):,} without a value)" if len(known) < len(rows) else ""
    sheet.label(title="Agreement with the judgments of people", x=said + _BANDS_SAID + without)
    return finish_rows(sheet, known["judge"].tolist(), entries, name_share=_WIDE_NAME, grid="both")


def plot_gains(rows: pd.DataFrame, *, measure: str, people: str, place: Place | None = None) -> Axes:
    """Draw the mean gain under each scorer, a row per judge that re-ranks, the first on top."""
    sheet = Sheet.open(place, "judges")
    judges = list(dict.fromkeys(rows["judge"]))
    at = dict(zip(judges, down(len(judges)), strict=True))
    columns = "mean_gain", "mean_gain_low", "mean_gain_high"
    by_people = rows["scorer"] == people
    others = rows[~rows["same"] & ~by_people].reindex(columns=["judge", "mean_gain"])
    entries = [
        draw_intervals(sheet, mine, mine["judge"].map(at).astype(float), columns, kind)
        for mine, kind in (
            (rows[rows["same"]], _ITSELF),
            (others, Kind("by another judge", MIDDLE, "|", area=2.5)),
            (rows[by_people], _PEOPLE),
        )
        if len(mine)
    ]
    draw_level(sheet, "x", 0)
    sheet.limit_around("x", [0.0, *rows.reindex(columns=list(columns)).to_numpy(dtype=float).ravel()])
    sheet.label(title="Runs re-ranked by a judge's labels", x=f"mean gain in {measure}", y="re-ranked by")
    return finish_rows(sheet, judges, entries, height=2.2, title="scored")


def plot_run_gains(
    own: pd.DataFrame, people: pd.DataFrame, *, measure: str, judge: str, place: Place | None = None
) -> Axes:
    """Draw what each run gains, under the judge that re-ranks it and under people, joined, over its score before."""
    sheet = Sheet.open(place)
    x = people["score"].astype(float)
    gains = own.set_index("name").loc[people["name"], "gain"].to_numpy(), people["gain"].to_numpy(dtype=float)
    sheet.ax.vlines(x, *gains, color=FAINT, linewidth=0.6 * sheet.sizes.line, zorder=2)
    style: Style = {"area": 0.6, "linewidth": 0.9}
    itself = draw_dots(sheet, x, gains[0], face=_ITSELF.colour, edge=_ITSELF.colour, **style)
    by_people = draw_dots(sheet, x, gains[1], face="white", edge=_PEOPLE.colour, marker=_PEOPLE.marker, **style)
    draw_level(sheet, "y", 0)
    y = f"gain in {measure} by re-ranking"
    sheet.label(title=f"Runs re-ranked by {judge}", x=f"{measure} by people, before", y=y)
    entries = [(itself, sheet.legend_name(f"by {judge}")), (by_people, _PEOPLE.said)]
    return sheet.finish(entries, (0.62, 0.42), grid="y", title="scored")


def plot_forest(
    table: pd.DataFrame, *, measure: str, judge: str, confidence: float, place: Place | None = None
) -> Axes:
    """Draw two intervals per run, by people and a judge and by people alone, the highest estimate on top."""
    sheet = Sheet.open(place, "runs")
    rows = table.iloc[table["estimate"].argsort(kind="stable").to_numpy()[::-1]].head(most_rows(sheet))
    both = Kind(f"people and {judge}", shift=0.17, area=0.5)
    alone = Kind("people alone", SECOND, "s", hollow=True, stroke=(0, (4, 1)), shift=-0.17, area=0.5)
    entries = [
        draw_intervals(sheet, rows, down(len(rows)), (name, f"{name}_low", f"{name}_high"), kind)
        for name, kind in (("estimate", both), ("human", alone))
    ]
    cross = Kind(f"{judge} alone", DARK, "x", area=0.5)
    entries.append(draw_intervals(sheet, rows, down(len(rows)), ("by_judge", "", ""), cross))
    every = ["estimate_low", "estimate_high", "human_low", "human_high", "by_judge", "estimate"]
    sheet.limit_around("x", rows[every], air=0.03, least=1e-3)
    x = f"{measure} ({100 * confidence:.4g}% intervals){not_shown(len(table) - len(rows), 'run')}"
    sheet.label(title=f"Scores by few labels of people and many of {judge}", x=x)
    return finish_rows(sheet, rows["name"].tolist(), entries, height=1.4)


def plot_filled(rows: pd.DataFrame, *, unit: str, top: int | None = None, place: Place | None = None) -> Axes:
    """Draw for each unit its runs' change without its uniques, and with these filled by a judge; 0 is the truth."""
    sheet = Sheet.open(place, "lines")
    shown = rows.head(most_rows(sheet, top))
    judge, measure = (str(rows[column].iloc[0]) for column in ("judge", "measure"))
    draw_level(sheet, "x", 0, zorder=2)
    removed = Kind("uniques removed", SECOND, hollow=True, shift=0.17, thin=True)
    filled = Kind(f"filled by {judge}", FIRST, "D", shift=-0.17, area=0.8, thin=True)
    columns = [tuple(f"{way}_change{end}" for end in ("", "_low", "_high")) for way in ("removed", "filled")]
    entries = [
        draw_intervals(sheet, shown, down(len(shown)), (value, low, high), kind)
        for (value, low, high), kind in zip(columns, (removed, filled), strict=True)
    ]
    every = shown.reindex(columns=[name for names in columns for name in names]).to_numpy(dtype=float)
    sheet.limit_around("x", [0.0, *every.ravel()], least=0.001)
    word = "run" if unit == "name" else unit
    more = not_shown(len(rows) - len(shown), word)
    x = f"mean change of {measure} of the {word}'s own runs; 0 is the true score{more}"
    sheet.label(title=f"What each {word}'s own runs lose and get back", x=x)
    return finish_rows(sheet, shown[unit].tolist(), entries, height=1.3)


def effect_in_words(column: str, measure: str) -> str:
    """Return what the effects of judges on families of runs are."""
    equal = ", at equal scores by people" if column == "score_effect" else ""
    return f"{'ranks' if column == 'rank_effect' else 'score'} gained by {measure} over all other runs{equal}"


def plot_family_forest(cells: pd.DataFrame, *, column: str, measure: str, place: Place | None = None) -> Axes:
    """Draw a row for each judge and family of runs: the effect as a point, its interval as a line."""
    sheet = Sheet.open(place, "judges and families")
    columns = column, f"{column}_low", f"{column}_high"
    drawn = cells[cells[column].notna()]
    first = np.lexsort([-drawn[column].abs().to_numpy(), ~drawn["own"].to_numpy(dtype=bool)])[: most_rows(sheet)]
    shown = drawn.iloc[np.sort(first)]
    kinds = {True: Kind("the judge's own family", FIRST, "s"), False: Kind("another family", hollow=True)}
    entries = draw_kinds(sheet, shown, columns, kinds, "own")
    draw_level(sheet, "x", 0)
    sheet.limit_around("x", [0.0, *shown.reindex(columns=list(columns)).to_numpy(dtype=float).ravel()], air=0.06)
    counts = (len(drawn) - len(shown), "not shown"), (len(cells) - len(drawn), "without a number")
    x = effect_in_words(column, measure) + notes(*counts, noun="row")
    sheet.label(title="What judges make of families of runs", x=x)
    names = [f"{judge}: {family}" for judge, family in zip(shown["judge"], shown["family"], strict=True)]
    return finish_rows(sheet, names, entries, name_share=0.39, height=1.2)


def plot_label_estimates(table: pd.DataFrame, *, confidence: float, place: Place | None = None) -> Axes:
    """Draw the numbers of a LabelEstimate with their intervals, and an open diamond where the judge puts each."""
    sheet = Sheet.open(place, "numbers")
    at, columns = down(len(table)), ("estimate", "estimate_low", "estimate_high")
    entries = [draw_intervals(sheet, table, at, columns, Kind(f"by people, with its {100 * confidence:g}% interval"))]
    if table["judge"].notna().any():
        ring = Kind("by the judge's labels", SECOND, "D", hollow=True)
        entries.append(draw_intervals(sheet, table, at, ("judge", "", ""), ring))
    sheet.limit_around("x", table[["estimate_low", "estimate_high", "judge"]], least=0.02)
    sheet.label(title="What people found", x="estimate")
    return finish_rows(sheet, table["number"].tolist(), entries, height=2)


def plot_rank_intervals(
    table: pd.DataFrame, *, measure: str, said: str, noun: str, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw the rank of each system as a dot and the ranks that it may have as a line, the best on top."""
    sheet = Sheet.open(place, noun)
    rows = table.head(most_rows(sheet, top))
    draw_intervals(sheet, rows, down(len(rows)), ("rank", "rank_low", "rank_high"), Kind())
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
    line = sheet.sizes.line
    best = table["predicted"].fillna(table["score"]).to_numpy().argsort(kind="stable")[::-1]
    rows = table.iloc[best].head(most_rows(sheet, top))
    at, speaks = down(len(rows)), rows["predicted"].notna().to_numpy()
    style: Style = {"color": FAINT, "linewidth": 0.8 * line, "zorder": 1.5}
    every = sheet.ax.hlines(at, rows["score_low"], rows["score_high"], **style)
    entries: list[tuple[Artist, str]] = [(every, "under every completion")]
    if speaks.any():
        columns = "predicted", "predicted_low", "predicted_high"
        kind = Kind(f"predicted, {100 * confidence:.4g}%")
        entries.append(draw_intervals(sheet, rows[speaks], at[speaks], columns, kind))
    rings = draw_dots(sheet, rows["score"], at, face="none", edge=SECOND, linewidth=0.9)
    entries.append((rings, "as judged"))
    for number, (name, score) in enumerate(rivals.items()):
        dashes = [(0, (4, 2)), (0, (1, 1)), (0, (6, 1, 1, 1))][number % 3]
        drawn = sheet.ax.axvline(score, color=DARK, linewidth=line, linestyle=dashes, zorder=1)
        entries.append((drawn, sheet.legend_name(name)))
    ends = rows[["score_low", "score_high"]].to_numpy(dtype=float).ravel()
    sheet.limit_around("x", [*ends, *rivals.values()], air=0.04)
    more = not_shown(len(table) - len(rows), "run")
    sheet.label(title=f"What new runs score by {measure}", x=f"{measure}{more}")
    return finish_rows(sheet, rows["name"].tolist(), entries, height=1.2)


def plot_estimators(
    table: pd.DataFrame, *, used: str, names: Mapping[str, str], measure: str, place: Place | None = None
) -> Axes:
    """Draw the mean error of each estimator, the smallest on top; the row of the one in use is filled."""
    sheet = Sheet.open(place)
    rows = table.assign(used=table["estimator"] == used)
    kinds = {
        True: Kind("in use: each time the one that errs least on the others"),
        False: Kind("the same each time", hollow=True),
    }
    entries = draw_kinds(sheet, rows, ("error", "error_low", "error_high"), kinds, "used")
    sheet.limit_around("x", [0.0, *table["error"].tolist()], air=0.06)
    sheet.label(title=f"Errors of predicted {measure}", x="mean absolute error of the score")
    texts = [names.get(name, name.replace("_", " ")) for name in table["estimator"]]
    return finish_rows(sheet, texts, entries, name_share=_WIDE_NAME, height=1.2)


def plot_labels_needed(
    table: pd.DataFrame, *, confidence: float, top: int | None = None, place: Place | None = None
) -> Axes:
    """Draw the labels that the decision on each pair takes as a dot, and a line to what most courses need at most."""
    sheet = Sheet.open(place, "pairs")
    rows = table.sort_values("expected", ascending=False, kind="stable").head(most_rows(sheet, top))
    draw_intervals(sheet, rows, down(len(rows)), ("expected", "expected", "most"), Kind())
    sheet.limit_around("x", [0.0, 1.0, *rows["most"].tolist()], air=0.04)
    more = not_shown(len(table) - len(rows), "pair")
    said = f"labels until it is decided, and what {100 * confidence:.4g}% need at most{more}"
    said = said if len(rows) else "labels; every pair is decided"
    sheet.label(title="Labels needed to decide each pair", x=said)
    names = [f"{first} > {second}" for first, second in zip(rows["first"], rows["second"], strict=True)]
    return finish_rows(sheet, names, name_share=0.39, height=0.9, whole=True)
