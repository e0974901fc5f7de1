"""Options that several commands have: measures, contributors, intervals, lists of numbers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pt_reuse._errors import located, wrong
from pt_reuse.cli.parser import Parser

if TYPE_CHECKING:
    import ir_measures

_Number = TypeVar("_Number", int, float)
#: what --judge-rel has to be
_JUDGE_REL = "must be a label such as 4, grades such as 4:2,5:3, or JUDGE= and one of these, such as exam=4"


def listed(text: str) -> list[str]:
    """Return what an option lists between commas.

    A comma inside parentheses belongs to a value: ``AP(rel=2),P(rel=2,judged_only=True)@10`` are two measures.

    Example:
        >>> listed("AP, P(rel=2,judged_only=True)@10 ,")
        ['AP', 'P(rel=2,judged_only=True)@10']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _numbers(text: str, read: Callable[[str], _Number], expected: str) -> list[_Number]:
    try:
        found = [read(part) for part in listed(text)]
    except ValueError:
        found = []
    if not found:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}: give {expected}")
    return found


def _one_or_several(text: str, read: Callable[[str], _Number], expected: str) -> _Number | list[_Number]:
    found = _numbers(text, read, f"{expected}, or several between commas")
    return found if len(found) > 1 else found[0]


def _either(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


#: what reads the text of an option: one number or a list, always a list, and lists in which whole numbers are ints
whole_amounts = partial(_one_or_several, read=int, expected="a whole number")
amounts = partial(_one_or_several, read=float, expected="a number")
whole_numbers = partial(_numbers, read=int, expected="whole numbers between commas")
bands = partial(_numbers, read=_either, expected="numbers between commas")
budgets = partial(
    _numbers, read=_either, expected="shares such as .1,.25, or whole numbers such as 10,50, between commas"
)


def add_out(parser: Parser, what: str) -> None:
    """Add the folder that a command writes to, and whether it may replace what is there."""
    parser.add_option("--out", "DIR", f"write {what} there")
    parser.add_switch("--overwrite", "replace files in --out")


def add_quiet(parser: Parser) -> None:
    """Add the flag that turns progress bars off."""
    parser.add_switch("--quiet", "no progress bars")


def add_jobs(parser: Parser, noun: str) -> None:
    """Add ``--jobs``, how many of some noun in the plural are worked on at a time."""
    parser.add_option("--jobs", "N", f"how many {noun} at a time, -1 for all cores; default 1", type=int)


def add_all(parser: Parser, noun: str) -> None:
    """Add the flag that shows a long table whole, one line for every `noun`."""
    parser.add_switch("--all", f"one line for every {noun}, however many")


def chosen_measures(named: list[str] | None, rel: int | None) -> list[ir_measures.Measure]:
    """Return the measures that the user names, else AP and ``nDCG@10``."""
    from pt_reuse.scoring.caveats import usual_measures
    from pt_reuse.scoring.scores import checked_measures

    if named is None:
        return usual_measures(rel)
    with located("--measures"):
        return checked_measures(named)


def add_contributors(parser: Parser, *, default: str = "pooled") -> None:
    """Add the option that says which runs made the pool."""
    words = ", ".join(f"{word} (default)" if word == default else word for word in ("pooled", "all"))
    parser.add_option(
        "--contributors",
        "WHICH",
        f"runs that made the pool: {words}, names between commas, or a file of one name a line",
        default=default,
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


def given_judge_rel(text: str | None) -> Any:
    """Return ``--judge-rel`` as ``judge_rel=`` takes it: ``4``, ``4:2,5:3``, ``exam=4,other=4:2,other=5:3``."""
    if text is None:
        return None
    rels: dict[str, int] = {}
    grades: dict[str, dict[int, int]] = {}
    for part in listed(text):
        name, _, said = part.rpartition("=")
        label, _, grade = said.partition(":")
        numbers = label.isdecimal() and (grade or "0").isdecimal() and not said.endswith(":")
        if not numbers or (not name and "=" in part):
            raise wrong("judge_rel", f" {_JUDGE_REL}, got {text!r}.")
        mine = grades.get(name, {})
        if name in rels or (not grade and name in grades) or int(label) in mine:
            whose = f"judge {name!r}" if name else "all judges"
            raise wrong(
                "judge_rel",
                f" must say once what the labels of {whose} mean, got {text!r}. Give one lowest relevant label (4) or "
                "a grade for each label (4:2,5:3).",
            )
        if grade:
            grades[name] = {**mine, int(label): int(grade)}
        else:
            rels[name] = int(label)
    found: dict[str, Any] = {**rels, **grades}
    if not found:
        raise wrong("judge_rel", f" {_JUDGE_REL}, got {text!r}.")
    if "" in found and len(found) > 1:
        raise wrong(
            "judge_rel",
            f" must name a judge with every label, or with none, got {text!r}. Without JUDGE= a label is of all.",
        )
    return found.get("", found)
