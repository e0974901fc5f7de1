"""Take-N pooling: the best-ranked documents of a depth-k pool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pt_reuse._errors import door
from pt_reuse.pooling.candidates import Candidates, Pooled, PoolSize, cut
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import check_pooling, depth_of
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.taking import pool_of
from pt_reuse.runs.given import as_runs


@door
def take_pool(
    runs: Any,
    n: int,
    *,
    per: str = "topic",
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
) -> Pool:
    """Pool the `n` best-ranked documents of the depth-k pool, of each topic or in all.

    The documents of a topic are ordered by the best rank at which a contributing run has them; of one rank, by name,
    the greatest first in the order of bytes, as trec_eval orders ties. In all, documents of one best rank are taken
    from all topics in turn: the first of each topic, then the second of each, topics in natural order.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        n: how many documents to take, 0 or more. Where the depth-k pool has fewer, it is taken whole; with 0 the pool
            is empty and has the topics of the runs.
        per: ``"topic"`` (default) takes `n` documents of each topic, ``"all"`` `n` of all topics together.
        depth: documents per run and topic among which is chosen, >= 1; default the one on record for the collection
            (``runs.pool_depth``), else 100.
        contributors: ``"pooled"`` (default) for the runs on record as pooled and those of which nobody recorded it,
            ``"all"`` for every run, or run names.
        order: the order in which documents are pooled; default the one in which the field is pooled.

    Returns:
        Pool: the documents in the order in which they were taken, with the runs that have them within `depth`.
        :meth:`Pool.without` keeps of these documents those that others have; it takes no further ones.

    Raises:
        InputError: a number that is no whole number in range, an unknown run, no contributing run, an order that the
            field does not know.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d1"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True)
        >>> ptr.take_pool(runs, n=2).to_frame()[["qid", "docno", "rank", "runs"]]
          qid docno  rank  runs
        0   1    d3     1     1
        1   1    d1     1     2

    Source: Cormack, Palmer and Clarke 1998, Efficient construction of large test collections, SIGIR; Lipani, Zuccon,
    Lupu, Koopman and Hanbury 2016, The impact of fixed-cost pooling strategies on test collection bias, ICTIR.
    """
    size = PoolSize.of(n, per)
    check_pooling(depth, order)
    runs = as_runs(runs)
    common = depth_of(runs, depth).value
    chosen = contributors_of(runs, contributors)
    ranked = runs.in_pool_order(order)
    topics = []
    for t in range(ranked.field.n_topics):
        pool = Pooled.of(ranked.field, t, common, chosen.runs)
        topics.append(Candidates.ordered(ranked.field, t, pool, [pool.best_rank]))
    settings = {**size.settings, "depth": common}
    return pool_of(ranked, cut(topics, size), strategy="take", contributors=chosen, settings=settings)
