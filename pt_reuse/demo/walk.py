"""What `pt-reuse demo` shows: the main questions on the embedded collection, and what a lexical pool misses."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import AP, nDCG
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.collections.provider import DemoDataset
from pt_reuse.columns import column
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError
from pt_reuse.experiment.pt_experiment import Experiment
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.agreement import Agreement
from pt_reuse.scoring.scores import score
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques

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

    def row(self, shares: NDArray[np.float64], bootstrap: TopicBootstrap) -> dict[str, object]:
        sums = dict(zip(("top", "unjudged", "relevant"), self.counts.sum(axis=0).tolist(), strict=True))
        low, high = bootstrap.share(sums["relevant"], sums["unjudged"], shares)
        return self.described | sums | {"share": self.share, "low": low, "high": high}


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
        rows.append(lexical.row(of_lexical, bootstrap))
        for group in dense:
            shares = group.shares(drawn)
            rows.append(group.row(shares, bootstrap))
            true, pool = (group.scores - lexical.scores).T
            lead: dict[str, Any] = {name: group.described[name] for name in ("left_out", "queries", "team")}
            more, change = group.share - lexical.share, float((pool - true).mean())
            low, high = bootstrap.percentiles(more, shares - of_lexical)
            lead |= {"more": more, "more_low": low, "more_high": high}
            low, high = bootstrap.percentiles(change, drawn @ (pool - true) / len(topics))
            lead |= {"lead": true.mean(), "pool_lead": pool.mean(), "change": change}
            leads.append(lead | {"change_low": low, "change_high": high})
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
                        counts=counted[counted["name"].isin(members["name"])]
                        .drop(columns="name")
                        .groupby("qid")
                        .sum()
                        .reindex(truth.topics, fill_value=0)
                        .to_numpy(dtype=np.int64),
                        scores=scores[:, [truth.names.index(name) for name in members["name"]]].mean(axis=1),
                    )
                    for team, members in alike.groupby("team", sort=False)
                ]


#: the names of the live pipelines
LIVE = ("live-bm25", "live-bm25-desc", "live-minilm-desc")


def live_pipelines(folder: Path) -> dict[str, pt.Transformer]:
    """Index the collection with PISA and return pipelines: BM25 on queries, and BM25 and MiniLM with descriptions."""
    try:
        from pyterrier_pisa import PisaIndex
    except ImportError as error:
        raise InputError("the lexical pipelines need PISA; `pip install pt-reuse[demo]` brings it.") from error
    demo = DemoDataset()
    index = PisaIndex(str(folder / "pisa"), text_field="text", stemmer="porter2")
    index.index(demo.get_corpus_iter(verbose=False))
    described = {row["qid"]: f"{row['query']} {row['description']}" for row in demo.topics()}

    plain, bm25 = partial(re.sub, r"[^\w\s]", " "), index.bm25(num_results=100)
    short = pt.apply.query(lambda row: plain(row["query"]), verbose=False, label="words of the query")
    long = pt.apply.query(lambda row: plain(described[row["qid"]]), verbose=False, label="and description")
    return dict(zip(LIVE, (short >> bm25, long >> bm25, demo.get_dense_retriever("described")), strict=True))


DEPTH = 10


@dataclass(frozen=True)
class DemoReport:
    """The answers, on the topics that have a relevant document."""

    runs: RunSet
    without: list[str]
    experiment: pd.DataFrame
    held_out: HeldOut
    lexical: pd.DataFrame
    partial: Agreement
    full: Agreement
    by_type: LeaveOutUniques
    by_team: LeaveOutUniques


def answer(*, verbose: bool = False) -> DemoReport:
    """Run the live pipelines and answer the questions; `verbose` shows bars."""
    demo = DemoDataset()
    topics, complete, runs = demo.get_topics(), demo.get_judgments("complete"), demo.get_runs()
    counts = complete.counts()
    # on a topic without a relevant document all runs score 0
    without = counts.loc[counts["relevant"] == 0, "qid"].tolist()
    topics = topics[~topics["qid"].isin(without)].reset_index(drop=True)
    complete = complete.select(topics["qid"])
    with tempfile.TemporaryDirectory() as folder:
        pipelines = live_pipelines(Path(folder))
        judgments, measures = demo.get_judgments().select(topics["qid"]), [nDCG @ 10, AP]
        against: dict[str, Any] = {"field": runs, "depth": DEPTH, "baseline": LIVE[0]}
        experiment = Experiment(pipelines, topics, judgments, measures, **against, verbose=verbose)
    lexical = complete.restrict(depth_pool(runs.select(type="lexical", pooled=True), depth=DEPTH))
    counted = top_tens(runs, complete, lexical).groupby("name")[["top", "unjudged", "relevant"]].sum()
    relevant, truth = counted["relevant"] / counted["unjudged"], score(runs, complete, measures)
    pools = {"pool of lexical runs only": lexical, "pool of all pooled runs": judgments}
    of_lexical, of_all = (
        truth.compare(score(runs, pool, measures), names=("complete judgments", name)) for name, pool in pools.items()
    )
    return DemoReport(
        runs=runs,
        without=without,
        experiment=experiment,
        held_out=compare_held_out(runs, complete, depth=DEPTH),
        lexical=counted.assign(unjudged=counted["unjudged"] / counted["top"], relevant=relevant).reset_index(),
        partial=of_lexical,
        full=of_all,
        by_type=leave_out_uniques(runs, judgments, measures, by="type", depth=DEPTH),
        by_team=leave_out_uniques(runs, judgments, measures, by="team", depth=DEPTH),
    )


#: short names of what is narrated
SUBJECTS = ("live-pipelines", "lexical-pool", "leads", "gains-and-losses", "leave-out-type", "leave-out-team")
_NDCG = "nDCG@10"
_INTERVAL = "95% interval"


@dataclass(frozen=True)
class Answer:
    """A question, and its answer in a line, as a table, and as it is shown."""

    question: str
    answer: str
    table: pd.DataFrame
    shown: pd.DataFrame


def narrate(report: DemoReport) -> list[Answer]:
    """Return the answers, one for each of the subjects."""
    live = report.experiment[["name", _NDCG, f"{_NDCG} rank", f"{_NDCG} unjudged", "AP", "AP rank"]]
    by_type, by_team = report.by_type, report.by_team
    types = ["type", "runs", "unique", "unique_relevant", "tau_b", "max_drop", "dropped"]
    of_type = by_type.table.loc[by_type.table["measure"] == _NDCG, types]
    teams = ["measure", "own_tau_b", "alone_max_drop", "largest_loss_pct", "field_min_tau_b", "field_worst"]
    of_team = by_team.summary[teams]
    without = "What if a type of system had not taken part in the pool?"
    standing = "How do live pipelines rank among the stored runs, and how much of them was judged?"
    dense = live.set_index("name").loc[LIVE[2]]
    ranked = (
        f"A live dense model ranks {dense[f'{_NDCG} rank']:.0f} of {len(report.runs) + len(LIVE)}; "
        f"{100 * dense[f'{_NDCG} unjudged']:.1f}% of its top 10 is unjudged."
    )
    return [
        Answer(standing, ranked, live, live),
        _shares(report.held_out),
        _leads(report.held_out),
        _moves(report),
        _left_out(without, by_type, of_type),
        _left_out("And a team?", by_team, of_team),
    ]


def _left_out(question: str, lou: LeaveOutUniques, table: pd.DataFrame) -> Answer:
    row, by = lou.summary.set_index("measure").loc[_NDCG], lou.units.by
    loss = f"Without its own {by} a run loses at most {row['largest_loss_pct']:.1f}% of {_NDCG}"
    shown = table.rename(columns=lambda name: column(name, lou.columns).heading)
    return Answer(question, f"{loss}; tau_b is {row['own_tau_b']:.3f}.", table, shown)


def _with_interval(table: pd.DataFrame, prefix: str, written: str, **others: Any) -> pd.DataFrame:
    ends = [f"{prefix}low", f"{prefix}high"]
    interval = [f"{written.format(low)} to {written.format(high)}" for low, high in table[ends].to_numpy()]
    shown = table.drop(columns=ends).assign(**others, **{_INTERVAL: interval})
    return shown.rename(columns={"left_out": "left out", "pool_lead": "lead under the pool"})


def _shares(held_out: HeldOut) -> Answer:
    table = held_out.table.drop(columns="runs")
    of_top = [f"{n} of {top}" for n, top in zip(table["unjudged"], table["top"], strict=True)]
    share = table["share"].map("{:.2f}".format)
    shown = _with_interval(table, "", "{:.2f}", unjudged=of_top, share=share).drop(columns="top")
    ends = {kind: 100 * table.loc[table["type"] == kind, "share"].agg(["min", "max"]) for kind in ("dense", "lexical")}
    of_each = ", ".join(f"{kind} {low:.0f} to {high:.0f}%" for kind, (low, high) in ends.items())
    answer = f"Relevant of what a lexical pool misses: {of_each}."
    return Answer("What if only lexical systems had been pooled?", answer, table, shown)


def _leads(held_out: HeldOut) -> Answer:
    columns = ["left_out", "queries", "team", "lead", "pool_lead", "change", "change_low", "change_high"]
    most = held_out.leads.sort_values("change").iloc[0]
    table = held_out.leads[columns]
    shown = _with_interval(table, "change_", "{:.4f}")
    answer = (
        f"Such a pool cuts a dense lead from {most['lead']:.3f} to {most['pool_lead']:.3f} "
        f"({most['change']:.3f}, {most['change_low']:.3f} to {most['change_high']:.3f})."
    )
    return Answer("How much of the lead of the dense teams would such a pool hide?", answer, table, shown)


def _moves(report: DemoReport) -> Answer:
    partial, full = (a.table.set_index("measure").loc[_NDCG] for a in (report.partial, report.full))
    changes = report.partial.changes[report.partial.changes["measure"] == _NDCG]
    moved = changes.merge(report.lexical, on="name").sort_values("rank")
    moved = moved.rename(columns={"score": "complete", "other_score": "pool", "other_rank": "pool rank"})
    moved = moved[["name", "type", "unjudged", "relevant", "complete", "rank", "pool", "pool rank"]]
    answer = f"tau_b to complete judgments: {partial['tau_b']:.3f} with a lexical pool, {full['tau_b']:.3f} with all."
    places = (moved["rank"] - moved["pool rank"]).abs()
    shown = moved.loc[places.sort_values(ascending=False, kind="stable").index]
    return Answer("Which runs gain and lose most ranks by a lexical pool?", answer, moved, shown)
