"""FamilyEffect: what each judge makes of each family of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import door
from pt_reuse._report import Report
from pt_reuse._result import OfMeasures, Result, key_figures_of
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.judge_families.effect_reports import effect_in_words, of_cells, sentences
from pt_reuse.studies.judge_families.gains import AGAINST, MATCHED, OTHERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what an effect is one of
OF = ("rank", "score")
KINDS = ("map", "forest")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FamilyEffect(OfMeasures, Result):
    """What each judge makes of each family of runs, beside what people make of them.

    Attributes:
        table: one row per measure, judge, family of runs and whom it is held ``against`` (``"others"``, ``"matched"``,
            ``"alone"``, see :func:`~pt_reuse.labels.family_effect`): ``measure judge judge_family family``, ``own``,
            whether the judge is of this family; ``runs`` of the family and ``others`` that count, ``unmatched`` runs of
            the family that do not; the mean ``rise`` in ranks of the one and ``others_rise`` of the others, and
            ``rank_effect``, the difference; the mean ``change`` of the score, less that of the whole field, and
            ``others_change``, and ``score_effect``, at equal scores by people; where intervals were asked for, their
            ends beside the effects, ``_low`` and ``_high``. NaN where no run is matched, and of ``score_effect`` with
            fewer than three other runs.
        by_run: one row per measure, judge and run: ``name team type family``, ``own``, ``score`` and ``rank`` by
            people, ``judge_score`` and ``judge_rank``, ``change``, of the score less that of the field, and the
            ``rise`` in ranks.
        matches: one row per measure, judge and run of a family: ``family name``, the ``match``, None where no other run
            is near enough, and the ``score`` and ``match_score`` of both by people.
        judges: one row per judge: ``judge family``, from which label a document is relevant for it, ``documents`` of
            people that it labelled, ``missing`` ones, ``topics`` that count and ``topics_without`` any label.
    """

    title: ClassVar[str] = "Family effect"

    by_run: pd.DataFrame
    matches: pd.DataFrame
    judges: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "by_run": self.by_run, "matches": self.matches, "judges": self.judges}

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals were asked for."""
        return "rank_effect_low" in self.table

    @door
    def cells(self, measure: MeasureLike | None = None, against: str = OTHERS) -> pd.DataFrame:
        """Return the rows of the table under one measure, held against one kind of other runs.

        Args:
            measure: default the first.
            against: ``"others"`` (default), ``"matched"`` or ``"alone"``.
        """
        name = measure_among(self.measures, measure)
        kept = (self.table["measure"] == name) & (self.table["against"] == choice("against", against, AGAINST))
        return self.table[kept].reset_index(drop=True)

    def key_figures(self) -> pd.DataFrame:
        """Return the effects of each judge on each family against all other runs, see :meth:`Result.key_figures`."""
        rows = self.table[self.table["against"] == OTHERS]
        named = [f"{row.judge} on {row.family}" for row in rows.itertuples()]
        return key_figures_of(rows, ["rank_effect", "score_effect"], rows=named)

    def headline(self) -> str:
        """Return what each judge makes of its own family by the first measure; else the largest effect."""
        cells = self.cells()
        shown, whose = cells[cells["own"]], "own family "
        if shown.empty:
            at = int(cells["rank_effect"].abs().to_numpy().argmax())
            shown, whose = cells.iloc[[at]], "largest effect: "
        found = "; ".join(
            f"{row['judge']} on {row['family']} {effect_in_words(row, 'rank')}" for row in shown.to_dict("records")
        )
        families = count(cells["family"].nunique(), "family")
        return f"{count(cells['judge'].nunique(), 'judge')}, {families} of runs, {self.measures[0]}: {whose}{found}"

    def findings(self) -> list[str]:
        """Return what was found in sentences, each with its number and its interval.

        Of each judge its own family, or where no run is of it the family on which its effect is largest; and last in
        how many cells the interval leaves out 0.
        """
        return sentences(self.table, self.by_run["name"].nunique())

    @door
    def report(self, measure: MeasureLike | None = None, *, of: str = "rank") -> Report:
        """Return what a paper prints: a row per judge and family, against all other runs and among matched ones.

        Args:
            measure: one of the measures; default the first.
            of: effects on the ``"rank"`` (default) or on the ``"score"``.
        """
        choice("of", of, OF)
        name = measure_among(self.measures, measure)
        return of_cells(self.cells(name, OTHERS), self.cells(name, MATCHED), name, of, self.settings)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "map",
        of: str = "rank",
        against: str = OTHERS,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the effect of every judge on every family.

        Args:
            measure: one of the measures; default the first.
            kind: ``"map"``: a cell for each judge and family with its effect, framed where the judge is of the family;
                or ``"forest"``: a row for each, with its interval.
            of: effects on the ``"rank"`` (default) or on the ``"score"``.
            against: whom families are held against: ``"others"`` (default), ``"matched"`` or ``"alone"``.
            top: how many rows of a forest at most, own families first, then the largest effects; default 30, 15 in a
                column.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the cells or rows.
        """
        from pt_reuse.plots.forests import plot_family_forest
        from pt_reuse.plots.maps import plot_family_map
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        choice("kind", kind, KINDS)
        column = f"{choice('of', of, OF)}_effect"
        cells, name = self.cells(measure, against), measure_among(self.measures, measure)
        place = Place(ax, title, legend, width)
        if kind == "map":
            return plot_family_map(cells, column=column, measure=name, against=against, place=place)
        return plot_family_forest(
            cells, column=column, measure=name, against=against, top=checked_top(top), place=place
        )
