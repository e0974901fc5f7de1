"""The pool of some runs on the topics that judgments have."""

from __future__ import annotations

import numpy as np

from pt_reuse.pooling.contributors import Contributors
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet


def pool_on_topics(ranked: RunSet, depth: int, contributors: Contributors, qrels: Qrels) -> Pool:
    """Return the depth-k pool on the topics of the judgments: runs bring topics that nobody chose to judge.

    Args:
        ranked: the field, in the order in which it is pooled.
        depth: of the pool.
        contributors: the runs that make it.
        qrels: the judgments.
    """
    pool, topics = pool_to_depth(ranked, depth, contributors), set(qrels.topics)
    known = np.array([topic in topics for topic in pool.documents.topics], dtype=bool)
    return pool.take(np.flatnonzero(known[pool.documents.topic]))
