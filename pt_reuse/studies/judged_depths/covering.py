"""coverage: how far the judgments cover each run, and whom the pool may put at a disadvantage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import fraction, positive, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import as_qrels, checked_rel, relevant_from
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.units import check_unit, described
from pt_reuse.pooling.depth import checked_depth, depth_of
from pt_reuse.scoring.caveats import few_topics, noted, relevant_only, tell, told_elsewhere
from pt_reuse.scoring.grades import usual_measures
from pt_reuse.scoring.measures import MeasureLike, cutoff_of
from pt_reuse.scoring.run_scores import check_scoring, checked_measures, provided_measures, score
from pt_reuse.scoring.topic_sets import check_topics, topics_of_runs
from pt_reuse.studies.judged_depths.coverage_result import Coverage
from pt_reuse.studies.judged_depths.flags import flag_table
from pt_reuse.studies.judged_depths.judged_lists import JudgedLists
from pt_reuse.studies.judged_depths.pool_record import record_of
from pt_reuse.studies.judged_depths.rank_bounds import RankBounds
from pt_reuse.studies.judged_depths.tables import (
    Shares,
    above_contributors,
    condensed_table,
    depth_table,
    group_table,
    run_figures,
    topic_table,
)
from pt_reuse.studies.judged_depths.unjudged_documents import UnjudgedDocuments

#: the depth that runs are compared at where the first measure has no cutoff among the depths
_USUAL = 10


@door
def coverage(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    depths: int | Iterable[int] = (1, 5, 10, 20, 50, 100),
    p: float = 0.8,
    by: str | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    rel: int | None = None,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> Coverage:
    """Say how far the judgments cover each run, and which runs the pool may put at a disadvantage.

    A document is *judged* when it has a label of at least 0. At each depth k the share of unjudged documents is given
    in two conventions: of the documents that the run returns down to k (``Unjudged@k``, 1 on a topic for which it
    returns nothing; ``Judged@k`` of ir_measures is its complement), and of k (``Unjudged(of_cutoff=True)@k``, as
    trec_eval 10 does: places that a short list leaves empty count as judged, so that it is 0 on such a topic).

    Three numbers say what that may do to a run. Its *residual* is the most that unjudged documents may add to its RBP:
    the sum of (1 - p) p^(rank - 1) over them, and p^n for what follows a list of n documents. Its *condensed* score is
    the one of its lists without unjudged documents, when all runs are scored so; condensed lists favour what is less
    judged. And where it is known who made the pool, its share of unjudged documents *without its own team*, had this
    not taken part: a new run with more than any contributor has less covered than any participant was.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        measures: ir_measures measures or their names, one or several, that have a form for condensed lists
            (``judged_only``), or RBP with its `rel`; the flags go by the first. Default AP, from the grade
            from which documents are relevant, and ``nDCG@10``.
        depths: ranks k down to which documents are counted, one or several. Runs are compared at the cutoff of the
            first measure, where that is among them, else at 10, else at the first.
        p: the persistence of RBP and its residual, above 0 and below 1.
        by: what is left out of the pool: ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"``.
        depth: of the pool, documents per run and topic; default the one on record, else 100.
        contributors: who made the pool: ``"pooled"`` (default), the runs on record; ``"all"``, or run names. Where
            nobody recorded of some run whether it was pooled, nobody is left out.
        pool_order: the order in which the runs were pooled; default the one in which the field is pooled.
        rel: the lowest label that is relevant, for RBP; default what the judgments say (:attr:`Qrels.rel`), else 1.
        complete: means are over all topics of the qrels (default), or over those that the run has.
        without_topics: a run with none of the topics of the qrels is an ``"error"`` (default), or counts as
            ``"zero"``, unjudged throughout.
        verbose: show a progress bar.

    Returns:
        Coverage: ``.table`` (per run and depth), ``.by_run``, ``.condensed``, ``.groups``, ``.by_topic``, ``.flags``,
        ``.per_topic()``, ``.plot()``.

    Raises:
        InputError: a measure without a form for condensed lists, a depth below 1, a unit that some runs do not have,
            a run that has no topic in common with the qrels.

    Warns:
        ReuseWarning: judgments of relevant documents only; fewer than five topics; a pool that is not that of the
            judgments, so that nobody's share without the own team is what it was. ``settings["beware"]`` says it, too.
            Also contributing runs of one unit alone, and a `by` where nobody is on record as pooled.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = ptr.profile.coverage(field.runs, field.qrels, depths=[5, 10, 20], depth=field.depth)
        >>> found.groups.query("by == 'type' and depth == 20")[["group", "unjudged"]].round(3).values.tolist()
        [['lexical', 0.248], ['neural', 0.281], ['manual', 0.155]]

    Source: residuals after Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness,
    ACM TOIS 27; condensed lists after Sakai 2007, Alternatives to bpref, SIGIR. On TREC-8 ad hoc the pooled runs have
    no unjudged document down to rank 100, the others .0465 at 10 in the mean.
    """
    given = None if measures is None else checked_measures(measures)
    for measure in given or ():
        condensed_form(measure)
    cutoffs = checked_depths(depths)
    p = fraction("p", p, ends=False)
    check_pool(by=by, depth=depth, pool_order=pool_order, rel=rel)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    if without_topics == "error":
        check_topics(runs, qrels)
    asked, lowest = depth_of(runs, depth), relevant_from(qrels, rel)
    parsed = usual_measures(lowest) if given is None else given
    condensing = [condensed_form(measure) for measure in parsed]
    record = record_of(runs, qrels, by=by, depth=asked, contributors=contributors, pool_order=pool_order)
    at = _compared_at(parsed[0], cutoffs)
    rbp = ir_measures.RBP(p=p, rel=lowest)
    caveats = [
        *relevant_only(qrels, [f"Unjudged@{at}", "the residual", *map(repr, condensing)]),
        *few_topics(len(qrels.topics)),
        *record.caveats(asked=by is not None),
    ]
    tell(caveats)
    lists = JudgedLists.of(runs, qrels, cutoffs, p=p, owners=record.owners, verbose=verbose)
    shares = Shares(lists, None if complete else topics_of_runs(runs, qrels), record.owners is not None)
    with told_elsewhere():
        scores = score(
            runs,
            qrels,
            [*parsed, *condensing, rbp],
            complete=complete,
            without_topics=without_topics,
            verbose=verbose,
        )
    means = dict(zip(scores.measures, scores.mean_values, strict=True))
    contributed = pd.array([pd.NA] * len(runs) if record.contributed is None else record.contributed, dtype="boolean")
    named = described(runs.run_table).assign(contributed=contributed)
    table = depth_table(named, shares)
    figures = run_figures(shares)
    here = table.loc[table["depth"] == at, ["unjudged", "unjudged_without_own"]].reset_index(drop=True)
    bounds = RankBounds(runs, qrels, p, shares.of_topics).table(means[repr(rbp)], figures["residual"].to_numpy())
    here["above_contributors"] = above_contributors(here, record.contributed)
    by_run = pd.concat([named, here, figures, pd.DataFrame({"RBP": means[repr(rbp)]}), bounds], axis=1)
    names = [repr(measure) for measure in parsed]
    full, short = (np.array([means[repr(one)] for one in each]) for each in (parsed, condensing))
    condensed = condensed_table(named, names, full, short)
    flags = flag_table(by_run, condensed.iloc[: len(runs)])
    provided = provided_measures([*parsed, *condensing])
    return Coverage(
        table=table,
        by_run=by_run.assign(flags=by_run["name"].map(flags["name"].value_counts()).fillna(0).astype(np.int64)),
        condensed=condensed,
        groups=group_table(table),
        by_topic=topic_table(qrels.topics, shares),
        flags=flags,
        counts=UnjudgedDocuments.of(runs, qrels, cutoffs, lists=lists),
        measures=names,
        at=at,
        p=p,
        left_out=record.by,
        settings={
            "judged": "a label of at least 0",
            "unjudged": "of the documents returned down to a depth, 1 where there are none",
            "unjudged_of_k": "of as many documents as the depth, 0 where there are none",
            "compared at": at,
            "p": p,
            "relevant": f"label of at least {lowest}",
            "left out": record.in_words(),
            "depth": asked.value,
            "depth from": asked.origin.value,
            "contributors": "nobody" if record.contributors is None else str(record.contributors),
            **({} if record.units is None else record.units.settings),
            **runs.settings,
            **({"pool order": record.order} if record.order else {}),
            "complete": complete,
            "ties": f"means equal to {DECIMALS} decimals",
            **({"by ir_measures": provided} if provided else {}),
            **noted(caveats),
        },
    )


class _CondensedRBP(type(ir_measures.RBP)):  # type: ignore[misc]
    """RBP of condensed lists, which ir_measures does not have; computed here alone, so that `rel` must be given."""

    SUPPORTED_PARAMS = {
        **ir_measures.RBP.SUPPORTED_PARAMS,
        "judged_only": ir_measures.ParamInfo(dtype=bool, default=False, desc="ignore unjudged documents"),
    }


def condensed_form(measure: ir_measures.Measure) -> ir_measures.Measure:
    """Return a measure as it scores lists without unjudged documents.

    Raises:
        InputError: a measure that has no such form.
    """
    if "judged_only" in measure.SUPPORTED_PARAMS:
        return measure(judged_only=True)
    if measure.NAME == ir_measures.RBP.NAME and "rel" in measure.params:
        return _CondensedRBP(**measure.params, judged_only=True)
    raise InputError(
        f"{measure!r} has no form for condensed lists (judged_only), by which runs are compared. Take others, such as "
        "nDCG@10, AP, P@10 or RBP(rel=1).",
        argument="measures",
    )


def checked_depths(depths: Any) -> tuple[int, ...]:
    """Return a user's ``depths=`` as ranks that ascend, each once, or say that they are none."""
    given = list(depths) if isinstance(depths, Iterable) and not isinstance(depths, str | bytes) else [depths]
    if not given:
        raise InputError(Argument("depths"), f" must be one rank or several, got {told(depths)}.", argument="depths")
    return tuple(sorted({positive("depths", one, "documents") for one in given}))


def check_pool(*, by: Any, depth: Any, pool_order: Any, rel: Any) -> None:
    """Raise, before runs are read, where an argument that says who is left out of which pool is nothing of the kind."""
    if by is not None:
        check_unit(by)
    if depth is not None:
        checked_depth(depth)
    check_order_or_none("pool_order", pool_order)
    checked_rel(rel)


def _compared_at(measure: ir_measures.Measure, depths: tuple[int, ...]) -> int:
    cutoff = cutoff_of(measure)
    return next((k for k in (cutoff, _USUAL) if k in depths), depths[0])
