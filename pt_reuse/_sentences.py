"""Numbers in sentences, each with its interval: what headlines and findings of results have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pt_reuse._text import is_missing


def written(value: float, form: str) -> str:
    """Return a number in a format of Python's, without a sign where it rounds to 0.

    Example:
        >>> written(0.25, "+.2f"), written(-0.0001, "+.2f")
        ('+0.25', '0.00')
    """
    text = format(value, form)
    return text.lstrip("+-") if not text.strip("+-0.,%") else text


def ends(row: Mapping[Any, Any], name: str, form: str, *, factor: float = 1) -> str:
    """Return the interval of a number, ``0.9124 to 0.9871``; nothing where it has none.

    One without width is none: where every draw gives the same, as with 0 of n, the draws do not say how far off it is.

    Args:
        row: with the ends in ``NAME_low`` and ``NAME_high``, where there are any.
        name: of the number.
        form: Python's format of each end.
        factor: by which the ends are multiplied, 100 for points of per cent.
    """
    low, high = (row.get(f"{name}_{end}") for end in ("low", "high"))
    if low is None or high is None or is_missing(low) or is_missing(high) or low == high:
        return ""
    return f"{written(factor * low, form)} to {written(factor * high, form)}"


def with_ends(row: Mapping[Any, Any], name: str, form: str, *, factor: float = 1) -> str:
    """Return a number with its interval behind it where it has one; see :func:`ends`. A missing one is undefined.

    Example:
        >>> with_ends({"tau_b": 0.95, "tau_b_low": 0.9124, "tau_b_high": 0.9871}, "tau_b", ".4f")
        '0.9500 (0.9124 to 0.9871)'
        >>> with_ends({"tau_b": 0.95}, "tau_b", ".4f")
        '0.9500'
    """
    if is_missing(row[name]):
        return "undefined"
    between = ends(row, name, form, factor=factor)
    return written(factor * row[name], form) + (f" ({between})" if between else "")
