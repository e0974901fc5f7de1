"""Run files of a collection: found on this machine, else downloaded, and what to say of those that cannot be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option, Part, warn
from pt_reuse.collections.collection import Collection, home
from pt_reuse.collections.download.run_check import check_run_file
from pt_reuse.collections.download.runs import Fetched, FolderInUseError, fetch_runs, sweep_downloads
from pt_reuse.collections.run_files import download_folder, find_run_files, folders_of
from pt_reuse.collections.submitted import submitted_runs


class FetchStatus(str, Enum):
    """Where the file of a run is after a download."""

    HERE = "here"
    FETCHED = "fetched"
    FAILED = "failed"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where run files are taken from.

    Attributes:
        folder: to look in instead of the user's; nothing is downloaded then.
        download: whether to download what is not on this machine.
        n_jobs: downloads at a time.
        verbose: show a progress bar.
    """

    folder: str | Path | None = None
    download: bool = True
    n_jobs: int = 8
    verbose: bool = False


def get_run_files(collection: Collection, names: Sequence[str], sources: Sources) -> Fetched:
    """Return the file of each run that can be had, and why others that are published could not be downloaded."""
    found = find_run_files(collection, names, sources.folder)
    lacking = [name for name in names if name not in found]
    if sources.folder is not None or not sources.download:
        return Fetched(files=found, failed={})
    if not lacking:
        sweep_downloads(download_folder(collection))
        return Fetched(files=found, failed={})
    fetched = _download(collection, lacking, sources)
    files = {name: file for name in names if (file := found.get(name) or fetched.files.get(name))}
    return Fetched(files=files, failed=fetched.failed)


def fetch_report(collection: Collection, names: Sequence[str], sources: Sources) -> pd.DataFrame:
    """Download what is not on this machine; return ``name file status reason``, one row per run."""
    here = find_run_files(collection, names)
    fetched = get_run_files(collection, names, sources)
    status = {name: FetchStatus.HERE if name in here else FetchStatus.FETCHED for name in fetched.files}
    rows = [
        (
            name,
            str(fetched.files[name]) if name in status else None,
            status.get(name, FetchStatus.FAILED),
            fetched.failed.get(name),
        )
        for name in names
    ]
    return pd.DataFrame(rows, columns=["name", "file", "status", "reason"], dtype=object)


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
    return Fetched(files=fetched.files, failed={**failed, **fetched.failed})


def tell_lacking(collection: Collection, table: pd.DataFrame, had: Fetched, sources: Sources, missing: str) -> None:
    """Raise where no run is to be had; where some are not, raise, warn or pass over it."""
    there = table["name"].isin(had.files).to_numpy()
    lacking = table["name"][~there].tolist()
    if not lacking:
        return
    by_reason = runs_by_reason(collection, had.failed)
    why = " ".join(f"{reason} ({count(len(names), 'run')})" for reason, names in by_reason.items())
    folder = Path(sources.folder) if sources.folder is not None else download_folder(collection)
    files = examples([f"input.{name}.gz" for name in lacking])
    todo: list[Part] = [f"Put the files into {folder}, named {files} (or without 'input.', packed or not)"]
    fetch: list[Part] = [", or download them with ", Option("download", True), "."]
    todo += ["."] if sources.download or sources.folder is not None else fetch
    if not there.any():
        looked = [str(path) for path in folders_of(collection, sources.folder)]
        raise InputError(
            f"none of {count(len(table), 'run')} is on this machine"
            f"{f', and none could be downloaded: {why} ' if why else '. '}",
            *todo,
            f" Looked in {examples(looked, 4)}." if looked else "",
        )
    absent = sorted(set(table["team"]) - set(table["team"][there]))
    gone = f"; {count(len(absent), 'team')} without any run left: {', '.join(absent)}" if absent else ""
    message = (
        f"{len(lacking):,} of {count(len(table), 'run')} missing, {int(there.sum()):,} there "
        f"(missing {examples(lacking)}{gone}).{f' Download: {why}' if why else ''} "
    )
    if missing == "error":
        raise InputError(message, *todo)
    if missing == "warn":
        warn(message, *todo)
