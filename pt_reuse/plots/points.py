"""A point for each run: its score against what other judgments make of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count
from pt_reuse._errors import InputError, Option
from pt_reuse.plots.look import MIDDLE, MOST, breadth, looks, shortened
from pt_reuse.plots.marks import draw_dots, draw_level
from pt_reuse.plots.sheet import Sheet, Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist

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
        """Return (runs,) what the upright axis shows."""
        return self.table["other_score"].to_numpy(dtype=float) if self.kind == "scores" else self.effect

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """Return (runs,) whether a run has a point."""
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


def check_view(kind: str, by: str | None, allowed: Sequence[str], run_table: pd.DataFrame) -> None:
    """Raise unless a user's ``kind=`` is a view and ``by=`` is None or one of those allowed, which some run has."""
    choice("kind", kind, VIEWS)
    if by is None:
        return
    choice("by", by, allowed)
    if by != "run" and (by not in run_table or run_table[by].isna().all()):
        raise InputError(
            Option("by", by),
            f" needs runs with a {by}; no run has one. Give ",
            *((Option("metadata", ...), " with a column 'family'") if by == "family" else (Option(f"{by}s", ...),)),
            " when reading the runs.",
            argument="by",
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
