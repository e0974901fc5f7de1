"""Which numbers are labels, and what to do with one that is none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import Call, Part

LABELS = (-(2**15), 2**15 - 1)


def not_labels(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are no labels: not whole, too large, or not finite."""
    return ~((values == np.floor(values)) & (values >= LABELS[0]) & (values <= LABELS[1]))


def how_to_grade(value: float) -> tuple[Part, ...]:
    """Return what to do with a number that is no label: of a fraction it is told what makes grades of scores."""
    advice = "Map the labels to whole grades (0 not relevant, 1, 2, ... relevant) first"
    if not np.isfinite(value) or value == np.floor(value):
        return (f"{advice}.",)
    return (f"{advice}: of scores and probabilities ", Call("grade_scores", "..., thresholds=0.5"), " makes them.")
