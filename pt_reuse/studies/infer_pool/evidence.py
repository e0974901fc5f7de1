"""What speaks for each run having contributed, and how certain an answer is."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.studies.infer_pool.fitting import MOST_UNJUDGED, Fit, best_of
from pt_reuse.studies.infer_pool.judged_ranks import JudgedRanks
from pt_reuse.studies.infer_pool.search import Cliff, Search, Try, depth_range


class Evidence(Enum):
    """What speaks for a run, from proof to none, in the words that tables show."""

    NEEDED = "needed"
    TOGETHER = "needed together"
    COVERED = "covered"
    NOT_POOLED = "not pooled"
    NO_DOCUMENTS = "no documents"


#: evidence that leaves it open whether a run was pooled
UNSURE = (Evidence.COVERED.value, Evidence.TOGETHER.value)
_WORDS = tuple(kind.value for kind in Evidence)
_NEEDED, _TOGETHER, _COVERED, _NOT_POOLED, _ = _WORDS
#: where a judged document that the pool does not have comes from
_ORIGINS = ("below the depth", "other run", "no run")
_NODES = 10_000  # of the search for the fewest runs


def run_evidence(
    fit: Fit, has_documents: NDArray[np.bool_]
) -> tuple[NDArray[np.object_], NDArray[np.int64], tuple[int, int]]:
    """Return (runs,) the evidence, in words, and the group of runs needed together, from 1, 0 for none.

    And how many runs contributed, at least and at most, if the depths are right.
    """
    from scipy.sparse.csgraph import connected_components

    tops, pooled = fit.tops, fit.runs
    needed = pooled & (tops.alone(pooled)[0] > 0)
    # the judged documents of the pool that no needed run has
    left_open = tops.has[:, tops.judged & (tops.times(pooled) > 0) & (tops.times(needed) == 0)]
    together = pooled & (left_open.sum(axis=1) > 0)
    has, group, least = left_open[together], np.zeros(len(pooled), dtype=np.int64), int(needed.sum())
    if together.any():
        # runs that share a document are one group
        group[together] = connected_components(has @ has.T)[1] + 1
        least += _fewest(np.unique(has.toarray().T > 0, axis=0))
    kind = np.select([needed, together, pooled, has_documents], [0, 1, 2, 3], default=4)
    return np.array(_WORDS, dtype=object)[kind], group, (least, int(pooled.sum()))


def _fewest(has: NDArray[np.bool_]) -> int:
    """Return how few columns it takes, at least, that every row has a mark in one of them; each row has a mark."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = has.shape[1]
    # where the search ends early, its bound holds all the same
    found = milp(
        np.ones(n),
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(has.astype(float), lb=1),
        options={"node_limit": _NODES},
    )
    return max(1, int(np.ceil(found.mip_dual_bound - 1e-6)))


def evidence_table(runs: RunSet, found: Try, words: NDArray[np.object_], groups: NDArray[np.int64]) -> pd.DataFrame:
    """Return the table of an inferred pool."""
    ranks, fit = found.fitter.ranks, found.fit
    covered = [] if (words == _NOT_POOLED).any() else [_COVERED]
    contributed = np.isin(words.astype(str), [_NEEDED, _TOGETHER, *covered])
    tops = fit.tops
    alone, alone_unjudged = tops.alone(fit.runs)
    names = np.array(runs.names, dtype=object)
    nearest, common = np.full(len(runs), None, dtype=object), np.full(len(runs), np.nan)
    shared = tops.in_common(contributed)
    shared[np.flatnonzero(contributed), np.arange(int(contributed.sum()))] = 0  # a run is not its own nearest
    some = shared.max(axis=1, initial=0) > 0
    if some.any():
        nearest[some] = names[contributed][shared[some].argmax(axis=1)]
        common[some] = shared[some].max(axis=1) / tops.entries[some]
    # lists differ in length: the first unjudged rank of a run is where its count of missing documents leaves 0
    first = (ranks.counts[1] == 0).sum(axis=1)
    return runs.run_table[["name", "team", "type", "pooled"]].assign(
        contributed=contributed,
        evidence=pd.Series(words, dtype=object),
        group=pd.Series(groups, dtype="Int64").mask(groups == 0),
        judged_to=found.fitter.judged_to,
        entries=tops.entries,
        missing=tops.missing,
        first_missing=pd.Series(first, dtype="Int64").mask(first > ranks.longest),
        alone=alone,
        alone_unjudged=alone_unjudged,
        nearest=pd.Series(nearest, dtype=object),
        common=common,
    )


