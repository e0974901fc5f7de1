"""Figures with a point for each run, or for each topic: scores under two sets of judgments, and what was found anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count
from pt_reuse.errors import InputError
from pt_reuse.plots.marks import draw_dots, draw_level
from pt_reuse.plots.sheet import (
    BESIDE,
    COLOURS,
    COLUMN_SIZES,
    MIDDLE,
    MOST,
    STEPS,
    Entries,
    Place,
    Sheet,
    Style,
    breadth,
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
UNKNOWN = "not given"
_NOTHING = 1e-12  # what a change must exceed; sums in another order differ by less


@dataclass(frozen=True)
class Views:
    """The scores of the runs twice, as one of the :data:`VIEWS`."""

    table: pd.DataFrame
    kind: str

    @property
    def effect(self) -> NDArray[np.float64]:
        """Return (runs,) the change, or the change in per cent, NaN where the score is 0."""
        score = self.table["score"].to_numpy(dtype=float)
        change = self.table["other_score"].to_numpy(dtype=float) - score
        if self.kind != "percent":
            return change
        return 100 * np.divide(change, score, out=np.full(len(score), np.nan), where=score != 0)

    @property
    def upright(self) -> NDArray[np.float64]:
        return self.table["other_score"].to_numpy(dtype=float) if self.kind == "scores" else self.effect

    @property
    def drawn(self) -> NDArray[np.bool_]:
        return np.isfinite(self.table["score"].to_numpy(dtype=float)) & np.isfinite(self.upright)

    def not_drawn(self) -> str:
        """Return how many runs have no point, in words for a label; nothing where all have one."""
        score, other = (self.table[column].to_numpy(dtype=float) for column in ("score", "other_score"))
        zero = int((~self.drawn & (score == 0) & np.isfinite(other)).sum())
        missing = int((~self.drawn).sum()) - zero
        parts = [(zero, "score 0"), (missing, "no number")]
        said = " and ".join(f"{count(n, 'run')} with {why}" for n, why in parts if n)
        return f" ({said} not drawn)" if said else ""

    def groups(self, column: str) -> NDArray[np.object_]:
        """Return (runs,) the group of each run, a word where nobody gave one."""
        return self.table[column].astype(object).where(self.table[column].notna(), UNKNOWN).to_numpy(dtype=object)

    def losses(self, column: str) -> pd.Series:
        """Return the largest loss of a run in each group that has a point, 0 where none loses, the largest first."""
        loss = pd.Series(-self.effect[self.drawn]).groupby(self.groups(column)[self.drawn]).max()
        return loss.where(loss > _NOTHING, 0.0).sort_values(ascending=False, kind="stable")

    def loss_in_words(self, loss: float | None) -> str:
        """Return a loss as a legend shows it; None is that of a group without a point."""
        if loss is None:
            return "not drawn"
        if loss <= 0:
            return "no loss"
        if self.kind == "percent":
            return f"−{loss:.1f} %" if loss >= 0.05 else f"−{loss:.1g} %"
        return f"−{loss:.3f}" if loss >= 0.0005 else f"−{loss:.1g}"

    def others(self, column: str, shown: Sequence[str], word: str) -> str:
        """Return how many groups have points without a colour, in words for the legend; nothing where none has."""
        rest = set(self.groups(column)[self.drawn]) - set(shown)
        nameless = UNKNOWN in rest and bool(self.table[column].isna().any())
        known = len(rest) - nameless
        parts = [count(known, f"other {word}" if shown else word)] if known else []
        return ", ".join([*parts, f"runs without a {word}"] if nameless else parts)


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


def largest_first(views: Views, column: str) -> list[str]:
    """Return the groups that have a colour: all by name where there are few, else those with the largest change."""
    groups = views.groups(column)
    if len(set(groups)) <= MOST:
        return sorted(set(groups), key=lambda name: (name == UNKNOWN, str(name)))
    change = pd.Series(np.abs(views.effect)).groupby(groups).max().fillna(0)
    return change.sort_values(ascending=False, kind="stable").index[:MOST].tolist()


def colour_column(table: pd.DataFrame, by: str | None) -> str | None:
    """Return the column that gives colour: the one asked for, else the type where any run has one, else the team."""
    return by or next((known for known in ("type", "team") if table[known].notna().any()), None)


def draw_points(
    sheet: Sheet,
    views: Views,
    column: str | None,
    shown: Sequence[str],
    *,
    word: str | None = None,
    tails: Mapping[str, str] | None = None,
    room: float | None = None,
) -> list[tuple[Artist, str]]:
    """Draw the points, each of the groups shown in a look of its own, all others as rings."""
    x, y, drawn = views.table["score"].to_numpy(dtype=float), views.upright, views.drawn
    groups = views.groups(column) if column else np.full(len(x), None, dtype=object)
    entries: list[tuple[Artist, str]] = []
    for group, look in zip(shown, looks(len(shown)), strict=True):
        rows, tail = drawn & (groups == group), (tails or {}).get(group, "")
        handle = draw_dots(
            sheet,
            x[rows],
            y[rows],
            face=look.colour,
            edge=look.edge,
            marker=look.marker,
            zorder=3 + 1 / (1 + rows.sum()),
        )
        entries.append((handle, sheet.legend_name(group, tail, room)))
    rest = drawn & ~np.isin(groups, np.array(shown, dtype=object))
    if rest.any():
        ring = draw_dots(sheet, x[rest], y[rest], face="none", edge=MIDDLE, area=0.55, linewidth=0.7, zorder=2.5)
        if column:
            entries.append((ring, views.others(column, shown, word or column)))
    return entries


def limit_views(sheet: Sheet, views: Views) -> None:
    """Set the limits of the axes, and draw the line on which nothing changes."""
    ax, drawn = sheet.ax, views.drawn
    line = sheet.ink.strong
    x, y = views.table["score"].to_numpy(dtype=float)[drawn], views.upright[drawn]
    if views.kind == "scores":
        both = _limits(np.concatenate([x, y]), 0.01)
        sheet.limit("x", sheet.limit("y", sheet.with_others("x", both)))
        ax.axline((both[0], both[0]), slope=1, color=line, linewidth=0.8, zorder=2)
        ax.set_aspect("equal", adjustable="box")
        return
    draw_level(sheet, "y", 0, zorder=2)
    sheet.limit("x", _limits(x, 0.01))
    sheet.limit("y", _limits(np.append(y, 0.0), 0.1 if views.kind == "percent" else 0.001))


def _limits(values: NDArray[np.float64], least: float) -> tuple[float, float]:
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    air = 0.07 * max(high - low, least)
    middle = (low + high) / 2
    half = max((high - low) / 2, least / 2) + air
    return middle - half, middle + half


def name_losses(sheet: Sheet, views: Views) -> None:
    """Write the names of the runs with the largest losses beside their points, where there is room."""
    table = views.table.assign(x=views.table["score"], y=views.upright, effect=views.effect)[views.drawn]
    seen = 0.05 * float(table["effect"].abs().max()) if len(table) else 0.0
    worst = table[table["effect"] < -max(seen, _NOTHING)].sort_values("effect", kind="stable")
    if worst.empty:
        worst = table[table["drop"] > 0].sort_values("drop", ascending=False, kind="stable")
    # a name may touch neither a point nor the line on which nothing changes
    line = np.linspace(*sheet.ax.get_xlim(), 400)
    unchanged = np.column_stack([line, line if views.kind == "scores" else np.zeros(len(line))])
    name_points(sheet, worst, np.concatenate([table[["x", "y"]].to_numpy(dtype=float), unchanged]))


def name_points(sheet: Sheet, named: pd.DataFrame, occupied: NDArray[np.float64], share: float = 0.42) -> None:
    """Write the names of the first of some points, ``name x y``, beside them, where there is room."""
    ax, taken = sheet.ax, list[NDArray[np.float64]]()
    pixels = ax.transData.transform(occupied)
    for name, x, y in named[["name", "x", "y"]].head(sheet.sizes.named).itertuples(index=False):
        text = shortened(ax, str(name), sheet.sizes.text, share * sheet.axes_size[0])
        _name_point(sheet, text, (float(x), float(y)), pixels, taken)


def _name_point(
    sheet: Sheet, text: str, point: tuple[float, float], occupied: NDArray[np.float64], taken: list[NDArray[np.float64]]
) -> None:
    """Write a name beside a point, unless every place touches what is drawn or the edge of the axes."""
    ax, size, dot = sheet.ax, sheet.sizes.text, sheet.ax.figure.dpi / 72
    here = ax.transData.transform(point)
    wide, high = breadth(ax, text, size) * ax.figure.dpi, 1.15 * size * dot
    radius = (0.5 * sheet.sizes.area**0.5 + 1) * dot
    away = radius + 2.5 * dot
    frame = ax.get_window_extent()
    others = occupied[np.abs(occupied - here).max(axis=1) > 0.5]
    # where that is possible further from other points than from its own, so that nobody takes it for theirs
    for apart, corner in product((away + dot, radius), _places(here, away, wide, high)):
        box = np.array([*corner, corner[0] + wide, corner[1] + high])
        inside = box[0] >= frame.x0 and box[1] >= frame.y0 and box[2] <= frame.x1 and box[3] <= frame.y1
        near = (others >= box[:2] - apart).all(axis=1) & (others <= box[2:] + apart).all(axis=1)
        touching = any((box[:2] < other[2:]).all() and (other[:2] < box[2:]).all() for other in taken)
        if inside and not near.any() and not touching:
            taken.append(box)
            shift = ((corner[0] - here[0]) / dot, (corner[1] + high / 2 - here[1]) / dot)
            where: Style = {"xytext": shift, "textcoords": "offset points", "va": "center"}
            ax.annotate(text, point, fontsize=size, zorder=5, **where)
            return


def _places(here: NDArray[np.float64], away: float, wide: float, high: float) -> Iterable[tuple[float, float]]:
    """Yield the lower left corners that a name may have beside a point, the best first."""
    x, y = float(here[0]), float(here[1])
    yield x + away, y - high / 2
    yield x - away - wide, y - high / 2
    yield x - wide / 2, y - away - high
    yield x - wide / 2, y + away
    for left in (x + 0.5 * away, x - 0.5 * away - wide):
        yield left, y - 0.7 * away - high
        yield left, y + 0.7 * away


#: heights of figures of points, as shares of a column's and of a page's width
_HEIGHTS = (0.55, 0.45)
#: panels beside each other on a page, and in a column
_BESIDE, _IN_COLUMN = 3, 2


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
    views = Views(rows, kind)
    column = colour_column(views.table, by)
    entries = draw_points(sheet, views, column, largest_first(views, column) if column else [])
    limit_views(sheet, views)
    first, other = judgments
    other_measure = rows["other_measure"].iloc[0] if "other_measure" in rows else measure
    what, (here, there) = f"of {measure} ", (first, other)
    if other_measure != measure:
        what, (here, there) = "", (f"{measure}, {first}", f"{other_measure}, {other}")
    y = {
        "change": f"change {what}({there} − {here})",
        "percent": f"change {what}in % ({there} against {here})",
        "scores": f"{other_measure}, {other}",
    }
    sheet.label(
        title="The same runs under two sets of judgments", x=f"{measure}, {first}{views.not_drawn()}", y=y[kind]
    )
    sheet.finish(entries, None if kind == "scores" else _HEIGHTS, title=column)
    name_losses(sheet, views)
    return sheet.ax


@dataclass(frozen=True)
class TwoScores:
    """What a figure calls a run's score, its score by fewer judgments, and itself."""

    full: str
    without: str
    title: str

    @classmethod
    def of_uniques(cls, unit: str) -> TwoScores:
        """Return the words for judgments from which a unit's uniques are taken away."""
        without = "without its own uniques" if unit == "run" else f"without the uniques of its own {unit}"
        owner = "own" if unit == "run" else f"{unit}'s"
        return cls("all judgments", without, f"What runs lose without their {owner} uniques")


