"""leave_out_uniques: what becomes of a system whose team was not pooled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, plural
from pt_reuse._errors import InputError, Option, arguments_as
from pt_reuse._report import Digits
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.units import COLUMNS
from pt_reuse.judging.judges import JudgeRel, as_judges
from pt_reuse.options import Flag, Parameter
from pt_reuse.pooling.fit import MOSTLY, SLACK, PoolFit, Pooling, PoolUniques, find_uniques
from pt_reuse.result import KeyFigures, Shown, View
from pt_reuse.scoring.caveats import (
    UNPOOLED,
    alone,
    few_topics,
    none_relevant,
    not_pooled,
    noted,
    tell,
)
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.scores import scores_of
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.filled_uniques import (
    HOLES,
    Filling,
    check_fill,
    filled_findings,
    filled_headline,
    filled_tables,
    unjudged_tops,
)
from pt_reuse.studies.without_units import (
    OF_FIELD,
    OF_MEASURE,
    OF_SUMMARY,
    UNIT,
    WithoutUnits,
    count_uniques,
    draw_scores,
    interval_words,
    score_uniques,
    without_units,
)
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


def _draw_drops(result: LeaveOutUniques, measure: str, place: Place, top: int | None = None) -> Axes:
    """Draw by how many ranks a run falls at most when a unit is left out and the whole field is ranked again."""
    from pt_reuse.plots.bars import plot_unit_drops

    return plot_unit_drops(result.table, measure=measure, top=top, place=place)


def _draw_uniques(result: LeaveOutUniques, _: str, place: Place, top: int | None = None) -> Axes:
    """Draw how many unique documents each unit contributed, relevant and not relevant."""
    from pt_reuse.plots.bars import plot_unique_counts

    return plot_unique_counts(result.unique_counts, top=top, place=place)


def _draw_fill(result: LeaveOutUniques, measure: str, place: Place, judge: str | None = None) -> Axes:
    """Draw what each unit's own runs score without its uniques, truly, and with these labelled by a judge."""
    from pt_reuse.plots.forests import plot_filled

    rows, column = result.fills(), result.units.column
    judges = list(dict.fromkeys(rows["judge"]))
    who = judges[0] if judge is None else choice("judge", judge, judges)
    mine = rows[(rows["judge"] == who) & (rows["measure"] == measure)]
    return plot_filled(mine.reset_index(drop=True), unit=column, place=place)


