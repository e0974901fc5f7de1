"""Download: run files from where they are published into a folder, each checked before it gets its name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyterrier as pt

from pt_reuse._errors import InputError
from pt_reuse._files import Alone, alone
from pt_reuse.collections.download.run_check import SUFFIXES, FaultyRunError, whole_file_suffix
from pt_reuse.collections.download.transfer import Transfer, TransferError

PARTIAL_FOLDER = ".partial"
#: for runs with bad lines: where nothing else takes them for runs
FAULTY_FOLDER = "faulty"
_LONGEST_NAME = 200  # bytes; file systems take 255, and a beginning and an end are added
_PACKED = (".gz", ".bz2", ".xz", ".lz4", ".zst", ".z")
_PATIENCE = 2.0  # seconds that ctrl-C waits for what is under way to end


class FolderInUseError(InputError):
    """Another process is downloading into the folder now."""


@dataclass(frozen=True)
class FaultyFile:
    """A run that is none in the strict sense: where it was kept aside, and what is wrong with it, a sentence."""

    path: Path
    fault: str


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """What came of a download: run name -> its file, why it is not there, or its file that was kept aside."""

    files: Mapping[str, Path]
    failed: Mapping[str, str]
    faulty: Mapping[str, FaultyFile] = field(default_factory=dict)


def fetch_runs(
    wanted: Mapping[str, str],
    folder: str | Path,
    *,
    check: Callable[[str, Path], None],
    n_jobs: int = 8,
    timeout: float = 30,
    tries: int = 3,
    verbose: bool = False,
) -> Fetched:
    """Download run files (name -> URL) into a folder; every name comes back with its file, or why there is none."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            transfer = Transfer(timeout=timeout, tries=tries, connections=n_jobs)
            return _fetch_all(wanted, folder, check, transfer, verbose)
    except OSError as error:
        why = "it is a file" if isinstance(error, FileExistsError) else error.strerror or type(error).__name__
        raise InputError(
            f"{error.filename or folder} cannot be used ({why}). Give a folder that can be written to."
        ) from None


def _fetch_all(
    wanted: Mapping[str, str], folder: Path, check: Callable[[str, Path], None], transfer: Transfer, verbose: bool
) -> Fetched:
    files, failed, to_do = _there(wanted, folder)
    faulty: dict[str, FaultyFile] = {}
    pool = ThreadPoolExecutor(transfer.connections, thread_name_prefix="fetch_runs")
    futures: dict[Future[Path | FaultyFile], str] = {}
    with pt.tqdm(total=len(to_do), desc="downloading runs", unit="run", disable=not verbose) as bar:
        try:
            for name in to_do:
                futures[pool.submit(_fetch, name, wanted[name], folder, check, transfer)] = name
            for future in as_completed(futures):
                name = futures[future]
                try:
                    arrived = future.result()
                    if isinstance(arrived, FaultyFile):
                        faulty[name] = arrived
                    else:
                        files[name] = arrived
                except TransferError as error:
                    failed[name] = transfer.hide(str(error))
                bar.update(1)
        finally:
            # after ctrl-C or an error in `check` what has not begun is not begun, and what is under way ends
            pool.shutdown(wait=False, cancel_futures=True)
            transfer.close()
            wait([future for future in futures if not future.cancelled()], timeout=_PATIENCE)
    return Fetched(
        files={name: files[name] for name in wanted if name in files},
        failed={name: failed[name] for name in wanted if name in failed},
        faulty={name: faulty[name] for name in wanted if name in faulty},
    )


def kept_aside(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Return the file of each run that an earlier download kept aside."""
    aside = folder / FAULTY_FOLDER
    there = set(os.listdir(aside)) if aside.is_dir() else set()
    files = {name: [f"input.{name}{suffix}" for suffix in SUFFIXES] for name in names}
    return {name: aside / file for name, known in files.items() for file in reversed(known) if file in there}


def _fetch(
    name: str, url: str, folder: Path, check: Callable[[str, Path], None], transfer: Transfer
) -> Path | FaultyFile:
    arriving = folder / PARTIAL_FOLDER / name
    try:
        suffix = transfer.fetch(url, arriving, whole_file_suffix)
        try:
            check(name, arriving)
        except FaultyRunError as error:
            aside = folder / FAULTY_FOLDER / f"input.{name}{suffix}"
            aside.parent.mkdir(exist_ok=True)
            return FaultyFile(_place(arriving, aside, transfer), str(error))
        return _place(arriving, folder / f"input.{name}{suffix}", transfer)
    except InputError as error:
        raise TransferError(f"what arrived is not the run and was removed: {error}") from None
    except OSError as error:
        raise TransferError(f"it cannot be stored: {error.strerror or type(error).__name__}.") from None
    finally:
        with suppress(OSError):
            arriving.unlink(missing_ok=True)


def _place(arrived: Path, path: Path, transfer: Transfer) -> Path:
    with arrived.open("rb+") as file:
        os.fsync(file.fileno())
    transfer.raise_if_stopped()
    if os.path.lexists(path):
        raise TransferError(f"{path.name} has appeared in the meantime and was left as it is.")
    os.replace(arrived, path)
    return path


def _there(wanted: Mapping[str, str], folder: Path) -> tuple[dict[str, Path], dict[str, str], list[str]]:
    """Return the files that are in the folder, why some cannot be had, and the names that are to be fetched."""
    # names are compared as they are listed: a file system may not tell upper from lower case, but runs do
    listed, folds = set(os.listdir(folder)), _folds_case(folder)
    taken = {name.casefold() for name in listed}
    files: dict[str, Path] = {}
    failed: dict[str, str] = {}
    to_do: list[str] = []
    for name in wanted:
        names = [f"input.{name}{suffix}" for suffix in SUFFIXES]
        found = next((folder / name for name in names if name in listed), None)
        if not _is_safe(name):
            failed[name] = (
                "the name cannot be that of a file: it is empty, too long, or has characters that lead astray."
            )
        elif found is not None and found.is_file():
            files[name] = found
        elif found is not None:
            failed[name] = f"{found.name} is in the folder already but is no file. Move it away."
        elif folds and any(name.casefold() in taken for name in names):
            failed[name] = (
                "this file system does not tell upper from lower case, and another run's file would have the same "
                "name. Use a folder on one that does."
            )
        else:
            to_do.append(name)
            taken |= {name.casefold() for name in names}
    return files, failed, to_do


def _folds_case(folder: Path) -> bool:
    return (folder / PARTIAL_FOLDER.upper()).exists()


def _is_safe(name: str) -> bool:
    """Return whether a name, which may be anybody's, neither leads out of the folder nor hides a file."""
    odd = any(letter in "/\\:" or letter.isspace() or not letter.isprintable() for letter in name)
    is_long = len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME
    return not (name in ("", ".", "..") or name.startswith("~") or odd or is_long or name.lower().endswith(_PACKED))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    # two at once in one folder would write to the same files
    partial = folder / PARTIAL_FOLDER
    with alone(folder) as whether:
        if whether is Alone.NO:
            raise FolderInUseError(f"another call is downloading into {folder} now. Wait until it has ended.")
        if whether is Alone.YES:
            shutil.rmtree(partial, ignore_errors=True)  # what a call that was killed left
        partial.mkdir(exist_ok=True)
        try:
            yield
        finally:
            with suppress(OSError):
                partial.rmdir()


def sweep_downloads(folder: Path) -> None:
    """Remove what a call that was killed left in a folder that has all its runs."""
    if (folder / PARTIAL_FOLDER).is_dir():
        with suppress(OSError, FolderInUseError), _alone(folder):
            pass
