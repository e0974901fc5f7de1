"""Experiment: pt.Experiment with columns that say how far the judgments can be trusted for each system."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse.data.judgments import as_qrels
from pt_reuse.data.metadata import RunLabels
from pt_reuse.data.run_set import RunSet, as_runs
from pt_reuse.errors import InputError, choice, count, examples, located, shown
from pt_reuse.experiment.arguments import (
    as_field,
    check_baseline,
    check_field,
    check_measures,
    check_pool_order,
    check_pt_arguments,
    check_units,
    judgments_asked,
    parse_metrics,
    read_topics,
    significance,
    system_tables,
    wanted_kinds,
)
from pt_reuse.experiment.columns import (
    LAYOUTS,
    USUAL,
    Adding,
    Wanted,
    compute_columns,
    hint_of,
    in_layout,
    tell_other_order,
    tell_remarks,
)
from pt_reuse.experiment.experiment_result import Executed, ExperimentResult, carrying
from pt_reuse.experiment.filling import check_texts, checked_filler, filled_columns, kept_for, texts_of
from pt_reuse.experiment.systems import (
    Systems,
    check_frames,
    executed_runs,
    saved_files,
)
from pt_reuse.judge import JudgeRel, Scale, lowest_of
from pt_reuse.scoring.caveats import grade_unstated, of_judged, relevant_only, tell, told_elsewhere
from pt_reuse.scoring.inferred import check_sampled
from pt_reuse.scoring.measures import OwnMeasure, check_no_subtopics, is_measure, is_of_subtopics, parse_measures
from pt_reuse.studies.leave_out_uniques import leave_out_uniques
from pt_reuse.study import study_of


# a frame knows its runs; a Styler and pairs are as pt.Experiment has them
@overload
def Experiment(
    retr_systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    perquery: bool = False,
    *,
    highlight: None = None,
    **arguments: Any,
) -> ExperimentResult: ...


@overload
def Experiment(
    retr_systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    perquery: bool | str = False,
    **arguments: Any,
) -> Any: ...


def Experiment(
    retr_systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    perquery: bool | str = False,
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    field: Any = None,
    reuse: str | Iterable[str] | None = None,
    by: str = "team",
    depth: int | None = None,
    rel: int | None = None,
    pool_order: str | None = None,
    fill: Any = None,
    judge_rel: JudgeRel = None,
    cache: str | Path | None = None,
    round: int | dict[str, int] | None = None,
    layout: str = "wide",
    **experiment_arguments: Any,
) -> Any:
    """Run pt.Experiment and add, for every measure, how reliable the judgments are for each system.

    Each pipeline is executed once, by pt.Experiment, which does all that it does without this function. Its results
    are then placed in the `field` (or among themselves), and scored without the uniques of their team in the pool of
    `depth`, as :func:`leave_out_uniques` does. The added columns of a measure m, right of all others:

    - ``m LOU``, ``m LOU %``: the score without the uniques of the system's own unit, and its change in per cent
    - ``m rank``: rank among the runs of the field and the systems, 1 + the number of strictly better ones
    - ``m LOU rank``, ``m drop``: the rank when the unit's runs are scored without its uniques, and the ranks it lost
    - ``m unjudged``: the share of the top k documents without a judgment (label >= 0), k the measure's cutoff, else
      all; 1 on a topic for which the system returns nothing
    - ``m low``, ``m high``: the lowest and the highest score if each of these documents may have any label from 0 to
      the highest of the judgments, where such bounds are known
    - ``m predicted``, its ends and ranks, ``m abstains``: what :func:`check_new_run` says of systems that were not
      pooled, at 90%
    - ``m against B``, its ``low`` and ``high``, ``m decided by``: by how much the system is ahead of the baseline B, as
      judged and under every labelling of the unjudged documents of both, and what decides it
    - ``m filled``, ``m filled docs``, ``m filled unknown``: the score with the unjudged documents of all systems to the
      cutoff labelled by the judge; how many of the system's own it labelled, and how many stay unjudged
    - ``pooled``, once, with LOU: whether the system counts as a contributor to the pool

    A system that did not contribute to the pool has no uniques to lose. So where no system and nobody of its team
    contributed, ``m rank``, ``m unjudged``, ``m low`` and ``m high`` are added; where all systems count as pooled, LOU,
    rank and unjudged; else all of them. `reuse` names others. Without a `field` the columns of leave-out-uniques among
    the systems are called ``m LOU (no field)`` and so on, and are there when `reuse` names ``"lou"``.

    With ``perquery=True`` the columns are ``LOU``, ``LOU %``, ``rank`` and so on, for the measure and topic of the row.
    ``result.attrs["reuse"]`` holds the settings, per measure tau_b, gamma and the largest drop over the field
    (``result.reuse_summary()``), and a hint how to get the field of known judgments. ``result.runs`` are the runs that
    were executed; ``result.report()`` is what a paper prints.

    Args:
        retr_systems: dict of name -> pipeline or results of a run (a frame, ScoredDoc tuples, topic -> document ->
            score), or a list of them; or a RunSet, or what makes one, which says of its runs what `teams`, `types` and
            `pooled` do not.
        topics: frame with ``qid`` and ``query``, or a topics file; or ir_datasets' queries, a frame or a list of them.
        qrels: whatever holds judgments: a frame with ``qid docno label``, a Qrels, a qrels file.
        eval_metrics: measures, as for pt.Experiment; the names that ir_measures gives (``"nDCG@10"``) do, too.
        names: names of the systems of a list, all different; default is how they print.
        perquery: as for pt.Experiment.
        teams: who belongs together: system -> team, as in :func:`read_runs`; default each system is its own team, also
            those that a mapping does not name.
        types: system -> type; default none.
        pooled: which systems count as contributors to the pool; default all without a `field`, and none with one:
            systems that run now did not contribute then. True is for an official run that is run again.
        field: the collection's official runs, so that ranks and pools include them: a RunSet, or runs in any form;
            each frame of a dict is a team of its own. Their order becomes that of pt.Experiment's scores.
        reuse: which columns to add: any of ``"lou"``, ``"rank"``, ``"unjudged"``, ``"bounds"`` (low and high),
            ``"predicted"``, ``"against"`` and ``"filled"``; default those of the first four that say something, see
            above, and ``"filled"`` with `fill`.
        by: the unit left out, ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"``, which systems that are a
            RunSet have of their metadata.
        depth: pool depth, documents per run and topic, >= 1; default the one on record for the field's collection
            (``field.pool_depth``), else 100.
        rel: the lowest label that is relevant, for which uniques are taken away; default what the qrels say where they
            are a Qrels, else 1. Measures have a `rel` of their own: AP(rel=2).
        pool_order: the order in which the pool took documents, ``"file"`` or ``"rank"`` for instance; default that of
            the field, and of the scores for systems that are no RunSet.
        fill: a judge that labels unjudged documents: judgments in any form, a :class:`~pt_reuse.judging.Judge`, a
            function or a pipeline. It is asked once, after the systems have run, in one frame: ``qid docno``, and what
            it reads of topics and results; a function gets every column of texts.
        judge_rel: the lowest label of the judge that is relevant; default what it says, as in
            :func:`leave_out_uniques`.
        round: as for pt.Experiment; the added columns of a measure are rounded as the measure is.
        layout: ``"wide"`` (default), a row per system and columns such as ``nDCG@10 LOU``; or ``"long"``, a row per
            system and measure: ``name measure value``, what a baseline adds, and the added columns but ``LOU rank`` and
            ``pooled``. Results by topic have such rows in either layout; ``highlight`` has no long one.
        cache: a folder that keeps the results of the pipelines, batch by batch (``batch_size`` topics, default 10), as
            :meth:`RunSet.from_pipelines` does, so that a call with the same topics and ``batch_size`` goes on where it
            stopped; not with ``"mrt"`` or ``plan="tree"``.
        **experiment_arguments: every other argument of pt.Experiment: ``baseline``, ``correction``, ``highlight``,
            ``batch_size``, ``save_dir``, ``save_mode``, ``plan``, ``verbose`` and so on.

    Returns:
        What pt.Experiment returns for these arguments (a frame, a Styler, or two of them), with more columns; a frame
        is an ``ExperimentResult``. ``reuse=[]`` is pt.Experiment itself: its plain frame, without runs, or its dicts.

    Raises:
        InputError: before anything is run, where an added column could not be computed. After the run: a pipeline that
            gives a document twice for one topic.

    Warns:
        ReuseWarning: after the run, where a column does not mean what it seems to.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> from ir_measures import P
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "label": [1, 1, 0]})
        >>> topics = pd.DataFrame({"qid": ["1"], "query": ["one"]})
        >>> ptr.Experiment({"A": a, "B": b}, topics, qrels[1:], [P@2])
          name  P@2  P@2 rank  P@2 unjudged  P@2 low  P@2 high
        0    A  0.5         1           0.5      0.5       1.0
        1    B  0.5         1           0.0      0.5       0.5

        Nobody judged d1 here. Below it is judged, and B is the field's only run, A runs now: it has d1 alone, but did
        not contribute it.

        >>> field = ptr.RunSet.from_frames({"B": b}, teams={"B": "them"})
        >>> given = {"field": field, "reuse": ["lou", "rank"]}
        >>> ptr.Experiment({"A": a}, topics, qrels, [P@2], pooled=True, **given)
          name  P@2  P@2 LOU  P@2 LOU %  P@2 rank  P@2 LOU rank  P@2 drop  pooled
        0    A  1.0      0.5      -50.0         1             1         0    True

    Source: leave-out-uniques as in :func:`leave_out_uniques`; documents are ranked as pt.Experiment's own scores rank
    them (float32 scores, ties by docno descending). Where the provider of a measure does otherwise (``RR@k``, RBP
    and ``Judged@k`` break ties by docno ascending), a ReuseWarning names the measure and the systems that it concerns.
    """
    check_pt_arguments(experiment_arguments, Experiment)
    arguments = {**experiment_arguments, "perquery": perquery, "round": round}
    asked = {"field": field, "reuse": reuse, "teams": teams, "types": types, "pooled": pooled, "by": by, "depth": depth}
    asked |= {"rel": rel, "pool_order": pool_order, "fill": fill, "judge_rel": judge_rel}
    return _evaluated(
        retr_systems, topics, qrels, eval_metrics, arguments, layout, asked=asked, names=names, cache=cache
    )


def add_columns(
    result: pd.DataFrame,
    runs: Any = None,
    qrels: Any = None,
    *,
    topics: Any = None,
    field: Any = None,
    reuse: str | Iterable[str] | None = None,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    by: str = "team",
    depth: int | None = None,
    rel: int | None = None,
    pool_order: str | None = None,
    fill: Any = None,
    judge_rel: JudgeRel = None,
    round: int | dict[str, int] | None = None,
    layout: str = "wide",
) -> ExperimentResult:
    """Add the columns of :func:`Experiment` to a finished result of pt.Experiment, without running a pipeline again.

    The scores of `result` stay as they are. Rows, their order and other columns do, too.

    Args:
        result: what pt.Experiment or :func:`Experiment` returned, a row per system, or with ``perquery=True`` a row per
            system, topic and measure. Columns that name a measure get columns beside them.
        runs: the results of the systems by the names in `result`, such as the folder of ``save_dir``: a RunSet, a dict
            of name -> results, files; runs that `result` does not have are ignored. Default those that `result` knows,
            where it is of :func:`Experiment`.
        qrels: the judgments of the experiment, in any form.
        topics: those of the experiment; default the topics of `result`, or, of means, those of the runs.
        field: as for :func:`Experiment`, like all further arguments.
        reuse: which columns to add.
        teams: who belongs together.
        types: system -> type.
        pooled: which systems count as contributors.
        by: the unit left out.
        depth: pool depth.
        rel: the lowest label that is relevant.
        pool_order: the order in which the pool took documents.
        fill: a judge that labels unjudged documents.
        judge_rel: the lowest label of the judge that is relevant.
        round: to how many digits `result` was rounded, as for pt.Experiment; added columns are rounded as well.
        layout: ``"wide"`` (default) or ``"long"``.

    Returns:
        ExperimentResult: `result` with the columns; it knows the runs.

    Raises:
        InputError: a result without names or measures, or with two rows of one system; a system of it that is not among
            the runs, no judgments; and as :func:`Experiment`.

    Warns:
        ReuseWarning: as :func:`Experiment`; and where a score of `result` is not that of these runs and judgments.

    Example:
        >>> import pandas as pd, pyterrier as pt, pt_reuse as ptr
        >>> from ir_measures import P
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "label": [1, 0]})
        >>> result = pt.Experiment([run], pd.DataFrame({"qid": ["1"]}), qrels, [P@2], names=["A"])
        >>> ptr.add_columns(result, {"A": run}, qrels, reuse=["unjudged", "bounds"])
          name  P@2  P@2 unjudged  P@2 low  P@2 high
        0    A  0.5           0.5      0.5       1.0
    """
    if qrels is None:
        raise InputError("the judgments of the experiment are needed.", argument="qrels")
    perquery, named = _measures_of(result)
    systems = _systems_of(result, runs)
    if topics is None:
        topics = pd.DataFrame({"qid": list(dict.fromkeys(result["qid"])) if perquery else systems.topics})
    asked = {"field": field, "reuse": reuse, "teams": teams, "types": types, "pooled": pooled, "by": by, "depth": depth}
    asked |= {"rel": rel, "pool_order": pool_order, "fill": fill, "judge_rel": judge_rel}
    if not wanted_kinds(reuse, with_field=field is not None, with_judge=fill is not None):
        raise InputError("reuse names no column to add.", argument="reuse")
    arguments = {"perquery": perquery, "round": round}
    added: ExperimentResult = _evaluated(systems, topics, qrels, named, arguments, layout, asked=asked, finished=result)
    return added


def _measures_of(result: Any) -> tuple[bool, list[str]]:
    """Return whether a finished result has a row per topic, and which measures it has."""
    if not isinstance(result, pd.DataFrame) or "name" not in result.columns or not len(result):
        got = f"one with {examples(result.columns, 12)}" if isinstance(result, pd.DataFrame) else shown(result)
        got = "one without rows" if isinstance(result, pd.DataFrame) and not len(result) else got
        raise InputError(
            f"result must be a frame of pt.Experiment, with a column 'name' and at least a row, got {got}.",
            argument="result",
        )
    perquery = {"qid", "measure", "value"} <= set(result.columns)
    named = list(dict.fromkeys(result["measure"])) if perquery else [c for c in result.columns if is_measure(c)]
    # columns of measures that are not computed here stay alone
    named = [name for name in named if not (is_measure(name) and is_of_subtopics(parse_measures(name)[0]))]
    if not named:
        raise InputError(f"no column of the result is a measure: {examples(result.columns, 12)}.", argument="result")
    row_of = ["name", "qid", "measure"] if perquery else ["name"]
    again = result.duplicated(row_of)
    if again.any():
        which = ", ".join(f"{name} {shown(value)}" for name, value in result.loc[again, row_of].iloc[0].items())
        raise InputError(f"two rows of the result are of {which}. Give systems names of their own.", argument="result")
    return perquery, named


def _systems_of(result: pd.DataFrame, runs: Any) -> RunSet:
    """Return the runs of the systems of a finished result."""
    executed = getattr(result, "_executed", None)
    if runs is None and executed is None:
        raise InputError(
            "the results of the systems are needed: a RunSet, a dict of name -> results, or the folder of save_dir.",
            argument="runs",
        )
    wanted = [str(name) for name in dict.fromkeys(result["name"])]
    # pt.Experiment gives the runs that it saves one tag, and names their files
    saved = saved_files(wanted, {"save_dir": runs, "save_mode": "reuse"}) if isinstance(runs, str | Path) else {}
    if saved.keys() == set(wanted):
        return RunSet.from_frames({name: saved[name]() for name in wanted})
    known: RunSet = executed.runs if runs is None and executed is not None else as_runs(runs, argument="runs")
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InputError(
            f"the runs lack {count(len(missing), 'system')} of the result: {examples(missing)}; they are "
            f"{examples(known.names)}.",
            argument="runs",
        )
    return known.select(wanted)


def _evaluated(
    retr_systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Any,
    arguments: dict[str, Any],
    layout: str,
    *,
    asked: Mapping[str, Any],
    cache: str | Path | None = None,
    names: Sequence[str] | None = None,
    finished: pd.DataFrame | None = None,
) -> Any:
    """Return what pt.Experiment returns, or the finished result, with the columns asked for."""
    by, depth, rel, pool_order, fill = (asked[name] for name in ("by", "depth", "rel", "pool_order", "fill"))
    study_of(leave_out_uniques).checked({"by": by, "depth": depth, "pool_order": pool_order, "rel": rel})
    perquery, alone = arguments["perquery"], asked["field"] is None
    if not isinstance(perquery, bool | np.bool_) and not (isinstance(perquery, str) and perquery == "both"):
        raise InputError(f"perquery must be True, False or 'both', got {shown(perquery)}.", argument="perquery")
    arguments["perquery"] = perquery = perquery if isinstance(perquery, str) else bool(perquery)
    if choice("layout", layout, LAYOUTS) == "long" and arguments.get("highlight") is not None:
        problem = "highlight= needs a column per measure, of which the long layout has none. Leave one of the two out."
        raise InputError(problem, argument="layout")
    kinds = wanted_kinds(asked["reuse"], with_field=not alone, with_judge=fill is not None)
    if kinds and arguments.get("dataframe", True) is False:
        problem = "added columns have no place in the dicts of dataframe=False. Leave it out, or pass reuse=[]."
        raise InputError(problem, argument="dataframe")
    left_out, ranked = "lou" in kinds, bool({"lou", "rank"} & {*kinds})
    judge = checked_filler(fill, asked["judge_rel"], kinds)
    kept = kept_for(judge)
    topics = read_topics(topics)
    with located("qrels") if isinstance(qrels, pd.DataFrame) else nullcontext():
        all_judgments = as_qrels(qrels)
    judged = all_judgments.to_frame()
    metrics, measures = parse_metrics(eval_metrics)
    # pt.Experiment hands over the judgments of the topics asked alone
    whole = all_judgments.whole
    metrics = [metric.of_judgments(whole) if isinstance(metric, OwnMeasure) else metric for metric in metrics]
    check_no_subtopics(measures.values(), "eval_metrics")
    for measure in measures.values():
        check_sampled(measure, pt.model.to_ir_measures(judged))
    systems = Systems.of(retr_systems, names, kept)
    if cache is not None:
        systems.keep_in(cache, metrics, arguments)
    check_baseline(arguments, len(systems.names))
    if not kinds:
        tell(relevant_only(all_judgments) if of_judged(measures.values()) else ())
        plain = systems.evaluated(topics, judged, metrics, arguments, record=False)
        return in_layout(plain, layout, perquery, measures)
    if not measures:
        problem = "eval_metrics has no measure to add columns to. Give one, or pass reuse=[]."
        raise InputError(problem, argument="eval_metrics")

    tested = significance(systems.names, arguments)
    if finished is not None:
        before = finished.attrs.get("reuse", {}).get("settings", {})
        tested = {name: before[name] for name in ("baseline", "test", "correction") if name in before}
    rival = tested.get("baseline", "")
    if "against" in kinds and rival not in systems.names:
        raise InputError("'against' compares systems with the baseline. Pass baseline=.", argument="reuse")
    judgments = judgments_asked(topics, all_judgments, arguments, rel)
    people = Scale.of(all_judgments, judgments.rel)
    if judge is not None:
        # before systems run: labels that are there already and go beyond those of people, where nobody says more
        lowest_of(judge, np.zeros(0, dtype=np.int64), people)
    of_systems = systems.names if systems.runs is None else systems.runs
    labels = (asked[name] for name in ("teams", "types", "pooled"))
    stated, counted, own_teams = system_tables(of_systems, *labels, pooled_by_default=alone)
    field, by_score = as_field(asked["field"]), False
    if ranked or judge is not None:
        check_measures(measures, judged.columns)
    if ranked:
        field = check_field(field, systems.names, judgments)
    if left_out:
        field = check_units(field, counted, by, own_teams)
        pooled_runs = field or systems.runs
        if pool_order is None and pooled_runs is not None:
            pool_order = pooled_runs.pool_order
            by_score = systems.runs is None and pool_order in ("file", "rank")
        check_pool_order(field, systems.runs, pool_order)
    of_pools = ("teams", "types", "pooled", "pool_order", "depth", "rel")
    idle = [name for name in of_pools if asked[name] is not None] + ([] if by == "team" else ["by"])
    wanted = Wanted(
        kinds=kinds,
        by=by,
        depth=depth,
        pool_order=pool_order,
        verbose=arguments.get("verbose") is True,
        alone=alone,
        by_default=asked["reuse"] is None,
        idle=() if left_out else tuple(idle),
        by_score=by_score,
        rival=rival,
    )
    # a tree plan joins a result frame with the topics
    systems.only = set(topics["qid"]) if arguments.get("plan") == "tree" else None
    systems.saved = saved_files(systems.names, arguments)
    check_texts(kept, topics, {name: each for name, each in systems.by_name.items() if name not in systems.saved})
    frames = systems.frames()
    if frames and systems.recorders:
        check_frames(frames, counted, wanted)

    result = finished
    if result is None:
        result = systems.evaluated(topics, judged, metrics, arguments, record=True)

    runs = executed_runs(systems, topics, counted, judgments, wanted)
    with told_elsewhere():
        columns = compute_columns(runs, field, judgments, measures, wanted)
    if judge is not None:
        texts = texts_of(systems.results().values() if kept.any else (), topics, kept)
        columns = filled_columns(columns, runs, judgments, measures, judge=judge, people=people, texts=texts)
    columns = replace(columns, hint=hint_of(judged) if alone else "")
    columns = tell_remarks(columns, runs, judgments, measures, wanted, grade_unstated(all_judgments, rel))
    own_order = USUAL if systems.runs is None else systems.runs.order
    columns = tell_other_order(columns, runs, own_order, judgments, measures, wanted).with_settings(tested)
    added = Adding(columns, arguments["round"])
    wide = added.to(result, perquery)
    added.warn_of_differences(finished is not None)
    kept_runs = RunSet(runs.field, stated if alone else counted, runs.order, runs.how_pooled)
    executed = Executed(kept_runs, added.means(wide, perquery), len(judgments.topics), columns.settings)
    return carrying(in_layout(wide, layout, perquery, measures, columns.added), executed)
