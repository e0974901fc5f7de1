"""The measures that a command computes."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from pt_reuse._errors import located
from pt_reuse.cli.parser import Parser, listed

if TYPE_CHECKING:
    import ir_measures


def add_measures(parser: Parser) -> None:
    """Add the option that names the measures."""
    parser.add_argument(
        "--measures",
        metavar="LIST",
        help="comma-separated; default AP,nDCG@10, and AP(rel=2) where documents are relevant from label 2",
    )


def chosen_measures(options: argparse.Namespace, rel: int | None) -> list[ir_measures.Measure]:
    """Return the measures that the user names, else AP and ``nDCG@10``."""
    from pt_reuse.scoring.grades import usual_measures
    from pt_reuse.scoring.run_scores import checked_measures

    if options.measures is None:
        return usual_measures(rel)
    with located("--measures"):
        return checked_measures(listed(options.measures))


def picture(beginning: str, measure: str) -> str:
    """Return the name of the picture of a measure, without what no file's name has everywhere."""
    return f"{beginning}-{re.sub(r'[/:]', '-', measure)}.png"
