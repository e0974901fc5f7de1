"""Which runs the pool may put at a disadvantage, and why one may think so."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pandas as pd


class Reason(Enum):
    """Why a run may be better than its score says; the value is what stands in tables."""

    UNCOVERED = "less covered than any contributor"
    RISES = "rises on condensed lists"
    OPEN = "residual above every contributor's"


def flag_table(runs: pd.DataFrame, condensed: pd.DataFrame) -> pd.DataFrame:
    """Return one row per run and reason: ``name reason value limit``, the runs in their order.

    The *value* is what the run has, the *limit* what it must be above:

    - ``less covered than any contributor``: its share of unjudged documents, and the largest that a contributing run
      has without what its own unit alone brought; where that is not known, nobody has this flag.
    - ``rises on condensed lists``: the ranks it gains by the first measure when unjudged documents are dropped, 0.
    - ``residual above every contributor's``: the residual of RBP, and the largest of a contributing run; likewise.

    A run without an unjudged document down to the depth of comparison has no flag.

    Args:
        runs: one row per run, see ``Coverage``, with ``unjudged`` at the depth of comparison.
        condensed: one row per run in the same order, with ``rise`` by the first measure.
    """
    contributed = runs["contributed"].fillna(False).to_numpy(dtype=bool)
    reference = runs.loc[contributed, "unjudged_without_own"].max()
    unjudged = runs["unjudged"].to_numpy(dtype=float)
    values = {
        Reason.UNCOVERED: (unjudged, float(reference)),
        Reason.RISES: (condensed["rise"].to_numpy(dtype=float), 0.0),
        Reason.OPEN: (runs["residual"].to_numpy(dtype=float), float(runs.loc[contributed, "residual"].max())),
    }
    rows = []
    for reason, (value, limit) in values.items():
        # a limit that is not known is NaN, which nothing is above
        for place in np.flatnonzero((value > limit) & (unjudged > 0)).tolist():
            rows.append((place, runs["name"].iloc[place], reason.value, value[place], limit))
    table = pd.DataFrame(rows, columns=["place", "name", "reason", "value", "limit"])
    table = table.sort_values("place", kind="stable", ignore_index=True).drop(columns="place")
    return table.astype({"name": object, "reason": object, "value": float, "limit": float})
