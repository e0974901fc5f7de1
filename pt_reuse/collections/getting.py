"""The runs of a collection: had from a folder or downloaded, checked, read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
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


def get_run_files(
    collection: Collection,
    names: Sequence[str],
    folder: str | Path | None = None,
    *,
    download: bool = True,
    faulty: bool = False,
    n_jobs: int = 8,
    verbose: bool = False,
) -> Fetched:
    """Return the file of each run that can be had, and why others that are published could not be downloaded."""
    found = find_run_files(collection, names, folder)
    if folder is not None:
        return Fetched(files=found, failed={})
    had = _kept_aside(collection, [name for name in names if name not in found])
    lacking = [name for name in names if name not in {*found, *had.files, *had.failed, *had.faulty}]
    if lacking and download:
        more = _download(collection, lacking, n_jobs, verbose)
        had = Fetched(
            files={**had.files, **more.files},
            failed={**had.failed, **more.failed},
            faulty={**had.faulty, **more.faulty},
        )
    elif download:
        sweep_downloads(download_folder(collection))
    taken = {name: file.path for name, file in had.faulty.items()} if faulty else {}
    files = {**taken, **had.files, **found}
    return Fetched(
        files={name: files[name] for name in names if name in files},
        failed=had.failed,
        faulty={} if faulty else had.faulty,
    )


def _kept_aside(collection: Collection, names: Sequence[str]) -> Fetched:
    """Return what there is of runs that were kept aside: mended meanwhile, still faulty, or no runs any more."""
    files: dict[str, Path] = {}
    failed: dict[str, str] = {}
    faulty: dict[str, FaultyFile] = {}
    for name, path in kept_aside(download_folder(collection), names).items():
        try:
            check_run_file(name, path, collection)
            files[name] = path
        except FaultyRunError as error:
            faulty[name] = FaultyFile(path, error.worded(in_python, function=False))
        except InputError as error:
            why = error.worded(in_python, function=False)
            failed[name] = f"{path}, which was kept aside: {why} Delete it to have it fetched again."
    return Fetched(files=files, failed=failed, faulty=faulty)


def fetch_report(collection: Collection, names: Sequence[str], *, n_jobs: int, verbose: bool) -> pd.DataFrame:
    """Download what is not on this machine; return ``name file status reason``, one row per run."""
    here = find_run_files(collection, names)
    fetched = get_run_files(collection, names, n_jobs=n_jobs, verbose=verbose)
    rows: list[tuple[str, str | None, FetchStatus, str | None]] = []
    for name in names:
        if name in fetched.files:
            status = FetchStatus.HERE if name in here else FetchStatus.FETCHED
            rows.append((name, str(fetched.files[name]), status, None))
        elif name in fetched.faulty:
            rows.append((name, str(fetched.faulty[name].path), FetchStatus.FAULTY, fetched.faulty[name].fault))
        else:
            rows.append((name, None, FetchStatus.FAILED, fetched.failed.get(name)))
    return pd.DataFrame(rows, columns=["name", "file", "status", "reason"], dtype=object)


def runs_by_reason(collection: Collection, failed: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the runs behind each reason; a reason that names a run's own address counts as one."""
    grouped: dict[str, list[str]] = {}
    for name, reason in failed.items():
        general = reason.replace(str(collection.url_of(name)), collection.url or "the address")
        grouped.setdefault(general, []).append(name)
    return grouped


def _download(collection: Collection, names: Sequence[str], n_jobs: int, verbose: bool) -> Fetched:
    submitted = submitted_runs(collection)
    published = dict(zip(submitted["name"], submitted["published"], strict=True))
    urls = {name: url for name in names if published[name] and (url := collection.url_of(name)) is not None}
    failed = {name: "not published anywhere that is known." for name in names if name not in urls}
    if not urls:
        return Fetched(files={}, failed=failed)
    folder = download_folder(collection)
    check = partial(check_run_file, collection=collection)
    try:
        fetched = fetch_runs(urls, folder, check=check, n_jobs=n_jobs, verbose=verbose)
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


