"""Figures that need a pool: what is in it, and what a shallower one would have changed."""

from __future__ import annotations

import numpy as np

from pt_reuse.stats.correlation import correlations
from pt_reuse.verification.computed import Computed, NotComputedError
from pt_reuse.verification.names import first_and_last
from pt_reuse.verification.of_runs import lacking
from pt_reuse.verification.parameters import Given
from pt_reuse.verification.replay import PoolKey, Replay

#: how a ranking of runs compares with another, as in :func:`pt_reuse.stats.correlation.correlations`
AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
#: the order of the pool where it is that of scoring
SAME = "same"


#: the runs among which rankings are compared, seen from those that made the pool
AMONG = ("all", "others", "others of the type", "other types")


def pool_of(given: Given) -> PoolKey:
    """Return which pool the parameters of a figure name."""
    order = given["order"] if given.get("pool_order", SAME) == SAME else given["pool_order"]
    return PoolKey(order, given["depth"], given["contributors"])


def count_pool(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents of a depth-k pool, and those by which it differs from the judged ones."""
    pool, judged = replay.pool(pool_of(given)), replay.judged_in(pool_of(given)).counts(rel=given["rel"])
    # runs may have topics that were not judged
    sizes = pool.documents.sizes[np.isin(pool.topics, replay.qrels.topics)]
    missed = replay.judged_in(pool_of(given), outside=True).counts()
    return Computed(
        {
            "contributing runs": len(pool.run_table),
            "documents": int(sizes.sum()),
            "relevant": int(judged["relevant"].sum()),
            "smallest topic": int(sizes.min(initial=sizes.max(initial=0))),
            "largest topic": int(sizes.max(initial=0)),
            "not judged": int(sizes.sum()) - int(judged["judged"].sum()),
            "judged but not pooled": int(missed["judged"].sum()),
            "topics denser than 1/3": int((judged["density"] > 1 / 3).sum()),
            "topics denser than 1/2": int((judged["density"] > 1 / 2).sum()),
        }
    )


def compare_shallow(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Keep the judgments of another pool and rank the runs by them."""
    key = pool_of(given)
    pool, kept = replay.pool(key), replay.judged_in(key)
    means = replay.means(given["order"], given["measure"], given["complete"], within=key)
    if given["decimals_of_scores"] is not None:
        means = means.round(given["decimals_of_scores"])
    if given["truth"] is None:
        truth = replay.means(given["order"], given["measure"], given["complete"])
    else:
        truth = replay.published(given["truth"])
    if given["among"] != "all":
        means = means[_compared(replay, given)]
    found = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return Computed(
        {
            "documents": int(pool.documents.sizes[np.isin(pool.topics, replay.qrels.topics)].sum()),
            "judged": len(kept),
            "relevant": int(kept.counts(rel=given["rel"])["relevant"].sum()),
            **{name: float(found[name]) for name in AGREEMENT},
        }
    )


def count_by_best_rank(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the relevant documents by the best rank at which a contributing run has them: ``"1-10"``, ``"never"``."""
    pool, labels = replay.pool(pool_of(given)), replay.qrels.arrays.labels
    rows = replay.rows_in(pool_of(given))
    relevant = (rows >= 0) & (np.append(labels, np.int16(-1))[rows] >= given["rel"])
    rank = pool.to_frame().loc[relevant, "rank"]
    found = {name: int(rank.between(*first_and_last(name)).sum()) for name in names if name != "never"}
    return Computed({**found, "never": int((labels >= given["rel"]).sum() - relevant.sum())})


def _compared(replay: Replay, given: Given) -> list[str]:
    """Return the runs that did not make the pool: all of them, or those of its runs' types or of other types."""
    table = replay.runs(given["order"]).run_table
    if given["among"] != "others" and (none := lacking(table, "type")):
        raise NotComputedError(none)
    made = table["name"].isin(replay.pool(pool_of(given)).run_table["name"])
    alike = table["type"].isin(table["type"][made])
    chosen = {"others": ~made, "others of the type": ~made & alike, "other types": ~alike}[given["among"]]
    return table["name"][chosen].tolist()
