"""`pt-reuse runs`: what is in a field of run files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from pt_reuse.cli.field import add_field, plan_field
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command
from pt_reuse.cli.screen import SHOWN, print_table, say

#: what a person wants to see first of a run, and can do without where a line is short
_FIRST = ("name", "team", "type", "pooled", "topics", "rows", "shortest", "longest")
_LAST = ("shortest", "longest", "type")


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "runs", "describe a field of run files")
    add_field(parser, positional="runs")
    add_all(parser, "run")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    runs = plan_field(options).read_runs()
    say(repr(runs))
    sizes = runs.sizes()
    known = [str(column) for column in sizes if sizes[column].notna().any()]
    shown = known if options.all else [column for column in _FIRST if column in known]
    print_table(
        sizes[shown],
        len(runs) if options.all else SHOWN,
        "runs; --all shows every one",
        spare=() if options.all else _LAST,
    )
    if len(shown) < len(known):
        rest = ", ".join(column for column in known if column not in shown)
        say(f"Also on record: {rest}; --all shows every column.")
    dropped = runs.dropped
    if len(dropped):
        say("\nLeft out:")
        most = len(dropped) if options.all else SHOWN
        for row in dropped.head(most).to_dict("records"):
            say(f"- {_place(row)}: {row['reason']}")
        if len(dropped) > most:
            say(f"... and {len(dropped) - most:,} more; --all shows every one")


def _place(row: Mapping[str, Any]) -> str:
    """Return where something was left out: the file, its line where it is not the whole file, the document if known."""
    import pandas as pd

    parts = [str(row["file"])]
    if not pd.isna(row["line"]):
        parts.append(f"line {row['line']:,}")
    if row["docno"] is not None:
        parts.append(f"topic {row['qid']}, document {row['docno']}")
    return ", ".join(parts)
