"""Run files and tables parsed: what came of each, and the field of all."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import count, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Repeats, build_field
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import FileRows, NoPlaceError, Places, RunRows
from pt_reuse.data.coding import code_runs, repeat_faults
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.lines import RUN_LINE, RunPart, RunParts, find_document, lines_of_rows, rows_in_file
from pt_reuse.data.packed_files import UnreadableError, chunks_of_lines, in_memory, kind_of_table, read_bytes
from pt_reuse.data.tables import RUN_TABLE, NoRunError, TableReading, is_table
from pt_reuse.data.trec import NO_ORDER, tied_rank
from pt_reuse.errors import InputError, in_parts, located, warn


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
_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)(\.raw)?\Z")
_BY_TAG = "Pass names='file' to name runs by their files"
_BY_FILE = "Rename one of the files"
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
    """Where documents stand in the files of runs, which are read once more for it."""

    def __init__(self, runs: Sequence[FileRun], order: str):
        self._runs, self._order = runs, order
        self.files = [str(file.path) for file in runs]

    def told(self, wanted: Sequence[tuple[int, str, str]]) -> list[str]:
        """Return in words the lines of documents, each given by run, topic and name."""
        said = {run: f" ({self.files[run]})" for run, _, _ in wanted}
        of_files: dict[Path, list[tuple[int, str, str]]] = {}
        for one in wanted:
            of_files.setdefault(self._runs[one[0]].path, []).append(one)
        for path, inside in of_files.items():
            if self._runs[inside[0][0]].table:  # a frame has no lines
                continue
            with suppress(UnreadableError):  # it was read a moment ago
                every = (find_document(self._chunks(path), topic, docno, _TOLD) for _, topic, docno in inside)
                found = [f"lines {', '.join(f'{line:,}' for line in lines)}" for lines in every]
                said |= {run: f" ({where} of {path})" for (run, _, _), where in zip(inside, found, strict=True)}
        return [said[run] for run, _, _ in wanted]

    def of_repeats(self, topics: Sequence[str], repeats: Repeats) -> NDArray[np.int64]:
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
            with self._again(path):
                lines[rows] = lines_of_rows(self._chunks(path), self._order, of_rows, repeats.place[rows])
        return lines

    def _chunks(self, path: Path) -> Iterator[bytes]:
        return chunks_of_lines(path, _CHUNK, _LONGEST)

    @contextmanager
    def _again(self, path: Path) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            raise InputError(f"the file {error}, though it was read before.", place=str(path)) from error


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

    run = 0  # the run of a table

    def __init__(self, topic: str, docno: str, at: int):
        super().__init__(topic, docno, at)
        # one of them, and its place among the rows of the list, from 1
        self.topic, self.docno, self.at = topic, docno, at


def in_ranking_order(name: str, rows: FileRows, ranks: NDArray[np.float64] | None, order: str) -> RunRows:
    """Return a run in a ranking order; a TiedError where the ranks count and give none."""
    places = None if ranks is None else Places.of_rank_column(rows.starts, rows.grouped(ranks))
    if places is not None and order == "rank":
        try:
            places.check(rows.starts)
        except NoPlaceError as error:
            t = int(np.searchsorted(rows.starts, error.row, side="right")) - 1
            row = error.row if rows.grouping is None else int(rows.grouping[error.row])
            docno = tokens.decode(tokens.as_tokens(rows.docs[row : row + 1]))[0]
            raise TiedError(rows.topics[t], docno, error.row - int(rows.starts[t]) + 1) from None
    return rows.in_order(name, order, places)


class Kept(ABC):
    """Takes the rows of a file as they are parsed."""

    @abstractmethod
    def take(self, parts: Iterator[RunPart]) -> None:
        """Keep all parts of the file; a TiedError may say that ranks are tied."""

    def check_group(self, rows: int, size: int) -> None:  # noqa: B027 - there may be room for all
        """Raise where a row group of so many rows and bytes cannot be read."""


class RunFiles(ABC):
    """Reads run files and tables, several at once; subclasses say how much at once, and what becomes of the rows."""

    def __init__(self, conventions: Conventions, threads: int):
        self.conventions, self.threads, self.stopped = conventions, threads, Event()
        self._skip = conventions.bad_lines == "skip"

    @abstractmethod
    def opened(self, path: Path) -> tuple[bytes, Callable[[], Iterator[bytes]]]:
        """Return the first bytes of a file, and what yields its text in chunks of whole lines."""

    @abstractmethod
    def kept(self) -> Kept:
        """Return what takes the rows of a file."""

    def by_itself(self, path: Path) -> bool:
        """Return whether a file is read when no other one is."""
        return False

    def read(self, paths: Sequence[Path], *, verbose: bool) -> list[FileRun]:
        """Return what came of the files."""
        context = copy_context()
        with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

            def read(path: Path) -> list[FileRun]:
                # a thread begins without the caller's context, which says where errors are
                found = context.copy().run(self._read_any, path)
                bar.update(1)
                return found

            pool = ThreadPoolExecutor(self.threads)
            try:
                at_once = [path for path in paths if not self.by_itself(path)]
                found = dict(zip(at_once, pool.map(read, at_once), strict=True))
            finally:
                # after ctrl-C, or on a full disk, the files not begun are not read
                self.stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
            return [run for path in paths for run in (found[path] if path in found else read(path))]

    def _read_any(self, path: Path) -> list[FileRun]:
        with located(str(path)), in_memory():
            return self._table(path) if is_table(path) else [self._text(path)]

    def _text(self, path: Path) -> FileRun:
        try:
            start, chunks = self.opened(path)
            if kind := kind_of_table(start):
                for _ in chunks():
                    pass  # what is wrong with its packing is told first
                problem = f"a packed file, or a pipe, with a table in it ({kind}). Unpack it first."
                return FileRun(path, fault=InputError(problem))
            return self._run(path, chunks)
        except UnreadableError as error:
            return FileRun(path, fault=InputError(f"the file {error}. Give a run file, {RUN_LINE}."))

    def _run(self, path: Path, chunks: Callable[[], Iterator[bytes]]) -> FileRun:
        parts, rows = RunParts(chunks, self.conventions.order, skip=self._skip), self.kept()
        try:
            rows.take(parts.read())
        except TiedError as tie:
            return FileRun(path, fault=tied_line(chunks(), tie.topic, tie.at))
        except InputError as error:
            if self.conventions.other_files == "error" or parts.has_run_lines():
                return FileRun(path, fault=error)
            return FileRun(path, left_out=f"no run line: {in_parts(error.text)[0]}")
        if self.conventions.names == "tag" and len(parts.tags) > 1:
            return FileRun(path, fault=_many_tags(parts.tags))
        bad, tag = np.concatenate(parts.bad), next(iter(parts.tags))
        return FileRun(path, tag, None, None, parts.commented, parts.longer, bad, parts.reasons, rows=rows)

    def _table(self, path: Path) -> list[FileRun]:
        rows = self.kept()
        reading = TableReading(path, self.conventions.order, rows.check_group)
        try:
            rows.take(reading.parts())
        except TiedError as tie:
            return [FileRun(path, fault=tied_row(list(reading.names)[tie.run], tie), table=True)]
        except UnreadableError as error:
            problem = f"the file {error}. Give a table of runs, {RUN_TABLE}."
            return [FileRun(path, fault=InputError(problem), table=True)]
        except InputError as error:
            if isinstance(error, NoRunError) and self.conventions.other_files == "skip":
                return [FileRun(path, left_out=f"no row of a run: {in_parts(error.text)[0]}", table=True)]
            return [FileRun(path, fault=error, table=True)]
        return [FileRun(path, name, table=True, rows=rows, number=reading.names[name]) for name in reading.ordered()]


def tied_line(chunks: Iterable[bytes], topic: str, at: int) -> InputError:
    """Return what is wrong with a rank of a run file that two documents have, by the place of one in its list."""
    fields, _, rows = _found_again(rows_in_file(chunks, "rank", [topic], np.array([at])))
    return tied_rank(fields, int(rows[0]))


def tied_row(run: str, tie: TiedError) -> InputError:
    """Return the same of a table."""
    document = f"run {shown(run)}, topic {shown(tie.topic)}, document {shown(tie.docno)}"
    return InputError(f"{document} has a rank which another document of the topic has too. {NO_ORDER}")


_T = TypeVar("_T")


def _found_again(found: Iterator[_T]) -> _T:
    for one in found:
        return one
    raise changed()


def changed() -> InputError:
    """Return the error that a file was altered between two looks at it."""
    return InputError("it changed while it was read. Read the runs again.")


class _Rows(Kept):
    """The rows of a file in memory, run by run."""

    def __init__(self, order: str):
        self._order = order
        self.of_run: list[RunRows] = []

    def take(self, parts: Iterator[RunPart]) -> None:
        """Keep the rows in their ranking order."""
        part = _joined(list(parts))
        if isinstance(part.run, int):
            self._add(FileRows(part.topics, part.topic, part.docs, part.scores), part.ranks)
            return
        order = np.argsort(part.run, kind="stable")
        for mine in np.split(order, np.cumsum(np.bincount(part.run))[:-1]):
            topic, held = pd.factorize(part.topic[mine])
            topics, docs = [part.topics[t] for t in held.tolist()], part.docs.take(mine, axis=0)
            rows = FileRows(topics, topic.astype(np.int64), docs, part.scores[mine])
            self._add(rows, None if part.ranks is None else part.ranks[mine])

    def _add(self, rows: FileRows, ranks: NDArray[np.float64] | None) -> None:
        try:
            self.of_run.append(in_ranking_order("", rows, ranks, self._order))  # named when all files are known
        except TiedError as tie:
            tie.run = len(self.of_run)
            raise


def _joined(parts: Sequence[RunPart]) -> RunPart:
    if len(parts) == 1:
        return parts[0]
    # the topics of a table are numbered as they appear
    topic, scores, run = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("topic", "scores", "run")
    )
    ranks = [part.ranks for part in parts if part.ranks is not None]
    docs = tokens.stacked([part.docs for part in parts])
    return RunPart(parts[-1].topics, topic, docs, scores, np.concatenate(ranks) if ranks else None, run)


class _InMemory(RunFiles):
    """Reads each file at once, and keeps its rows in memory."""

    def opened(self, path: Path) -> tuple[bytes, Callable[[], Iterator[bytes]]]:
        """Return the text of a file, which is its one chunk."""
        data = read_bytes(path)
        return data, lambda: iter([data])

    def kept(self) -> _Rows:
        """Return what keeps rows in memory."""
        return _Rows(self.conventions.order)


def parse_files(paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool) -> ReadField:
    """Return the field of some run files."""
    named_by_files(paths, conventions.names, conventions.other_files)
    files = _InMemory(conventions, threads).read(paths, verbose=verbose)

    def repeated(runs: list[FileRun], names: list[str]) -> dict[int, InputError]:
        field, repeats = build_field(_rows_of(runs, names), threads=threads)
        return repeat_faults(field.topics, repeats, names, LinesInFiles(runs, conventions.order).told)

    runs, names = run_names_of(files, len(paths), conventions, repeated)
    lines = LinesInFiles(runs, conventions.order)
    rows = _rows_of(runs, names)
    field, repeats = code_runs(rows, duplicates=conventions.duplicates, threads=threads, lines=lines.told)
    repeated_rows = []
    if len(repeats):
        at = lines.of_repeats(field.topics, repeats)
        repeated_rows = [Dropped.of_repeats(repeats, names, field.topics, files=lines.files, lines=at)]
    return field_of_files(field, paths, files, runs, names, repeated_rows)


def run_rows(paths: Sequence[Path], order: str, *, threads: int) -> dict[Path, RunRows]:
    """Return the rows of files that are one run each, which have no name yet."""
    files = _InMemory(Conventions(order, "file", "error", "error", "error"), threads).read(
        list(dict.fromkeys(paths)), verbose=False
    )
    for path, n in Counter(file.path for file in files).items():
        if n > 1:
            files.append(FileRun(path, fault=InputError(f"{n:,} runs, and one is expected.", place=str(path))))
    faults = [(file.path, file.fault) for file in files if file.fault is not None]
    if faults:
        raise of_files(faults, len(paths))
    tell_of_longer([Longer(str(file.path), *file.longer) for file in files if file.longer[0]])
    return {file.path: rows for file, rows in zip(files, _rows_of(files, [""] * len(files)), strict=True)}


def _rows_of(runs: Sequence[FileRun], names: Sequence[str]) -> list[RunRows]:
    return [replace(run.rows.of_run[run.number], name=name) for run, name in zip(runs, names, strict=True)]


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
    longer = tuple(Longer(str(file.path), *file.longer) for file in files if file.longer[0])
    commented = tuple(i for i, run in enumerate(runs) if run.commented)
    return ReadField(field, names, every.frame, longer, commented, tuple(place[run.path] for run in runs))
