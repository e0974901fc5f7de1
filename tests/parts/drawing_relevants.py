"""What figures of relevant documents are drawn of, at random and of names that are hard to draw."""

from __future__ import annotations

import numpy as np
import pandas as pd
from drawing_parts import names


def saturation(n=53, runs=63):
    """Return the `table` of a Saturation of one measure, and the scores of each topic."""
    random = np.random.default_rng(5)
    scores = [np.clip(random.normal(level, 0.25, runs), 0, 1) for level in np.linspace(0, 1.2, n)]
    table = pd.DataFrame(
        {
            "qid": names(n, "topic"),
            "median": [float(np.median(of)) for of in scores],
            "mean": [float(of.mean()) for of in scores],
        }
    )
    return table.assign(saturated=table["median"] >= 1), scores


def minimum_ranks(topics=53, *, depth=100, n=3000):
    """Return the cells and the `topics` of a MinimumRanks."""
    random = np.random.default_rng(6)
    qids = names(topics, "topic")
    rank = random.geometric(0.05, n)
    table = pd.DataFrame({"qid": random.choice(qids, n), "rank": pd.array(rank, dtype="Int64")})
    table.loc[table["rank"] > depth, "rank"] = pd.NA
    if n:
        table.loc[0, "rank"] = depth
    cells = table.groupby(["qid", "rank"], dropna=False).size().rename("documents").reset_index()
    relevant = table.groupby("qid").size().reindex(qids, fill_value=0)
    return cells.astype({"rank": "Int64"}), pd.DataFrame({"qid": qids, "relevant": relevant.to_numpy()})


def pool_costs(n=7):
    """Return the `table` of PoolCosts, and its `agreement` under one measure, with intervals."""
    depths = [1, 2, 5, 10, 20, 50, 100][:n]
    share = np.linspace(0.2, 1, 7)[:n]
    table = pd.DataFrame({"depth": depths, "documents": [800 * depth for depth in depths], "share": share})
    tau = 1 - 0.3 * (1 - share)
    return table, pd.DataFrame({"tau_b": tau, "tau_b_low": tau - 0.05, "tau_b_high": np.minimum(tau + 0.03, 1)})
