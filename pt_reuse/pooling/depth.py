"""Depth-k pooling."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, positive
from pt_reuse._errors import InputError, door
from pt_reuse.engine import tokens
from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.pooling.pool import Pool
from pt_reuse.runs.metadata import pool_note
from pt_reuse.runs.run_set import RunSet


@door
def depth_pool(runs: RunSet, *, depth: int = 100, contributors: str | Iterable[str] = "pooled") -> Pool:
    """Pool the top documents of the contributing runs.

    The depth-k pool of a topic is the union of the first k documents of every contributing run, in the runs' ranking
    order. A run shorter than k contributes all it has.

    Args:
        runs: the field.
        depth: documents per run and topic, >= 1.
        contributors: ``"pooled"`` (default) for the runs marked as pooled, ``"all"`` for every run, or run names.

    Returns:
        Pool: the documents with their contributors and best ranks; its ``table`` lists the contributing runs.

    Raises:
        InputError: a depth that is no whole number of at least 1, an unknown run, no contributing run.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, teams={"A": "x", "B": "y"}, pooled=["B"])
        >>> ptr.depth_pool(runs, depth=1).to_frame()
          qid docno  rank  runs  teams  types
        0   1    d2     1     1      1      0

    Source: Sparck Jones and van Rijsbergen 1975; Harman, TREC overview papers. On TREC-8 ad hoc the depth-100 pool of
    the 71 pooled runs is exactly the 86,830 documents that NIST judged.
    """
    return pool_to_depth(runs, depth, contributors)


def pool_to_depth(runs: RunSet, depth: int, contributors: str | Iterable[str]) -> Pool:
    """Make the pool of :func:`depth_pool` on behalf of `function`, which stands in the errors."""
    if not isinstance(runs, RunSet):
        raise InputError(f"runs must be a RunSet (read_runs or get_runs() makes one), got {type(runs).__name__}.")
    depth = positive("depth", depth, "documents per run and topic")
    chosen = _contributing(runs, contributors)
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
    return Pool(
        TopicDocs(field.topics, np.cumsum(n_docs), tokens.as_words(field.vocabulary)[np.concatenate([none, *docs])]),
        np.concatenate([[0], np.cumsum(np.concatenate([none, *sizes]))]),
        np.concatenate([none, *run]),
        np.concatenate([none, *rank]),
        runs.run_table.iloc[rows],
        {
            "strategy": "depth",
            "depth": depth,
            "contributors": contributors if isinstance(contributors, str) else "named",
            "order": runs.order,
            **({"pooled": note} if contributors == "pooled" and (note := pool_note(runs.run_table)) else {}),
        },
    )


def _contributing(runs: RunSet, contributors: str | Iterable[str]) -> NDArray[np.bool_]:
    if isinstance(contributors, str):
        if contributors in runs and contributors not in ("pooled", "all"):
            raise InputError(f"contributors is the name of a run; give run names as a list: [{contributors!r}].")
        choice("contributors", contributors, ("pooled", "all"))
        chosen = runs.pooled if contributors == "pooled" else np.ones(len(runs), dtype=bool)
        if not chosen.any():
            raise InputError("no run is marked as pooled. Pass contributors='all', or mark runs with pooled=.")
        return chosen
    if not isinstance(contributors, Iterable):
        raise InputError(f"contributors must be 'pooled', 'all' or run names, got {type(contributors).__name__}.")
    names = list(contributors)
    unknown = [name for name in names if name not in runs]
    if unknown:
        near = get_close_matches(str(unknown[0]), runs.names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There is {examples(runs.names)}."
        raise InputError(f"contributors: {examples(unknown)} not among the {count(len(runs), 'run')}. {hint}")
    if not names:
        raise InputError("contributors names no run.")
    chosen = np.zeros(len(runs), dtype=bool)
    chosen[[runs.row(name) for name in names]] = True
    return chosen