def plot_reduced_scores(
    by_run: pd.DataFrame,
    *,
    measure: str,
    unit: str,
    kind: str = "change",
    by: str | None = None,
    said: TwoScores | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw each run's score against what becomes of it without the uniques of its own unit."""
    sheet = Sheet.open(place)
    views = Views(by_run[by_run["measure"] == measure].rename(columns={"reduced_score": "other_score"}), kind)
    by = by or unit
    column = "name" if by == "run" else by
    losses = views.losses(column)
    few = by != unit and len(set(views.groups(column))) <= MOST
    shown = largest_first(views, column) if few else losses[losses > 0].index[:MOST].tolist()
    tails = {group: f" ({views.loss_in_words(losses.get(group))})" for group in shown}
    entries = draw_points(sheet, views, column, shown, word=by, tails=tails)
    limit_views(sheet, views)
    words = said or TwoScores.of_uniques(unit)
    y = {
        "change": f"change of {measure} {words.without}",
        "percent": f"change of {measure} in % {words.without}",
        "scores": f"{measure}, {words.without}",
    }
    sheet.label(title=words.title, x=f"{measure}, {words.full}{views.not_drawn()}", y=y[kind])
    title = "run (loss)" if by == "run" else f"{by} (largest loss of a run)"
    sheet.finish(entries, None if kind == "scores" else _HEIGHTS, title=title)
    name_losses(sheet, views)
    return sheet.ax


def plot_judge_scores(
    movers: pd.DataFrame, *, judge: str, measure: str, tau: float, place: Place | None = None
) -> Axes:
    """Draw the score of each run by a judge against the one by people; on the dashed line both are the same."""
    sheet = Sheet.open(place)
    views = _draw_by_judge(sheet, movers, None)
    title = f"{judge} against people, {_tau_b(tau)}"
    sheet.label(title=title, x=f"{measure}, people{views.not_drawn()}", y=f"{measure}, {judge}")
    sheet.grid()
    sheet.ticks("x", "y")
    sheet.fit(0.62 * sheet.width if sheet.narrow else 0.5 * sheet.width)
    moved = movers.assign(x=movers["score"], y=movers["judge_score"], most=movers["rise"].abs())
    named = moved[moved["most"] > 0].sort_values("most", ascending=False, kind="stable")
    name_points(sheet, named, moved[["x", "y"]].to_numpy(dtype=float))
    return sheet.ax


def plot_score_panels(
    movers: pd.DataFrame, taus: Mapping[str, float], *, measure: str, place: Place | None = None
) -> Axes:
    """Draw a small panel for each judge in a new figure, and return the first: scores by it against those by people."""
    given = place or Place()
    figure = new_figure(given.inches)
    from matplotlib.ticker import MaxNLocator

    width, columns = given.inches, min(len(taus), _IN_COLUMN if given.inches < BESIDE else _BESIDE)
    rows = ceil(len(taus) / columns)
    figure.set_figheight(round(rows * (0.85 * width / columns + 0.35) + 0.6, 2))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for number, (ax, (judge, tau)) in enumerate(zip(panels, taus.items(), strict=False)):
        sheet = Sheet.open(replace(given, ax=ax, width=None, title=None, legend=False))
        views = _draw_by_judge(sheet, movers[movers["judge"] == judge], width / columns - 0.5)
        last = number + columns >= len(taus)
        x = f"{measure}, people{views.not_drawn()}" if last else ""
        sheet.label(title="", x=x, y=f"{measure}, judge" if number % columns == 0 else "")
        size = sheet.sizes.text
        name = shortened(ax, judge, size, 0.8 * width / columns)
        ax.set_title(notation(f"{name}\n{_tau_b(tau)}"), fontsize=size, pad=0.4 * size)
        sheet.grid()
        # a search for as many numbers as there is room for would lay out all panels for each
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=4, steps=STEPS))
    for ax in panels[len(taus) :]:
        ax.set_axis_off()
    said = "Scores by each judge against those by people" if given.title is None else given.title
    if said:
        figure.suptitle(plain(said), fontsize=sheet.sizes.text)
    handles, texts = panels[0].get_legend_handles_labels()
    if given.legend and handles:
        style: Style = {"frameon": False, "fontsize": COLUMN_SIZES.text, "ncols": min(columns, len(texts))}
        figure.legend(handles, texts, loc="outside lower center", **style)
    first: Axes = panels[0]
    return first


