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
    faults = _twins(paths, names, _BY_FILE)
    if faults:
        raise InputError.of_several(list(faults.values()), len(paths), "files")
    return names


def parse_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> ReadField:
    """Return the field of some run files.

    Raises:
        InputError: the first fault of every file that has one; none of the files is a run.
    """
    if conventions.names == "file" and conventions.other_files == "error":
        file_run_names(paths)
    files = _read_files(paths, conventions, threads=threads, verbose=verbose)
    runs = [file for file in files if file.run is not None]
    names = _name_runs(runs, conventions)
    twins = _twins([file.path for file in runs], names, _BY_TAG if conventions.names == "tag" else _BY_FILE)
    faults = {id(file): file.fault for file in files if file.fault is not None}
    faults |= {id(runs[i]): fault for i, fault in twins.items()}
    if faults:
        if conventions.duplicates == "error" and runs:
            field, repeats = build_field([file.run.rows for file in runs if file.run is not None], threads=threads)
            again = repeat_faults(field, repeats, names, _Places([file.path for file in runs]).told)
            faults = {id(runs[i]): fault for i, fault in again.items()} | faults
        raise InputError.of_several([faults[id(file)] for file in files if id(file) in faults], len(files), "files")
    if not runs:
        raise InputError(f"none of {count(len(files), 'file')} has a run line. Give run files, {RUN_LINE}.")
    return _coded(files, runs, names, conventions, threads)


@dataclass
class _File:
    """A run file as it was read: its run, or why it is left out, or what is wrong with it."""

    path: Path
    run: RunFile | None = None
    left_out: str | None = None
    fault: InputError | None = None
    commented: bool = False


def _read_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> list[_File]:
    context = copy_context()
    with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

        def read(path: Path) -> _File:
            # a thread begins without the caller's context, which says where errors are
            file = context.copy().run(_read_file, path, conventions)
            bar.update(1)
            return file

        pool = ThreadPoolExecutor(threads)
        try:
            return list(pool.map(read, paths))
        finally:
            # after ctrl-C the files not begun are not read
            pool.shutdown(wait=True, cancel_futures=True)


def _read_file(path: Path, conventions: Conventions) -> _File:
    with located(str(path)), in_memory():
        try:
            data = read_bytes(path)
        except UnreadableError as error:
            return _File(path, fault=InputError(f"the file {error}. Give a run file, {RUN_LINE}."))
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
        if file.run is not None and conventions.names == "tag":
            names[i] = file.run.rows.name
        elif file.run is not None:
            file.run.rows.name = names[i]
    return names


def _coded(
    files: Sequence[_File], runs: Sequence[_File], names: list[str], conventions: Conventions, threads: int
) -> ReadField:
    rows = [file.run.rows for file in runs if file.run is not None]
    places = _Places([file.path for file in runs])
    field, repeats = code_runs(rows, duplicates=conventions.duplicates, threads=threads, lines=places.told)
    name_of = {file.path: name for file, name in zip(runs, names, strict=True)}
    dropped, longer = [], []
    for file in files:
        if file.left_out is not None:
            dropped.append(Dropped.of_file(str(file.path), file.left_out))
        if file.run is not None and len(file.run.bad):
            dropped.append(Dropped.of_lines(str(file.path), file.run.bad, file.run.reasons, name_of[file.path]))
        if file.run is not None and len(file.run.longer):
            longer.append((str(file.path), file.run.longer))
    if len(repeats):
        lines = places.of_repeats(field, repeats, conventions.order)
        dropped.append(Dropped.of_repeats(repeats, names, field.topics, files=places.files, lines=lines))
    beyond = None
    if longer:
        beyond = Beyond(len(longer), sum(len(lines) for _, lines in longer), longer[0][0], int(longer[0][1][0]))
    all_dropped = Dropped.stacked(dropped).by_file([str(file.path) for file in files])
    commented = tuple(i for i, file in enumerate(runs) if file.commented)
    return ReadField(field, names, all_dropped.frame, beyond, commented)


class _Places:
    """Where documents stand in the files of runs, which are read once more for it."""

    def __init__(self, paths: Sequence[Path]):
        self.paths, self.files = paths, [str(path) for path in paths]

    def told(self, run: int, topic: str, docno: str) -> str:
        """Return the lines of a document in words."""
        try:
            found = find_document(read_bytes(self.paths[run]), topic, docno)
        except UnreadableError:  # it was read a moment ago
            return f" ({self.paths[run]})"
        return f" (lines {', '.join(f'{line:,}' for line in found[:5])} of {self.paths[run]})"

    def of_repeats(self, field: Field, repeats: Repeats, order: str) -> NDArray[np.int64]:
        """Return (n,): the line of each row."""
        lines = np.zeros(len(repeats), dtype=np.int64)
        for run in np.unique(repeats.run).tolist():
            rows = np.flatnonzero(repeats.run == run)
            topics = [field.topics[t] for t in repeats.topic[rows].tolist()]
            try:
                data = read_bytes(self.paths[run])
            except UnreadableError as error:
                raise InputError(f"the file {error}, though it was read before.", place=self.files[run]) from error
            lines[rows] = lines_in_file(data, order, topics, repeats.place[rows])
        return lines


def _names_of(paths: Sequence[Path]) -> list[str]:
    return [_PACKED.sub("", path.name).removeprefix("input.") or path.name for path in paths]


def _twins(paths: Sequence[Path], names: Sequence[str], advice: tuple[Part, ...]) -> dict[int, InputError]:
    # the files whose runs bear the name of another one before them
    first: dict[str, Path] = {}
    faults = {}
    for i, (path, name) in enumerate(zip(paths, names, strict=True)):
        other = first.setdefault(name, path)
        if other is not path:
            faults[i] = InputError(f"{other} and {path} are both named {shown(name)}. ", *advice, ", or leave one out.")
    return faults
