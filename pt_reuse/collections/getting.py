"""Runs of a collection, planned before any file is read or downloaded, and then got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import choice, flag
from pt_reuse._errors import Call, InputError, Option
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.comparison import compare_runs
from pt_reuse.collections.fetching import Sources, get_run_files, tell_lacking
from pt_reuse.collections.run_files import given_folder
from pt_reuse.collections.submitted import OwnTypes, choose_runs, read_types, run_metadata, with_types
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
        paths: their files, and those of runs that are not wanted.
        labels: what the definition says of them.
        types: the user's own, None where none are given.
        conditions: what the runs that are wanted meet.
        reading: how they are read.
    """

    paths: list[Path]
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
        """Read the files."""
        runs = self.reading.read(self.paths, self.labels)
        if self.types is not None:
            runs = runs.with_metadata(metadata=with_types(runs.run_table, self.types, before="definition"))
        return runs.select(**self.conditions) if self.conditions else runs


def plan_runs(
    collection: Collection,
    conditions: Mapping[str, Any],
    reading: Reading,
    *,
    types: RunLabels | None,
    folder: str | Path | None,
    missing: str,
    download: bool,
) -> SubmittedRuns | OwnRuns:
    """Return what is to be read of a collection, all checked that can be before a file is.

    Args:
        collection: whose runs they are.
        conditions: ``pooled names team type task``, as :meth:`ReuseDataset.get_runs` takes them; what is None or not
            there is no condition.
        reading: how run files are read; what names runs follows from the collection.
        types: own types to lay over those on record.
        folder: where to take the files from instead.
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
        return _plan_own(collection, given, replace(reading, names="tag"), types, folder)
    if folder is not None:
        given_folder(folder)
    pooled = given.pop("pooled", None)
    table = choose_runs(collection, read_types(types), pooled, **given)
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
    folder: str | Path | None,
) -> OwnRuns:
    source = collection.runs if folder is None else folder
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
    return OwnRuns(run_paths(source), labels, read_types(types), checked, reading)
