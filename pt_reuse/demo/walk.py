"""What `pt-reuse demo` shows: the main questions, answered on the embedded collection with live pipelines."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from ir_measures import AP, nDCG

from pt_reuse.collections.demo import DemoDataset
from pt_reuse.demo.held_out import HeldOut, compare_held_out, top_tens
from pt_reuse.demo.pipelines import LIVE, live_pipelines
from pt_reuse.experiment.pt_experiment import Experiment
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.agreement import Agreement
from pt_reuse.scoring.run_scores import score
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques

DEPTH = 10


@dataclass(frozen=True)
class DemoReport:
    """The answers, on the topics that have a relevant document.

    Attributes:
        runs: the stored runs.
        without: the topics that have none, and are left out.
        experiment: the live pipelines in a ptr.Experiment, ranked among the stored runs.
        held_out: what pools of lexical teams miss of the dense teams and of a lexical team left out whole.
        lexical: per run ``name unjudged relevant`` under the pool of all pooled lexical runs: the share of its top ten
            that the pool does not have, and the share of these documents that is relevant, NaN where there is none.
        partial: complete judgments (the truth) against those of that pool.
        full: complete judgments against those of a pool of all pooled runs.
        by_type: leave-out-uniques by type under the judgments of the full pool.
        by_team: the same by team.
    """

    runs: RunSet
    without: list[str]
    experiment: pd.DataFrame
    held_out: HeldOut
    lexical: pd.DataFrame
    partial: Agreement
    full: Agreement
    by_type: LeaveOutUniques
    by_team: LeaveOutUniques


def answer(say: Callable[[str], None] = lambda text: None, *, verbose: bool = False) -> DemoReport:
    """Run the live pipelines and answer the questions; `say` hears what is being done, `verbose` shows it in bars."""
    demo = DemoDataset()
    topics, complete, runs = demo.get_topics(), demo.get_judgments("complete"), demo.get_runs()
    counts = complete.counts()
    # on a topic without a relevant document all runs score 0
    without = counts.loc[counts["relevant"] == 0, "qid"].tolist()
    topics = topics[~topics["qid"].isin(without)].reset_index(drop=True)
    complete = complete.select(topics["qid"])
    with tempfile.TemporaryDirectory() as folder:
        say("Indexing 480 documents with PISA; running BM25 (with and without descriptions) and MiniLM live ...")
        pipelines = live_pipelines(Path(folder))
        pooled_judgments = demo.get_judgments().select(topics["qid"])
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
    counted = top_tens(runs, complete, lexical).groupby("name")[["top", "unjudged", "relevant"]].sum()
    relevant = counted["relevant"] / counted["unjudged"]
    measures = [nDCG @ 10, AP]
    truth = score(runs, complete, measures)
    partial, full = (
        truth.compare(score(runs, judged, measures), names=("complete judgments", pool))
        for pool, judged in (("pool of lexical runs only", lexical), ("pool of all pooled runs", pooled_judgments))
    )
    return DemoReport(
        runs=runs,
        without=without,
        experiment=experiment,
        held_out=compare_held_out(runs, complete, depth=DEPTH),
        lexical=counted.assign(unjudged=counted["unjudged"] / counted["top"], relevant=relevant).reset_index(),
        partial=partial,
        full=full,
        by_type=leave_out_uniques(runs, pooled_judgments, measures, by="type", depth=DEPTH),
        by_team=leave_out_uniques(runs, pooled_judgments, measures, by="team", depth=DEPTH),
    )
