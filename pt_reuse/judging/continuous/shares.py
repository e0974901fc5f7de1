"""Shares: how a user gives them, and how they are written."""

from __future__ import annotations

from numbers import Real
from typing import Any

from pt_reuse._check import told
from pt_reuse._errors import Argument, InputError


def checked_share(argument: str, value: Any) -> float:
    """Return a user's share as a float, or say that it is none.

    Args:
        argument: what the user calls it.
        value: a number from 0 to 1.
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise InputError(
            Argument(argument), f" must be a share, a number from 0 to 1, got {told(value)}.", argument=argument
        )
    return float(value)


def short(share: float) -> str:
    """Write a share with three decimals at most: ``.62``, ``.503``, ``1``."""
    text = f"{share:.3f}".rstrip("0").rstrip(".")
    return text[1:] if text.startswith("0.") else text
