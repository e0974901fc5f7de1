"""family_effect: whether judges favour the runs of a family, their own above all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.judging.judges import JudgeRel
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import noted, tell
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.studies.judge_families.cells import Cells, by_run, judges_table
from pt_reuse.studies.judge_families.family_effects import FamilyEffect
from pt_reuse.studies.judge_families.family_runs import FamilyRuns
from pt_reuse.studies.judged_fields import AskedJudges


@door
def family_effect(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    caliper: float = 0.2,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    missing: str = "unjudged",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> FamilyEffect:
    """Say how much more the runs of each family gain under each judge than other runs do, in ranks and in scores.

    A run *gains* as many ranks as it stands higher by the judge's labels than by those of people, both for the same
    documents. The effect of a judge on a family is the mean gain of its runs, less that of the runs that they are held
    against: all ``"others"``; the ``"matched"`` ones, for each run of the family the other run whose score by people is
    nearest; or the others with the family left out of the field (``"alone"``): they are ranked without the family,
    each of whose runs takes its place among them alone. Without ties the first is the last times runs / others, since
    the others lose what the family gains.

    The effect on scores is told at equal scores by people, since a judge that errs at random draws all scores together:
    good runs lose and bad ones gain, without any favour. It is how far the family's scores by the judge lie above the
    line through those of the others (least squares, score by the judge on score by people); among matched runs it is
    the difference of the changes.

    Args:
        runs: the field, with a column ``family`` in its metadata: a RunSet. Runs without a family are others to every
            family. Pipelines come in by :meth:`RunSet.from_pipelines`, with ``metadata=``.
        human: the judgments of people, in any form.
        judge: a judge, or a dict of name -> judge: judgments in any form, a Judge, a function or a pipeline.
        measures: ir_measures measures, or their names, one or several.
        caliper: how far apart two matched runs may be in their mean score by people, in standard deviations of the
            means of all runs; 0.2 by default, the usual width for matching (Austin 2011). An other run may be matched
            with several runs of the family; of equally near ones it is the first by name. Runs of the family without
            one that is near enough are counted, and do not count among the matched.
        rel: the lowest relevant label of people; default what the judgments say.
        judge_rel: the lowest relevant label of the judges, or a dict of their label -> the label of people, as in
            :func:`audit_labels`.
        families: judge -> family, the family of runs that is the judge's own; default what the judges say.
        missing: a document that people judged and the judge did not is ``"unjudged"`` for the judge (default), or is
            left out for both (``"drop"``).
        resamples: how often the topics are drawn for intervals, the same draws for all judges; 0 for none.
        confidence: of the intervals, above 0 and below 1.
        seed: of the draws.
        complete: the mean is over all topics, a topic that a run lacks counting 0 (default), or over those that the run
            has.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        verbose: show progress bars.

    Returns:
        FamilyEffect: ``.table`` with a row per measure, judge, family and whom it is held against; ``.by_run``,
        ``.matches``, ``.judges``, ``.report()``, ``.plot()``, ``.findings()``.

    Raises:
        InputError: no run has a family, or all are of one; no judge; a judge that labelled nothing that people judged.

    Warns:
        ReuseWarning: a family of one run, fewer than three other runs, fewer than five topics; a judge whose family is
            spelt almost as one of the runs; topics in which a judge labelled nothing; a `rel` above every label of
            people.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> types = field.run_table[["name", "type"]].rename(columns={"type": "family"})
        >>> runs = field.runs.with_metadata(metadata=types)
        >>> judge = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.2, labels=[0, 1, 2]), seed=1)
        >>> families = {"noisy": "neural"}
        >>> found = ptr.labels.family_effect(runs, field.qrels, judge, "nDCG@10", families=families, resamples=200)
        >>> own = found.table.query("own and against == 'others'")
        >>> own[["family", "runs", "rank_effect", "rank_effect_low", "rank_effect_high"]].round(2).values.tolist()
        [['neural', 6, -4.5, -11.27, 2.27]]

    Source: Balog, Metzler and Qin 2025, Rankers, judges, and assistants: towards understanding the interplay of LLMs in
    information retrieval evaluation, SIGIR, https://arxiv.org/abs/2503.19092, who ask whether judges favour rankers of
    their own kind; caliper: Austin 2011, Optimal caliper widths for propensity-score matching, Pharmaceutical
    Statistics 10.
    """
    width = _checked_caliper(caliper)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    asked = AskedJudges.of(
        judge,
        measures,
        rel=rel,
        judge_rel=judge_rel,
        families=families,
        missing=missing,
        complete=complete,
        without_topics=without_topics,
        verbose=verbose,
    )
    field = asked.read(runs, human)
    of_runs = FamilyRuns(field.runs.run_table)
    of_runs.check_judges(asked.judges)
    compared = field.compared()
    caveats = [*field.caveats(compared), *of_runs.caveats()]
    tell(caveats)
    scored = field.both_scored(compared)
    drawn = [Cells(one, of_runs, width) for one in scored]
    table = pd.concat([cells.table(bootstrap, field.human.topics) for cells in drawn], ignore_index=True)
    order = {repr(measure): n for n, measure in enumerate(asked.measures)}
    table = table.sort_values("measure", key=lambda column: column.map(order), kind="stable", ignore_index=True)
    n_cells = len(compared) * len(of_runs.names)
    return FamilyEffect(
        table=table,
        by_run=pd.concat([by_run(one, field.runs) for one in scored], ignore_index=True),
        matches=pd.concat([cells.matches() for cells in drawn], ignore_index=True),
        judges=judges_table(compared),
        settings={
            "effect": "mean of (rank by people - rank by the judge) over the runs of the family, less the others'",
            "score effect": "above the line through the others (judge on people); matched: difference of changes",
            "against": "others: all ranked together; matched: nearest by people; alone: others ranked without family",
            "matched within": f"{width:g} standard deviations of the runs' means by people, with replacement",
            "runs without a family": of_runs.without,
            **field.settings(compared),
            "ties": f"means equal to {DECIMALS} decimals",
            **({INTERVALS: _intervals_in_words(bootstrap, n_cells)} if bootstrap else {}),
            **noted(caveats),
        },
    )


def _checked_caliper(caliper: Any) -> float:
    number = isinstance(caliper, int | float | np.number) and not isinstance(caliper, bool)
    if not number or not 0 <= caliper < np.inf:
        raise InputError(
            Argument("caliper"),
            f" must be a number of standard deviations, 0 or more, got {told(caliper)}.",
            argument="caliper",
        )
    return float(caliper)


def _intervals_in_words(bootstrap: TopicBootstrap, n_cells: int) -> str:
    by_chance = (1 - bootstrap.confidence) * n_cells
    return (
        f"{bootstrap.words()}; of effects on scores t intervals from the same draws; not corrected for "
        f"their number: of {count(n_cells, 'cell')}, a judge and a family each, {by_chance:.2g} would leave out 0 by "
        "chance"
    )
