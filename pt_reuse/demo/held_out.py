"""What a pool of lexical teams misses: the same question asked of dense teams and of a lexical team left out whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from ir_measures import nDCG
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.scores import score

RESAMPLES, SEED, CONFIDENCE = 10_000, 1, 0.95  # of the topics, for intervals


@dataclass(frozen=True)
class HeldOut:
    """Runs of teams that gave nothing to a pool, lexical and dense, compared under it."""

    table: pd.DataFrame
    leads: pd.DataFrame
    n_topics: int


@dataclass(frozen=True, eq=False)
class _Group:
    """The runs of one team with one length of query under one pool, topic by topic."""

    described: dict[str, str | int]
    counts: NDArray[np.int64]
    scores: NDArray[np.float64]

    @property
    def share(self) -> float:
        _, unjudged, relevant = self.counts.sum(axis=0)
        return float(relevant / unjudged) if unjudged else float("nan")

    def shares(self, drawn: NDArray[np.int64]) -> NDArray[np.float64]:
        _, unjudged, relevant = (drawn @ self.counts).T
        return np.divide(relevant, unjudged, out=np.full(len(drawn), np.nan), where=unjudged > 0)


def compare_held_out(
    runs: RunSet, complete: Qrels, *, depth: int = 10, resamples: int = RESAMPLES, seed: int = SEED
) -> HeldOut:
    """Ask what a lexical pool misses of dense runs, and of lexical runs whose team is left out whole."""
    counts = complete.counts()
    topics = counts.loc[counts["relevant"] > 0, "qid"].tolist()
    bootstrap = TopicBootstrap(resamples, seed, CONFIDENCE)
    drawn = bootstrap.counts(len(topics))
    rows, leads = [], []
    for lexical, *dense in _compared(runs, complete.select(topics), depth):
        of_lexical = lexical.shares(drawn)
        rows.append(_row(lexical, of_lexical, bootstrap))
        for group in dense:
            shares = group.shares(drawn)
            rows.append(_row(group, shares, bootstrap))
            true, pool = (group.scores - lexical.scores).T
            described = {name: group.described[name] for name in ("left_out", "queries", "team")}
            more = {"more": group.share - lexical.share}
            more |= _ends("more_", bootstrap.percentiles(more["more"], shares - of_lexical))
            lead = {"lead": true.mean(), "pool_lead": pool.mean(), "change": float((pool - true).mean())}
            change = bootstrap.percentiles(lead["change"], drawn @ (pool - true) / len(topics))
            leads.append(described | more | lead | _ends("change_", change))
    return HeldOut(pd.DataFrame(rows), pd.DataFrame(leads), len(topics))


def top_tens(runs: RunSet, complete: Qrels, judged: Qrels) -> pd.DataFrame:
    """Count what a pool misses in the top ten of each run."""
    tops = runs.to_frame()
    tops = tops[(tops["rank"] < 10) & tops["qid"].isin(complete.topics)]
    pairs = pd.MultiIndex.from_frame(tops[["qid", "docno"]])
    unjudged = ~pairs.isin(pd.MultiIndex.from_frame(judged.to_frame()[["qid", "docno"]]))
    labels = complete.to_frame().set_index(["qid", "docno"])["label"].reindex(pairs).to_numpy(dtype=float)
    if np.isnan(labels).any():
        lacking = f"{np.isnan(labels).sum():,} of {len(labels):,} documents in the top tens of the runs have no label"
        raise InputError(f"{lacking}; expected complete judgments, those of 'complete'.", argument="complete")
    marked = tops[["name", "qid"]].assign(top=1, unjudged=unjudged, relevant=unjudged & (labels >= complete.rel))
    return marked.groupby(["name", "qid"], as_index=False).sum()


def _compared(runs: RunSet, complete: Qrels, depth: int) -> Iterator[list[_Group]]:
    table = runs.run_table
    lexical, dense = (table[table["type"] == kind] for kind in ("lexical", "dense"))
    truth = score(runs, complete, nDCG @ 10)
    for left_out in lexical["team"].unique():
        others = lexical.loc[lexical["pooled"].astype(bool) & (lexical["team"] != left_out), "name"].tolist()
        judged = complete.restrict(depth_pool(runs.select(others), depth=depth))
        counted = top_tens(runs, complete, judged)
        scores = np.stack([truth.values[0], score(runs, judged, nDCG @ 10).values[0]], axis=-1)
        of_team = lexical[lexical["team"] == left_out]
        for queries in of_team["queries"].unique():
            alike = pd.concat([part[part["queries"] == queries] for part in (of_team, dense)])
            if (alike["type"] == "dense").any():
                about = {"left_out": left_out, "queries": queries}
                yield [
                    _Group(
                        described={**about, "team": team, "type": members["type"].iloc[0], "runs": len(members)},
                        counts=_by_topic(counted[counted["name"].isin(members["name"])], truth.topics),
                        scores=scores[:, [truth.names.index(name) for name in members["name"]]].mean(axis=1),
                    )
                    for team, members in alike.groupby("team", sort=False)
                ]


def _by_topic(counted: pd.DataFrame, topics: list[str]) -> NDArray[np.int64]:
    return counted.drop(columns="name").groupby("qid").sum().reindex(topics, fill_value=0).to_numpy(dtype=np.int64)


def _row(group: _Group, shares: NDArray[np.float64], bootstrap: TopicBootstrap) -> dict[str, object]:
    sums = dict(zip(("top", "unjudged", "relevant"), group.counts.sum(axis=0).tolist(), strict=True))
    ends = bootstrap.share(sums["relevant"], sums["unjudged"], shares)
    return group.described | sums | {"share": group.share} | _ends("", ends)


def _ends(of: str, interval: tuple[float, float]) -> dict[str, float]:
    return {f"{of}low": interval[0], f"{of}high": interval[1]}
