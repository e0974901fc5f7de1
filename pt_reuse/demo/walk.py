"""What `pt-reuse demo` shows: the main questions, answered on the embedded collection with live pipelines."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from ir_measures import AP, nDCG

from pt_reuse.collections.demo import DemoDataset
from pt_reuse.demo.pipelines import LIVE, live_pipelines
from pt_reuse.experiment.pt_experiment import Experiment
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.agreement import Agreement
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.run_scores import score
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques

DEPTH = 10


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


def answer(say: Callable[[str], None] = lambda text: None, *, verbose: bool = False) -> DemoReport:
    """Run the live pipelines and answer the questions; `say` hears what is being done, `verbose` shows it in bars."""
    demo = DemoDataset()
    topics, complete, runs = demo.get_topics(), demo.get_judgments(), demo.get_runs()
    with tempfile.TemporaryDirectory() as folder:
        say("Indexing 480 documents with PISA; running BM25 (with and without descriptions) and MiniLM live ...")
        pipelines = live_pipelines(Path(folder))
        pooled_judgments = complete.restrict(depth_pool(runs, depth=DEPTH))
        experiment = Experiment(
            pipelines,
            topics,
            pooled_judgments,
            [nDCG @ 10, AP],
            field=runs,
            depth=DEPTH,
            baseline=LIVE[0],
            verbose=verbose,
        )
    lexical = complete.restrict(depth_pool(runs.select(type="lexical", pooled=True), depth=DEPTH))
    measures = [nDCG @ 10, AP]
    truth = score(runs, complete, measures)
    partial, full = (
        truth.compare(score(runs, judged, measures), names=("complete judgments", pool))
        for pool, judged in (("pool of lexical runs only", lexical), ("pool of all pooled runs", pooled_judgments))
    )
    return DemoReport(
        runs=runs,
        experiment=experiment,
        coverage=_coverage(runs, lexical, partial),
        partial=partial,
        full=full,
        by_type=leave_out_uniques(runs, pooled_judgments, measures, by="type", depth=DEPTH),
        by_team=leave_out_uniques(runs, pooled_judgments, measures, by="team", depth=DEPTH),
    )


def _coverage(runs: RunSet, judged: Qrels, agreement: Agreement) -> pd.DataFrame:
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
