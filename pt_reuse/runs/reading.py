"""Read a field of TREC run files, in parallel, with an optional cache."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

import pandas as pd
import pyterrier as pt

from pt_reuse._check import choice, count, examples, positive
from pt_reuse._errors import InputError, door
from pt_reuse.engine.field import Field, RunRows
from pt_reuse.engine.order import ORDERS
from pt_reuse.formats import cache as field_cache
from pt_reuse.formats.files import UnreadableError, read_bytes
from pt_reuse.formats.trec import RUN_LINE, find_document, parse_run
from pt_reuse.runs.coding import code_runs, warn_of_twin_topics
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.metadata import make_run_table
from pt_reuse.runs.run_set import RunSet

_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)$")


@door
def read_runs(
    source: str | Path | Iterable[str | Path],
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    order: str = "trec_eval",
    names: str = "tag",
    duplicates: str = "error",
    cache: str | Path | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RunSet:
    r"""Read TREC run files as one field.

    A run file has six columns, ``qid Q0 docno rank score tag``, separated by any white space; it may be packed
    (.gz, .bz2, .xz; .lz4, .zst and .Z where their library is installed), recognised by its first bytes.

    Args:
        source: a folder (all files in it, but hidden ones and those of folders in it), a glob pattern (``**`` stands
            for any folders), a file, or several files.
        teams: who submitted each run: a dict, Series, DataFrame (``name``, ``team``), or the path of a file with two
            columns, run tag and team.
        types: what kind of system each run is (automatic, manual, neural, ...), given like `teams`.
        pooled: which runs contributed to the pool: a collection of names, a file with one name a line, a mapping of
            name to true or false, or one bool for all. Default: not on record, and every run counts as a contributor.
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
        >>> _ = (folder / "input.bm25").write_text("1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n")
        >>> ptr.read_runs(folder, teams={"bm25": "A"})
        RunSet: 1 run (pooled: not on record), 1 team, 1 topic, 2 rows, order='trec_eval'
    """
    choice("order", order, tuple(ORDERS))
    choice("names", names, ("tag", "file"))
    choice("duplicates", duplicates, ("error", "best"))
    threads = (os.cpu_count() or 1) if n_jobs is None else positive("n_jobs", n_jobs, "threads")
    try:
        paths = run_paths(source)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        # no permission to look, a name too long, a NUL byte in a name
        shown = str(source) if len(str(source)) <= 200 else str(source)[:197] + "..."
        raise InputError(f"{shown} cannot be looked up: {getattr(error, 'strerror', error)}.") from error
    settings = {"order": order, "names": names, "duplicates": duplicates}
    if cache is None:
        field, found = _parse(paths, settings, threads, verbose)
    else:
        field, found = _cached(paths, _cache_folder(cache), settings, threads, verbose)
    warn_of_twin_topics(field.topics)
    table = make_run_table(found, teams=teams, types=types, pooled=pooled, metadata=metadata)
    return RunSet(field, table, order)


def run_paths(source: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return the files that a source of :func:`read_runs` stands for."""
    if isinstance(source, str | os.PathLike) and str(source):
        path = Path(source)
        if path.is_dir():
            with os.scandir(path) as entries:
                # whatever is no folder is meant to be a run: a dangling link or a pipe is told, not passed over
                names = sorted(item.name for item in entries if not item.is_dir() and not item.name.startswith("."))
            if not names:
                raise InputError(f"the folder {path} has no files. Give the folder that holds the run files.")
            return [path / name for name in names]
        if path.is_file():
            return [path]
        source = sorted(glob(str(source), recursive=True))
        if not source:
            raise InputError(f"{path}: no such file or folder, and no file matches it as a pattern.")
    if not isinstance(source, Iterable) or isinstance(source, str | bytes | Mapping | pd.DataFrame):
        got = repr(source) if source is None or isinstance(source, str | bytes | int | float) else type(source).__name__
        raise InputError(f"source must be a folder, a pattern, or several files, got {got}.")
    items = sorted(source, key=str) if isinstance(source, set | frozenset) else list(source)
    odd = [item for item in items if not isinstance(item, str | os.PathLike) or not str(item)]
    if odd:
        raise InputError(f"source must hold paths of files, got {examples(odd)}.")
    paths = [Path(item) for item in items]
    if not paths:
        raise InputError("no files given. Give a folder, a pattern, or a list of run files.")
    for item in paths:
        if item.is_dir():
            raise InputError(f"{item} is a folder among files. Give one folder alone, or files only.")
        if not item.exists():
            raise InputError(f"{item}: no such file.")
    twice = [str(item) for item, times in Counter(paths).items() if times > 1]
    if twice:
        raise InputError(f"{examples(twice)} given more than once. Give each run file once.")
    return paths


