"""The figures of a leave-out-uniques result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from pt_reuse._errors import door
from pt_reuse.data.units import COLUMNS, Units
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class UniqueFigures:
    """Draws the tables of a ``LeaveOutUniques``, which has the attributes that are named here."""

    table: pd.DataFrame
    by_run: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    units: Units

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "change",
        by: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what each run's score loses without the uniques of its own unit; runs on the line lose nothing.

        Args:
            measure: one of the measures; default the first.
            kind: the upright axis: ``"change"`` of the score (default), ``"percent"`` of it, or reduced ``"scores"``.
            by: what gives colour and marker: ``"team"``, ``"type"``, ``"family"`` or ``"run"``; default the unit that
                was left out.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per run; those that lose most are named where there is room.
        """
        from pt_reuse.plots.points import check_view
        from pt_reuse.plots.run_scores import plot_reduced_scores
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.scores.measures, measure)
        check_view(kind, by, tuple(COLUMNS), self.by_run)
        place = Place(ax, title, legend, width)
        return plot_reduced_scores(self.by_run, measure=name, unit=self.units.by, kind=kind, by=by, place=place)

    @door
    def plot_drops(
        self,
        measure: MeasureLike | None = None,
        *,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw by how many ranks a run falls at most when a unit is left out and the whole field is ranked again.

        Args:
            measure: one of the measures; default the first.
            top: how many units at most, those with the largest drop; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. For this and what follows see :meth:`plot`.
            title: what stands above.
            legend: of no effect, as one colour needs none.
            width: of a new figure, in inches.

        Returns:
            Axes: a bar per unit; beside it the run that falls, and tau_b of the two rankings.
        """
        from pt_reuse.plots.bars import plot_unit_drops
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        name, place = measure_among(self.scores.measures, measure), Place(ax, title, legend, width)
        return plot_unit_drops(self.table, measure=name, top=checked_top(top), place=place)

    @door
    def plot_uniques(
        self,
        *,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how many unique documents each unit contributed, relevant and not relevant.

        Args:
            top: how many units at most, those with most unique relevant documents; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. For this and what follows see :meth:`plot`.
            title: what stands above.
            legend: whether there is one.
            width: of a new figure, in inches.

        Returns:
            Axes: a bar per contributing unit, and at its end how many are relevant.
        """
        from pt_reuse.plots.bars import plot_unique_counts
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        return plot_unique_counts(self.unique_counts, top=checked_top(top), place=Place(ax, title, legend, width))