def unexplained_documents(runs: RunSet, qrels: Qrels, ranks: JudgedRanks, fit: Fit) -> pd.DataFrame:
    """Return the judged documents that are not in the pool."""
    tops, judgments = fit.tops, qrels.arrays
    explained = np.zeros(len(qrels), dtype=bool)
    explained[tops.row[tops.judged & (tops.times(fit.runs) > 0)]] = True
    best_rank, best_run = np.zeros(len(qrels), dtype=np.int64), np.full(len(qrels), -1, dtype=np.int64)
    deeper = np.zeros(len(qrels), dtype=bool)
    every = np.ones(len(runs), dtype=bool)
    for topic in ranks.each():
        judged = np.flatnonzero(topic.judged)
        of = topic.row[judged]
        best_rank[of], best_run[of] = topic.best(every)[judged], topic.best_run()[judged]
        deeper[of] = topic.best(fit.runs)[judged] > 0
    rows = np.flatnonzero(~explained)
    origin = np.select([deeper[rows], best_run[rows] >= 0], _ORIGINS[:2], default=_ORIGINS[2])
    documents = judgments.documents.take(rows)
    return pd.DataFrame(
        {
            "qid": documents.qids(),
            "docno": pd.Series(documents.docnos(), dtype=object),
            "label": judgments.labels[rows].astype(np.int64),
            "origin": origin.astype(object),
            "best_rank": pd.Series(best_rank[rows], dtype="Int64").mask(best_rank[rows] == 0),
            "best_run": pd.Series(np.array([*runs.names, None], dtype=object)[best_run[rows]], dtype=object),
        }
    )


def topic_table(
    qrels: Qrels, ranks: JudgedRanks, fit: Fit, unexplained: pd.DataFrame, apart: NDArray[np.bool_]
) -> pd.DataFrame:
    """Return what the pool explains on each topic, and which topics are set apart."""
    tops, topics = fit.tops, qrels.topics
    pool = tops.times(fit.runs) > 0
    unjudged = np.bincount(tops.topic[pool & ~tops.judged], minlength=len(topics))
    judged = qrels.arrays.documents.sizes
    left = pd.crosstab(unexplained["qid"], unexplained["origin"]).reindex(index=topics, columns=_ORIGINS, fill_value=0)
    deeper, other, nowhere = left.to_numpy(dtype=np.int64).T
    return pd.DataFrame(
        {
            "qid": topics,
            "depth": fit.depths,
            "own_depth": ranks.topic_depths(fit.runs),
            "judged": judged,
            "explained": judged - deeper - other - nowhere,
            "deeper": deeper,
            "other": other,
            "nowhere": nowhere,
            "unjudged": unjudged,
            "apart": apart,
        }
    )


