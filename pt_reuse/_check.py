"""Checks of arguments, and the words in which errors list values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from pt_reuse._errors import Argument, InputError


def examples(values: Iterable[Any], limit: int = 3) -> str:
    """Quote the first few values and count the rest: ``'a', 'b', 'c' and 4 more``."""
    quoted = [repr(value) for value in values]
    shown = ", ".join(quoted[:limit])
    return f"{shown} and {len(quoted) - limit} more" if len(quoted) > limit else shown


def count(n: int, noun: str) -> str:
    """Write a number with its noun: ``1 run``, ``2,000 runs``."""
    plural = noun if n == 1 else noun + "s" if not noun.endswith("y") else noun[:-1] + "ies"
    return f"{n:,} {plural}"


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest of the known values, nothing where none is near."""
    near = get_close_matches(str(value), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def choice(argument: str, value: Any, allowed: Sequence[str]) -> str:
    """Return `value` when it is one of `allowed`, else raise."""
    if isinstance(value, str) and value in allowed:
        return value
    raise InputError(
        Argument(argument),
        f" must be one of {examples(allowed, 12)}, got {value!r}.{did_you_mean(value, allowed)}",
        argument=argument,
    )


def flag(argument: str, value: Any) -> bool:
    """Return `value` when it is True or False, else raise."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise InputError(Argument(argument), f" must be True or False, got {value!r}.", argument=argument)


def positive(argument: str, value: Any, unit: str) -> int:
    """Return `value` as an int when it is a whole number of at least 1, else raise."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and hasattr(value, "__index__") and not isinstance(value, bool):
        value, whole = int(value), True
    if not whole or value < 1:
        raise InputError(
            Argument(argument), f" must be a whole number of {unit}, at least 1, got {value!r}.", argument=argument
        )
    return int(value)


def columns(what: str, found: Iterable[Any], needed: Sequence[str]) -> None:
    """Raise when a frame lacks one of the columns that are needed."""
    found = list(found)
    missing = [column for column in needed if column not in found]
    if missing:
        raise InputError(
            f"{what} must have the columns {examples(needed, len(needed))}; "
            f"{examples(missing, len(missing))} not among {examples(found, 12)}.",
            argument=what if what.isidentifier() else None,
        )
