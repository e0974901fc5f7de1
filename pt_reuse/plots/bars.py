"""Lying bars, one for each unit, with a note at the end of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, positive
from pt_reuse._errors import Argument, InputError
from pt_reuse.plots.lettering import breadth, shortened
from pt_reuse.plots.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: bars that are shown at most where nobody says otherwise: on a page, in a column
MOST_BARS, MOST_IN_COLUMN = 30, 15
_NAME, _NOTE = 0.32, 0.42  # of the width, at most


@dataclass(frozen=True)
class Bars:
    """What is to be drawn, the first bar on top.

    Attributes:
        names: of the units.
        parts: of each bar from left to right, two at most: what it is, and (units,) how long.
        notes: what stands at the end of each bar: a name, which may be shortened, and what follows it.
        word: what a unit is.
    """

    names: Sequence[str]
    parts: Sequence[tuple[str, NDArray]]
    notes: Sequence[tuple[str, str]]
    word: str


def draw_bars(sheet: Sheet, bars: Bars, *, top: int | None, title: str, x: str) -> Axes:
    """Draw the first `top` bars, fewer in axes too low for them, and say how many there are besides.

    Args:
        sheet: where to.
        bars: all of them.
        top: how many at most; default 30, 15 in a column.
        title: of a new figure.
        x: what the bars count.
    """
    from matplotlib.patches import Patch

    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    check_own_names(ax, "bars")
    shown = min(len(bars.names), most_rows(sheet, top))
    rest = len(bars.names) - shown
    place = np.arange(shown)[::-1]
    ends = np.zeros(shown)
    entries = []
    for (what, lengths), colour in zip(bars.parts, (ink.first, ink.rest), strict=False):
        ax.barh(
            place,
            lengths[:shown],
            0.76,
            ends,
            facecolor=colour,
            edgecolor=ink.strong,
            linewidth=0.3,
            zorder=2,
            label=what,
        )
        entries.append((Patch(facecolor=colour, edgecolor=ink.strong, linewidth=0.3), what))
        ends = ends + lengths[:shown]
    names = [shortened(ax, name, sizes.text, _NAME * sheet.width) for name in bars.names[:shown]]
    ax.set_yticks(place, names)
    ax.set_ylim(-0.7, max(shown, 1) - 0.3)
    sheet.limit("x", (0, max(float(ends.max(initial=0)), 1) * 1.1))
    more = f" ({count(rest, f'more {bars.word}')} not shown)" if rest else ""
    sheet.label(title=title, x=f"{x}{more}")
    sheet.grid("x")
    sheet.ticks("x", whole=True)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.tick_params(axis="y", length=0)
    if len(bars.parts) > 1:
        sheet.key(entries, below=True)
    sheet.fit(sizes.row * (max(shown, 2) + 0.4))
    notes = []
    for name, tail in bars.notes[:shown]:
        room = max(_NOTE * sheet.width - breadth(ax, tail, sizes.text), 0.3)
        notes.append((shortened(ax, name, sizes.text, room) if name else "") + tail)
    _leave_room(sheet, ends, notes)
    sheet.settle()
    for y, end, note in zip(place, ends, notes, strict=True):
        ax.annotate(
            note, (end, y), xytext=(3, 0), textcoords="offset points", va="center_baseline", fontsize=sizes.text
        )
    return ax


def most_rows(sheet: Sheet, top: int | None = None) -> int:
    """Return how many rows with names are shown at most, fewer in axes too low for them.

    Args:
        sheet: where they are drawn.
        top: how many at most; default 30, 15 in a column.
    """
    most = (MOST_IN_COLUMN if sheet.narrow else MOST_BARS) if top is None else top
    return most if sheet.new else min(most, max(1, int(sheet.axes_size[1] / (1.25 * sheet.sizes.text / 72)) - 1))


def _leave_room(sheet: Sheet, ends: NDArray, notes: Sequence[str]) -> None:
    """Let the axes end where the last note does."""
    across = sheet.axes_size[0]
    widths = np.array([breadth(sheet.ax, note, sheet.sizes.text) for note in notes]) + 5 / 72
    free = np.maximum(across - widths, 0.1 * across)
    sheet.limit("x", (0, max(float((ends * across / free).max(initial=0)), 1.0)))


def checked_top(top: int | None) -> int | None:
    """Return a user's number of bars, or raise."""
    return None if top is None else positive("top", top, "bars")


def check_own_names(ax: Axes, rows: str) -> None:
    """Raise where axes share their upright axis, on which the names of the rows are to stand.

    Args:
        ax: the axes.
        rows: what the rows are, in the plural.
    """
    if len(ax.get_shared_y_axes().get_siblings(ax)) > 1:
        problem = f" shares its y axis with other axes, where other names than those of these {rows} would stand."
        raise InputError(Argument("ax"), problem, " Make the axes without sharey.", argument="ax")
