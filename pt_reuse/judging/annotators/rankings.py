"""AnnotatorRankings: the ranking of systems under each annotator's labels, compared with another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import door
from pt_reuse._report import MOST, Column, Digits, Report
from pt_reuse._result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatorRankings(Result):
    """The ranking of systems under each annotator's labels, against the one under the judgments given.

    Attributes:
        table: one row per annotator and measure: ``annotator measure``; ``topics``, those with labels of this
            annotator, over which all means of the row are; ``labels``, how many there are; ``changed``, how many of
            these documents had another label, or none, in the judgments; ``tau_b tau_ap_b`` of the two rankings;
            ``max_drop``, the most ranks that a run loses under the annotator, and ``dropped``, that run (the best one
            of several, None where none loses any).
        by_run: one row per annotator, measure and run: ``annotator measure name team type score other_score rank
            other_rank drop``, first under the judgments, ``other_`` under the annotator.
        between: one row per two annotators with items in common and measure: ``first second measure topics items
            tau_b tau_ap_b max_drop``, means over the topics of these items.
        others: whether documents without a label of the annotator kept that of the judgments.
    """

    title: ClassVar[str] = "Rankings by annotator"

    by_run: pd.DataFrame
    between: pd.DataFrame
    others: str

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"rankings": self.table, "by_run": self.by_run, "between": self.between}

    def headline(self) -> str:
        """Return the smallest and the largest tau_b of each measure."""
        parts = []
        for measure, rows in self.table.groupby("measure", sort=False):
            low, high = rows["tau_b"].min(), rows["tau_b"].max()
            parts.append(f"{measure} tau_b {low:.4f} to {high:.4f}")
        return f"{count(self.table['annotator'].nunique(), 'annotator')} against the judgments: {'; '.join(parts)}"

    @door
    def report(self) -> Report:
        """Return what a paper prints: per annotator the topics, the labels that differ, and tau-b of three measures."""
        measures = list(dict.fromkeys(self.table["measure"]))
        rows = self.table[self.table["measure"] == measures[0]]
        shown = measures[: MOST - 2]
        taus = self.table.pivot_table(index="annotator", columns="measure", values="tau_b", dropna=False)
        kept = "kept its judgment" if self.others == "keep" else "counts as not judged, in both rankings"
        notes = [f"Not shown: {', '.join(measures[MOST - 2 :])}."] if len(measures) > len(shown) else []
        return Report(
            [
                Column("Annotator", rows["annotator"]),
                Column("Topics", rows["topics"], Digits.COUNT),
                Column("Changed", rows["changed"], Digits.COUNT),
                *(Column(name, taus.loc[rows["annotator"], name], Digits.SCORE) for name in shown),
            ],
            caption=(
                f"Rank correlation (tau-b) of {count(self.by_run['name'].nunique(), 'run')} under the labels of each "
                "annotator and under the judgments, over the topics of the annotator; a document that the annotator "
                f"did not label {kept}."
            ),
            notes=["Changed: labels that differ from the judgments.", *notes],
        )

    @door
    def plot(
        self,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw tau_b of the ranking under each annotator with the one under the judgments, a dot for each measure.

        Args:
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row per annotator, with a dot for each of six measures at most.
        """
        from pt_reuse.plots.annotators import plot_taus
        from pt_reuse.plots.sheet import Place

        return plot_taus(self.table, place=Place(ax, title, legend, width))
