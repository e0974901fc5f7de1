"""How figures look, where they are drawn, and how nothing around the axes is cut off."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pt_reuse.errors import InputError, flag, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
else:
    Axes = Any  # which studies import from here, since matplotlib need not be there


#: from dark to light, a dozen steps of CIELAB lightness or more between neighbours; hues alternate for the colour-blind
COLOURS = ("#10265C", "#8B0F3F", "#006E78", "#D2691E", "#74ADD9", "#EBCB4B")
#: one for each colour
MARKERS = ("o", "s", "^", "D", "v", "P")
DARK, MIDDLE = "#333333", "#8C8C8C"
#: how many groups have a colour
MOST = len(COLOURS)
#: by how much markers move each time colours come round: first to those of colours that differ in grey, too
_SHIFTS = (0, 3, 1, 4, 2, 5)

#: inches: the width of a page, below which a figure is one for a column, and from which a legend stands beside the axes
PAGE, NARROW, BESIDE = 7.0, 4.5, 6.0


#: the colours of bars, lines and texts that stand for no group
FIRST, SECOND, REST, FAINT, GRID = COLOURS[0], COLOURS[3], "#D9D9D9", "#A8A8A8", "#E6E6E6"
#: the group of what nobody gave one
UNKNOWN = "not given"


@dataclass(frozen=True)
class Look:
    """How the points of one group look."""

    colour: str
    marker: str

    @property
    def edge(self) -> str:
        """Return the colour of the marker's edge: dark points that overlap are told apart, light ones seen."""
        return "white" if self.colour in COLOURS[:3] else DARK

    @property
    def stroke(self) -> str:
        """Return the colour of lines and rings, for which the lightest one is too light."""
        return "#B8960F" if self.colour == COLOURS[-1] else self.colour


def blend(n: int, light: str, dark: str) -> list[tuple[float, ...]]:
    """Return `n` colours from a light one to a dark one, in equal steps."""
    from matplotlib.colors import to_rgb

    start, end = np.array(to_rgb(light)), np.array(to_rgb(dark))
    return [tuple((start + (end - start) * step).tolist()) for step in np.linspace(0, 1, n)]


