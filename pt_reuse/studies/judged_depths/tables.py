"""The tables of coverage, made of counted lists and of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.scoring.topic_sets import mean_over_topics
from pt_reuse.studies.judged_depths.judged_lists import JudgedLists

Values = NDArray[np.float64]
#: the shares of a depth that are averaged over runs
SHARES = ("unjudged", "judged", "unjudged_of_k", "unjudged_without_own")


@dataclass(frozen=True)
class Shares:
    """Shares of unjudged documents at each depth, on each topic, of each run.

    Attributes:
        lists: what was counted.
        has_topic: (topics, runs) the topics of each run, where means are over these; None where they are over all.
        knows_owners: whether it is known who alone brought which documents.
    """

    lists: JudgedLists
    has_topic: NDArray[np.bool_] | None
    knows_owners: bool

    @property
    def unjudged(self) -> Values:
        """Return (depths, topics, runs): of the documents returned down to each depth, 1 where there are none."""
        return self._of_returned(self.lists.judged)

    @property
    def of_k(self) -> Values:
        """Return (depths, topics, runs): of as many documents as the depth, places left empty counting as judged."""
        depths = np.array(self.lists.depths, dtype=np.float64).reshape(-1, 1, 1)
        return (self.lists.documents - self.lists.judged) / depths

    @property
    def without_own(self) -> Values:
        """Return (depths, topics, runs): as `unjudged`, had the run's own unit not been in the pool."""
        if not self.knows_owners:
            return np.full(self.lists.judged.shape, np.nan)
        return self._of_returned(self.lists.judged - self.lists.own)

    def _of_returned(self, judged: NDArray[np.int64]) -> Values:
        documents = self.lists.documents
        return np.where(documents > 0, (documents - judged) / np.maximum(documents, 1), 1.0)

    @property
    def of_topics(self) -> Values:
        """Return (topics, runs): what each topic weighs in the mean of a run."""
        counted = np.ones(self.lists.lengths.shape) if self.has_topic is None else self.has_topic.astype(float)
        return counted / np.maximum(counted.sum(axis=0), 1)

    def mean(self, values: Values) -> Values:
        """Return the means over topics of (..., topics, runs) values."""
        return mean_over_topics(values, self.has_topic)


def depth_table(run_table: pd.DataFrame, shares: Shares) -> pd.DataFrame:
    """Return one row per depth and run, see ``Coverage``.

    Args:
        run_table: ``name team type pooled contributed``, one row per run.
        shares: what was counted.
    """
    lists, n_depths, n_runs = shares.lists, len(shares.lists.depths), len(run_table)
    table = run_table.iloc[np.tile(np.arange(n_runs), n_depths)].reset_index(drop=True)
    unjudged = shares.mean(shares.unjudged)
    return table.assign(
        depth=np.repeat(np.array(lists.depths), n_runs),
        documents=lists.documents.sum(axis=1).ravel(),
        unjudged_documents=(lists.documents - lists.judged).sum(axis=1).ravel(),
        unjudged=unjudged.ravel(),
        judged=1 - unjudged.ravel(),
        unjudged_of_k=shares.mean(shares.of_k).ravel(),
        unjudged_without_own=shares.mean(shares.without_own).ravel(),
    )


