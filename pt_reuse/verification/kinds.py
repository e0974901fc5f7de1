"""The kinds of published figures: how each is computed, with which parameters, from what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from pt_reuse._choices import ORDERS
from pt_reuse.verification.computed import Computed
from pt_reuse.verification.names import AnyName, CountsOfRuns, Names, Numbers, OneOf, Ranks
from pt_reuse.verification.of_judgments import count_judgments, count_prefixes
from pt_reuse.verification.of_pools import AGREEMENT, AMONG, SAME, compare_shallow, count_by_best_rank, count_pool
from pt_reuse.verification.of_runs import count_runs, count_saturated, score_runs, summarise_scores
from pt_reuse.verification.of_uniques import (
    compare_without_own,
    count_uniques,
    leave_out,
    take_changes,
    take_losses,
    take_worst,
)
from pt_reuse.verification.parameters import Choice, Contributors, Count, Flag, Given, Grade, Measures, Parameter, Truth
from pt_reuse.verification.replay import FILE_TIES, Replay


class Needs(Enum):
    """What must be here for a figure to be computed."""

    JUDGMENTS = "the judgments"
    #: each value concerns one run
    RUNS = "the runs that are here"
    ALL_RUNS = "all runs"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How figures of one kind are computed.

    Attributes:
        compute: returns what it knows of the names, from a replay, the parameters, and the names asked.
        parameters: those that a figure may have, by name.
        names: the names that values can have.
        needs: what must be here.
        counts: the names, or statistics, that are counts. Other numbers have decimals.
        only_counts: whether all numbers are counts.
    """

    compute: Callable[[Replay, Given, list[str]], Computed]
    parameters: Mapping[str, Parameter]
    names: Names = field(default_factory=AnyName)
    needs: Needs = Needs.ALL_RUNS
    counts: tuple[str, ...] = ()
    only_counts: bool = False

    def is_count(self, name: str, given: Given) -> bool:
        """Return whether the value of a name is a count."""
        return self.only_counts or name in self.counts or given.get("statistic") in self.counts


_ORDER = Choice((*ORDERS, FILE_TIES))
_DEPTH = Count("documents", 100)
_REL = Grade()
_POOL: dict[str, Parameter] = {"order": _ORDER, "depth": _DEPTH, "contributors": Contributors()}
_UNIQUES: dict[str, Parameter] = {
    **_POOL,
    # the order of the pool is that of scoring, but where the two differ
    "pool_order": Choice((SAME, *ORDERS)),
    "rel": _REL,
    "by": Choice(("team", "run", "type"), says_what=True),
    "remove": Choice(("relevant", "judged")),
    "complete": Flag(True),
}
_SCORES: dict[str, Parameter] = {"order": _ORDER, "measure": Measures(), "complete": Flag(True)}
_COUNTS_OF_JUDGMENTS = (
    "topics", "judgments", "judged", "relevant", "unjudged", "junk", "smallest topic", "largest topic",
    "fewest relevant", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip
_COUNTS_OF_A_POOL = (
    "contributing runs", "documents", "relevant", "smallest topic", "largest topic", "not judged",
    "judged but not pooled", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip

#: every kind that a data file can name
KINDS: dict[str, Kind] = {
    "judgments": Kind(
        compute=count_judgments,
        parameters={"rel": _REL},
        names=OneOf((*_COUNTS_OF_JUDGMENTS, "mean topic", "mean density", "largest density")),
        needs=Needs.JUDGMENTS,
        counts=_COUNTS_OF_JUDGMENTS,
    ),
    "prefixes": Kind(
        compute=count_prefixes,
        parameters={"count": Choice(("judged", "relevant"), says_what=True), "rel": _REL},
        needs=Needs.JUDGMENTS,
        only_counts=True,
    ),
    "field": Kind(compute=count_runs, parameters={"order": _ORDER}, names=CountsOfRuns(), only_counts=True),
    "pool": Kind(
        compute=count_pool, parameters={**_POOL, "rel": _REL}, names=OneOf(_COUNTS_OF_A_POOL), only_counts=True
    ),
    "scores": Kind(compute=score_runs, parameters=_SCORES, needs=Needs.RUNS),
    "score_statistic": Kind(
        compute=summarise_scores,
        parameters={
            **_SCORES,
            "by": Choice(("type", "team", "pooled", "all"), says_what=True),
            "statistic": Choice(("max", "mean", "median", "min"), says_what=True),
        },
    ),
    "saturation": Kind(
        compute=count_saturated,
        parameters={"order": _ORDER, "measure": Measures()},
        names=Numbers(),
        only_counts=True,
    ),
    "uniques": Kind(
        compute=count_uniques,
        parameters={
            **_UNIQUES,
            "count": Choice(("unique_relevant", "unique", "unique_nonrelevant"), says_what=True),
        },
        only_counts=True,
    ),
    "left_out": Kind(
        compute=leave_out,
        parameters={
            **_UNIQUES,
            "measure": Measures(alone=True),
            "statistic": Choice((*AGREEMENT, "removed"), says_what=True),
        },
        counts=("max_drop", "removed"),
    ),
    "worst_left_out": Kind(
        compute=take_worst,
        parameters={**_UNIQUES, "measure": Measures(alone=True), "ranks": Count("ranks", 10)},
        names=OneOf(("smallest tau_b", "largest drop", "large drops")),
        counts=("largest drop", "large drops"),
    ),
    "own_uniques": Kind(
        compute=compare_without_own,
        parameters={**_UNIQUES, "measure": Measures(alone=True)},
        names=OneOf(AGREEMENT),
        counts=("max_drop",),
    ),
    "own_losses": Kind(
        compute=take_losses,
        parameters={
            **_UNIQUES,
            "measure": Measures(alone=True),
            "statistic": Choice(("mean", "max"), says_what=True),
        },
    ),
    "own_changes": Kind(compute=take_changes, parameters={**_UNIQUES, "measure": Measures(alone=True)}),
    "shallow_pool": Kind(
        compute=compare_shallow,
        parameters={
            **_POOL,
            **_SCORES,
            "pool_order": Choice((SAME, *_ORDER.words)),
            "rel": _REL,
            "among": Choice(AMONG),
            "truth": Truth(),
            "decimals_of_scores": Count("decimals"),
        },
        names=OneOf(("documents", "judged", "relevant", *AGREEMENT)),
        counts=("documents", "judged", "relevant", "max_drop"),
    ),
    "minimum_rank": Kind(
        compute=count_by_best_rank,
        parameters={**_POOL, "contributors": Choice(("all", "pooled")), "rel": _REL},
        names=Ranks(),
        only_counts=True,
    ),
}
