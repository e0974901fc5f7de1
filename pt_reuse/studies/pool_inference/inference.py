"""infer_pool: which runs must have contributed to the pool behind a set of judgments, and to which depth."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, count, examples, flag
from pt_reuse._errors import InputError, door
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.studies.pool_inference.asked_depth import Way, read_depth, read_tolerance
from pt_reuse.studies.pool_inference.certainty import apart_in_words, certainty_of, explain, range_in_words
from pt_reuse.studies.pool_inference.evidence import (
    confusion,
    contributor_range,
    evidence_table,
    rank_table,
    run_evidence,
    topic_table,
    totals,
    unexplained_documents,
)
from pt_reuse.studies.pool_inference.fitting import Fitter
from pt_reuse.studies.pool_inference.inferred_pool import InferredPool, depths_in_words
from pt_reuse.studies.pool_inference.kinds_of_topics import Curves
from pt_reuse.studies.pool_inference.search import Asked, Search, Try
from pt_reuse.studies.pool_inference.topic_passes import passes


@door
def infer_pool(
    runs: Any,
    qrels: Any,
    *,
    depth: int | str | None = None,
    tolerance: float | None = None,
    order: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> InferredPool:
    """Say which runs must have contributed to the pool behind a set of judgments, and to which depth.

    A run *is judged to depth k* when all its first k documents of every topic are judged, but for a tolerated share.
    For each k, the runs judged to k pool their first k documents; the depth is the k whose pool differs least from the
    judged set. Every pair of topic and document with any label counts as judged, -1 (pooled, not judged) too.

    What is not given is tried: orders of the runs, tolerances, one depth for all topics and one for each. The answer
    is the one with which the judged set can be written down in the fewest bits; the page *Who was pooled* says how. An
    answer that is exact ends the search. Topics whose judgments the pool of the contributors does not explain are set
    apart, and the answer is that of the others alone, if their pool has a clear depth; not so where `depth` is
    ``"common"`` or a number, which hold for all topics.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`; the more of the
            submitted runs, the surer the answer.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`; their topics are used.
        depth: None (default) tries one depth for all topics and one for each; ``"common"`` finds one for all,
            ``"topic"`` one for each, for pools that were made as deep as a topic's budget allowed; a whole number is
            taken as it is.
        tolerance: share of a run's documents down to the depth that may be unjudged, at least 0 (strict) and below 1;
            for collections whose documents were dropped or renamed after pooling. None (default) tries 0, .01, .02,
            .05 and .1, and leaves out runs that lack far more judgments than the others. A run that alone brings more
            unjudged than judged documents is not taken as pooled whatever the tolerance.
        order: the order that decides which document is at rank k, one of ``"trec_eval"``, ``"trec_eval9"``, ``"rank"``,
            ``"file"``. None (default) tries the one in which the field is pooled, then the others.
        n_jobs: topics at a time, as joblib takes it; default what ``joblib.parallel_config`` says, else 1. The answer
            does not depend on it. Jobs are threads, unless the configuration says otherwise; a small field is done in
            one job.
        verbose: show a progress bar.

    Returns:
        InferredPool: ``.depth``, ``.contributors`` (for ``runs.with_metadata(pooled=...)``), ``.contributor_range``,
        ``.order``, ``.topics``, ``.apart``, ``.certainty``, ``.explanation``, ``.table``, ``.tried``, ``.by_topic``,
        ``.by_rank``, ``.unexplained``, ``.confusion``, ``.plot()``.

    Raises:
        InputError: no judgments, no topic in common, a depth or tolerance out of range, an order that the field does
            not know.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = ptr.infer_pool(field.runs, field.qrels)
        >>> found.depth, len(found.contributors), len(found.unexplained)
        (10, 16, 0)
        >>> found.confusion["needed"].tolist()
        [16, 0]

    Source: the record of TREC-8 ad hoc, which this gives back: depth 100, 71 of 129 runs, all 86,830 judgments.
    """
    tolerances = read_tolerance(tolerance)
    asked = read_depth(depth)
    check_order_or_none("order", order)
    jobs = checked_jobs(n_jobs)
    flag("verbose", verbose)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    _check_overlap(runs, qrels)

    with passes(runs.field, jobs) as going:
        asked_all = Asked(asked, tolerances, order)

        def searched(kept: NDArray[np.bool_]) -> Search:
            some = qrels if kept.all() else qrels.select(compress(qrels.topics, kept.tolist()))
            return Search(runs, some, asked_all, going, verbose=verbose)

        kept = np.ones(len(qrels.topics), dtype=bool)
        search = whole = searched(kept)
        while (apart := search.best.apart).any():
            kept[np.flatnonzero(kept)[apart]] = False
            search = searched(kept)
        if (back := _explained(whole, search.best, kept)).any():
            again = searched(kept | back)
            # not where they take along others, or blur what the pool of the others shows
            if not again.best.apart.any() and again.is_sharp:
                kept, search = kept | back, again
        if not (kept.all() or search.is_sharp):
            kept[:], search = True, whole
        if kept.all():
            search.take_every_topic()
        return _inferred(runs, qrels, search, whole, ~kept)


def _explained(whole: Search, found: Try, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (topics,): those that were set apart and that the pool of the others explains all the same."""
    if kept.all() or not found.fit.runs.any():
        return np.zeros_like(kept)
    depths = np.zeros(len(kept), dtype=np.int64)
    depths[kept] = found.fit.depths
    curves = Curves(*whole.ranks(found.order).found(found.fit.runs), found.fitter.tolerance)
    return ~kept & (curves.with_others(depths) > 0)