def _cache_folder(cache: str | Path) -> Path:
    if not isinstance(cache, str | os.PathLike) or not str(cache):
        raise InputError(f"cache must be the path of a folder, got {cache!r}.")
    return Path(cache)


def _cached(
    paths: list[Path], folder: Path, settings: dict[str, str], threads: int, verbose: bool
) -> tuple[Field, list[str]]:
    def warn(message: str) -> None:
        warn(
            f"{message}",
        )

    real = _real_paths(paths)
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"cache {folder} is a file. Give a folder for the cache; it is made if missing.")
        sources = field_cache.fingerprints(real, threads)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
    top = os.path.join(os.path.realpath(folder), "")
    if any(path.startswith(top) for path in real):
        raise InputError(f"cache {folder} holds the run files themselves. Give another folder for the cache.")
    try:
        return field_cache.load(folder, sources, settings)
    except field_cache.StaleCacheError as stale:
        if (folder / field_cache.HEADER).exists():
            warn(f"the cache {folder} is not used: {stale}; the runs are read again and kept anew.")
    field, found = _parse(paths, settings, threads, verbose)
    try:
        if field_cache.fingerprints(real, threads) == sources:
            field_cache.store(folder, field, found, sources, settings)
        else:
            warn(f"the run files changed while they were read, so they are not kept in {folder}. Read them again.")
    except OSError as error:
        warn(f"the runs were read but cannot be kept in {folder} ({error}).")
    return field, found


def _real_paths(paths: list[Path]) -> list[str]:
    # a folder's links are followed once, not for each of its files
    folders = {folder: os.path.realpath(folder) for folder in {path.parent for path in paths}}
    return [
        os.path.realpath(path) if path.is_symlink() else os.path.join(folders[path.parent], path.name) for path in paths
    ]


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

    def lines(run: int, topic: str, docno: str) -> str:
        try:
            found = find_document(read_bytes(paths[run]), topic, docno)
        except UnreadableError:  # it was read a moment ago
            return f" ({paths[run]})"
        return f" (lines {', '.join(f'{line:,}' for line in found[:5])} of {paths[run]})"

    field = code_runs(rows, duplicates=settings["duplicates"], threads=threads, lines=lines)
    return field, [run.name for run in rows]


def _read_run(path: Path, settings: dict[str, str]) -> RunRows:
    try:
        data = read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{path} {error}. Give a run file, {RUN_LINE}.") from error
    tags, rows = parse_run(data, str(path), settings["order"])
    if settings["names"] == "file":
        rows.name = _PACKED.sub("", path.name).removeprefix("input.") or path.name
    elif len(tags) > 1:
        places = [f"{tag!r} from line {line:,}" for tag, line in list(tags.items())[:3]]
        more = f" and {len(tags) - 3:,} more" if len(tags) > 3 else ""
        raise InputError(
            f"{path}: {count(len(tags), 'run tag')} in the sixth column: {', '.join(places)}{more}; a run file has "
            f"one. Split the file by tag, or pass names='file' to name the run by its file."
        )
    return rows


def _check_distinct(paths: Sequence[Path], rows: Sequence[RunRows]) -> None:
    first: dict[str, Path] = {}
    for path, run in zip(paths, rows, strict=True):
        other = first.setdefault(run.name, path)
        if other is not path:
            raise InputError(
                f"{other} and {path} are both named {run.name!r}. Pass names='file' to name runs by their "
                f"files, or leave one out."
            )
