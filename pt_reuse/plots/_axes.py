"""Where a figure is drawn, and the few colours all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pt_reuse._errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: distinct without relying on hue alone: each goes with a marker of its own (Okabe and Ito's palette)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
_LONGEST = 32  # characters of a name
GREY, DARK = "#B8B8B8", "#333333"


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure of that size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise InputError("drawing needs matplotlib; `pip install pt-reuse[plots]` brings it.") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def plain(text: str) -> str:
    """Return a name as matplotlib shows it: dollar signs are not mathematics, no underscore hides it, not too long."""
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return (" " + short if short.startswith("_") else short).replace("$", r"\$")
