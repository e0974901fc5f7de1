"""Several figures below each other in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from pt_reuse.plots.look import PAGE
from pt_reuse.plots.sheet import NoMatplotlibError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HIGH = 0.55  # of a page's width


class Panel(Protocol):
    """Draws a figure into axes."""

    def __call__(self, *, ax: Axes) -> Axes:
        """Draw it and return its axes."""


def plot_panels(panels: Sequence[Panel]) -> Axes:
    """Draw panels below each other, apart from pyplot, on a page's width.

    Args:
        panels: from top to bottom, one at least.

    Returns:
        The axes of the first.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NoMatplotlibError(NoMatplotlibError.TEXT) from error
    figure = Figure(figsize=(PAGE, _HIGH * PAGE * len(panels)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), squeeze=False)[:, 0]
    for panel, ax in zip(panels, axes, strict=True):
        panel(ax=ax)
    first: Axes = axes[0]
    return first
