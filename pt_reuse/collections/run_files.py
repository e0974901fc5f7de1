"""Where the run files of a collection are on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from pt_reuse._check import examples
from pt_reuse._errors import Argument, InputError, warn
from pt_reuse._files import user_path
from pt_reuse.collections.collection import Collection, home, places
from pt_reuse.runs.file_runs import file_run_names
from pt_reuse.runs.paths import run_paths

#: below each folder of a collection: NIST's, trec_eval users' and our own ways to keep run files
_BELOW = ("runs", "inputs", "input", "")
#: where NIST publishes runs
_RESULTS = "https://trec.nist.gov/results/"
_PACKED = (".gz", "", ".bz2", ".xz", ".zst", ".lz4", ".Z")


def download_folder(collection: Collection) -> Path:
    """Return the folder that downloads go to, and in which run files are expected first."""
    return home() / collection.name / "runs"


def folders_of(collection: Collection, runs: str | Path | None = None) -> list[Path]:
    """Return the folders that may hold run files: those below `runs`, else below the user's; the likeliest first."""
    if runs is not None:
        tops = [given_folder(runs)]
    else:
        tops = [place / name for place in places() for name in collection.folder_names]
    below = [top / name if name else top for top in tops for name in _BELOW]
    return [folder for folder in dict.fromkeys(below) if _is_folder(folder)]


def find_run_files(collection: Collection, names: Iterable[str], runs: str | Path | None = None) -> dict[str, Path]:
    """Return the file of each run that has one, in the order of the names.

    A run may be kept as ``input.<tag>`` or ``<tag>``, packed or not; the first folder that has it counts. Last come the
    downloads of ir_datasets' trec-browser-provider.
    """
    found: dict[str, Path] = {}
    names = list(names)
    for folder in folders_of(collection, runs):
        there = _files_in(folder)
        for name in names if there else ():
            files = [file for file in file_names(name) if file in there]
            if files and name in found:
                _warn_of_another(name, found[name], folder / files[0])
            elif files:
                found[name] = folder / files[0]
                _warn_of_twins(name, folder, files)
    if runs is None:
        found |= _provided(collection, [name for name in names if name not in found])
    return {name: found[name] for name in names if name in found}


def provider_folder() -> Path:
    """Return the folder in which ir_datasets' trec-browser-provider keeps what it downloaded; it need not exist.

    Below it are the paths that NIST's server has below ``results/``. Run files have ``.raw`` added to their names.
    """
    return Path(os.environ.get("IR_DATASETS_HOME") or Path.home() / ".ir_datasets") / "trec-browser"


def looked_at(collection: Collection) -> list[Path]:
    """Return every folder there is in which run files are looked for, the trec-browser-provider's as the last."""
    top = provider_folder()
    return [*folders_of(collection), *([top] if _is_folder(top) else [])]


def _provided(collection: Collection, names: Sequence[str]) -> dict[str, Path]:
    top = provider_folder()
    if not names or not _is_folder(top):
        return {}
    found = {}
    for name in names:
        address = collection.url_of(name) or ""
        below = address.removeprefix(_RESULTS)
        if below == address or ".." in below.split("/"):
            continue
        for path in (top / f"{below}.raw", top / below):
            # a name that is written otherwise in an address would be that of another run
            if path.is_file() and file_run_names([path]) == [name]:
                found[name] = path
                break
    return found


def own_run_files(collection: Collection) -> list[Path]:
    """Return the run files of an own collection, none where its folder is gone or it names none."""
    if collection.runs is None:
        return []
    try:
        return run_paths(collection.runs)
    except InputError:
        return []


def file_names(name: str) -> list[str]:
    """Return the file names under which a run is looked for."""
    return [f"{prefix}{name}{packed}" for prefix in ("input.", "") for packed in _PACKED]


def _warn_of_twins(name: str, folder: Path, files: Sequence[str]) -> None:
    if len(files) > 1:
        warn(f"run {name!r} is in {folder} as {examples(files)}; {files[0]!r} is read. Keep one of them.")


def _warn_of_another(name: str, taken: Path, other: Path) -> None:
    # the same file in two places is nothing to tell
    try:
        differ = taken.name == other.name and taken.stat().st_size != other.stat().st_size
    except OSError:
        return
    if differ:
        sizes = f"run {name!r} is in two places, as files of different sizes"
        warn(f"{sizes}: {taken} is read, {other} is not. Take the wrong one away.")


def given_folder(runs: str | os.PathLike[str]) -> Path:
    """Return the folder of run files that the user gives, or say that it is none."""
    if not isinstance(runs, str | os.PathLike) or not str(runs):
        raise InputError(Argument("runs"), f" must be the path of a folder, got {runs!r}.", argument="runs")
    try:
        top = user_path(runs)
        what = "" if top.is_dir() else "is a file" if top.exists() else "does not exist"
    except (OSError, ValueError) as error:
        shown = str(runs) if len(str(runs)) <= 200 else str(runs)[:197] + "..."
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise InputError(Argument("runs"), f" {shown} cannot be looked up: {why}.", argument="runs") from error
    if what:
        named = "named input.TAG.gz, TAG.gz or TAG"
        raise InputError(
            Argument("runs"), f" {top} {what}. Give the folder that holds the run files, {named}.", argument="runs"
        )
    return top


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        _warn_of_closed(path, error)
        return False


def _files_in(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if not os.path.isdir(entry)}
    except OSError as error:
        _warn_of_closed(folder, error)
        return set()


def _warn_of_closed(folder: Path, error: OSError) -> None:
    warn(f"{folder} cannot be looked into ({error.strerror or error}): run files in it are not found.")