_REMOVED = "the {remove} documents that {of} alone contributed to the depth-{depth} pool"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOutUniques(WithoutUnits):
    """What leaving each unit (team, run, type or family) out of the pool does to every run.

    Its figures: ``"scores"``, a point per run, what its score loses without the uniques of its own unit (``view=``
    ``"change"``, ``"percent"`` of it or reduced ``"scores"``; ``by=`` gives colour and marker); ``"drops"``, a bar per
    unit, by how many ranks a run falls at most when the whole field is ranked without it, with that run and tau_b
    beside it; ``"uniques"``, a bar per contributing unit, its unique documents, relevant and not; ``"fill"``, what
    each unit's own runs lose without its uniques, and with these labelled by a judge (``judge=``, default the first).
    Bars are at most ``top=``, default 30, 15 in a column.

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
            and so on, as those of ``change`` in `by_run` and of ``alone_max_drop`` and the four ``own_`` numbers in
            `summary`.
        by_run: one row per run and measure, the run under the reduced judgments of its own unit: ``name team type
            pooled contributed measure``, with ``pooled`` as the RunSet says and ``contributed`` whether the run was
            among the contributors here: a unit without any has nothing to lose; ``score`` and ``reduced_score``;
            ``change`` = reduced - full and
            ``change_pct``, the same in per cent of the full score (NaN where that is 0); ``rank``, ``reduced_rank``
            when only the runs of this unit are re-scored, and ``drop`` = reduced_rank - rank.
        summary: one row per measure: ``tau_b gamma tau_ap_b max_drop`` of the ranking in which every run has the score
            under its own unit's reduced judgments (``own_``); ``alone_max_drop``, the largest ``drop`` of `by_run`,
            which says whether a new run may be scored like those pooled; the mean change and the largest loss (0 when
            no run loses) of the runs' scores in per cent; when the whole field is re-ranked, the smallest tau_b, the
            largest drop, and the unit with that drop, of several the one with the smallest tau_b, None where no unit
            changes the ranking (``field_``).
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

    title = "Leave-out-uniques"
    condition = (
        "It holds for these {compared}, uniques of the depth-{depth} pool by {by} ({remove} ones taken out), "
        "contributors: {contributors}; relevant: {relevant}."
    )
    limit = (
        "It does not say what a system unlike all of these would lose, nor how many relevant documents no run found."
    )
    views = {
        "measure": View(
            table="summary",
            columns=OF_MEASURE,
            caption="Leave-out-uniques by {by}: the ranking of all runs against the one in which each run is scored "
            f"without {_REMOVED.replace('{of}', 'its own {by}')}; the first drop is where the runs of one {{by}} alone "
            "are scored so, the last columns are of the ranking of all runs without the uniques of one {by}.",
            noun="measures",
        ),
        "unit": View(
            columns=(
                *UNIT,
                Shown("Uniques", "unique", Digits.COUNT, unless="tau_b_low"),
                Shown("Relevant uniques", "unique_relevant", Digits.COUNT),
                *OF_FIELD,
            ),
            caption="Leave-out-uniques by {by} under {measure}: the ranking of all runs against the one of all runs "
            f"scored without {_REMOVED.replace('{of}', 'the {by}')}.",
            noun="units",
        ),
        "run": View(
            table="by_run",
            columns=(
                Shown("Run", "name"),
                Shown("Score", "score", Digits.SCORE),
                Shown("Without own uniques", "reduced_score", Digits.SCORE),
                Shown("Change, %", "change_pct", Digits.PERCENT),
                Shown("Rank", "rank", Digits.COUNT, unless="change_low"),
                Shown("Interval of the change", "change", Digits.SCORE, interval=True),
                Shown("Drop", "drop", Digits.COUNT),
            ),
            descending=("score",),
            caption="Leave-out-uniques by {by}: each run under {measure}, and without "
            f"{_REMOVED.replace('{of}', 'its own {by}')}; the drop is in ranks, when only the runs of that {{by}} are "
            "scored anew.",
            noun="runs",
        ),
        "fill": View(
            table="fills",
            columns=(
                *UNIT,
                Shown("Uniques", "removed", Digits.COUNT),
                Shown("Removed", "removed_change", Digits.SCORE),
                Shown("Interval of removed", "removed_change", Digits.SCORE, interval=True),
                Shown("Filled", "filled_change", Digits.SCORE),
                Shown("Interval of filled", "filled_change", Digits.SCORE, interval=True),
                Shown("Largest fall, removed", "removed_max_drop", Digits.COUNT, unless="filled_change_low"),
                Shown("Largest rise, filled", "filled_max_rise", Digits.COUNT, unless="filled_change_low"),
            ),
            select={"judge": None},
            caption="Mean change of {measure} of the {by}'s own runs against the truth, when its unique documents are "
            "removed from the judgments, and when {judge} labels them instead; falls and rises are of any run, in "
            "ranks, when the whole field is scored anew for the {by}.",
            noun="units",
        ),
    }
    plots = {"scores": draw_scores, "drops": _draw_drops, "uniques": _draw_uniques, "fill": _draw_fill}
    key = (
        OF_SUMMARY,
        KeyFigures(("unique", "unique_relevant", "pooled", "pooled_unjudged", "judged_strangers"), "counts"),
    )
    sentences = {"fill": "Filled: {holes}. Judge: {fill}."}

    remove: str
    fit: PoolFit
    filled: pd.DataFrame | None = None
    filled_by_run: pd.DataFrame | None = None
    filled_summary: pd.DataFrame | None = None

    def counts(self) -> pd.DataFrame:
        """Return in a row how many documents one unit alone contributed, and how pool and judgments fit."""
        counts = {name: [self.unique_counts[name].sum()] for name in ("unique", "unique_relevant")}
        fit = {"pooled": [self.fit.pooled], "pooled_unjudged": [self.fit.unjudged]}
        return pd.DataFrame(counts | fit | {"judged_strangers": [self.fit.strangers]})

    def fills(self) -> pd.DataFrame:
        """Return `filled` with the largest loss by removal first, or say that nothing was filled."""
        if self.filled is None:
            raise InputError("no hole was filled. Call leave_out_uniques with ", Option("fill", ...), ", a judge.")
        return self.filled.sort_values(["removed_change", self.units.column], kind="stable")

    def _further(self) -> list[str]:
        """Return what a judge does that fills uniques, and what leaving one unit out does under each measure."""
        filled = () if self.filled_summary is None else filled_findings(self.filled_summary, self.units.by)
        return [*filled, *self._of_measures(), *self._unexplained()]

    def headline(self) -> str:
        """Return what each run loses without the uniques of its own unit, or keeps where a judge labels them."""
        if not self.table["removed"].any():
            return self._nothing_lost()
        filled = self.filled_summary
        return super().headline() if filled is None else filled_headline(filled, self.units.by, self.remove)

    def key_figures(self) -> pd.DataFrame:
        """Return the few numbers that sum the result up, those of each judge first."""
        if self.filled_summary is None:
            return super().key_figures()
        of_judges = KeyFigures(("filled_tau_b", "filled_change", "filled_above"), "filled_summary", row="{judge}")
        return pd.concat([of_judges.of(self), super().key_figures()], ignore_index=True)

    def _shown(self) -> pd.DataFrame:
        if self.filled_summary is None or self.table.empty:
            return self.table
        columns = ["judge", "measure", "units", "filled_above", "filled_change", "filled_tau_b", "removed_tau_b"]
        return self.filled_summary[columns]

    def _rest(self) -> str:
        return "rows in .table" if self.filled_summary is None else "rows in .filled_summary"

    def _of_measures(self) -> Iterator[str]:
        by = self.units.by
        for row in self.summary.to_dict("records"):
            field = f"over the whole field, leaving out any one {by} changes no rank."
            if row["field_worst"] is not None:
                moved = f"moves a run down by up to {count(row['field_max_drop'], 'rank')}"
                field = f"over the whole field, leaving out {by} {row['field_worst']!r} {moved}."
            mean = "" if np.isnan(row["mean_change_pct"]) else f", the mean change is {row['mean_change_pct']:+.2f} %"
            yield (
                f"{row['measure']}: where all runs are scored without the uniques of their own {by}, a run loses at "
                f"most {count(int(row['own_max_drop']), 'rank')}{mean}; {field}"
            )

    def _unexplained(self) -> Iterator[str]:
        # of a larger share a warning has told
        if SLACK < self.fit.stranger_share <= MOSTLY:
            yield (
                f"Beware: {self.fit.in_words()}. If the depth, the contributors, the order or the runs are not those "
                "of the real pool, uniques are not what they were. Documents that were chosen otherwise, by a "
                "classifier for instance, stay whoever is left out."
            )

    def _nothing_lost(self) -> str:
        """Return why leaving out changes no judgment."""
        by, n_unique = self.units.by, int(self.unique_counts["unique"].sum())
        pool = f"the pool of depth {self.depth}"
        why = f"every judged document in {pool} was contributed by at least two {plural(by)}"
        if self.fit.strangers == self.fit.judged:
            why = f"no judged document is in {pool} of the contributing runs"
        elif n_unique:
            of = f"{count(n_unique, 'unique document')}, none of them relevant (label of at least {self.rel})"
            why = f"what one {by} alone put into {pool} is {of}"
        return f"nothing to leave out: {why}, so every score stays as it is, whichever {by} is left out"

    def whole_field(self) -> pd.DataFrame:
        """Return every run under every unit's reduced judgments, one row per left-out unit, measure and run.

        Returns:
            DataFrame: the left-out unit under ``team``, ``type`` or, for a run, ``left_out``; ``measure name score
            reduced_score rank reduced_rank drop``, all runs re-scored and re-ranked.
        """
        units, scores, reduced = self.units, self.scores, self.reduced
        spread = partial(np.broadcast_to, shape=reduced.shape)
        rank = pairs.ranks(np.round(scores.mean_values, DECIMALS))
        columns: dict[str, Any] = {
            "left_out" if units.by == "run" else units.by: spread(np.array(units.names, dtype=object)[None, :, None]),
            "measure": spread(np.array(scores.measures, dtype=object)[:, None, None]),
            "name": spread(np.array(scores.names, dtype=object)[None, None]),
            "score": spread(scores.mean_values[:, None]),
            "reduced_score": reduced,
            "rank": spread(rank[:, None]),
            "reduced_rank": pairs.ranks(np.round(reduced, DECIMALS)),
        }
        frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
        return frame.assign(drop=frame["reduced_rank"] - frame["rank"])


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


@study(
    BY,
    REMOVE,
    Parameter(
        name="fill",
        meaning="a judge that labels the removed uniques: judgments in any form, a :class:`~pt_reuse.judging.Judge`, a "
        "function or a pipeline; or a dict of name -> judge. Each is asked once, for all that people judged.",
        flag=Flag(
            help="files with the labels of judges, such as language models, or a folder of them, as `audit --judges` "
            "takes it: label the removed uniques by each of them, and say what becomes of the scores; then --remove is "
            "judged by default",
            metavar="FILE",
            kind="judges",
        ),
    ),
    Parameter(
        name="judge_rel",
        meaning="the lowest label of the judge that is relevant, or a dict of its label -> the label of people, as in "
        ":func:`audit_labels`. Labels come to the scale of people, none above their highest, before scoring.",
        flag=Flag(
            help="lowest label of the judges that is relevant, or LABEL:GRADE,... for the label of people that each "
            "stands for; JUDGE=... of one judge alone",
            metavar="LABEL",
            kind="labels",
            default="1 where all are 0 and 1, else as for people",
        ),
    ),
    Parameter(
        name="holes",
        meaning='``"uniques"`` (default), the removed ones; ``"unjudged"``: also the unjudged first `depth` of any '
        "run.",
        choices=HOLES,
        flag=Flag(
            help="what a judge labels: the removed uniques, or also what is unjudged at the top of any run",
            metavar="WHICH",
            kind="text",
        ),
    ),
    command=Command(
        name="lou",
        summary="leave-out-uniques on a field of run files",
        details="A unique document is one that only one team contributed to the pool. Each run is scored without the "
        "uniques of its own team, and the whole field is ranked again without those of each team.",
        screen=("measure", "unit"),
    ),
    together=lambda given: check_fill(given.get("fill"), given.get("judge_rel"), given.get("holes")),
    entry=Entry(
        question="Does my system lose if its team was not pooled?", page="leave-out-uniques", papers="[Z98]_, [B07]_"
    ),
)
def leave_out_uniques(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
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
    """Leave each team, run, type or family out of the pool, and compute how scores and ranks of all runs change.

    A *unique* of a unit is a judged document (label >= 0) that only this unit's runs contributed to the depth-k pool.
    Without the unit, its uniques would not have been judged. So for each unit the uniques are removed from the
    judgments and the runs are scored again: these are the scores if the unit had not taken part. This holds for systems
    similar to the participants, not for other kinds of systems. The topic set stays: a topic that loses its last
    relevant document counts 0.

    Args:
        runs: the field, with teams (``by="team"``), types or families; or for ``by="run"`` a dict of run name ->
            results, or run files, see :doc:`runs`.
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1. With 2,
            ``remove="relevant"`` keeps uniques of label 1, which are a gain for nDCG.
        resamples: how often the topics are drawn for intervals (columns ``_low`` and ``_high``) of coefficients and of
            the largest drop, of each run's change, and of filled scores; default 0, none. Judgments and uniques are not
            drawn.

    Returns:
        LeaveOutUniques: ``.summary``, ``.table`` (per unit), ``.by_run``, ``.unique_counts``, ``.whole_field()``,
        ``.plot()``; with `fill` also ``.filled``, ``.filled_by_run``, ``.filled_summary``.

    Raises:
        InputError: runs without a type or family, an unknown measure, run or option, a run that has no topic in
            common with the qrels.

    Warns:
        ReuseWarning: a pool that is not that of the judgments, so that uniques are wrong: most judged documents have no
            contributor, most of the pool has no judgment, or contributors were assumed and more than a twentieth of the
            pool has no judgment; judgments of relevant documents only; no relevant judgment, for instance if `rel` is
            above every label; intervals over fewer than five topics; documents to which a judge gives no label, and
            filling relevant uniques only (``settings["beware"]``); resamples in which all runs tie; contributors of one
            unit; one run; units of which no run contributed, so that their runs lose nothing whatever the pool is;
            judgments of a known collection without the label from which its track counts documents as relevant.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> lou = ptr.leave_out_uniques(field.runs, field.qrels, ["AP", "nDCG@10"], depth=field.depth)
        >>> lou.summary[["measure", "alone_max_drop"]].shape
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
    asked = Asked(leave_out_uniques, locals())
    judges = [] if fill is None else as_judges(fill, "fill", rel=judge_rel)
    remove = asked["remove"] or ("judged" if judges else "relevant")
    units, chosen = asked.units("by"), asked.contributors
    field, people, measured = asked.runs, asked.qrels, asked.measures
    lowest, depth_k = asked.rel if remove == "relevant" else 0, asked.depth.value
    with arguments_as(order="pool_order"):
        pooling = Pooling.of(field, chosen, units, depth=depth_k, pool_order=asked["pool_order"])
    unpooled = list(not_pooled(units, chosen.runs))
    tell(unpooled)
    asked.tell(
        alone(units, chosen.runs),
        none_relevant(people, asked.rel) if remove == "relevant" else (),
        few_topics(len(people.topics)) if asked.bootstrap else (),
    )
    scoring: dict[str, Any] = {"complete": complete, "with_cells": asked.bootstrap is not None, **asked.how}
    filling = None
    if judges:
        # a judge is asked between the pool and the scores
        found = find_uniques(field, people, pooling, **asked.how)
        further = unjudged_tops(field, people, depth_k, holes)
        filling = Filling.of(people, asked.rel, _removed(found, people, lowest), further, judges)
        asked.tell(filling.caveats(judges, remove))
        scored = filling.scored(field, measured, units, **scoring)
    else:
        found, scored = score_uniques(field, people, measured, units, pooling, lowest, **scoring)
    fit = found.fit(people, asked.contributors, depth=depth_k)
    asked.tell(fit.caveats())

    scores = scores_of(field, people, measured, scored.full, complete=complete)
    relevant = people.arrays.labels[found.row] >= asked.rel
    parts = without_units(
        asked,
        units,
        scores,
        scored,
        judgments=f"without the unique {remove} documents of the run's own {by}, depth {depth_k}",
        counts=count_uniques(units, asked.contributors.runs, found.owner, relevant),
        removed=np.bincount(_removed(found, people, lowest)[0], minlength=len(units)),
    )
    filled = {} if filling is None else filled_tables(asked, units, scores, scored, filling)
    return LeaveOutUniques(
        **parts,
        **filled,
        remove=remove,
        fit=fit,
        settings=asked.settings(
            by=by,
            remove=remove,
            pool_order=pooling.order,
            judged=fit.judged,
            judged_without_contributor=fit.strangers,
            pool=fit.pooled,
            pool_without_judgment=fit.unjudged,
            **noted(unpooled, UNPOOLED),
            **interval_words(asked),
            **({} if filling is None else filling.settings()),
        ),
    )


def _removed(found: PoolUniques, qrels: Qrels, lowest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return unit and row of the judgments that are taken out: the uniques that have at least a label."""
    gone = qrels.arrays.labels[found.row] >= lowest
    return found.owner[gone], found.row[gone]
