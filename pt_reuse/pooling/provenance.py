"""What the documents of a pool say of how they were chosen: by which strategy, and why."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse.pooling.chosen import Chosen
from pt_reuse.pooling.sampled_judgments import INCLUSION, STRATUM

_PRIORITY = "priority"


def provenance_of(pool: Chosen) -> pd.DataFrame:
    """Return how each document of a pool was chosen, as its label is to keep it.

    Args:
        pool: the pool.

    Returns:
        DataFrame: one row per document: the columns of the pool; and ``strategy`` if one is known, and ``reason`` if
        runs or a draw brought the documents, where the columns say neither.
    """
    if pool.strategy is None:
        return pool.columns
    of_all: dict[str, list[str] | list[str | None]] = {"strategy": [pool.strategy] * len(pool)}
    if pool.unsampled is not None or len(pool.entries):
        of_all["reason"] = _reasons(pool)
    known = pool.columns.copy()
    for name, cells in of_all.items():
        said = pd.Series(cells, dtype=object)
        known[name] = known[name].where(known[name].notna(), said) if name in known else said
    return known


def _reasons(pool: Chosen) -> list[str | None]:
    """Return why each document was chosen: ``rank 3 of run X, best of 4 runs``; of a sample, how it was drawn."""
    if pool.unsampled is not None:
        drawn = zip(pool.columns[STRATUM].tolist(), pool.columns[INCLUSION].tolist(), strict=True)
        return [f"drawn from stratum {stratum} with probability {chance:.4g}" for stratum, chance in drawn]
    names = np.array([*pool.run_table["name"], None], dtype=object)[pool.entries.best_run].tolist()
    ranks, sizes = pool.entries.best_rank.tolist(), pool.entries.sizes.tolist()
    places = [
        None if not n else f"rank {rank} of run {name}" + (f", best of {count(n, 'run')}" if n > 1 else "")
        for name, rank, n in zip(names, ranks, sizes, strict=True)
    ]
    if _PRIORITY not in pool.columns:
        return places
    priorities = pool.columns[_PRIORITY].tolist()
    return [f"priority {one:.4g}, {place}" if place else None for one, place in zip(priorities, places, strict=True)]
