"""`pt-reuse judge export`: write the documents of a pool as files for people to judge."""

from __future__ import annotations

import argparse

from pt_reuse.commands.parser import Commands, Parser, add_command


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "export", "write the documents of a pool as files for people to judge")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    raise NotImplementedError
