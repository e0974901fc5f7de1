"""The figure of relevant densities: how dense each topic is after each round of judging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pt_reuse.plots.sheet import Place, Sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: densities that the paper points at: above the first few unjudged documents may be taken for not relevant, above the
#: second more of what is judged is relevant than is not
FLAGS = ((1 / 3, "1/3", "--"), (1 / 2, "1/2", ":"))


@dataclass(frozen=True)
class RoundNames:
    """What the legend calls the ends of a topic's line.

    Attributes:
        first: the first round.
        last: the last one.
    """

    first: str = "first round"
    last: str = "at the end"


def plot_density(
    rounds: pd.DataFrame, topics: pd.DataFrame, *, names: RoundNames | None = None, place: Place | None = None
) -> Axes:
    """Draw the relevant density of each topic after each round.

    Args:
        rounds: the `rounds` table of a :class:`~pt_reuse.ContinuousJudging` or a :class:`~pt_reuse.Density`.
        topics: one row per topic: ``qid density`` and, where some are not evaluated, ``evaluated``.
        names: what the first and the last round are called.
        place: where to draw; default a new figure of a page's width.

    Returns:
        The axes: an upright line per topic, from its lowest to its highest density, in the order of the density at the
        end, those without any first; a ring after the first round, a small point after each further one, a large one at
        the end, in another colour and form where the topic is not in the evaluation set.
    """
    sheet = Sheet.open(place or Place())
    ax, ink, sizes = sheet.ax, sheet.ink, sheet.sizes
    order = topics.sort_values(["density", "qid"], kind="stable", na_position="first")["qid"].tolist()
    at = {qid: number for number, qid in enumerate(order, 1)}
    seen = rounds[rounds["density"].notna()]
    x, y = seen["qid"].map(at).to_numpy(dtype=float), seen["density"].to_numpy(dtype=float)
    spans = pd.DataFrame({"x": x, "y": y}).groupby("x")["y"].agg(["min", "max"])
    first, last = ~seen["qid"].duplicated().to_numpy(), ~seen["qid"].duplicated(keep="last").to_numpy()
    entered = np.ones(len(seen), dtype=bool)
    if "evaluated" in topics:
        entered = seen["qid"].map(topics.set_index("qid")["evaluated"]).to_numpy(dtype=bool)
    said = names or RoundNames()
    # where there is but one round, it is the last
    first &= (~last).any()
    # as large as there is room for, with as many topics beside each other
    area = min(sizes.area, (72 * 0.7 * sheet.width / max(len(order), 1)) ** 2 * 0.6)
    ax.vlines(spans.index, spans["min"], spans["max"], color=ink.faint, linewidth=0.6 * sizes.line, zorder=2)
    entries: list[tuple[Artist, str]] = []
    between = ~first & ~last
    for rows, label, marker, size, edge, inside in (
        (first, said.first, "o", area, ink.strong, "none"),
        (between, "further rounds", "o", 0.2 * area, ink.faint, ink.faint),
        (last & entered, said.last, "o", area, ink.first, ink.first),
        (last & ~entered, f"{said.last}, not evaluated", "D", area, ink.second, ink.second),
    ):
        if rows.any():
            drawn = ax.scatter(
                x[rows], y[rows], marker=marker, s=size, edgecolors=edge, facecolors=inside, linewidths=0.6, zorder=3
            )
            entries.append((drawn, label))
    for value, name, dashes in FLAGS:
        line = ax.axhline(value, color=ink.strong, linewidth=0.8, linestyle=dashes, zorder=1)
        entries.append((line, f"density {name}"))
    sheet.limit("y", (-0.03, 1.03 if np.max(y, initial=0) > 0.9 else max(0.6, float(np.max(y, initial=0)) * 1.08)))
    sheet.limit("x", (0, len(order) + 1))
    sheet.label(title="Relevant density", x="topics, the densest last", y="relevant / judged")
    sheet.grid("y")
    sheet.ticks("x", whole=True)
    sheet.ticks("y")
    sheet.key(entries)
    sheet.fit(0.55 * sheet.width if sheet.narrow else 0.4 * sheet.width)
    return ax
