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
from pt_reuse._files import check_writable
from pt_reuse.formats import cache as field_cache
from pt_reuse.formats.read_field import ReadField
from pt_reuse.runs.coding import warn_of_twin_topics
from pt_reuse.runs.dropped import Dropped
from pt_reuse.runs.how_pooled import UNKNOWN, HowPooled
from pt_reuse.runs.ir_metadata import labelled_table
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
    bad_lines: str = "error",
    other_files: str = "error",
    cache: str | Path | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RunSet:
    r"""Read TREC run files as one field.

    A run file has six columns, ``qid Q0 docno rank score tag``, separated by any white space; it may be packed
    (.gz, .bz2, .xz, .Z; .lz4 and .zst where their library is installed), recognised by its first bytes. A packed file
    that unpacks to more than 100 MB and more than 100 times its size is taken for an attack, and not read. As in
    trec_eval, a line that begins with ``#`` is a comment (so no topic id begins with it), and text after the sixth
    column is passed over, with one warning for all files.

    Args:
        source: a folder (all files in it, but hidden ones and those of folders in it), a glob pattern (``**`` stands
            for any folders), a file, or several files.
        teams: who submitted each run: a dict, a Series or DataFrame (``team``) indexed by name or with a column
            ``name``, or the path of a file with two columns, run tag and team. Runs that are not named have the team
            of their ir_metadata, in the file or in a YAML file beside it, or None, with a warning.
        types: what kind of system each run is (automatic, manual, neural, ...), given like `teams`.
        pooled: which runs contributed to the pool: a collection of names, a file with one name a line, a mapping of
            name to true or false, which says nothing of runs that it does not name, or one bool for all. Default: not
            on record, and every run counts as a contributor.
        metadata: a DataFrame or CSV with the column ``name``, or a DataFrame indexed by it, and any of ``team``,
            ``type``, ``pooled`` and others, instead of the three arguments above or beside them (they win).
        order: which order ranks the documents of a run. ``"trec_eval"`` (default): score as float64 descending, ties
            by docno descending; ``"trec_eval9"``: the same on float32 scores, as pytrec_eval and pt.Experiment do;
            ``"rank"``: the rank column; ``"file"``: as read. :meth:`RunSet.reorder` goes from one to another.
        pool_order: the order in which the collection made its pool of the runs, where it is another than `order`.
        pool_depth: to which depth it pooled, the default of ``depth=`` wherever the runs are pooled.
        names: ``"tag"`` names a run by its sixth column, ``"file"`` by its file name less ``input.`` and the
            compression's ending.
        duplicates: a document twice in one list is an ``"error"``, or ``"best"`` keeps its better-ranked occurrence.
        bad_lines: a line that is no run line is an ``"error"``, or ``"skip"`` leaves it out: fewer than six columns, a
            score that is no finite number, with ``order="rank"`` a rank that is none, a qid or docno of more than 1,024
            bytes, a NUL byte, a carriage return alone behind the sixth column. A document twice in a list is a matter
            of `duplicates`, and two lines of one rank or two tags in a file stay errors, as nobody can tell which line
            is wrong.
        other_files: a file without any run line, such as a picture, a README, qrels or an empty file, is an
            ``"error"``, or ``"skip"`` leaves it out. A packed file that is damaged is always an error.
        cache: a folder to keep the parsed field in; the next call loads it from there unless the contents of a file
            (by their checksums), the set of files, or a setting has changed.
        n_jobs: threads; default all cores.
        verbose: show a progress bar.

    Returns:
        RunSet: the runs, in the order of the files. :attr:`RunSet.dropped` has a row for each line and file that was
        left out; one warning, the repr and the settings of results say how many there are.

    Raises:
        InputError: naming the file, the line and what to do; of several faulty files the first fault of each, all in
            its attribute ``faults``.

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
        bad_lines=bad_lines,
        other_files=other_files,
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
        bad_lines: ``"error"`` or ``"skip"``, of lines that are no run line.
        other_files: ``"error"`` or ``"skip"``, of files without a run line.
        cache: a folder to keep the parsed field in, None for none.
        n_jobs: threads, None for all cores.
        verbose: show a progress bar.
    """

    order: str = "trec_eval"
    how_pooled: HowPooled = UNKNOWN
    names: str = "tag"
    duplicates: str = "error"
    bad_lines: str = "error"
    other_files: str = "error"
    cache: str | Path | None = None
    n_jobs: int | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        check_order("order", self.order)
        choice("names", self.names, ("tag", "file"))
        choice("duplicates", self.duplicates, ("error", "best"))
        choice("bad_lines", self.bad_lines, ("error", "skip"))
        choice("other_files", self.other_files, ("error", "skip"))
        if self.n_jobs is not None:
            positive("n_jobs", self.n_jobs, "threads")
        flag("verbose", self.verbose)
        if self.cache is not None:
            _check_cache(self.cache)

    def read(self, paths: Sequence[Path], labels: GivenMetadata) -> RunSet:
        """Return the runs of some files, labelled."""
        conventions = Conventions(self.order, self.names, self.duplicates, self.bad_lines, self.other_files)
        threads = (os.cpu_count() or 1) if self.n_jobs is None else int(self.n_jobs)
        # names of files are known before these are read, and so is what is wrong with the labels
        known = self.names == "file" and self.other_files == "error"
        table = labelled_table(labels, file_run_names(paths), paths, by_tag=False) if known else None
        if self.cache is None:
            found = parse_files(paths, conventions, threads=threads, verbose=self.verbose)
        else:
            found = _cached(paths, Path(self.cache), conventions, threads=threads, verbose=self.verbose)
        dropped = Dropped(found.dropped)
        dropped.tell()
        if found.beyond is not None:
            found.beyond.tell()
        warn_of_twin_topics(found.field.topics)
        if table is None:
            whole = set(found.dropped["file"][found.dropped["line"].isna()])
            of_runs = [path for path in paths if str(path) not in whole]
            commented = {of_runs[i] for i in found.commented}
            table = labelled_table(labels, found.names, of_runs, by_tag=self.names == "tag", commented=commented)
        return RunSet(found.field, table, self.order, self.how_pooled, dropped)


