"""Runs of a collection: planned before a file is read or downloaded, then got, and compared with what is on record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, flag
from pt_reuse._errors import Call, InputError, Option, arguments_as, warn
from pt_reuse._files import user_path
from pt_reuse.arrays.lists import natural_order
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download.run_check import tag_of
from pt_reuse.collections.fetching import Sources, get_run_files, tell_lacking
from pt_reuse.collections.run_files import (
    OwnTypes,
    choose_runs,
    given_folder,
    read_types,
    run_metadata,
    submitted_runs,
    with_types,
)
from pt_reuse.data.metadata import GivenMetadata, RunLabels, given_metadata, is_blank
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.paths import run_paths
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_reading import Reading, as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.selection import checked_conditions


def compare_runs(collection: Collection, runs: RunSet, files: Mapping[str, Path]) -> None:
    """Raise where a run has no topic of the collection; warn where it has others, few, or another run's lines."""
    _compare_tags(collection, files)
    has = runs.field.lengths > 0
    topics = np.array(runs.topics, dtype=object)
    known = collection.topic_ids
    if known is not None:
        own = np.array([topic in known for topic in runs.topics], dtype=bool)
        for row in np.flatnonzero(~has[own].any(axis=0)).tolist():
            name, ids = runs.names[row], list(known)
            raise InputError(
                f"{files[name]}, taken for run {name!r}, has no topic of the collection: it has "
                f"{examples(topics[has[:, row]])}; {collection.title} has topics such as "
                f"{examples(ids[i] for i in natural_order(ids))}. Take the file away, or give the right one."
            )
        if not own.all():
            odd = np.flatnonzero(has[~own].any(axis=0))
            _warn(runs, odd, f"with topics that are not of the collection: {examples(topics[~own])}")
        has = has[own]
    usual = has[has.mean(axis=1) >= 0.5]
    few = np.flatnonzero(usual.mean(axis=0) < 0.5) if len(usual) else np.zeros(0, dtype=int)
    if len(few):
        _warn(runs, few, f"with less than half of the {len(usual):,} topics that most runs have")


def compare_judgments(collection: Collection, frame: pd.DataFrame) -> None:
    """Warn where judgments that the user put in place of the official ones are not what is on record."""
    if not collection.is_replaced("qrels") or "label" not in frame:
        return
    positive = "relevant" if collection.rel in (None, 1) else "with a label above 0"
    found = {"judgments": len(frame), positive: int((frame["label"] > 0).sum())}
    expected = {"judgments": collection.n_judged, positive: collection.n_relevant}
    odd = [f"{found[key]:,} {key} instead of {n:,}" for key, n in expected.items() if n not in (None, found[key])]
    ids = collection.topic_ids
    strange = [] if ids is None else [qid for qid in dict.fromkeys(frame["qid"]) if qid not in ids]
    odd += [f"topics that are not its own: {examples(strange)}"] if strange else []
    if odd and collection.qrels:
        warn(
            f"the judgments in {collection.qrels[0]}, which are used in place of the official ones, have "
            f"{'; '.join(odd)}. Are they those of another collection?",
            place=f"reuse:{collection.name}",
        )


def _compare_tags(collection: Collection, files: Mapping[str, Path]) -> None:
    every = set(submitted_runs(collection)["name"])
    with ThreadPoolExecutor() as pool:
        tags = dict(zip(files, pool.map(tag_of, files.values()), strict=True))
    odd = [f"{files[name]} holds run {tag!r}" for name, tag in tags.items() if tag != name and tag in every]
    if odd:
        warn(
            f"{count(len(odd), 'file')} whose last column has the tag of another run: {'; '.join(odd[:3])}. A file "
            f"stands for the run it is named by: rename or replace it."
        )


def _warn(runs: RunSet, rows: NDArray[np.int64], what: str) -> None:
    names = [runs.names[row] for row in rows.tolist()]
    warn(f"{count(len(names), 'run')} ({examples(names)}) {what}.")


@dataclass(frozen=True, kw_only=True)
class _OnRecord:
    """Runs on record that are wanted.

    Attributes:
        collection: whose they are.
        table: one row per run.
        missing: what to do when some cannot be had.
        reading: how they are read or coded.
    """

    collection: Collection
    table: pd.DataFrame
    missing: str
    reading: Reading

    @property
    def columns(self) -> set[str]:
        """Return the columns of the table of runs in which anything stands."""
        return {str(column) for column in self.table.columns if not all(map(is_blank, self.table[column]))}

    @property
    def names(self) -> list[str]:
        """Return the names of the runs, whether or not they can be had."""
        return self.table["name"].tolist()


@dataclass(frozen=True, kw_only=True)
class SubmittedRuns(_OnRecord):
    """Runs on record whose files are found or downloaded."""

    sources: Sources

    def get(self) -> RunSet:
        """Find or download the files and read them."""
        had = get_run_files(self.collection, self.names, self.sources)
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


@dataclass(frozen=True, kw_only=True)
class GivenRuns(_OnRecord):
    """Runs on record that the user gives in place of a folder: in memory, or as files that are named."""

    given: RunSet | list[Path]

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
        conditions: ``pooled names team type task``, as ``ReuseDataset.get_runs`` takes them; what is None or not
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
        return GivenRuns(
            collection=collection, table=table, missing=missing, reading=reading, given=_taken(runs, reading)
        )
    sources = Sources(
        folder=folder,
        download=download,
        faulty=reading.bad_lines == "skip",
        n_jobs=reading.n_jobs or 8,
        verbose=reading.verbose,
    )
    reading = replace(reading, names="file")
    return SubmittedRuns(collection=collection, table=table, missing=missing, reading=reading, sources=sources)


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
