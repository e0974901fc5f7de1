"""Shares of a number of documents: how many documents a share is."""

from __future__ import annotations

import math


def share_of(share: float, n: int) -> int:
    """Return how many of `n` a share of them is: the nearest whole number, halves up.

    Args:
        share: from 0 to 1.
        n: of how many.

    Example:
        >>> share_of(1 / 3, 3), share_of(0.5, 5), share_of(0.29, 50)
        (1, 3, 15)
    """
    # 0.29 * 50 is 14.499999999999998
    return math.floor(round(share * n, 9) + 0.5)
