"""The runs of a collection: had from a folder or downloaded, checked, read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, flag
from pt_reuse._errors import Call, InputError, Option, Part, arguments_as, in_python, warn
from pt_reuse._files import user_path
from pt_reuse.arrays.lists import natural_order
from pt_reuse.collections.collection import Collection, home
from pt_reuse.collections.download.run_check import FaultyRunError, check_run_file, tag_of
from pt_reuse.collections.download.runs import (
    FaultyFile,
    Fetched,
    FolderInUseError,
    fetch_runs,
    kept_aside,
    sweep_downloads,
)
from pt_reuse.collections.run_files import (
    OwnTypes,
    choose_runs,
    download_folder,
    find_run_files,
    folders_of,
    given_folder,
    read_types,
    run_metadata,
    submitted_runs,
    with_types,
)
from pt_reuse.data.ir_metadata import run_paths
from pt_reuse.data.metadata import GivenMetadata, RunLabels, given_metadata, is_blank
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.run_files import held, is_files
from pt_reuse.data.run_reading import Reading, as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import checked_conditions


class FetchStatus(str, Enum):
    """Where the file of a run is after a download."""

    HERE = "here"
    FETCHED = "fetched"
    FAULTY = "faulty"
    FAILED = "failed"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where run files are taken from.

    Attributes:
        folder: to look in instead of the user's; nothing is downloaded then.
        download: whether to download what is not on this machine.
        faulty: whether files that were kept aside, since some of their lines are no run line, are taken, too.
        n_jobs: downloads at a time.
        verbose: show a progress bar.
    """

    folder: str | Path | None = None
    download: bool = True
    faulty: bool = False
    n_jobs: int = 8
    verbose: bool = False


def get_run_files(collection: Collection, names: Sequence[str], sources: Sources) -> Fetched:
    """Return the file of each run that can be had, and why others that are published could not be downloaded."""
    found = find_run_files(collection, names, sources.folder)
    if sources.folder is not None:
        return Fetched(files=found, failed={})
    had = _kept_aside(collection, [name for name in names if name not in found])
    known = {*found, *had.files, *had.failed, *had.faulty}
    lacking = [name for name in names if name not in known]
    if lacking and sources.download:
        more = _download(collection, lacking, sources)
        had = Fetched(
            files={**had.files, **more.files},
            failed={**had.failed, **more.failed},
            faulty={**had.faulty, **more.faulty},
        )
    elif sources.download:
        sweep_downloads(download_folder(collection))
    taken = {name: file.path for name, file in had.faulty.items()} if sources.faulty else {}
    files = {**taken, **had.files, **found}
    return Fetched(
        files={name: files[name] for name in names if name in files},
        failed=had.failed,
        faulty={} if sources.faulty else had.faulty,
    )


def _kept_aside(collection: Collection, names: Sequence[str]) -> Fetched:
    """Return what there is of runs that were kept aside: mended meanwhile, still faulty, or no runs any more."""
    files: dict[str, Path] = {}
    failed: dict[str, str] = {}
    faulty: dict[str, FaultyFile] = {}
    for name, path in kept_aside(download_folder(collection), names).items():
        try:
            check_run_file(name, path, collection)
        except FaultyRunError as error:
            faulty[name] = FaultyFile(path, _said(error))
        except InputError as error:
            failed[name] = f"{path}, which was kept aside: {_said(error)} Delete it to have it fetched again."
        else:
            files[name] = path
    return Fetched(files=files, failed=failed, faulty=faulty)


def _said(error: InputError) -> str:
    return error.worded(in_python, function=False)


def fetch_report(collection: Collection, names: Sequence[str], sources: Sources) -> pd.DataFrame:
    """Download what is not on this machine; return ``name file status reason``, one row per run."""
    here = find_run_files(collection, names)
    fetched = get_run_files(collection, names, sources)
    rows = [(name, *_state(name, fetched, name in here)) for name in names]
    return pd.DataFrame(rows, columns=["name", "file", "status", "reason"], dtype=object)


def _state(name: str, fetched: Fetched, here: bool) -> tuple[str | None, FetchStatus, str | None]:
    # file, status, reason
    if name in fetched.files:
        return str(fetched.files[name]), FetchStatus.HERE if here else FetchStatus.FETCHED, None
    if name in fetched.faulty:
        return str(fetched.faulty[name].path), FetchStatus.FAULTY, fetched.faulty[name].fault
    return None, FetchStatus.FAILED, fetched.failed.get(name)


