"""Results of systems that are kept while pt.Experiment runs them, so that a further call goes on where one stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import examples, positive
from pt_reuse._errors import InputError, Option, arguments_as
from pt_reuse.data.kept_results import KeptResults
from pt_reuse.data.pipeline_steps import has_address
from pt_reuse.data.pipelines import KeptPipeline
from pt_reuse.data.run_set import RunSet
from pt_reuse.experiment.systems import saved_files


@dataclass(frozen=True)
class Keeping:
    """What is kept while pt.Experiment runs."""

    results: KeptResults | None = None
    pipelines: Mapping[str, KeptPipeline] = field(default_factory=dict)

    def by_pt(
        self,
        systems: Any,
        topics: pd.DataFrame,
        qrels: pd.DataFrame,
        metrics: list[Any],
        names: Sequence[str] | None,
        arguments: Mapping[str, Any],
    ) -> Any:
        """Return what pt.Experiment returns."""
        if isinstance(systems, RunSet):
            systems = {name: systems[name] for name in systems}
        asked = topics[topics["qid"].isin(set(qrels["qid"]))] if arguments.get("filter_by_qrels") else topics
        with self._opened(asked):
            return pt.Experiment(systems, topics, qrels, metrics, names, **arguments)

    @contextmanager
    def _opened(self, topics: pd.DataFrame) -> Iterator[None]:
        if self.results is None or not self.pipelines:
            yield
            return
        inner = {name: system.pipeline for name, system in self.pipelines.items()}
        with arguments_as(pipelines="retr_systems"), self.results.opened(inner, topics) as kept:
            for name, system in self.pipelines.items():
                system.kept = kept[name]
            try:
                yield
            finally:
                for system in self.pipelines.values():
                    system.kept = None


def kept_systems(
    cache: Any, systems: Any, names: Sequence[str] | None, metrics: Sequence[Any], arguments: Mapping[str, Any]
) -> tuple[Any, Keeping]:
    """Return the systems, those that are pipelines keeping their results, and what is kept."""
    if cache is None:
        return systems, Keeping()
    results = KeptResults(cache)
    _check_together(results, metrics, arguments)
    if isinstance(systems, RunSet):
        return systems, Keeping()
    values = list(systems.values() if isinstance(systems, Mapping) else systems)
    given = [str(name) for name in (systems if isinstance(systems, Mapping) else values if names is None else names)]
    saved = saved_files(given, arguments)
    pipelines: dict[str, KeptPipeline] = {}
    wrapped = [*values]
    # names that are too few are told where systems get them
    for i, (name, system) in enumerate(zip(given, values, strict=False)):
        if not isinstance(system, pt.Transformer) or name in saved:
            continue
        if name in pipelines or has_address(name):
            why = "is that of several" if name in pipelines else "is another in every process"
            raise InputError(
                "results are kept by the names of systems, and ",
                f"{examples([name])} {why}. Give a dict of name -> system, or ",
                Option("names", ...),
                ".",
                argument="retr_systems",
            )
        pipelines[name] = KeptPipeline(name, system, results, batch_size=arguments.get("batch_size"))
        wrapped[i] = pipelines[name]
    keeping = Keeping(results, pipelines)
    return (dict(zip(systems, wrapped, strict=True)) if isinstance(systems, Mapping) else wrapped), keeping


def _check_together(results: KeptResults, metrics: Sequence[Any], arguments: Mapping[str, Any]) -> None:
    """Raise where an argument of pt.Experiment does not go with a folder of results."""
    if arguments.get("batch_size") is not None:
        positive("batch_size", arguments["batch_size"], "topics")
    if any(isinstance(metric, str) and metric == "mrt" for metric in metrics):
        raise InputError(
            "the time of results that are kept is not known, so that 'mrt' cannot be measured with ",
            Option("cache", ...),
            ". Leave one of the two out.",
            argument="eval_metrics",
        )
    shares = "tree" if arguments.get("plan") == "tree" else None
    if shares or arguments.get("precompute_prefix") is True:
        raise InputError(
            "",
            Option("plan", "tree") if shares else Option("precompute_prefix", True),
            " runs what systems share for all topics at once, and results are kept system by system. Leave it out, or ",
            Option("cache", ...),
            ".",
            argument="plan" if shares else "precompute_prefix",
        )
    folder = arguments.get("save_dir")
    if folder is not None and os.path.realpath(folder) == os.path.realpath(results.folder):
        raise InputError(
            "",
            Option("save_dir", ...),
            f" and the cache are one folder, {results.folder}. Give the cache a folder of its own.",
            argument="cache",
        )
