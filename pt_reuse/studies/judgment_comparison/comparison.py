"""JudgmentComparison: the same runs under two sets of judgments, and what one set knows that the other does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import InputError, door
from pt_reuse._report import Report
from pt_reuse._result import key_figures_of
from pt_reuse.scoring.agreement import Agreement
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.judgment_comparison.reports import (
    ROWS,
    in_words,
    of_measures,
    of_runs,
    of_selected,
    of_topics,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: kind of figure that is not of two scorings -> what it shows
OTHER_KINDS = ("topics", "remainder", "relevant", "runs")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgmentComparison(Agreement):
    """The same runs under two sets of judgments: how far the rankings agree, and what only one set knows.

    The first judgments are the older ones, or those taken as right; ``other_`` is what the second say. Both sets count
    on the topics of ``settings["topics"]``. What is *new* was judged by one of the two and not by the other
    (``new_by`` says by which); *judged* is a label of at least 0.

    Attributes:
        table: per measure ``measure other_measure tau_a tau_b gamma tau_ap tau_ap_b weighted_tau max_drop max_rise``,
            and where intervals were asked for, after each but weighted_tau its ends, ``tau_b_low tau_b_high`` and so
            on.
        changes: per run and measure ``name measure other_measure score other_score rank other_rank drop team type``.
        per_topic: per topic and measure ``qid measure other_measure tau_b max_drop dropped max_rise risen``: the
            systems ranked on this topic alone, tau_b NaN where all of them tie under one of the two; the most ranks
            that a run loses and gains, and which run it is, of several the best one, None where none does.
        selected: the runs that a paper shows, the same under every measure, the best by the first measure and the first
            judgments first: ``why name team type pooled measure other_measure score
            other_score change rank other_rank drop unjudged_rate other_unjudged_rate``.
        by_run: for each of the two and each run, over the documents that it ranks down to `depth`: ``new_by name team
            type pooled documents``; ``unjudged``, those that the other judgments do not know; ``unjudged_rate``, their
            share, the mean over topics (1 where the run returns nothing); ``new``, those of the unjudged that are
            judged by ``new_by``, and ``new_relevant`` of them.
        by_topic: for each of the two and each topic: ``new_by qid``; ``judged`` and ``relevant`` documents of the other
            judgments; ``remainder``, documents that a run ranks down to `depth` and the other judgments do not know;
            ``new``, all that only ``new_by`` judged, and ``new_relevant`` of them.
        names: what the two are called.
        depth: down to which rank the documents of runs are counted.
    """

    title: ClassVar[str] = "Judgments compared"

    selected: pd.DataFrame
    by_run: pd.DataFrame
    by_topic: pd.DataFrame
    depth: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return super().tables() | {"selected": self.selected, "by_run": self.by_run, "by_topic": self.by_topic}

    @property
    def measures(self) -> list[str]:
        """Return the names of the measures, under the first judgments."""
        return self.table["measure"].tolist()

    @property
    def measured(self) -> list[str]:
        """Return what the runs of each row of the table are scored by, both measures where they differ."""
        return [in_words(*pair) for pair in zip(self.measures, self.table["other_measure"], strict=True)]

    @property
    def newer(self) -> str:
        """Return which of the two have documents that the other do not: the second, unless the first alone do."""
        new = self.by_topic.groupby("new_by", sort=False)["new"].sum()
        return self.names[0] if new[self.names[0]] and not new[self.names[1]] else self.names[1]

    def key_figures(self) -> pd.DataFrame:
        """Return those of an ``Agreement``, and what each of the two alone knows."""
        figures = ["new", "new_relevant", "remainder"]
        of = self.by_topic.groupby("new_by", sort=False)[figures].sum().reset_index()
        new = key_figures_of(of, figures, rows=[f"by {name}" for name in of["new_by"]])
        return pd.concat([super().key_figures(), new], ignore_index=True)

    def headline(self) -> str:
        """Return what is compared with what, tau_b and the largest drop of each measure, and what is new."""
        rows = self.by_topic[self.by_topic["new_by"] == self.newer]
        new, relevant = int(rows["new"].sum()), int(rows["new_relevant"].sum())
        known = "no document is judged by one of the two alone"
        found = f"{count(new, 'document')} judged by {self.newer} alone, {relevant:,} relevant" if new else known
        return f"{super().headline()}; {found}"

    @door
    def report(self, by: str = "measure", *, measure: MeasureLike | None = None, new_by: str | None = None) -> Report:
        """Return what a paper prints; the caption says which judgments and topics are compared.

        Args:
            by: the rows: each ``"measure"`` (default) with its correlations and largest moves; the ``"selected"`` runs
                with score and rank under both, and the share of their documents that the first judgments do not know;
                each ``"topic"`` with its tau-b and the runs that move most, the lowest tau-b first; or each ``"run"``
                with how many documents were unjudged, and how many of these are relevant.
            measure: of selected runs and topics; default the first.
            new_by: of runs, which of the two judged the new documents; default :attr:`newer`.
        """
        choice("by", by, ROWS)
        name = measure_among(self.measures, measure)
        newer = self._newer(new_by)
        if by == "measure":
            return of_measures(self.table, self.measured, self.changes["name"].nunique(), self.names, self.settings)
        if by == "selected":
            return of_selected(self.selected, name, self.depth, self.names, self.settings)
        if by == "topic":
            return of_topics(self.per_topic[self.per_topic["measure"] == name], self.names, self.settings)
        return of_runs(self.by_run[self.by_run["new_by"] == newer], newer, self.depth, self.names, self.settings)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str | None = None,
        by: str | None = None,
        new_by: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the two scorings, how topics rank the runs, or what is new.

        Args:
            measure: one of the measures; default the first.
            kind: of two scorings, the upright axis: ``"change"`` of the score (default), ``"percent"`` of it, or the
                other ``"scores"`` (default where they are of another measure); ``"topics"``, tau-b of each topic, the
                lowest first; ``"remainder"``, how many documents each topic has that runs rank and the earlier
                judgments do not know, against its known relevant ones; ``"relevant"``, how many new relevant ones,
                against the same (both of figure 1 of the paper); ``"runs"``, how many new relevant documents each run
                has among its previously unjudged ones (figure 2).
            by: what gives runs their colour and marker, ``"type"`` or ``"team"``; default the first of these that any
                run has.
            new_by: which of the two judged the new documents; default :attr:`newer`.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per run or per topic.
        """
        from pt_reuse.plots.points import VIEWS, check_view
        from pt_reuse.plots.run_scores import plot_new_by_run, plot_new_by_topic, plot_topic_taus
        from pt_reuse.plots.sheet import Place

        name, newer = measure_among(self.measures, measure), self._newer(new_by)
        row = self.table[self.table["measure"] == name].iloc[0]
        usual = "change" if row["other_measure"] == name else "scores"
        kind = usual if kind is None else choice("kind", kind, (*VIEWS, *OTHER_KINDS))
        if kind in VIEWS:
            return super().plot(measure, kind=kind, by=by, ax=ax, title=title, legend=legend, width=width)
        place = Place(ax, title, legend, width)
        if kind == "topics":
            said = in_words(name, row["other_measure"])
            rows = self.per_topic[self.per_topic["measure"] == name]
            return plot_topic_taus(rows, measured=said, overall=float(row["tau_b"]), place=place)
        older = self.names[self.names[0] == newer]
        if kind == "runs":
            check_view("change", by, ("type", "team"), self.by_run)
            rows = self.by_run[self.by_run["new_by"] == newer]
            return plot_new_by_run(rows, judgments=(older, newer), depth=self.depth, by=by, place=place)
        rows = self.by_topic[self.by_topic["new_by"] == newer]
        return plot_new_by_topic(rows, kind=kind, judgments=(older, newer), depth=self.depth, place=place)

    def _newer(self, new_by: str | None) -> str:
        if new_by is None:
            return self.newer
        if new_by not in self.names:
            raise InputError(
                f"new_by must be one of the two, {self.names[0]!r} or {self.names[1]!r}, got {new_by!r}.",
                argument="new_by",
            )
        return new_by
