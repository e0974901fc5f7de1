"""Runs that are kept in a folder: taken from there where it serves, else read in memory and kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pt_reuse._errors import Argument, InputError, warn
from pt_reuse._files import check_writable
from pt_reuse.formats.read_field import ReadField
from pt_reuse.formats.store import StaleCacheError, fingerprints
from pt_reuse.formats.store_folder import HEADER
from pt_reuse.formats.whole_store import keep_whole, load_whole
from pt_reuse.runs.file_runs import Conventions
from pt_reuse.runs.parsing import parse_files
from pt_reuse.runs.paths import real_paths


def check_keeping(folder: Path) -> None:
    """Raise where nothing can be kept in a folder."""
    check_writable(folder, [HEADER], overwrite=True, argument="cache")


def tell_stale(folder: Path, stale: StaleCacheError) -> bool:
    """Say why a store does not serve, and return whether it can be written anew."""
    # before the runs are read: it may be long until they are
    try:
        check_keeping(folder)
    except InputError as error:
        warn(f"the cache {folder} is not used: {stale}; the runs are read again, but cannot be kept: ", error)
        return False
    warn(f"the cache {folder} is not used: {stale}; the runs are read again and kept anew.")
    return True


def real_sources(paths: Sequence[Path], folder: Path, threads: int) -> dict[str, str]:
    """Return the checksums of run files that are to be kept in a folder, by their real paths.

    Raises:
        InputError: the folder holds the run files, or one cannot be read.
    """
    real = real_paths(paths)
    top = os.path.join(os.path.realpath(folder), "")
    links = [os.path.realpath(path) for path in paths if path.is_symlink()]
    if any(path.startswith(top) for path in (*real, *links)):
        raise InputError(
            Argument("cache"),
            f" {folder} holds the run files themselves. Give another folder for the cache.",
            argument="cache",
        )
    try:
        return fingerprints(list(dict.fromkeys(real)), threads)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error


def read_kept(
    paths: Sequence[Path], folder: Path, conventions: Conventions, *, threads: int, verbose: bool
) -> ReadField:
    """Return the field of some run files, in memory, kept in a folder.

    Raises:
        InputError: as :func:`parse_files`; the store there was written by a newer version.
    """
    settings, sources = conventions.as_dict(), real_sources(paths, folder, threads)
    if len(sources) < len(paths):
        # one file by two paths: reading it says what is wrong
        return parse_files(paths, conventions, threads=threads, verbose=verbose)
    shown, real = dict(zip(sources, map(str, paths), strict=True)), dict(zip(map(str, paths), sources, strict=True))
    try:
        return load_whole(folder, sources, settings).placed(shown)
    except StaleCacheError as stale:
        keeping = not (folder / HEADER).exists() or tell_stale(folder, stale)
    found = parse_files(paths, conventions, threads=threads, verbose=verbose)
    if not keeping:
        return found
    try:
        if fingerprints(list(sources), threads) == sources:
            # another call may give the same files by other paths
            keep_whole(folder, found.placed(real), sources, settings)
        else:
            warn(f"the run files changed while they were read, so they are not kept in {folder}. Read them again.")
    except OSError as error:
        warn(f"the runs were read but cannot be kept in {folder} ({error}).")
    return found
