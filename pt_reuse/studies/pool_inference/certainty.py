"""How far an inferred pool explains the judgments, and the judgments fill the pool."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse.studies.pool_inference.cliff import Cliff
from pt_reuse.studies.pool_inference.evidence import Evidence
from pt_reuse.studies.pool_inference.fitting import Fit, best_of
from pt_reuse.studies.pool_inference.kinds_of_topics import MOST_UNJUDGED
from pt_reuse.studies.pool_inference.search import Search, Try


class Certainty(Enum):
    """How nearly the pool of the inferred runs is the judged set, from all to nothing."""

    EXACT = "exact"
    NEARLY = "nearly exact"
    MOST = "most"
    PARTIAL = "partial"
    NONE = "none"


#: the least share, of the judgments that are explained and of the pool that is judged, for each but the last
_LEAST = {Certainty.NEARLY: 0.95, Certainty.MOST: 0.5, Certainty.PARTIAL: 0.0}


def certainty_of(summary: pd.DataFrame, found: Try) -> Certainty:
    """Return how certain a pool is; where the judged documents do not end at its depth, it is partial.

    It is partial, too, where topics are set apart that may only lack judgments.

    Args:
        summary: one row with ``judged explained unjudged topics_apart``.
        found: the answer.
    """
    judged, explained, unjudged = _numbers(summary)
    if not found.fit.runs.any():
        return Certainty.NONE
    if explained == judged and not unjudged:
        return Certainty.EXACT
    if not found.cliff.is_there or _may_lack(summary, found):
        return Certainty.PARTIAL
    share = min(explained / judged, explained / (explained + unjudged))
    return next(certainty for certainty, least in _LEAST.items() if share >= least)


def _may_lack(summary: pd.DataFrame, found: Try) -> bool:
    """Return whether the topics that are set apart may be of the same pool, and only lack more of its judgments.

    So it is where the pool of the others lacks nearly as many judgments as set a topic apart.
    """
    _, explained, unjudged = _numbers(summary)
    limit = max(found.fitter.tolerance, MOST_UNJUDGED)
    return bool(summary["topics_apart"].iloc[0]) and unjudged > limit / 2 * (explained + unjudged)


def explain(certainty: Certainty, summary: pd.DataFrame, search: Search, better: Fit) -> str:
    """Return what is said of a certainty.

    Args:
        certainty: of the pool.
        summary: one row with ``judged explained unjudged topics_apart``.
        search: what was tried, and the answer.
        better: depths of the topics that may fit better.
    """
    judged, explained, unjudged = _numbers(summary)
    found, fit = search.best, search.best.fit
    most = search.asked.tolerances[-1]
    larger = min(max(2 * most, MOST_UNJUDGED), (1 + most) / 2)
    if certainty is Certainty.NONE:
        where = (
            f" to depth {int(fit.depths.max())}" if fit.depths.any() else ", or the judged documents end at no depth"
        )
        words = (
            f"no run is judged closely enough{where}. The judgments are a sample, or of other runs, or documents were "
            f"dropped or renamed after pooling (tolerance={larger:g} allows for more of them)."
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
        words += _cliff_in_words(found.cliff)
        if _may_lack(summary, found):
            words += (
                " The topics that are set apart may be of the same pool and only lack more of its judgments: "
                f"tolerance={larger:g} allows for it."
            )
    if best_of([fit, better]) is better and better is not fit:
        low, high = depth_range(better.depths)
        words += f" With a depth for each topic ({low} to {high}) a pool fits better: depth='topic'."
    return f"{certainty.value}: {words}"


def _cliff_in_words(cliff: Cliff) -> str:
    """Return what the share of new documents that is judged, at the depth and one rank below, says of the depth."""
    if np.isnan(cliff.new_below):
        return ""
    at, below = f"{cliff.new_at_depth:.1%}", f"{cliff.new_below:.1%}"
    if cliff.is_there:
        return f" Of the new documents {at} are judged at the depth, {below} one rank below: the pool ends there."
    return (
        f" There is no cliff: of the new documents {at} are judged at the depth and {below} one rank below, so "
        "the pool hardly ends there."
    )


def range_in_words(table: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Return why it is open how many runs contributed, nothing where it is not.

    Args:
        table: one row per run with ``contributed evidence``.
        summary: one row with ``least_contributors most_contributors``.
    """
    least, most = (int(summary.iloc[0][name]) for name in ("least_contributors", "most_contributors"))
    if least == most:
        return ""
    needed, together, covered = (
        int((table["evidence"] == kind.value).sum()) for kind in (Evidence.NEEDED, Evidence.TOGETHER, Evidence.COVERED)
    )
    parts = [f"{needed:,} {'is' if needed == 1 else 'are'} needed"] if needed else []
    parts += [f"at least {least - needed:,} of {together:,} that are needed together"] if together else []
    parts += [f"{covered:,} {'is' if covered == 1 else 'are'} covered"] if covered else []
    named = int(table["contributed"].sum())
    return f" Between {least:,} and {most:,} runs contributed, {named:,} are taken to have: {', '.join(parts)}."


def apart_in_words(by_topic: pd.DataFrame) -> str:
    """Return which topics are set apart, nothing where none is.

    Args:
        by_topic: one row per topic with ``qid judged apart``.
    """
    apart = by_topic[by_topic["apart"]]
    if apart.empty:
        return ""
    return (
        f" All this holds for {len(by_topic) - len(apart):,} of {count(len(by_topic), 'topic')}. "
        f"{count(len(apart), 'topic')} {'is' if len(apart) == 1 else 'are'} set apart ({examples(apart['qid'])}): the "
        f"pool of these contributors does not explain the {count(int(apart['judged'].sum()), 'judgment')} there. Other "
        "runs were pooled, of this field or not (infer_pool(runs, qrels.select(found.apart)) tries the former), or the "
        "judgments there are a sample, or lack documents."
    )


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
