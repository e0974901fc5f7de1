"""Pools of a given number of documents, by best rank (take-N) or by fused scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pt_reuse._errors import door
from pt_reuse.arrays.fusion import Fusion
from pt_reuse.data.run_reading import as_runs
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import check_pooling, depth_of
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.taking import Candidates, Pooled, PoolSize, cut, pool_of


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
        >>> ptr.pools.take_pool(runs, n=2).to_frame()[["qid", "docno", "rank", "runs"]]
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


@door
def fusion_pool(
    runs: Any,
    n: int,
    *,
    method: str = "rrf",
    per: str = "topic",
    k: float | None = None,
    p: float | None = None,
    norm: str | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
) -> Pool:
    """Pool the `n` documents of the depth-k pool with the highest fused scores, of each topic or in all.

    The lists of the contributing runs are cut at `depth` and then fused, topic by topic; what stands below counts for
    nothing, not even for the normalisation of scores. Documents are ordered by fused score; those of one score by best
    rank, then by name, the greatest first in the order of bytes. Fused scores are equal when they agree in 12 digits.
    In all, documents that agree in score and best rank are taken from all topics in turn: the first of each topic, then
    the second of each, topics in natural order.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        n: how many documents to take, 0 or more. Where the depth-k pool has fewer, it is taken whole; with 0 the pool
            is empty and has the topics of the runs.
        method: ``"rrf"`` (default), reciprocal rank fusion, the sum of 1 / (k + rank); ``"rbp"``, rank-biased
            centroids, the sum of (1 - p) p^(rank - 1); ``"combsum"``, the sum of the normalised scores; ``"combmnz"``,
            that times the number of runs that have the document; ``"borda"``: of c documents a run gives c - rank + 1
            points to each that it has, and (c - l + 1) / 2 to each that it lacks, l the length of its list.
        per: ``"topic"`` (default) takes `n` documents of each topic, ``"all"`` `n` of all topics together, by
            their scores. Borda's points grow with the number of documents of a topic, by which they are divided first.
        k: of ``"rrf"``, >= 0; default 60.
        p: of ``"rbp"``, at least 0 and below 1; default .8.
        norm: of ``"combsum"`` and ``"combmnz"``, how the scores of each list are normalised: ``"min-max"`` (default)
            to 0 for the lowest and 1 for the highest, ``"max"``, ``"sum"``, ``"zmuv"`` or ``"rank"``. As in ranx, a
            list of equal scores has 0 for all by ``"min-max"``.
        depth: documents per run and topic that are fused, >= 1; default the one on record for the collection
            (``runs.pool_depth``), else 100.
        contributors: ``"pooled"`` (default) for the runs on record as pooled and those of which nobody recorded it,
            ``"all"`` for every run, or run names.
        order: the order in which documents are pooled, which gives their ranks; default the one in which the field is
            pooled. Scores are those that were read.

    Returns:
        Pool: the documents, those of the highest score first; ``priority`` is the fused score. The runs that have a
        document count within `depth`. :meth:`Pool.without` keeps the documents that others have; it fuses nothing anew.

    Raises:
        InputError: an unknown method, an option that the method does not have, a number out of range, an unknown run,
            no contributing run, an order that the field does not know.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d2"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True)
        >>> ptr.pools.fusion_pool(runs, n=2).to_frame()[["qid", "docno", "rank", "priority"]].round(4)
          qid docno  rank  priority
        0   1    d2     2    0.0323
        1   1    d3     1    0.0164

    Source: Cormack, Clarke and Büttcher 2009 (RRF); Bailey, Moffat, Scholer and Thomas 2017 (RBC); Fox and Shaw 1994
    (CombSUM, CombMNZ); Aslam and Montague 2001 (Borda). Scores equal those of ranx to 11 digits. As an order of pools:
    Moffat, Webber and Zobel 2007, Strategic system comparisons via targeted relevance judgments, SIGIR (RBP).
    """
    fusion = Fusion.of(method, k=k, p=p, norm=norm)
    size = PoolSize.of(n, per)
    check_pooling(depth, order)
    runs = as_runs(runs)
    common = depth_of(runs, depth).value
    chosen = contributors_of(runs, contributors)
    ranked = runs.in_pool_order(order)
    topics = []
    for t in range(ranked.field.n_topics):
        pool = Pooled.of(ranked.field, t, common, chosen.runs)
        score = fusion.scores(pool.rows)
        keys = [-fusion.between_topics(score), pool.best_rank]
        topics.append(Candidates.ordered(ranked.field, t, pool, keys, priority=score))
    settings = {**fusion.options, **size.settings, "depth": common}
    return pool_of(ranked, cut(topics, size), strategy=fusion.method, contributors=chosen, settings=settings)
