"""Runs in whatever form a user gives them, and the files that they are read from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._files import check_writable, checked_path, user_path
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field
from pt_reuse.data.coding import UNKNOWN, CodedRuns, HowPooled, check_order, coder, run_names, warn_of_twin_topics
from pt_reuse.data.dropped import tell
from pt_reuse.data.frame_columns import (
    COLUMNS,
    as_ids,
    has_fields,
    in_our_columns,
    is_nested,
    no_results_yet,
    warn_of_white_space,
)
from pt_reuse.data.judgments import Qrels, is_collection
from pt_reuse.data.metadata import GivenMetadata, given_metadata, labelled_table, run_paths
from pt_reuse.data.parsing import Conventions, memory_bytes, named_by_files, parse_files, run_rows, tell_of_longer
from pt_reuse.data.store import NAME, read_kept
from pt_reuse.data.tables import TableLabels, is_table
from pt_reuse.errors import InputError, choice, examples, flag, located, positive, shown


@dataclass(frozen=True, kw_only=True)
class FileReading(Conventions):
    """How run files are read, as :func:`read_runs` takes it; one that is made has been checked."""

    how_pooled: HowPooled = UNKNOWN  # in which order and to which depth the pool was made, as far as somebody says
    cache: str | Path | None = None  # a folder to keep the parsed field in, None for none
    memory: int | str | None = None  # how much may be held in memory, in bytes or as a text, None for the whole field
    n_jobs: int | None = None  # threads, None for all cores
    verbose: bool = False  # show a progress bar

    def __post_init__(self) -> None:
        check_order("order", self.order)
        choice("names", self.names, ("tag", "file"))
        choice("duplicates", self.duplicates, ("error", "best"))
        choice("bad_lines", self.bad_lines, ("error", "skip"))
        choice("other_files", self.other_files, ("error", "skip"))
        if self.n_jobs is not None:
            positive("n_jobs", self.n_jobs, "threads")
        flag("verbose", self.verbose)
        if self.cache is not None and not ((folder := checked_path(self.cache, "cache")) / NAME).exists():
            # what is there already may be of use even where nothing can be written
            check_writable(folder, [NAME], overwrite=True, argument="cache")
        if self.memory is not None:
            memory_bytes(self.memory)
            if self.cache is None:
                what = " needs a folder in which the field is kept. Pass "
                raise InputError(f"memory{what}cache='FOLDER', too.", argument="memory")

    def coded(self, paths: Sequence[Path], labels: GivenMetadata) -> CodedRuns:
        """Return the runs of some files, labelled."""
        threads = (os.cpu_count() or 1) if self.n_jobs is None else int(self.n_jobs)
        tables = TableLabels(paths)
        how_pooled = tables.how_pooled(self.how_pooled)
        # names of files are known before these are read, and so is what is wrong with the labels
        names = named_by_files(paths, self.names, self.other_files)
        table = None if names is None else labelled_table(labels, names, paths)
        if self.cache is None:
            found = parse_files(paths, self, threads=threads, verbose=self.verbose)
        else:
            memory = None if self.memory is None else memory_bytes(self.memory)
            found = read_kept(paths, user_path(self.cache), self, threads=threads, verbose=self.verbose, memory=memory)
        tell(found.dropped)
        tell_of_longer(found.longer, paths)
        warn_of_twin_topics(found.field.topics)
        # run files have white space between names alone
        if isinstance(found.field, Field) and any(map(is_table, paths)):
            warn_of_white_space(found.field.topics, tokens.as_words(found.field.vocabulary))
        if table is None:
            of_runs = [paths[i] for i in found.files]
            table = labelled_table(labels, found.names, of_runs, tables.base(found.names, of_runs))
        tables.tell(self.order)
        return CodedRuns(found.field, table, self.order, how_pooled, found.dropped)


_FORMS = (
    " must be a RunSet (read_runs() or get_runs() makes one), a dict of run name -> results or file, a frame with "
    "the columns 'name', 'qid', 'docno' and 'score', run files, or a collection's name ('reuse:dl19')"
)


def coded_runs(given: Any, *, argument: str, order: str = "trec_eval") -> CodedRuns:
    """Code runs that are given in another form than a RunSet."""
    given = held(given)
    if is_files(given):
        return FileReading(order=order).coded(run_paths(given, argument), given_metadata())
    named = _by_name(given, argument)
    paths = {}
    for name, of_run in named.items():
        if isinstance(of_run, str | Path):
            with located(f"run {shown(str(name))}"):
                found = run_paths(of_run, argument)
                if len(found) > 1:
                    raise InputError(f"{of_run} is {len(found):,} files. Give the file of this run.")
                paths[name] = found[0]
    read = run_rows([*paths.values()], order, threads=os.cpu_count() or 1) if paths else {}
    results = [read[paths[name]] if name in paths else of_run for name, of_run in named.items()]
    return coder(run_names(argument, named, "results"), order)(results)


def held(given: Any) -> Any:
    """Return what is given one by one as a list, such as the paths that a pattern yields; all else as it is."""
    return list(given) if isinstance(given, Iterator) else given


def is_files(given: Any) -> bool:
    """Return whether something that is given as runs is the path of files, or several."""
    if isinstance(given, str | os.PathLike):
        return not is_collection(given)
    several = isinstance(given, list | tuple | set | frozenset) and bool(given)
    return several and all(isinstance(item, str | os.PathLike) for item in given)


def holds_judgments(given: Any) -> bool:
    """Return whether something that is given as runs are judgments: a Qrels, a frame or a list."""
    if isinstance(given, Qrels):
        return True
    if isinstance(given, pd.DataFrame):
        columns = in_our_columns(given.iloc[:0]).columns
        return "label" in columns and "score" not in columns
    return isinstance(given, list | tuple) and bool(given) and has_fields(given[0], "qid", "docno", "label")


def _by_name(given: Any, argument: str) -> Mapping[Any, Any]:
    # run name -> results
    got = f"{shown(given) if given is None else type(given).__name__}"
    unnamed = False
    if isinstance(given, pt.Transformer):
        raise no_results_yet(argument)
    if isinstance(given, pd.DataFrame):
        frame = in_our_columns(given)
        got = f"a frame with the columns {examples(frame.columns, 12) if len(frame.columns) else 'none'}"
        if set(COLUMNS) <= set(frame.columns):
            unnamed = (frame.columns == "name").sum() != 1
            if not unnamed:
                with located(argument):
                    names = pd.Series(as_ids("name", frame["name"].tolist()), index=frame.index, dtype=object)
                return {name: run for name, run in frame.assign(name=names).groupby("name", sort=False)}
    elif isinstance(given, Mapping):
        if any(isinstance(value, pt.Transformer) for value in given.values()):
            raise no_results_yet(argument)
        unnamed = is_nested(given) and any(given.values())
        if not unnamed:
            return given
    elif isinstance(given, Iterable) and not isinstance(given, bytes):
        unnamed = has_fields(next(iter(given), None), *COLUMNS)
    if unnamed:
        problem = f"{argument} is {got}, results without the name of a run. Name it: {{'bm25': results}}."
        raise InputError(problem, argument=argument)
    hint = " These are judgments; the runs come first, then the qrels." if holds_judgments(given) else ""
    raise InputError(f"{argument}{_FORMS}, got {got}.{hint}", argument=argument)
