"""Numbers that an option lists between commas."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from pt_reuse.cli.parser import listed

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