def runs_by_reason(collection: Collection, failed: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the runs behind each reason; a reason that names a run's own address counts as one."""
    grouped: dict[str, list[str]] = {}
    for name, reason in failed.items():
        general = reason.replace(str(collection.url_of(name)), collection.url or "the address")
        grouped.setdefault(general, []).append(name)
    return grouped


def _download(collection: Collection, names: Sequence[str], sources: Sources) -> Fetched:
    submitted = submitted_runs(collection)
    published = dict(zip(submitted["name"], submitted["published"], strict=True))
    urls = {name: url for name in names if published[name] and (url := collection.url_of(name)) is not None}
    failed = {name: "not published anywhere that is known." for name in names if name not in urls}
    if not urls:
        return Fetched(files={}, failed=failed)
    folder = download_folder(collection)

    def check(name: str, path: Path) -> None:
        check_run_file(name, path, collection)

    try:
        fetched = fetch_runs(urls, folder, check=check, n_jobs=sources.n_jobs, verbose=sources.verbose)
    except FolderInUseError:
        # nothing of what another call works in is removed
        folder = home()
        raise
    except InputError as error:
        # a folder that cannot be written to keeps nobody from the runs that are there
        error.function = None
        return Fetched(files={}, failed={**failed, **dict.fromkeys(urls, str(error))})
    finally:
        # where nothing came, nothing is left; a folder with anything in it stays
        with suppress(OSError):
            while folder != home():
                folder.rmdir()
                folder = folder.parent
    return Fetched(files=fetched.files, failed={**failed, **fetched.failed}, faulty=fetched.faulty)


def about_faulty(collection: Collection, faulty: Mapping[str, FaultyFile]) -> list[Part]:
    """Say which files were kept aside, what is wrong with the first, and what to do; nothing where there are none."""
    if not faulty:
        return []
    first, folder = next(iter(faulty.values())), download_folder(collection)
    those = f"{count(len(faulty), 'file')} ({examples(faulty)}) kept aside in {first.path.parent}"
    which = "" if len(faulty) == 1 else "the first is "
    return [
        f" {those}, being no run in the strict sense: {which}{first.fault} To read the good lines, pass ",
        Option("bad_lines", "skip"),
        f". Or mend the file and move it to {folder}. Or delete it, so that it is fetched again.",
    ]


def tell_lacking(collection: Collection, table: pd.DataFrame, had: Fetched, sources: Sources, missing: str) -> None:
    """Raise where no run is to be had; where some are not, raise, warn or pass over it."""
    there = table["name"].isin(had.files).to_numpy()
    lacking = table["name"][~there].tolist()
    if not lacking:
        return
    by_reason = runs_by_reason(collection, had.failed)
    why = " ".join(f"{reason} ({count(len(names), 'run')})" for reason, names in by_reason.items())
    folder = Path(sources.folder) if sources.folder is not None else download_folder(collection)
    files = examples([f"input.{name}.gz" for name in lacking if name not in had.faulty])
    todo: list[Part] = [f"Put the files into {folder}, named {files} (or without 'input.', packed or not)"]
    fetch: list[Part] = [", or download them with ", Option("download", True), "."]
    todo += ["."] if sources.download or sources.folder is not None else fetch
    advice = [*about_faulty(collection, had.faulty), *([" ", *todo] if len(had.faulty) < len(lacking) else [])]
    if not there.any():
        looked = folders_of(collection, sources.folder)
        here = "can be read as it is" if had.faulty else "is on this machine"
        raise InputError(
            f"none of {count(len(table), 'run')} {here}{f', and none could be downloaded: {why}' if why else '.'}",
            *advice,
            f" Looked in {examples(looked, 4)}." if looked else "",
        )
    absent = sorted(set(table["team"]) - set(table["team"][there]))
    gone = f"; {count(len(absent), 'team')} without any run left: {', '.join(absent)}" if absent else ""
    message = (
        f"{len(lacking):,} of {count(len(table), 'run')} missing, {int(there.sum()):,} there "
        f"(missing {examples(lacking)}{gone}).{f' Download: {why}' if why else ''}"
    )
    if missing == "error":
        raise InputError(message, *advice)
    if missing == "warn":
        warn(message, *advice)


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
