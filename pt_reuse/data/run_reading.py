"""Read a field of TREC run files, in parallel, with an optional cache."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse.data.ir_metadata import run_paths
from pt_reuse.data.judgments import Qrels, as_qrels, is_collection
from pt_reuse.data.metadata import GivenMetadata, RunLabels, given_metadata
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.run_files import FileReading, coded_runs, holds_judgments
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError


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
    memory: int | str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RunSet:
    r"""Read TREC run files, and tables of runs (Parquet, Arrow), as one field.

    A run file has six columns, ``qid Q0 docno rank score tag``, separated by white space; it may be packed (.gz, .bz2,
    .xz, .Z; .lz4 and .zst where their library is installed), recognised by its first bytes. A packed file that unpacks
    to more than 100 MB and more than 100 times its size is refused as an attack. As in trec_eval, a line that begins
    with ``#`` is a comment, and text after the sixth column is ignored, with one warning for all files.

    A table has a row per document with the columns ``qid``, ``docno``, ``score``, optional ``rank``, and ``name``, the
    run; without ``name`` all rows are one run, named by the file. It needs pyarrow (``pip install
    'pt-reuse[parquet]'``). The metadata that :meth:`RunSet.write_table` stored in it are used unless given here.

    Args:
        source: a folder (all files in it except hidden files and subfolders), a glob pattern, a file, or several files.
        teams: who submitted each run: a dict, a Series or DataFrame (``team``) indexed by name or with a column
            ``name``, or the path of a file with two columns, run tag and team. Runs that are not named have the team
            of the ir_metadata in their file, or None, with a warning.
        types: what kind of system each run is (automatic, manual, neural, ...), given like `teams`.
        pooled: which runs contributed to the pool: a collection of names, a file with one name a line, a mapping of
            name to true or false, which leaves runs that it does not name unknown, or one bool for all. Default: not on
            record, and every run counts as a contributor.
        metadata: a DataFrame or CSV with the column ``name``, or a DataFrame indexed by it, and any of ``team``,
            ``type``, ``pooled`` and others, instead of the three arguments above, or in addition (the arguments win).
        order: the order that ranks the documents of a run. ``"trec_eval"`` (default): score as float64 descending, ties
            by docno descending; ``"trec_eval9"``: the same on float32 scores, as pytrec_eval and pt.Experiment do;
            ``"rank"``: the rank column; ``"file"``: as read. :meth:`RunSet.reorder` changes it.
        pool_order: the order in which the collection pooled the runs, if it is not `order`.
        pool_depth: the depth to which it pooled, the default of ``depth=`` in all functions that pool the runs.
        names: ``"tag"`` names a run by its sixth column, ``"file"`` by its file name without ``input.`` and the ending
            of the compression. Runs of tables are named by their column ``name``.
        duplicates: a document twice in one list is an ``"error"``, or ``"best"`` keeps its better-ranked occurrence.
        bad_lines: a line that is no run line is an ``"error"``, or ``"skip"`` leaves it out: fewer than six columns, a
            score (with ``order="rank"`` a rank) that is no finite number, a qid or docno of more than 1,024 bytes, a
            NUL byte, a carriage return behind the sixth column. Two lines of one rank and two tags in a file are
            always errors, and so is a bad row of a table.
        other_files: a file without any run line, such as a README, qrels or an empty file, is an ``"error"``, or
            ``"skip"`` leaves it out. A damaged packed file or table is always an error.
        cache: a folder to keep the parsed field in; the next call loads it from there unless the contents of a file
            (by their checksums), the set of files, or a setting has changed.
        memory: how much may be held in memory at once, in bytes or as ``"500MB"``, ``"2GB"``, ``"1.5 GiB"``; at least
            64 MB. The field is then kept in `cache`, block by block, and studies load the blocks that they need.
            Results, such as pools, need further memory. Default: the whole field is in memory.
        n_jobs: threads; default all cores.
        verbose: show a progress bar.

    Returns:
        RunSet: the runs, in the order of the files; those of a table in the order of :meth:`RunSet.write_table`, else
            in that of their first rows. :attr:`RunSet.dropped` has a row for each line and file that was left out.

    Raises:
        InputError: with the file, the line and what to do; for several faulty files the first fault of each, all in its
            attribute ``faults``.

    Example:
        >>> import tempfile, pathlib, pt_reuse as ptr
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "input.bm25").write_text("1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n")
        >>> ptr.read_runs(folder, teams={"bm25": "A"})
        RunSet: 1 run (pooled: not on record), 1 team, 1 topic, 2 rows, order='trec_eval'
    """
    how: dict[str, Any] = {"duplicates": duplicates, "bad_lines": bad_lines, "other_files": other_files}
    how |= {"names": names, "cache": cache, "memory": memory, "n_jobs": n_jobs, "verbose": verbose}
    reading = Reading(order=order, how_pooled=HowPooled(pool_order, pool_depth), **how)
    paths = run_paths(source)
    labels = given_metadata(teams=teams, types=types, pooled=pooled, metadata=metadata)
    return reading.read(paths, labels)


@dataclass(frozen=True, kw_only=True)
class Reading(FileReading):
    """How run files are read, as :func:`read_runs` takes it, into a RunSet."""

    def read(self, paths: Sequence[Path], labels: GivenMetadata) -> RunSet:
        """Return the runs of some files, labelled."""
        return RunSet.of_coded(self.coded(paths, labels))


_SWAPPED = " The runs come first, then the qrels."


def as_runs(runs: Any, *others: Any, argument: str = "runs", order: str = "trec_eval") -> RunSet:
    """Return what a user gives as runs as a RunSet: the one place that takes runs of any kind."""
    if isinstance(runs, RunSet):
        return runs
    if is_collection(runs):
        found: RunSet = pt.get_dataset(runs).get_runs(order=order)
        return found
    judged = [isinstance(given, Qrels) or holds_judgments(given) for given in (runs, *others)]
    swapped = any(isinstance(other, RunSet) for other in others) or (bool(others) and judged[0] and not any(judged[1:]))
    return RunSet.of_coded(coded_runs(runs, argument=argument, order=order, hint=_SWAPPED if swapped else ""))


def as_runs_before(runs: Any, qrels: Any) -> tuple[RunSet, Any]:
    """Return the runs as a RunSet, and the judgments: read first where runs are read, which takes longer."""
    if isinstance(runs, RunSet):
        return runs, qrels
    try:
        found = qrels if isinstance(qrels, RunSet) else as_qrels(qrels)
    except InputError:
        # of two that are swapped, the runs are told
        if isinstance(runs, Qrels) or holds_judgments(runs):
            as_runs(runs, qrels)
        raise
    return as_runs(runs, found), found
