"""`pt-reuse pool-costs`: what pools of several depths cost and find, and how runs rank by them."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._choices import POOL_DEPTHS
from pt_reuse.commands.contributors import add_contributors, chosen_contributors
from pt_reuse.commands.field import Judgments, add_field, plan_field
from pt_reuse.commands.intervals import add_intervals, drawn
from pt_reuse.commands.measures import add_measures, chosen_measures, picture
from pt_reuse.commands.numbers import whole_amounts
from pt_reuse.commands.output import Drawing, out_folder, write_result
from pt_reuse.commands.parser import Commands, Parser, add_command, add_out, add_rel
from pt_reuse.commands.screen import print_table, say, shows_bars

if TYPE_CHECKING:
    from pt_reuse.studies.pool_depths import PoolCosts

_FILES = ("table.csv", "agreement.csv", "needed.csv", "settings.json", "result.json")
#: what the screen shows of a depth -> its heading
_OF_A_DEPTH = {
    "depth": "depth",
    "documents": "documents",
    "unjudged": "unjudged",
    "relevant": "relevant",
    "share": "share",
    "new_documents": "new",
    "new_relevant": "new relevant",
    "cost": "new per new relevant",
}
_AGREEMENT = {"tau_b": "tau_b", "max_drop": "largest drop", "tau_b_low": "tau_b low", "tau_b_high": "tau_b high"}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "pool-costs",
        "what pools of several depths cost and find, and how runs rank by them",
        "For each depth the judgments are restricted to the pool, and the ranking of all runs is compared with the one "
        "by all judgments.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    add_measures(parser)
    ends = ",".join(map(str, POOL_DEPTHS))
    parser.add_argument(
        "--depths", type=whole_amounts, default=list(POOL_DEPTHS), metavar="LIST", help=f"pool depths; default {ends}"
    )
    add_rel(parser)
    add_contributors(parser)
    add_intervals(parser)
    add_out(parser, "the tables (CSV), the settings (JSON) and a picture of each measure (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.qrels.judgments import checked_rel
    from pt_reuse.studies.judging_rounds import checked_depths
    from pt_reuse.studies.pool_depths import pool_costs

    plan = plan_field(options)
    judgments = plan.needed_judgments()
    measures = chosen_measures(options, judgments.rel if options.rel is None else options.rel)
    depths = checked_depths(options.depths)
    checked_rel(options.rel)
    intervals = drawn(options)
    contributors = chosen_contributors(options, plan.names)
    pictures = {picture("pool-costs", repr(measure)): repr(measure) for measure in measures}
    folder = out_folder(options, [*_FILES, *pictures])
    qrels, runs = judgments.read(), plan.read_runs()
    if options.rel is not None:
        qrels = qrels.with_rel(options.rel)
    say(f"{runs!r}\n{qrels!r}")
    result = pool_costs(
        runs,
        qrels,
        measures,
        depths=depths,
        contributors=contributors,
        **intervals,
        verbose=shows_bars(options),
    )
    _report(result)
    if folder is not None:
        drawings: dict[str, Drawing] = {name: partial(result.plot, measure) for name, measure in pictures.items()}
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _report(result: PoolCosts) -> None:
    from pt_reuse.studies.pool_depths import in_words

    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    say("\nPer depth (new: beyond the depth before; share: of the relevant documents known):")
    table = result.table[list(_OF_A_DEPTH)].rename(columns=_OF_A_DEPTH)
    print_table(table, len(table), "depths", spare=("new", "unjudged"))
    for measure in result.measures:
        say(f"\nThe ranking by {measure} with the judgments of the pool alone, against the one with all:")
        rows = result.agreement[result.agreement["measure"] == measure]
        columns = {name: heading for name, heading in {"depth": "depth", **_AGREEMENT}.items() if name in rows}
        print_table(rows[list(columns)].rename(columns=columns), len(rows), "depths")
    say("\nHow deep a pool must be to find a share of the relevant documents known:")
    needed = result.needed.assign(share=result.needed["share"].map("{:.0%}".format))
    print_table(needed.astype({"depth": object, "documents": object}), len(needed), "shares")
    lines = in_words(result)
    say(f"\n{lines}" if lines else "")
