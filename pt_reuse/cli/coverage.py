"""`pt-reuse profile coverage`: how far the judgments cover each run, and whom the pool may put at a disadvantage."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import count
from pt_reuse.cli.common_options import (
    add_contributors,
    add_measures,
    chosen_contributors,
    chosen_measures,
    whole_numbers,
)
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, add_rel
from pt_reuse.cli.screen import SHOWN, print_table, say, shows_bars

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.studies.judged_depths.covering import Coverage

_FILES = (
    "table.csv", "by_run.csv", "condensed.csv", "groups.csv", "by_topic.csv", "flags.csv", "counts.run_table.csv",
    "settings.json", "arrays.npz", "result.json",
)  # fmt: skip
_PICTURES = {"topics.png": "topics", "depths.png": "depths", "residual.png": "residual", "rise.png": "rise"}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "coverage",
        "how far the judgments cover each run, and which runs the pool may put at a disadvantage",
        "The share of unjudged documents down to several ranks, by run, team, type and topic; the rank to which each "
        "run is judged without a gap; the residual of RBP; the ranks that a run gains when unjudged documents are "
        "dropped from all lists; and where it is known who made the pool, what would be unjudged of each run had its "
        "own team not taken part.",
    )
    add_field(parser, qrels=Judgments.NEEDED)
    add_measures(parser)
    parser.add_argument(
        "--depths",
        type=whole_numbers,
        default=[1, 5, 10, 20, 50, 100],
        metavar="LIST",
        help="ranks between commas; default 1,5,10,20,50,100",
    )
    parser.add_argument(
        "--by",
        metavar="UNIT",
        help="what is left out of the pool: team (default where all have one), run, type or family",
    )
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 100")
    add_rel(parser)
    add_contributors(parser)
    add_all(parser, "run")
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.units import check_unit_is_given
    from pt_reuse.studies.judged_depths.covering import check_pool, checked_depths, condensed_form, coverage

    plan = plan_field(options)
    judgments = plan.needed_judgments()
    depths = checked_depths(options.depths)
    check_pool(by=options.by, depth=options.depth, pool_order=None, rel=options.rel)
    measures = chosen_measures(options, judgments.rel if options.rel is None else options.rel)
    for measure in measures:
        condensed_form(measure)
    contributors = chosen_contributors(options, plan.names)
    if options.by is not None:
        check_unit_is_given(options.by, plan.columns)
    folder = out_folder(options, [*_FILES, *_PICTURES])
    qrels, runs = judgments.read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    result = coverage(
        runs,
        qrels,
        measures,
        depths=depths,
        by=options.by,
        depth=options.depth,
        contributors=contributors,
        rel=options.rel,
        verbose=shows_bars(options),
    )
    _report(result, options.all)
    if folder is not None:
        drawings: dict[str, Drawing] = {name: partial(result.plot, kind) for name, kind in _PICTURES.items()}
        written = write_result(result, folder, options, drawings)
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _report(result: Coverage, every: bool) -> None:
    say(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    if (result.groups["by"] == "type").any():
        say("\nShare of unjudged documents by depth, the mean over the runs of each type:")
        rows = result.groups[result.groups["by"] == "type"]
        wide = rows.pivot_table(index="group", columns="depth", values="unjudged", sort=False)
        wide.columns = [f"at {depth}" for depth in wide.columns]
        wide.insert(0, "runs", rows.drop_duplicates("group").set_index("group")["runs"])
        print_table(wide.rename_axis("type").reset_index(), len(wide), "types")
    own = "itself" if result.left_out == "run" else f"its {result.left_out}"
    rise = result.condensed[result.condensed["measure"] == result.measures[0]]["rise"].to_numpy()
    columns = {
        "name": "name",
        "team": "team",
        "unjudged": f"unjudged at {result.at}",
        "unjudged_without_own": f"without {own}",
        "median_judged_to": "judged to",
        "residual": "residual",
        "rise": "rise",
        "flags": "flags",
    }
    table = result.by_run.assign(rise=rise).sort_values("residual", ascending=False, kind="stable")
    table["median_judged_to"] = table["median_judged_to"].map("{:g}".format)
    table = table[[column for column in columns if table[column].notna().any()]]
    say(
        f"\nPer run, the largest residual of RBP first (judged to: the rank to which a list has no gap, in the median "
        f"over topics; rise: ranks gained by {result.measures[0]} without unjudged documents):"
    )
    shown = table.rename(columns=columns)
    print_table(shown, len(table) if every else SHOWN, "runs; --all shows every one", spare=("team", "flags"))
    _report_flags(result.flags)
    say("--out DIR writes all depths, teams, topics and reasons (CSV).")
    say(f"\n{result.headline()}.")


def _report_flags(flags: pd.DataFrame) -> None:
    counts = flags["reason"].value_counts(sort=False)
    said = "; ".join(f"{reason}: {count(n, 'run')}" for reason, n in counts.items())
    say(f"\nWhy the pool may put a run at a disadvantage: {said or 'no run has a flag'}.")
