"""Several figures below each other in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from pt_reuse.plots.lettering import wrapped
from pt_reuse.plots.look import PAGE
from pt_reuse.plots.sheet import NoMatplotlibError, Place, new_figure, sizes_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Panel(Protocol):
    """Draws a figure into axes."""

    def __call__(self, *, ax: Axes) -> Axes:
        """Draw it and return its axes."""


def plot_panels(panels: Sequence[Panel], place: Place) -> Axes:
    """Draw panels below each other in a new figure.

    Args:
        panels: from top to bottom, one at least.
        place: how wide the figure is, and a title above all panels.

    Returns:
        The axes of the first.
    """
    width = PAGE if place.width is None else float(place.width)
    try:
        figure = new_figure(width)
    except ImportError as error:
        raise NoMatplotlibError(NoMatplotlibError.TEXT) from error
    size = sizes_at(width).text
    # as high as axes that are as wide as a column, with what is above and below them
    each = min(width, 0.45 * PAGE) + 10 * size / 72
    figure.set_figheight(each * len(panels))
    axes = figure.subplots(len(panels), squeeze=False)[:, 0]
    for panel, ax in zip(panels, axes, strict=True):
        panel(ax=ax)
    first: Axes = axes[0]
    if place.title:
        figure.suptitle(wrapped(first, place.title, size, 0.94 * width), fontsize=size)
    return first
