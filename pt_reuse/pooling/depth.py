"""Depth-k pooling."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import InputError, choice, positive
from pt_reuse.engine import tokens
from pt_reuse.pooling.pool import Pool
from pt_reuse.runs import RunSet


def depth_pool(runs: RunSet, *, depth: int = 100, contributors: str | Iterable[str] = "pooled") -> Pool:
    """Pool the top documents of the contributing runs.

    The depth-k pool of a topic is the union of the first k documents of every contributing run, in the runs' ranking
    order. A run shorter than k contributes all it has.

    Args:
        runs: the field.
        depth: documents per run and topic, >= 1.
        contributors: ``"pooled"`` (default) for the runs marked as pooled, ``"all"`` for every run, or run names.

    Returns:
        Pool: the documents with their contributors and best ranks.

    Raises:
        InputError: a depth below 1, an unknown run, no contributing run.

    Source: Sparck Jones and van Rijsbergen 1975; Harman, TREC overview papers. On TREC-8 ad hoc the depth-100 pool of
    the 71 pooled runs is exactly the 86,830 documents that NIST judged.
    """
    if not isinstance(runs, RunSet):
        raise InputError(f"depth_pool: runs must be a RunSet (read_runs makes one), got {type(runs).__name__}.")
    depth = positive("depth_pool", "depth", depth, "documents per run and topic")
    chosen = _contributors(runs, contributors)
    label = contributors if isinstance(contributors, str) else f"{int(chosen.sum())} named runs"
    field = runs.field
    rows = np.flatnonzero(chosen).astype(np.int32)
    place = np.zeros(len(runs), dtype=np.int32)
    place[rows] = np.arange(len(rows))
    docs, sizes, run, rank, n_docs = [], [], [], [], [0]
    for t in range(field.n_topics):
        codes, of_run, at_rank = field.top(t, depth, chosen)
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        new = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else np.zeros(0, np.int64)
        docs.append(field.docs(t)[codes[new]])
        sizes.append(np.diff(np.append(new, len(codes))))
        run.append(place[of_run[order]])
        rank.append(at_rank[order])
        n_docs.append(len(new))
    none = np.zeros(0, dtype=np.int32)
    every = np.concatenate(docs) if docs else none
    return Pool(
        field.topics,
        np.cumsum(n_docs),
        tokens.as_words(field.vocabulary)[every],
        np.concatenate([[0], np.cumsum(np.concatenate(sizes) if sizes else none)]),
        np.concatenate(run) if run else none,
        np.concatenate(rank) if rank else none,
        runs.table.iloc[rows],
        {"strategy": "depth", "depth": depth, "contributors": label, "order": runs.order},
    )


def _contributors(runs: RunSet, contributors: str | Iterable[str]) -> NDArray[np.bool_]:
    if isinstance(contributors, str):
        choice("depth_pool", "contributors", contributors, ("pooled", "all"))
        chosen = runs.pooled if contributors == "pooled" else np.ones(len(runs), dtype=bool)
        if not chosen.any():
            raise InputError("depth_pool: no run is marked as pooled. Pass contributors='all', or mark runs with pooled=.")
        return chosen
    chosen = np.zeros(len(runs), dtype=bool)
    chosen[[runs.row(name) for name in contributors]] = True
    if not chosen.any():
        raise InputError("depth_pool: contributors names no run.")
    return chosen