def _draw_by_judge(sheet: Sheet, movers: pd.DataFrame, room: float | None) -> Views:
    views = Views(movers.assign(other_score=movers["judge_score"], drop=-movers["rise"]), "scores")
    column = colour_column(movers, None)
    if column == "team" and movers[column].nunique() > MOST:
        column = None
    entries = draw_points(sheet, views, column, largest_first(views, column) if column else [], room=room)
    for which, values in (("x", views.table["score"].to_numpy(dtype=float)), ("y", views.upright)):
        sheet.limit_around("x" if which == "x" else "y", values[views.drawn], air=0.07, least=0.01)
    # scores are the same on this line, which a lenient judge leaves below
    sheet.ax.axline((0, 0), slope=1, color=sheet.ink.strong, linewidth=0.8, linestyle="--", zorder=2)
    sheet.key(entries, title=column)
    return views


def _tau_b(tau: float) -> str:
    return "no tau_b" if np.isnan(tau) else f"tau_b {tau:.4f}"


def plot_type_scores(
    rows: pd.DataFrame, *, measure: str, pool: str, taus: Mapping[str, float], of: str, place: Place | None = None
) -> Axes:
    """Draw what each run scores by the pool of one type against what it scores by the gold, around y = x."""
    sheet = Sheet.open(place)
    views = Views(rows.rename(columns={"estimated": "other_score"}).assign(drop=0), "scores")
    shown = largest_first(views, "type")
    tails = {group: f" (tau_b {_tau(taus.get(str(group), float('nan')))})" for group in shown}
    entries = draw_points(sheet, views, "type", shown, tails=tails)
    limit_views(sheet, views)
    sheet.label(title=scores_title(pool, taus, of), x=f"{measure}, actual", y=f"{measure}, by the pool of {pool}")
    return sheet.finish(entries, None, title="tested")


