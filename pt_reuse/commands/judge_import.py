"""`pt-reuse judge import`: read the files that people judged, and check them."""

from __future__ import annotations

import argparse

from pt_reuse.commands.parser import Commands, Parser, add_command


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "import", "read the files that people judged, and check them")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    raise NotImplementedError
