"""LabelEstimate: what is known of a judge's labels after people checked some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._result import Result, key_figures_of
from pt_reuse._text import with_ends
from pt_reuse.studies.label_plans.numbers import Number, Strata

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelEstimate(Result):
    """What is known of a judge's labels after people checked some of them, see ``LabelPlan.estimate``.

    Attributes:
        table: one row per number: ``number``; ``target``, whether the plan was made for it; ``documents`` it is of, and
            ``checked`` of these, what people judged before the plan included; ``estimate estimate_low estimate_high``;
            ``judge``, its value by the judge's own labels, missing where that says nothing; ``bias bias_low
            bias_high``, the judge's value less the estimate; ``planned_width``, what was expected of the interval.
        strata: the table of the plan with ``checked`` and ``relevant``, how many documents of each stratum people
            checked and found relevant.
        confidence: of the intervals.
    """

    title: ClassVar[str] = "Estimate by checked labels"

    strata: pd.DataFrame
    confidence: float

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "strata": self.strata}

    def key_figures(self) -> pd.DataFrame:
        """Return the estimates of what the plan was made for, see :meth:`Result.key_figures`."""
        rows = self.table[self.table["target"]]
        return key_figures_of(rows, ["estimate"], rows=rows["number"].tolist())

    def headline(self) -> str:
        """Return the estimates of what the plan was made for."""
        rows = self.table[self.table["target"]]
        parts = [f"{row['number']} {with_ends(row, 'estimate', '.4f')}" for row in rows.to_dict("records")]
        return f"{'; '.join(parts)}; {count(int(self.strata['checked'].sum()), 'label')} checked"

    def findings(self) -> list[str]:
        """Return what was found, a sentence for each number."""
        level, found = f"{100 * self.confidence:g} %", []
        for row in self.table.to_dict("records"):
            name = f"{row['number'][0].upper()}{row['number'][1:]}"
            text = (
                f"{name} is {with_ends(row, 'estimate', '.4f')} at {level}, {row['checked']:,} of "
                f"{row['documents']:,} checked"
            )
            if not np.isnan(row["judge"]):
                sides = (
                    "too high" if row["bias_low"] > 0 else "too low" if row["bias_high"] < 0 else "no bias to be seen"
                )
                text += (
                    f"; by the judge's own labels {row['judge']:.4f}, off by {with_ends(row, 'bias', '+.4f')}: {sides}"
                )
            found.append(f"{text}.")
        return found

    def report(self) -> Report:
        """Return each number with its interval."""
        table = self.table
        return Report(
            [
                Column("Number", table["number"]),
                Column("Documents", table["documents"], Digits.COUNT),
                Column("Checked", table["checked"], Digits.COUNT),
                Column("Estimate", table["estimate"], Digits.SCORE),
                intervals("the estimate", table["estimate_low"], table["estimate_high"], Digits.SCORE),
                Column("By the judge", table["judge"], Digits.SCORE),
            ],
            caption=f"What {count(int(self.strata['checked'].sum()), 'label')} checked by people say.",
            notes=[*conventions(self.settings), f"{self.settings['varies']}."],
        )

    @door
    def plot(
        self, *, ax: Axes | None = None, title: str | None = None, legend: bool = True, width: float | None = None
    ) -> Axes:
        """Draw each number with its interval, and what the judge's own labels say.

        Args:
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one.
            width: of a new figure, in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row for each number: a point with its interval, and an open diamond where the judge's labels put
            it.
        """
        from pt_reuse.plots.forests import plot_label_estimates
        from pt_reuse.plots.sheet import Place

        return plot_label_estimates(self.table, confidence=self.confidence, place=Place(ax, title, legend, width))


def conventions(settings: Mapping[str, Any]) -> list[str]:
    """Return what the numbers of a plan hang on, for the notes of a report."""
    found = [f"Interval: {settings['interval']}.", f"Relevant: {settings['relevant']}."]
    if "topics" in settings:
        found.append(f"Runs: ranked in the order {settings['order']}; topics: {settings['topics']}.")
    return found


def estimated(
    counted: pd.DataFrame,
    numbers: Sequence[Number],
    *,
    planned: Mapping[str, float],
    confidence: float,
    settings: Mapping[str, Any],
) -> LabelEstimate:
    """Return the numbers of a plan with their intervals."""
    drawn = counted["checked"].to_numpy(dtype=np.float64)
    share = np.divide(counted["relevant"].to_numpy(dtype=float), drawn, out=np.zeros(len(drawn)), where=drawn > 0)
    strata, rows = Strata.of(counted, share), []
    known = counted["known"].to_numpy()
    for number in numbers:
        found = strata.interval(number, drawn, confidence, counted=True)
        rows.append(
            {
                "number": number.name,
                "target": number.is_target,
                "documents": number.documents,
                "checked": int((drawn + known)[number.strata].sum()),
                "estimate": found.estimate,
                "estimate_low": found.low,
                "estimate_high": found.high,
                "judge": number.judge,
                "bias": number.judge - found.estimate,
                "bias_low": number.judge - found.high,
                "bias_high": number.judge - found.low,
                "planned_width": planned[number.name],
            }
        )
    return LabelEstimate(
        table=pd.DataFrame(rows),
        strata=counted,
        confidence=confidence,
        settings={**settings, "checked": f"{int(drawn.sum()):,} of {int(counted['labels'].sum()):,} planned labels"},
    )
