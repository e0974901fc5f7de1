"""`pt-reuse profile minimum-ranks`: how far down the runs go before one of them has each relevant document."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._choices import EDGES
from pt_reuse.cli.common_options import add_contributors, chosen_contributors, whole_amounts
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, add_rel
from pt_reuse.cli.screen import SHOWN, print_table, say

if TYPE_CHECKING:
    from pt_reuse.studies.best_ranks import MinimumRanks

_PICTURE = "minimum-ranks.png"
_FILES = ("table.csv", "topics.csv", "by_rank.csv", "settings.json", "result.json", _PICTURE)
#: what the screen shows of a topic -> its heading
_OF_A_TOPIC = {
    "qid": "topic",
    "relevant": "relevant",
    "found": "found",
    "not_found": "not found",
    "median": "median rank",
    "deepest": "deepest rank",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "minimum-ranks",
        "at which rank any run first has each relevant document",
        "The minimum rank of a relevant document is the best rank over the runs; NR (not retrieved) is one that no run "
        "has. Where many are deep or NR, a shallow pool would have missed them, and nobody may have found more yet.",
    )
    add_field(parser, positional="runs", qrels=Judgments.NEEDED)
    parser.add_argument(
        "--depth", type=int, metavar="K", help="rank down to which runs are looked at; default that of the longest list"
    )
    add_rel(parser)
    ends = ",".join(map(str, EDGES))
    parser.add_argument(
        "--edges", type=whole_amounts, default=list(EDGES), metavar="LIST", help=f"upper ends of bins; default {ends}"
    )
    add_contributors(parser, default="all", what="runs that are looked at")
    add_all(parser, "topic")
    add_out(parser, "the tables (CSV), the settings (JSON) and the picture (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.judgments import checked_rel
    from pt_reuse.pooling.depth import checked_depth
    from pt_reuse.studies.best_ranks import checked_edges, minimum_ranks

    plan = plan_field(options, pooled_matters=False)
    judgments = plan.needed_judgments()
    checked_rel(options.rel)
    if options.depth is not None:
        checked_depth(options.depth)
    edges = checked_edges([options.edges] if isinstance(options.edges, int) else options.edges)
    contributors = chosen_contributors(options, plan.names)
    folder = out_folder(options, _FILES)
    qrels, runs = judgments.read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    result = minimum_ranks(
        runs, qrels, rel=options.rel, depth=options.depth, contributors=contributors, pool_order=options.pool_order
    )
    _report(result, edges, options.all)
    if folder is not None:
        drawings: dict[str, Drawing] = {_PICTURE: partial(result.plot)}
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _report(result: MinimumRanks, edges: list[int], every: bool) -> None:
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    say("\nRelevant documents by their minimum rank (NR: in no run):")
    bins = result.by_rank(edges).rename(columns={"up_to": "up to here"})
    print_table(bins, len(bins), "bins")
    say("\nPer topic, with most documents that no run has first:")
    rows = result.topics.sort_values(["not_found", "deepest"], ascending=False, kind="stable", na_position="last")
    shown = rows[list(_OF_A_TOPIC)].rename(columns=_OF_A_TOPIC)
    print_table(shown, len(shown) if every else SHOWN, "topics; --all shows every one", numbers="{:.1f}")
    say(f"\n{result.headline()}.")
