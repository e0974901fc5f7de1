"""Parts of a field whose rankings are compared: all runs, the best, those of each type or family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.units import COLUMNS, Units

#: `by` of the parts that are no groups, and what the first is called
ALL, BEST = "all", "best"
#: what runs can be grouped by
GROUPS = tuple(name for name in COLUMNS if name != "run")


@dataclass(frozen=True)
class FieldPart:
    """Some runs of a field.

    Attributes:
        by: ``"all"``, ``"best"``, or what the runs are grouped by.
        name: of the part.
        runs: (runs of the part,) their positions in the field.
    """

    by: str
    name: str
    runs: NDArray[np.int64]


def checked_grouping(by: str | None) -> str | None:
    """Return a user's ``by=``, or say that nothing groups runs so."""
    return None if by is None else choice("by", by, GROUPS)


def parts_of(truth: NDArray[np.float64], best: int, groups: Units | None) -> Iterator[FieldPart]:
    """Yield all runs, the best of them, and each group.

    Args:
        truth: (runs,) means under the labels of people.
        best: how many are the best; runs that tie with the last of them are among them. Where that is all runs there
            is no such part.
        groups: of the runs, None for none.
    """
    yield FieldPart(ALL, ALL, np.arange(len(truth)))
    chosen = np.flatnonzero(pairs.ranks(rounded(truth)) <= best)
    if len(chosen) < len(truth):
        yield FieldPart(BEST, f"{BEST} {best:,}", chosen)
    if groups is not None:
        for number, name in enumerate(groups.names):
            yield FieldPart(groups.by, name, np.flatnonzero(groups.of_run == number))
