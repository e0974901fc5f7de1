"""The systems of an experiment: their names, the taps at the end of pipelines, and what they returned."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import columns, count, examples, shown
from pt_reuse._errors import InputError, Option, located, warn
from pt_reuse.data.coding import code_runs, frame_rows
from pt_reuse.data.frame_columns import COLUMNS, READ_FILES, has_fields, is_nested, result_frame
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.ordering import UNKNOWN
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_reading import as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.experiment.columns import ORDER, Asked
from pt_reuse.experiment.tap import Kept, Tap, Tapped
from pt_reuse.scoring.topic_sets import topics_of_runs


@dataclass(frozen=True)
class SavedRun:
    """A file of results that pt.Experiment evaluates in place of a system."""

    path: str
    form: Any

    def read(self) -> pd.DataFrame:
        """Return the results."""
        if self.form == "trec":
            return pt.io.read_results(self.path)
        with pt.io.autoopen(self.path, "rb") as file:
            return self.form.load(file) if isinstance(self.form, ModuleType) else self.form[0](file)


@dataclass(frozen=True)
class Systems:
    """The systems by name, and the tap of each that is a pipeline.

    Attributes:
        given: name -> pipeline or result frame.
        taps: name -> what keeps the results of the pipeline.
        runs: the same systems where they were given as a RunSet, which knows more of them than frames do.
    """

    given: dict[str, Any]
    taps: dict[str, Tap]
    runs: RunSet | None = None

    @property
    def names(self) -> list[str]:
        """Return the names, in the order given."""
        return list(self.given)

    def tapped(self) -> list[Any]:
        """Return what pt.Experiment is to evaluate."""
        return [Tapped(system, self.taps[name]) if name in self.taps else system for name, system in self.given.items()]

    def frames(self, saved: Mapping[str, SavedRun], only: set[str] | None) -> dict[str, pd.DataFrame]:
        """Return the systems that are result frames, no file standing for them (`only` these topics)."""
        frames = {}
        for name, system in self.given.items():
            if name in saved or name in self.taps:
                continue
            if not isinstance(system, pd.DataFrame):
                raise InputError(
                    f"system {name!r} must be a pipeline or the results of a run (a frame with the columns 'qid', "
                    "'docno' and 'score', ScoredDoc tuples, a dict of topic -> document -> score), got "
                    f"{type(system).__name__}.",
                    *(READ_FILES if isinstance(system, str | os.PathLike) else ()),
                    argument="retr_systems",
                )
            columns(f"system {name!r}", system.columns, ("qid", "docno", "score"))
            frames[name] = system if only is None else system[system["qid"].astype(str).isin(only)]
        return frames

    def results(self, saved: Mapping[str, SavedRun], only: set[str] | None) -> dict[str, pd.DataFrame]:
        """Return what pt.Experiment evaluated: a saved file, what passed a tap, or a frame (`only` these topics)."""
        found = self.frames(saved, only)
        for name in self.given:
            if name in saved:
                found[name] = saved[name].read()
            elif name in self.taps:
                found[name] = self.taps[name].results()
        return {name: found[name] for name in self.given}


def given_systems(given: Any) -> Any:
    """Return systems as a RunSet, or a dict or list of pipelines and result frames.

    What holds runs alone, such as the path of their files, is a RunSet; each system of a dict or a list may be the
    results of a run in any form.
    """
    given = held(given)
    if isinstance(given, RunSet):
        return given
    if is_files(given) or isinstance(given, pd.DataFrame) or _of_one_run(given):
        return as_runs(given, argument="retr_systems")
    if isinstance(given, Mapping):
        systems: Any = {name: _pipeline_or_frame(str(name), system) for name, system in given.items()}
    elif isinstance(given, list | tuple):
        systems = [_pipeline_or_frame(i, system) for i, system in enumerate(given)]
    else:
        raise InputError(
            "retr_systems must be a dict of name -> pipeline or results, a list of them, or runs (a RunSet, a frame "
            f"with a column 'name', files), got {type(given).__name__}.",
            argument="retr_systems",
        )
    if not systems:
        raise InputError("retr_systems holds no system.", argument="retr_systems")
    return systems


def _of_one_run(given: Any) -> bool:
    if isinstance(given, Mapping):
        return is_nested(given) and any(given.values())
    return isinstance(given, list | tuple) and bool(given) and has_fields(given[0], *COLUMNS)


def _pipeline_or_frame(name: str | int, system: Any) -> Any:
    if isinstance(system, pt.Transformer | str | os.PathLike) or not isinstance(system, Iterable):
        return system
    with located(f"system {shown(name)}"):
        return result_frame(system)


def name_systems(systems: Any, names: Sequence[str] | None, kept: Kept | None = None) -> Systems:
    """Return what :func:`given_systems` does under names that are all different."""
    if isinstance(systems, RunSet):
        return Systems({name: systems[name] for name in systems}, {}, systems)
    if isinstance(systems, Mapping):
        found, values = [str(name) for name in systems], list(systems.values())
    else:
        found, values = [str(name) for name in (systems if names is None else names)], systems
        if len(found) != len(values):
            few = f"{count(len(values), 'system')} but {count(len(found), 'name')}. Give one name each."
            raise InputError(few, argument="names")
    twice = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    if twice:
        which = ", ".join(str(i) for i, name in enumerate(found) if name == twice[0])
        short = " ".join(twice[0].split())  # a frame prints as several lines
        short = short if len(short) <= 60 else short[:60] + "..."
        told = f"the systems at {which} have one name, {short!r}. Give a dict of name -> system, or distinct "
        raise InputError(told, Option("names", ...), ".", argument="retr_systems")
    given = dict(zip(found, values, strict=True))
    taps = {name: Tap(name, kept) for name, system in given.items() if isinstance(system, pt.Transformer)}
    return Systems(given, taps)


def saved_files(names: Sequence[str], arguments: Mapping[str, Any]) -> dict[str, SavedRun]:
    """Return the files that pt.Experiment will evaluate in place of systems."""
    folder, form = arguments.get("save_dir"), arguments.get("save_format", "trec")
    if folder is None or arguments.get("save_mode") != "reuse":
        return {}
    ending = "res.gz" if form == "trec" else "mod" if isinstance(form, ModuleType) else "custom"
    paths = {name: os.path.join(folder, f"{name}.{ending}") for name in names}
    return {name: SavedRun(path, form) for name, path in paths.items() if os.path.exists(path)}


def check_frames(frames: Mapping[str, pd.DataFrame], table: pd.DataFrame, asked: Asked) -> None:
    """Raise where a result frame is no run that columns can be added for, before any pipeline is executed."""
    order = "rank" if asked.left_out and asked.pool_order == "rank" else ORDER
    rows = [frame_rows(name, frame, order) for name, frame in _with_ranks(frames, table, asked).items()]
    try:
        code_runs(rows, duplicates="error")
    except InputError:
        _refuse_repeats(frames)
        raise


def _with_ranks(frames: Mapping[str, pd.DataFrame], table: pd.DataFrame, asked: Asked) -> Mapping[str, pd.DataFrame]:
    """Return frames that can be put in order with a field pooled by ranks: one that is not pooled may have none."""
    if not asked.left_out or asked.pool_order != "rank":
        return frames
    unpooled = set(table["name"][~table["pooled"]])
    return {
        name: frame.assign(rank=np.arange(len(frame))) if name in unpooled else frame for name, frame in frames.items()
    }


def executed_runs(
    systems: Systems,
    saved: Mapping[str, SavedRun],
    only: set[str] | None,
    table: pd.DataFrame,
    judgments: Qrels,
    asked: Asked,
) -> RunSet:
    """Return what pt.Experiment evaluated as runs in the order of its scores, and warn of those that score nothing."""
    if systems.runs is None or saved or only is not None:
        return runs_of(systems.results(saved, only), table, judgments, asked)
    ordered = systems.runs.reorder(ORDER)
    # how the field was pooled is what counts where there is one
    how_pooled = ordered.how_pooled if asked.alone else UNKNOWN
    runs = RunSet(ordered.field, table, ORDER, how_pooled)
    warn_of_nothing(runs, judgments)
    return runs


def runs_of(frames: Mapping[str, pd.DataFrame], table: pd.DataFrame, judgments: Qrels, asked: Asked) -> RunSet:
    """Return results as runs in the order of pt.Experiment's scores, and warn of those that score nothing."""
    try:
        runs = RunSet.from_frames(_with_ranks(frames, table, asked), metadata=table, order=ORDER)
    except InputError:
        _refuse_repeats(frames)
        raise
    warn_of_nothing(runs, judgments)
    return runs


def warn_of_nothing(runs: RunSet, judgments: Qrels) -> None:
    """Warn of the systems that score nothing."""
    has = np.asarray(topics_of_runs(runs, judgments).any(axis=0))
    if not has.all():
        lost = [runs.names[row] for row in np.flatnonzero(~has)]
        nothing = f"{count(len(lost), 'system')} without a result on any judged topic"
        warn(f"{nothing}, scored 0: {examples(lost)}.")


def _refuse_repeats(frames: Mapping[str, pd.DataFrame]) -> None:
    for name, frame in frames.items():
        pairs = frame[["qid", "docno"]].astype(str)
        again = pairs.duplicated()
        if again.any():
            row = pairs[again].iloc[0]
            raise InputError(
                f"system {name!r} has document {row['docno']!r} more than once for topic {row['qid']!r}, so that ranks "
                "and LOU are undefined. Mend the pipeline, or pass ",
                Option("reuse", []),
                " to do without them.",
                argument="retr_systems",
            )
