"""Where the run files of a collection are on this machine."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from pt_reuse._check import InputError, ReuseWarning, examples
from pt_reuse.collections.collection import Collection, home, places
from pt_reuse.reading import run_paths

#: below each folder of a collection: NIST's, trec_eval users' and our own ways to keep run files
_BELOW = ("runs", "inputs", "input", "")
_PACKED = (".gz", "", ".bz2", ".xz", ".zst", ".lz4", ".Z")


def download_folder(collection: Collection) -> Path:
    """Return the folder that downloads go to, and in which run files are expected first."""
    return home() / collection.name / "runs"


def folders_of(collection: Collection, runs: str | Path | None = None) -> list[Path]:
    """Return the folders that exist and may hold run files of the collection, the likeliest first.

    Args:
        collection: the collection.
        runs: a folder to look in instead of the user's.

    Raises:
        InputError: `runs` is no folder.
    """
    if runs is not None:
        top = Path(runs).expanduser()
        if not top.is_dir():
            what = "is a file" if top.exists() else "does not exist"
            raise InputError(
                f"{collection.name}: runs {top} {what}. Give the folder that holds the run files, named "
                f"input.TAG.gz, TAG.gz or TAG."
            )
        tops = [top]
    else:
        tops = [place / name for place in places() for name in (collection.name, *collection.folders)]
    below = [top / name if name else top for top in tops for name in _BELOW]
    return [folder for folder in dict.fromkeys(below) if folder.is_dir()]


def find_run_files(collection: Collection, names: Iterable[str], runs: str | Path | None = None) -> dict[str, Path]:
    """Return the file of each run that has one, in the order of the names.

    A run may be kept as ``input.<tag>`` or ``<tag>``, packed or not; the first folder that has it counts.

    Args:
        collection: the collection.
        names: the runs that are wanted.
        runs: a folder to look in instead of the user's.
    """
    found: dict[str, Path] = {}
    names = list(names)
    for folder in folders_of(collection, runs):
        with os.scandir(folder) as entries:
            there = {entry.name for entry in entries if not entry.is_dir()}
        for name in names:
            files = [file for file in file_names(name) if file in there]
            if files and name not in found:
                found[name] = folder / files[0]
                _warn_of_twins(name, folder, files)
    return {name: found[name] for name in names if name in found}


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


def expected_files(names: Sequence[str]) -> str:
    """Return, for an error, how the files of these runs should be called."""
    return examples([f"input.{name}.gz" for name in names])


def _warn_of_twins(name: str, folder: Path, files: Sequence[str]) -> None:
    if len(files) > 1:
        warnings.warn(
            f"run {name!r} is in {folder} as {examples(files)}; {files[0]!r} is read. Keep one of them.",
            ReuseWarning,
            stacklevel=5,
        )
