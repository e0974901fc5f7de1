"""How figures look: colours that differ in grey too, markers, sizes, and texts fitted by what they measure."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: from dark to light, a dozen steps of CIELAB lightness or more between neighbours; hues alternate for the colour-blind
COLOURS = ("#10265C", "#8B0F3F", "#006E78", "#D2691E", "#74ADD9", "#EBCB4B")
#: one for each colour
MARKERS = ("o", "s", "^", "D", "v", "P")
DARK, MIDDLE = "#333333", "#8C8C8C"
#: how many groups have a colour
MOST = len(COLOURS)

#: inches: the width of a page, below which a figure is one for a column, and from which a legend stands beside the axes
PAGE, NARROW, BESIDE = 7.0, 4.5, 6.0


@dataclass(frozen=True)
class Look:
    """How the points of one group look."""

    colour: str
    marker: str

    @property
    def edge(self) -> str:
        """Return the colour of the marker's edge: dark points that overlap are told apart, light ones seen."""
        return "white" if COLOURS.index(self.colour) < 3 else DARK


def blend(n: int, light: str, dark: str) -> list[tuple[float, ...]]:
    """Return `n` colours from a light one to a dark one, in equal steps."""
    from matplotlib.colors import to_rgb

    start, end = np.array(to_rgb(light)), np.array(to_rgb(dark))
    return [tuple((start + (end - start) * step).tolist()) for step in np.linspace(0, 1, n)]


def looks(n: int) -> list[Look]:
    """Return the looks of `n` groups, six at most, as far from each other in lightness as they can be."""
    if n < 2:
        return [Look(COLOURS[0], MARKERS[0])][:n]
    places = [round(i * (MOST - 1) / (n - 1)) for i in range(n)]
    return [Look(COLOURS[place], MARKERS[place]) for place in places]


@dataclass(frozen=True)
class Ink:
    """The colours of bars and lines on one ground."""

    first: str
    rest: str
    second: str
    faint: str
    strong: str
    grid: str


ON_LIGHT = Ink(COLOURS[0], "#D9D9D9", COLOURS[3], "#A8A8A8", DARK, "#E6E6E6")
ON_DARK = Ink(COLOURS[4], "#4D4D4D", COLOURS[3], "#A8A8A8", "#E6E6E6", "#404040")


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

_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def plain(text: str) -> str:
    """Return a text as matplotlib shows it letter by letter: no dollar sign is mathematics, no ampersand TeX."""
    import matplotlib as mpl

    # bytes of a file that are no UTF-8 come as surrogates, which no font can draw
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    if mpl.rcParams["text.usetex"]:
        return "".join(_TEX.get(letter, letter) for letter in text)
    return text.replace("$", r"\$")


def entry(text: str) -> str:
    """Return a text for a legend, which hides what begins with an underscore."""
    return f" {text}" if text.startswith("_") else text


def breadth(ax: Axes, text: str, size: float) -> float:
    """Return how wide a text is when drawn, in inches."""
    from matplotlib.text import Text

    probe = Text(0, 0, text, fontsize=size)
    probe.set_figure(ax.figure)
    return float(probe.get_window_extent().width) / float(ax.figure.dpi)


def shortened(ax: Axes, text: str, size: float, inches: float) -> str:
    """Return a name as :func:`plain` does, without its middle where it is wider; runs often differ at the end only."""
    whole = plain(text)
    if breadth(ax, whole, size) <= inches:
        return whole
    least, most = 2, len(text)
    while least < most:
        kept = (least + most + 1) // 2
        if breadth(ax, _without_middle(text, kept), size) <= inches:
            least = kept
        else:
            most = kept - 1
    return _without_middle(text, least)


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return f"{plain(text[:head])}…{plain(text[len(text) - kept + head :])}"


def wrapped(ax: Axes, text: str, size: float, inches: float) -> str:
    """Return a text with line breaks where it is wider, in lines of like length."""
    return "\n".join(part for line in text.split("\n") for part in _balanced(ax, line, size, inches))


def _balanced(ax: Axes, line: str, size: float, inches: float) -> list[str]:
    """Return the lines of a text: as few as can be, and then as narrow."""
    whole = breadth(ax, line, size)
    if whole <= inches:
        return [line]
    letters = int(len(line) * inches / whole) + 3
    lines = [line]
    for width in range(letters, 0, -1):
        narrower = textwrap.wrap(line, width)
        fits = all(breadth(ax, part, size) <= inches for part in narrower)
        if fits and len(lines) > 1 and len(narrower) > len(lines):
            break
        if fits:
            lines = narrower
    return lines
