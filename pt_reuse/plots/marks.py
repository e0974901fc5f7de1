"""The marks that figures are made of: points, lines, bars, rows of intervals, cells with a number, names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.errors import count, positive
from pt_reuse.plots.sheet import (
    COLOURS,
    DARK,
    FIRST,
    MIDDLE,
    REST,
    Entries,
    Place,
    Sheet,
    Style,
    breadth,
    plain,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: rows that are shown at most where nobody says otherwise: on a page, in a column
MOST_ROWS, MOST_IN_COLUMN = 30, 15
#: where the bands of a kappa begin
BANDS = (0.4, 0.6, 0.8)
HATCH = "//////"
#: each time that colours come round, a line is broken otherwise
STROKES = ("-", "--", ":", "-.")
_NOTE = 0.42  # of the width, at most
#: of the usual area, a dot of one point among dots of many, and the largest of these
_ONE, _LARGEST = 0.7, 14.0


def draw_line(
    sheet: Sheet, x: Any, y: Any, colour: Any, *, marker: str = "", size: float = 0.7, **style: Any
) -> Artist:
    """Draw a line, with markers of a share of the usual size."""
    style = {"linewidth": sheet.sizes.line, "zorder": 3, **style}
    (line,) = sheet.ax.plot(x, y, color=colour, marker=marker, markersize=size * sheet.sizes.area**0.5, **style)
    drawn: Artist = line
    return drawn


def draw_dots(
    sheet: Sheet, x: Any, y: Any, *, face: Any, edge: Any, marker: str = "o", area: Any = 1.0, **style: Any
) -> Artist:
    """Draw dots of a share of the usual area."""
    style = {"s": area * sheet.sizes.area, "linewidth": 0.4, "zorder": 3, **style}
    colours = {"color": edge} if marker in "|x" else {"facecolor": face, "edgecolor": edge}
    drawn: Artist = sheet.ax.scatter(x, y, marker=marker, **colours, **style)
    return drawn


def draw_counted(sheet: Sheet, x: Any, y: Any, **style: Any) -> Artist:
    """Draw a dot for all points at one place, as large as they are many, the largest below the others."""
    places = pd.DataFrame({"x": np.asarray(x, dtype=float), "y": np.asarray(y, dtype=float)})
    sizes = places.groupby(["x", "y"]).size().sort_values(ascending=False, kind="stable").rename("n").reset_index()
    each = min(_ONE, _LARGEST / sizes["n"].max()) if len(sizes) else _ONE
    return draw_dots(sheet, sizes["x"], sizes["y"], area=np.maximum(each * sizes["n"], 0.2), **style)


def draw_level(sheet: Sheet, way: Literal["x", "y"], at: float, stroke: Any = "-", zorder: float = 1) -> Artist:
    """Draw a thin line across the axes, upright at a place on the x axis or level at one on the y axis."""
    draw = sheet.ax.axvline if way == "x" else sheet.ax.axhline
    line: Artist = draw(at, color=DARK, linewidth=0.8, linestyle=stroke, zorder=zorder)
    return line


def swatch(face: Any, edge: Any = DARK, width: float = 0.4, **style: Any) -> Artist:
    """Return what stands in a legend for a filled area."""
    from matplotlib.patches import Patch

    return Patch(facecolor=face, edgecolor=edge, linewidth=width, **style)


def not_shown(n: int, word: str) -> str:
    """Return how many more there are than are drawn, in words for a label; nothing where all are."""
    return f" ({count(n, f'more {word}')} not shown)" if n else ""


def notes(*counts: tuple[int, str], noun: str) -> str:
    """Return how many are not drawn for each reason, in words for a label; nothing where all are."""
    texts = [f"{count(n, noun)} {why}" for n, why in counts if n]
    return f" ({', '.join(texts)})" if texts else ""


# rows with names


def most_rows(sheet: Sheet, top: int | None = None) -> int:
    """Return how many rows with names are shown: `top`, default 30, 15 in a column; fewer in axes too low for them."""
    most = (MOST_IN_COLUMN if sheet.narrow else MOST_ROWS) if top is None else positive("top", top, "bars")
    return most if sheet.new else min(most, max(1, int(sheet.axes_size[1] / (1.25 * sheet.sizes.text / 72)) - 1))


def down(n: int) -> NDArray[np.float64]:
    """Return the places of `n` rows, the first on top."""
    return np.arange(n)[::-1].astype(float)


@dataclass(frozen=True)
class Kind:
    """How rows of one kind are drawn, and what the legend calls them."""

    said: str = ""
    colour: str = FIRST
    marker: str = "o"
    hollow: bool = False
    stroke: Any = "-"
    shift: float = 0.0  # above the middle of the row
    area: float = 1.0
    thin: bool = False


def draw_intervals(
    sheet: Sheet, rows: pd.DataFrame, at: Any, columns: tuple[str, str, str], kind: Kind
) -> tuple[Artist, str]:
    """Draw values of rows as dots, and their intervals as lines; `columns` name values, lower and upper ends."""
    (value, low, high), y = columns, np.asarray(at) + kind.shift
    if low in rows:
        width = (0.5 if kind.thin else 1) * sheet.sizes.line
        style: Style = {"color": kind.colour, "linewidth": width, "linestyles": kind.stroke, "zorder": 2}
        sheet.ax.hlines(y, rows[low], rows[high], **style)
    face = sheet.ax.get_facecolor() if kind.hollow else kind.colour
    style = {"marker": kind.marker, "area": kind.area, "linewidth": 0.9, "zorder": 4}
    return draw_dots(sheet, rows[value], y, face=face, edge=kind.colour, **style), kind.said


def draw_kinds(
    sheet: Sheet, rows: pd.DataFrame, columns: tuple[str, str, str], kinds: Mapping[Any, Kind], column: str = "kind"
) -> Entries:
    """Draw rows, each in its kind, and return the legend."""
    of, at = rows[column].to_numpy(), down(len(rows))
    drawn = [(kind, of == name) for name, kind in kinds.items()]
    return [draw_intervals(sheet, rows[mine], at[mine], columns, kind) for kind, mine in drawn if mine.any()]


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
) -> Axes:
    """Draw a lying bar for each unit, the first on top, `top` at most; how many there are besides stands below.

    Notes stand in a column right of the axes, which long names do not stretch.
    """
    if top is not None:
        positive("top", top, "bars")
    sheet = Sheet.open(place, "bars")
    ax, sizes = sheet.ax, sheet.sizes
    shown = min(len(names), most_rows(sheet, top))
    rows, ends = down(shown), np.zeros(shown)
    entries = []
    for (what, lengths), colour in zip(parts, (FIRST, REST), strict=False):
        edges: Style = {"facecolor": colour, "edgecolor": DARK, "linewidth": 0.3}
        ax.barh(rows, lengths[:shown], 0.76, ends, zorder=2, label=what, **edges)
        entries.append((swatch(colour), what))
        ends = ends + lengths[:shown]
    sheet.limit("x", (0, max(float(ends.max(initial=0)), 1) * 1.03))
    sheet.label(title=title, x=x + not_shown(len(names) - shown, word))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    finish_rows(sheet, names[:shown], entries, whole=True)
    style: Style = {"fontsize": sizes.text, "va": "center_baseline", "textcoords": "offset points"}
    for y, (name, said) in zip(rows, notes, strict=False):
        # notes take their room from the names on the left and the bars
        tail = plain(said)
        room = max(0.75 * _NOTE * sheet.width - breadth(ax, tail, sizes.text), 0.3)
        text = (shortened(ax, name, sizes.text, room) if name else "") + tail
        where: Style = {"xycoords": ax.get_yaxis_transform(), "xytext": (4, 0), "annotation_clip": False}
        ax.annotate(text, (1, y), **where, **style)
    sheet.lay_out()
    return ax


# cells


def draw_cells(
    sheet: Sheet,
    cells: NDArray[np.float64],
    texts: NDArray[Any],
    names: tuple[Sequence[object], Sequence[object]],
    shades: Any,
    limits: tuple[float, float],
    *,
    upwards: bool = False,
) -> None:
    """Draw cells in their shades, with a text in each and names of rows and columns; NaN shows what is behind.

    The first row is on top, or, `upwards`, the lowest.
    """
    ax, size = sheet.ax, sheet.sizes.text
    style: Style = {"cmap": shades, "vmin": limits[0], "vmax": limits[1], "interpolation": "nearest", "aspect": "auto"}
    image = ax.imshow(np.ma.masked_invalid(cells), origin="lower" if upwards else "upper", **style)
    image.set_zorder(1)
    for (row, column), text in np.ndenumerate(texts):
        red, green, blue, _ = image.to_rgba(np.nan_to_num(cells[row, column], nan=limits[0]))
        dark = not np.isnan(cells[row, column]) and 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        where: Style = {"ha": "center", "va": "center_baseline" if "\n" not in text else "center", "zorder": 4}
        if text:
            ax.text(column, row, text, fontsize=size, color="white" if dark else "black", **where)
    rows, columns = (
        [sheet.short(name, share) for name in labels] for labels, share in zip(names, (0.3, 0.2), strict=True)
    )
    fit = all(breadth(ax, name, size) <= 0.62 * sheet.width / len(columns) for name in columns)
    turned: Style = {"rotation": 0, "ha": "center"} if fit else {"rotation": 30, "ha": "right"}
    ax.set_xticks(range(len(columns)), columns, rotation_mode="anchor" if turned["rotation"] else None, **turned)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(axis="both", length=0)


def frame(sheet: Sheet) -> None:
    """Draw all four sides of the axes."""
    for side in ("top", "right"):
        sheet.ax.spines[side].set_visible(True)
        sheet.ax.spines[side].set_linewidth(0.6)


def shading(*colours: str) -> Any:
    """Return shades from the first colour to the last."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", colours)


