"""`pt-reuse score`: the scores of run files, their means and ranks."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import checked_jobs
from pt_reuse.cli.common_options import add_measures, chosen_measures
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import out_folder, table_file, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_jobs, add_out
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars
from pt_reuse.cli.shards import add_shard

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.scoring.scores import Scores

_PER_TOPIC = "per_topic.csv"
_FILES = ("mean.csv", "ranks.csv", "run_table.csv", "settings.json", "arrays.npz", "result.json", _PER_TOPIC)


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "score",
        "mean scores and ranks of runs",
        "The mean is over all topics of the judgments; a topic for which a run returns nothing counts 0, as in "
        "trec_eval -c. A rank is 1 and the number of runs with a higher mean, whatever the measure counts.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    add_measures(parser)
    parser.add_argument("--own-topics", action="store_true", help="mean over the topics that a run has")
    parser.add_argument("--per-topic", action="store_true", help="also show a line for every run and topic")
    add_jobs(parser, "topics")
    add_all(parser, "run")
    add_out(parser, "the tables, one with every topic among them (CSV), and the settings (JSON)")
    add_shard(parser, _run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.scoring.run_scores import score

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    measures = chosen_measures(options, judgments.rel)
    jobs = checked_jobs(options.jobs)
    folder = out_folder(options, _FILES)
    qrels, runs = plan.read_judgments(judgments), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    scores = score(runs, qrels, measures, complete=not options.own_topics, n_jobs=jobs, verbose=shows_bars(options))
    over = _topics(scores) if scores.complete else "the topics that a run has"
    say(f"\nMean over {over}, and rank; the best by {scores.measures[0]} first:")
    table = _ranked(scores)
    print_table(table, len(table) if options.all else SHOWN, "runs; --all shows every one", spare=("type", "team"))
    if options.per_topic:
        say("\nPer topic; where a run returns nothing, an empty list is scored:")
        topics = _by_topic(scores)
        print_table(topics, len(topics) if options.all else SHOWN, "lines; --all shows every one")
    if folder is not None:
        written = write_result(scores, folder, options, {}, {_PER_TOPIC: partial(table_file, scores.per_topic)})
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _topics(scores: Scores) -> str:
    n = len(scores.topics)
    return f"all {n:,} topics" if n > 1 else "the only topic"


def _ranked(scores: Scores) -> pd.DataFrame:
    """Return one row per run: ``name team type`` where known, and each measure with the rank by it, the best first."""
    known = [column for column in ("name", "team", "type") if scores.run_table[column].notna().any()]
    table = scores.run_table[known].copy()
    for measure in scores.measures:
        table[measure], table[f"{measure} rank"] = scores.mean[measure], scores.ranks[measure]
    return table.sort_values(f"{scores.measures[0]} rank", kind="stable", ignore_index=True)


def _by_topic(scores: Scores) -> pd.DataFrame:
    """Return one row per run and topic, with a column per measure."""
    import numpy as np
    import pandas as pd

    names, qids = np.repeat(scores.names, len(scores.topics)), np.tile(scores.topics, len(scores.names))
    values = scores.values.transpose(0, 2, 1).reshape(len(scores.measures), -1)
    return pd.DataFrame({"name": names, "qid": qids, **dict(zip(scores.measures, values, strict=True))})