def _check_cache(cache: Any) -> None:
    if not isinstance(cache, str | os.PathLike) or not str(cache) or "\0" in str(cache):
        raise InputError(Argument("cache"), f" must be the path of a folder, got {cache!r}.", argument="cache")
    if os.path.exists(cache) and not os.path.isdir(cache):
        raise InputError(
            Argument("cache"),
            f" {cache} is a file. Give a folder for the cache; it is made if missing.",
            argument="cache",
        )
    if not os.path.exists(os.path.join(cache, field_cache.HEADER)):
        # what is there already may be of use even where nothing can be written
        _check_keeping(Path(cache))


def _check_keeping(folder: Path) -> None:
    check_writable(folder, [field_cache.HEADER], overwrite=True, argument="cache")


def _cached(paths: Sequence[Path], folder: Path, conventions: Conventions, *, threads: int, verbose: bool) -> ReadField:
    real, settings = real_paths(paths), conventions.as_dict()
    top = os.path.join(os.path.realpath(folder), "")
    links = [os.path.realpath(path) for path in paths if path.is_symlink()]
    if any(path.startswith(top) for path in (*real, *links)):
        raise InputError(
            Argument("cache"),
            f" {folder} holds the run files themselves. Give another folder for the cache.",
            argument="cache",
        )
    if len(set(real)) < len(real):
        # one file by two paths: reading it says what is wrong
        return parse_files(paths, conventions, threads=threads, verbose=verbose)
    try:
        sources = field_cache.fingerprints(real, threads)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
    try:
        return field_cache.load(folder, sources, settings).placed(dict(zip(real, map(str, paths), strict=True)))
    except field_cache.StaleCacheError as stale:
        keeping = not (folder / field_cache.HEADER).exists() or _tell_stale(folder, stale)
    found = parse_files(paths, conventions, threads=threads, verbose=verbose)
    if not keeping:
        return found
    try:
        if field_cache.fingerprints(real, threads) == sources:
            # another call may give the same files by other paths
            kept = found.placed(dict(zip(map(str, paths), real, strict=True)))
            field_cache.store(folder, kept, sources, settings)
        else:
            warn(f"the run files changed while they were read, so they are not kept in {folder}. Read them again.")
    except OSError as error:
        warn(f"the runs were read but cannot be kept in {folder} ({error}).")
    return found


def _tell_stale(folder: Path, stale: field_cache.StaleCacheError) -> bool:
    """Say why a cache does not serve, and return whether it can be written anew."""
    # before the runs are read: it may be long until they are
    try:
        _check_keeping(folder)
    except InputError as error:
        warn(f"the cache {folder} is not used: {stale}; the runs are read again, but cannot be kept: ", error)
        return False
    warn(f"the cache {folder} is not used: {stale}; the runs are read again and kept anew.")
    return True
