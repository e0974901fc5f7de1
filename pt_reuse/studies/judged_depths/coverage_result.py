"""Coverage: how far judgments cover runs, teams, types and topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._result import Result, key_figures_of
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.judged_depths.coverage_reports import CoverageReports
from pt_reuse.studies.judged_depths.unjudged_documents import UnjudgedDocuments

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what a figure can show
_KINDS = ("topics", "depths", "residual", "rise")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Coverage(CoverageReports, Result):
    """How far judgments cover runs, teams, types and topics.

    Attributes:
        table: one row per depth and run: ``name team type pooled``, ``contributed`` (whether it contributed to the pool
            at hand, <NA> where that is not known), ``depth``; ``documents`` returned down to it on all topics, and how
            many are unjudged, ``unjudged_documents``; means over topics of ``unjudged``, the share of the documents
            returned (``Unjudged@k``: 1 on a topic for which a run returns nothing), of ``judged`` = 1 - unjudged, of
            ``unjudged_of_k``, the share of k (``Unjudged(of_cutoff=True)@k``: places left empty count as judged, so
            that such a topic has 0), and of ``unjudged_without_own``, as `unjudged` without what the run's own team
            alone brought into the pool, NaN where that is not known.
        by_run: one row per run: as above, with ``unjudged`` and ``unjudged_without_own`` at the depth `at`, and
            ``above_contributors``, the share of the contributing runs that have less without their own team; ``topics``
            for which it returns documents; ``judged_to``, the deepest rank to which it is judged without a gap on every
            such topic, and ``median_judged_to``, the median over them (a list without a gap counts as deep as the run's
            longest); ``residual`` of RBP, and ``residual_without_own``; ``RBP`` and the run's ``rank`` by it, with
            unjudged documents not relevant; ``best_rank`` and ``worst_rank``, 1 + the number of runs that are better
            whatever the labels of unjudged documents are, and under some labels; ``flags``, how many it has.
        condensed: one row per measure and run: ``score rank``, unjudged documents not relevant; ``condensed_score
            condensed_rank``, all runs without unjudged documents; ``rise`` = rank - condensed_rank.
        groups: one row per type and team (``by group runs``) and depth: sums and means over its runs of the columns of
            `table`, and ``max_unjudged`` of a run.
        by_topic: one row per depth and topic: ``qid depth runs``, means over runs of ``unjudged unjudged_of_k``,
            ``max_unjudged`` of a run, and ``judged_to``, the rank to which every run is judged.
        flags: one row per run and reason to think that the pool puts it at a disadvantage: ``name reason value limit``.
        counts: the numbers behind the shares, on each topic.
        measures: their names.
        at: the depth that runs are compared at.
        p: the persistence of RBP and its residual.
        left_out: who was left out of the pool for ``unjudged_without_own``: ``"team"``, ``"run"`` or ``"type"``; None
            for nobody.
    """

    title: ClassVar[str] = "Coverage"

    by_run: pd.DataFrame
    condensed: pd.DataFrame
    groups: pd.DataFrame
    by_topic: pd.DataFrame
    flags: pd.DataFrame
    counts: UnjudgedDocuments
    measures: list[str]
    at: int
    p: float
    left_out: str | None

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "by_run": self.by_run,
            "condensed": self.condensed,
            "groups": self.groups,
            "by_topic": self.by_topic,
            "flags": self.flags,
        }

    @property
    def depths(self) -> list[int]:
        """Return the depths, ascending."""
        return list(self.counts.cutoffs)

    def per_topic(self) -> pd.DataFrame:
        """Return one row per run, topic and depth: ``name qid depth documents unjudged_documents unjudged``."""
        names = {"cutoff": "depth", "unjudged": "unjudged_documents", "Unjudged": "unjudged"}
        return self.counts.by_topic().rename(columns=names)

    def headline(self) -> str:
        """Return how much is unjudged of pooled and of other runs, the worst run, and how many runs have a flag."""
        rows, parts = self.by_run, []
        for what, which in (("pooled runs", True), ("other runs", False)):
            of = rows[rows["pooled"].notna() & (rows["pooled"] == which)]
            parts += [f"{what} {of['unjudged'].mean():.4f}"] if len(of) else []
        rest = rows[rows["pooled"].isna()]
        parts += [f"{'runs' if not parts else 'runs not on record'} {rest['unjudged'].mean():.4f}"] if len(rest) else []
        worst = rows.iloc[int(rows["unjudged"].to_numpy().argmax())]
        flagged = count(int((rows["flags"] > 0).sum()), "run")
        return (
            f"Unjudged@{self.at} in the mean: {', '.join(parts)}; most {worst['unjudged']:.4f} ({worst['name']}); "
            f"{flagged} of {len(rows):,} with a flag"
        )

    def key_figures(self) -> pd.DataFrame:
        """Return the numbers that sum the result up, ``measure figure value``, see :meth:`Result.key_figures`."""
        rows = self.by_run
        whole = pd.DataFrame(
            {
                "mean_unjudged": [rows["unjudged"].mean()],
                "max_unjudged": [rows["unjudged"].max()],
                "mean_residual": [rows["residual"].mean()],
                "max_residual": [rows["residual"].max()],
                "flagged": [float((rows["flags"] > 0).sum())],
            }
        )
        rises = self.condensed.groupby("measure", sort=False)["rise"].agg(max_rise="max", max_fall="min").reset_index()
        rises["max_fall"] = -rises["max_fall"]
        return pd.concat(
            [key_figures_of(whole, list(whole)), key_figures_of(rises, ["max_rise", "max_fall"])], ignore_index=True
        )

    @door
    def plot(
        self,
        kind: str = "topics",
        *,
        depth: int | None = None,
        measure: MeasureLike | None = None,
        by: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what is unjudged.

        Args:
            kind: ``"topics"`` (default), a map of runs and topics, the darker the more is unjudged; ``"depths"``, a
                line per type over the depths; ``"residual"`` or ``"rise"``, a point per run: the share unjudged, and
                the residual of RBP, or the ranks it gains on condensed lists.
            depth: of the map and the points, one of the depths; default `at`.
            measure: by which runs rise; default the first.
            by: what gives colour and marker to points and lines: ``"type"`` or ``"team"``; default the first of these
                that any run has.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: as `kind` says.
        """
        from pt_reuse.plots.lines import plot_depths
        from pt_reuse.plots.maps import plot_unjudged_map
        from pt_reuse.plots.run_scores import plot_disadvantage
        from pt_reuse.plots.sheet import Place

        choice("kind", kind, _KINDS)
        name, place = measure_among(self.measures, measure), Place(ax, title, legend, width)
        group = self._group(by)
        at = self.at if depth is None else depth
        if at not in self.depths:
            known = ", ".join(map(str, self.depths))
            raise InputError(Argument("depth"), f" must be one of {known}, got {told(depth)}.", argument="depth")
        if kind == "depths":
            return plot_depths(self.table, by=group, place=place)
        if kind == "topics":
            place_of_depth = self.depths.index(at)
            shares = np.where(self.counts.documents[place_of_depth] > 0, self.counts.shares[place_of_depth], np.nan)
            return plot_unjudged_map(shares, self.by_run, self.counts.topics, depth=at, by=group, place=place)
        rows = self.by_run.assign(
            unjudged=self.table.loc[self.table["depth"] == at, "unjudged"].to_numpy(),
            rise=self.condensed.loc[self.condensed["measure"] == name, "rise"].to_numpy(),
        )
        label = (
            f"residual of RBP (p = {self.p:g})" if kind == "residual" else f"ranks gained by {name}, condensed lists"
        )
        return plot_disadvantage(rows, column=kind, label=label, by=group, depth=at, place=place)

    def _group(self, by: str | None) -> str | None:
        if by is None:
            return next((column for column in ("type", "team") if self.by_run[column].notna().any()), None)
        choice("by", by, ("type", "team"))
        if self.by_run[by].isna().all():
            raise InputError(Argument("by"), f" is {by}, and no run has one.", argument="by")
        return by
