"""leave_out_uniques: what becomes of a system whose team was not pooled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse._check import choice, count
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.columns import Table
from pt_reuse.errors import InputError
from pt_reuse.inputs import Inputs, interval_settings, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.plots.bars import plot_unique_counts, plot_unit_drops
from pt_reuse.plots.forests import plot_filled
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.fit import PoolFit, find_uniques, unjudged_tops
from pt_reuse.result import cells, records
from pt_reuse.scoring.caveats import UNPOOLED, alone, beware, none_relevant, not_pooled, noted, tell
from pt_reuse.scoring.run_fit import twins
from pt_reuse.scoring.scores import scores_of
from pt_reuse.studies.filled_uniques import COUNTS, HOLES, Filling, check_fill, filled_tables
from pt_reuse.studies.leave_one_out import LeaveOneOutResult, count_uniques, draw_scores, leave_one_out, scores_without
from pt_reuse.study import study


def _draw_drops(result: LeaveOutUniques, measure: str, place: Place, top: int | None = None) -> Axes:
    return plot_unit_drops(result.table, measure=measure, top=top, place=place)


def _draw_uniques(result: LeaveOutUniques, _: str, place: Place, top: int | None = None) -> Axes:
    return plot_unique_counts(result.unique_counts, top=top, place=place)


def _draw_fill(result: LeaveOutUniques, measure: str, place: Place, judge: str | None = None) -> Axes:
    if result.filled is None:
        raise InputError("no document was labelled by a judge. Call leave_out_uniques with fill=.", argument="kind")
    column, judges = result.units.column, list(dict.fromkeys(result.filled["judge"]))
    who = judges[0] if judge is None else choice("judge", judge, judges)
    rows = result.filled[(result.filled["judge"] == who) & (result.filled["measure"] == measure)]
    rows = rows.sort_values(["removed_change", column], kind="stable")
    return plot_filled(rows.reset_index(drop=True), unit=column, place=place)


_WAY = "{removed,filled,judge_alone}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOutUniques(LeaveOneOutResult):
    """What leaving each unit (team, run, type or family) out of the pool does to every run.

    Attributes:
        depth: the pool's.
        rel: the lowest label that counts as relevant.
        remove: which uniques were removed, ``"relevant"`` or ``"judged"``.
        fit: how many documents are judged, how many of them no contributing run has down to the depth, and how many
            of the pool are not judged.
    """

    title = "Leave-out-uniques"
    valid_for = (
        "{compared}; depth-{depth} pool, contributors: {contributors}; {remove} uniques of the {by} taken out; "
        "relevant: {relevant}."
    )
    not_covered = "systems unlike these, and relevant documents that no run found."
    plots = {"scores": draw_scores, "drops": _draw_drops, "uniques": _draw_uniques, "fill": _draw_fill}
    columns = f"""{LeaveOneOutResult.columns}
    removed_         | removed             |       | without the uniques
    filled_          | filled              |       | with the uniques labelled by the judge
    judge_alone_     | judge alone         |       | under the judge's labels of all judged documents
    removed          | Uniques             | count | uniques that are taken out
    labelled         | Labelled            | count | how many of them the judge labelled
    unknown          | Unknown             | count | to how many it gave no label; these stay unjudged
    judge_relevant   | Relevant, judge     | count | of those labelled, how many are relevant by the judge
    relevant         | Relevant, people    | count | how many of those are relevant by people
    change           | Change              | difference | mean of the unit's own runs less the true one
    own_drop         | Largest own drop    | ranks | the most ranks that a run of the unit loses when it is scored anew
    own_rise         | Largest own rise    | ranks | the most ranks that a run of the unit gains then
    units            | Units               | count | units with uniques
    above            | Above the truth     | count | how many units have a mean above the true one
    """

    depth: int
    rel: int
    remove: str
    fit: PoolFit
    filled: Annotated[
        pd.DataFrame | None,
        Table(
            "judge, left-out unit and measure",
            f"judge unit measure runs {' '.join(COUNTS)} {_WAY}_change~ {_WAY}_tau_b {_WAY}_max_drop {_WAY}_max_rise "
            f"{_WAY}_own_drop {_WAY}_own_rise",
            report="unit removed removed_change filled_change removed_max_drop filled_max_rise",
            select={"judge": None},
            about="Only with fill=.",
        ),
    ] = None
    filled_summary: Annotated[
        pd.DataFrame | None,
        Table(
            "judge and measure",
            f"judge measure units {' '.join(COUNTS)} {_WAY}_change~ {_WAY}_above~ {_WAY}_tau_b~ {_WAY}_max_drop~ "
            f"{_WAY}_max_rise~",
            report="judge measure filled_above filled_change filled_tau_b removed_tau_b",
            about="Only with fill=.",
        ),
    ] = None

    def answers(self) -> list[str]:
        """Return what each run loses without the uniques of its own unit, or keeps where a judge labels them."""
        if not self.table["removed"].any():
            n = count(int(self.unique_counts["unique"].sum()), "unique document")
            return [
                f"No score changes: none of {n} is taken out, and of {self.fit.judged:,} judged documents "
                f"{self.fit.strangers:,} are not in the depth-{self.depth} pool"
            ]
        if self.filled_summary is None:
            return super().answers()
        line = (
            "{measure}, {by}s' uniques labelled by {judge}: tau_b to the truth {filled_tau_b}, {removed_tau_b} without "
            "labels; mean change {filled_change}, {filled_above} of {units} {by}s above the truth"
        )
        rows = records(self.filled_summary)
        return [line.format_map({**self.words(), **cells(row, self.columns)}) for row in rows]

    def whole_field(self) -> pd.DataFrame:
        """Return every run under every unit's reduced judgments, one row per left-out unit, measure and run.

        Returns:
            DataFrame: the left-out unit under ``team``, ``type`` or, for a run, ``left_out``; ``measure name score
            reduced_score rank reduced_rank drop``, all runs re-scored and re-ranked.
        """
        left_out = "left_out" if self.units.by == "run" else self.units.by
        every = {"measure": self.scores.measures, left_out: self.units.names, "name": self.scores.names}
        rows = pd.MultiIndex.from_product(list(every.values()), names=list(every)).to_frame(index=False)
        score = np.broadcast_to(self.scores.mean_values[:, None], self.reduced.shape)
        rank, reduced_rank = (pairs.ranks(np.round(means, DECIMALS)).ravel() for means in (score, self.reduced))
        return rows[[left_out, "measure", "name"]].assign(
            score=score.ravel(),
            reduced_score=self.reduced.ravel(),
            rank=rank,
            reduced_rank=reduced_rank,
            drop=reduced_rank - rank,
        )


@study(
    question="Does my system lose if its team was not pooled?",
    command="lou",
    aim="fair",
    summary="leave-out-uniques on a field of run files",
    details="A unique document is one that only one team contributed to the pool.",
    screen=("summary", "table"),
    page="leave-out-uniques",
    papers="[Z98]_, [B07]_",
    together=lambda given: check_fill(given.get("fill"), given.get("judge_rel"), given.get("holes")),
)
def leave_out_uniques(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    by: options.Unit = "team",
    depth: options.Depth = None,
    remove: Annotated[
        str | None,
        options.Option(
            '``"relevant"`` (default) removes the unique relevant documents; ``"judged"`` (with `fill` the default) '
            "every unique judged one, as NIST's script does.",
            choices=("relevant", "judged"),
            flag=options.Flag(help="relevant or judged uniques", metavar="WHAT", kind="text", default="relevant"),
        ),
    ] = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    fill: Annotated[
        Any,
        options.Option(
            "a judge of the removed uniques: judgments in any form, a :class:`~pt_reuse.judging.Judge`, a function or "
            "a pipeline; or a dict of name -> judge. Each is asked once, for all that people judged.",
            flag=options.Flag(help="labels of judges, as `audit --judges` takes them", metavar="FILE", kind="judges"),
        ),
    ] = None,
    judge_rel: Annotated[
        options.JudgeGrade,
        options.Option(
            "the lowest label of the judge that is relevant, or a dict of its label -> the label of people, as in "
            ":func:`audit_labels`. Labels come to the scale of people, none above their highest, before scoring.",
            flag=options.Flag(
                help="lowest label of the judges that is relevant, or LABEL:GRADE,... for the label of people; "
                "JUDGE=... of one judge alone",
                metavar="LABEL",
                kind="labels",
                default="1 where all are 0 and 1, else as for people",
            ),
        ),
    ] = None,
    holes: Annotated[
        str,
        options.Option(
            '``"uniques"`` (default), the removed ones; ``"unjudged"``: also the unjudged first `depth` of any run.',
            choices=HOLES,
            flag=options.Flag(help="what a judge labels: uniques or unjudged", metavar="WHICH", kind="text"),
        ),
    ] = "uniques",
    complete: options.Complete = True,
    without_topics: options.WithoutTopics = "error",
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> LeaveOutUniques:
    """Leave each team, run, type or family out of the pool, and compute how scores and ranks of all runs change.

    A *unique* of a unit is a judged document (label >= 0) that only this unit's runs contributed to the depth-k pool.
    For each unit the uniques are removed from the judgments and the runs are scored again: these are the scores if the
    unit had not brought them. The topic set stays: a topic that loses its last relevant document counts 0. Intervals
    draw topics, and neither judgments nor uniques.

    Args:
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1. With 2,
            ``remove="relevant"`` keeps uniques of label 1, which are a gain for nDCG.

    Raises:
        InputError: runs without a type or family, an unknown measure, run or option, a run that has no topic in
            common with the qrels.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
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
    inputs = Inputs.read(runs, qrels, measures, rel, complete=complete, without_topics=without_topics)
    pooled = inputs.pooled(depth, contributors, pool_order)
    units, people = inputs.runs.units(by), inputs.qrels
    judges = [] if fill is None else as_judges(fill, "fill", rel=judge_rel)
    remove = remove or ("judged" if judges else "relevant")
    lowest = inputs.rel if remove == "relevant" else 0
    unpooled = list(not_pooled(units, pooled.contributors.runs))
    tell(unpooled)
    beware(twins(pooled.ranked, pooled.depth, by, units.of_run.tolist(), pooled.contributors.runs))
    beware(alone(units, pooled.contributors.runs), none_relevant(people, inputs.rel) if remove == "relevant" else ())
    bootstrap = inputs.bootstrap(resamples, seed, confidence, n_jobs)

    how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    of_pool: dict[str, Any] = {"depth": pooled.depth, "pool_order": pool_order}
    uniques = find_uniques(inputs.runs, people, units, pooled.contributors, **of_pool, **how)
    fit, (owner, row) = uniques.fit, uniques.of_label(lowest)
    filling = None
    if judges:
        further = unjudged_tops(inputs.runs, people, pooled.depth) if holes == "unjudged" else None
        filling = Filling.of(people, inputs.rel, (owner, row), further, judges)
        beware(filling.caveats(judges, remove))
        scored = filling.scored(inputs, units, with_cells=bootstrap is not None, **how)
    else:
        cells = bootstrap is not None
        scored = scores_without(inputs, (owner, row), len(units), units=units, with_cells=cells, **how)
    beware(fit.caveats())

    parts = leave_one_out(
        inputs.runs.run_table,
        pooled.contributors.runs,
        units,
        scores_of(inputs.runs, people, inputs.measures, scored.base, complete=inputs.complete),
        scored,
        bootstrap,
        judgments=f"without the unique {remove} documents of the run's own {by}, depth {pooled.depth}",
        counts=count_uniques(units, pooled.contributors.runs, uniques.owner, uniques.label >= inputs.rel),
        removed=np.bincount(owner, minlength=len(units)),
        verbose=verbose,
    )
    filled = {} if filling is None else filled_tables(units, parts["scores"], scored, filling, bootstrap)
    settings = settings_of(
        pooled,
        units,
        inputs,
        interval_settings(bootstrap, "; of a change of score the percentile interval"),
        {} if filling is None else filling.settings(),
        noted(unpooled, UNPOOLED),
        by=by,
        remove=remove,
        judged=fit.judged,
        judged_without_contributor=fit.strangers,
        pool=fit.pooled,
        pool_without_judgment=fit.unjudged,
    )
    parts |= {"depth": pooled.depth, "rel": inputs.rel, "remove": remove, "fit": fit}
    return LeaveOutUniques(**parts, **filled, settings=settings)