def scores_title(pool: str, taus: Mapping[str, float], of: str) -> str:
    """Return the title of a figure of actual and estimated scores: the pool, and the tau of each tested group."""
    said = [f"{plain(group)} {_tau(tau)}" for group, tau in taus.items()]
    # many types would fill a figure with its title; the legend has them
    shown = said if len(said) <= MOST else said[-1:]
    return notation(f"Pool of {plain(pool)}, {of}\ntau_b {', '.join(shown)}")


def _tau(tau: float) -> str:
    return "−" if np.isnan(tau) else f"{tau:.2f}".replace("-", "−")


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
    draw_dots(sheet, points["x"], points["y"], face=COLOURS[0], edge="white")
    sheet.label(title=title, x=f"relevant documents of the topic, {older}", y=y_label)
    return _finish_counts(sheet, points)


def plot_new_by_run(
    by_run: pd.DataFrame,
    *,
    judgments: tuple[str, str],
    depth: int,
    by: str | None = None,
    place: Place | None = None,
) -> Axes:
    """Draw how many new relevant documents each run has, against how many of its documents nobody had judged."""
    sheet = Sheet.open(place)
    older, newer = judgments
    points = by_run.assign(x=by_run["unjudged"], y=by_run["new_relevant"])
    views = Views(points.assign(score=points["x"], other_score=points["y"]), "scores")
    column = colour_column(points, by)
    entries = draw_points(sheet, views, column, largest_first(views, column) if column else [])
    sheet.label(
        title="What runs have that was judged later",
        x=f"documents to rank {depth:,} that {older} does not know",
        y=f"of these relevant, {newer}",
    )
    return _finish_counts(sheet, points, entries, column)


