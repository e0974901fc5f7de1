"""LeaderboardAgreement: how far judges rank runs as people do, by their leaderboards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._result import OfJudges, Result, key_figures_of
from pt_reuse._text import ends, with_ends
from pt_reuse.arrays.bootstrap import OF_DROPS
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: pairs of measures that a headline names
_NAMED = 3
#: `over` of the table -> what means are over, in words
_OVER = {
    "given means": "as leaderboards give them, which have no scores by topic",
    "the same topics": "over the topics, which are the same of both",
    "shared": "over the topics that both have",
    "own": "over the topics that each has",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaderboardAgreement(OfJudges, Result):
    """How far the rankings of runs by judges' leaderboards agree with the ranking by people.

    Attributes:
        table: a row for all runs, and one for the best of them, per judge, measure of people and measure of the judge:
            ``judge family measure judge_measure topics over by part runs tau_b gamma tau_ap_b max_drop max_rise
            spearman pearson``, and where intervals were asked for the ends of each number, ``tau_b_low tau_b_high``;
            NaN where the two do not have the same topics. ``over`` says what means are over.
        changes: per judge, both measures and run: ``name score judge_score rank judge_rank rise team type``, those that
            rise furthest first.
        missing: runs that one of the two lacks: ``judge name lacks``.
    """

    title: ClassVar[str] = "Agreement of leaderboards"

    changes: pd.DataFrame
    missing: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "changes": self.changes, "missing": self.missing}

    @property
    def of_all(self) -> pd.DataFrame:
        """Return the rows of all runs."""
        return self.table[self.table["by"] == "all"]

    def headline(self) -> str:
        """Return tau_b of each judge by each two measures, the first of them."""
        rows = self.of_all.to_dict("records")
        said = [
            f"{row['judge']}: {row['measure']} against {row['judge_measure']} tau_b {with_ends(row, 'tau_b', '.4f')}"
            for row in rows[:_NAMED]
        ]
        return "; ".join(said) + (f"; and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else "")

    def findings(self) -> list[str]:
        """Return what was found in sentences, each with its number, and its interval where there is one."""
        found = []
        for row in self.of_all.to_dict("records"):
            topics = f" on {count(row['topics'], 'topic')}" if row["topics"] else ""
            runs = f"{row['judge']}: the ranking of {count(row['runs'], 'run')}{topics} by {row['judge_measure']}"
            if pd.isna(row["tau_b"]):
                found.append(f"{runs} has no tau_b with people's by {row['measure']}: all runs tie in one of the two.")
                continue
            best = self._best(row)
            at_k = "" if best is None else f"; among the {best['part']} it is {with_ends(best, 'tau_b', '.4f')}"
            found.append(
                f"{runs} has tau_b {with_ends(row, 'tau_b', '.4f')} with people's by {row['measure']}{at_k}; "
                f"the run that loses most loses {count(int(row['max_drop']), 'rank')}{_ends(row, 'max_drop')}, "
                f"the one that gains most gains {with_ends(row, 'max_rise', ',.0f')}."
            )
        return [*found, *self._without()]

    def key_figures(self) -> pd.DataFrame:
        """Return tau_b, gamma, tau_ap_b and the largest moves of each judge over all runs."""
        rows = self.of_all
        names = [f"{judge}, {other}" for judge, other in zip(rows["judge"], rows["judge_measure"], strict=True)]
        return key_figures_of(rows, ["tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"], rows=names)

    def report(self) -> Report:
        """Return what a paper prints: of each judge tau-b of all runs, its interval, of the best, and tau-AP."""
        rows = self.of_all
        table = rows.to_dict("records")
        several = [len(set(rows[column])) > 1 for column in ("measure", "judge_measure")]
        measures = "" if several[0] else f", by {rows['measure'].iloc[0]}"
        best = [self._best(row) for row in table]
        names = [
            " ".join([row["judge"], *[row["measure"]][: several[0]], *[row["judge_measure"]][: several[1]]])
            for row in table
        ]
        columns = [Column("tau-b", rows["tau_b"], Digits.SCORE)]
        if "tau_b_low" in rows:
            columns.append(intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE))
        at_k = [row["tau_b"] if of is None else of["tau_b"] for row, of in zip(table, best, strict=True)]
        columns += [
            Column("Among the best", at_k, Digits.SCORE),
            Column("tau-AP", rows["tau_ap_b"], Digits.SCORE),
            Column("Largest drop", rows["max_drop"], Digits.COUNT),
        ]
        said = (
            "best",
            "ties",
            *(("intervals",) if "tau_b_low" in rows else ()),
            *(name for name in OF_DROPS if name in self.settings),
            *((BEWARE,) if BEWARE in self.settings else ()),
        )
        return Report(
            [Column("Judge", names), *columns],
            caption=(
                f"The ranking of runs by the leaderboards of judges against the one by people{measures}: correlations "
                "(tau-AP symmetric and with ties), and the most ranks that a run loses."
            ),
            notes=[
                f"Means: {'; '.join(dict.fromkeys(rows['over'].map(_OVER)))}.",
                *self._without(),
                *(f"{name.capitalize()}: {self.settings[name]}." for name in said),
            ],
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw tau_b of each judge, and of each measure of it, with its interval.

        Args:
            measure: of people; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: there is none; all figures take this argument.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row for each judge and measure, the highest tau_b on top.
        """
        from pt_reuse.plots.forests import plot_judge_taus
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        rows = self.of_all[self.of_all["measure"] == name]
        several = len(set(rows["judge_measure"])) > 1
        named = [
            f"{judge}, {other}" if several else judge
            for judge, other in zip(rows["judge"], rows["judge_measure"], strict=True)
        ]
        rows = rows.assign(judge=named, kind="model")
        own = "Rankings of the runs by other leaderboards" if ax is None and title is None else title
        return plot_judge_taus(rows, measure=name, place=Place(ax, own, legend, width))

    def _without(self) -> list[str]:
        """Return sentences about the runs that one of the two lacks."""
        found = []
        zero = self.settings["missing"] == "zero"
        for (judge, who), rows in self.missing.groupby(["judge", "lacks"], sort=False):
            runs, one = f"{count(len(rows), 'run')}: {examples(rows['name'])}", len(rows) == 1
            if who == "judge" and zero:
                became = "It counts 0" if one else "They count 0"
            else:
                became = "It is not ranked" if one else "They are not ranked"
            lacks = f"{judge} has no scores of" if who == "judge" else f"{judge} alone scores"
            found.append(f"{lacks} {runs}. {became}.")
        return found

    def _best(self, row: dict[Any, Any]) -> dict[Any, Any] | None:
        """Return the row of the best runs beside that of all; None where the best are all, or tie."""
        table = self.table
        same = (table["by"] == "best") & (table["judge"] == row["judge"]) & (table["measure"] == row["measure"])
        found = table[same & (table["judge_measure"] == row["judge_measure"]) & table["tau_b"].notna()]
        return None if found.empty else found.iloc[0].to_dict()


def _ends(row: dict[Any, Any], name: str) -> str:
    between = ends(row, name, ",.0f")
    return f" ({between})" if between else ""
