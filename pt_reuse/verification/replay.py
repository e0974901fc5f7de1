"""Replay: the runs and judgments of a verification, and what was computed from them, each thing once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.run_scores import score
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques

_T = TypeVar("_T")
#: order, depth and contributors of a pool
PoolKey = tuple[str, int, str]


class NotComputedError(Exception):
    """A figure that cannot be computed from what is here, and why."""


class Replay:
    """The runs and judgments of a verification; whatever is computed from them is computed once.

    Args:
        qrels: the judgments.
        runs: the runs that are here, or why none is.
        reread: reads the runs in another order, where their files are at hand.
        published: figure -> its published values, for figures that compare with another's.
        verbose: show progress bars for measures that ir_measures computes.
    """

    def __init__(
        self,
        qrels: Qrels,
        runs: RunSet | str,
        *,
        reread: Callable[[str], RunSet] | None = None,
        published: Mapping[str, pd.Series] | None = None,
        verbose: bool = False,
    ):
        self.qrels, self._given, self._reread = qrels, runs, reread
        self._published, self._verbose = published or {}, verbose
        self._made: dict[Hashable, Any] = {}

    def runs(self, order: str) -> RunSet:
        """Return the runs in an order: one of :data:`pt_reuse.engine.order.ORDERS`, or ``"file_ties"``."""
        return self._once(("runs", order), lambda: self._ordered(order))

    def pool(self, key: PoolKey) -> Pool:
        """Return the depth-k pool of the contributing runs."""
        order, depth, contributors = key
        return self._once(("pool", key), lambda: depth_pool(self.runs(order), depth=depth, contributors=contributors))

    def rows_in(self, key: PoolKey) -> NDArray[np.int64]:
        """Return for each document of a pool its row among the judgments, or -1."""

        def find() -> NDArray[np.int64]:
            pool = self.pool(key)
            return self.qrels.arrays.documents.find(pool.documents)

        return self._once(("rows in", key), find)

    def judged_in(self, key: PoolKey, *, outside: bool = False) -> Qrels:
        """Return the judgments of the documents in a pool, or of all others."""

        def keep() -> Qrels:
            rows = self.rows_in(key)
            inside = np.zeros(len(self.qrels), dtype=bool)
            inside[rows[rows >= 0]] = True
            return self.qrels.keep(inside != outside)

        return self._once(("judged in", key, outside), keep)

    def scores(
        self, order: str, measure: ir_measures.Measure, complete: bool = True, within: PoolKey | None = None
    ) -> Scores:
        """Return the scores of all runs, under all judgments or those `within` a pool."""

        def make() -> Scores:
            qrels = self.qrels if within is None else self.judged_in(within)
            provided = self._verbose and native_spec(measure) is None
            return score(self.runs(order), qrels, measure, complete=complete, verbose=provided)

        return self._once(("scores", order, measure, complete, within), make)

    def means(
        self, order: str, measures: list[ir_measures.Measure], complete: bool = True, within: PoolKey | None = None
    ) -> pd.Series:
        """Return run -> score; of several measures, the mean of the scores."""
        scores = [self.scores(order, measure, complete, within) for measure in measures]
        return pd.Series(np.mean([one.mean_values[0] for one in scores], axis=0), index=scores[0].names)

    def left_out(
        self, key: PoolKey, measure: ir_measures.Measure, *, by: str, remove: str, complete: bool
    ) -> LeaveOutUniques:
        """Return what leaving out each team, run or type does."""
        order, depth, contributors = key
        return self._once(
            ("left out", key, measure, by, remove, complete),
            lambda: leave_out_uniques(
                self.runs(order), self.qrels, measure, by=by, depth=depth, remove=remove, contributors=contributors,
                complete=complete, verbose=self._verbose,
            ),
        )  # fmt: skip

    def published(self, what: str) -> pd.Series:
        """Return run -> published value of another figure."""
        return self._published[what]

    def _once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _ordered(self, order: str) -> RunSet:
        given = self._given
        if isinstance(given, str):
            raise NotComputedError(given)
        if order == given.order:
            return given
        if order == "file_ties":
            runs = self.runs("file")
            field = runs.field
            lists = np.repeat(np.arange(len(field.starts) - 1), np.diff(field.starts))
            # stable: documents of one score stay as they stand in the file
            return RunSet(field.permute(np.lexsort((-np.asarray(field.scores), lists))), runs.run_table, "file")
        if order in ("trec_eval", "trec_eval9"):
            return given.reorder(order)
        if self._reread is None:
            raise NotComputedError(f"the order {order!r} needs the run files: give a folder as runs=")
        return self._reread(order)