def _finish_counts(sheet: Sheet, points: pd.DataFrame, entries: Entries = (), title: str | None = None) -> Axes:
    """Set limits that begin just below 0, and name the highest points, of equals the one furthest to the right."""
    for which in ("x", "y"):
        most = max(float(points[which].max()) if len(points) else 0.0, 1.0)
        sheet.limit("x" if which == "x" else "y", (-0.04 * most, 1.07 * most))
    sheet.finish(entries, _HEIGHTS, whole="xy", title=title)
    named = points[points["y"] > 0].sort_values(["y", "x"], ascending=False, kind="stable")
    name_points(sheet, named, points[["x", "y"]].to_numpy(dtype=float))
    return sheet.ax


def plot_disadvantage(
    by_run: pd.DataFrame, *, column: str, label: str, by: str | None, depth: int, place: Place | None = None
) -> Axes:
    """Draw a point for each run: its share of unjudged documents, and what these may do to it."""
    sheet = Sheet.open(place)
    points = by_run.assign(x=by_run["unjudged"], y=by_run[column].astype(float))
    views = Views(points.assign(score=points["x"], other_score=points["y"], drop=0), "scores")
    most = points.assign(group=groups_of(points, by)).groupby("group")["unjudged"].max()
    shown = sorted(most.sort_values(ascending=False, kind="stable").index[:MOST]) if by else []
    entries = draw_points(sheet, views, by, shown)
    draw_level(sheet, "y", 0, zorder=2)
    # what lies on the edge is seen whole
    sheet.limit_around("x", [0.0, 0.05, *points["x"]], air=0.06)
    sheet.limit_around("y", [0.0, 0.05, *points["y"]], air=0.06)
    sheet.label(title="Unjudged documents and what they may do", x=f"share unjudged down to rank {depth}", y=label)
    sheet.finish(entries, (0.7, 0.45), title=by)
    worst = points[points["unjudged"] > 0].sort_values("unjudged", ascending=False, kind="stable")
    name_points(sheet, worst, points[["x", "y"]].to_numpy(dtype=float), share=0.4)
    return sheet.ax


