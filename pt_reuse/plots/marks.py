"""Marks that several figures share: lines, dots, named rows, lying bars, shaded cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, positive
from pt_reuse.plots.sheet import COLOURS, MIDDLE, Entries, Place, Sheet, Style, breadth, plain, shortened

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: rows that are shown at most where nobody says otherwise: on a page, in a column
MOST_ROWS, MOST_IN_COLUMN = 30, 15
#: where the bands of a kappa begin
BANDS = (0.4, 0.6, 0.8)
HATCH = "//////"
_NOTE = 0.42  # of the width, at most


def draw_line(
    sheet: Sheet, x: Any, y: Any, colour: Any, *, marker: str = "", size: float = 0.7, **style: Any
) -> Artist:
    """Draw a line, with markers of a share of the usual size."""
    style.setdefault("linewidth", sheet.sizes.line)
    style.setdefault("zorder", 3)
    (line,) = sheet.ax.plot(x, y, color=colour, marker=marker, markersize=size * sheet.sizes.area**0.5, **style)
    drawn: Artist = line
    return drawn


def draw_dots(
    sheet: Sheet, x: Any, y: Any, *, face: Any, edge: Any, marker: str = "o", area: float = 1.0, **style: Any
) -> Artist:
    """Draw dots of a share of the usual area."""
    style.setdefault("linewidth", 0.4)
    style.setdefault("zorder", 3)
    drawn: Artist = sheet.ax.scatter(
        x, y, s=area * sheet.sizes.area, marker=marker, facecolor=face, edgecolor=edge, **style
    )
    return drawn


def draw_level(sheet: Sheet, way: Literal["x", "y"], at: float, stroke: Any = "-", zorder: float = 1) -> Artist:
    """Draw a thin line across the axes, upright at a place on the x axis or level at one on the y axis."""
    draw = sheet.ax.axvline if way == "x" else sheet.ax.axhline
    line: Artist = draw(at, color=sheet.ink.strong, linewidth=0.8, linestyle=stroke, zorder=zorder)
    return line


def swatch(face: Any, edge: Any, width: float = 0.3, **style: Any) -> Artist:
    """Return what stands in a legend for a filled area."""
    from matplotlib.patches import Patch

    return Patch(facecolor=face, edgecolor=edge, linewidth=width, **style)


def not_shown(n: int, word: str) -> str:
    """Return how many more there are than are drawn, in words for a label; nothing where all are."""
    return f" ({count(n, f'more {word}')} not shown)" if n else ""


def checked_top(top: int | None) -> int | None:
    """Return a user's number of rows, or raise."""
    return None if top is None else positive("top", top, "bars")


def most_rows(sheet: Sheet, top: int | None = None) -> int:
    """Return how many rows with names are shown: `top`, default 30, 15 in a column; fewer in axes too low for them."""
    most = (MOST_IN_COLUMN if sheet.narrow else MOST_ROWS) if top is None else top
    return most if sheet.new else min(most, max(1, int(sheet.axes_size[1] / (1.25 * sheet.sizes.text / 72)) - 1))


def down(n: int) -> NDArray[np.float64]:
    """Return the places of `n` rows, the first on top."""
    return np.arange(n)[::-1].astype(float)


def finish_rows(
    sheet: Sheet,
    names: Sequence[object],
    entries: Entries = (),
    *,
    name_share: float = 0.32,
    height: float = 1.0,
    grid: Literal["both", "x"] = "x",
    whole: bool = False,
    title: str | None = None,
) -> Axes:
    """Name rows that were drawn, the first on top, and finish their figure, the legend below it."""
    ax, n = sheet.ax, len(names)
    ax.set_yticks(down(n), [sheet.short(name, name_share) for name in names])
    ax.set_ylim(-0.7, max(n, 1) - 0.3)
    sheet.grid(grid)
    sheet.ticks("x", whole=whole)
    ax.tick_params(axis="y", length=0)
    sheet.key(entries, title, below=True)
    sheet.fit(height * sheet.sizes.row * (max(n, 2) + 0.4))
    return ax