def look(number: int) -> Look:
    """Return one of many looks: colours come round after six, and then with other markers."""
    return Look(COLOURS[number % MOST], MARKERS[(number + _SHIFTS[number // MOST % MOST]) % MOST])


def looks(groups: Iterable[object]) -> dict[Any, Look]:
    """Return the look of each group of a field by its place among all their names, whatever a figure shows of them.

    Six groups at most are as far from each other in lightness as they can be; what is of no group is grey.
    """
    every = set(groups)
    names = sorted(every - {UNKNOWN}, key=str)
    apart = (MOST - 1) / max(len(names) - 1, 1) if len(names) <= MOST else 1
    field = {name: look(round(number * apart)) for number, name in enumerate(names)}
    return field | ({UNKNOWN: Look(MIDDLE, "X")} if UNKNOWN in every else {})


@dataclass(frozen=True)
class Sizes:
    """Sizes of what is drawn."""

    text: float
    area: float
    line: float
    row: float
    named: int


COLUMN_SIZES = Sizes(text=7, area=15, line=1.0, row=0.14, named=3)
PAGE_SIZES = Sizes(text=9, area=34, line=1.5, row=0.19, named=5)

#: what columns call correlations, and figures the letter tau; what is mathematics already stays
_TAUS = {"tau_b": r"$\tau_b$", "tau_ap_b": r"$\tau_{\mathrm{ap},b}$"}


def plain(text: str) -> str:
    """Return a text as matplotlib shows it letter by letter: no dollar sign is mathematics."""
    # bytes of a file that are no UTF-8 come as surrogates, which no font can draw
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    return notation("".join(letter if letter.isprintable() else "?" for letter in text).replace("$", r"\$"))


def notation(text: str) -> str:
    """Return a text with tau_b and tau_ap_b as mathematics."""
    return re.sub(r"(?<!\\)\b(tau_b|tau_ap_b)\b", lambda found: _TAUS[found[0]], text)


def of_tau(tau: float) -> str:
    """Return a tau_b as figures write it: ``tau_b .998``."""
    number = f"{tau:.3f}".replace("0.", ".", 1).replace("-", "−")
    return "no tau_b" if np.isnan(tau) else f"tau_b {number}"


def entry(text: str) -> str:
    """Return a text for a legend, which hides what begins with an underscore."""
    return notation(f" {text}" if text.startswith("_") else text)


def breadth(ax: Axes, text: str, size: float) -> float:
    """Return how wide a text is when drawn, in inches."""
    from matplotlib.text import Text

    probe = Text(0, 0, text, fontsize=size)
    probe.set_figure(ax.figure)
    return float(probe.get_window_extent().width) / float(ax.figure.dpi)


def shortened(ax: Axes, text: str, size: float, inches: float) -> str:
    """Return a name as :func:`plain` does, without its middle where it is wider; runs often differ at the end only."""
    short = plain(text)
    # letters differ in width, but not by much on average
    kept = min(len(text), int(1.3 * len(text) * inches / max(breadth(ax, short, size), 1e-6)) + 3)
    while breadth(ax, short, size) > inches and kept > 2:
        kept -= 1
        head = (kept + 1) // 2
        short = f"{plain(text[:head])}…{plain(text[len(text) - kept + head :])}"
    return short


def wrapped(ax: Axes, text: str, size: float, inches: float) -> str:
    """Return a text with line breaks where it is wider: as few lines as can be, and then as narrow."""
    return "\n".join(part for line in text.split("\n") for part in _lines(ax, line, size, inches))


def _lines(ax: Axes, line: str, size: float, inches: float) -> list[str]:
    whole, best = breadth(ax, line, size), [line]
    for letters in range(int(len(line) * inches / whole) + 3, 0, -1) if whole > inches else ():
        narrower = textwrap.wrap(line, letters)
        if all(breadth(ax, part, size) <= inches for part in narrower):
            if 1 < len(best) < len(narrower):
                break
            best = narrower
    return best


_LEAST, _MOST = 2.5, 40.0  # inches
_DEFAULT_SHARE = 0.775  # of a figure's width that matplotlib gives to its only axes
_GAP, _PAD = 0.06, 0.0417  # inches: from the axes to the legend, and around a figure as matplotlib has it
_HANDLE = 2.3  # what stands before a legend's text, in its size
#: between numbers at an axis
STEPS = [1, 2, 2.5, 5, 10]
#: what is drawn, and its text in the legend
Entries = Sequence[tuple[Any, str]]
#: what matplotlib takes by name
Style = dict[str, Any]
_OFF_SCREEN: ContextVar[bool] = ContextVar("pt_reuse_off_screen", default=False)


@contextmanager
def off_screen() -> Iterator[None]:
    """Draw new figures apart from pyplot: without a screen, and not among those that the user has open."""
    token = _OFF_SCREEN.set(True)
    try:
        yield
    finally:
        _OFF_SCREEN.reset(token)


class NoMatplotlibError(InputError):
    """There is nothing to draw with."""

    TEXT = "drawing needs matplotlib; `pip install pt-reuse[plots]` brings it."


def check_matplotlib() -> None:
    """Raise where there is nothing to draw with."""
    try:
        import matplotlib.axes  # noqa: F401
    except ImportError as error:
        raise NoMatplotlibError(NoMatplotlibError.TEXT) from error


def new_figure(width: float) -> Figure:
    """Return a figure; :meth:`Sheet.fit` makes it as high as it has to be."""
    check_matplotlib()
    size = (width, 0.6 * width)
    if not _OFF_SCREEN.get():
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, layout="constrained")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _share(ax: Axes) -> float:
    """Return the share of a figure's width that is the axes', whatever is drawn in it by now."""
    spec = ax.get_subplotspec()
    if spec is None:
        return ax.get_position(original=True).width / _DEFAULT_SHARE
    share, outer = 1.0, spec.get_topmost_subplotspec()
    for part in (spec,) if outer is spec else (spec, outer):
        widths = np.array(part.get_gridspec().get_width_ratios(), dtype=float)
        share *= float(widths[list(part.colspan)].sum() / widths.sum())
    return share


@dataclass(frozen=True)
class Place:
    """Where a user wants a figure, and what around it."""

    ax: Axes | None = None
    title: str | None = None
    legend: bool = True
    width: float | None = None

    @property
    def inches(self) -> float:
        return PAGE if self.width is None else float(self.width)

    def __post_init__(self) -> None:
        flag("legend", self.legend)
        if self.title is not None and not isinstance(self.title, str):
            raise InputError(f"title must be a text or None, got {shown(self.title)}.", argument="title")
        if self.width is None:
            return
        if self.ax is not None:
            problem = " is that of a new figure; the axes given as ax have their own. Give one of the two."
            raise InputError(f"width{problem}", argument="width")
        number = isinstance(self.width, Real) and not isinstance(self.width, bool)
        if not number or not _LEAST <= self.width <= _MOST:
            raise InputError(
                f"width must be a number of inches from {_LEAST:g} to {_MOST:g}, such as 3.3 for a paper's column "
                f"or 7 for a page, got {shown(self.width)}.",
                argument="width",
            )


def around(values: Any, air: float, least: float) -> tuple[float, float]:
    """Return limits around values, with a share of what they span, `least` at least, as air; NaN counts for nothing."""
    seen = np.asarray(values, dtype=float).ravel()
    seen = seen[np.isfinite(seen)]
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    room = air * max(high - low, least)
    return low - room, high + room


@dataclass
class Sheet:
    """Axes to draw into, with the sizes that suit their width."""

    ax: Axes
    place: Place
    width: float
    new: bool
    sizes: Sizes = field(init=False)
    below: bool = field(init=False)
    shared: dict[str, tuple[float, float]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        ax, self.below = self.ax, self.width < BESIDE
        self.sizes = COLUMN_SIZES if self.narrow else PAGE_SIZES
        for which, group, now in (
            ("x", ax.get_shared_x_axes(), ax.get_xlim),
            ("y", ax.get_shared_y_axes(), ax.get_ylim),
        ):
            if any(other is not ax and other.has_data() for other in group.get_siblings(ax)):
                self.shared[which] = now()

    @property
    def narrow(self) -> bool:
        return self.width < NARROW

    @classmethod
    def open(cls, place: Place | None, names: str = "") -> Sheet:
        """Return the sheet of a user's axes, or of a new figure."""
        check_matplotlib()
        from matplotlib.axes import Axes

        place = place or Place()
        if place.ax is not None:
            if not isinstance(place.ax, Axes):
                problem = f" must be matplotlib Axes, got {type(place.ax).__name__}."
                if isinstance(place.ax, np.ndarray):
                    problem += " Give one of them, such as axes[0]."
                raise InputError(f"ax{problem}", argument="ax")
            if place.ax.name != "rectilinear" or {place.ax.get_xscale(), place.ax.get_yscale()} != {"linear"}:
                # on a log scale losses vanish, and bars have no length
                kind = f"{place.ax.name}, {place.ax.get_xscale()} by {place.ax.get_yscale()}"
                raise InputError(f"ax must be plain Axes with linear scales, got {kind}.", argument="ax")
            if names and len(place.ax.get_shared_y_axes().get_siblings(place.ax)) > 1:
                problem = (
                    f" shares its y axis with other axes, where other names than those of these {names} would stand."
                )
                raise InputError(f"ax{problem} Make the axes without sharey.", argument="ax")
            whole = place.ax.figure.bbox.width / place.ax.figure.dpi
            return cls(place.ax, place, float(whole * min(_share(place.ax), 1.0)), new=False)
        return cls(new_figure(place.inches).subplots(), place, place.inches, new=True)

    def short(self, text: object, share: float) -> str:
        """Return a name, without its middle where it is wider than a share of the figure's width."""
        return shortened(self.ax, str(text), self.sizes.text, share * self.width)

    def legend_name(self, text: object, tail: str = "", room: float | None = None) -> str:
        """Return a name and what follows it, as wide as `room`, default what two beside each other have in a legend."""
        size = self.sizes.text
        if room is None:
            whole = 0.47 * self.width if self.below else 0.33 * self.width
            room = max(whole - breadth(self.ax, tail, size) - (_HANDLE + 1.3) * size / 72, 0.4)
        return shortened(self.ax, str(text), size, room) + tail

    def label(self, *, title: str, x: str, y: str = "") -> None:
        """Write the title and the labels of the axes, all in one size, with few lines around."""
        ax, size = self.ax, self.sizes.text
        given = self.place.title
        said = (notation(title) if self.new else "") if given is None else given
        if said:
            ax.set_title(said, fontsize=size, pad=0.6 * size, loc="center")
        ax.set_xlabel(plain(x), fontsize=size, labelpad=0.3 * size)
        ax.set_ylabel(plain(y), fontsize=size, labelpad=0.4 * size)
        ax.tick_params(labelsize=size, length=0.35 * size, width=0.6, pad=0.3 * size)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            ax.spines[side].set_linewidth(0.6)
        ax.set_axisbelow(True)

    def with_others(self, which: Literal["x", "y"], limits: tuple[float, float]) -> tuple[float, float]:
        """Return limits that leave in view what other axes show that share them."""
        now = self.shared.get(which, limits)
        return min(limits[0], *now), max(limits[1], *now)

    def limit(self, which: Literal["x", "y"], limits: tuple[float, float]) -> tuple[float, float]:
        """Set and return the limits of an axis, wider where it is shared."""
        limits = self.with_others(which, limits)
        (self.ax.set_xlim if which == "x" else self.ax.set_ylim)(limits)
        return limits

    def limit_around(
        self, which: Literal["x", "y"], values: Any, *, air: float = 0.05, least: float = 1e-6
    ) -> tuple[float, float]:
        """Limit an axis to values and some air around them."""
        return self.limit(which, around(values, air, least))

    def grid(self, axis: Literal["both", "x", "y"] = "both") -> None:
        self.ax.grid(True, axis=axis, color=GRID, linewidth=0.6, linestyle="-")

    def ticks(self, which: str, *, whole: bool = False) -> None:
        """Have as many numbers at an axis as there is room for, whole ones only where nothing is between them."""
        from matplotlib.ticker import MaxNLocator

        axis = self.ax.xaxis if which == "x" else self.ax.yaxis
        axis.get_offset_text().set_fontsize(self.sizes.text)
        # matplotlib thinks of short numbers
        most: Any = 4 if self.narrow and which == "x" else "auto"
        axis.set_major_locator(MaxNLocator(nbins=most, steps=STEPS, integer=whole))

    @property
    def room(self) -> float:
        return 0.94 * self.width if self.below else 0.33 * self.width

    def key(self, entries: Entries, title: str | None = None, *, below: bool = False) -> None:
        """Make the legend, if one is wanted; :meth:`fit` gives it its place."""
        self.below = self.below or below
        for handle, text in entries:
            handle.set_label(entry(text))  # for a legend of the user's own
        if not self.place.legend or len(entries) < 2:  # what is alone needs no key
            return
        size, columns = self.sizes.text, 1
        if self.below:
            em = size / 72
            widest = max(breadth(self.ax, text, size) for _, text in entries) + (_HANDLE + 1.2) * em
            columns = max(1, min(len(entries), int((self.room + 1.2 * em) / widest)))
        self.ax.legend(
            [handle for handle, _ in entries],
            [entry(wrapped(self.ax, text, size, self.room - _HANDLE * size / 72)) for _, text in entries],
            title=wrapped(self.ax, title, size, self.room) if title else None,
            ncols=columns,
            loc="upper left",
            frameon=False,
            fontsize=size,
            title_fontsize=size,
            alignment="left",
            borderpad=0,
            borderaxespad=0,
            handlelength=1.8,
            handletextpad=0.5,
            columnspacing=1.2,
            labelspacing=0.35,
        )

    def finish(
        self,
        entries: Entries = (),
        heights: tuple[float, float] | None = (0.62, 0.45),
        *,
        grid: Literal["both", "x", "y"] = "both",
        numbers: str = "xy",
        whole: str = "",
        title: str | None = None,
    ) -> Axes:
        """Draw grid, numbers and legend, fit the figure, and return its axes."""
        self.grid(grid)
        for which in numbers:
            self.ticks(which, whole=which in whole)
        self.key(entries, title)
        self.fit(heights and heights[not self.narrow] * self.width)
        return self.ax

    def fit(self, height: float | None) -> None:
        """Wrap the texts, put the legend beside or below, and make a new figure as high as that takes."""
        texts = {which: which.get_text() for which in (self.ax.title, self.ax.xaxis.label, self.ax.yaxis.label)}
        before: tuple[object, ...] = ()
        for _ in range(6):
            self.lay_out()
            self._wrap(texts)
            outside = self._outside()
            self._put_key(outside)
            if self.new:
                self._set_height(height, outside)
            size = (round(length, 2) for length in self.axes_size)
            now = (*(text.get_text() for text in texts), *outside, *size, self.ax.figure.bbox.height)
            if now == before:
                return
            before = now
        self.lay_out()

    def lay_out(self) -> None:
        """Let matplotlib find the place of everything; without a layout of its own a figure gets one where it must."""
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        root = self.ax.figure.canvas.figure
        engine = root.get_layout_engine()
        if engine is not None:
            engine.execute(root)
        elif self.ax.get_subplotspec() is not None:
            box, page = self._box(), self.ax.figure.bbox
            if box.x0 < page.x0 or box.y0 < page.y0 or box.x1 > page.x1 or box.y1 > page.y1:
                ConstrainedLayoutEngine().execute(root)

    def _box(self) -> Bbox:
        return self.ax.get_tightbbox() or self.ax.get_window_extent()

    def inches(self, pixels: float) -> float:
        return float(pixels) / float(self.ax.figure.dpi)

    @property
    def axes_size(self) -> tuple[float, float]:
        box = self.ax.get_window_extent()
        return self.inches(box.width), self.inches(box.height)

    def _wrap(self, texts: dict[Any, str]) -> None:
        ax, page = self.ax, self.ax.figure.bbox
        box = ax.get_window_extent()
        middle = (box.x0 + box.x1) / 2
        # a text in the middle of the axes of a figure of ours may be wider than they are
        across = 2 * (min(middle - page.x0, page.x1 - middle) - _PAD * ax.figure.dpi) if self.new else box.width
        for text, given in texts.items():
            room = box.height if text is ax.yaxis.label else across
            text.set_text(wrapped(ax, given, self.sizes.text, max(self.inches(room), 0.5)))

    def _put_key(self, outside: tuple[float, float]) -> None:
        from matplotlib.transforms import ScaledTranslation

        ax, key = self.ax, self.ax.get_legend()
        if key is None:
            return
        if not self.below:
            ax.set_anchor("W")  # a square stays beside its legend
            away = ScaledTranslation(_GAP * 2, 0, ax.figure.dpi_scale_trans)
            key.set_bbox_to_anchor((1, 1), transform=ax.transAxes + away)
            return
        away = ScaledTranslation(-outside[0], -outside[1] - _GAP, ax.figure.dpi_scale_trans)
        key.set_bbox_to_anchor((0, 0), transform=ax.transAxes + away)

    def _outside(self) -> tuple[float, float]:
        """Return how far ticks and labels go out of the axes, to the left and below, in inches."""
        box = self.ax.get_window_extent()
        left, below = self.ax.yaxis.get_tightbbox(), self.ax.xaxis.get_tightbbox()
        return (
            round(self.inches(max(0, box.x0 - left.x0)), 3) if left else 0.0,
            round(self.inches(max(0, box.y0 - below.y0)), 3) if below else 0.0,
        )

    def _set_height(self, height: float | None, outside: tuple[float, float]) -> None:
        root, key = self.ax.figure.canvas.figure, self.ax.get_legend()
        if self.below and height is None:
            self.ax.set_anchor("W")  # so that what a square leaves free is on one side
        beside = 0.0 if key is None or self.below else self.inches(key.get_window_extent().width) + 2 * _GAP
        free = self.width - outside[0] - max(beside, 0.15) - 2 * _PAD
        wanted = min(free, 0.5 * PAGE) if height is None else height
        around = self.inches(self._box().height) - self.axes_size[1]
        root.set_figheight(round(wanted + around + 2 * _PAD, 2))
