"""What `pt-reuse demo` shows: the main questions, answered on the embedded collection with live pipelines, in words."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt
from ir_measures import AP, nDCG

from pt_reuse.collections.provider import DemoDataset
from pt_reuse.columns import column
from pt_reuse.data.run_set import RunSet
from pt_reuse.demo.held_out import HeldOut, compare_held_out, top_tens
from pt_reuse.errors import InputError
from pt_reuse.experiment.pt_experiment import Experiment
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.agreement import Agreement
from pt_reuse.scoring.scores import score
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques

#: their names
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
    of_dense, of_lexical = (table.loc[(table["type"] == kind), "share"] for kind in ("dense", "lexical"))
    answer = f"Relevant of what a lexical pool misses: dense {_percent(of_dense)}, lexical {_percent(of_lexical)}."
    return Answer("What if only lexical systems had been pooled?", answer, table, shown)


def _percent(shares: pd.Series) -> str:
    return f"{100 * shares.min():.0f} to {100 * shares.max():.0f}%"


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