def _tell_lacking(
    collection: Collection, table: pd.DataFrame, had: Fetched, folder: Path | None, missing: str, download: bool
) -> None:
    """Raise where no run is to be had; where some are not, raise, warn or pass over it."""
    there = table["name"].isin(had.files).to_numpy()
    lacking = table["name"][~there].tolist()
    if not lacking:
        return
    by_reason = runs_by_reason(collection, had.failed)
    why = " ".join(f"{reason} ({count(len(names), 'run')})" for reason, names in by_reason.items())
    advice = _about_faulty(collection, had.faulty)
    if len(had.faulty) < len(lacking):
        files = examples([f"input.{name}.gz" for name in lacking if name not in had.faulty])
        place = folder or download_folder(collection)
        advice.append(f" Put the files into {place}, named {files} (or without 'input.', packed or not)")
        advice += ["."] if download or folder else [", or download them with ", Option("download", True), "."]
    if not there.any():
        looked = folders_of(collection, folder)
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
    _tell(missing, message, *advice)


def _tell(missing: str, *message: Part, argument: str | None = None) -> None:
    if missing == "error":
        raise InputError(*message, argument=argument)
    if missing == "warn":
        warn(*message)


def _about_faulty(collection: Collection, faulty: Mapping[str, FaultyFile]) -> list[Part]:
    """Say which files were kept aside, what is wrong with the first, and what to do; nothing where there are none."""
    if not faulty:
        return []
    first = next(iter(faulty.values()))
    return [
        f" {count(len(faulty), 'file')} ({examples(faulty)}) kept aside in {first.path.parent}, being no run in the "
        f"strict sense, the first since {first.fault} To read the good lines, pass ",
        Option("bad_lines", "skip"),
        f". Or mend the file and move it to {download_folder(collection)}. Or delete it, so that it is fetched again.",
    ]


def _compare_runs(collection: Collection, runs: RunSet, files: Mapping[str, Path]) -> None:
    """Raise where a run has no topic of the collection; warn where it has others, few, or another run's lines."""
    every = set(submitted_runs(collection)["name"])
    with ThreadPoolExecutor() as pool:
        tags = zip(files, pool.map(tag_of, files.values()), strict=True)
        odd_tags = [f"{files[name]} holds run {tag!r}" for name, tag in tags if tag != name and tag in every]
    if odd_tags:
        warn(
            f"{count(len(odd_tags), 'file')} whose last column has the tag of another run: {'; '.join(odd_tags[:3])}. "
            "A file stands for the run it is named by: rename or replace it."
        )
    has, topics, known = runs.field.lengths > 0, np.array(runs.topics, dtype=object), collection.topic_ids
    if known is not None:
        own = np.array([topic in known for topic in runs.topics], dtype=bool)
        for row in np.flatnonzero(~has[own].any(axis=0)).tolist():
            ids = list(known)
            raise InputError(
                f"{files[runs.names[row]]}, taken for run {runs.names[row]!r}, has no topic of the collection: it has "
                f"{examples(topics[has[:, row]])}; {collection.title} has topics such as "
                f"{examples(ids[i] for i in natural_order(ids))}. Take the file away, or give the right one."
            )
        strange = np.flatnonzero(has[~own].any(axis=0))
        _warn(runs, strange, f"with topics that are not of the collection: {examples(topics[~own])}")
        has = has[own]
    usual = has[has.mean(axis=1) >= 0.5]
    if len(usual):
        few = np.flatnonzero(usual.mean(axis=0) < 0.5)
        _warn(runs, few, f"with less than half of the {len(usual):,} topics that most runs have")


def _warn(runs: RunSet, rows: NDArray[np.int64], what: str) -> None:
    names = [runs.names[row] for row in rows.tolist()]
    if names:
        warn(f"{count(len(names), 'run')} ({examples(names)}) {what}.")


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


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """Runs of a collection that are wanted, all checked that can be before a file is read."""

    #: finds, downloads and reads them
    get: Callable[[], RunSet]
    #: of the table of runs, in which anything stands
    columns: set[str]
    #: of runs on record, whether or not they can be had; those of own runs stand in their files
    names: list[str] | None = None
    #: whether they are looked for and downloaded
    is_fetched: bool = False


def plan_runs(
    collection: Collection,
    conditions: Mapping[str, Any],
    reading: Reading,
    *,
    types: RunLabels | None,
    runs: Any,
    missing: str,
    download: bool,
) -> RunPlan:
    """Return what is to be read of a collection; arguments and `conditions` are those of ``ReuseDataset.get_runs``."""
    choice("missing", missing, ("warn", "error", "ignore"))
    flag("download", download)
    pooled_as = reading.how_pooled
    how_pooled = HowPooled(pooled_as.order or collection.pool_order, pooled_as.depth or collection.pool_depth)
    reading = replace(reading, how_pooled=how_pooled)
    given = {name: value for name, value in conditions.items() if value is not None}
    if collection.submitted is None:
        return _plan_own(collection, given, replace(reading, names="tag"), types, runs)
    folder, pooled = _folder(runs), given.pop("pooled", None)
    table = choose_runs(collection, read_types(types), pooled, **given)
    reading = replace(reading, names="file")
    if runs is not None and folder is None:
        get = partial(_get_given, collection, table, _taken(runs, reading), reading, missing)
    else:
        get = partial(_get_submitted, collection, table, folder, reading, missing, download)
    columns = {str(column) for column in table.columns if not all(map(is_blank, table[column]))}
    return RunPlan(
        get=get, columns=columns, names=table["name"].tolist(), is_fetched=runs is None or folder is not None
    )


