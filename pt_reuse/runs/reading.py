"""Read a field of TREC run files, in parallel, with an optional cache."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import choice, flag, positive
from pt_reuse._errors import Argument, InputError, door, warn
from pt_reuse.engine.field import Field
from pt_reuse.formats import cache as field_cache
from pt_reuse.runs.coding import warn_of_twin_topics
from pt_reuse.runs.how_pooled import UNKNOWN, HowPooled
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.metadata import GivenMetadata, given_metadata
from pt_reuse.runs.ordering import check_order
from pt_reuse.runs.parsing import Conventions, file_run_names, parse_files
from pt_reuse.runs.paths import real_paths, run_paths
from pt_reuse.runs.run_set import RunSet


@door
def read_runs(
    source: str | Path | Iterable[str | Path],
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    order: str = "trec_eval",
    pool_order: str | None = None,
    pool_depth: int | None = None,
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
            ``"rank"``: the rank column; ``"file"``: as read. :meth:`RunSet.reorder` goes from one to another.
        pool_order: the order in which the collection made its pool of the runs, where it is another than `order`.
        pool_depth: to which depth it pooled, the default of ``depth=`` wherever the runs are pooled.
        names: ``"tag"`` names a run by its sixth column, ``"file"`` by its file name less ``input.`` and the
            compression's ending.
        duplicates: a document twice in one list is an ``"error"``, or ``"best"`` keeps its better-ranked occurrence.
        cache: a folder to keep the parsed field in; the next call loads it from there unless the contents of a file
            (by their checksums), the set of files, or a setting has changed.
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
    reading = Reading(
        order=order,
        how_pooled=HowPooled(pool_order, pool_depth),
        names=names,
        duplicates=duplicates,
        cache=cache,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    paths = run_paths(source)
    labels = given_metadata(teams=teams, types=types, pooled=pooled, metadata=metadata)
    return reading.read(paths, labels)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How run files are read, as :func:`read_runs` takes it; one that is made has been checked.

    Attributes:
        order: the order that ranks documents.
        how_pooled: in which order and to which depth the pool was made, as far as somebody says.
        names: ``"tag"`` or ``"file"``.
        duplicates: ``"error"`` or ``"best"``.
        cache: a folder to keep the parsed field in, None for none.
        n_jobs: threads, None for all cores.
        verbose: show a progress bar.
    """

    order: str = "trec_eval"
    how_pooled: HowPooled = UNKNOWN
    names: str = "tag"
    duplicates: str = "error"
    cache: str | Path | None = None
    n_jobs: int | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        check_order("order", self.order)
        choice("names", self.names, ("tag", "file"))
        choice("duplicates", self.duplicates, ("error", "best"))
        if self.n_jobs is not None:
            positive("n_jobs", self.n_jobs, "threads")
        flag("verbose", self.verbose)
        if self.cache is not None:
            _check_cache(self.cache)

    def read(self, paths: Sequence[Path], labels: GivenMetadata) -> RunSet:
        """Return the runs of some files, labelled."""
        conventions = Conventions(self.order, self.names, self.duplicates)
        threads = (os.cpu_count() or 1) if self.n_jobs is None else int(self.n_jobs)
        # names of files are known before these are read, and so is what is wrong with the labels
        table = labels.table(file_run_names(paths)) if self.names == "file" else None
        if self.cache is None:
            field, found = parse_files(paths, conventions, threads=threads, verbose=self.verbose)
        else:
            field, found = _cached(paths, Path(self.cache), conventions, threads=threads, verbose=self.verbose)
        warn_of_twin_topics(field.topics)
        table = labels.table(found) if table is None else table
        return RunSet(field, table, self.order, self.how_pooled)


def _check_cache(cache: Any) -> None:
    if not isinstance(cache, str | os.PathLike) or not str(cache) or "\0" in str(cache):
        raise InputError(Argument("cache"), f" must be the path of a folder, got {cache!r}.", argument="cache")
    if os.path.exists(cache) and not os.path.isdir(cache):
        raise InputError(
            Argument("cache"),
            f" {cache} is a file. Give a folder for the cache; it is made if missing.",
            argument="cache",
        )


def _cached(
    paths: Sequence[Path], folder: Path, conventions: Conventions, *, threads: int, verbose: bool
) -> tuple[Field, list[str]]:
    real, settings = real_paths(paths), conventions.as_dict()
    top = os.path.join(os.path.realpath(folder), "")
    if any(path.startswith(top) for path in real):
        raise InputError(
            Argument("cache"),
            f" {folder} holds the run files themselves. Give another folder for the cache.",
            argument="cache",
        )
    try:
        sources = field_cache.fingerprints(real, threads)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
    try:
        return field_cache.load(folder, sources, settings)
    except field_cache.StaleCacheError as stale:
        if (folder / field_cache.HEADER).exists():
            warn(f"the cache {folder} is not used: {stale}; the runs are read again and kept anew.")
    field, found = parse_files(paths, conventions, threads=threads, verbose=verbose)
    try:
        if field_cache.fingerprints(real, threads) == sources:
            field_cache.store(folder, field, found, sources, settings)
        else:
            warn(f"the run files changed while they were read, so they are not kept in {folder}. Read them again.")
    except OSError as error:
        warn(f"the runs were read but cannot be kept in {folder} ({error}).")
    return field, found
