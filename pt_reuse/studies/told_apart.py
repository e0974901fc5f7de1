"""DiscriminativePower: the pairs of systems that a test tells apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import OfMeasures, Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DiscriminativePower(OfMeasures, Result):
    """Which share of the pairs of systems differs significantly, by each measure and under each set of judgments.

    Attributes:
        table: one row per measure and set of ``judgments``: ``topics pairs significant``; ``power``, the share of the
            pairs that is significant, NaN with fewer than two topics, which no test takes; the
            ``smallest_significant`` difference and the ``largest_not_significant`` one, NaN where there is none;
            ``always_significant_from``, the smallest difference such that it and every larger one is significant, NaN
            where the largest of all is not.
        pairs: one row per measure, set of judgments and pair: ``judgments measure first second``; ``difference`` of
            the means, first minus second; ``p`` of the test, NaN with fewer than two topics; ``p_corrected`` for the
            number of pairs; ``significant``, whether that is at most `alpha`.
        changed: with several sets of judgments, one row per pair whose verdict under a set (``judgments``) is not that
            of the first: ``verdict`` is ``"lost"`` (significant by the first only), ``"gained"`` (by the other only) or
            ``"turned"`` (by both, and the other system is the better one); ``difference p_corrected`` by the first and
            ``other_difference other_p_corrected``.
        against_first: the same counted, one row per measure and further set: ``both lost gained turned neither``.
        alpha: the level of significance.
    """

    title: ClassVar[str] = "Discriminative power"

    pairs: pd.DataFrame
    changed: pd.DataFrame
    against_first: pd.DataFrame
    alpha: float

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "against_first": self.against_first,
            "changed": self.changed,
            "pairs": self.pairs,
        }

    @property
    def judgments(self) -> list[str]:
        """Return the names of the sets of judgments, the first one taken as right."""
        return list(dict.fromkeys(self.table["judgments"]))

    def key_figures(self) -> pd.DataFrame:
        """Return the share and number of significant pairs, and how many verdicts change by other judgments."""
        several = len(self.judgments) > 1
        rows, changed = self.table, self.against_first
        figures = ["power", "significant", "always_significant_from"]
        parts = [
            key_figures_of(rows, figures, rows=[name if several else "" for name in rows["judgments"]]),
            key_figures_of(changed, ["lost", "gained", "turned"], rows=changed["judgments"].tolist()),
        ]
        return pd.concat(parts[: 1 + several], ignore_index=True)

    def headline(self) -> str:
        """Return the share of significant pairs by each measure, and how many verdicts change."""
        several, parts = len(self.judgments) > 1, []
        changes = self.against_first.set_index(["judgments", "measure"])
        for row in self.table.to_dict("records"):
            of = f" by {row['judgments']}" if several else ""
            share = "no test of" if pd.isna(row["power"]) else f"{row['power']:.1%} of"
            text = f"{row['measure']}{of}: {share} {count(row['pairs'], 'pair')}"
            if (row["judgments"], row["measure"]) in changes.index:
                moved = changes.loc[(row["judgments"], row["measure"])]
                text += f" ({moved['lost']:,} lost, {moved['gained']:,} gained, {moved['turned']:,} turned)"
            parts.append(text)
        return "; ".join(parts)

    def report(self) -> Report:
        """Return what a paper prints: per measure and set of judgments the share of significant pairs.

        With several sets of judgments also how many pairs lose, gain or turn their verdict against the first.
        """
        table, several = self.table, len(self.judgments) > 1
        columns = [Column("Measure", table["measure"])]
        if several:
            rows = table[["judgments", "measure"]].merge(self.against_first, how="left", on=["judgments", "measure"])
            columns += [
                Column("Judgments", table["judgments"]),
                Column("Power", table["power"], Digits.SCORE),
                *(Column(name.capitalize(), rows[name], Digits.COUNT) for name in ("lost", "gained", "turned")),
            ]
        else:
            columns += [
                Column("Significant pairs", table["significant"], Digits.COUNT),
                Column("Power", table["power"], Digits.SCORE),
                Column("Always significant from", table["always_significant_from"], Digits.SCORE),
            ]
        settings, n_pairs = self.settings, int(table["pairs"].iloc[0])
        correction = settings["correction"]
        how = "without a correction" if correction == "none" else f"corrected for their number: {correction}"
        against = f"; lost, gained and turned verdicts are against those by {self.judgments[0]}" if several else ""
        topics = sorted(set(table["topics"]))
        over = count(topics[0], "topic") if len(topics) == 1 else f"{topics[0]:,} to {topics[-1]:,} topics"
        notes = [f"Beware: {settings[BEWARE]}."] if BEWARE in settings else []
        return Report(
            columns,
            caption=(
                f"Discriminative power: the share of {count(n_pairs, 'pair')} of runs that differ significantly over "
                f"{over} ({settings['test']}, p at most {self.alpha:g}, {how}){against}."
            ),
            notes=notes,
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        judgments: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the p-values of all pairs from the largest to the smallest: the curves of achieved significance levels.

        A curve nearer to the origin has fewer pairs that are not significant. The p-values are those of the tests, not
        corrected for the number of pairs; the legend says which share of the pairs is significant when they are. The
        upright axis ends at four times `alpha`, which a line marks.

        Args:
            measure: one of the measures: a line for each set of judgments under it. Default: a line for each measure
                where there is one set of judgments, else the first measure.
            judgments: one of the sets of judgments: a line for each measure under it.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a line per measure or set of judgments, 18 at most told apart.
        """
        from pt_reuse.plots.lines import plot_achieved_levels
        from pt_reuse.plots.sheet import Place

        name = None if measure is None else measure_among(self.measures, measure)
        if judgments is not None:
            choice("judgments", judgments, self.judgments)
        elif name is None and len(self.judgments) == 1:
            judgments = self.judgments[0]
        elif name is None:
            name = self.measures[0]
        rows, lines, said = self.pairs, "measure", ""
        if judgments is not None:
            rows, said = rows[rows["judgments"] == judgments], judgments if len(self.judgments) > 1 else ""
        if name is not None:
            rows, said = rows[rows["measure"] == name], ", ".join(filter(None, [name, said]))
            lines = "judgments"
        return plot_achieved_levels(rows, lines=lines, alpha=self.alpha, of=said, place=Place(ax, title, legend, width))
