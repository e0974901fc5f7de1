"""Run files of a collection: found on this machine, else downloaded, and what to say of those that cannot be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option, Part, in_python, warn
from pt_reuse.collections.collection import Collection, home
from pt_reuse.collections.download.run_check import FaultyRunError, check_run_file
from pt_reuse.collections.download.runs import (
    FaultyFile,
    Fetched,
    FolderInUseError,
    fetch_runs,
    kept_aside,
    sweep_downloads,
)
from pt_reuse.collections.run_files import download_folder, find_run_files, folders_of, submitted_runs


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
