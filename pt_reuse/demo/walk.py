"""What `pt-reuse demo` shows: the main questions, answered on the embedded collection with live pipelines."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import AP, nDCG

from pt_reuse._errors import InputError
from pt_reuse.collections.demo import DemoDataset
from pt_reuse.experiment.pt_experiment import Experiment
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.agreement import Agreement
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.run_scores import score
from pt_reuse.studies.uniques import LeaveOutUniques, in_words, leave_out_uniques

DEPTH = 10
_LIVE = ("live-bm25", "live-bm25-desc", "live-minilm-desc")


@dataclass(frozen=True)
class DemoReport:
    """The answers, each a table with its words.

    Attributes:
        runs: the stored runs.
        experiment: the live pipelines in a ptr.Experiment, ranked among the stored runs.
        coverage: per type, the unjudged rate at 10 and the mean drop when only the lexical runs were pooled.
        partial: complete judgments (the truth) against those of a lexical-only pool.
        full: complete judgments against those of a pool of all pooled runs.
        by_type: leave-out-uniques by type under the judgments of the full pool.
        by_team: the same by team.
    """

    runs: RunSet
    experiment: pd.DataFrame
    coverage: pd.DataFrame
    partial: Agreement
    full: Agreement
    by_type: LeaveOutUniques
    by_team: LeaveOutUniques


def live_pipelines(folder: Path) -> dict[str, pt.Transformer]:
    """Index the collection with PISA and return pipelines: BM25 on queries, and BM25 and MiniLM with descriptions."""
    try:
        from pyterrier_pisa import PisaIndex
    except ImportError as error:
        raise InputError("demo: the lexical pipelines need PISA; `pip install pt-reuse[demo]` brings it.") from error
    demo = DemoDataset()
    index = PisaIndex(str(folder / "pisa"), text_field="text", stemmer="porter2")
    index.index(demo.get_corpus_iter(verbose=False))
    docnos, documents, queries = demo.get_embeddings("described")
    described = {row["qid"]: f"{row['query']} {row['description']}" for row in demo.topics()}

    def plain(text: str) -> str:
        return re.sub(r"[^\w\s]", " ", text)

    short = pt.apply.query(lambda row: plain(row["query"]), verbose=False)
    long = pt.apply.query(lambda row: plain(described[row["qid"]]), verbose=False)
    bm25 = index.bm25(num_results=100)

    def nearest(topics: pd.DataFrame) -> pd.DataFrame:
        cosines = np.stack([queries[qid] for qid in topics["qid"]]) @ documents.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :100]
        return pd.DataFrame({
            "qid": np.repeat(topics["qid"].to_numpy(), order.shape[1]), "docno": np.array(docnos)[order.ravel()],
            "score": np.take_along_axis(cosines, order, axis=1).ravel().astype(float),
            "rank": np.tile(np.arange(order.shape[1]), len(topics)),
        })  # fmt: skip

    dense = pt.apply.generic(nearest, transform_outputs=lambda columns: ["qid", "docno", "score", "rank"])
    return dict(zip(_LIVE, (short >> bm25, long >> bm25, dense), strict=True))


def answer(say: Callable[[str], None] = lambda text: None) -> DemoReport:
    """Run the live pipelines and answer the questions; `say` hears what is being done."""
    demo = DemoDataset()
    topics, complete, runs = demo.get_topics(), demo.get_judgments(), demo.get_runs()
    with tempfile.TemporaryDirectory() as folder:
        say("Indexing 480 documents with PISA; running BM25 (with and without descriptions) and MiniLM live ...")
        pipelines = live_pipelines(Path(folder))
        pooled_judgments = complete.restrict(depth_pool(runs, depth=DEPTH))
        experiment = Experiment(
            pipelines, topics, pooled_judgments, [nDCG @ 10, AP], field=runs, pooled=False, depth=DEPTH,
            baseline=_LIVE[0],
        )  # fmt: skip
    lexical = complete.restrict(depth_pool(runs.select(type="lexical", pooled=True), depth=DEPTH))
    measures = [nDCG @ 10, AP]
    truth = score(runs, complete, measures)
    partial, full = (truth.compare(score(runs, judged, measures)) for judged in (lexical, pooled_judgments))
    return DemoReport(
        runs=runs,
        experiment=experiment,
        coverage=_coverage(runs, lexical, partial),
        partial=partial,
        full=full,
        by_type=leave_out_uniques(runs, pooled_judgments, measures, by="type", depth=DEPTH),
        by_team=leave_out_uniques(runs, pooled_judgments, measures, by="team", depth=DEPTH),
    )


def _coverage(runs: RunSet, judged: Any, agreement: Agreement) -> pd.DataFrame:
    rate = score(runs, judged, [Unjudged @ 10]).mean.merge(runs.run_table[["name", "type", "pooled"]], on="name")
    moved = agreement.changes[agreement.changes["measure"] == "nDCG@10"][["name", "score", "other_score", "drop"]]
    table = rate.merge(moved, on="name")
    in_pool = (table["type"] == "lexical") & table["pooled"]
    table["group"] = np.where(
        in_pool, "lexical, pooled", np.where(table["type"] == "lexical", "lexical, held out", table["type"])
    )
    means = table.groupby("group", sort=False)[["Unjudged@10", "score", "other_score", "drop"]].mean()
    means.insert(0, "runs", table.groupby("group").size())
    return means.rename(columns={"score": "nDCG@10", "other_score": "nDCG@10 lexical pool"}).reset_index()


def narrate(report: DemoReport) -> list[tuple[str, str, pd.DataFrame, str]]:
    """Return (short name, question, table, answer in words) for each part of the report."""
    coverage = report.coverage.set_index("group")
    dense, held = coverage.loc["dense"], coverage.loc["lexical, held out"]
    partial, full = (a.table.set_index("measure") for a in (report.partial, report.full))
    n, changes = "nDCG@10", report.partial.changes
    moved = (
        changes[changes["measure"] == n]
        .sort_values("rank")[["name", "type", "score", "other_score", "rank", "other_rank", "drop"]]
        .rename(columns={"score": "complete judgments", "other_score": "lexical pool", "other_rank": "new rank"})
    )
    unjudged, fallers = f"{n} unjudged", report.partial.changes
    fallers = fallers[(fallers["measure"] == n) & (fallers["type"] == "dense") & (fallers["drop"] > 0)]
    live = report.experiment.set_index("name")
    columns = ["name", n, f"{n} rank", f"{n} unjudged", "AP", "AP rank"]
    return [
        (
            "live-pipelines",
            "How do live pipelines stand among the stored runs, and how much of what they return was judged?",
            report.experiment[columns],
            f"Judged is the depth-{DEPTH} pool of the pooled runs. BM25 on the query has a twin among these, so all "
            "of its top 10 is judged; BM25 and MiniLM with descriptions have none, and "
            f"{live.loc[_LIVE[1], unjudged]:.1%} and {live.loc[_LIVE[2], unjudged]:.1%} of theirs never were. They "
            f"rank {live.loc[_LIVE[0], f'{n} rank']}, "
            f"{live.loc[_LIVE[1], f'{n} rank']} and {live.loc[_LIVE[2], f'{n} rank']} of the "
            f"{len(report.runs) + len(_LIVE)} runs, stored and live, by {n}.",
        ),
        (
            "lexical-pool",
            "What if only lexical systems had been pooled?",
            report.coverage,
            f"Of the top 10 of dense runs {dense['Unjudged@10']:.1%} would be unjudged, of lexical runs that were not "
            f"pooled either {held['Unjudged@10']:.1%}. Dense runs fall {dense['drop']:+.2f} ranks on average, lexical "
            f"runs held out {held['drop']:+.2f} (positive: down). The lead of dense over held-out lexical runs shrinks "
            f"from {dense[n] - held[n]:.3f} to {dense[f'{n} lexical pool'] - held[f'{n} lexical pool']:.3f}. The dense "
            f"runs that fall are {' and '.join(fallers['name'])}; MiniLM keeps its place, with a smaller lead.",
        ),
        (
            "gains-and-losses",
            "Which runs gain and lose by it?",
            moved,
            f"tau_b to the ranking under complete judgments: {partial.loc[n, 'tau_b']:.3f} with the lexical pool, "
            f"{full.loc[n, 'tau_b']:.3f} with the pool of all types; largest drop {partial.loc[n, 'max_drop']} and "
            f"{full.loc[n, 'max_drop']}.",
        ),
        (
            "leave-out-type",
            "What if a type of system had not taken part in the pool?",
            report.by_type.table[report.by_type.table["measure"] == n].drop(columns="measure"),
            in_words(report.by_type),
        ),
        ("leave-out-team", "And a team?", report.by_team.summary, in_words(report.by_team)),
    ]
