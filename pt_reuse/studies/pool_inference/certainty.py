"""How far an inferred pool explains the judgments, and the judgments fill the pool."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.studies.pool_inference.judged_ranks import Settled


class Certainty(Enum):
    """How nearly the pool of the inferred runs is the judged set, from all to nothing."""

    EXACT = "exact"
    NEARLY = "nearly exact"
    MOST = "most"
    PARTIAL = "partial"
    NONE = "none"


#: the least share, of the judgments that are explained and of the pool that is judged, for each but the last
_LEAST = {Certainty.NEARLY: 0.95, Certainty.MOST: 0.5, Certainty.PARTIAL: 0.0}


def certainty_of(summary: pd.DataFrame, settled: Settled) -> Certainty:
    """Return how certain a pool is.

    Args:
        summary: one row with ``judged explained unjudged``.
        settled: the depths, and the runs that are judged to them.
    """
    judged, explained, unjudged = _numbers(summary)
    if not settled.runs.any():
        return Certainty.NONE
    if explained == judged and not unjudged:
        return Certainty.EXACT
    share = min(explained / judged, explained / (explained + unjudged))
    return next(certainty for certainty, least in _LEAST.items() if share >= least)


def explain(certainty: Certainty, summary: pd.DataFrame, settled: Settled, better: Settled) -> str:
    """Return what is said of a certainty.

    Args:
        certainty: of the pool.
        summary: one row with ``judged explained unjudged``.
        settled: the depths, and the runs that are judged to them.
        better: depths of the topics that may fit better.
    """
    judged, explained, unjudged = _numbers(summary)
    if certainty is Certainty.NONE:
        where = f"to depth {int(settled.depths.max())}" if settled.depths.any() else "to any depth"
        words = (
            f"no run is judged closely enough {where}. The judgments are a sample, or of other runs, or "
            "documents were dropped or renamed after pooling (try a tolerance)."
        )
    elif certainty is Certainty.EXACT:
        words = "the pool of these runs is the judged set."
    else:
        words = f"these runs explain {_per_cent(explained, judged)} of the judgments"
        if unjudged:
            part = _per_cent(unjudged, explained + unjudged)
            lack = "lacks" if unjudged == 1 else "lack"
            words += f", and {count(unjudged, 'document')} in their pool ({part}) {lack} a judgment"
        words += (
            "; the rest has another origin, or some pooled runs are not in the field or not recognised."
            if explained < judged
            else "."
        )
    if better.difference < settled.difference:
        low, high = depth_range(better.depths)
        words += f" With a depth for each topic ({low} to {high}) a pool fits better: depth='topic'."
    return f"{certainty.value}: {words}"


def depth_range(depths: NDArray[np.int64]) -> tuple[int, int]:
    """Return the least and the largest depth of the topics that have one, 0 where none has."""
    used = depths[depths > 0]
    return int(used.min(initial=int(used.max(initial=0)))), int(used.max(initial=0))


def _numbers(summary: pd.DataFrame) -> tuple[int, int, int]:
    row = summary.iloc[0]
    return int(row["judged"]), int(row["explained"]), int(row["unjudged"])


def _per_cent(part: int, whole: int) -> str:
    """Write a share; one that is not all or nothing never looks like it."""
    if 0 < part < whole:
        return "below 0.1%" if part / whole < 0.001 else f"{min(part / whole, 0.999):.1%}"
    return "all" if part else "none"
