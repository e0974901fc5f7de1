"""Ties of computed values: what differs by rounding alone is equal, so that every machine makes the same choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: values that are nearer to each other than this are equal; their rounding errors must not grow with the labels
TOLERANCE = 1e-12


def first_of_best(values: NDArray[np.float64]) -> int:
    """Return the first position whose value is within 1e-12 of the largest."""
    # argmax is faster than max
    return int((values >= values[values.argmax()] - TOLERANCE).argmax())
