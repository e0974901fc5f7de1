"""Read a field of TREC run files, in parallel, with an optional cache."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

import pandas as pd
import pyterrier as pt

from pt_reuse._check import InputError, ReuseWarning, choice, examples
from pt_reuse.engine import cache as field_cache
from pt_reuse.engine.field import Field, RunRows
from pt_reuse.engine.files import UnreadableError, read_bytes
from pt_reuse.engine.order import ORDERS
from pt_reuse.engine.trec import RUN_LINE, parse_run
from pt_reuse.metadata import Labels, run_table
from pt_reuse.runs import RunSet, code_runs

_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst)$")


def read_runs(
    source: str | Path | Iterable[str | Path],
    *,
    teams: Labels | None = None,
    types: Labels | None = None,
    pooled: Labels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    order: str = "trec_eval",
    names: str = "tag",
    duplicates: str = "error",
    cache: str | Path | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RunSet:
    """Read TREC run files as one field.

    A run file has six columns, ``qid Q0 docno rank score tag``, separated by any white space; it may be packed
    (.gz, .bz2, .xz; .lz4 and .zst where their library is installed), recognised by its first bytes.

    Args:
        source: a folder (all files in it but hidden ones), a glob pattern, a file, or several files.
        teams: who submitted each run: a dict, Series, DataFrame (``name``, ``team``), or the path of a file with two
            columns, run tag and team.
        types: what kind of system each run is (automatic, manual, neural, ...), given like `teams`.
        pooled: which runs contributed to the pool: a collection of names, a file with one name a line, a mapping of
            name to true or false, or one bool for all. Default: all runs count as contributors.
        metadata: a DataFrame or CSV with the column ``name`` and any of ``team``, ``type``, ``pooled`` and others,
            instead of the three arguments above or beside them (they win).
        order: which order ranks the documents of a run. ``"trec_eval"`` (default): score as float64 descending, ties
            by docno descending; ``"trec_eval9"``: the same on float32 scores, as pytrec_eval and pt.Experiment do;
            ``"rank"``: the rank column; ``"file"``: as read.
        names: ``"tag"`` names a run by its sixth column, ``"file"`` by its file name less ``input.`` and the
            compression's ending.
        duplicates: a document twice in one list is an ``"error"``, or ``"best"`` keeps its better-ranked occurrence.
        cache: a folder to keep the parsed field in; the next call loads it from there unless the contents of a file
            (by SHA-256), the set of files, or a setting has changed.
        n_jobs: threads; default all cores.
        verbose: show a progress bar.

    Returns:
        RunSet: the runs, in the order of the files.

    Raises:
        InputError: naming the file, the line and what to do.

    Example:
        >>> import tempfile, pathlib, pt_reuse as ptr
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "input.bm25").write_text("1 Q0 d1 1 2.5 bm25\\n1 Q0 d2 2 1.5 bm25\\n")
        >>> ptr.read_runs(folder, teams={"bm25": "A"})
        RunSet: 1 run (1 pooled), 1 team, 1 topic, 2 rows, order='trec_eval'
    """
    choice("read_runs", "order", order, tuple(ORDERS))
    choice("read_runs", "names", names, ("tag", "file"))
    choice("read_runs", "duplicates", duplicates, ("error", "best"))
    threads = n_jobs if n_jobs and n_jobs > 0 else (os.cpu_count() or 1)
    paths = _run_files(source)
    settings = {"order": order, "names": names, "duplicates": duplicates}
    if cache is None:
        field, found = _parse(paths, settings, threads, verbose)
    else:
        field, found = _cached(paths, Path(cache), settings, threads, verbose)
    table = run_table(found, teams=teams, types=types, pooled=pooled, metadata=metadata)
    return RunSet(field, table, order)


def _run_files(source: str | Path | Iterable[str | Path]) -> list[Path]:
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir():
            found = sorted(item for item in path.iterdir() if item.is_file() and not item.name.startswith("."))
            if not found:
                raise InputError(f"read_runs: the folder {path} has no files. Give the folder that holds the run files.")
            return found
        if path.is_file():
            return [path]
        matched = sorted(Path(item) for item in glob(str(source)))
        if not matched:
            raise InputError(f"read_runs: {source}: no such file or folder, and no file matches it as a pattern.")
        source = matched
    paths = [Path(item) for item in source]
    if not paths:
        raise InputError("read_runs: no files given. Give a folder, a pattern, or a list of run files.")
    for item in paths:
        if item.is_dir():
            raise InputError(f"read_runs: {item} is a folder among files. Give one folder alone, or files only.")
        if not item.exists():
            raise InputError(f"read_runs: {item}: no such file.")
    twice = [str(item) for item in dict.fromkeys(paths) if paths.count(item) > 1]
    if twice:
        raise InputError(f"read_runs: {examples(twice)} given more than once. Give each run file once.")
    return paths


def _cached(
    paths: list[Path], folder: Path, settings: dict[str, str], threads: int, verbose: bool
) -> tuple[Field, list[str]]:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"read_runs: cache {folder} is a file. Give a folder for the cache; it is made if missing.")
    folder_path = folder.resolve()
    inside = [path for path in paths if path.resolve().is_relative_to(folder_path)]
    if inside:
        raise InputError(f"read_runs: cache {folder} holds the run files themselves. Give another folder for the cache.")
    try:
        sources = field_cache.fingerprints([path.resolve() for path in paths], threads)
    except OSError as error:
        raise InputError(f"read_runs: {error.filename}: cannot be read: {error.strerror}.") from error
    try:
        return field_cache.load(folder, sources, settings)
    except field_cache.StaleCacheError as stale:
        if (folder / field_cache.HEADER).exists():
            warnings.warn(
                f"read_runs: the cache {folder} is not used: {stale}; the runs are read again and kept anew.",
                ReuseWarning,
                stacklevel=4,
            )
    field, found = _parse(paths, settings, threads, verbose)
    try:
        field_cache.store(folder, field, found, sources, settings)
    except OSError as error:
        warnings.warn(
            f"read_runs: the runs were read but cannot be kept in {folder} ({error}).", ReuseWarning, stacklevel=4
        )
    return field, found


def _parse(paths: list[Path], settings: dict[str, str], threads: int, verbose: bool) -> tuple[Field, list[str]]:
    with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

        def read(path: Path) -> RunRows:
            rows = _read_run(path, settings)
            bar.update(1)
            return rows

        pool = ThreadPoolExecutor(threads)
        try:
            rows = list(pool.map(read, paths))
        finally:
            # after an error or ctrl-C the files not begun are not read
            pool.shutdown(wait=True, cancel_futures=True)
    _check_distinct(paths, rows)
    field = code_runs(rows, "read_runs", duplicates=settings["duplicates"], threads=threads)
    return field, [run.name for run in rows]


def _read_run(path: Path, settings: dict[str, str]) -> RunRows:
    try:
        data = read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{path}: {error}. Expected a run file, {RUN_LINE}.") from error
    tags, rows = parse_run(data, str(path), settings["order"])
    if settings["names"] == "file":
        rows.name = _PACKED.sub("", path.name).removeprefix("input.")
    elif len(tags) > 1:
        raise InputError(
            f"{path}: {len(tags):,} run tags in the sixth column ({examples(tags)}); a run file has one. "
            f"Split the file by tag, or pass names='file' to name the run by its file."
        )
    return rows


def _check_distinct(paths: Sequence[Path], rows: Sequence[RunRows]) -> None:
    first: dict[str, Path] = {}
    for path, run in zip(paths, rows, strict=True):
        other = first.setdefault(run.name, path)
        if other is not path:
            raise InputError(
                f"read_runs: {other} and {path} are both named {run.name!r}. Pass names='file' to name runs by their files, "
                f"or leave one out."
            )
