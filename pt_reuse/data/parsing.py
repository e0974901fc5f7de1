"""Run files and tables parsed in memory: what came of each, and the field of all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import count, shown
from pt_reuse._errors import InputError, Option, Part, located, warn
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Repeats, build_field
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import FileRows, NoPlaceError, Places, RunRows
from pt_reuse.data.coding import code_runs, repeat_faults
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.lines import RUN_LINE, has_run_lines, is_commented
from pt_reuse.data.packed_files import UnreadableError, chunks_of_lines, in_memory, kind_of_table, read_bytes
from pt_reuse.data.run_parts import find_document, lines_of_rows
from pt_reuse.data.tables import (
    RUN_TABLE,
    NoRunError,
    RowGroup,
    TableReading,
    find_in_table,
    is_table,
    reason,
    rows_in_table,
    rows_of_runs,
    tied_row,
)
from pt_reuse.data.trec import RunFile, parse_run


@dataclass(frozen=True)
class Longer:
    """Lines of a file with text after the sixth column, which is passed over."""

    file: str  # the file
    lines: int  # how many
    first: int  # the first of them


def tell_of_longer(files: Sequence[Longer]) -> None:
    """Warn of text after the sixth column, if there is any."""
    if files:
        many = f"{count(sum(file.lines for file in files), 'line')} of {count(len(files), 'file')}"
        warn(
            f"{many} with text after the sixth column, which is passed over, as trec_eval does. First "
            f"{files[0].file}, line {files[0].first:,}. Where a name holds white space, mend such lines."
        )


@dataclass(frozen=True)
class ReadField:
    """A field as run files gave it."""

    field: AnyField  # the runs
    names: list[str]  # of the runs
    dropped: pd.DataFrame  # what was left out, see :mod:`pt_reuse.data.dropped`
    longer: tuple[Longer, ...]  # the files with text after the sixth column
    commented: tuple[int, ...]  # the runs, by position, whose files begin with a comment, which may be ir_metadata
    files: tuple[int, ...]  # the file of each run, by position; a table may hold several runs

    def placed(self, places: Mapping[str, str]) -> ReadField:
        """Return the same with the paths of files written in another way."""
        if self.dropped.empty and not self.longer:
            return self
        files = [places.get(file, file) for file in self.dropped["file"]]
        dropped = self.dropped.assign(file=pd.Series(files, index=self.dropped.index, dtype=object))
        longer = tuple(replace(item, file=places.get(item.file, item.file)) for item in self.longer)
        return replace(self, dropped=dropped, longer=longer)


#: of a packed file; ir_datasets' trec-browser-provider adds a further ending to files as they came
_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)(\.raw)?$")
_BY_TAG: tuple[Part, ...] = ("Pass ", Option("names", "file"), " to name runs by their files")
_BY_FILE: tuple[Part, ...] = ("Rename one of the files",)
#: bytes of a file that are looked through at once, and of the longest line
_CHUNK, _LONGEST = 1 << 22, 1 << 30
_TOLD = 5  # lines of a document


@dataclass(frozen=True)
class Conventions:
    """How run files are read; what is kept in a cache depends on it."""

    order: str  # the ranking order
    names: str  # ``"tag"`` or ``"file"``, what names a run
    duplicates: str  # ``"error"`` or ``"best"``
    bad_lines: str  # ``"error"`` or ``"skip"``, of lines that are no run line
    other_files: str  # ``"error"`` or ``"skip"``, of files without a run line

    def as_dict(self) -> dict[str, str]:
        """Return the conventions by their names."""
        return asdict(self)


@dataclass
class FileRun:
    """What came of a run file, or of one of the runs of a table."""

    path: Path  # the file
    tag: str | None = None  # its first tag, or the name that it has in its table; None where it is no run
    left_out: str | None = None  # why it is left out, None where it is not
    fault: InputError | None = None  # what is wrong with it, None where nothing is
    commented: bool = False  # whether it begins with a comment
    longer: tuple[int, int] = (0, 0)  # how many lines have text after the sixth column, and the first of them
    bad: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    reasons: list[str] = field(default_factory=list)  # why each of them was
    table: bool = False  # whether the file is a table, which may hold several runs

    def dropped(self, name: str | None) -> Iterator[Dropped]:
        """Yield what was left out of the file, whose run has a name, or of its field."""
        if self.left_out is not None:
            yield Dropped.of_file(str(self.path), self.left_out)
        if len(self.bad):
            yield Dropped.of_lines(str(self.path), self.bad, self.reasons, name or "")


def unreadable(error: UnreadableError) -> InputError:
    """Return what is wrong with a file that cannot be read or unpacked."""
    return InputError(f"the file {error}. Give a run file, {RUN_LINE}.")


def no_run(error: InputError) -> str:
    """Return why a file without a run line is left out."""
    return f"no run line: {str(error.parts[0]).strip()}"


def packed_table(kind: str) -> InputError:
    """Return what is wrong with a text that is a table of a kind, once it is unpacked."""
    return InputError(f"a packed file, or a pipe, with a table in it ({kind}). Unpack it first.")


def no_table(error: InputError | UnreadableError, conventions: Conventions) -> tuple[str | None, InputError | None]:
    """Return of a table which reading as runs raised an error why it is left out, or what is wrong with it."""
    if isinstance(error, UnreadableError):
        return None, InputError(f"the file {error}. Give a table of runs, {RUN_TABLE}.")
    if isinstance(error, NoRunError) and conventions.other_files == "skip":
        return f"no row of a run: {str(error.parts[0]).strip()}", None
    return None, error


def many_tags(tags: dict[str, int], n: int) -> InputError:
    """Return what is wrong with a file of `n` tags, of which the first few are given, with the line of each."""
    places = ", ".join(f"{shown(tag)} from line {line:,}" for tag, line in list(tags.items())[:3])
    more = f" and {n - 3:,} more" if n > 3 else ""
    problem = f"{count(n, 'run tag')} in the sixth column: {places}{more}; a run file has one. Split it, or pass "
    return InputError(problem, Option("names", "file"), " to name the run by its file.")


def file_run_names(paths: Sequence[Path]) -> list[str]:
    """Return the names that runs have by their files, all different, without a look into the files."""
    names = _names_of(paths)
    faults = _twins([FileRun(path) for path in paths], names, _BY_FILE)
    if faults:
        raise InputError.of_several(list(faults.values()), len(paths), "files")
    return names


def named_by_files(paths: Sequence[Path], names: str, other_files: str) -> list[str] | None:
    """Return the names of the runs where these are known before the files are read, else None."""
    known = names == "file" and other_files == "error" and not any(map(is_table, paths))
    return file_run_names(paths) if known else None


def run_names_of(
    files: Sequence[FileRun],
    n_files: int,
    conventions: Conventions,
    repeated: Callable[[list[FileRun], list[str]], dict[int, InputError]],
) -> tuple[list[FileRun], list[str]]:
    """Return those of the files that are runs, and their names, all different."""
    runs = [file for file in files if file.tag is not None]
    by_tag = conventions.names == "tag"
    names = _names_of([file.path for file in runs])
    names = [file.tag or "" if by_tag or file.table else name for file, name in zip(runs, names, strict=True)]
    twins = _twins(runs, names, _BY_TAG if by_tag else _BY_FILE)
    faults = {id(file): file.fault for file in files if file.fault is not None}
    faults |= {id(runs[i]): fault for i, fault in twins.items()}
    if faults:
        if conventions.duplicates == "error" and runs:
            faults = {id(runs[i]): fault for i, fault in repeated(runs, names).items()} | faults
        # of each file the first
        of_file = {file.path: faults[id(file)] for file in reversed(files) if id(file) in faults}
        raise InputError.of_several([*reversed(of_file.values())], n_files, "files")
    if not runs:
        raise InputError(f"none of {count(n_files, 'file')} has a run line. Give run files, {RUN_LINE}.")
    return runs, names


def longer_lines(files: Sequence[FileRun]) -> tuple[Longer, ...]:
    """Return which files have lines with text after the sixth column."""
    return tuple(Longer(str(file.path), *file.longer) for file in files if file.longer[0])


class LinesInFiles:
    """Where documents stand in the files of runs, which are read once more for it."""

    def __init__(self, runs: Sequence[FileRun], order: str):
        self._runs, self._order = runs, order
        self.files = [str(file.path) for file in runs]

    def told(self, wanted: Sequence[tuple[int, str, str]]) -> list[str]:
        """Return in words the lines of documents, each given by run, topic and name."""
        said = {run: f" ({self.files[run]})" for run, _, _ in wanted}
        of_tables: dict[Path, list[tuple[int, str, str]]] = {}
        for run, topic, docno in wanted:
            path = self._runs[run].path
            if self._runs[run].table:
                of_tables.setdefault(path, []).append((run, topic, docno))
                continue
            with suppress(UnreadableError):  # it was read a moment ago
                found = find_document(chunks_of_lines(path, _CHUNK, _LONGEST), topic, docno, _TOLD)
                said[run] = f" (lines {', '.join(f'{line:,}' for line in found)} of {path})"
        for path, inside in of_tables.items():
            named = [(self._runs[run].tag or "", topic, docno) for run, topic, docno in inside]
            with suppress(UnreadableError):
                rows = find_in_table(path, self._order, named, _TOLD)
                said |= {run: f" ({told} of {path})" for (run, _, _), told in zip(inside, rows, strict=True)}
        return [said[run] for run, _, _ in wanted]

    def of_repeats(self, topics: Sequence[str], repeats: Repeats) -> NDArray[np.int64]:
        """Return (n,): the line of each row."""
        lines = np.zeros(len(repeats), dtype=np.int64)
        of_tables: dict[Path, list[NDArray[np.int64]]] = {}
        for run in np.unique(repeats.run).tolist():
            rows, file = np.flatnonzero(repeats.run == run), self._runs[run]
            if file.table:
                of_tables.setdefault(file.path, []).append(rows)
                continue
            of = [topics[t] for t in repeats.topic[rows].tolist()]
            with self._again(file.path):
                chunks = chunks_of_lines(file.path, _CHUNK, _LONGEST)
                lines[rows] = lines_of_rows(chunks, self._order, of, repeats.place[rows])
        for path, parts in of_tables.items():
            rows = np.concatenate(parts)
            runs = [self._runs[run].tag or "" for run in repeats.run[rows].tolist()]
            lists = [(run, topics[t]) for run, t in zip(runs, repeats.topic[rows].tolist(), strict=True)]
            with self._again(path):
                for which, group, at in rows_in_table(TableReading(path, self._order), lists, repeats.place[rows]):
                    lines[rows[which]] = group.row[at]
        return lines

    @contextmanager
    def _again(self, path: Path) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            raise InputError(f"the file {error}, though it was read before.", place=str(path)) from error


def _names_of(paths: Sequence[Path]) -> list[str]:
    return [_PACKED.sub("", path.name).removeprefix("input.") or path.name for path in paths]


def _twins(files: Sequence[FileRun], names: Sequence[str], advice: tuple[Part, ...]) -> dict[int, InputError]:
    # the files whose runs bear the name of another one before them
    first: dict[str, FileRun] = {}
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


class RunTable:
    """The runs of a Parquet or Arrow file, read row group by row group."""

    def __init__(self, path: Path, order: str):
        self._reading = TableReading(path, order)
        self._groups = list(self._reading.groups())
        self.order = order
        self.names = list(self._reading.names)  # of the runs, in order of appearance
        self._topics = [*self._reading.topics]

    def runs(self, *, skip: bool) -> list[RunFile]:
        """Return the runs as the writer of the table lists them, else in order of appearance."""
        self._reading.check(skip=skip)
        self._all = _joined(self._groups)
        self._rows_of = rows_of_runs(self._all.run, len(self.names))
        bad = rows_of_runs(self._all.bad_run, len(self.names))
        return [self._run(run, bad[run]) for run in map(self.names.index, self._reading.ordered())]

    def _run(self, run: int, bad: NDArray[np.int64]) -> RunFile:
        name, of_run, ranks = self.names[run], self._rows_of[run], self._all.ranks
        topic, held = pd.factorize(self._all.topic[of_run])
        topics, docs = [self._topics[t] for t in held.tolist()], self._all.docs
        numbers = topic.astype(np.int64, copy=False)
        rows = FileRows(topics, numbers, lambda some: docs.take(of_run[some], axis=0), self._all.scores[of_run])
        places = None
        if ranks is not None:
            places = Places.of_rank_column(rows.starts, rows.grouped(ranks[of_run]))
            if self.order == "rank":
                try:
                    places.check(rows.starts)
                except NoPlaceError as error:
                    row = int(rows.grouped(of_run)[error.row])
                    of_topic, place = self._topics[self._all.topic[row]], self._reading.place(int(self._all.row[row]))
                    raise tied_row(name, of_topic, docs[row : row + 1], ranks[row], place) from None
        reasons = [reason(why) for why in self._all.bad_why[bad].tolist()]
        nothing = np.zeros(0, dtype=np.int64)
        return RunFile({name: 1}, rows.in_order(name, self.order, places), nothing, self._all.bad_row[bad], reasons)


def _joined(groups: Sequence[RowGroup]) -> RowGroup:
    def column(name: str) -> NDArray:
        return np.concatenate([getattr(group, name) for group in groups])

    plain = {name: column(name) for name in ("run", "topic", "scores", "row", "bad_run", "bad_row", "bad_why")}
    ranks = [group.ranks for group in groups if group.ranks is not None]
    docs = tokens.stacked([group.docs for group in groups])
    return RowGroup(**plain, docs=docs, ranks=np.concatenate(ranks) if ranks else None)


def parse_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> ReadField:
    """Return the field of some run files."""
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
    with located(str(path)), in_memory():
        return _read_table(path, conventions) if is_table(path) else [_read_file(path, conventions)]


def _read_table(path: Path, conventions: Conventions) -> list[_File]:
    try:
        runs = RunTable(path, conventions.order).runs(skip=conventions.bad_lines == "skip")
    except (UnreadableError, InputError) as error:
        return [_File(path, None, *no_table(error, conventions), table=True)]
    return [_File(path, run.rows.name, bad=run.bad, reasons=run.reasons, table=True, rows=run.rows) for run in runs]


def _read_file(path: Path, conventions: Conventions) -> _File:
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
    return _File(path, run.rows.name, None, None, is_commented(data), longer, run.bad, run.reasons, rows=run.rows)
