"""Asked: the arguments of one call of a study, checked, read and completed in the order in which they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import ir_measures

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import Qrels, as_qrels, relevant_from
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.pooling.depth import DepthFrom, PoolDepth, depth_of
from pt_reuse.pooling.pool import Contributors, contributors_of
from pt_reuse.scoring.caveats import (
    Caveat,
    grade_unstated,
    noted,
    relevant_only,
    tell,
    usual_measures,
    warn_of_lower_grades,
)
from pt_reuse.scoring.run_fit import misfits
from pt_reuse.scoring.scores import Scores, check_topics, named_scores, provided_measures
from pt_reuse.study import study_of


class Asked:
    """What one call of a study asks for; what is wrong whatever the data are is raised at once."""

    def __init__(self, call: Callable[..., Any], given: Mapping[str, Any]):
        self._study = study_of(call)
        self._given = self._study.checked(given)
        self.caveats: list[Caveat] = []
        self._units: Units | None = None

    def __getitem__(self, name: str) -> Any:
        if name not in self._given:
            raise TypeError(
                f"{self._study.name} uses {name!r}, which is none of its arguments: add it to its signature"
            )
        return self._given[name]

    @cached_property
    def _read(self) -> tuple[RunSet, Any]:
        return as_runs_before(self["runs"], self["qrels"])

    @property
    def runs(self) -> RunSet:
        """Return the field."""
        return self._read[0]

    @cached_property
    def qrels(self) -> Qrels:
        """Return the judgments, with the caveats of what was read."""
        qrels = self._read_qrels()
        self.tell(relevant_only(qrels))
        return qrels

    def _read_qrels(self) -> Qrels:
        """Return the judgments; every run has a topic of them, unless it may score 0."""
        qrels = as_qrels(self._read[1])
        if self._given.get("without_topics") != "zero":
            check_topics(self.runs, qrels)
        return qrels

    @cached_property
    def scores(self) -> dict[str, Scores]:
        """Return the scores under each judgments by name, good to compare runs by."""
        return named_scores(self["scores"])

    @cached_property
    def rel(self) -> int:
        """Return the lowest label that is relevant; of a known collection whose grade is not stated a caveat tells."""
        given = self._given.get("rel")
        self.tell(grade_unstated(self.qrels, given))
        return relevant_from(self.qrels, given)

    @cached_property
    def measures(self) -> list[ir_measures.Measure]:
        """Return the measures; of those that count from another grade than is relevant a warning tells."""
        usual = self._study.measures or usual_measures
        found: list[ir_measures.Measure] = usual(self.rel) if self["measures"] is None else self["measures"]
        warn_of_lower_grades(found, self.rel)
        return found

    @cached_property
    def contributors(self) -> Contributors:
        """Return the runs that are pooled."""
        return contributors_of(self.runs, self["contributors"])

    @cached_property
    def depth(self) -> PoolDepth:
        """Return to which depth runs are pooled, and who says so."""
        found = depth_of(self.runs, self._given.get("depth"))
        usual = self._study.depth
        return found if usual is None or found.origin is not DepthFrom.DEFAULT else PoolDepth(usual, found.origin)

    @cached_property
    def ranked(self) -> RunSet:
        """Return the field in the order in which it is pooled."""
        return self.runs.in_pool_order(self["pool_order"])

    def units(self, argument: str) -> Units:
        """Return the teams, types, families or runs that an argument names."""
        self._units = self.runs.units(self[argument])
        return self._units

    @cached_property
    def bootstrap(self) -> TopicBootstrap | None:
        """Return how topics are drawn for intervals; None for no intervals."""
        if not self["resamples"]:
            return None
        return TopicBootstrap(
            self["resamples"], self["seed"], self._given.get("confidence", 0.95), self._given.get("n_jobs")
        )

    @property
    def how(self) -> dict[str, Any]:
        """Return how the work is done: ``n_jobs`` and ``verbose``, as far as the study takes them."""
        return {name: self[name] for name in ("n_jobs", "verbose") if name in self._given}

    def tell(self, *caveats: Iterable[Caveat]) -> None:
        """Warn of caveats, and keep them for the settings."""
        found = [caveat for some in caveats for caveat in some]
        tell(found)
        self.caveats += found

    def settings(self, **own: Any) -> dict[str, Any]:
        """Return the settings of the result: the study's own, then what was read and completed, then caveats."""
        used = self.__dict__
        scored = "measures" in used
        if "_read" in used and "qrels" in used:
            without = self._given.get("without_topics", "error")
            how = {"complete": self._given.get("complete", True), "without_topics": without}
            self.tell(misfits(self.runs, self.qrels, self.measures if scored else (), **how))
        found: dict[str, Any] = {
            name.replace("_", " ") if name.isidentifier() else name: value for name, value in own.items()
        }
        shared: dict[str, Any] = {}
        if "depth" in used:
            shared |= {"depth": self.depth.value, "depth from": self.depth.origin.value}
        if "rel" in used:
            shared["relevant"] = f"label of at least {self.rel}"
        if "contributors" in used:
            shared["contributors"] = str(self.contributors)
        if self._units is not None:
            shared |= self._units.settings
        if "_read" in used:
            shared |= self.runs.settings
        if "ranked" in used:
            shared["pool order"] = self.ranked.order
        if scored:
            shared |= {"complete": self._given.get("complete", True), "ties": f"means equal to {DECIMALS} decimals"}
        if "resamples" in self._given:
            shared["intervals"] = "none" if self.bootstrap is None else self.bootstrap.words()
        if scored and (provided := provided_measures(self.measures)):
            shared["by ir_measures"] = provided
        return {**found, **{name: shared[name] for name in shared if name not in found}, **noted(self.caveats)}
