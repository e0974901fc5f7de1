"""`pt-reuse verify`: published numbers, computed again from the user's files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pt_reuse._errors import InputError
from pt_reuse.cli.field import add_faults_to
from pt_reuse.cli.judgments import told_name
from pt_reuse.cli.output import out_file, write_table
from pt_reuse.cli.parser import Commands, Parser, add_command, add_quiet
from pt_reuse.cli.screen import print_table, say, shows_bars

if TYPE_CHECKING:
    import pandas as pd

#: what the screen shows of a figure
_OF_A_FIGURE = ["name", "published", "computed", "equal", "difference"]


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "verify", "replay the published numbers of a collection on your files")
    parser.add_argument("collection", metavar="NAME", help="a collection known by name, such as trec-8/adhoc")
    parser.add_argument("--runs", metavar="DIR", help="folder of its run files; default where collections keep them")
    parser.add_argument("--qrels", metavar="FILE", help="its judgments; default those of the collection")
    add_faults_to(parser)
    parser.add_argument("--figures", metavar="FILE", help="published figures of your own, as TOML")
    parser.add_argument("--brief", action="store_true", help="show the groups, and only figures that are not equal")
    parser.add_argument("--out", metavar="FILE", help="write every figure there, as CSV")
    parser.add_argument("--overwrite", action="store_true", help="replace the file of --out")
    add_quiet(parser)
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    from pt_reuse.verification.verification import DIFFERING, verify

    out = out_file(options)
    result = verify(
        told_name(options.collection),
        runs=options.runs,
        qrels=options.qrels,
        figures=options.figures,
        bad_lines=options.bad_lines,
        other_files=options.other_files,
        verbose=shows_bars(options),
    )
    if not options.brief:
        _print_figures(result.table)
    # last, so that it is what stays on the screen
    say(repr(result))
    _print_groups(result.summary)
    differing = result.table[[verdict.status in DIFFERING for verdict in result.verdicts]]
    if len(differing):
        say("\nUnequal:\n")
        _print_figures(differing)
    for line in result.not_computed(options.shell.in_shell):
        say(line)
    if out is not None:
        write_table(result.table, out)
        say(f"\nWritten: {out}")
    reasons = [verdict.reason for verdict in result.verdicts if verdict.reason is not None]
    if len(reasons) == len(result.verdicts):
        raise InputError("no figure could be computed: ", *reasons[0].parts)
    return 0 if result.holds else 1


def _print_groups(summary: pd.DataFrame) -> None:
    """Print a line per group, and below them the conventions under which they were judged, where they have any."""
    import pandas as pd

    shown = pd.DataFrame(
        {
            "what": summary["what"],
            "equal": [f"{n:,} of {of:,}" for n, of in zip(summary["equal"], summary["figures"], strict=True)],
            "largest difference": summary["largest_difference"],
        }
    )
    if summary["not_computed"].any():
        shown.insert(2, "not computed", summary["not_computed"])
    print_table(shown, len(shown), "groups", numbers="{:.2g}")
    for convention, rows in summary[summary["convention"] != ""].groupby("convention", sort=False):
        say(f"- under {convention}: {'; '.join(rows['what'])}")


def _print_figures(table: pd.DataFrame) -> None:
    """Print the figures of each group, and what is to be said of them."""
    for (what, convention), rows in table.groupby(["what", "convention"], sort=False):
        say(f"{what} ({convention}):" if convention else f"{what}:")
        print_table(rows[_OF_A_FIGURE], len(rows), "figures", numbers="{:.10g}")
        for note in dict.fromkeys(rows["note"]):
            if note:
                say(f"- {note}")
        say()