def rank_table(ranks: JudgedRanks, deep: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the share of documents at each rank that is judged, of the runs judged as deep and of all others."""
    entries, missing = np.diff(ranks.counts)
    new, new_judged = np.zeros((2, ranks.longest + 1), dtype=np.int64)
    for topic in ranks.each():
        rank = topic.best(deep)
        new += np.bincount(rank, minlength=ranks.longest + 1)
        new_judged += np.bincount(rank[topic.judged], minlength=ranks.longest + 1)
    mine, others = entries[deep].sum(axis=0), entries[~deep].sum(axis=0)
    return pd.DataFrame(
        {
            "rank": np.arange(1, ranks.longest + 1),
            "entries": mine,
            "judged": _share(mine - missing[deep].sum(axis=0), mine),
            "other_entries": others,
            "other_judged": _share(others - missing[~deep].sum(axis=0), others),
            "new": new[1:],
            "new_judged": _share(new_judged[1:], new[1:]),
        }
    )


def totals(found: Try, contributors: tuple[int, int], by_topic: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers over all topics that are not set apart, one row."""
    apart = by_topic["apart"]
    sums = by_topic.loc[~apart, ["judged", "explained", "deeper", "other", "nowhere", "unjudged"]].sum()
    return (
        sums.to_frame()
        .T.astype(np.int64)
        .assign(
            **asdict(found.cliff),
            depth_up_to=found.fit.up_to,
            least_contributors=contributors[0],
            most_contributors=contributors[1],
            bits=found.fit.bits,
            topics_apart=int(apart.sum()),
            judged_apart=int(by_topic.loc[apart, "judged"].sum()),
        )
    )


def confusion(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs by what is on record and by evidence; the last row, if any are, is of those not on record."""
    recorded, unknown = table["pooled"], table["pooled"].isna()
    rows = ([] if unknown.all() else [True, False]) + ([pd.NA] if unknown.any() else [])
    chosen = [unknown if row is pd.NA else (recorded == row).fillna(False) for row in rows]
    counts = [table["evidence"][mask].value_counts().reindex(_WORDS, fill_value=0) for mask in chosen]
    found = pd.DataFrame(counts, columns=_WORDS).reset_index(drop=True)
    found.insert(0, "pooled", pd.array(rows, dtype="boolean"))
    return found


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


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
    """Return how certain a pool is; where the judged documents do not end at its depth, it is partial."""
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
    """Return whether the topics that are set apart may be of the same pool, and only lack more of its judgments."""
    _, explained, unjudged = _numbers(summary)
    limit = max(found.fitter.tolerance, MOST_UNJUDGED)
    return bool(summary["topics_apart"].iloc[0]) and unjudged > limit / 2 * (explained + unjudged)


def explain(
    certainty: Certainty,
    search: Search,
    better: Fit,
    table: pd.DataFrame,
    by_topic: pd.DataFrame,
    summary: pd.DataFrame,
) -> str:
    """Return the explanation of a result: its certainty, who may have contributed, and topics set apart."""
    judged, explained, unjudged = _numbers(summary)
    found, fit, most = search.best, search.best.fit, search.tolerances[-1]
    larger = f"tolerance={min(max(2 * most, MOST_UNJUDGED), (1 + most) / 2):g}"
    words = f"{certainty.value}: "
    if certainty is Certainty.NONE:
        deep = f" to depth {int(fit.depths.max())}" if fit.depths.any() else ", or the judged documents end at no depth"
        words += (
            f"no run is judged closely enough{deep}. The judgments are a sample, or of other runs, or documents were "
            f"dropped or renamed after pooling ({larger} allows for more of them)."
        )
    elif certainty is Certainty.EXACT:
        words += "the pool of these runs is the judged set."
    else:
        words += f"these runs explain {_per_cent(explained, judged)} of the judgments"
        if unjudged:
            part, lack = _per_cent(unjudged, explained + unjudged), "lacks" if unjudged == 1 else "lack"
            words += f", and {count(unjudged, 'document')} in their pool ({part}) {lack} a judgment"
        if explained < judged:
            words += "; the rest has another origin, or some pooled runs are not in the field or not recognised"
        words += f".{_cliff_in_words(found.cliff)}"
        if _may_lack(summary, found):
            words += f" The topics set apart may be of this pool and lack more of its judgments: {larger} allows it."
    if best_of([fit, better]) is better and better is not fit:
        low, high = depth_range(better.depths)
        words += f" With a depth for each topic ({low} to {high}) a pool fits better: depth='topic'."
    return words + _range_in_words(table, summary) + _apart_in_words(by_topic)


def _cliff_in_words(cliff: Cliff) -> str:
    """Return what the share of new documents that is judged, at the depth and one rank below, says of the depth."""
    if np.isnan(cliff.new_below):
        return ""
    ends = "the pool ends there" if cliff.is_there else "there is no cliff, the pool hardly ends there"
    at, below = f"{cliff.new_at_depth:.1%}", f"{cliff.new_below:.1%}"
    return f" Of the new documents {at} are judged at the depth, {below} one rank below: {ends}."


def _range_in_words(table: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Return why it is open how many runs contributed, nothing where it is not."""
    least, most = (int(summary.iloc[0][name]) for name in ("least_contributors", "most_contributors"))
    if least == most:
        return ""
    needed, together, covered = (int((table["evidence"] == kind).sum()) for kind in (_NEEDED, _TOGETHER, _COVERED))
    parts = [f"{needed:,} {'is' if needed == 1 else 'are'} needed"] if needed else []
    parts += [f"at least {least - needed:,} of {together:,} that are needed together"] if together else []
    parts += [f"{covered:,} {'is' if covered == 1 else 'are'} covered"] if covered else []
    named = int(table["contributed"].sum())
    return f" Between {least:,} and {most:,} runs contributed, {named:,} are taken to have: {', '.join(parts)}."


def _apart_in_words(by_topic: pd.DataFrame) -> str:
    """Return which topics are set apart, nothing where none is."""
    apart = by_topic[by_topic["apart"]]
    if apart.empty:
        return ""
    return (
        f" All this holds for {len(by_topic) - len(apart):,} of {count(len(by_topic), 'topic')}. Set apart: "
        f"{count(len(apart), 'topic')} ({examples(apart['qid'])}), of which this pool does not explain the "
        f"{count(int(apart['judged'].sum()), 'judgment')}. Other runs were pooled there "
        "(infer_pool(runs, qrels.select(found.apart)) tries those of this field), or the judgments are a sample."
    )


def _numbers(summary: pd.DataFrame) -> tuple[int, int, int]:
    row = summary.iloc[0]
    return int(row["judged"]), int(row["explained"]), int(row["unjudged"])


def _per_cent(part: int, whole: int) -> str:
    """Write a share; one that is not all or nothing never looks like it."""
    if 0 < part < whole:
        return "below 0.1%" if part / whole < 0.001 else f"{min(part / whole, 0.999):.1%}"
    return "all" if part else "none"
