"""infer_pool: which runs must have contributed to the pool behind a set of judgments, and to which depth."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, door
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.given import check_runs
from pt_reuse.runs.ordering import check_order_or_none
from pt_reuse.runs.run_set import RunSet
from pt_reuse.studies.pool_inference.asked_depth import Way, check_tolerance, read_depth
from pt_reuse.studies.pool_inference.certainty import certainty_of, explain
from pt_reuse.studies.pool_inference.evidence import (
    confusion,
    evidence_table,
    rank_table,
    run_evidence,
    topic_table,
    totals,
    unexplained_documents,
)
from pt_reuse.studies.pool_inference.inferred_pool import InferredPool, depths_in_words
from pt_reuse.studies.pool_inference.judged_ranks import JudgedRanks


@door
def infer_pool(
    runs: RunSet,
    qrels: Any,
    *,
    depth: int | str | None = None,
    tolerance: float = 0.0,
    order: str | None = None,
) -> InferredPool:
    """Say which runs must have contributed to the pool behind a set of judgments, and to which depth.

    A run *is judged to depth k* when all its first k documents of every topic are judged. For each k, the runs judged
    to k pool their first k documents; the depth is the k whose pool differs least from the judged set, the smallest
    of several. Every pair of topic and document with any label counts as judged, -1 (pooled, not judged) too.

    Args:
        runs: the field; the more of the submitted runs, the surer the answer.
        qrels: the judgments: a Qrels, a frame or a file; its topics are used.
        depth: None (default) finds one depth for all topics; ``"topic"`` one for each topic, for pools that were
            made as deep as a topic's budget allowed; a whole number is taken as it is.
        tolerance: share of a run's documents down to the depth that may be unjudged, at least 0 (default, strict) and
            below 1; for collections whose documents were dropped or renamed after pooling. A run that alone brings
            more unjudged than judged documents is not taken as pooled all the same.
        order: the order that decides which document is at rank k, one of ``"trec_eval"``, ``"trec_eval9"``, ``"rank"``,
            ``"file"``; default the one in which the field is pooled. Where a pool fits badly, try another.

    Returns:
        InferredPool: ``.depth``, ``.contributors`` (for ``runs.with_metadata(pooled=...)``), ``.certainty``,
        ``.explanation``, ``.table``, ``.by_topic``, ``.by_rank``, ``.unexplained``, ``.confusion``, ``.plot()``.

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
    check_runs(runs, qrels)
    check_tolerance(tolerance)
    asked = read_depth(depth)
    check_order_or_none("order", order)
    qrels = as_qrels(qrels)
    runs = runs.in_pool_order(order)
    _check_overlap(runs, qrels)

    ranks = JudgedRanks(runs, qrels, float(tolerance))
    settled = asked.settle(ranks)
    evidence = run_evidence(settled, ranks.lengths > 0)
    table = evidence_table(runs, ranks, settled, evidence)
    unexplained = unexplained_documents(runs, qrels, ranks, settled)
    by_topic = topic_table(qrels, ranks, settled, unexplained)
    used = by_topic["depth"][[topic is not None for topic in ranks.topics]]
    summary = totals(ranks, settled, by_topic)
    better = ranks.own_depths() if asked.way is Way.COMMON and settled.difference else settled
    certainty = certainty_of(summary, settled)
    return InferredPool(
        table=table,
        by_topic=by_topic,
        by_rank=rank_table(ranks, settled.runs),
        unexplained=unexplained,
        confusion=confusion(table),
        summary=summary,
        depth=int(used.iloc[0]) if len(set(used)) == 1 else None,
        contributors=table["name"][table["contributed"]].tolist(),
        certainty=certainty,
        explanation=explain(certainty, summary, settled, better),
        settings={
            "depth": f"{depths_in_words(by_topic).removeprefix('depth ')} ({asked.way.value})",
            "tolerance": float(tolerance),
            **runs.settings,
            "topics": len(qrels.topics),
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
