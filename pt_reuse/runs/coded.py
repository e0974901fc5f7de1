"""CodedRuns: what a RunSet is made of, however the runs were given."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from pt_reuse.engine.open_field import AnyField
from pt_reuse.runs.dropped import Dropped
from pt_reuse.runs.how_pooled import HowPooled


@dataclass(frozen=True)
class CodedRuns:
    """Runs, coded and labelled.

    Attributes:
        field: the coded arrays.
        run_table: one row per run, with ``name team type pooled``.
        order: the ranking order in which the rows stand.
        how_pooled: in which order and to which depth the pool was made, as far as somebody says.
        dropped: what was left out.
    """

    field: AnyField
    run_table: pd.DataFrame
    order: str
    how_pooled: HowPooled
    dropped: Dropped
