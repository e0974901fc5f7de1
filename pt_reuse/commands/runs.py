"""`pt-reuse runs`: what is in a field of run files."""

from __future__ import annotations

import argparse

from pt_reuse.commands.field import add_field, plan_field
from pt_reuse.commands.output import SHOWN, print_table
from pt_reuse.commands.parser import Commands, Parser, add_all


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = commands.add_parser("runs", help="describe a field of run files")
    add_field(parser, positional="runs")
    add_all(parser, "run")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    runs = plan_field(options).read_runs()
    print(repr(runs))
    print_table(runs.sizes(), len(runs) if options.all else SHOWN, "runs; --all shows every one")
    dropped = runs.dropped
    if len(dropped):
        print("\nLeft out:")
        print_table(dropped, len(dropped) if options.all else SHOWN, "rows; --all shows every one")
