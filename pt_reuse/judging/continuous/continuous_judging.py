"""ContinuousJudging: what came of judging by a protocol: judgments, rounds, topics, counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Record
from pt_reuse.qrels.judgments import Qrels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContinuousJudging(Record):
    """What came of judging a collection by a protocol of continuous active learning.

    Attributes:
        labels: one row per judgment, in the order in which they were made: ``qid docno label judge time strategy round
            reason``. The strategy is ``"cal"`` for documents that the scorer chose, else that of the initial pool;
            rounds count from 1, the initial pool where there is one; the reason is the scorer's, such as
            ``"probability .83"``, or ``"best rank 3"``.
        rounds: one row per topic and round, in the order in which they were judged: ``qid round strategy``; ``asked
            judged relevant density``, of all rounds so far; ``batch_judged batch_relevant batch_share``, of this round,
            <NA> and NaN for the initial pool; ``decision``, ``"goes on"`` or how the topic ended, and ``why``. *Asked*
            counts documents put to the judge, *judged* those to which it gave a label of 0 or more, ``density`` is
            relevant / judged.
        topics: one row per topic: ``qid status evaluated rounds asked judged relevant density``; ``status`` is
            ``"finished"``, ``"abandoned"``, ``"exhausted"``, ``"topic budget"`` or ``"total budget"``, ``evaluated``
            whether the topic enters the evaluation set; ``pool_judged pool_relevant cal_judged cal_relevant``, by what
            chose the documents.
        rel: the lowest label that counts as relevant.
    """

    title: ClassVar[str] = "Continuous judging"

    labels: pd.DataFrame
    rounds: pd.DataFrame
    topics: pd.DataFrame
    rel: int

    @cached_property
    def qrels(self) -> Qrels:
        """Return the judgments with their provenance, the columns of `labels`; all topics are in the topic set."""
        return Qrels(self.labels, topics=self.topics["qid"], rel=self.rel if self.rel > 1 else None)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"topics": self.topics, "rounds": self.rounds, "labels": self.labels, "counts": self.counts()}

    def counts(self) -> pd.DataFrame:
        """Return how many judgments were made, by what chose them and by what became of the topics.

        Returns:
            DataFrame: one row each for the initial pool, CAL, all judgments, those of the evaluation set, and the
            wasted ones, of topics that do not enter it; ``judgments_of topics judgments per_topic relevant density``.
            ``topics`` counts those with at least one judgment there; ``per_topic`` and ``density`` are NaN where there
            is none.

        Source: Voorhees, Craswell and Lin 2022, table 1 and section 7.1. That *wasted* means all judgments of topics
        outside the evaluation set, those of their pools too, is this library's reading.
        """
        topics = self.topics
        of_set = topics["evaluated"].to_numpy(dtype=bool)
        rows = {
            "initial pool": (topics["pool_judged"], topics["pool_relevant"]),
            "CAL": (topics["cal_judged"], topics["cal_relevant"]),
            "all": (topics["judged"], topics["relevant"]),
            "evaluation set": (topics["judged"].where(of_set, 0), topics["relevant"].where(of_set, 0)),
            "wasted": (topics["judged"].where(~of_set, 0), topics["relevant"].where(~of_set, 0)),
        }
        table = pd.DataFrame(
            {
                "judgments_of": list(rows),
                "topics": [int((judged > 0).sum()) for judged, _ in rows.values()],
                "judgments": [int(judged.sum()) for judged, _ in rows.values()],
                "relevant": [int(relevant.sum()) for _, relevant in rows.values()],
            }
        )
        table.insert(3, "per_topic", table["judgments"] / table["topics"].where(table["topics"] > 0))
        table["density"] = table["relevant"] / table["judgments"].where(table["judgments"] > 0)
        return table

    @property
    def evaluated(self) -> Qrels:
        """Return the judgments of the evaluation set: of the topics that enter it."""
        return self.qrels.select(self.topics.loc[self.topics["evaluated"], "qid"])

    @property
    def wasted(self) -> float:
        """Return the share of the judgments that were spent on topics outside the evaluation set; 0 without any."""
        judged = self.topics["judged"]
        return float(judged[~self.topics["evaluated"]].sum() / max(int(judged.sum()), 1))

    def headline(self) -> str:
        """Return how many judgments there are, how many are relevant, and how many topics enter the evaluation set."""
        judged, relevant = int(self.topics["judged"].sum()), int(self.topics["relevant"].sum())
        pool = int(self.topics["pool_judged"].sum())
        entered = count(int(self.topics["evaluated"].sum()), "topic")
        parts = f" ({pool:,} by the pool, {judged - pool:,} by CAL)" if pool else ""
        return (
            f"{count(len(self.topics), 'topic')}, {count(judged, 'judgment')}{parts}, {relevant:,} relevant; "
            f"{entered} evaluated, {self.wasted:.1%} of the judgments wasted"
        )

    def report(self) -> Report:
        """Return the counts of judgments: of the pool, of CAL, of all, of the evaluation set, and the wasted ones."""
        table = self.counts()
        status = self.topics["status"].value_counts()
        ended = ", ".join(f"{name} {n:,}" for name, n in status.items())
        return Report(
            [
                Column("Judgments of", table["judgments_of"].str.capitalize().replace("Cal", "CAL")),
                Column("Topics", table["topics"], Digits.COUNT),
                Column("Judgments", table["judgments"], Digits.COUNT),
                Column("Per topic", table["per_topic"], Digits.COUNT),
                Column("Relevant", table["relevant"], Digits.COUNT),
                Column("Density", table["density"], Digits.SCORE),
            ],
            caption=f"Judgments by {self.settings['protocol']}; a document is relevant from label {self.rel} on.",
            notes=[
                f"How the topics ended: {ended}.",
                "Density is relevant / judged. Wasted judgments are those of topics outside the evaluation set.",
            ],
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
        """Draw the relevant density of each topic after each round, with lines at 1/3 and 1/2.

        Args:
            ax: axes to draw into; default a new figure. This and the others are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: an upright line per topic, from its lowest to its highest density, the densest topic on the right; a
            ring after the first round, a small point after each further one, a large one at the end.

        Source: Voorhees, Craswell and Lin 2022, figure 1.
        """
        from pt_reuse.plots.density import plot_density
        from pt_reuse.plots.sheet import Place

        return plot_density(self.rounds, self.topics, place=Place(ax, title, legend, width))

    def _shown(self) -> pd.DataFrame:
        return self.topics

    def _rest(self) -> str:
        return "topics in .topics"
