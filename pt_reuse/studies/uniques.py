"""leave_out_uniques: what becomes of a system whose team was not pooled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, choice, count, listed
from pt_reuse._errors import arguments_as, door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.arrays.bootstrap import checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import as_qrels, checked_rel, relevant_from
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.units import COLUMNS, Units, check_unit, described
from pt_reuse.judging.judges import JudgeRel
from pt_reuse.options import Flag, Parameter
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import checked_depth, depth_of
from pt_reuse.pooling.fit import MOSTLY, SLACK, PoolFit, Pooling, find_uniques
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import (
    BEWARE,
    alone,
    few_topics,
    none_relevant,
    noted,
    of_judged,
    relevant_only,
    tell,
    warn_of_lower_grades,
)
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.rescoring import Block, rescore
from pt_reuse.scoring.run_scores import check_scoring, checked_measures, provided_measures, scores_of
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.filled_uniques import FilledUniques, checked_fill, filled_report, filled_tables
from pt_reuse.studies.unique_sets import ChangedScores, RemovedUniques, UniqueIntervals, score_sets, score_uniques
from pt_reuse.studies.unique_tables import (
    LargeDrops,
    Means,
    by_run_table,
    count_uniques,
    summary_table,
    unit_table,
    whole_field_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BY = Parameter(
    name="by",
    meaning='leave out one ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"`` at a time.',
    choices=tuple(COLUMNS),
    flag=Flag(help="what to leave out: team, run, type or family", metavar="UNIT", kind="text"),
)
REMOVE = Parameter(
    name="remove",
    meaning='``"relevant"`` (default) removes the unique relevant documents; ``"judged"`` every unique judged '
    "document, as NIST's script does, and as is the default with `fill`, since without a unit nobody knows which are "
    "relevant. The two agree for measures that take unjudged as not relevant.",
    choices=("relevant", "judged"),
    flag=Flag(help="unique documents to remove: relevant or judged", metavar="WHAT", kind="text", default="relevant"),
)


def in_words(result: LeaveOutUniques) -> str:
    """Return what the result says, in words, one line per measure."""
    by, lines = result.units.by, []
    for row in result.summary.to_dict("records"):
        if row["field_worst"] is None:
            field = f"over the whole field, leaving out any one {by} changes no rank."
        else:
            moved = f"moves a run down by up to {count(row['field_max_drop'], 'rank')}"
            field = f"over the whole field, leaving out {by} {row['field_worst']!r} {moved}."
        alone, all_at_once = count(row["alone_max_drop"], "rank"), count(row["own_max_drop"], "rank")
        mean = "" if np.isnan(row["mean_change_pct"]) else f"mean change {row['mean_change_pct']:+.2f} %; "
        lines.append(
            f"{row['measure']}: judged without its own {by}, a run loses at most {row['largest_loss_pct']:.2f} % of "
            f"its score, {alone} if its {by} alone is, {all_at_once} if all are "
            f"({mean}tau_b {row['own_tau_b']:.4f}); {field}"
        )
    # of a larger share a warning has told
    if SLACK < result.fit.stranger_share <= MOSTLY:
        lines.append(
            f"Beware: {result.fit.in_words()}. If the depth, the contributors, the order or the runs are not those of "
            "the real pool, uniques are not what they were. Documents that were chosen otherwise, by a classifier for "
            "instance, stay whoever is left out."
        )
    return "\n".join(lines)


class UniqueFigures:
    """Draws the tables of a ``LeaveOutUniques``, which has the attributes that are named here."""

    table: pd.DataFrame
    by_run: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    units: Units

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "change",
        by: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what each run's score loses without the uniques of its own unit; runs on the line lose nothing.

        Args:
            measure: one of the measures; default the first.
            kind: the upright axis: ``"change"`` of the score (default), ``"percent"`` of it, or reduced ``"scores"``.
            by: what gives colour and marker: ``"team"``, ``"type"``, ``"family"`` or ``"run"``; default the unit that
                was left out.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per run; those that lose most are named where there is room.
        """
        from pt_reuse.plots.points import check_view
        from pt_reuse.plots.run_scores import plot_reduced_scores
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.scores.measures, measure)
        check_view(kind, by, tuple(COLUMNS), self.by_run)
        place = Place(ax, title, legend, width)
        return plot_reduced_scores(self.by_run, measure=name, unit=self.units.by, kind=kind, by=by, place=place)

    @door
    def plot_drops(
        self,
        measure: MeasureLike | None = None,
        *,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw by how many ranks a run falls at most when a unit is left out and the whole field is ranked again.

        Args:
            measure: one of the measures; default the first.
            top: how many units at most, those with the largest drop; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. For this and what follows see :meth:`plot`.
            title: what stands above.
            legend: of no effect, as one colour needs none.
            width: of a new figure, in inches.

        Returns:
            Axes: a bar per unit; beside it the run that falls, and tau_b of the two rankings.
        """
        from pt_reuse.plots.bars import plot_unit_drops
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        name, place = measure_among(self.scores.measures, measure), Place(ax, title, legend, width)
        return plot_unit_drops(self.table, measure=name, top=checked_top(top), place=place)

    @door
    def plot_uniques(
        self,
        *,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how many unique documents each unit contributed, relevant and not relevant.

        Args:
            top: how many units at most, those with most unique relevant documents; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. For this and what follows see :meth:`plot`.
            title: what stands above.
            legend: whether there is one.
            width: of a new figure, in inches.

        Returns:
            Axes: a bar per contributing unit, and at its end how many are relevant.
        """
        from pt_reuse.plots.bars import plot_unique_counts
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        return plot_unique_counts(self.unique_counts, top=checked_top(top), place=Place(ax, title, legend, width))


#: what the rows of a report can be
_ROWS = ("measure", "unit", "run", "fill")


class UniqueReports(FilledUniques):
    """Reports the tables of a ``LeaveOutUniques``, which has the attributes that are named here."""

    table: pd.DataFrame
    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    units: Units
    depth: int
    rel: int
    remove: str
    settings: Mapping[str, Any]

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals over topics were asked for."""
        return "tau_b_low" in self.table

    @door
    def report(self, by: str = "measure", *, measure: MeasureLike | None = None, judge: str | None = None) -> Report:
        """Return what a paper prints; the caption says what was removed, and the pool that it was unique in.

        Args:
            by: the rows: each ``"measure"`` (default) with tau-b, largest drop and worst change of the runs under the
                reduced judgments of their own units, and the smallest tau-b of the whole field; each left-out
                ``"unit"`` with its uniques, tau-b and largest drop of the whole field; each ``"run"`` with its score,
                the one without its own unit's uniques, change, rank and drop. Intervals, where there are any, take the
                place of the last columns. ``"fill"``: each left-out unit with its uniques and the mean change of its
                own runs when these are removed and when a judge labels them, where one did.
            measure: the one that units or runs are shown under; default the first.
            judge: the one that fills; default the first.
        """
        if choice("by", by, _ROWS) == "fill":
            return filled_report(self, measure, judge, _notes(self))
        name = measure_among(self.scores.measures, measure)
        return (
            _per_measure(self) if by == "measure" else _per_unit(self, name) if by == "unit" else _per_run(self, name)
        )


def _per_measure(result: UniqueReports) -> Report:
    """Return a row per measure: the runs under the reduced judgments of their own units, and the whole field."""
    summary, by, lost, least = result.summary, result.units.by, [], []
    for measure in summary["measure"]:
        runs, units = (frame[frame["measure"] == measure] for frame in (result.by_run, result.table))
        lost.append(_worst(runs["name"], runs["change_pct"].where(runs["change_pct"] < 0)))
        # an undefined tau comes first: all runs tie without this unit
        least.append(_worst(units[result.units.column], units["tau_b"].fillna(-2).where(units["tau_b"].ne(1))))
    drop = Column("Largest drop", summary["own_max_drop"], Digits.COUNT)
    if result.has_intervals:
        rest = [
            intervals("tau-b", summary["own_tau_b_low"], summary["own_tau_b_high"], Digits.SCORE),
            drop,
            intervals("the drop", summary["own_max_drop_low"], summary["own_max_drop_high"], Digits.COUNT),
        ]
    else:
        rest = [
            drop,
            Column("Worst change, %", 0.0 - summary["largest_loss_pct"], Digits.PERCENT),
            Column("Of run", lost),
        ]
    return Report(
        [
            Column("Measure", summary["measure"]),
            Column("tau-b", summary["own_tau_b"], Digits.SCORE),
            *rest,
            Column("Smallest tau-b, field", summary["field_min_tau_b"], Digits.SCORE),
        ],
        caption=(
            f"Leave-out-uniques by {by}: the ranking of {_field(result)} against the one in which each run is scored "
            f"without {_removed(result, own=True)}; the last column is the smallest tau-b when all runs are ranked "
            f"without the uniques of one {by}."
        ),
        notes=[*_least_in_words(least, summary["measure"].tolist(), by), *_notes(result)],
    )


def _per_unit(result: UniqueReports, measure: str) -> Report:
    """Return a row per left-out unit under one measure: its uniques, and the whole field re-ranked without them."""
    rows, by = result.table[result.table["measure"] == measure], result.units.by
    tau, drop = Column("tau-b", rows["tau_b"], Digits.SCORE), Column("Largest drop", rows["max_drop"], Digits.COUNT)
    relevant = Column("Relevant uniques", rows["unique_relevant"], Digits.COUNT)
    if result.has_intervals:
        of_tau = intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE)
        of_drop = intervals("the drop", rows["max_drop_low"], rows["max_drop_high"], Digits.COUNT)
        columns = [relevant, tau, of_tau, drop, of_drop]
    else:
        uniques = Column("Uniques", rows["unique"], Digits.COUNT)
        columns = [uniques, relevant, tau, drop, Column("Dropped run", rows["dropped"])]
    return Report(
        [Column(by.capitalize(), rows[result.units.column]), *columns],
        caption=(
            f"Leave-out-uniques by {by} under {measure}: the ranking of {_field(result)} against the one of all runs "
            f"scored without {_removed(result, own=False)}."
        ),
        notes=_notes(result),
    )


def _per_run(result: UniqueReports, measure: str) -> Report:
    """Return a row per run under one measure, the best first: what it loses without its own unit's uniques."""
    rows, by = result.by_run[result.by_run["measure"] == measure].sort_values("rank", kind="stable"), result.units.by
    alone = "that run is" if by == "run" else f"the runs of that {by} are"
    if result.has_intervals:
        changes = [
            Column("Change", rows["change"], Digits.SCORE),
            intervals("the change", rows["change_low"], rows["change_high"], Digits.SCORE),
        ]
    else:
        changes = [
            Column("Change, %", rows["change_pct"], Digits.PERCENT),
            Column("Rank", rows["rank"], Digits.COUNT),
        ]
    return Report(
        [
            Column("Run", rows["name"]),
            Column(measure, rows["score"], Digits.SCORE),
            Column("Without own uniques", rows["reduced_score"], Digits.SCORE),
            *changes,
            Column("Drop", rows["drop"], Digits.COUNT),
        ],
        caption=(
            f"Leave-out-uniques by {by}: each of {_field(result)} under {measure}, and without "
            f"{_removed(result, own=True)}; the drop is in ranks, when only {alone} scored anew."
        ),
        notes=_notes(result),
    )


def _field(result: UniqueReports) -> str:
    return count(len(result.scores.names), "run")


def _removed(result: UniqueReports, *, own: bool) -> str:
    contributors, by = result.unique_counts["contributing"].sum(), result.units.by
    who = f"the {by}" if not own else "it" if by == "run" else f"its own {by}"
    return (
        f"the {result.remove} documents that {who} alone contributed to the depth-{result.depth} "
        f"pool of {count(int(contributors), 'run')}"
    )


def _notes(result: UniqueReports) -> list[str]:
    settings = result.settings
    topics = "all topics" if result.scores.complete else "the topics that a run has"
    said = (
        f"Documents are ranked in the order {settings['order']} and pooled in the order {settings['pool order']}; "
        f"relevant is a label of at least {result.rel}; means are over {topics}."
    )
    notes = [said, f"Intervals: {settings[INTERVALS]}."] if result.has_intervals else [said]
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes


def _worst(names: pd.Series, values: pd.Series) -> Any:
    """Return the name with the smallest value, the first of several, None where there is no value."""
    found = values.to_numpy(dtype=float)
    return None if np.isnan(found).all() else names.iloc[int(np.nanargmin(found))]


def _least_in_words(units: Sequence[Any], measures: Sequence[str], by: str) -> list[str]:
    """Return a sentence that says without which unit the field's tau-b is smallest, none where none changes it."""
    under: dict[Any, list[str]] = {}
    for unit, measure in zip(units, measures, strict=True):
        if unit is not None:
            under.setdefault(unit, []).append(measure)
    parts = [f"without {unit} under {listed(names)}" for unit, names in under.items()]
    return [f"The field's tau-b is smallest {'; '.join(parts)} (one {by} left out at a time)."] if parts else []


#: the columns of a summary that sum it up, numbers all
KEY_FIGURES = (
    "own_tau_b",
    "own_max_drop",
    "field_min_tau_b",
    "field_max_drop",
    "alone_max_drop",
    "mean_change_pct",
    "largest_loss_pct",
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOutUniques(LargeDrops, UniqueFigures, UniqueReports, Result):
    """What leaving each unit (team, run, type or family) out of the pool does to every run.

    A run's name stands under ``name``; with ``by="run"`` so does the left-out unit. The last three frames are None
    unless uniques were filled by a judge. In them ``removed_`` is without the uniques, ``filled_`` with these labelled
    by the judge, ``judge_alone_`` under its labels of all judged documents; changes are signed, such a score less the
    true one; falls and rises are in ranks; ends of intervals follow changes, where asked for.

    Attributes:
        table: one row per left-out unit and measure, the whole field re-ranked under the unit's reduced judgments:
            the unit under ``team``, ``type`` or ``name``; ``measure``; ``runs``, its runs in the field; ``unique`` and
            ``unique_relevant``, judged documents that it alone contributed; ``removed``, how many of these were taken
            out; ``tau_b gamma tau_ap_b`` between the full and the reduced ranking of all runs; ``max_drop``, the most
            ranks that a run loses, and ``dropped``, that run (the best one of several, None where no run loses any).
            Where intervals over topics were asked for, the ends of each of the four follow it, ``tau_b_low tau_b_high``
            and so on, as those of ``change`` in `by_run` and of the four ``own_`` numbers in `summary`.
        by_run: one row per run and measure, the run under the reduced judgments of its own unit: ``name team type
            pooled contributed measure``, with ``pooled`` as the RunSet says and ``contributed`` whether the run was
            among the contributors here; ``score`` and ``reduced_score``; ``change`` = reduced - full and
            ``change_pct``, the same in per cent of the full score (NaN where that is 0); ``rank``, ``reduced_rank``
            when only the runs of this unit are re-scored, and ``drop`` = reduced_rank - rank.
        summary: one row per measure: ``tau_b gamma tau_ap_b max_drop`` of the ranking in which every run has the score
            under its own unit's reduced judgments (``own_``); ``alone_max_drop``, the largest ``drop`` of `by_run`; the
            mean change and the largest loss (0 when no run loses) of the runs' scores in per cent; when the whole field
            is re-ranked, the smallest tau_b, the largest drop, and the unit with that drop, of several the one with the
            smallest tau_b, None where no unit changes the ranking (``field_``).
        unique_counts: one row per unit, in order of appearance: its ``runs``, how many of them are
            ``contributing``, and the judged documents that it alone contributed: ``unique unique_relevant
            unique_nonrelevant``.
        scores: the runs under the full judgments.
        own_scores: each run under the reduced judgments of its own unit.
        reduced: (measures, units, runs) means of all runs under each unit's reduced judgments.
        units: the left-out units: ``.names`` and, for each run, its unit among them (``.of_run``).
        depth: the pool's.
        rel: the lowest label that counts as relevant.
        remove: which uniques were removed, ``"relevant"`` or ``"judged"``.
        fit: how many documents are judged, how many of them no contributing run has down to the depth, and how many
            of the pool are not judged.
        filled: one row per judge, left-out unit and measure: ``judge``, the unit, ``measure``, ``runs``; ``removed``
            documents, how many of them the judge ``labelled``, how many are ``unknown`` to it and stay unjudged; of
            those labelled ``judge_relevant`` by the judge and ``relevant`` by people; then for each way ``_change``,
            the mean of the unit's own runs; ``_tau_b _max_drop _max_rise`` of the ranking of all runs, scored anew for
            the unit; ``_own_drop _own_rise``, the most ranks that a run of the unit loses and gains when its runs alone
            are, except that by the judge alone all runs are.
        filled_by_run: one row per judge, run and measure: the columns of `by_run` up to ``score``, then for each way
            ``_score``, ``_change``, ``_rank`` and ``_drop``, ranked as ``_own_drop`` is.
        filled_summary: one row per judge and measure: ``units`` with uniques, the sums of the counts of `filled`, and
            for each way ``_change``, the mean over these units, ``_above``, how many of them have a mean above the
            true one, and ``_tau_b _max_drop _max_rise`` of the ranking in which every run is scored as its own unit is.
    """

    title: ClassVar[str] = "Leave-out-uniques"

    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    own_scores: Scores
    reduced: NDArray[np.float64]
    units: Units
    depth: int
    rel: int
    remove: str
    fit: PoolFit
    filled: pd.DataFrame | None = None
    filled_by_run: pd.DataFrame | None = None
    filled_summary: pd.DataFrame | None = None

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name; those of what was filled where something was."""
        names = ("summary", "table", "by_run", "unique_counts", "filled", "filled_by_run", "filled_summary")
        return {name: table for name in names if (table := getattr(self, name)) is not None}

    def headline(self) -> str:
        """Return the agreement and the largest drops of each measure, and the worst unit."""
        parts = []
        for row in self.summary.to_dict("records"):
            worst = "" if row["field_worst"] is None else f" ({row['field_worst']})"
            parts.append(
                f"{row['measure']} own tau_b {with_ends(row, 'own_tau_b', '.4f')}, largest drop {row['own_max_drop']}, "
                f"whole field drop {row['field_max_drop']}{worst}"
            )
        return "; ".join(parts)

    def key_figures(self) -> pd.DataFrame:
        """Return the numbers that sum the result up, ``measure figure value``, see :meth:`Result.key_figures`.

        Of each measure those of `summary`; then of the pool how many documents it has, how many are unjudged, and how
        many judged ones no contributor has; and how many documents one unit alone contributed.
        """
        counts = pd.DataFrame(
            {
                "unique": [self.unique_counts["unique"].sum()],
                "unique_relevant": [self.unique_counts["unique_relevant"].sum()],
                "pooled": [self.fit.pooled],
                "pooled_unjudged": [self.fit.unjudged],
                "judged_strangers": [self.fit.strangers],
            }
        )
        parts = [key_figures_of(self.summary, KEY_FIGURES), key_figures_of(counts, list(counts))]
        return pd.concat(parts, ignore_index=True)

    def whole_field(self) -> pd.DataFrame:
        """Return every run under every unit's reduced judgments, one row per left-out unit, measure and run.

        Returns:
            DataFrame: the left-out unit under ``team``, ``type`` or, for a run, ``left_out``; ``measure name score
            reduced_score rank reduced_rank drop``, all runs re-scored and re-ranked.
        """
        return whole_field_table(self.units, self.scores, self.reduced)


@door
def leave_out_uniques(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    by: str = "team",
    depth: int | None = None,
    remove: str | None = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    fill: Any = None,
    judge_rel: JudgeRel = None,
    holes: str = "uniques",
    complete: bool = True,
    without_topics: str = "error",
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LeaveOutUniques:
    """Say what leaving each team, run, type or family out of the pool does to the score and rank of every run.

    A *unique* of a unit is a judged document (label >= 0) that only this unit's runs contributed to the depth-k pool.
    Without the unit, its uniques would not have been judged. So for each unit the uniques are removed from the
    judgments and the runs are scored again: what the system would have scored had its unit not taken part. That says
    how systems drawn like the participants are scored, not another kind of system. The topic set stays: a topic that
    loses its last relevant document counts 0.

    Args:
        runs: the field, with teams (``by="team"``), types or families; or for ``by="run"`` a dict of run name ->
            results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        measures: ir_measures measures or their names, one or several.
        by: leave out one ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"`` at a time.
        depth: pool depth, documents per run and topic, >= 1; default the one on record for the collection
            (``runs.pool_depth``), else 100, as in most TREC tracks. ``settings`` say which it was.
        remove: ``"relevant"`` (default) removes the unique relevant documents; ``"judged"`` every unique judged
            document, as NIST's script does, and as is the default with `fill`, since without a unit nobody knows which
            are relevant. The two agree for measures that take unjudged as not relevant.
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1. With 2,
            ``remove="relevant"`` leaves uniques of label 1 judged, for nDCG a gain.
        contributors: ``"pooled"`` (default) for the runs marked as pooled, ``"all"`` for every run, or run names.
        pool_order: the order in which the runs were pooled; default the one that the field knows of itself.
        fill: a judge that labels the removed uniques: judgments in any form, a :class:`~pt_reuse.judging.Judge`, a
            function or a pipeline; or a dict of name -> judge. Each is asked once, for all that people judged.
        judge_rel: the lowest label of the judge that is relevant, or a dict of its label -> the label of people, as in
            :func:`audit_labels`. Labels come to the scale of people, none above their highest, before scoring.
        holes: ``"uniques"`` (default), the removed ones; ``"unjudged"``: also the unjudged first `depth` of any run.
        complete: the mean is over all topics of the qrels (default), or over those that the run has.
        without_topics: a run with none of the topics of the qrels is an ``"error"`` (default), or scores ``"zero"``.
        resamples: how often the topics are drawn for intervals (columns ``_low`` and ``_high``) of coefficients and of
            the largest drop, of each run's change, and of what is filled; default 0, none. Judgments and uniques stay.
        confidence: of the intervals, above 0 and below 1.
        seed: of the draws.
        n_jobs: topics, then parts of the draws, at a time, as joblib takes it; the numbers do not depend on it.
        verbose: show a progress bar.

    Returns:
        LeaveOutUniques: ``.summary``, ``.table`` (per unit), ``.by_run``, ``.unique_counts``, ``.whole_field()``,
        ``.plot()``; with `fill` also ``.filled``, ``.filled_by_run``, ``.filled_summary``, ``.plot_fill()``.

    Raises:
        InputError: runs without a type or family, an unknown measure, run or option, a run that has no topic in
            common with the qrels.

    Warns:
        ReuseWarning: a pool that is not that of the judgments, so that uniques are not what they were: most judged
            documents have no contributor, most of the pool has no judgment, or contributors were assumed and more than
            a twentieth of the pool has no judgment; judgments of relevant documents only, under a measure that sets
            judged documents against unjudged ones; no relevant judgment at all, as where `rel` is above every label;
            intervals over fewer than five topics; documents to which a judge gives no label, and a fill of relevant
            uniques alone (``settings["beware"]``); resamples in which all runs tie; contributors of one unit; one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> lou = ptr.leave_out_uniques(field.runs, field.qrels, ["AP", "nDCG@10"], depth=field.depth)
        >>> lou.summary[["measure", "own_max_drop"]].shape
        (2, 2)
        >>> generous = lambda documents: [2] * len(documents)
        >>> filled = ptr.leave_out_uniques(field.runs, field.qrels, "nDCG@10", depth=field.depth, fill=generous)
        >>> filled.filled_summary[["units", "filled_above"]].values.tolist()
        [[8, 8]]

    Source: Zobel 1998, How reliable are the results of large-scale information retrieval experiments?, SIGIR; Buckley,
    Dimmick, Soboroff and Voorhees 2007, Bias and the limits of pooling, Information Retrieval 10; Voorhees, Craswell
    and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR. On TREC-8 ad hoc (71 contributors,
    depth 100) own-team AP has tau_b .99806 and a largest drop of 2.
    """
    parsed = checked_measures(measures)
    if remove is None:
        remove = "relevant" if fill is None else "judged"
    check_removal(by=by, depth=depth, remove=remove, pool_order=pool_order, rel=rel)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence, n_jobs=n_jobs)
    jobs = checked_jobs(n_jobs)
    wanted = checked_fill(fill, judge_rel=judge_rel, holes=holes)
    runs, qrels = as_runs_before(runs, qrels)
    units = runs.units(by)
    chosen = contributors_of(runs, contributors)
    qrels = as_qrels(qrels)
    lowest = relevant_from(qrels, rel)
    warn_of_lower_grades(parsed, lowest)
    if without_topics == "error":
        check_topics(runs, qrels)

    asked = depth_of(runs, depth)
    with arguments_as(order="pool_order"):
        pooling = Pooling.of(runs, chosen, units, depth=asked.value, pool_order=pool_order)
    removable = lowest if remove == "relevant" else 0
    caveats = [*alone(units, chosen.runs), *relevant_only(qrels, of_judged(parsed))]
    caveats += none_relevant(qrels, lowest) if remove == "relevant" else ()
    caveats += few_topics(len(qrels.topics)) if bootstrap else ()
    keep: list[Block] | None = None if bootstrap is None else []
    if wanted is None:
        tell(caveats)
        found, scored = score_uniques(
            runs, qrels, parsed, units, pooling, removable, complete=complete, keep=keep, n_jobs=jobs, verbose=verbose
        )
        gone, filling, sets = RemovedUniques.of(found, qrels, removable), None, None
        fit = found.fit(qrels, chosen, depth=asked.value)
        tell(fit.caveats())
        caveats = [*fit.caveats(), *caveats]
    else:
        # a judge is asked between the pool and the scores
        found = find_uniques(runs, qrels, pooling, n_jobs=jobs, verbose=verbose)
        gone = RemovedUniques.of(found, qrels, removable)
        filling = wanted.ask(runs, qrels, lowest, gone, asked.value)
        fit = found.fit(qrels, chosen, depth=asked.value)
        caveats = [*fit.caveats(), *caveats, *wanted.caveats(filling, remove)]
        tell(caveats)
        sets = filling.sets(len(units))
        blocks = rescore(runs, sets.judgments, parsed, sets.changes, verbose=verbose, n_jobs=jobs)
        scored = score_sets(blocks, runs, sets, len(parsed), units, complete=complete, keep=keep)

    reduced = scored.means[:, : len(units)]
    what = f"unique {remove}"
    without = f"without the {what} documents of the run's own {by}, depth {asked.value}"
    scores = scores_of(runs, qrels, parsed, scored.full, complete=complete)
    own_scores = replace(scores, values=scored.removed, settings={**scores.settings, "judgments": without})
    means = Means(scores.mean_values, own_scores.mean_values, reduced)
    field = described(runs.run_table)
    contributed = chosen.runs
    unique_counts = count_uniques(units, contributed, found.owner, qrels.arrays.labels[found.row] >= lowest)
    table = unit_table(units, unique_counts, np.bincount(gone.owner, minlength=len(units)), scores, means)
    by_run = by_run_table(field, contributed, units, scores, means)
    summary = summary_table(units, table, by_run, scores.measures, means)
    if bootstrap is not None and keep is not None:
        ends = UniqueIntervals(bootstrap, scores, own_scores, ChangedScores.of(keep))
        table = ends.of_units(table, units.column, list(units.names), verbose=verbose)
        by_run, summary = ends.of_runs(by_run), ends.of_summary(summary)
    tables = {}
    if filling is not None and sets is not None:
        found_of = filled_tables(sets, scored, filling, scores, units, contributed, bootstrap=bootstrap, field=field)
        tables = {"filled": found_of.units, "filled_by_run": found_of.runs, "filled_summary": found_of.summary}
    provided = provided_measures(parsed)
    settings = {
        "by": by,
        "depth": asked.value,
        "depth from": asked.origin.value,
        "remove": remove,
        **({} if filling is None else filling.settings()),
        "relevant": f"label of at least {lowest}",
        "contributors": str(chosen),
        **units.settings,
        **runs.settings,
        "pool order": pooling.order,
        "complete": complete,
        "ties": f"means equal to {DECIMALS} decimals",
        **({INTERVALS: f"{bootstrap.words()}; of a change of score the percentile interval"} if bootstrap else {}),
        "judged": fit.judged,
        "judged without contributor": fit.strangers,
        "pool": fit.pooled,
        "pool without judgment": fit.unjudged,
        **({"by ir_measures": provided} if provided else {}),
        **noted(caveats),
    }
    return LeaveOutUniques(
        table=table,
        settings=settings,
        by_run=by_run,
        unique_counts=unique_counts,
        summary=summary,
        scores=scores,
        own_scores=own_scores,
        reduced=reduced,
        units=units,
        depth=asked.value,
        rel=lowest,
        remove=remove,
        fit=fit,
        **tables,
    )


def check_removal(*, by: Any, depth: Any, remove: Any = "relevant", pool_order: Any = None, rel: Any = None) -> None:
    """Raise where one of the arguments that say what is left out is nothing of the kind.

    Args:
        by: the unit, a key of :data:`~pt_reuse.data.units.COLUMNS`.
        depth: the pool's, or None.
        remove: ``"relevant"`` or ``"judged"``.
        pool_order: a ranking order, or None.
        rel: the lowest label that is relevant, or None.
    """
    check_unit(by)
    if depth is not None:
        checked_depth(depth)
    choice("remove", remove, ("relevant", "judged"))
    check_order_or_none("pool_order", pool_order)
    checked_rel(rel)