def group_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per team and type and depth: the means of its runs, and the run with most unjudged."""
    parts = []
    for by in ("type", "team"):
        known = table[table[by].notna()]
        grouped = known.groupby(["depth", by], sort=False)
        means = {share: (share, "mean") for share in SHARES}
        sums = {name: (name, "sum") for name in ("documents", "unjudged_documents")}
        part = grouped.agg(runs=("name", "size"), **sums, **means, max_unjudged=("unjudged", "max")).reset_index()
        parts.append(part.rename(columns={by: "group"}).assign(by=by))
    first = ["by", "group", "runs", "depth"]
    both = pd.concat(parts, ignore_index=True)
    return both[[*first, *(column for column in both if column not in first)]]


def topic_table(topics: Sequence[str], shares: Shares) -> pd.DataFrame:
    """Return one row per depth and topic: the mean over runs, the largest, and where the first unjudged one stands."""
    lists, n_depths = shares.lists, len(shares.lists.depths)
    counted = np.ones(lists.lengths.shape, dtype=bool) if shares.has_topic is None else shares.has_topic
    runs = counted.sum(axis=1)

    def over_runs(values: Values) -> Values:
        return np.where(runs > 0, np.where(counted, values, 0.0).sum(axis=2) / np.maximum(runs, 1), np.nan).ravel()

    most = np.where(counted, shares.unjudged, -1.0).max(axis=2, initial=-1.0).ravel()
    judged_to = np.where(np.isnan(lists.judged_to), np.inf, lists.judged_to).min(axis=1, initial=np.inf)
    return pd.DataFrame(
        {
            "qid": np.tile(np.array(topics, dtype=object), n_depths),
            "depth": np.repeat(np.array(lists.depths), len(topics)),
            "runs": np.tile(runs, n_depths),
            "unjudged": over_runs(shares.unjudged),
            "unjudged_of_k": over_runs(shares.of_k),
            "max_unjudged": np.where(most < 0, np.nan, most),
            "judged_to": np.tile(np.where(np.isinf(judged_to), np.nan, judged_to), n_depths),
        }
    )


def run_figures(shares: Shares) -> pd.DataFrame:
    """Return one row per run, in the order of the field: how deep it is judged, and its residual."""
    lists = shares.lists
    to, has = lists.judged_to, lists.lengths > 0
    some = has.any(axis=0)
    medians = [np.median(of_run[here]) if here.any() else np.nan for of_run, here in zip(to.T, has.T, strict=True)]
    residual = shares.mean(lists.residual)
    own = shares.mean(lists.own_weight) if shares.knows_owners else np.full(len(residual), np.nan)
    return pd.DataFrame(
        {
            "topics": has.sum(axis=0),
            "judged_to": np.where(some, np.where(has, to, np.inf).min(axis=0, initial=np.inf), np.nan),
            "median_judged_to": medians,
            "residual": residual,
            "residual_without_own": residual + own,
        }
    )


def above_contributors(shares: pd.DataFrame, contributed: NDArray[np.bool_] | None) -> Values:
    """Return (runs,) of how many contributing runs the share without their own unit is smaller, as a share of them.

    Args:
        shares: ``unjudged unjudged_without_own``, one row per run.
        contributed: (runs,) which contributed; None where that is not known, which gives NaN.
    """
    reference = shares["unjudged_without_own"].to_numpy(dtype=float)
    if contributed is None or np.isnan(reference).any():
        return np.full(len(shares), np.nan)
    below = np.sort(np.round(reference[contributed], DECIMALS))
    found = np.searchsorted(below, np.round(shares["unjudged"].to_numpy(dtype=float), DECIMALS), side="left")
    return found / len(below)


def condensed_table(run_table: pd.DataFrame, measures: Sequence[str], full: Values, condensed: Values) -> pd.DataFrame:
    """Return one row per measure and run: its score and rank, and those of lists without unjudged documents.

    Args:
        run_table: ``name team type pooled contributed``, one row per run.
        measures: their names.
        full: (measures, runs) means.
        condensed: (measures, runs) means of the condensed lists.
    """
    n_measures, n_runs = full.shape
    frame = run_table.iloc[np.tile(np.arange(n_runs), n_measures)].reset_index(drop=True)
    rank, of_condensed = (pairs.ranks(np.round(means, DECIMALS)) for means in (full, condensed))
    return frame.assign(
        measure=np.repeat(list(measures), n_runs).tolist(),
        score=full.ravel(),
        rank=rank.ravel(),
        condensed_score=condensed.ravel(),
        condensed_rank=of_condensed.ravel(),
        rise=(rank - of_condensed).ravel(),
    )
