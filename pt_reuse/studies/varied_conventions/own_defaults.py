"""What a study takes for a convention of which nobody says anything, on a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import DepthFrom, depth_of
from pt_reuse.studies.type_pools import DEPTH

_Resolve: TypeAlias = Callable[[RunSet, Qrels], Any]


def _depth_by_type(runs: RunSet, _: Qrels) -> int:
    asked = depth_of(runs, None)
    return DEPTH if asked.origin is DepthFrom.DEFAULT else asked.value


def _nothing(*_: Any) -> None:
    """Return nothing: the study says it by itself, of what it is given."""


_COMMON: Mapping[str, _Resolve] = {
    "pool_order": lambda runs, _: runs.pool_order or runs.order,
    "depth": lambda runs, _: depth_of(runs, None).value,
    "rel": lambda _, qrels: qrels.rel,
}
#: study -> the conventions that it takes otherwise than most
_OWN: Mapping[str, Mapping[str, _Resolve]] = {
    "by_type": {"depth": _depth_by_type},
    # the depth is that of the lists, and ranks are those of scoring
    "minimum_ranks": {
        "depth": lambda runs, _: int(runs.field.lengths.max(initial=1)),
        "pool_order": lambda runs, _: runs.order,
    },
    # the pool is what it looks for
    "infer_pool": {"depth": _nothing},
    # with a judge that fills it is another one, which the result says
    "leave_out_uniques": {"remove": lambda *_: "relevant"},
    # each of the two sets of judgments has its own
    "compare_judgments": {"rel": _nothing},
}


def default_of(convention: str, study: str, runs: RunSet, qrels: Qrels) -> Any:
    """Return the value that a study takes for a convention that nobody gives, None where it has a way of its own."""
    resolve = {**_COMMON, **_OWN.get(study, {})}.get(convention, _nothing)
    return resolve(runs, qrels)
