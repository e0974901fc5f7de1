"""`pt-reuse by-type`: what a collection would say of its runs, had one type of system alone made its pool."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import choice
from pt_reuse._errors import located
from pt_reuse.commands.contributors import add_contributors, chosen_contributors
from pt_reuse.commands.field import Judgments, add_field, plan_field
from pt_reuse.commands.intervals import add_intervals, drawn
from pt_reuse.commands.measures import picture
from pt_reuse.commands.output import Drawing, out_folder, table_file, write_result
from pt_reuse.commands.parser import Commands, Parser, add_command, add_jobs, add_out, add_rel, listed
from pt_reuse.commands.screen import print_table, say, shows_bars

if TYPE_CHECKING:
    from pt_reuse.studies.found_documents import FoundByDepth
    from pt_reuse.studies.type_pools.pools_by_type import PoolsByType

_FILES = (
    "table.csv", "by_split.csv", "splits.csv", "run_table.csv", "settings.json", "arrays.npz", "result.json",
)  # fmt: skip
#: what each type finds at each depth, in figures and as a picture
_FOUND, _FOUND_PICTURE = "found.csv", "found.png"
#: the pictures of a measure: how tau spreads over splits, and actual against estimated scores, a panel for each pool
_PICTURES = ("tau_b", "scores")
#: what the screen shows of a pool and a tested group -> its heading
_OF_A_GROUP = {
    "pool": "pool",
    "tested": "tested",
    "splits": "splits",
    "tau_b": "tau_b",
    "tau_b_sd": "sd",
    "tau_b_min": "least",
    "tau_b_max": "most",
    "max_drop": "largest drop",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "by-type",
        "how runs would rank, had systems of one type alone made the pool",
        "The teams of a type are split in halves at random. The pool of one half is judged; the other half, the runs "
        "of each other type, and all of these are ranked by it, and compared with their ranking by the pool of all.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    parser.add_argument(
        "--measures", metavar="LIST", help="comma-separated; default RR, from the relevant grade on, and nDCG@10"
    )
    parser.add_argument(
        "--pools", metavar="LIST", help="types that make pools, comma-separated; default every type that can be split"
    )
    parser.add_argument("--unit", default="team", metavar="UNIT", help="what is split: team (default), run or family")
    parser.add_argument(
        "--splits", type=_splits, default=10, metavar="N", help="how many random halves, or all; default 10"
    )
    parser.add_argument(
        "--gold",
        default="pool",
        metavar="WHICH",
        help="the right judgments: those in the pool of all (pool, default), or all judgments (judgments)",
    )
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 10")
    add_rel(parser)
    add_contributors(parser)
    add_intervals(parser)
    add_jobs(parser, "jobs")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.runs.units import check_unit_is_given
    from pt_reuse.scoring.run_scores import checked_measures
    from pt_reuse.studies.found_documents import found_by_depth
    from pt_reuse.studies.type_pools.halves import checked_splits
    from pt_reuse.studies.type_pools.type_splits import check_types_are_given, checked_types, types_of
    from pt_reuse.studies.type_pools.type_study import by_type, check_type_pools, default_measures

    plan = plan_field(options)
    judgments = plan.needed_judgments()
    intervals = drawn(options)
    checked_splits(options.splits, options.seed)
    check_type_pools(
        unit=options.unit, gold=options.gold, depth=options.depth, rel=options.rel, pool_order=None, n_jobs=options.jobs
    )
    rel = judgments.rel if options.rel is None else options.rel
    with located("--measures"):
        named = None if options.measures is None else checked_measures(listed(options.measures))
    measures = default_measures(rel or 1) if named is None else named
    pools = None if options.pools is None else checked_types(listed(options.pools))
    contributors = chosen_contributors(options, plan.names)
    check_types_are_given(plan.columns)
    check_unit_is_given(options.unit, plan.columns, argument="unit")
    pictures = [picture(kind, repr(measure)) for measure in measures for kind in _PICTURES]
    folder = out_folder(options, [*_FILES, _FOUND, _FOUND_PICTURE, *pictures])
    qrels, runs = judgments.read(), plan.read_runs()
    if options.rel is not None:
        qrels = qrels.with_rel(options.rel)
    say(f"{runs!r}\n{qrels!r}")
    for name in pools or ():
        # --types are those of the runs
        choice("pools", name, types_of(runs).names)
    result = by_type(
        runs,
        qrels,
        measures,
        types=pools,
        unit=options.unit,
        splits=options.splits,
        gold=options.gold,
        depth=options.depth,
        contributors=contributors,
        **intervals,
        n_jobs=options.jobs,
        verbose=shows_bars(options),
    )
    found = found_by_depth(runs, qrels, contributors=contributors)
    _report(result, found)
    if folder is not None:
        beside = {_FOUND: partial(table_file, found.table)}
        written = write_result(result, folder, options, _drawings(result, found), beside)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _splits(text: str) -> int | str:
    try:
        return text if text == "all" else int(text)
    except ValueError:
        problem = f"invalid number of splits {text!r}: give a whole number, or 'all' for every half"
        raise argparse.ArgumentTypeError(problem) from None


def _report(result: PoolsByType, found: FoundByDepth) -> None:
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    columns = dict(_OF_A_GROUP)
    if "tau_b_low" in result.table:
        columns |= {"tau_b_low": "interval from", "tau_b_high": "to"}
    for measure in result.measures:
        rows = result.table[result.table["measure"] == measure]
        say(
            f"\nBy {measure}, the ranking of the tested runs by the pool of half a type against that by the gold "
            "(tau_b and largest drop: means over splits; sd, least and most: of tau_b over splits):"
        )
        print_table(
            rows[list(columns)].rename(columns=columns), len(rows), "groups", spare=("least", "most", "largest drop")
        )
    say("\nRelevant documents in the pool of the contributing runs of each type:")
    _report_found(found)
    say("\n--out DIR writes all columns, every split and the pictures.")


def _report_found(found: FoundByDepth) -> None:
    frame = found.report().to_frame()
    print_table(frame, len(frame), "types", spare=list(frame.columns[1:-1]))
    say(found.meaningful())


def _drawings(result: PoolsByType, found: FoundByDepth) -> dict[str, Drawing]:

    drawings: dict[str, Drawing] = {_FOUND_PICTURE: found.plot}
    for measure in result.measures:
        drawings[picture("tau_b", measure)] = partial(result.plot, measure, kind="tau_b")
        drawings[picture("scores", measure)] = partial(result.plot, measure)
    return drawings
