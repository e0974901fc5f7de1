"""PredictionPowered: scores by few labels of people and many of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice
from pt_reuse._errors import door
from pt_reuse._report import Report
from pt_reuse._result import OfJudges, Result, key_figures_of
from pt_reuse.plots.marks import checked_top
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.few_labels.powered_reports import ROWS, of_pairs, of_runs, of_summary, said

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictionPowered(OfJudges, Result):
    """What people would say of all runs, estimated by few labels of theirs and many of a model.

    Attributes:
        table: one row per judge, measure and run: ``judge family measure name team type``; ``human``, the mean by
            people's labels alone (by documents, each counted 1 / inclusion), with ``human_low human_high``;
            ``by_judge``, the mean by the judge's labels of all topics, or of the whole pool; ``estimate`` with
            ``estimate_low estimate_high`` and its standard error ``se``; ``lambda``, how far the judge is trusted;
            ``n`` topics (documents) that people labelled and ``N`` that the judge alone did; ``n_eff``, how many people
            would have to label for an interval as narrow without the judge: n times the variance by people's labels
            alone over that of the estimate, NaN where both are 0 or unknown; below n where lambda is uncertain and the
            judge finds the topics of people unlike the others. By documents the variances are those of
            sampling, which go with 1/n - 1/pool, so that n_eff is not beyond the pool; and there are ``se_sampling
            sampling_low sampling_high``: how far other samples of documents of these same topics would lead elsewhere,
            NaN where a stratum has one labelled document of several.
        pairs: one row per judge, measure and pair of runs: ``judge family measure first second``; the same columns of
            the difference, first minus second, which is ``difference`` in place of ``estimate``; whether its interval
            ``excludes_0``, for this pair alone; ``p`` of its t test, ``p_corrected`` for the number of pairs, and
            whether that is ``significant``; the same by people's labels alone, ``human_p human_p_corrected
            human_significant``.
        ranks: one row per judge, measure and run: ``judge family measure name``; ``rank`` by the estimate, from
            ``rank_low``, 1 + the number of runs significantly better, to ``rank_high``, the number of runs less those
            significantly worse; ``human_rank human_rank_low human_rank_high`` by people's labels alone; ``judge_rank``
            by the judge's.
        level: what people labelled a part of, ``"topics"`` or ``"documents"``.
        confidence: of the intervals.
        correction: of the tests of pairs, which is that of the ranks. With ``"bonferroni"`` the intervals of all ranks
            under a measure hold at once, since all differences lie in their intervals at once.
    """

    title: ClassVar[str] = "Prediction-powered scores"

    pairs: pd.DataFrame
    ranks: pd.DataFrame
    level: str
    confidence: float
    correction: str

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "pairs": self.pairs, "ranks": self.ranks, "summary": self.summary}

    @property
    def summary(self) -> pd.DataFrame:
        """Return one row per judge and measure.

        ``judge measure n N``; ``human_reach`` and ``reach``, the median over runs of half the interval's width without
        and with the judge; ``n_eff`` and ``lambda``, medians over runs; ``outside``, how many runs have a mean by the
        judge's labels that lies outside of the interval; ``runs``; ``pairs``, how many of them are ``significant`` and
        ``human_significant``; ``rank_width`` and ``human_rank_width``, the mean of highest less lowest rank.
        """
        rows = []
        ranks, pairs = (frame.groupby(["judge", "measure"], sort=False) for frame in (self.ranks, self.pairs))
        for (judge, measure), mine in self.table.groupby(["judge", "measure"], sort=False):
            of_ranks = ranks.get_group((judge, measure))
            several = (judge, measure) in pairs.groups
            of_pairs = pairs.get_group((judge, measure)) if several else self.pairs.head(0)
            beyond = (mine["by_judge"] < mine["estimate_low"]) | (mine["by_judge"] > mine["estimate_high"])
            rows.append(
                {
                    "judge": judge,
                    "measure": measure,
                    "n": int(mine["n"].iloc[0]),
                    "N": int(mine["N"].iloc[0]),
                    "human_reach": float((mine["human_high"] - mine["human_low"]).median() / 2),
                    "reach": float((mine["estimate_high"] - mine["estimate_low"]).median() / 2),
                    "n_eff": float(mine["n_eff"].median()),
                    "lambda": float(mine["lambda"].median()),
                    "outside": int(beyond.sum()),
                    "runs": len(mine),
                    "pairs": len(of_pairs),
                    "significant": int(of_pairs["significant"].sum()),
                    "human_significant": int(of_pairs["human_significant"].sum()),
                    "rank_width": float((of_ranks["rank_high"] - of_ranks["rank_low"]).mean()),
                    "human_rank_width": float((of_ranks["human_rank_high"] - of_ranks["human_rank_low"]).mean()),
                }
            )
        return pd.DataFrame(rows)

    def key_figures(self) -> pd.DataFrame:
        """Return how wide intervals are with and without the judge, what it is worth, and what it tells apart."""
        summary, several = self.summary, len(self.judges) > 1
        figures = ["n_eff", "lambda", "reach", "human_reach", "significant", "human_significant"]
        return key_figures_of(summary, figures, rows=[name if several else "" for name in summary["judge"]])

    def headline(self) -> str:
        """Return how many topics, or documents, the labels of people are worth beside those of the judge."""
        parts = []
        for row in self.summary.to_dict("records"):
            by = f" by {row['judge']}" if len(self.judges) > 1 else ""
            worth = "unknown" if pd.isna(row["n_eff"]) else f"{row['n_eff']:,.1f}"
            reach = "" if pd.isna(row["reach"]) else f" (±{row['reach']:.4f}, alone ±{row['human_reach']:.4f})"
            parts.append(f"{row['measure']}{by}: {row['n']:,} {self.level} labelled by people are worth {worth}{reach}")
        return "; ".join(parts)

    def findings(self) -> list[str]:
        """Return what was found, in sentences, each with its number and its interval."""
        return said(self.summary, self.table, self.ranks, self.settings, level=self.level, confidence=self.confidence)

    @door
    def report(self, by: str = "judge", *, measure: MeasureLike | None = None, judge: str | None = None) -> Report:
        """Return what a paper prints.

        Args:
            by: the rows: each ``"judge"`` and measure (default) with half the width of the intervals, the effective
                number, and the pairs told apart; each ``"run"`` with its estimate, interval and rank, the best first;
                or each ``"pair"`` that differs significantly, the largest difference first.
            measure: of runs and pairs; default the first.
            judge: of runs and pairs; default the first.
        """
        choice("by", by, ROWS)
        name, whose = measure_among(self.measures, measure), self._judge(judge)
        if by == "judge":
            return of_summary(self.summary, self.settings, level=self.level)
        table, pairs, ranks = (
            frame[(frame["judge"] == whose) & (frame["measure"] == name)]
            for frame in (self.table, self.pairs, self.ranks)
        )
        if by == "run":
            return of_runs(table, ranks, self.settings, level=self.level)
        return of_pairs(pairs, self.settings)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        judge: str | None = None,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw each run's interval with the judge and by people's labels alone, the highest estimate on top.

        Args:
            measure: one of the measures; default the first.
            judge: one of the judges; default the first.
            top: how many runs at most; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: two bars with a point per run, and a cross at the mean by the judge's labels.
        """
        from pt_reuse.plots.forests import plot_forest
        from pt_reuse.plots.sheet import Place

        name, whose = measure_among(self.measures, measure), self._judge(judge)
        rows = self.table[(self.table["judge"] == whose) & (self.table["measure"] == name)]
        return plot_forest(
            rows,
            measure=name,
            judge=whose,
            confidence=self.confidence,
            top=checked_top(top),
            place=Place(ax, title, legend, width),
        )

    def _judge(self, judge: str | None) -> str:
        return self.judges[0] if judge is None else choice("judge", judge, self.judges)
