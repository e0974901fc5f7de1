"""Replay: the runs and judgments of a verification, and what was computed from them, each thing once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine.field import Field
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.units import check_every_run_has
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.run_scores import score
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques
from pt_reuse.verification.computed import NotComputedError, because
from pt_reuse.verification.material import Material

_T = TypeVar("_T")
#: by score, documents of one score as they stand in the file: how NIST pooled in 2025
FILE_TIES = "file_ties"


class PoolKey(NamedTuple):
    """Which pool: its order, depth and contributors."""

    order: str
    depth: int
    contributors: str | tuple[str, ...]


class Replay:
    """The runs and judgments of a verification; whatever is computed from them is computed once.

    Args:
        material: the judgments, and the runs that are here or why none is.
        published: figure -> its published values, for figures that compare with another's.
        verbose: show progress bars for measures that ir_measures computes.

    Attributes:
        material: as given.
        qrels: the judgments.
    """

    def __init__(self, material: Material, *, published: Mapping[str, pd.Series], verbose: bool = False):
        self.material, self.qrels = material, material.qrels
        self._published, self._verbose = published, verbose
        self._made: dict[Hashable, Any] = {}

    def runs(self, order: str) -> RunSet:
        """Return the runs in an order: one of :data:`pt_reuse.engine.order.ORDERS`, or :data:`FILE_TIES`."""
        return self._once(("runs", order), lambda: self._ordered(order))

    def pool(self, key: PoolKey) -> Pool:
        """Return the depth-k pool of the contributing runs."""
        return self._once(
            ("pool", key), lambda: depth_pool(self.runs(key.order), depth=key.depth, contributors=key.contributors)
        )

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
        self, key: PoolKey, measure: ir_measures.Measure, *, order: str, by: str, remove: str, rel: int, complete: bool
    ) -> LeaveOutUniques:
        """Return what leaving out each team, run or type does, runs scored in an order."""
        # a published figure is of the teams that there were: a run without one must not count as one
        check_every_run_has(self.runs(order).run_table, by)
        return self._once(
            ("left out", key, measure, order, by, remove, rel, complete),
            lambda: leave_out_uniques(
                self.runs(order),
                self.qrels,
                measure,
                by=by,
                depth=key.depth,
                pool_order=None if key.order == order else key.order,
                remove=remove,
                rel=rel,
                contributors=key.contributors,
                complete=complete,
                verbose=self._verbose and native_spec(measure) is None,
            ),
        )

    def published(self, what: str) -> pd.Series:
        """Return run -> published value of another figure."""
        return self._published[what]

    def _once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        if key not in self._made:
            # a published figure is equal or not, whatever it means
            with told_elsewhere():
                self._made[key] = make()
        return self._made[key]

    def _ordered(self, order: str) -> RunSet:
        if self.material.runs is None:
            raise NotComputedError(self.material.no_runs or because("no runs"))
        # pooled in the order that the figure names, whatever the order of the collection's own pool
        runs = RunSet(self.material.runs.field, self.material.runs.run_table, self.material.runs.order)
        return _by_score(runs.reorder("file")) if order == FILE_TIES else runs.reorder(order)


def _by_score(runs: RunSet) -> RunSet:
    """Return runs in the order of their files by score; documents of one score stay as they stand in the file."""
    field, step = runs.field, _StableByScore()
    changed = step.of(field) if isinstance(field, Field) else field.changed(step, field.lengths)
    return RunSet(changed, runs.run_table, runs.order)


class _StableByScore:
    """Puts the lists of a block in the order of their scores, those of one score as they stand."""

    def of(self, block: Field) -> Field:
        """Return the block in that order."""
        scores = -np.asarray(block.scores)
        # list by list, since each of them is nearly sorted as it stands
        order = np.arange(len(scores))
        for start, stop in pairwise(block.starts.tolist()):
            order[start:stop] = start + np.argsort(scores[start:stop], kind="stable")
        return block.permute(order)
