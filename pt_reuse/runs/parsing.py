"""Parse run files in parallel, in memory, and code them as one field."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path

import pyterrier as pt

from pt_reuse._errors import InputError, located
from pt_reuse.engine.building import build_field
from pt_reuse.engine.run_rows import RunRows
from pt_reuse.formats.files import UnreadableError, in_memory, kind_of_table, read_bytes
from pt_reuse.formats.read_field import ReadField
from pt_reuse.formats.run_table import RunTable
from pt_reuse.formats.tables import is_table
from pt_reuse.formats.trec import parse_run
from pt_reuse.formats.trec_lines import has_run_lines, is_commented
from pt_reuse.runs.coding import code_runs, repeat_faults
from pt_reuse.runs.dropped import Dropped
from pt_reuse.runs.file_runs import (
    Conventions,
    FileRun,
    LinesInFiles,
    longer_lines,
    many_tags,
    named_by_files,
    no_run,
    no_table,
    packed_table,
    run_names_of,
    unreadable,
)


def parse_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> ReadField:
    """Return the field of some run files.

    Raises:
        InputError: the first fault of every file that has one; none of the files is a run.
    """
    named_by_files(paths, conventions.names, conventions.other_files)
    files = [file for found in _read_files(paths, conventions, threads=threads, verbose=verbose) for file in found]

    def repeated(runs: list[FileRun], names: list[str]) -> dict[int, InputError]:
        field, repeats = build_field(_rows_of(runs, names), threads=threads)
        return repeat_faults(field.topics, repeats, names, LinesInFiles(runs, conventions.order).told)

    runs, names = run_names_of(files, len(paths), conventions, repeated)
    lines = LinesInFiles(runs, conventions.order)
    rows = _rows_of(runs, names)
    field, repeats = code_runs(rows, duplicates=conventions.duplicates, threads=threads, lines=lines.told)
    name_of = {id(file): name for file, name in zip(runs, names, strict=True)}
    dropped = [part for file in files for part in file.dropped(name_of.get(id(file)))]
    if len(repeats):
        at = lines.of_repeats(field.topics, repeats)
        dropped.append(Dropped.of_repeats(repeats, names, field.topics, files=lines.files, lines=at))
    place = {path: i for i, path in enumerate(paths)}
    all_dropped = Dropped.stacked(dropped).by_file([*map(str, place)])
    commented = tuple(i for i, file in enumerate(runs) if file.commented)
    of_files = tuple(place[file.path] for file in runs)
    return ReadField(field, names, all_dropped.frame, longer_lines(files), commented, of_files)


@dataclass
class _File(FileRun):
    """What came of a run file; its rows are in memory."""

    rows: RunRows | None = None


def _rows_of(runs: Sequence[FileRun], names: Sequence[str]) -> list[RunRows]:
    # rows bear the names of their runs from now on
    rows = []
    for file, name in zip(runs, names, strict=True):
        if isinstance(file, _File) and file.rows is not None:
            file.rows.name = name
            rows.append(file.rows)
    return rows


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
        except (UnreadableError, InputError) as error:
            return [_File(path, None, *no_table(error, conventions), table=True)]
        return [_File(path, run.rows.name, bad=run.bad, reasons=run.reasons, table=True, rows=run.rows) for run in runs]


def _read_file(path: Path, conventions: Conventions) -> _File:
    with located(str(path)), in_memory():
        try:
            data = read_bytes(path)
        except UnreadableError as error:
            return _File(path, fault=unreadable(error))
        if kind := kind_of_table(data):
            return _File(path, fault=packed_table(kind))
        try:
            run = parse_run(data, conventions.order, skip=conventions.bad_lines == "skip")
        except InputError as error:
            if conventions.other_files == "error" or has_run_lines(data, conventions.order):
                return _File(path, fault=error)
            return _File(path, left_out=no_run(error))
        if conventions.names == "tag" and len(run.tags) > 1:
            return _File(path, fault=many_tags(run.tags, len(run.tags)))
        longer = (len(run.longer), int(run.longer[0])) if len(run.longer) else (0, 0)
        commented = is_commented(data)
        return _File(path, run.rows.name, None, None, commented, longer, run.bad, run.reasons, rows=run.rows)
