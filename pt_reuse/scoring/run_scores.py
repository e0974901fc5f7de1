"""score: every run of a field under every measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, choice, count, examples, flag
from pt_reuse._errors import InputError, Option, door
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.caveats import noted, of_judged, relevant_only, tell, warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike, native_spec, parse_measures
from pt_reuse.scoring.rescoring import check_provided, rescore
from pt_reuse.scoring.scores import Scores


@door
def score(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    complete: bool = True,
    without_topics: str = "error",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Scores:
    """Score every run of a field.

    AP, P, R, nDCG, RR, Rprec, Bpref, RBP, Success, Judged and Unjudged, with their parameters, are computed here, in
    the runs' ranking order and bit for bit as trec_eval does; every other measure is computed by ir_measures, run by
    run, in the same order.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`. Documents without a judgment
            count as not relevant.
        measures: ir_measures measures, or their names. AP and other binary ones count labels of at least 1 as relevant
            unless they say otherwise, AP(rel=2); a warning names those for which the judgments do (:attr:`Qrels.rel`).
        complete: the mean is over all topics of the qrels, a topic that a run lacks counting 0 (trec_eval -c; default);
            False: over the topics that the run has.
        without_topics: a run with none of the topics of the qrels is an ``"error"`` (default), or scores ``"zero"``.
        n_jobs: topics at a time, as joblib takes it; default what ``joblib.parallel_config`` says, else 1. The scores
            do not depend on it.
        verbose: show a progress bar.

    Returns:
        Scores: ``.mean``, ``.per_topic``, ``.ranks``, ``.compare(other)``.

    Raises:
        InputError: an unknown measure, a run that has no topic in common with the qrels.

    Warns:
        ReuseWarning: judgments of relevant documents only, under a measure that sets judged documents against unjudged
            ones (Judged, Unjudged, Bpref, infAP, ``judged_only``). ``settings["beware"]`` says it, too.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3", "d4"], "label": [1, 1, 0]})
        >>> ptr.score(ptr.RunSet.from_frames({"A": run}), qrels, ["AP", "P@1", "Judged@2"]).mean
          name    AP  P@1  Judged@2
        0    A  0.25  0.0       0.5

    Differences: ir_measures' default provider, pytrec_eval, orders by float32 scores (``order="trec_eval9"``), and its
    result is undefined (it may crash or never end) for a topic whose labels are all negative, which here scores 0. Its
    Judged and ``RR@k`` break ties by ascending docno, which no RunSet order does. As in trec_eval, a negative label is
    the same as no judgment; Judged alone counts it. Measures that ir_measures computes get minus the rank as score, so
    that every provider follows the order of the runs.
    """
    parsed = checked_measures(measures)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    jobs = checked_jobs(n_jobs)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    warn_of_lower_grades(parsed, qrels.rel)
    if without_topics == "error":
        check_topics(runs, qrels)
    caveats = list(relevant_only(qrels, of_judged(parsed)))
    tell(caveats)
    scores = scored(runs, qrels, parsed, complete=complete, n_jobs=jobs, verbose=verbose)
    return replace(scores, settings={**scores.settings, **noted(caveats)})


def scored(
    runs: RunSet,
    qrels: Qrels,
    measures: list[ir_measures.Measure],
    *,
    complete: bool,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Scores:
    """Return what :func:`score` returns of arguments that were checked, and whose caveats were told."""
    values = np.empty((len(measures), len(qrels.topics), len(runs)))
    for block in rescore(runs, qrels, measures, verbose=verbose, n_jobs=n_jobs):
        values[:, block.topics.start : block.topics.stop] = block.base
    return scores_of(runs, qrels, measures, values, complete=complete)


def checked_measures(measures: MeasureLike | Iterable[MeasureLike]) -> list[ir_measures.Measure]:
    """Return what a user's ``measures=`` names, or say which of them cannot be computed."""
    parsed = parse_measures(measures)
    check_provided(measure for measure in parsed if native_spec(measure) is None)
    return parsed


def check_scoring(*, complete: Any, without_topics: Any, verbose: Any) -> None:
    """Raise where one of the arguments that say how runs are scored is nothing of the kind, see :func:`score`."""
    flag("complete", complete)
    choice("without_topics", without_topics, ("error", "zero"))
    flag("verbose", verbose)


def scores_of(
    runs: RunSet,
    qrels: Qrels,
    measures: list[ir_measures.Measure],
    values: NDArray[np.float64],
    *,
    complete: bool,
) -> Scores:
    """Label (measures, topics, runs) values."""
    settings: dict[str, Any] = {**runs.settings, "complete": complete}
    provided = provided_measures(measures)
    return Scores(
        run_table=runs.run_table[["name", "team", "type"]],
        topics=qrels.topics,
        measures=[repr(measure) for measure in measures],
        values=values,
        complete=complete,
        has_topic=topics_of_runs(runs, qrels),
        settings=settings | ({"by ir_measures": provided} if provided else {}),
    )


def provided_measures(measures: Iterable[ir_measures.Measure]) -> str:
    """Return the names of the measures that ir_measures computes, as settings show them."""
    return ", ".join(repr(measure) for measure in measures if native_spec(measure) is None)


def topics_of_runs(runs: RunSet, qrels: Qrels) -> NDArray[np.bool_]:
    """Return (topics of the qrels, runs): whether the run has documents for the topic."""
    rows = [runs.field.topic_row.get(topic, -1) for topic in qrels.topics]
    has = np.zeros((len(runs.field.topics) + 1, len(runs)), dtype=np.bool_)
    np.greater(runs.field.lengths, 0, out=has[:-1])
    return has[rows]


def check_topics(runs: RunSet, qrels: Qrels) -> None:
    """Raise when a run has no topic in common with the qrels."""
    has = np.asarray(topics_of_runs(runs, qrels).any(axis=0))
    if has.all():
        return
    lost = [name for name, some in zip(runs.names, has, strict=True) if not some]
    row = runs.row(lost[0])
    mine = [topic for topic, n in zip(runs.topics, runs.field.lengths[:, row].tolist(), strict=True) if n]
    stripped = {topic.lstrip("0") or "0" for topic in qrels.topics}
    padded = any((topic.lstrip("0") or "0") in stripped for topic in mine)
    hint = "They differ in leading zeros only: write the ids alike." if padded else "Are these the qrels of this track?"
    raise InputError(
        f"{count(len(lost), 'run')} without any topic of the qrels: {examples(lost)}. Run {lost[0]!r} has "
        f"the topics {examples(mine) or 'none'}, the qrels {examples(qrels.topics)}. {hint}",
        argument="runs",
    )


def check_every_topic(
    names: Sequence[str], has_topic: NDArray[np.bool_], argument: str = "scores", *, what: str = "A test of pairs"
) -> None:
    """Raise where a run lacks a topic, in means over the topics of each run, and something needs every score."""
    has = np.asarray(has_topic.all(axis=0))
    if has.all():
        return
    lacking = [run for run, every in zip(names, has.tolist(), strict=True) if not every]
    raise InputError(
        f"{count(len(lacking), 'run')} without some of the topics: {examples(lacking)}. {what} needs "
        "a score of every run on every topic; score with ",
        Option("complete", True),
        ", where a topic that a run lacks counts 0, or on the topics that all runs have.",
        argument=argument,
    )