def draw_bars(
    place: Place | None,
    names: Sequence[object],
    parts: Sequence[tuple[str, NDArray]],
    notes: Sequence[tuple[str, str]],
    *,
    word: str,
    top: int | None,
    title: str,
    x: str,
    outside: bool = False,
) -> Axes:
    """Draw a lying bar for each unit, the first on top, `top` at most; how many there are besides stands below.

    Notes stand at the ends of the bars, or, `outside`, in a column right of the axes, which long names do not stretch.
    """
    sheet = Sheet.open(place, "bars")
    ax, sizes, ink = sheet.ax, sheet.sizes, sheet.ink
    shown = min(len(names), most_rows(sheet, top))
    rows, ends = down(shown), np.zeros(shown)
    entries = []
    for (what, lengths), colour in zip(parts, (ink.first, ink.rest), strict=False):
        edges: Style = {"facecolor": colour, "edgecolor": ink.strong, "linewidth": 0.3}
        ax.barh(rows, lengths[:shown], 0.76, ends, zorder=2, label=what, **edges)
        entries.append((swatch(colour, ink.strong), what))
        ends = ends + lengths[:shown]
    sheet.limit("x", (0, max(float(ends.max(initial=0)), 1) * 1.1))
    sheet.label(title=title, x=x + not_shown(len(names) - shown, word))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    finish_rows(sheet, names[:shown], entries if len(parts) > 1 else (), whole=True)
    texts = []
    for name, said in notes[:shown]:
        tail = (" " if name else "") + plain(said)
        # outside the axes notes take their room from the names on the left and the bars
        room = max((0.75 if outside else 1) * _NOTE * sheet.width - breadth(ax, tail, sizes.text), 0.3)
        texts.append((shortened(ax, name, sizes.text, room) if name else "") + tail)
    if outside:
        sheet.limit("x", (0, max(float(ends.max(initial=0)), 1) * 1.03))
        for y, text in zip(rows, texts, strict=True):
            place_: Style = {"xycoords": ax.get_yaxis_transform(), "xytext": (4, 0), "textcoords": "offset points"}
            ax.annotate(text, (1, y), fontsize=sizes.text, va="center_baseline", annotation_clip=False, **place_)
        sheet.settle()
        return ax
    # the axes end where the last note does
    across = sheet.axes_size[0]
    widths = np.array([breadth(ax, text, sizes.text) for text in texts]) + 5 / 72
    free = np.maximum(across - widths, 0.1 * across)
    sheet.limit("x", (0, max(float((ends * across / free).max(initial=0)), 1.0)))
    sheet.settle()
    for y, end, text in zip(rows, ends, texts, strict=True):
        where: Style = {"xytext": (3, 0), "textcoords": "offset points", "va": "center_baseline"}
        ax.annotate(text, (end, y), fontsize=sizes.text, **where)
    return ax


def draw_confusion(
    sheet: Sheet,
    shares: NDArray[np.float64],
    texts: Sequence[str],
    labels: tuple[Sequence[object], Sequence[object]],
    *,
    most: float,
    light: str,
    white_above: float,
) -> None:
    """Draw cells, darker where a share (rows, columns) is larger, with a text in each; the first row is the lowest."""
    from matplotlib.colors import LinearSegmentedColormap

    ax, (n_rows, n_columns) = sheet.ax, shares.shape
    shades = LinearSegmentedColormap.from_list("shares", [light, COLOURS[0]])
    ax.pcolormesh(np.arange(n_columns + 1), np.arange(n_rows + 1), shares, cmap=shades, vmin=0, vmax=most)
    for ((row, column), share), text in zip(np.ndenumerate(shares), texts, strict=True):
        where: Style = {"ha": "center", "va": "center", "fontsize": sheet.sizes.text}
        colour = "white" if share > white_above else "black"
        ax.text(column + 0.5, row + 0.5, text, color=colour, **where)
    ax.set_xticks(np.arange(n_columns) + 0.5, [str(label) for label in labels[1]])
    ax.set_yticks(np.arange(n_rows) + 0.5, [str(label) for label in labels[0]])


def draw_image(
    sheet: Sheet, cells: NDArray[np.float64], colours: Any, norm: Any, aspect: Literal["auto", "equal"] = "auto"
) -> None:
    """Draw cells in their colours, the first row on top, in a frame; cells that are NaN show what is behind them."""
    image = sheet.ax.imshow(
        np.ma.masked_invalid(cells), cmap=colours, norm=norm, interpolation="nearest", aspect=aspect
    )
    image.set_zorder(1)


def frame(sheet: Sheet) -> None:
    """Draw all four sides of the axes."""
    for side in ("top", "right"):
        sheet.ax.spines[side].set_visible(True)
        sheet.ax.spines[side].set_linewidth(0.6)


def hatched_ground(sheet: Sheet) -> Artist:
    """Hatch what is behind the cells, and return what stands for it in a legend."""
    sheet.ax.patch.set(facecolor="white", hatch=HATCH, edgecolor=MIDDLE)
    return swatch("white", MIDDLE, 0.4, hatch=HATCH)
