"""The options of commands whose numbers can have intervals over topics."""

from __future__ import annotations

import argparse
from typing import TypedDict

from pt_reuse.cli.parser import Parser


class Drawn(TypedDict, total=False):
    """What a study is told of its intervals; what is not there, the study has a default for."""

    resamples: int
    confidence: float
    seed: int


def add_intervals(parser: Parser, *, resamples: int | None = 0) -> None:
    """Add the options that say how often topics are drawn, and how wide intervals are.

    Args:
        parser: of the command.
        resamples: how often topics are drawn by default; 0 for no intervals; None where that is left to each study.
    """
    default = (
        "0 for none" if resamples is None else f"default {resamples}" + ("; 0 for none" if resamples else ", none")
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=resamples,
        metavar="N",
        help=f"draw the topics N times for intervals; {default}",
    )
    parser.add_argument("--confidence", type=float, default=0.95, metavar="P", help="of the intervals; default .95")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random numbers; default 0")


def drawn(options: argparse.Namespace) -> Drawn:
    """Return what the options of :func:`add_intervals` ask for, checked before anything is read."""
    from pt_reuse.arrays.bootstrap import checked_bootstrap

    how = Drawn(confidence=options.confidence, seed=options.seed)
    if options.resamples is not None:
        how["resamples"] = options.resamples
    checked_bootstrap(**{"resamples": 1, **how})
    return how


def interval(low: float, high: float, written: str) -> str:
    """Return an interval as tables on the screen have it, ``0.9124 to 0.9871``.

    Args:
        low: its lower end.
        high: its upper end.
        written: Python's format of the ends, ``".4f"``.
    """
    return f"{low:{written}} to {high:{written}}"
