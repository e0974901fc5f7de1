"""Adaptive pooling: the documents that a strategy has judged one by one, answered by judgments that are known."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
import pyterrier as pt

from pt_reuse._check import checked_seed, flag
from pt_reuse._errors import door
from pt_reuse.pooling.adaptive.oracle_topics import OracleTopic, OracleTopics, caveats_of, check_some_judged
from pt_reuse.pooling.adaptive.strategy import Strategy, as_strategy, judging
from pt_reuse.pooling.candidates import Candidates, Per, Pooled, PoolSize
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import check_pooling, depth_of
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.taking import Taken, pool_of
from pt_reuse.qrels.judgments import as_qrels, checked_rel, relevant_from
from pt_reuse.runs.given import as_runs_before
from pt_reuse.scoring.caveats import noted, tell


@door
def adaptive_pool(
    runs: Any,
    qrels: Any,
    strategy: Any,
    n: int,
    *,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
    rel: int | None = None,
    seed: int = 0,
    verbose: bool = False,
) -> Pool:
    """Pool the first `n` documents of each topic that a strategy has judged, where known judgments answer it.

    A document without a label of at least 0 gets no answer, costs nothing and is not in the pool.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments that answer, in any form.
        strategy: the name of a strategy, a Strategy, or a subclass of Chooser.
        n: how many labels each topic has, 0 or more; a topic with fewer is judged to its end.
        depth: documents per run and topic that can be chosen; default as in :func:`depth_pool`.
        contributors: which runs count, as in :func:`depth_pool`.
        order: the order in which the runs are pooled, as in :func:`depth_pool`.
        rel: the lowest label that the strategy takes for relevant; default the judgments' own.
        seed: decides what the strategy draws, and in which order it tries runs that tie.
        verbose: show a progress bar.

    Returns:
        Pool: the documents in the order of judging, with ``round`` (the place in that order, from 1), ``reason`` (why
        the strategy chose it) and the contributing runs that have them within `depth`.

    Raises:
        InputError: an unknown strategy or option of it, a number out of range, no document of the pool that is judged.

    Warns:
        ReuseWarning: a pool of which every judged document is relevant, or of which more than half has no label.
            ``settings["beware"]`` says it, too.
    """
    chosen, size = as_strategy(strategy), PoolSize.of(n, Per.TOPIC.value)
    check_pooling(depth, order)
    checked_rel(rel)
    seed, verbose = checked_seed(seed), flag("verbose", verbose)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    common, lowest = depth_of(runs, depth).value, relevant_from(qrels, rel)
    contributing = contributors_of(runs, contributors)
    ranked = runs.in_pool_order(order)
    oracle = OracleTopics(ranked, qrels, common, lowest, contributing.runs)
    topics = [oracle.topic(qid) for qid in ranked.topics]
    check_some_judged(topics)
    caveats = list(caveats_of(topics, lowest))
    tell(caveats)
    bar = pt.tqdm(topics, desc="judging", unit="topic", disable=not verbose)
    return pool_of(
        ranked,
        (_taken(oracle, t, topic, chosen, size.n, seed) for t, topic in enumerate(bar)),
        strategy=chosen.name,
        contributors=contributing,
        settings={
            **size.settings,
            "depth": common,
            "relevant": f"label of at least {lowest}",
            "seed": seed,
            **noted(caveats),
        },
    )


def _taken(oracle: OracleTopics, t: int, topic: OracleTopic | None, strategy: Strategy, n: int, seed: int) -> Taken:
    field = oracle.ranked.field
    pool = Pooled.of(field, t, oracle.depth, oracle.contributing)
    # documents of a topic's lists are numbered in this order, too
    codes = Candidates.ordered(field, t, pool, [pool.best_rank]).codes
    order: list[int] = []
    reasons: list[str] = []
    if topic is not None:
        chooser = strategy.start(topic.lists, seed)
        for document in islice(judging(chooser, topic.relevant), n):
            order.append(document)
            reasons.append(chooser.reason(document))
    return Taken(
        codes[np.array(order, dtype=np.int64)],
        pool.code,
        pool.rows.run.astype(np.int32),
        pool.rows.rank.astype(np.int32),
        {"round": np.arange(1, len(order) + 1), "reason": np.array(reasons, dtype=object)},
    )
