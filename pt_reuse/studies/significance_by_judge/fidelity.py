"""SignificanceFidelity: what becomes of significant differences when a judge labels instead of people."""

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
from pt_reuse.studies.significance_by_judge.sentences import claims, findings_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what a report shows of each judge
NUMBERS = ("counts", "shares")
KINDS = ("counts", "pairs")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SignificanceFidelity(OfJudges, Result):
    """For every pair of runs whether it differs significantly by the labels of people, and by those of each judge.

    An outcome is ``"agree"`` (significant by both, the same winner), ``"false claim"`` (by the judge only),
    ``"missed"`` (by people only), ``"opposite"`` (by both, the other winner), ``"neither"``, or ``"untested"`` where
    fewer than two topics give no p-value; what is untested counts nowhere else.

    Attributes:
        table: one row per judge and measure: ``judge family measure topics runs pairs untested``;
            ``human_significant judge_significant``, the pairs that differ significantly by either; the counts of the
            outcomes, ``agree false_claims missed opposite neither``; ``false_share``, the false claims as a share of
            what the judge finds significant; ``missed_share``, the missed pairs as a share of what people find;
            ``agree_share``, agree-SS_a, the share of all significant results that the other side confirms, 2 agree /
            (human_significant + judge_significant). A share of nothing is NaN. Where intervals were asked for, each
            share has its ends behind it, ``false_share_low false_share_high`` and so on.
        pairs: one row per judge, measure and pair: ``judge measure first second outcome``; ``difference`` of the means
            by people's labels, first minus second, ``p`` and ``p_corrected`` for the number of pairs; the same by the
            judge's, ``judge_difference judge_p judge_p_corrected``.
        by_run: one row per judge, measure and run: ``judge measure name team type``, and ``family`` where runs have
            one; ``false_wins false_losses``, the
            false claims that the run is better or worse than another one; ``missed_wins missed_losses``, the pairs that
            it wins or loses by people and that the judge misses; ``opposite``, pairs in which the other run wins.
        alpha: the level of significance.
        corrected: whether p-values allow for the number of pairs.
    """

    title: ClassVar[str] = "Significance fidelity"

    pairs: pd.DataFrame
    by_run: pd.DataFrame
    alpha: float
    corrected: bool

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "by_run": self.by_run, "pairs": self.pairs}

    @property
    def has_intervals(self) -> bool:
        """Return whether the shares have intervals."""
        return "false_share_low" in self.table

    def key_figures(self) -> pd.DataFrame:
        """Return of each judge the shares of false claims and of missed pairs, and how many winners are opposite."""
        return key_figures_of(
            self.table, ["false_share", "missed_share", "opposite"], rows=self.table["judge"].tolist()
        )

    def headline(self) -> str:
        """Return what each judge claims by each measure, and what of it is false."""
        return "; ".join(claims(row) for row in self.table.to_dict("records"))

    def findings(self) -> list[str]:
        """Return what was found in plain sentences, each with its numbers and intervals, the first measure first."""
        return findings_of(self.table, alpha=self.alpha, corrected=self.corrected)

    @door
    def report(self, measure: MeasureLike | None = None, *, numbers: str = "counts") -> Report:
        """Return what a paper prints of one measure, a row per judge.

        Args:
            measure: one of the measures; default the first.
            numbers: ``"counts"`` of pairs (default), or the ``"shares"`` of false claims and missed pairs, with their
                intervals where there are any.
        """
        name = measure_among(self.measures, measure)
        choice("numbers", numbers, NUMBERS)
        rows = self.table[self.table["measure"] == name]
        columns = [Column("Judge", rows["judge"])]
        if numbers == "counts":
            columns += [
                Column("Significant", rows["judge_significant"], Digits.COUNT),
                Column("Same winner", rows["agree"], Digits.COUNT),
                Column("False claims", rows["false_claims"], Digits.COUNT),
                Column("Missed", rows["missed"], Digits.COUNT),
                Column("Opposite", rows["opposite"], Digits.COUNT),
            ]
        else:
            for share, said in (("false_share", "False claims"), ("missed_share", "Missed")):
                columns.append(Column(said, rows[share], Digits.SCORE))
                if self.has_intervals:
                    ends = (rows[f"{share}_low"], rows[f"{share}_high"])
                    columns.append(intervals(said.lower(), *ends, Digits.SCORE))
            columns.append(Column("Agreement", rows["agree_share"], Digits.SCORE))
        return Report(columns, caption=self._caption(name, rows), notes=self._notes(numbers))

    def _caption(self, measure: str, rows: pd.DataFrame) -> str:
        settings = self.settings
        by_people = sorted(set(rows["human_significant"].astype(int)))
        people = f"{by_people[0]:,}" if len(by_people) == 1 else f"{by_people[0]:,} to {by_people[-1]:,}"
        how = "not corrected for their number" if not self.corrected else f"corrected: {settings['correction']}"
        return (
            f"Of {count(int(rows['pairs'].max()), 'pair')} of runs, {people} differ significantly by {measure} and "
            f"the labels of people ({settings['test']}, p at most {self.alpha:g}, {how}); what each judge makes of "
            "them."
        )

    def _notes(self, numbers: str) -> list[str]:
        notes = ["False claim: significant by the judge only. Missed: significant by people only."]
        if numbers == "shares":
            notes.append(
                "False claims are a share of the judge's significant pairs, missed ones of people's; agreement is the "
                "share of all significant results that the other side confirms."
            )
            notes += [f"Intervals: {self.settings[INTERVALS]}."] if self.has_intervals else []
        notes.append(f"People: {self.settings['human']}. Judges: {self.settings['judges']}.")
        return [*notes, f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else notes

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "counts",
        judge: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how many pairs have which outcome, a bar per judge, or the outcome of every pair by one judge.

        Args:
            measure: one of the measures; default the first.
            kind: ``"counts"`` (default), a stacked bar per judge; ``"pairs"``, a cell for every two runs, the best by
                people first.
            judge: of ``"pairs"``: one of the judges; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the bars, or one image.
        """
        from pt_reuse.plots.bars import plot_outcomes
        from pt_reuse.plots.maps import plot_pairs
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        choice("kind", kind, KINDS)
        which = self.judges[0] if judge is None else choice("judge", judge, self.judges)
        place = Place(ax, title, legend, width)
        if kind == "counts":
            return plot_outcomes(self.table[self.table["measure"] == name], measure=name, place=place)
        rows = self.pairs[(self.pairs["measure"] == name) & (self.pairs["judge"] == which)]
        return plot_pairs(rows, measure=name, judge=which, place=place)
