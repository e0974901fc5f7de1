"""The order in which a field is pooled, which need not be the one in which it is scored."""

from __future__ import annotations

from pt_reuse.runs.run_set import RunSet


def in_order_of_pooling(runs: RunSet, order: str | None) -> RunSet:
    """Return a field in the order in which it is pooled.

    Args:
        runs: the field.
        order: one of :data:`pt_reuse.engine.order.ORDERS`; None for the field's own.
    """
    # MERGE: None is `runs.in_pool_order()`, once a RunSet knows the order of its pool
    return runs if order is None else runs.reorder(order)