def darker(most: str = COLOURS[0]) -> Any:
    """Return shades from a light grey to a dark colour."""
    return shading("#F4F4F4", most)


def hatched_ground(sheet: Sheet) -> Artist:
    """Hatch what is behind the cells, and return what stands for it in a legend."""
    sheet.ax.patch.set(facecolor="white", hatch=HATCH, edgecolor=MIDDLE)
    return swatch("white", MIDDLE, hatch=HATCH)


# names


def name_points(sheet: Sheet, named: pd.DataFrame, occupied: NDArray[np.float64], share: float = 0.42) -> None:
    """Write the names of the first of some points, ``name x y``, beside them, where there is room."""
    ax, taken = sheet.ax, list[NDArray[np.float64]]()
    size, dot, edges = sheet.sizes.text, ax.figure.dpi / 72, ax.get_window_extent()
    pixels = ax.transData.transform(occupied)
    radius = (0.5 * sheet.sizes.area**0.5 + 1) * dot
    away, gap = radius + 2.5 * dot, np.array([0.6 * size * dot, 0])
    for name, x, y in named[["name", "x", "y"]].head(sheet.sizes.named).itertuples(index=False):
        text = shortened(ax, str(name), size, share * sheet.axes_size[0])
        here = ax.transData.transform((float(x), float(y)))
        wide, high = breadth(ax, text, size) * ax.figure.dpi, 1.15 * size * dot
        others = pixels[np.abs(pixels - here).max(axis=1) > 0.5]
        # where that is possible further from other points than from its own, so that nobody takes it for theirs
        for apart, corner in product((away + dot, radius), _places(here, away, wide, high)):
            box = np.array([*corner, corner[0] + wide, corner[1] + high])
            inside = box[0] >= edges.x0 and box[1] >= edges.y0 and box[2] <= edges.x1 and box[3] <= edges.y1
            near = (others >= box[:2] - apart).all(axis=1) & (others <= box[2:] + apart).all(axis=1)
            # two names beside each other are no one name
            touching = any((box[:2] - gap < other[2:]).all() and (other[:2] < box[2:] + gap).all() for other in taken)
            if inside and not near.any() and not touching:
                taken.append(box)
                shift = ((corner[0] - here[0]) / dot, (corner[1] + high / 2 - here[1]) / dot)
                where: Style = {"xytext": shift, "textcoords": "offset points", "va": "center"}
                ax.annotate(text, (float(x), float(y)), fontsize=size, zorder=5, **where)
                break


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


def name_at_right(
    sheet: Sheet, texts: Sequence[str], ends: Sequence[tuple[float, float]], at: float, apart: float, last: float
) -> None:
    """Write a text for each end of a line at `at`, in the order given, no two nearer than `apart`, none beyond `last`.

    A thin line leads from the end to its text.
    """
    thin: Style = {"arrowstyle": "-", "linewidth": 0.5, "color": DARK, "shrinkA": 1, "shrinkB": 2}
    places = [y for _, y in ends]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + apart)
    if places:
        places[-1] = min(places[-1], last)
    for i in range(len(places) - 2, -1, -1):
        places[i] = min(places[i], places[i + 1] - apart)
    for text, end, y in zip(texts, ends, places, strict=True):
        sheet.ax.annotate(text, end, xytext=(at, y), fontsize=sheet.sizes.text, va="center", arrowprops=thin)
