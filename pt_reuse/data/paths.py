"""The files that a source of runs stands for: a folder, a pattern, a file, or several files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from glob import glob
from pathlib import Path

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import Argument, InputError
from pt_reuse._files import user_path
from pt_reuse.data.ir_metadata import yaml_files_of


def run_paths(source: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return the files that a source of :func:`read_runs` stands for."""
    try:
        return _paths(source)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        # no permission to look, a name too long, a NUL byte in a name
        shown = str(source) if len(str(source)) <= 200 else str(source)[:197] + "..."
        why = getattr(error, "strerror", error)
        raise InputError(f"{shown} cannot be looked up: {why}.", argument="source") from error


def _paths(source: str | Path | Iterable[str | Path]) -> list[Path]:
    if isinstance(source, str | os.PathLike) and str(source):
        path = user_path(source)
        if path.is_dir():
            with os.scandir(path) as entries:
                # whatever is no folder is meant to be a run: a dangling link or a pipe is told, not passed over
                there = {item.name for item in entries if not item.is_dir() and not item.name.startswith(".")}
            names = sorted(there - yaml_files_of(there))
            if not names:
                raise InputError(
                    f"the folder {path} has no files. Give the folder that holds the run files.", argument="source"
                )
            return [path / name for name in names]
        if path.is_file():
            return [path]
        source = _matching(str(path))
        if not source:
            raise InputError(f"{path}: no such file or folder, and no file matches it as a pattern.", argument="source")
    if not isinstance(source, Iterable) or isinstance(source, str | bytes | Mapping | pd.DataFrame):
        got = repr(source) if source is None or isinstance(source, str | bytes | int | float) else type(source).__name__
        raise InputError(
            Argument("source"), f" must be a folder, a pattern, or several files, got {got}.", argument="source"
        )
    items = sorted(source, key=str) if isinstance(source, set | frozenset) else list(source)
    odd = [item for item in items if not isinstance(item, str | os.PathLike) or not str(item)]
    if odd:
        raise InputError(Argument("source"), f" must hold paths of files, got {examples(odd)}.", argument="source")
    paths = [user_path(item) for item in items]
    if not paths:
        raise InputError("no files given. Give a folder, a pattern, or a list of run files.", argument="source")
    for item in paths:
        if item.is_dir():
            raise InputError(
                f"{item} is a folder among files. Give one folder alone, or files only.", argument="source"
            )
        if not item.exists():
            raise InputError(f"{item}: no such file.", argument="source")
    twice = [item for item, times in Counter(paths).items() if times > 1]
    if twice:
        raise InputError(f"{examples(twice)} given more than once. Give each run file once.", argument="source")
    return paths


def _matching(pattern: str) -> list[str]:
    """Return what matches a pattern, but the YAML files that say something of the runs beside them."""
    names: dict[str, set[str]] = {}
    for found in (matching := sorted(glob(pattern, recursive=True))):
        names.setdefault(os.path.dirname(found), set()).add(os.path.basename(found))
    about = {folder: yaml_files_of(there) for folder, there in names.items()}
    return [found for found in matching if os.path.basename(found) not in about[os.path.dirname(found)]]


def real_paths(paths: Sequence[Path]) -> list[str]:
    """Return the paths as strings with links to folders followed, as they name the sources of a cache.

    A link to a file keeps its name, which may be that of a run.
    """
    folders = {folder: os.path.realpath(folder) for folder in {path.parent for path in paths}}
    return [os.path.join(folders[path.parent], path.name) for path in paths]
