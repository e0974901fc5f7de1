"""KeptOrders: runs that are put into the same ranking orders again and again."""

from __future__ import annotations

from typing import Any

from pt_reuse.arrays.open_field import AnyField
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.run_set import RunSet


class KeptOrders(RunSet):
    """Runs that keep each ranking order that they are put into, as does what is put into another order.

    A study pools in one order and scores in another, so that each of its calls would sort the whole field.
    """

    _kept: dict[str, AnyField]

    @classmethod
    def of(cls, runs: RunSet) -> KeptOrders:
        """Return runs so, pooled in the order in which they are pooled, in whatever order they are put."""
        how = HowPooled(runs.pool_order or runs.order, runs.pool_depth)
        return cls._made(runs, runs.order, how, {runs.order: runs.field})

    @classmethod
    def _made(cls, runs: RunSet, order: str, how: HowPooled, kept: dict[str, AnyField]) -> KeptOrders:
        made = cls(kept[order], runs._table, order, how, runs._dropped)
        made._kept = kept
        return made

    def reorder(self, order: str) -> RunSet:
        """Return the runs in another ranking order, see :meth:`RunSet.reorder`."""
        if order not in self._kept:
            self._kept[order] = super().reorder(order).field
        return self._made(self, order, self.how_pooled, self._kept)

    def __reduce__(self) -> Any:
        """Return the runs alone: another process has no use for the other orders."""
        return RunSet, (self.field, self._table, self.order, self.how_pooled, self._dropped)
