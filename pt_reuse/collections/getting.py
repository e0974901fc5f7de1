"""Runs of a collection, planned before any file is read or downloaded, and then got."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import choice, count, examples, flag
from pt_reuse._errors import Call, InputError, Option, arguments_as, warn
from pt_reuse._files import user_path
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.comparison import compare_runs
from pt_reuse.collections.fetching import Sources, get_run_files, tell_lacking
from pt_reuse.collections.run_files import given_folder
from pt_reuse.collections.submitted import OwnTypes, choose_runs, read_types, run_metadata, submitted_runs, with_types
from pt_reuse.runs.forms import held, is_files
from pt_reuse.runs.given import as_runs
from pt_reuse.runs.how_pooled import HowPooled
from pt_reuse.runs.labels import RunLabels, is_blank
from pt_reuse.runs.metadata import GivenMetadata, given_metadata
from pt_reuse.runs.paths import run_paths
from pt_reuse.runs.reading import Reading
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.selection import checked_conditions


@dataclass(frozen=True)
class SubmittedRuns:
    """Runs on record that are wanted.

    Attributes:
        collection: whose they are.
        table: one row per run.
        sources: where their files are taken from.
        missing: what to do when some cannot be had.
        reading: how they are read.
    """

    collection: Collection
    table: pd.DataFrame
    sources: Sources
    missing: str
    reading: Reading

    @property
    def columns(self) -> set[str]:
        """Return the columns of the table of runs in which anything stands."""
        return {str(column) for column in self.table.columns if not all(map(is_blank, self.table[column]))}

    @property
    def names(self) -> list[str]:
        """Return the names of the runs, whether or not their files can be had."""
        return self.table["name"].tolist()

    def get(self) -> RunSet:
        """Find or download the files and read them."""
        had = get_run_files(self.collection, self.table["name"].tolist(), self.sources)
        tell_lacking(self.collection, self.table, had, self.sources, self.missing)
        kept = self.table[self.table["name"].isin(had.files)]
        field = self.reading.read(run_paths(had.files[name] for name in kept["name"]), given_metadata())
        compare_runs(self.collection, field, had.files)
        # a file without a run line may have been left out
        return field.with_metadata(metadata=run_metadata(self.collection, kept[kept["name"].isin(field.names)]))


@dataclass(frozen=True)
class OwnRuns:
    """Runs of an own collection that are wanted.

    Attributes:
        source: their files, and those of runs that are not wanted; or the runs themselves.
        labels: what the definition says of them.
        types: the user's own, None where none are given.
        conditions: what the runs that are wanted meet.
        reading: how they are read.
    """

    source: RunSet | list[Path]
    labels: GivenMetadata
    types: OwnTypes | None
    conditions: Mapping[str, Any]
    reading: Reading
    #: what runs are called stands in their files
    names = None

    @property
    def columns(self) -> set[str]:
        """Return the columns of the table of runs that are given, for some of the runs at least."""
        return self.labels.columns | ({"type"} if self.types is not None else set())

    def get(self) -> RunSet:
        """Read the files, or take the runs that were given."""
        runs = _read(self.source, self.reading, self.labels)
        if self.types is not None:
            runs = runs.with_metadata(metadata=with_types(runs.run_table, self.types, before="definition"))
        return runs.select(**self.conditions) if self.conditions else runs


@dataclass(frozen=True)
class GivenRuns:
    """Runs that the user gives in place of the folder of a collection: in memory, or as files that are named.

    Attributes:
        collection: whose they are.
        table: one row per run on record that is wanted.
        given: the runs, or their files.
        missing: what to do when some are not among them.
        reading: how they are read or coded.
    """

    collection: Collection
    table: pd.DataFrame
    given: RunSet | list[Path]
    missing: str
    reading: Reading

    @property
    def columns(self) -> set[str]:
        """Return the columns of the table of runs in which anything stands."""
        return {str(column) for column in self.table.columns if not all(map(is_blank, self.table[column]))}

    @property
    def names(self) -> list[str]:
        """Return the names of the runs that are wanted."""
        return self.table["name"].tolist()

    def get(self) -> RunSet:
        """Return those that are wanted, labelled as they are on record."""
        runs = _read(self.given, self.reading, given_metadata())
        there = [name for name in runs.names if name in set(self.names)]
        on_record = set(submitted_runs(self.collection)["name"])
        strangers = [name for name in runs.names if name not in on_record]
        if not there:
            raise InputError(
                f"none of {count(len(runs), 'run')} ({examples(runs.names)}) is one that is wanted of this collection: "
                f"{examples(self.names)}. Runs are known by their names.",
                argument="runs",
            )
        if strangers:
            warn(f"{count(len(strangers), 'run')} not of this collection, left out: {examples(strangers)}.")
        lacking = [name for name in self.names if name not in runs]
        if lacking and self.missing != "ignore":
            said = f"{len(lacking):,} of {count(len(self.names), 'run')} not among the runs given: {examples(lacking)}."
            if self.missing == "error":
                raise InputError(said, argument="runs")
            warn(said)
        kept = self.table.set_index("name", drop=False).loc[there].reset_index(drop=True)
        return runs.select(there).with_metadata(metadata=run_metadata(self.collection, kept))


def _taken(runs: Any, reading: Reading) -> RunSet | list[Path]:
    """Return runs that the user gives as a RunSet, or as the paths of their files, which are not read yet."""
    runs = held(runs)
    if is_files(runs):
        with arguments_as(source="runs"):
            return run_paths(runs)
    return as_runs(runs, order=reading.order).pooled_as(reading.how_pooled)


def _read(source: RunSet | list[Path], reading: Reading, labels: GivenMetadata) -> RunSet:
    return source.labelled(labels) if isinstance(source, RunSet) else reading.read(source, labels)


def _folder(runs: Any) -> Path | None:
    """Return the folder that is given as runs, None where they are given in another form."""
    if runs is None or not isinstance(runs, str | os.PathLike) or not str(runs):
        return None
    try:
        path = user_path(runs)
        # one file is hardly all that there is, so that it is told as no folder
        if has_magic(str(path)) and not path.exists():
            return None
    except (OSError, ValueError):
        pass  # what is wrong with it is told as of a folder
    return given_folder(runs)


def plan_runs(
    collection: Collection,
    conditions: Mapping[str, Any],
    reading: Reading,
    *,
    types: RunLabels | None,
    runs: Any,
    missing: str,
    download: bool,
) -> SubmittedRuns | OwnRuns | GivenRuns:
    """Return what is to be read of a collection, all checked that can be before a file is.

    Args:
        collection: whose runs they are.
        conditions: ``pooled names team type task``, as :meth:`ReuseDataset.get_runs` takes them; what is None or not
            there is no condition.
        reading: how run files are read; what names runs follows from the collection.
        types: own types to lay over those on record.
        runs: what to take them from instead: a folder, or runs in any form.
        missing: ``"warn"``, ``"error"`` or ``"ignore"``.
        download: whether to download what is not on this machine.

    Raises:
        InputError: an argument that is nothing of the kind, a condition that no run on record meets, no folder.
    """
    choice("missing", missing, ("warn", "error", "ignore"))
    flag("download", download)
    said = reading.how_pooled
    how_pooled = HowPooled(said.order or collection.pool_order, said.depth or collection.pool_depth)
    reading = replace(reading, how_pooled=how_pooled)
    given = {name: value for name, value in conditions.items() if value is not None}
    if collection.submitted is None:
        return _plan_own(collection, given, replace(reading, names="tag"), types, runs)
    folder = _folder(runs)
    pooled = given.pop("pooled", None)
    table = choose_runs(collection, read_types(types), pooled, **given)
    if runs is not None and folder is None:
        reading = replace(reading, names="file")
        return GivenRuns(collection, table, _taken(runs, reading), missing, reading)
    sources = Sources(
        folder=folder,
        download=download,
        faulty=reading.bad_lines == "skip",
        n_jobs=reading.n_jobs or 8,
        verbose=reading.verbose,
    )
    return SubmittedRuns(collection, table, sources, missing, replace(reading, names="file"))


def _plan_own(
    collection: Collection,
    conditions: Mapping[str, Any],
    reading: Reading,
    types: RunLabels | None,
    runs: Any,
) -> OwnRuns:
    source = collection.runs if runs is None else runs
    if source is None:
        whose = "no run of it is on record. Where you have some,"
        if collection.origin == "own":
            whose = "its definition names no runs. Add them to it, or"
        raise InputError(f"{whose} pass ", Option("runs", "FOLDER"), ".", argument="runs")
    if "task" in conditions:
        raise InputError("its runs have no tasks.", argument="task")
    checked = checked_conditions(**conditions)
    labels = given_metadata(**collection.labels)
    if "pooled" in conditions and "pooled" not in labels.columns:
        raise InputError(
            "who was pooled is not on record. Leave out pooled, or add 'pooled' to its definition; ",
            Call("infer_pool", "runs, qrels"),
            " says which runs must have contributed.",
            argument="pooled",
        )
    return OwnRuns(_taken(source, reading), labels, read_types(types), checked, reading)
