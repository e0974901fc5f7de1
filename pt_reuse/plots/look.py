"""How figures look: colours that differ in grey too, markers, sizes, and texts fitted by what they measure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    """Return a text with line breaks where it is wider, in lines of like length; a formula stays whole."""
    return "\n".join(line for given in text.split("\n") for line in _balanced(ax, given, size, inches))


def _balanced(ax: Axes, text: str, size: float, inches: float) -> list[str]:
    """Return the lines of a text: as few as can be, and then as narrow."""
    if breadth(ax, text, size) <= inches:
        return [text]
    space = breadth(ax, "n n", size) - breadth(ax, "nn", size)
    words = [part for word in _words(text) for part in _cut(ax, word, size, inches)]
    widths = [breadth(ax, word, size) for word in words]
    lines = _filled(widths, space, inches)
    bracket = next((n for n, word in enumerate(words) if word.startswith("(")), 0)
    if (
        len(lines) == 2
        and bracket
        and all(_total(part, space) <= inches for part in (widths[:bracket], widths[bracket:]))
    ):
        lines = [bracket, len(words)]
    else:
        for share in (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55):
            narrower = _filled(widths, space, share * inches)
            if len(narrower) > len(lines):
                break
            lines = narrower
    return [" ".join(words[start:end]) for start, end in pairwise([0, *lines])]


def _total(widths: Sequence[float], space: float) -> float:
    return sum(widths) + space * (len(widths) - 1)


def _filled(widths: Sequence[float], space: float, inches: float) -> list[int]:
    """Return the number of words up to the end of each line, when every line takes as many as it can."""
    ends, start = [], 0
    for n in range(1, len(widths)):
        if _total(widths[start : n + 1], space) > inches:
            ends.append(n)
            start = n
    return [*ends, len(widths)]


def _cut(ax: Axes, word: str, size: float, inches: float) -> Iterator[str]:
    """Yield the parts of a word that is too wide for a line; a formula cannot be cut."""
    while "$" not in word and "\\" not in word and len(word) > 1 and breadth(ax, word, size) > inches:
        fits = next((n for n in range(len(word) - 1, 1, -1) if breadth(ax, word[:n], size) <= inches), 1)
        yield word[:fits]
        word = word[fits:]
    yield word


def _words(line: str) -> Iterator[str]:
    """Yield the words of a line; those between two dollar signs that make a formula stay one."""
    held: list[str] = []
    for word in line.split():
        held.append(word)
        if sum(len(re.findall(r"(?<!\\)\$", part)) for part in held) % 2 == 0:
            yield " ".join(held)
            held = []
    yield from held
