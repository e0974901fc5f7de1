"""Results of runs as a field: what can be judged before there are any, and then the coding of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pt_reuse._check import choice, shown
from pt_reuse._errors import located
from pt_reuse.engine.run_rows import RunRows
from pt_reuse.runs.coded import CodedRuns
from pt_reuse.runs.coding import code_runs, frame_rows, warn_of_twin_topics
from pt_reuse.runs.dropped import Dropped
from pt_reuse.runs.how_pooled import HowPooled
from pt_reuse.runs.metadata import OF_FRAMES, given_metadata
from pt_reuse.runs.ordering import check_order
from pt_reuse.runs.results import result_frame


@dataclass(frozen=True, kw_only=True)
class Framing:
    """How results become a field, as :meth:`RunSet.from_frames` takes it; one that is made has been checked.

    Attributes:
        table: one row per run.
        order: the order that ranks documents.
        how_pooled: in which order and to which depth the pool was made, as far as somebody says.
        duplicates: ``"error"`` or ``"best"``.
    """

    table: pd.DataFrame
    order: str
    how_pooled: HowPooled
    duplicates: str

    def __post_init__(self) -> None:
        check_order("order", self.order)
        choice("duplicates", self.duplicates, ("error", "best"))

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        *,
        order: str = "trec_eval",
        pool_order: str | None = None,
        pool_depth: int | None = None,
        duplicates: str = "error",
        **labels: Any,
    ) -> Framing:
        """Return how the frames of some runs become a field; `labels` are ``teams types pooled metadata``."""
        how_pooled = HowPooled(pool_order, pool_depth)
        table = given_metadata(**labels).table(names, naming=OF_FRAMES)
        return cls(table=table, order=order, how_pooled=how_pooled, duplicates=duplicates)

    def coded(self, results: Iterable[Any]) -> CodedRuns:
        """Return the runs of some results, one for each row of the table, each in any form of one run."""
        rows = [self._rows(name, result) for name, result in zip(self.table["name"], results, strict=True)]
        field, repeats = code_runs(rows, duplicates=self.duplicates)
        dropped = Dropped.of_repeats(repeats, self.table["name"].tolist(), field.topics)
        dropped.tell()
        warn_of_twin_topics(field.topics)
        return CodedRuns(field, self.table, self.order, self.how_pooled, dropped)

    def _rows(self, name: str, result: Any) -> RunRows:
        with located(f"run {shown(name)}"):
            frame = result_frame(result)
        return frame_rows(name, frame, self.order)
