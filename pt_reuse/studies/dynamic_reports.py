"""What a paper prints and draws of leave-out-uniques under dynamic judging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse.data.units import COLUMNS, Units
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = ("measure", "unit")


class DynamicReports:
    """Reports and draws a ``DynamicUniques``, which has the attributes that are named here."""

    table: pd.DataFrame
    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    topics: pd.DataFrame
    scores: Scores
    units: Units
    depth: int
    rel: int
    settings: Mapping[str, Any]

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals over topics were asked for."""
        return "tau_b_low" in self.table

    @door
    def report(self, by: str = "measure", *, measure: MeasureLike | None = None) -> Report:
        """Return what a paper prints: how the ranking holds, or what each left-out unit does to it.

        Args:
            by: the rows: each ``"measure"`` (default), or each left-out ``"unit"`` under one measure. Intervals, where
                there are any, take the place of some columns.
            measure: the one that units are shown under; default the first.
        """
        choice("by", by, _ROWS)
        name = measure_among(self.scores.measures, measure)
        return _per_measure(self) if by == "measure" else _per_unit(self, name)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "scores",
        by: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw each run's score under LOU-FULL against its score when judged without its own unit.

        Args:
            measure: one of the measures; default the first.
            kind: the upright axis: the other ``"scores"`` (default), the ``"change"`` of the score, or ``"percent"``.
            by: what gives colour and marker: ``"team"``, ``"type"``, ``"family"`` or ``"run"``; default the unit that
                was left out.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per run; those that lose most are named where there is room.

        Source: Voorhees, Craswell and Lin 2022, figure 3.
        """
        from pt_reuse.plots.points import check_view
        from pt_reuse.plots.run_scores import TwoScores, plot_reduced_scores
        from pt_reuse.plots.sheet import Place

        name, unit = measure_among(self.scores.measures, measure), self.units.by
        check_view(kind, by, tuple(COLUMNS), self.by_run)
        whose = "it" if unit == "run" else f"its {unit}"
        said = TwoScores("LOU-FULL", f"judged without {whose}", f"Runs judged without their {unit}, dynamically")
        place = Place(ax, title, legend, width)
        return plot_reduced_scores(self.by_run, measure=name, unit=unit, kind=kind, by=by, said=said, place=place)


def _per_measure(result: DynamicReports) -> Report:
    summary, by = result.summary, result.units.by
    drop = Column("Largest drop", summary["own_max_drop"], Digits.COUNT)
    least = Column("Smallest tau-b, field", summary["field_min_tau_b"], Digits.SCORE)
    if result.has_intervals:
        of_tau = intervals("tau-b", summary["own_tau_b_low"], summary["own_tau_b_high"], Digits.SCORE)
        of_drop = intervals("the drop", summary["own_max_drop_low"], summary["own_max_drop_high"], Digits.COUNT)
        rest = [of_tau, drop, of_drop, least]
    else:
        worst = Column("Worst change, %", 0.0 - summary["largest_loss_pct"], Digits.PERCENT)
        rest = [drop, worst, least, Column("Largest drop, field", summary["field_max_drop"], Digits.COUNT)]
    return Report(
        [Column("Measure", summary["measure"]), Column("tau-b", summary["own_tau_b"], Digits.SCORE), *rest],
        caption=(
            f"Leave-out-uniques by {by} under dynamic judging: {_field(result)} each judged without its own {by}, and "
            f"the whole field without each {by}, against LOU-FULL."
        ),
        notes=_notes(result),
    )


def _per_unit(result: DynamicReports, measure: str) -> Report:
    by, column = result.units.by, result.units.column
    rows = result.table[result.table["measure"] == measure].merge(
        result.unique_counts[[column, "found_again"]], on=column, sort=False
    )
    relevant = Column("Relevant uniques", rows["unique_relevant"], Digits.COUNT)
    tau, drop = Column("tau-b", rows["tau_b"], Digits.SCORE), Column("Largest drop", rows["max_drop"], Digits.COUNT)
    if result.has_intervals:
        of_tau = intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE)
        columns = [tau, of_tau, drop, intervals("the drop", rows["max_drop_low"], rows["max_drop_high"], Digits.COUNT)]
    else:
        again = Column("Found again", rows["found_again"], Digits.COUNT)
        columns = [again, tau, drop, Column("Dropped run", rows["dropped"])]
    return Report(
        [Column(by.capitalize(), rows[column]), relevant, *columns],
        caption=(
            f"Leave-out-uniques by {by} under dynamic judging and {measure}: {_field(result)} judged without each "
            f"{by}, against LOU-FULL."
        ),
        notes=_notes(result),
    )


def _field(result: DynamicReports) -> str:
    return count(len(result.scores.names), "run")


def _notes(result: DynamicReports) -> list[str]:
    settings, topics = result.settings, result.topics
    runs = count(int(result.unique_counts["contributing"].sum()), "run")
    chosen, without = int(topics["chosen"].sum()), int(topics["unlabelled"].sum())
    said = [
        f"LOU-FULL is the depth-{result.depth} pool of {runs}, in the order {settings['pool order']}, and "
        f"{count(chosen, 'document')} that the classifier {settings['scorer']} chose, {without:,} of them without a "
        f"label; relevant is a label of at least {result.rel}.",
    ]
    if result.has_intervals:
        said.append(f"Intervals: {settings[INTERVALS]}.")
    return [*said, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else said
