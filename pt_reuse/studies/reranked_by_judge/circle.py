"""Circularity: what re-ranking by a judge's labels brings under that judge, under others and under people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._result import OfJudges, Result, key_figures_of
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.reranked_by_judge.circle_sentences import findings_of, gains_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: who scores when no judge does
PEOPLE = "people"
NUMBERS = ("gains", "rankings")
KINDS = ("gains", "runs")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Circularity(OfJudges, Result):
    """What runs gain whose first documents are re-ranked by a judge's labels, by who scores them.

    ``judge`` is who re-ranks, ``scorer`` who scores: the same judge, another one, or ``"people"``.

    Attributes:
        table: one row per judge, scorer and measure: ``judge family scorer measure``; ``same``, whether the judge
            scores itself; ``topics runs``; ``mean_gain``, by how much the mean score of the runs is higher once they
            are re-ranked; ``excess_gain``, by how much that is above the one under people, NaN for people;
            ``gaining losing``, how many runs score higher, and lower; ``mean_rise``, how many ranks a re-ranked run
            gains on average when the other runs stay as they were; ``reranked_in_best originals_in_best``, how many of
            the best systems are re-ranked, and how many are runs as they were, all of them ranked together (more than
            `best` where systems tie for the last place). Where intervals were asked for, both gains have their ends
            behind them, ``mean_gain_low mean_gain_high`` and so on.
        rankings: one row per judge, scorer but people, measure and field: ``judge family scorer measure same``;
            ``field``, what is ranked, ``"original"``, ``"re-ranked"`` (every run is) or ``"both"`` together;
            ``systems``; ``tau_b`` of the scorer's ranking with people's, and ``tau_b_best`` of the systems alone that
            are best by people (more than `best` where systems tie for the last place); with intervals the ends of
            both.
        by_run: one row per judge, scorer, measure and run: ``judge scorer measure name team type``, ``family`` where
            runs have one, ``score reranked_score gain``; ``rank`` among all runs as they were, and ``reranked_rank``,
            the one that it has re-ranked while the others stay as they were.
        depth: how many documents of each list are sorted.
        best: how many systems are the best.
    """

    title: ClassVar[str] = "Circularity"

    rankings: pd.DataFrame
    by_run: pd.DataFrame
    depth: int
    best: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "rankings": self.rankings, "by_run": self.by_run}

    @property
    def scorers(self) -> list[str]:
        """Return who scores, people first."""
        return list(dict.fromkeys(self.table["scorer"]))

    @property
    def has_intervals(self) -> bool:
        """Return whether gains and correlations have intervals."""
        return "mean_gain_low" in self.table

    def key_figures(self) -> pd.DataFrame:
        """Return of each judge what runs gain under itself, how much of it people do not see, and tau_b of both."""
        own = self.table[self.table["same"]]
        taus = self.rankings[self.rankings["same"] & (self.rankings["field"] == "both")]
        return pd.concat(
            [
                key_figures_of(own, ["mean_gain", "excess_gain"], rows=own["judge"].tolist()),
                key_figures_of(taus, ["tau_b"], rows=[f"{judge}, both" for judge in taus["judge"]]),
            ],
            ignore_index=True,
        )

    def headline(self) -> str:
        """Return what runs gain by each judge's labels, under itself and under people."""
        return "; ".join(gains_of(self.table))

    def findings(self) -> list[str]:
        """Return what was found in plain sentences, each with its numbers and intervals."""
        return findings_of(self.table, self.rankings, depth=self.depth, best=self.best)

    @door
    def report(self, measure: MeasureLike | None = None, *, numbers: str = "gains") -> Report:
        """Return what a paper prints of one measure, a row per judge that re-ranks and who scores.

        Args:
            measure: one of the measures; default the first.
            numbers: ``"gains"`` of score and ranks (default), or the ``"rankings"``: tau_b with people.
        """
        name = measure_among(self.measures, measure)
        choice("numbers", numbers, NUMBERS)
        rows = self.table[self.table["measure"] == name]
        if numbers == "gains":
            columns = [Column("Re-ranked by", rows["judge"]), Column("Scored by", rows["scorer"])]
            columns.append(Column("Mean gain", rows["mean_gain"], Digits.SCORE))
            if self.has_intervals:
                columns.append(intervals("the gain", rows["mean_gain_low"], rows["mean_gain_high"], Digits.SCORE))
            columns.append(Column("Ranks gained", rows["mean_rise"].map("{:+.1f}".format)))
            columns.append(Column("Re-ranked among the best", rows["reranked_in_best"], Digits.COUNT))
            caption = (
                f"By how much {name} rises when {count(int(rows['runs'].max()), 'run')} are re-ranked by a judge's "
                f"labels to depth {self.depth:,}, by who scores; and how many of the {self.best:,} best systems are "
                "re-ranked."
            )
        else:
            taus = self.rankings[self.rankings["measure"] == name]
            wide = {field: part for field, part in taus.groupby("field", sort=False)}
            first = wide["original"]
            columns = [Column("Re-ranked by", first["judge"]), Column("Scored by", first["scorer"])]
            for field in ("original", "re-ranked", "both"):
                columns.append(Column(f"Tau-b, {field}", wide[field]["tau_b"], Digits.SCORE))
            columns.append(Column(f"Tau-b, {self.best:,} best of both", wide["both"]["tau_b_best"], Digits.SCORE))
            caption = (
                f"Tau-b of the rankings by {name} with those by people: of {count(int(rows['runs'].max()), 'run')} as "
                f"they were, re-ranked by a judge's labels to depth {self.depth:,}, and both together."
            )
        return Report(columns, caption=caption, notes=self._notes(numbers))

    def _notes(self, numbers: str) -> list[str]:
        settings = self.settings
        convention = (
            "Ranks gained: each run alone re-ranked among the others as they were. The best are those of all runs, as "
            "they were and re-ranked together"
            if numbers == "gains"
            else "The best are those by people"
        )
        notes = [
            f"Re-ranked: {settings['re-ranked']}.",
            f"{convention}; systems that tie for the last place are among them.",
            f"People: {settings['human']}. Judges: {settings['judges']}.",
        ]
        notes += [f"Intervals: {settings[INTERVALS]}."] if self.has_intervals else []
        return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "gains",
        judge: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what runs gain by each judge's labels under each scorer, or the gain of every run by one judge.

        Args:
            measure: one of the measures; default the first.
            kind: ``"gains"`` (default), the mean gain under each scorer, with its interval, a row per judge that
                re-ranks; ``"runs"``, the gain of each run under the judge itself and under people, by its score as
                people see it before.
            judge: of ``"runs"``: one of the judges that re-rank; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per scorer, or two per run.
        """
        from pt_reuse.plots.forests import plot_gains, plot_run_gains
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        choice("kind", kind, KINDS)
        which = self.judges[0] if judge is None else choice("judge", judge, self.judges)
        place = Place(ax, title, legend, width)
        if kind == "gains":
            return plot_gains(self.table[self.table["measure"] == name], measure=name, people=PEOPLE, place=place)
        rows = self.by_run[(self.by_run["measure"] == name) & (self.by_run["judge"] == which)]
        own, people = (rows[rows["scorer"] == scorer] for scorer in (which, PEOPLE))
        return plot_run_gains(own, people, measure=name, judge=which, place=place)
