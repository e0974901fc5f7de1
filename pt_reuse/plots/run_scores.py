"""Figures with a point for each run: its scores under two sets of judgments, and what was found anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.errors import InputError, choice, count
from pt_reuse.plots.marks import draw_counted, draw_dots, draw_level, name_points
from pt_reuse.plots.sheet import (
    BESIDE,
    DARK,
    FIRST,
    MIDDLE,
    MOST,
    UNKNOWN,
    Entries,
    Look,
    Place,
    Sheet,
    Style,
    around,
    looks,
    new_figure,
    notation,
    plain,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


#: what the upright axis shows: the change of the score, the same in per cent of the score, or the other score itself
VIEWS = ("change", "percent", "scores")
_NOTHING = 1e-12  # what a change must exceed; sums in another order differ by less
#: heights of figures of points, as shares of a column's and of a page's width
_HEIGHTS = (0.55, 0.45)
#: panels beside each other on a page, and in a column
_BESIDE, _IN_COLUMN = 3, 2


def check_view(view: str, by: str | None, allowed: Sequence[str], run_table: pd.DataFrame) -> None:
    """Raise unless ``view=`` is one of the views, and ``by=`` None or one of those allowed, which some run has."""
    choice("view", view, VIEWS)
    if by is None:
        return
    choice("by", by, allowed)
    if by != "run" and (by not in run_table or run_table[by].isna().all()):
        how = "metadata= with a column 'family'" if by == "family" else f"{by}s="
        raise InputError(
            f"by={by!r} needs runs with a {by}; no run has one. Give {how} when reading the runs.", argument="by"
        )


def colour_column(table: pd.DataFrame, by: str | None = None) -> str | None:
    """Return the column that gives colour: the one asked for, else the type where any run has one, else the team."""
    return by or next((known for known in ("type", "team") if table[known].notna().any()), None)


def groups_of(table: pd.DataFrame, by: str | None) -> NDArray[np.object_]:
    """Return (rows,) the group of each row, a word where nobody gave one."""
    if by is None:
        return np.full(len(table), "all runs", dtype=object)
    return table[by].astype(object).where(table[by].notna(), UNKNOWN).to_numpy(dtype=object)


def points_of(table: pd.DataFrame, kind: str, other: str = "other_score") -> pd.DataFrame:
    """Return the table with the place of each run, ``x y``, in one of the :data:`VIEWS`, and its ``effect``.

    The effect is the change, or the change in per cent, NaN where the score is 0.
    """
    score, second = (table[column].to_numpy(dtype=float) for column in ("score", other))
    effect = second - score
    if kind == "percent":
        effect = 100 * np.divide(effect, score, out=np.full(len(score), np.nan), where=score != 0)
    return table.assign(x=score, y=second if kind == "scores" else effect, effect=effect)


def _drawn(points: pd.DataFrame) -> pd.DataFrame:
    return points[np.isfinite(points[["x", "y"]].to_numpy(dtype=float)).all(axis=1)]


def _not_drawn(points: pd.DataFrame) -> str:
    rest = points.drop(_drawn(points).index)
    zero = int((rest["x"] == 0).sum())
    counts = (zero, "score 0"), (len(rest) - zero, "no number")
    texts = " and ".join(f"{count(n, 'run')} with {why}" for n, why in counts if n)
    return f" ({texts} not drawn)" if texts else ""


def largest_first(points: pd.DataFrame, column: str | None, number: str = "effect") -> list[Any]:
    """Return the groups that have a colour: all by name where there are few, else those with the largest number."""
    if column is None:
        return []
    groups = groups_of(points, column)
    if len(set(groups)) <= MOST:
        return list(looks(groups))
    most = points[number].astype(float).abs().groupby(groups).max().fillna(0)
    return most.sort_values(ascending=False, kind="stable").index[:MOST].tolist()


def draw_points(
    sheet: Sheet,
    points: pd.DataFrame,
    column: str | None,
    shown: Sequence[Any],
    *,
    field: Mapping[Any, Look] | None = None,
    tails: Mapping[str, str] | None = None,
    word: str | None = None,
    room: float | None = None,
    hollow: bool = False,
    counted: bool = False,
) -> list[tuple[Artist, str]]:
    """Draw the points, each of the groups shown in its look in the field, all others as small rings.

    `counted` dots are as large as how many points lie there.
    """
    field = looks(groups_of(points, column)) if field is None else field
    drawn = _drawn(points)
    groups = groups_of(drawn, column)
    draw = draw_counted if counted else draw_dots
    entries: list[tuple[Artist, str]] = []
    for group in shown:
        look, mine = field[group], drawn[groups == group]
        style: Style = {"face": look.colour, "edge": look.edge, "marker": look.marker}
        if hollow:
            style |= {"face": "none", "edge": look.stroke, "linewidth": 0.9}
        # few points are on top of many
        handle = draw(sheet, mine["x"], mine["y"], zorder=3 + 1 / (1 + len(mine)), **style)
        entries.append((handle, sheet.legend_name(group, (tails or {}).get(group, ""), room)))
    rest = drawn[~np.isin(groups, np.array(shown, dtype=object))]
    if len(rest):
        ring: Style = {"face": "none", "edge": MIDDLE, "area": 0.55, "linewidth": 0.7, "zorder": 2.5}
        handle = draw_dots(sheet, rest["x"], rest["y"], **ring)
        if column:
            entries.append((handle, _others(rest, column, word or column, some=bool(shown))))
    return entries


def _others(rest: pd.DataFrame, column: str, word: str, *, some: bool) -> str:
    known = rest[column].nunique()
    parts = [count(known, f"other {word}" if some else word)] if known else []
    return ", ".join([*parts, f"runs without a {word}"] if rest[column].isna().any() else parts)


def _limit_views(sheet: Sheet, points: pd.DataFrame, kind: str) -> None:
    """Set the limits of the axes, and draw the line on which nothing changes; scores are in a square."""
    x, y = _drawn(points)[["x", "y"]].to_numpy(dtype=float).T
    if kind == "scores":
        both = sheet.with_others("x", around([*x, *y], 0.07, 0.01))
        sheet.limit("x", sheet.limit("y", both))
        sheet.ax.axline((both[0], both[0]), slope=1, color=DARK, linewidth=0.8, zorder=2)
        sheet.ax.set_aspect("equal", adjustable="box")
        return
    draw_level(sheet, "y", 0, zorder=2)
    sheet.limit_around("x", x, air=0.07, least=0.01)
    sheet.limit_around("y", [0.0, *y], air=0.07, least=0.1 if kind == "percent" else 0.001)


def _finish_views(sheet: Sheet, points: pd.DataFrame, kind: str, entries: Entries, title: str | None) -> Axes:
    """Finish the figure, and name the runs with the largest losses, of score or else of ranks, beside their points."""
    _limit_views(sheet, points, kind)
    sheet.finish(entries, None if kind == "scores" else _HEIGHTS, title=title)
    table = _drawn(points)
    seen = 0.05 * float(table["effect"].abs().max()) if len(table) else 0.0
    worst = table[table["effect"] < -max(seen, _NOTHING)].sort_values("effect", kind="stable")
    if worst.empty:
        worst = table[table["drop"] > 0].sort_values("drop", ascending=False, kind="stable")
    # a name may touch neither a point nor the line on which nothing changes
    line = np.linspace(*sheet.ax.get_xlim(), 400)
    unchanged = np.column_stack([line, line if kind == "scores" else np.zeros(len(line))])
    name_points(sheet, worst, np.concatenate([table[["x", "y"]].to_numpy(dtype=float), unchanged]))
    return sheet.ax


def plot_two_scores(
    changes: pd.DataFrame,
    *,
    measure: str,
    kind: str = "change",
    by: str | None = None,
    judgments: tuple[str, str] = ("first judgments", "other judgments"),
    place: Place | None = None,
) -> Axes:
    """Draw each run's score under one set of judgments against what becomes of it under another."""
    sheet = Sheet.open(place)
    rows = changes[changes["measure"] == measure]
    points, column = points_of(rows, kind), colour_column(rows, by)
    entries = draw_points(sheet, points, column, largest_first(points, column))
    other_measure = rows["other_measure"].iloc[0] if "other_measure" in rows else measure
    what, (here, there) = f"of {measure} ", judgments
    if other_measure != measure:
        what, (here, there) = "", (f"{measure}, {here}", f"{other_measure}, {there}")
    y = {
        "change": f"change {what}({there} − {here})",
        "percent": f"change {what}in % ({there} against {here})",
        "scores": f"{other_measure}, {judgments[1]}",
    }
    x = f"{measure}, {judgments[0]}{_not_drawn(points)}"
    sheet.label(title="The same runs under two sets of judgments", x=x, y=y[kind])
    return _finish_views(sheet, points, kind, entries, column)


