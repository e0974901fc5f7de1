"""audit_labels: what labels by a model do to the ranking of systems, beside what other people would do to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import checked_jobs, examples, positive
from pt_reuse._errors import InputError, door, located, warn
from pt_reuse.arrays.bootstrap import OF_DROPS, checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import units_of
from pt_reuse.judging.annotators.labels import as_annotator_labels
from pt_reuse.judging.judges import JudgeRel
from pt_reuse.scoring.caveats import FEW_TOPICS, few_topics, noted, one_unit, tell
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.run_scores import provided_measures
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.judged_fields import AskedJudges
from pt_reuse.studies.label_audit.agreeing import check_names, label_agreement
from pt_reuse.studies.label_audit.audit import LabelAudit
from pt_reuse.studies.label_audit.compared_rankings import without_ranking
from pt_reuse.studies.label_audit.field_audit import Asked, FieldAudit
from pt_reuse.studies.label_audit.field_parts import checked_grouping
from pt_reuse.studies.label_audit.other_people import compared_people


@door
def audit_labels(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    people: Any = None,
    by: str | None = None,
    best: int = 10,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    missing: str = "unjudged",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LabelAudit:
    """Say what labels by a model, or by several, do to the ranking of systems, and how far they agree with people's.

    Each judge is asked for labels of the documents that people judged. The field is ranked under the labels of people
    and under those of the judge, on the same documents and topics. Labels of other people, where there are any, show
    what people reach with each other: a judge is to be read against that.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`. Pipelines come in by
            :meth:`RunSet.from_pipelines`.
        human: the judgments of people, in any form.
        judge: who is audited: judgments in any form, a :class:`judging.Judge`, a function or a pipeline; a dict of
            name -> one of these; or a folder of judges, read as :func:`judging.read_judges` reads it.
        measures: ir_measures measures, or their names, one or several.
        people: labels of other people for some of the same documents: a dict of name -> judgments in any form, a frame
            ``qid docno label annotator``, or what :func:`~pt_reuse.judging.import_labels` returns. Each is compared
            with `human` on the documents that this person labelled, whatever `missing` says, and so is each judge once
            more beside it.
        by: ``"type"``, ``"team"`` or ``"family"``: rank the runs of each one among themselves, too. Default none.
        best: how many runs are the best: tau of these is *tau at k*. Which runs are the best follows from all topics
            under `human`, also in resamples; those that tie with the last of them belong to them.
        rel: the lowest label of people that is relevant; default what the judgments say, else 1.
        judge_rel: the lowest label of the judge that is relevant, or a dict of its label -> the label of people that it
            stands for; one for all, or a dict of judge -> one of these. Default: what a judge says; else 1 where all
            its labels are 0 and 1, and as for people where none is above the highest of theirs. Labels above it are
            refused.
        families: judge -> family of models, where the judges do not say.
        missing: a document that people judged and the judge did not is ``"unjudged"`` under the judge (default), or is
            taken from both (``"drop"``).
        resamples: how often the topics are drawn for intervals; 0 for none. Judges on the same topics share the draws.
        confidence: of the intervals.
        seed: of the draws.
        complete: the mean is over all topics that count, a topic that a run lacks counting 0 (default), or over those
            that the run has.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        n_jobs: topics, then parts of the draws, at a time, as joblib takes it; default what
            ``joblib.parallel_config`` says, else 1. The numbers do not depend on it.
        verbose: show progress bars.

    Returns:
        LabelAudit: ``.table`` (how far rankings agree), ``.movers`` (each run), ``.documents`` (what moves it),
        ``.labels`` (how far labels agree), ``.yardstick`` and ``.beside`` (judges and other people on the same
        documents), ``.findings()``, ``.report()``, ``.plot()``.

    Raises:
        InputError: one run alone, an unknown measure, a judge that labelled none of the documents, a label that is no
            whole number (a probability), a judge and a person of one name, runs without a type.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing, fewer than five topics, runs that all tie, a measure
            that counts labels as relevant that are not so for people, a `rel` above every label of people.
            Also runs of one unit (`by`) alone.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> people = field.qrels.threshold()
        >>> judge = ptr.judging.Noisy(people, ptr.judging.flips(0.2), seed=1)
        >>> found = ptr.audit_labels(field.runs, people, judge, "P@10", resamples=200)
        >>> found.headline()
        'noisy against people, 18 runs, 25 topics: P@10 tau_b 0.6756'
        >>> found.movers[["name", "rank", "judge_rank", "rise", "rise_low", "rise_high"]].head(2)
            name  rank  judge_rank  rise  rise_low  rise_high
        0  lex4a    14           8     6        -1         13
        1  lex1b    12           9     3        -4         10

    Source: Voorhees 2000, Variations in relevance judgments and the measurement of retrieval effectiveness, Information
    Processing and Management 36, for rankings under the labels of other people; Upadhyay et al. 2024, UMBRELA,
    https://arxiv.org/abs/2406.06519, for those under the labels of a model.
    """
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
    grouping, k = checked_grouping(by), positive("best", best, "runs")
    jobs = checked_jobs(n_jobs)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence, n_jobs=n_jobs)
    given = None if people is None else as_annotator_labels(people, "people")
    check_names([one.name for one in asked.judges], () if given is None else given.annotators)
    judged = asked.read(runs, human)
    if len(judged.runs) < 2:
        raise InputError("there is 1 run, and a ranking takes 2 at least.", argument="runs")
    groups = None if grouping is None else units_of(judged.runs.run_table, grouping, grouping=True)
    # labels of people are there already, a judge may take its time
    beside = [] if given is None else list(compared_people(judged.human, given))
    for one in beside:
        with located(one.name):
            if without_topics == "error":
                check_topics(judged.runs, one.human)
    pairs = judged.compared()
    n_topics = len(judged.human.topics)
    caveats = judged.caveats(pairs, n_topics)
    if groups is not None:
        caveats += one_unit(groups, np.ones(len(judged.runs), dtype=bool), "they are no other group than all runs")
    for one in (*pairs, *beside) if n_topics >= FEW_TOPICS else ():
        caveats += few_topics(len(one.human.topics), one.name)
    tell(caveats)
    field = FieldAudit(judged.runs, judged.human, asked.measures, pairs, beside, drop=missing == "drop")
    found = field.ranked(Asked(k, groups, bootstrap), complete=complete, n_jobs=jobs, verbose=verbose)
    _warn_of_ties(found.table)
    labels = label_agreement(pairs, bootstrap, people=beside)
    provided = provided_measures(asked.measures)
    settings = {
        **judged.settings(pairs),
        **({"people": "; ".join(f"{one.name} ({one.words()})" for one in beside)} if beside else {}),
        "topics": "those in which the judge labelled a document; of a person, those that the person labelled",
        "best": f"the {k:,} best runs under the labels of people, over all topics",
        **({} if groups is None else {"by": grouping, **groups.settings}),
        "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        **{f"documents, {measure}": words for measure, words in found.effects.items()},
        "intervals": "none"
        if bootstrap is None
        else f"{bootstrap.words()}; of resamples in which a part of the runs does not tie",
        **({} if bootstrap is None else OF_DROPS),
        "intervals of labels": labels.settings["intervals"],
        **({"by ir_measures": provided} if provided else {}),
        **noted(caveats),
    }
    return LabelAudit(
        table=found.table,
        settings=settings,
        movers=found.movers,
        documents=found.documents,
        beside=found.beside,
        yardstick=found.yardstick,
        labels=labels,
    )


def _warn_of_ties(table: pd.DataFrame) -> None:
    """Warn of rankings that do not exist, since all runs tie."""
    none = without_ranking(table)
    if none:
        warn(
            f"all runs tie under people or under the judge, so that there is no ranking to compare: {examples(none)}. "
            "Is any document of these topics relevant by the measure?"
        )
