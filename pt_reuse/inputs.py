"""Inputs: what a study reads together, with its caveats: runs, judgments, measures, the pool, how topics are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ir_measures

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import Qrels, as_qrels, relevant_from
from pt_reuse.data.run_set import RunSet, as_runs_before
from pt_reuse.pooling.depth import USUAL_DEPTH, depth_of
from pt_reuse.pooling.pool import Contributors, contributors_of
from pt_reuse.scoring.caveats import (
    beware,
    few_topics,
    grade_unstated,
    misfits,
    relevant_only,
    usual_measures,
    warn_of_lower_grades,
)
from pt_reuse.scoring.scores import check_topics, provided_measures


@dataclass(frozen=True)
class Inputs:
    """The field, the judgments and the measures of one call."""

    runs: RunSet
    qrels: Qrels
    measures: Sequence[ir_measures.Measure]
    rel: int  # the lowest label that is relevant
    complete: bool  # whether means are over all topics

    @classmethod
    def read(
        cls,
        runs: Any,
        qrels: Any,
        measures: Sequence[ir_measures.Measure] | None = None,
        rel: int | None = None,
        *,
        usual: Callable[[int], list[Any]] = usual_measures,
        complete: bool = True,
        without_topics: str = "error",
    ) -> Inputs:
        """Read a field and judgments in any form, and say what a reader must know of them.

        Without measures (``None``) they are the usual ones; a study of none gives ``()``.
        """
        field, given = as_runs_before(runs, qrels)
        judgments = read_judgments(given)
        if without_topics != "zero":
            check_topics(field, judgments)
        lowest, chosen = graded(judgments, measures, rel, usual)
        beware(misfits(field, judgments, chosen, complete=complete, without_topics=without_topics))
        return cls(field, judgments, chosen, lowest, complete)

    def pooled(
        self,
        depth: int | None = None,
        contributors: Any = "pooled",
        pool_order: Any = None,
        *,
        usual: int = USUAL_DEPTH,
    ) -> Pooled:
        """Return which runs are pooled, to which depth, in which order; `usual` is the depth where nobody says one."""
        found = depth_of(self.runs, depth, usual)
        return Pooled(self.runs, *found, contributors_of(self.runs, contributors), pool_order)

    def bootstrap(self, resamples: int, seed: int, confidence: float, n_jobs: int | None) -> TopicBootstrap | None:
        """Return how topics are drawn for intervals; None for no intervals."""
        if not resamples:
            return None
        beware(few_topics(len(self.qrels.topics)))
        return TopicBootstrap(resamples, seed, confidence, n_jobs)

    @property
    def settings(self) -> dict[str, Any]:
        """Return what was read and completed."""
        shared: dict[str, Any] = {"relevant": f"label of at least {self.rel}", **self.runs.settings}
        if self.measures:
            shared |= {"complete": self.complete, "ties": f"means equal to {DECIMALS} decimals"}
            shared |= {"by ir_measures": by} if (by := provided_measures(self.measures)) else {}
        return shared


@dataclass(frozen=True)
class Pooled:
    """Which runs of a field are pooled, and how."""

    runs: RunSet
    depth: int
    depth_from: str  # who says so
    contributors: Contributors
    order: Any = None  # in which the runs are pooled, None for that of the field

    @cached_property
    def ranked(self) -> RunSet:
        """Return the field in the order in which it is pooled."""
        return self.runs.in_pool_order(self.order)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the conventions of the pool."""
        who = {"contributors": str(self.contributors), "pool order": self.ranked.order}
        return {"depth": self.depth, "depth from": self.depth_from, **who}


def read_judgments(qrels: Any, argument: str = "qrels") -> Qrels:
    """Return judgments in any form; a caveat tells where none has label 0."""
    judgments = as_qrels(qrels, argument)
    beware(relevant_only(judgments, "" if argument == "qrels" else argument))
    return judgments


def graded(
    judgments: Qrels,
    measures: Sequence[ir_measures.Measure] | None,
    rel: int | None,
    usual: Callable[[int], list[Any]] = usual_measures,
) -> tuple[int, Sequence[ir_measures.Measure]]:
    """Return from which label documents are relevant, and the measures; a caveat tells where nobody says either."""
    beware(grade_unstated(judgments, rel))
    lowest = relevant_from(judgments, rel)
    chosen = usual(lowest) if measures is None else measures
    warn_of_lower_grades(chosen, lowest)
    return lowest, chosen


def interval_settings(bootstrap: TopicBootstrap | None, more: str = "") -> dict[str, str]:
    """Return the setting that says how intervals are made."""
    return {"intervals": "none" if bootstrap is None else bootstrap.words() + more}


def settings_of(*parts: Any, **own: Any) -> dict[str, Any]:
    """Return the settings of a result: its own, then those of what was read."""
    found = {name.replace("_", " "): value for name, value in own.items()}
    shared = [part if isinstance(part, dict) else part.settings for part in parts if part is not None]
    return found | {name: value for part in shared for name, value in part.items() if name not in found}