def plot_reduced_scores(
    by_run: pd.DataFrame,
    *,
    measure: str,
    unit: str,
    kind: str = "change",
    by: str | None = None,
    said: tuple[str, str, str] | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw each run's score against what becomes of it without the uniques of its own unit.

    `said` is what the figure calls the full score, the other, and itself.
    """
    sheet = Sheet.open(place)
    points = points_of(by_run[by_run["measure"] == measure], kind, "reduced_score")
    by = by or unit
    column = "name" if by == "run" else by
    drawn = _drawn(points)
    losses = (-drawn["effect"]).groupby(groups_of(drawn, column)).max()
    losses = losses.where(losses > _NOTHING, 0.0).sort_values(ascending=False, kind="stable")
    few = by != unit and len(set(groups_of(points, column))) <= MOST
    shown = largest_first(points, column) if few else losses[losses > 0].index[:MOST].tolist()
    tails = {group: f" ({_in_words(losses.get(group), kind)})" for group in shown}
    entries = draw_points(sheet, points, column, shown, word=by, tails=tails)
    own = "without its own uniques" if unit == "run" else f"without the uniques of its own {unit}"
    full, without, title = said or ("all judgments", own, f"How runs score {own.replace('its', 'their')}")
    y = {
        "change": f"change of {measure} {without}",
        "percent": f"change of {measure} in % {without}",
        "scores": f"{measure}, {without}",
    }
    sheet.label(title=title, x=f"{measure}, {full}{_not_drawn(points)}", y=y[kind])
    key = "run (loss)" if by == "run" else f"{by} (largest loss of a run)"
    return _finish_views(sheet, points, kind, entries, key)


def _in_words(loss: float | None, kind: str) -> str:
    if loss is None:
        return "not drawn"
    if loss <= 0:
        return "no loss"
    digits, unit = (1, " %") if kind == "percent" else (3, "")
    return f"−{loss:.{digits}f}{unit}" if loss >= 0.5 * 10**-digits else f"−{loss:.1g}{unit}"


def plot_squares(panels: Mapping[str, pd.DataFrame], *, x: str, y: str, title: str, place: Place | None = None) -> Axes:
    """Draw scores, ``x y`` of runs, in a square around y = x; of several, in panels with the same limits.

    A panel's key is its title.
    """
    every = pd.concat(panels.values())
    column = colour_column(every)
    if column == "team" and every[column].nunique() > MOST:
        column = None
    field = looks(groups_of(every, column))
    shown = list(field) if column else []
    if len(panels) == 1:
        ((said, points),) = panels.items()
        sheet = Sheet.open(place)
        entries = draw_points(sheet, points, column, shown, field=field)
        _limit_views(sheet, every, "scores")
        sheet.label(title=said, x=x + _not_drawn(points), y=y)
        sheet.finish(entries, None, title=column)
        moved = _drawn(points).assign(most=lambda rows: (rows["y"] - rows["x"]).abs())
        named = moved[moved["most"] > 0].sort_values("most", ascending=False, kind="stable")
        name_points(sheet, named, moved[["x", "y"]].to_numpy(dtype=float))
        return sheet.ax
    given = place or Place()
    columns = min(len(panels), _IN_COLUMN if given.inches < BESIDE else _BESIDE)
    rows = ceil(len(panels) / columns)
    figure = new_figure(given.inches)
    figure.set_figheight(round(rows * (0.85 * given.inches / columns + 0.45) + 0.6, 2))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for number, (ax, (said, points)) in enumerate(zip(axes, panels.items(), strict=False)):
        sheet = Sheet.open(replace(given, ax=ax, width=None, title=None, legend=False))
        sheet.key(draw_points(sheet, points, column, shown, field=field, room=given.inches / columns - 0.5))
        _limit_views(sheet, every, "scores")
        last = number + columns >= len(panels)
        sheet.label(title="", x=x + _not_drawn(points) if last else "", y=y if number % columns == 0 else "")
        size, room = sheet.sizes.text, 0.8 * given.inches / columns
        name, *more = said.split("\n")
        ax.set_title("\n".join([shortened(ax, name, size, room), *map(notation, more)]), fontsize=size, pad=0.4 * size)
        sheet.grid()
        sheet.ticks("x")
        sheet.ticks("y")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    heading = title if given.title is None else given.title
    if heading:
        figure.suptitle(plain(heading), fontsize=sheet.sizes.text)
    handles, texts = axes[0].get_legend_handles_labels()
    if given.legend and len(handles) > 1:
        style: Style = {"frameon": False, "fontsize": sheet.sizes.text, "ncols": min(columns, len(texts))}
        figure.legend(handles, texts, loc="outside lower center", **style)
    first: Axes = axes[0]
    return first


def plot_new_by_topic(
    by_topic: pd.DataFrame, *, kind: str, judgments: tuple[str, str], depth: int, place: Place | None = None
) -> Axes:
    """Draw what each topic has that the earlier judgments do not know, against its known relevant documents."""
    sheet = Sheet.open(place)
    older, newer = judgments
    column, title, y_label = {
        "remainder": (
            "remainder",
            "What runs have that nobody judged",
            f"documents to rank {depth:,} that {older} does not know",
        ),
        "relevant": ("new_relevant", "What was found anew", f"relevant documents that {newer} alone has"),
    }[kind]
    points = by_topic.assign(name=by_topic["qid"], x=by_topic["relevant"], y=by_topic[column])
    draw_counted(sheet, points["x"], points["y"], face=FIRST, edge="white")
    x = f"relevant documents of the topic, {older}{_of_counts(points, 'topic')}"
    sheet.label(title=title, x=x, y=y_label)
    return _finish_counts(sheet, points)


def plot_new_by_run(
    by_run: pd.DataFrame, *, judgments: tuple[str, str], depth: int, by: str | None = None, place: Place | None = None
) -> Axes:
    """Draw how many new relevant documents each run has, against how many of its documents nobody had judged."""
    sheet = Sheet.open(place)
    older, newer = judgments
    points, column = by_run.assign(x=by_run["unjudged"], y=by_run["new_relevant"]), colour_column(by_run, by)
    entries = draw_points(sheet, points, column, largest_first(points, column, "y"), counted=True)
    sheet.label(
        title="What runs have that was judged later",
        x=f"documents to rank {depth:,} that {older} does not know{_of_counts(points, 'run')}",
        y=f"of these relevant, {newer}",
    )
    return _finish_counts(sheet, points, entries, column)


def _of_counts(points: pd.DataFrame, noun: str) -> str:
    most = int(points.groupby(["x", "y"]).size().max()) if len(points) else 1
    return f" (size: {noun}s at one place, up to {most:,})" if most > 1 else ""


def _finish_counts(sheet: Sheet, points: pd.DataFrame, entries: Entries = (), title: str | None = None) -> Axes:
    """Set limits that begin just below 0, and name the highest points, of equals the one furthest to the right."""
    for which in ("x", "y"):
        most = max(float(points[which].max()) if len(points) else 0.0, 1.0)
        sheet.limit("x" if which == "x" else "y", (-0.04 * most, 1.07 * most))
    sheet.finish(entries, _HEIGHTS, whole="xy", title=title)
    named = points[points["y"] > 0].sort_values(["y", "x"], ascending=False, kind="stable")
    name_points(sheet, named, points[["x", "y"]].to_numpy(dtype=float))
    return sheet.ax
