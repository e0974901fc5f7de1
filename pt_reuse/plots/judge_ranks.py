"""The figure of ranks: a line for each run from its rank by people to its rank by a judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.plots.lettering import breadth, shortened
from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: so many runs either way are drawn strongly
_NAMED = 3
_NAME = 0.3  # of the width, at most
_APART = 1.3  # of a line of letters, between two names
#: of the way from people to the judge: left of people, and from the judge to a name
_LEFT, _GAP = 0.04, 0.06
_AXES, _MOST_NAME = 0.84, 0.6  # of the width: the axes, at least, and a name in them, at most


def plot_judge_ranks(movers: pd.DataFrame, *, judge: str, measure: str, place: Place | None = None) -> Axes:
    """Draw how ranks change from people, on the left, to a judge, on the right; the best run is on top.

    Args:
        movers: one row per run, the one that gains most ranks first: ``name rank judge_rank rise``.
        judge: what it is called.
        measure: by which runs are ranked.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: a line per run; the three that gain most are unbroken and the three that lose most are dashed, with
        their names and ranks gained on the right; the others are faint.
    """
    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    up, down = movers[movers["rise"] > 0].head(_NAMED), movers[movers["rise"] < 0].tail(_NAMED)
    strong = set(up["name"]) | set(down["name"])
    entries: list[tuple[Artist, str]] = []
    for rows, colour, line, marker, said in (
        (movers[~movers["name"].isin(strong)], ink.faint, "-", "", "other runs"),
        (up, ink.first, "-", "o", "gain most ranks"),
        (down, ink.second, "--", "s", "lose most ranks"),
    ):
        handle = None
        for before, after in rows[["rank", "judge_rank"]].itertuples(index=False):
            (handle,) = ax.plot(
                [0, 1],
                [before, after],
                color=colour,
                linestyle=line,
                linewidth=sizes.line if marker else 0.6 * sizes.line,
                marker=marker,
                markersize=0.7 * sizes.area**0.5,
                zorder=3 if marker else 2,
            )
        if handle is not None:
            entries.append((handle, said))
    n = len(movers)
    height = 0.75 * sheet.width if sheet.narrow else 0.55 * sheet.width
    ax.set_ylim(max(n, 2) + 0.5, 0.5)
    sheet.label(title=f"Ranks of {count(n, 'run')} by {measure}", x="", y="rank")
    ax.set_xticks([0, 1], ["people", shortened(ax, judge, sizes.text, _NAME * sheet.width)])
    step = next(size for size in _steps() if n / size <= 6)
    ax.set_yticks([1, *range(step, n + 1, step)] if step > 1 else range(1, n + 1))
    sheet.grid("y")
    named = pd.concat([up, down]).sort_values("judge_rank", kind="stable")
    texts = [
        f"{shortened(ax, str(name), sizes.text, _NAME * sheet.width)} {rise:+d}"
        for name, rise in named[["name", "rise"]].itertuples(index=False)
    ]
    # names stand in the axes, right of the judge
    share = max((breadth(ax, text, sizes.text) for text in texts), default=0) / (_AXES * sheet.width)
    right = (1 + _GAP + _LEFT * share) / (1 - share) if share < _MOST_NAME else 1 + _GAP
    sheet.limit("x", (-_LEFT, right + _LEFT))
    sheet.key(entries, below=True)
    sheet.fit(height)
    apart = _APART * sizes.text / 72 / max(sheet.axes_size[1], 0.1) * max(n, 2)
    ranks = named["judge_rank"].to_numpy(dtype=float)
    for text, rank, place_of in zip(texts, ranks, _spread(ranks, apart, max(n, 2)), strict=True):
        ax.annotate(
            text,
            (1.0, rank),
            xytext=(1 + _GAP, place_of),
            fontsize=sizes.text,
            va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": ink.strong, "shrinkA": 1, "shrinkB": 3},
        )
    return ax


def _steps() -> Iterator[int]:
    """Yield round numbers, ascending."""
    size = 1
    while True:
        yield from (size, 2 * size, 5 * size)
        size *= 10


def _spread(wanted: NDArray[np.float64], apart: float, last: float) -> list[float]:
    """Return places in order, no two nearer than `apart`, near those wanted and none beyond the last."""
    found = wanted.tolist()
    for i in range(1, len(found)):
        found[i] = max(found[i], found[i - 1] + apart)
    if found:
        found[-1] = min(found[-1], last)
    for i in range(len(found) - 2, -1, -1):
        found[i] = min(found[i], found[i + 1] - apart)
    return found
