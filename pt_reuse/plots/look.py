"""How figures look: colours that differ in grey too, markers, lines, and sizes for a column and for a page."""

from __future__ import annotations

from dataclasses import dataclass

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


def looks(n: int) -> list[Look]:
    """Return the looks of `n` groups, six at most, as far from each other in lightness as they can be."""
    if n < 2:
        return [Look(COLOURS[0], MARKERS[0])][:n]
    places = [round(i * (MOST - 1) / (n - 1)) for i in range(n)]
    return [Look(COLOURS[place], MARKERS[place]) for place in places]


@dataclass(frozen=True)
class Ink:
    """The colours of bars and lines on one ground.

    Attributes:
        first: of the first bars or line.
        rest: of the bars after them.
        second: of the second line.
        faint: of the third line.
        strong: of edges and upright lines.
        grid: of the grid.
    """

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
    """Sizes of what is drawn.

    Attributes:
        text: of every letter, in points.
        area: of a marker, in square points.
        line: width of a line, in points.
        row: height of a bar's row, in inches.
        named: how many points are named at most.
    """

    text: float
    area: float
    line: float
    row: float
    named: int


COLUMN_SIZES = Sizes(text=7, area=15, line=1.0, row=0.14, named=3)
PAGE_SIZES = Sizes(text=9, area=34, line=1.5, row=0.19, named=5)


def sizes_at(width: float) -> Sizes:
    """Return the sizes for a figure of that width in inches."""
    return COLUMN_SIZES if width < NARROW else PAGE_SIZES
