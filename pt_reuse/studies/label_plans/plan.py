"""LabelPlan: which labels of a judge people are to check, and what will be known then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse._choices import DIFFERENCE, PRECISION
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result, key_figures_of
from pt_reuse._text import written
from pt_reuse.pooling.pool import Pool
from pt_reuse.studies.label_plans.checked import counted_labels
from pt_reuse.studies.label_plans.estimate import LabelEstimate, conventions, estimated
from pt_reuse.studies.label_plans.numbers import numbers_of
from pt_reuse.studies.label_plans.sizes import WANTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what the documents of a plan's pool were chosen by, as their labels keep it
STRATEGY = "stratified by label"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelPlan(Result):
    """Which labels of a judge people are to check so that a number is known within a width.

    Attributes:
        table: one row per stratum: ``stratum``; ``qid``, None where strata go over topics; ``run`` whose first
            documents they are, None without runs; ``label`` of the judge, <NA> for none; ``documents``; ``known`` and
            ``relevant_known``, those that people judged before and found relevant; ``gain``, what a relevant document
            adds to the number; ``share``, the share of relevant documents that is expected of the others; ``labels``,
            how many of these people are to check; ``probability``, with which each of them is among these.
        summary: one row per number: ``number``; ``target``, whether the plan is made for it; ``documents`` it is of;
            ``judge``, its value by the judge's own labels, missing where that says nothing; ``expected``; ``width`` of
            the interval that is expected, ``se`` its standard error, and ``labels`` that bear on it.
        curve: what other widths take: ``width labels proportional random``, labels in strata as planned, in proportion
            to the strata, and drawn whatever their label.
        sample: the documents to check: ``qid docno label stratum probability``; the label is the judge's.
        rest: the others that nobody has judged, with the same columns.
        known: those that people judged before: ``qid docno label stratum people``.
        target: what the plan is for: ``"mean"``, ``"difference"`` or ``"precision"``.
        number: what the mean or the difference is called.
        confidence: of the intervals.
        rel: the lowest label of people that is relevant.
        judge_rel: the lowest label of the judge that is relevant.
    """

    title: ClassVar[str] = "Plan of labels"

    summary: pd.DataFrame
    curve: pd.DataFrame
    sample: pd.DataFrame
    rest: pd.DataFrame
    known: pd.DataFrame
    target: str
    number: str
    confidence: float
    rel: int
    judge_rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "summary": self.summary,
            "curve": self.curve,
            "sample": self.sample,
            "rest": self.rest,
            "known": self.known,
        }

    @property
    def width(self) -> float:
        """Return the width of the widest interval that is expected of what the plan is for."""
        return float(self.summary.loc[self.summary["target"], "width"].max())

    @property
    def labels(self) -> int:
        """Return how many labels people are to check."""
        return len(self.sample)

    def key_figures(self) -> pd.DataFrame:
        """Return the labels and the widths of what the plan is for, see :meth:`Result.key_figures`."""
        rows = self.summary[self.summary["target"]]
        return key_figures_of(rows, ["labels", "width"], rows=rows["number"].tolist())

    def headline(self) -> str:
        """Return how many labels are to be checked, and what will be known."""
        of = len(self.sample) + len(self.rest)
        what = "the precision of each label" if self.target == PRECISION else self.number
        interval = f"{100 * self.confidence:g} % interval"
        before = f", {len(self.known):,} known before" if len(self.known) else ""
        return (
            f"check {self.labels:,} of {count(of, 'document')}{before}, in {_strata(len(self.table))}: a {interval} "
            f"{self.width:.4f} wide for {what}"
        )

    def findings(self) -> list[str]:
        """Return what the plan says, a sentence each."""
        rows = self.summary[self.summary["target"]]
        what = "difference" if self.target == DIFFERENCE else "share"
        found = [
            f"{row['number'][0].upper()}{row['number'][1:]} takes {count(int(row['labels']), 'label')}: the interval "
            f"is then {row['width']:.4f} wide, if the {what} is {written(row['expected'], '.4f')}."
            for row in rows.to_dict("records")
        ]
        cost = self.curve.iloc[WANTED]
        found.append(
            f"A width of {cost['width']:g} takes {count(int(cost['labels']), 'label')} in these strata, "
            f"{int(cost['proportional']):,} in proportion to them, and {int(cost['random']):,} at random."
        )
        return found

    def report(self) -> Report:
        """Return how many labels of each stratum people are to check."""
        table = self.table
        before = table["known"].sum() > 0
        return Report(
            [
                Column("Stratum", table["stratum"]),
                Column("Documents", table["documents"], Digits.COUNT),
                *([Column("Known", table["known"], Digits.COUNT)] if before else []),
                Column("Expected share", table["share"], Digits.SCORE),
                Column("To check", table["labels"], Digits.COUNT),
                Column("Probability", table["probability"], Digits.SCORE),
            ],
            caption=f"Labels that people are to check: {self.headline()}.",
            notes=[f"Expected shares: {self.settings['expected']}.", *conventions(self.settings)],
        )

    @door
    def to_pool(self) -> Pool:
        """Return the documents to check as a pool, for :func:`~pt_reuse.judging.export_tasks` or :meth:`Pool.judge`.

        Returns:
            Pool: a sample, as :func:`~pt_reuse.pools.sample_pool` returns one: each document has its ``stratum`` and
            its ``inclusion`` probability, and those that are not to be checked are in :attr:`Pool.unsampled`. A stratum
            tells what the judge says; tasks that :func:`~pt_reuse.judging.export_tasks` writes do not show it.
        """
        every = pd.concat([self.sample, self.rest], ignore_index=True)
        asked = np.repeat([True, False], [len(self.sample), len(self.rest)])
        frame = every.drop(columns="label").rename(columns={"probability": "inclusion"}).assign(_asked=asked)
        settings = {"strategy": STRATEGY, **{name: self.settings[name] for name in ("target", "width", "seed")}}
        pool = Pool.from_frame(frame, settings=settings)
        drawn, columns = pool.columns["_asked"].to_numpy(dtype=bool), pool.columns.drop(columns="_asked")
        left = pool.take(np.flatnonzero(~drawn), columns=columns)
        return pool.take(np.flatnonzero(drawn), columns=columns, unsampled=left)

    @door
    def estimate(self, checked: Any) -> LabelEstimate:
        """Estimate every number of the plan from what people say of the documents that they were to check.

        Args:
            checked: what people say: judgments in any form, see :doc:`runs`. A document with a label below 0, or none,
                was not checked. Documents that people had judged before may be among them.

        Returns:
            LabelEstimate: each number with its interval.

        Raises:
            InputError: a label of a document that is not in the plan, another label of one that was known before, or a
                stratum of which nothing was checked.

        Warns:
            ReuseWarning: documents of the plan that were not checked. Those that were count as a random sample of their
                strata: that they are is not to be seen from the labels. Ten labels or more that all equal the judge's.
        """
        counted = counted_labels(self.table, self.sample, self.known, checked, rel=self.rel)
        numbers = numbers_of(self.table, self.target, self.number, self.judge_rel)
        planned = dict(zip(self.summary["number"], self.summary["width"].tolist(), strict=True))
        return estimated(
            counted, numbers, planned=planned, confidence=self.confidence, settings={**self.settings, "rel": self.rel}
        )

    @door
    def plot(
        self, *, ax: Axes | None = None, title: str | None = None, legend: bool = True, width: float | None = None
    ) -> Axes:
        """Draw the width of the interval over the labels that it takes, for three ways to draw documents.

        Args:
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one.
            width: of a new figure, in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a line for the plan, one for proportional allocation, one for a simple random sample, and strokes at
            the plan's labels and width.
        """
        from pt_reuse.plots.lines import plot_label_costs
        from pt_reuse.plots.sheet import Place

        return plot_label_costs(
            self.curve, labels=self.labels, planned=self.width, place=Place(ax, title, legend, width)
        )


def _strata(n: int) -> str:
    return "1 stratum" if n == 1 else f"{n:,} strata"