def _get_submitted(
    collection: Collection, table: pd.DataFrame, folder: Path | None, reading: Reading, missing: str, download: bool
) -> RunSet:
    """Find or download the files of runs on record and read them."""
    had = get_run_files(
        collection,
        table["name"].tolist(),
        folder,
        download=download,
        faulty=reading.bad_lines == "skip",
        n_jobs=reading.n_jobs or 8,
        verbose=reading.verbose,
    )
    _tell_lacking(collection, table, had, folder, missing, download)
    kept = table[table["name"].isin(had.files)]
    field = reading.read(run_paths(had.files[name] for name in kept["name"]), given_metadata())
    _compare_runs(collection, field, had.files)
    # a file without a run line may have been left out
    return field.with_metadata(metadata=run_metadata(collection, kept[kept["name"].isin(field.names)]))


def _get_given(
    collection: Collection, table: pd.DataFrame, source: RunSet | list[Path], reading: Reading, missing: str
) -> RunSet:
    """Return those of the runs that the user gives in place of a folder that are wanted, labelled as on record."""
    runs, names = _read(source, reading, given_metadata()), table["name"].tolist()
    there = [name for name in runs.names if name in set(names)]
    on_record = set(submitted_runs(collection)["name"])
    strangers = [name for name in runs.names if name not in on_record]
    if not there:
        raise InputError(
            f"none of {count(len(runs), 'run')} ({examples(runs.names)}) is one that is wanted of this collection: "
            f"{examples(names)}. Runs are known by their names.",
            argument="runs",
        )
    if strangers:
        warn(f"{count(len(strangers), 'run')} not of this collection, left out: {examples(strangers)}.")
    lacking = [name for name in names if name not in runs]
    if lacking:
        message = f"{len(lacking):,} of {count(len(names), 'run')} not among the runs given: {examples(lacking)}."
        _tell(missing, message, argument="runs")
    kept = table.set_index("name", drop=False).loc[there].reset_index(drop=True)
    return runs.select(there).with_metadata(metadata=run_metadata(collection, kept))


def _plan_own(
    collection: Collection, conditions: Mapping[str, Any], reading: Reading, types: RunLabels | None, runs: Any
) -> RunPlan:
    source = collection.runs if runs is None else runs
    if source is None:
        whose = "no run of it is on record. Where you have some,"
        if collection.origin == "own":
            whose = "its definition names no runs. Add them to it, or"
        raise InputError(f"{whose} pass ", Option("runs", "FOLDER"), ".", argument="runs")
    if "task" in conditions:
        raise InputError("its runs have no tasks.", argument="task")
    checked, labels = checked_conditions(**conditions), given_metadata(**collection.labels)
    if "pooled" in conditions and "pooled" not in labels.columns:
        raise InputError(
            "who was pooled is not on record. Leave out pooled, or add 'pooled' to its definition; ",
            Call("infer_pool", "runs, qrels"),
            " says which runs must have contributed.",
            argument="pooled",
        )
    own_types = read_types(types)
    get = partial(_get_own, _taken(source, reading), labels, own_types, checked, reading)
    return RunPlan(get=get, columns=labels.columns | ({"type"} if own_types is not None else set()))


def _get_own(
    source: RunSet | list[Path],
    labels: GivenMetadata,
    types: OwnTypes,
    conditions: Mapping[str, Any],
    reading: Reading,
) -> RunSet:
    runs = _read(source, reading, labels)
    if types is not None:
        runs = runs.with_metadata(metadata=with_types(runs.run_table, types, before="definition"))
    return runs.select(**conditions) if conditions else runs


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
    if not isinstance(runs, str | os.PathLike) or not str(runs):
        return None
    path = user_path(runs)
    # one file is hardly all that there is, so that it is told as no folder
    return None if has_magic(str(path)) and not os.path.exists(path) else given_folder(runs)
