"""Parse run files in parallel and code them as one field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import count, shown
from pt_reuse._errors import InputError, Option, Part, located
from pt_reuse.engine.building import Repeats, build_field
from pt_reuse.engine.field import Field
from pt_reuse.formats.files import UnreadableError, in_memory, read_bytes
from pt_reuse.formats.read_field import Beyond, ReadField
from pt_reuse.formats.run_table import RunTable
from pt_reuse.formats.table_rows import RUN_TABLE, NoRunError
from pt_reuse.formats.tables import is_table, kind_of_table
from pt_reuse.formats.trec import (
    RUN_LINE,
    RunFile,
    find_document,
    has_run_lines,
    is_commented,
    lines_in_file,
    parse_run,
)
from pt_reuse.runs.coding import code_runs, repeat_faults
from pt_reuse.runs.dropped import Dropped

#: of a packed file; ir_datasets' trec-browser-provider adds a further ending to files as they came
_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)(\.raw)?$")
_BY_TAG: tuple[Part, ...] = ("Pass ", Option("names", "file"), " to name runs by their files")
_BY_FILE: tuple[Part, ...] = ("Rename one of the files",)


@dataclass(frozen=True)
class Conventions:
    """How run files are read; what is kept in a cache depends on it.

    Attributes:
        order: the ranking order.
        names: ``"tag"`` or ``"file"``, what names a run.
        duplicates: ``"error"`` or ``"best"``.
        bad_lines: ``"error"`` or ``"skip"``, of lines that are no run line.
        other_files: ``"error"`` or ``"skip"``, of files without a run line.
    """

    order: str
    names: str
    duplicates: str
    bad_lines: str
    other_files: str

    def as_dict(self) -> dict[str, str]:
        """Return the conventions by their names."""
        return asdict(self)


def file_run_names(paths: Sequence[Path]) -> list[str]:
    """Return the names that runs have by their files, all different, without a look into the files."""
    names = _names_of(paths)
    faults = _twins([_File(path) for path in paths], names, _BY_FILE)
    if faults:
        raise InputError.of_several(list(faults.values()), len(paths), "files")
    return names


def named_by_files(paths: Sequence[Path], names: str, other_files: str) -> list[str] | None:
    """Return the names of the runs where these are known before the files are read, else None.

    Args:
        paths: the files.
        names: ``"tag"`` or ``"file"``; tables have names of their own.
        other_files: ``"error"`` or ``"skip"``.
    """
    known = names == "file" and other_files == "error" and not any(map(is_table, paths))
    return file_run_names(paths) if known else None


def parse_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> ReadField:
    """Return the field of some run files.

    Raises:
        InputError: the first fault of every file that has one; none of the files is a run.
    """
    named_by_files(paths, conventions.names, conventions.other_files)
    files = [file for found in _read_files(paths, conventions, threads=threads, verbose=verbose) for file in found]
    runs = [file for file in files if file.run is not None]
    names = _name_runs(runs, conventions)
    twins = _twins(runs, names, _BY_TAG if conventions.names == "tag" else _BY_FILE)
    faults = {id(file): file.fault for file in files if file.fault is not None}
    faults |= {id(runs[i]): fault for i, fault in twins.items()}
    if faults:
        if conventions.duplicates == "error" and runs:
            field, repeats = build_field([file.run.rows for file in runs if file.run is not None], threads=threads)
            again = repeat_faults(field, repeats, names, _Places(runs, conventions.order).told)
            faults = {id(runs[i]): fault for i, fault in again.items()} | faults
        of_file: dict[Path, InputError] = {}
        for file in files:
            if id(file) in faults:
                of_file.setdefault(file.path, faults[id(file)])
        raise InputError.of_several([*of_file.values()], len(paths), "files")
    if not runs:
        raise InputError(f"none of {count(len(paths), 'file')} has a run line. Give run files, {RUN_LINE}.")
    return _coded(files, runs, names, conventions, threads)


@dataclass
class _File:
    """A file as it was read: its run, or one of those of a table, or why it is left out, or what is wrong with it."""

    path: Path
    run: RunFile | None = None
    left_out: str | None = None
    fault: InputError | None = None
    commented: bool = False
    table: bool = False


def _read_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> list[list[_File]]:
    context = copy_context()
    with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

        def read(path: Path) -> list[_File]:
            # a thread begins without the caller's context, which says where errors are
            found = context.copy().run(_read_any, path, conventions)
            bar.update(1)
            return found

        pool = ThreadPoolExecutor(threads)
        try:
            return list(pool.map(read, paths))
        finally:
            # after ctrl-C the files not begun are not read
            pool.shutdown(wait=True, cancel_futures=True)


def _read_any(path: Path, conventions: Conventions) -> list[_File]:
    return _read_table(path, conventions) if is_table(path) else [_read_file(path, conventions)]


def _read_table(path: Path, conventions: Conventions) -> list[_File]:
    with located(str(path)), in_memory():
        try:
            runs = RunTable(path, conventions.order).runs(skip=conventions.bad_lines == "skip")
        except UnreadableError as error:
            return [_File(path, fault=InputError(f"the file {error}. Give a table of runs, {RUN_TABLE}."))]
        except NoRunError as error:
            if conventions.other_files == "error":
                return [_File(path, fault=error)]
            return [_File(path, left_out=f"no row of a run: {str(error.parts[0]).strip()}")]
        except InputError as error:
            return [_File(path, fault=error)]
        return [_File(path, run=run, table=True) for run in runs]


def _read_file(path: Path, conventions: Conventions) -> _File:
    with located(str(path)), in_memory():
        try:
            data = read_bytes(path)
        except UnreadableError as error:
            return _File(path, fault=InputError(f"the file {error}. Give a run file, {RUN_LINE}."))
        if kind := kind_of_table(data):
            packed = f"a packed file, or a pipe, with a table in it ({kind}). Unpack it first."
            return _File(path, fault=InputError(packed))
        try:
            run = parse_run(data, conventions.order, skip=conventions.bad_lines == "skip")
        except InputError as error:
            if conventions.other_files == "error" or has_run_lines(data, conventions.order):
                return _File(path, fault=error)
            return _File(path, left_out=f"no run line: {str(error.parts[0]).strip()}")
        if conventions.names == "tag" and len(run.tags) > 1:
            return _File(path, fault=_many_tags(run.tags))
        return _File(path, run=run, commented=is_commented(data))


def _many_tags(tags: dict[str, int]) -> InputError:
    places = [f"{shown(tag)} from line {line:,}" for tag, line in list(tags.items())[:3]]
    more = f" and {len(tags) - 3:,} more" if len(tags) > 3 else ""
    return InputError(
        f"{count(len(tags), 'run tag')} in the sixth column: {', '.join(places)}{more}; a run file has one. ",
        "Split the file by tag, or pass ",
        Option("names", "file"),
        " to name the run by its file.",
    )


def _name_runs(files: Sequence[_File], conventions: Conventions) -> list[str]:
    # the names of the runs, which their rows bear from now on
    names = _names_of([file.path for file in files])
    for i, file in enumerate(files):
        if file.run is not None and (conventions.names == "tag" or file.table):
            names[i] = file.run.rows.name
        elif file.run is not None:
            file.run.rows.name = names[i]
    return names


def _coded(
    files: Sequence[_File], runs: Sequence[_File], names: list[str], conventions: Conventions, threads: int
) -> ReadField:
    rows = [file.run.rows for file in runs if file.run is not None]
    places = _Places(runs, conventions.order)
    field, repeats = code_runs(rows, duplicates=conventions.duplicates, threads=threads, lines=places.told)
    name_of = {id(file): name for file, name in zip(runs, names, strict=True)}
    dropped, longer = [], []
    for file in files:
        if file.left_out is not None:
            dropped.append(Dropped.of_file(str(file.path), file.left_out))
        if file.run is not None and len(file.run.bad):
            dropped.append(Dropped.of_lines(str(file.path), file.run.bad, file.run.reasons, name_of[id(file)]))
        if file.run is not None and len(file.run.longer):
            longer.append((str(file.path), file.run.longer))
    if len(repeats):
        lines = places.of_repeats(field, repeats)
        dropped.append(Dropped.of_repeats(repeats, names, field.topics, files=places.files, lines=lines))
    beyond = None
    if longer:
        beyond = Beyond(len(longer), sum(len(lines) for _, lines in longer), longer[0][0], int(longer[0][1][0]))
    place = {path: i for i, path in enumerate(dict.fromkeys(file.path for file in files))}
    all_dropped = Dropped.stacked(dropped).by_file([*map(str, place)])
    commented = tuple(i for i, file in enumerate(runs) if file.commented)
    return ReadField(field, names, all_dropped.frame, beyond, commented, tuple(place[file.path] for file in runs))


class _Places:
    """Where documents stand in the files of runs, which are read once more for it."""

    def __init__(self, runs: Sequence[_File], order: str):
        self.runs, self.files, self.order = runs, [str(file.path) for file in runs], order
        self._tables: dict[Path, RunTable] = {}

    def told(self, run: int, topic: str, docno: str) -> str:
        """Return the lines of a document in words."""
        file = self.runs[run]
        try:
            if file.table:
                return f" ({self._table(run).find(self._name(run), topic, docno)} of {file.path})"
            found = find_document(read_bytes(file.path), topic, docno)
        except UnreadableError:  # it was read a moment ago
            return f" ({file.path})"
        return f" (lines {', '.join(f'{line:,}' for line in found[:5])} of {file.path})"

    def of_repeats(self, field: Field, repeats: Repeats) -> NDArray[np.int64]:
        """Return (n,): the line of each row."""
        lines = np.zeros(len(repeats), dtype=np.int64)
        for run in np.unique(repeats.run).tolist():
            rows = np.flatnonzero(repeats.run == run)
            topics = [field.topics[t] for t in repeats.topic[rows].tolist()]
            try:
                if self.runs[run].table:
                    lines[rows] = self._table(run).rows_at(self._name(run), topics, repeats.place[rows])
                    continue
                data = read_bytes(self.runs[run].path)
            except UnreadableError as error:
                raise InputError(f"the file {error}, though it was read before.", place=self.files[run]) from error
            lines[rows] = lines_in_file(data, self.order, topics, repeats.place[rows])
        return lines

    def _table(self, run: int) -> RunTable:
        # one table may hold many of the runs
        path = self.runs[run].path
        if path not in self._tables:
            self._tables[path] = RunTable(path, self.order)
        return self._tables[path]

    def _name(self, run: int) -> str:
        found = self.runs[run].run
        return "" if found is None else found.rows.name


def _names_of(paths: Sequence[Path]) -> list[str]:
    return [_PACKED.sub("", path.name).removeprefix("input.") or path.name for path in paths]


def _twins(files: Sequence[_File], names: Sequence[str], advice: tuple[Part, ...]) -> dict[int, InputError]:
    # the files whose runs bear the name of another one before them
    first: dict[str, _File] = {}
    faults = {}
    for i, (file, name) in enumerate(zip(files, names, strict=True)):
        other = first.setdefault(name, file)
        if other is not file:
            # nothing that one can pass renames the runs of a table
            table = file.table or other.table
            both = f"both have a run {shown(name)}" if table else f"are both named {shown(name)}"
            how = ("Rename one of the runs",) if table else advice
            faults[i] = InputError(f"{other.path} and {file.path} {both}. ", *how, ", or leave one out.")
    return faults
