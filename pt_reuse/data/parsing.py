"""Run files and tables parsed: what came of each, and the field of all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import count, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Repeats, build_field
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import FileRows, NoPlaceError, RunRows, check_places, rank_places
from pt_reuse.data.coding import code_runs, repeat_faults
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.lines import RUN_LINE, RunPart, RunParts, place_of, rows_in_file
from pt_reuse.data.packed_files import UnreadableError, chunks_of_lines, in_memory, kind_of_table
from pt_reuse.data.tables import RUN_TABLE, NoRunError, TableReading, is_table
from pt_reuse.data.trec import without_place
from pt_reuse.errors import InputError, in_parts, located, warn

#: of each file with text after the sixth column its place among the files, how many such lines, and the first of them
Longer: TypeAlias = Sequence[Sequence[int]]


def tell_of_longer(longer: Longer, paths: Sequence[Path]) -> None:
    """Warn of text after the sixth column, if there is any."""
    if longer:
        place, _, line = longer[0]
        many = f"{count(sum(lines for _, lines, _ in longer), 'line')} of {count(len(longer), 'file')}"
        warn(
            f"{many} with text after the sixth column, which is passed over. First {paths[place]}, line {line:,}. "
            "Where a name holds white space, mend such lines."
        )


@dataclass(frozen=True)
class ReadField:
    """A field as run files gave it."""

    field: AnyField  # the runs
    names: list[str]  # of the runs
    dropped: Dropped  # what was left out
    longer: Longer  # the files with text after the sixth column
    files: Sequence[int]  # the file of each run, by position; a table may hold several runs


#: of a packed file; ir_datasets' trec-browser-provider adds a further ending to files as they came
_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)(\.raw)?\Z")
_BY_TAG = "Pass names='file' to name runs by their files"
_BY_FILE = "Rename one of the files"
#: bytes of a file that are read at once, and of the longest line
_CHUNK, _LONGEST = 1 << 22, 1 << 30


@dataclass(frozen=True)
class Conventions:
    """How run files are read; what is kept in a cache depends on it."""

    order: str  # the ranking order
    names: str  # ``"tag"`` or ``"file"``, what names a run
    duplicates: str  # ``"error"`` or ``"best"``
    bad_lines: str  # ``"error"`` or ``"skip"``, of lines that are no run line
    other_files: str  # ``"error"`` or ``"skip"``, of files without a run line


@dataclass
class FileRun:
    """What came of a run file, or of one of the runs of a table."""

    path: Path  # the file
    tag: str | None = None  # its first tag, or the name that it has in its table; None where it is no run
    left_out: str | None = None  # why it is left out, None where it is not
    fault: InputError | None = None  # what is wrong with it, None where nothing is
    longer: tuple[int, int] = (0, 0)  # how many lines have text after the sixth column, and the first of them
    bad: Sequence[int] = ()  # the lines that were left out
    reasons: Sequence[str] = ()  # why each of them was
    table: bool = False  # whether the file is a table, which may hold several runs
    rows: Any = None  # the rows of its file, as :meth:`RunFiles.kept` keeps them
    number: int = 0  # which of the runs of these it is

    def dropped(self, name: str | None) -> Iterator[Dropped]:
        """Yield what was left out of the file, whose run has a name, or of its field."""
        if self.left_out is not None:
            yield Dropped.of_file(str(self.path), self.left_out)
        if len(self.bad):
            yield Dropped.of_lines(str(self.path), self.bad, self.reasons, name or "")


def _many_tags(tags: dict[str, int]) -> InputError:
    places = ", ".join(f"{shown(tag)} from line {line:,}" for tag, line in list(tags.items())[:3])
    more = f" and {len(tags) - 3:,} more" if len(tags) > 3 else ""
    problem = f"{count(len(tags), 'run tag')} in the sixth column: {places}{more}; a run file has one. Split it, or "
    return InputError(f"{problem}pass names='file' to name the run by its file.")


def of_files(faults: Iterable[tuple[Path, InputError]], n_files: int) -> InputError:
    """Return the error of some of the files, of which each is told by its first fault."""
    first: dict[Path, InputError] = {}
    for path, fault in faults:
        first.setdefault(path, fault)
    return InputError.of_several([*first.values()], n_files, "files")


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
        raise of_files(((file.path, faults[id(file)]) for file in files if id(file) in faults), n_files)
    if not runs:
        raise InputError(f"none of {count(n_files, 'file')} has a run line. Give run files, {RUN_LINE}.")
    return runs, names


class LinesInFiles:
    """Where rows stand in the files of runs, which are read once more for it."""

    def __init__(self, runs: Sequence[FileRun], order: str):
        self._runs, self._order = runs, order

    def told(self, repeats: Repeats, topics: Sequence[str]) -> list[str]:
        """Return in words where each row stands."""
        lines = self._lines(repeats, topics)
        runs = [self._runs[run] for run in repeats.run.tolist()]
        # a frame has no lines
        return [
            f" ({run.path})" if run.table else f" (again in line {line:,} of {run.path})"
            for run, line in zip(runs, lines.tolist(), strict=True)
        ]

    def dropped(self, topics: Sequence[str], repeats: Repeats, names: Sequence[str]) -> Dropped:
        """Return the rows as left out."""
        files = [str(run.path) for run in self._runs]
        return Dropped.of_repeats(repeats, names, topics, files=files, lines=self._lines(repeats, topics))

    def _lines(self, repeats: Repeats, topics: Sequence[str]) -> NDArray[np.int64]:
        """Return (n,): the line of each row, 0 where it is one of a table."""
        lines = np.zeros(len(repeats), dtype=np.int64)
        of_files: dict[Path, list[NDArray[np.int64]]] = {}
        for run in np.unique(repeats.run).tolist():
            of_files.setdefault(self._runs[run].path, []).append(np.flatnonzero(repeats.run == run))
        for path, parts in of_files.items():
            rows = np.concatenate(parts)
            if self._runs[int(repeats.run[rows[0]])].table:
                continue
            of_rows = [topics[t] for t in repeats.topic[rows].tolist()]
            try:
                chunks = chunks_of_lines(path, _CHUNK, _LONGEST)
                for fields, wanted, at in rows_in_file(chunks, self._order, of_rows, repeats.place[rows]):
                    lines[rows[wanted]] = fields.lines_of(at)
            except UnreadableError as error:
                raise InputError(f"the file {error}, though it was read before.", place=str(path)) from error
        return lines


def _names_of(paths: Sequence[Path]) -> list[str]:
    return [_PACKED.sub("", path.name).removeprefix("input.") or path.name for path in paths]


def _twins(files: Sequence[FileRun], names: Sequence[str], advice: str) -> dict[int, InputError]:
    # the files whose runs bear the name of another one before them
    first: dict[str, FileRun] = {}
    faults = {}
    for i, (file, name) in enumerate(zip(files, names, strict=True)):
        other = first.setdefault(name, file)
        if other is not file:
            # nothing that one can pass renames the runs of a table
            table = file.table or other.table
            both = f"both have a run {shown(name)}" if table else f"are both named {shown(name)}"
            how = "Rename one of the runs" if table else advice
            faults[i] = InputError(f"{other.path} and {file.path} {both}. {how}, or leave one out.")
    return faults


class TiedError(Exception):
    """Two documents of a list have one rank, though the ranks count."""

    def __init__(self, topic: str, docno: str, at: int, run: int = 0):
        super().__init__(topic, docno, at, run)
        # one of them, and its place among the rows of the list, from 1; `run` is a run of a table
        self.topic, self.docno, self.at, self.run = topic, docno, at, run


def in_ranking_order(name: str, rows: FileRows, ranks: NDArray[np.float64] | None, order: str) -> RunRows:
    """Return a run in a ranking order; a TiedError where the ranks count and give none."""
    places = None if ranks is None else rank_places(rows.starts, rows.grouped(ranks))
    if places is not None and order == "rank":
        try:
            check_places(rows.starts, places)
        except NoPlaceError as error:
            t = int(np.searchsorted(rows.starts, error.row, side="right")) - 1
            row = error.row if rows.grouping is None else int(rows.grouping[error.row])
            docno = tokens.decode(tokens.as_tokens(rows.docs[row : row + 1]))[0]
            raise TiedError(rows.topics[t], docno, error.row - int(rows.starts[t]) + 1) from None
    return rows.in_order(name, order, places)


@dataclass
class RunFiles:
    """Reads run files and tables, several at once."""

    conventions: Conventions
    threads: int
    keep: Callable[[Iterator[RunPart]], Any]  # takes the rows of a file, and returns what stands for them
    chunk: int = _CHUNK  # bytes of a file that are parsed at once
    longest: int = _LONGEST  # bytes of the longest line

    def read(self, paths: Sequence[Path], *, verbose: bool) -> list[FileRun]:
        """Return what came of the files."""
        context, stopped = copy_context(), Event()
        with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

            def read(path: Path) -> list[FileRun]:
                # a thread begins without the caller's context, which says where errors are
                found = context.copy().run(self._read_any, path, stopped)
                bar.update(1)
                return found

            pool = ThreadPoolExecutor(self.threads)
            try:
                return [run for found in pool.map(read, paths) for run in found]
            finally:
                # after ctrl-C, or on a full disk, the files not begun are not read
                stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)

    def _read_any(self, path: Path, stopped: Event) -> list[FileRun]:
        with located(str(path)), in_memory():
            return self._table(path) if is_table(path) else [self._text(path, stopped)]

    def _text(self, path: Path, stopped: Event) -> FileRun:
        def chunks() -> Iterator[bytes]:
            kind = None
            for i, data in enumerate(chunks_of_lines(path, self.chunk, self.longest)):
                if stopped.is_set():
                    raise InterruptedError
                if not i:
                    kind = kind_of_table(data)
                if not kind:
                    yield data
            if kind:
                raise UnreadableError(f"is packed, or a pipe, and holds a table ({kind}); unpack it first")

        parts = RunParts(chunks, self.conventions.order, skip=self.conventions.bad_lines == "skip")
        try:
            rows = self.keep(parts.read())
        except UnreadableError as error:
            advice = "Copy or download it again, or give" if "damaged" in str(error) else "Give"
            return FileRun(path, fault=InputError(f"the file {error}. {advice} a run file, {RUN_LINE}."))
        except TiedError as tie:
            return FileRun(path, fault=_tied_line(chunks(), tie))
        except InputError as error:
            if self.conventions.other_files == "error" or parts.has_run_lines():
                return FileRun(path, fault=error)
            return FileRun(path, left_out=f"no run line: {in_parts(error.text)[0]}")
        if self.conventions.names == "tag" and len(parts.tags) > 1:
            return FileRun(path, fault=_many_tags(parts.tags))
        tag, longer = next(iter(parts.tags)), (len(parts.longer), next(iter(parts.longer), 0))
        return FileRun(path, tag, None, None, longer, parts.bad, parts.reasons, rows=rows)

    def _table(self, path: Path) -> list[FileRun]:
        reading = TableReading(path, self.conventions.order)
        try:
            rows = self.keep(reading.parts())
        except TiedError as tie:
            place = f"run {shown(list(reading.names)[tie.run])}"
            return [FileRun(path, fault=without_place(tie.topic, tie.docno, place=place), table=True)]
        except UnreadableError as error:
            problem = f"the file {error}. Give a table of runs, {RUN_TABLE}."
            return [FileRun(path, fault=InputError(problem), table=True)]
        except InputError as error:
            if isinstance(error, NoRunError) and self.conventions.other_files == "skip":
                return [FileRun(path, left_out=f"no row of a run: {in_parts(error.text)[0]}", table=True)]
            return [FileRun(path, fault=error, table=True)]
        return [FileRun(path, name, table=True, rows=rows, number=reading.names[name]) for name in reading.ordered()]


def _tied_line(chunks: Iterable[bytes], tie: TiedError) -> InputError:
    # what is wrong with a rank of a run file that two documents have
    for fields, _, rows in rows_in_file(chunks, "rank", [tie.topic], np.array([tie.at])):
        return without_place(tie.topic, tie.docno, place=place_of(fields, int(rows[0])))
    return changed()


def changed() -> InputError:
    """Return the error that a file was altered between two looks at it."""
    return InputError("it changed while it was read. Read the runs again.")


def _in_memory(order: str, parts: Iterator[RunPart]) -> list[RunRows]:
    # the rows of a file in their ranking order, run by run; they are named when all files are known
    part = _joined(list(parts))
    if isinstance(part.run, int):
        return [in_ranking_order("", FileRows(part.topics, part.topic, part.docs, part.scores), part.ranks, order)]
    found: list[RunRows] = []
    by_run = np.argsort(part.run, kind="stable")
    for mine in np.split(by_run, np.cumsum(np.bincount(part.run))[:-1]):
        topic, held = pd.factorize(part.topic[mine])
        topics, docs = [part.topics[t] for t in held.tolist()], part.docs.take(mine, axis=0)
        rows = FileRows(topics, topic.astype(np.int64), docs, part.scores[mine])
        try:
            found.append(in_ranking_order("", rows, None if part.ranks is None else part.ranks[mine], order))
        except TiedError as tie:
            raise TiedError(tie.topic, tie.docno, tie.at, len(found)) from None
    return found


def _joined(parts: Sequence[RunPart]) -> RunPart:
    if len(parts) == 1:
        return parts[0]
    numbers: dict[str, int] = {}
    place = [np.array([numbers.setdefault(name, len(numbers)) for name in part.topics]) for part in parts]
    topic = np.concatenate([of[part.topic] for of, part in zip(place, parts, strict=True)])
    scores = np.concatenate([part.scores for part in parts])
    ranks = None if parts[0].ranks is None else np.concatenate([part.ranks for part in parts])
    run = 0 if isinstance(parts[0].run, int) else np.concatenate([part.run for part in parts])
    return RunPart(list(numbers), topic, tokens.stacked([part.docs for part in parts]), scores, ranks, run)


def parse_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> ReadField:
    """Return the field of some run files."""
    named_by_files(paths, conventions.names, conventions.other_files)
    order = conventions.order
    files = RunFiles(conventions, threads, partial(_in_memory, order)).read(paths, verbose=verbose)

    def repeated(runs: list[FileRun], names: list[str]) -> dict[int, InputError]:
        field, repeats = build_field(_rows_of(runs, names), threads=threads)
        return repeat_faults(field.topics, repeats, names, LinesInFiles(runs, order).told)

    runs, names = run_names_of(files, len(paths), conventions, repeated)
    lines = LinesInFiles(runs, order)
    rows = _rows_of(runs, names)
    field, repeats = code_runs(rows, duplicates=conventions.duplicates, threads=threads, lines=lines.told)
    dropped = [lines.dropped(field.topics, repeats, names)] if len(repeats) else []
    return field_of_files(field, paths, files, runs, names, dropped)


def run_rows(paths: Sequence[Path], order: str, *, threads: int) -> dict[Path, RunRows]:
    """Return the rows of files that are one run each, which have no name yet."""
    conventions = Conventions(order, "file", "error", "error", "error")
    files = RunFiles(conventions, threads, partial(_in_memory, order)).read(list(dict.fromkeys(paths)), verbose=False)
    for path, n in Counter(file.path for file in files).items():
        if n > 1:
            files.append(FileRun(path, fault=InputError(f"{n:,} runs, and one is expected.", place=str(path))))
    faults = [(file.path, file.fault) for file in files if file.fault is not None]
    if faults:
        raise of_files(faults, len(paths))
    tell_of_longer([(paths.index(file.path), *file.longer) for file in files if file.longer[0]], paths)
    return {file.path: rows for file, rows in zip(files, _rows_of(files, [""] * len(files)), strict=True)}


def _rows_of(runs: Sequence[FileRun], names: Sequence[str]) -> list[RunRows]:
    return [replace(run.rows[run.number], name=name) for run, name in zip(runs, names, strict=True)]


def field_of_files(
    field: AnyField,
    paths: Sequence[Path],
    files: Sequence[FileRun],
    runs: Sequence[FileRun],
    names: list[str],
    repeated: Iterable[Dropped],
) -> ReadField:
    """Return a field with what is known of its runs, which are some of those that came of the files."""
    name_of = {id(run): name for run, name in zip(runs, names, strict=True)}
    dropped = [part for file in files for part in file.dropped(name_of.get(id(file)))]
    place = {path: i for i, path in enumerate(paths)}
    every = Dropped.stacked([*dropped, *repeated]).by_file([*map(str, place)])
    longer = [(place[file.path], *file.longer) for file in files if file.longer[0]]
    return ReadField(field, names, every, longer, [place[run.path] for run in runs])