def _inferred(runs: RunSet, qrels: Qrels, search: Search, whole: Search, apart: NDArray[np.bool_]) -> InferredPool:
    """Return the result of a search over the topics that are not set apart."""
    best = search.best
    ranks, fit = best.fitter.ranks, best.fit
    evidence = run_evidence(fit, ranks.lengths > 0)
    table = evidence_table(runs, best, evidence)
    depths = np.zeros(len(qrels.topics), dtype=np.int64)
    depths[~apart] = fit.depths
    every = Fitter(whole.ranks(best.order), best.fitter.tolerance, alike=best.fitter.alike)
    of_all = every.settle(depths) if apart.any() else fit
    unexplained = unexplained_documents(runs, qrels, every.ranks, of_all)
    by_topic = topic_table(qrels, every.ranks, of_all, unexplained, apart)
    used = fit.depths[ranks.has_topic]
    summary = totals(best, contributor_range(fit, evidence), by_topic)
    better = best.fitter.own_depths() if search.asked.depth.ways == (Way.COMMON,) and not fit.is_exact else fit
    certainty = certainty_of(summary, best)
    return InferredPool(
        table=table,
        by_topic=by_topic,
        by_rank=rank_table(ranks, fit.runs),
        unexplained=unexplained,
        confusion=confusion(table),
        summary=summary,
        tried=search.table(),
        depth=int(used[0]) if len(np.unique(used)) == 1 else None,
        order=best.order,
        contributors=table["name"][table["contributed"]].tolist(),
        certainty=certainty,
        explanation=explain(certainty, summary, search, better)
        + range_in_words(table, summary)
        + apart_in_words(by_topic),
        settings={
            "depth": f"{depths_in_words(by_topic).removeprefix('depth ')} ({best.way.value})",
            "tolerance": best.fitter.tolerance,
            **runs.settings,
            "order": best.order,
            "tried": len(search.tried),
            "topics": len(qrels.topics),
            **({"set apart": int(apart.sum())} if apart.any() else {}),
            "judged": "any label",
            "record": _record(runs.pooled),
        },
    )


def _check_overlap(runs: RunSet, qrels: Qrels) -> None:
    if not len(qrels):
        raise InputError("the qrels hold no judgments, so there is no pool to infer.", argument="qrels")
    if not set(runs.topics) & set(qrels.topics):
        raise InputError(
            f"the runs and the qrels have no topic in common: runs {examples(runs.topics)}; "
            f"qrels {examples(qrels.topics)}. Are they of the same track, and are the topic ids written alike?",
            argument="qrels",
        )


def _record(pooled: pd.Series) -> str:
    unknown = int(pooled.isna().sum())
    if unknown == len(pooled):
        return "not on record"
    rest = f", {unknown:,} not on record" if unknown else ""
    return f"{int(pooled.sum()):,} of {count(len(pooled), 'run')} pooled{rest}"
