"""Checks of arguments, and the words in which errors list values."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any

from pt_reuse.errors import InputError

#: the longest value that a message shows, in characters
_LONG = 100
#: what a count of 32 bits can hold
_MOST = 2**31 - 1
#: how much a name has in common with one that is near: not 4 of 6 letters, as neural has with manual
_NEAR = 0.7
#: letters that may be all that one remembers of a name
_WORD = 3


def shown(value: Any) -> str:
    """Write a value for a message, on one line: a text in quotes, cut where it is long; of what takes more its type."""
    if isinstance(value, PurePath):
        return repr(str(value))
    if isinstance(value, str):
        return repr(value if len(value) <= _LONG else f"{value[: _LONG - 3]}...")
    try:
        # a number without its numpy type
        text = repr(value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value)
    except (ValueError, RecursionError):
        # a number of thousands of digits, lists within lists
        return type(value).__name__
    return text if len(text) <= _LONG and "\n" not in text else type(value).__name__


def examples(values: Iterable[Any], limit: int = 3) -> str:
    """Quote the first few values and count the rest: ``'a', 'b', 'c' and 4 more``; long ones are shortened."""
    values = list(values)
    text = ", ".join(map(shown, values[:limit]))
    return f"{text} and {len(values) - limit} more" if len(values) > limit else text


def count(n: int, noun: str) -> str:
    """Write a number with its noun: ``1 run``, ``2,000 runs``."""
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return several of a noun: ``runs``, ``families``, ``other people``."""
    if noun.endswith("person"):
        return noun.removesuffix("person") + "people"
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def per_cent(share: float) -> str:
    """Write a share in per cent: ``95%``."""
    return f"{100 * share:.4g}%"


def listed(texts: Sequence[str]) -> str:
    """List texts in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest of the known values, nothing where none is near."""
    # the case of letters alone makes nothing far
    names = {name.lower(): name for name in reversed([*known])}
    meant = str(value).lower()
    near = get_close_matches(meant, names, n=1, cutoff=_NEAR)
    if len(meant) >= _WORD:
        near += sorted((name for name in names if meant in name), key=len)
    return f" Did you mean {shown(names[near[0]])}?" if near else ""


def choice(argument: str, value: Any, allowed: Sequence[str], *, most: int = 12) -> str:
    """Return `value` when it is one of `allowed`, else raise and list the first of them."""
    if isinstance(value, str) and value in allowed:
        return value
    near = did_you_mean(value, allowed) if isinstance(value, str) else ""
    problem = f"{argument} must be one of {examples(allowed, most)}, got {shown(value)}.{near}"
    raise InputError(problem, argument=argument)


def flag(argument: str, value: Any) -> bool:
    """Return `value` when it is True or False, else raise."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise InputError(f"{argument} must be True or False, got {shown(value)}.", argument=argument)


def positive(argument: str, value: Any, unit: str) -> int:
    """Return `value` as an int when it is a whole number of at least 1 that counts can hold, else raise."""
    return whole(argument, value, unit, least=1)


def whole(argument: str, value: Any, unit: str, *, least: int) -> int:
    """Return `value` as an int when it is a whole number of at least `least` that counts can hold, else raise."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        expected = f"{argument} must be a whole number of {unit}, at least {least}"
        raise InputError(f"{expected}, got {shown(value)}.", argument=argument)
    if number > _MOST:
        raise InputError(f"{argument} must be at most {_MOST:,}, got {shown(value)}.", argument=argument)
    return number


def checked_seed(seed: Any) -> int:
    """Return a user's ``seed=`` as an int, or say that it is none."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, got {shown(seed)}.", argument="seed")
    return int(seed)


def checked_jobs(n_jobs: Any) -> int | None:
    """Return a user's ``n_jobs=`` as joblib takes it, None where joblib is to decide, or say that it is none."""
    if n_jobs is None or (isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and n_jobs):
        return None if n_jobs is None else int(n_jobs)
    expected = "a whole number of jobs, 1 or more, or below 0 to count from all cores (-1)"
    raise InputError(f"n_jobs must be {expected}, got {shown(n_jobs)}.", argument="n_jobs")


def fraction(argument: str, value: Any, *, ends: bool = True) -> float:
    """Return `value` as a float when it is a number from 0 to 1, else raise; without `ends` 0 and 1 are none."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and (0 <= value <= 1 if ends else 0 < value < 1):
        return float(value)
    expected = "from 0 to 1" if ends else "above 0 and below 1"
    raise InputError(f"{argument} must be a number {expected}, got {shown(value)}.", argument=argument)


def number(argument: str, value: Any, *, least: float = 0.0) -> float:
    """Return `value` as a float when it is a finite number of at least `least`, else raise."""
    if isinstance(value, Real) and not isinstance(value, bool) and least <= float(value) < float("inf"):
        return float(value)
    raise InputError(f"{argument} must be a number, {least:g} or more, got {shown(value)}.", argument=argument)


def names(argument: str, value: Any) -> tuple[str, ...]:
    """Return a text, or several, as texts, else raise."""
    found = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    if found and all(isinstance(name, str) for name in found):
        return found
    raise InputError(f"{argument} must be a name or several, got {shown(value)}.", argument=argument)


def columns(what: str, found: Iterable[Any], needed: Sequence[str]) -> None:
    """Raise when a frame lacks one of the columns that are needed."""
    found = list(found)
    missing = [column for column in needed if column not in found]
    if missing:
        raise InputError(
            f"{what} must have the columns {examples(needed, len(needed))}; "
            f"{examples(missing, len(missing))} not among {examples(found, 12) or 'none'}.",
            argument=what if what.isidentifier() else None,
        )