def groups_of(table: pd.DataFrame, by: str | None) -> NDArray[np.object_]:
    """Return (rows,) the group of each row, a word where nobody gave one."""
    if by is None:
        return np.full(len(table), "all runs", dtype=object)
    return table[by].astype(object).where(table[by].notna(), UNKNOWN).to_numpy(dtype=object)


def plot_topic_taus(per_topic: pd.DataFrame, *, measured: str, overall: float, place: Place | None = None) -> Axes:
    """Draw tau_b of the runs ranked on each topic alone, the lowest first, and a line at that of the means."""
    sheet = Sheet.open(place)
    points = per_topic[per_topic["tau_b"].notna()].sort_values("tau_b", kind="stable")
    points = points.assign(name=points["qid"], x=np.arange(1.0, len(points) + 1), y=points["tau_b"].astype(float))
    entries = [(draw_dots(sheet, points["x"], points["y"], face=sheet.ink.first, edge="white"), "one topic")]
    if not np.isnan(overall):
        entries.append((draw_level(sheet, "y", overall, "--", 2), plain(f"means over topics ({overall:.4f})")))
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
    ink, sizes = sheet.ink, sheet.sizes
    order = topics.sort_values(["density", "qid"], kind="stable", na_position="first")["qid"].tolist()
    seen = rounds[rounds["density"].notna()]
    x = seen["qid"].map({qid: number for number, qid in enumerate(order, 1)}).to_numpy(dtype=float)
    y = seen["density"].to_numpy(dtype=float)
    spans = pd.Series(y).groupby(x).agg(["min", "max"])
    sheet.ax.vlines(spans.index, spans["min"], spans["max"], color=ink.faint, linewidth=0.6 * sizes.line, zorder=2)
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
        (first, first_said, "o", area, ink.strong, "none"),
        (~first & ~last, "further rounds", "o", 0.2 * area, ink.faint, ink.faint),
        (last & entered, last_said, "o", area, ink.first, ink.first),
        (last & ~entered, f"{last_said}, not evaluated", "D", area, ink.second, ink.second),
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
