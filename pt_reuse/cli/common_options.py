"""Options that several commands have: measures, contributors, intervals, lists of numbers."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict, TypeVar

from pt_reuse._errors import located
from pt_reuse.cli.parser import Parser, listed

if TYPE_CHECKING:
    import ir_measures

_Number = TypeVar("_Number", int, float)


def whole_amounts(text: str) -> int | list[int]:
    """Return a whole number, or several that stand between commas."""
    return _one_or_several(text, int, "a whole number, or several between commas")


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers that stand between commas, one or several."""
    return _numbers(text, int, "whole numbers between commas")


def amounts(text: str) -> float | list[float]:
    """Return a number, or several that stand between commas."""
    return _one_or_several(text, float, "a number, or several between commas")


def bands(text: str) -> list[float]:
    """Return numbers that stand between commas; whole ones are ints, the last may be ``inf``."""
    return _numbers(text, _either, "numbers between commas")


def budgets(text: str) -> list[float]:
    """Return numbers that stand between commas: ``.1`` is a share, ``10`` a whole number."""
    return _numbers(text, _either, "shares such as .1,.25, or whole numbers such as 10,50, between commas")


def _either(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _one_or_several(text: str, read: Callable[[str], _Number], expected: str) -> _Number | list[_Number]:
    found = _numbers(text, read, expected)
    return found if len(found) > 1 else found[0]


def _numbers(text: str, read: Callable[[str], _Number], expected: str) -> list[_Number]:
    try:
        found = [read(part) for part in listed(text)]
    except ValueError:
        found = []
    if not found:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}: give {expected}")
    return found


def add_measures(parser: Parser) -> None:
    """Add the option that names the measures."""
    parser.add_argument(
        "--measures",
        metavar="LIST",
        help="comma-separated; default AP,nDCG@10, and AP(rel=2) where documents are relevant from label 2",
    )


def chosen_measures(options: argparse.Namespace, rel: int | None) -> list[ir_measures.Measure]:
    """Return the measures that the user names, else AP and ``nDCG@10``."""
    from pt_reuse.scoring.caveats import usual_measures
    from pt_reuse.scoring.run_scores import checked_measures

    if options.measures is None:
        return usual_measures(rel)
    with located("--measures"):
        return checked_measures(listed(options.measures))


def picture(beginning: str, measure: str) -> str:
    """Return the name of the picture of a measure, without what no file's name has everywhere."""
    return f"{beginning}-{re.sub(r'[/:]', '-', measure)}.png"


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
    from pt_reuse.pooling.pool import named_contributors

    text: str = options.contributors
    if text in ("pooled", "all"):
        return text
    # a long list of names is too long for a path, which pathlib would raise about
    if os.path.isfile(os.path.expanduser(text)):
        with located(text):
            lines = read_lines(text, "contributors", "a file of one name a line")
        return named_contributors((line.strip() for line in lines if line.strip()), known)
    return named_contributors(listed(text), known)


class Drawn(TypedDict, total=False):
    """What a study is told of its intervals; what is not there, the study has a default for."""

    resamples: int
    confidence: float
    seed: int


def add_intervals(parser: Parser, *, resamples: int | None = 0) -> None:
    """Add the options that say how often topics are drawn, and how wide intervals are."""
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
    """Return an interval as tables on the screen have it, ``0.9124 to 0.9871``."""
    return f"{low:{written}} to {high:{written}}"
