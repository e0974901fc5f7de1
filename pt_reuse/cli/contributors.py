"""Which runs made the pool, as the user of a command says."""

from __future__ import annotations

import argparse
import os

from pt_reuse._errors import located
from pt_reuse.cli.parser import Parser, listed


def add_contributors(parser: Parser, *, default: str = "pooled", what: str = "runs that made the pool") -> None:
    """Add the option that says which runs made the pool."""
    words = ", ".join(f"{word} (default)" if word == default else word for word in ("pooled", "all"))
    parser.add_argument(
        "--contributors",
        default=default,
        metavar="WHICH",
        help=f"{what}: {words}, names between commas, or a file of one name a line",
    )


def chosen_contributors(options: argparse.Namespace, known: list[str] | None) -> str | list[str]:
    """Return ``"pooled"``, ``"all"``, or the names that are listed or that a file lists."""
    from pt_reuse.data.metadata import read_lines
    from pt_reuse.pooling.contributors import named_contributors

    text: str = options.contributors
    if text in ("pooled", "all"):
        return text
    # a long list of names is too long for a path, which pathlib would raise about
    if os.path.isfile(os.path.expanduser(text)):
        with located(text):
            lines = read_lines(text, "contributors", "a file of one name a line")
        return named_contributors((line.strip() for line in lines if line.strip()), known)
    return named_contributors(listed(text), known)
