"""`pt-reuse verify`: published numbers, computed again from the user's files."""

from __future__ import annotations

import argparse
import sys

from pt_reuse._errors import InputError
from pt_reuse.commands.field import add_faults_to, told_name
from pt_reuse.commands.output import out_file, print_table, write_table
from pt_reuse.commands.parser import Commands, Parser
from pt_reuse.verification.verification import verify

_SHOWN_OF_A_FIGURE = ["what", "name", "published", "computed", "equal", "difference", "convention"]


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = commands.add_parser("verify", help="replay the published numbers of a collection on your files")
    parser.add_argument("collection", metavar="NAME", help="a collection known by name, such as trec-8/adhoc")
    parser.add_argument("--runs", metavar="DIR", help="folder of its run files; default where collections keep them")
    parser.add_argument("--qrels", metavar="FILE", help="its judgments; default those of the collection")
    add_faults_to(parser)
    parser.add_argument("--figures", metavar="FILE", help="published figures of your own, as TOML")
    parser.add_argument("--brief", action="store_true", help="show the groups, and only figures that are not equal")
    parser.add_argument("--out", metavar="FILE", help="write every figure there, as CSV")
    parser.add_argument("--overwrite", action="store_true", help="replace the file of --out")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    out = out_file(options)
    result = verify(
        told_name(options.collection),
        runs=options.runs,
        qrels=options.qrels,
        figures=options.figures,
        bad_lines=options.bad_lines,
        other_files=options.other_files,
        verbose=sys.stderr.isatty(),
    )
    if not options.brief:
        print_table(result.table[_SHOWN_OF_A_FIGURE], len(result.table), "figures", numbers="{:.10g}")
        print()
    # last, so that it is what stays on the screen
    print(result.told(options.shell.in_shell))
    if out is not None:
        write_table(result.table, out)
        print(f"\nWritten: {out}")
    reasons = [verdict.reason for verdict in result.verdicts if verdict.reason is not None]
    if len(reasons) == len(result.verdicts):
        raise InputError("no figure could be computed: ", *reasons[0].parts)
    return 0 if result.holds else 1
