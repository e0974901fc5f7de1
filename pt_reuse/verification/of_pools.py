"""Figures that need a pool: what is in it, and what a shallower one would have changed."""

from __future__ import annotations

import numpy as np

from pt_reuse.stats.correlation import correlations
from pt_reuse.verification.computed import Computed
from pt_reuse.verification.names import first_and_last
from pt_reuse.verification.parameters import Given
from pt_reuse.verification.replay import PoolKey, Replay

#: how a ranking of runs compares with another, as in :func:`pt_reuse.stats.correlation.correlations`
AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
#: the order of the pool where it is that of scoring
SAME = "same"


def pool_of(given: Given) -> PoolKey:
    """Return which pool the parameters of a figure name."""
    return PoolKey(given["order"], given["depth"], given["contributors"])


def count_pool(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents of a depth-k pool, and those by which it differs from the judged ones."""
    pool, judged = replay.pool(pool_of(given)), replay.judged_in(pool_of(given)).counts()
    sizes, missed = pool.documents.sizes, replay.judged_in(pool_of(given), outside=True).counts()
    return Computed(
        {
            "contributing runs": len(pool.run_table),
            "documents": len(pool),
            "relevant": int(judged["relevant"].sum()),
            "smallest topic": int(sizes.min(initial=sizes.max(initial=0))),
            "largest topic": int(sizes.max(initial=0)),
            "not judged": len(pool) - int(judged["judged"].sum()),
            "judged but not pooled": int(missed["judged"].sum()),
        }
    )


def compare_shallow(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Keep the judgments of another pool and rank the runs by them."""
    key = pool_of(given)
    if given["pool_order"] != SAME:
        key = key._replace(order=given["pool_order"])
    kept = replay.judged_in(key)
    means = replay.means(given["order"], given["measure"], given["complete"], within=key)
    if given["decimals_of_scores"] is not None:
        means = means.round(given["decimals_of_scores"])
    if given["truth"] is None:
        truth = replay.means(given["order"], given["measure"], given["complete"])
    else:
        truth = replay.published(given["truth"])
    found = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return Computed(
        {
            "documents": len(replay.pool(key)),
            "judged": len(kept),
            "relevant": int(kept.counts()["relevant"].sum()),
            **{name: float(found[name]) for name in AGREEMENT},
        }
    )


def count_by_best_rank(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the relevant documents by the best rank at which a contributing run has them: ``"1-10"``, ``"never"``."""
    pool, labels = replay.pool(pool_of(given)), replay.qrels.arrays.labels
    rows = replay.rows_in(pool_of(given))
    relevant = (rows >= 0) & (np.append(labels, np.int16(-1))[rows] > 0)
    rank = pool.to_frame().loc[relevant, "rank"]
    found = {name: int(rank.between(*first_and_last(name)).sum()) for name in names if name != "never"}
    return Computed({**found, "never": int((labels > 0).sum() - relevant.sum())})
