"""Run files and tables parsed: what came of each, the field of all, and fields within a bound of memory."""

from __future__ import annotations

import itertools
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

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField, Field, Repeats, build_field
from pt_reuse.arrays.lists import FileRows, NoPlaceError, RunRows, check_places, natural_order, neighbours, rank_places
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.coding import TiedError, code_runs, in_ranking_order, repeat_faults, without_place
from pt_reuse.data.dropped import left_out, repeated, stacked
from pt_reuse.data.lines import RUN_LINE, RunPart, RunParts, place_of, rows_in_file
from pt_reuse.data.packed_files import UnreadableError, chunks_of_lines, give_back, in_memory, kind_of_table
from pt_reuse.data.tables import RUN_TABLE, NoRunError, TableReading, is_table
from pt_reuse.errors import InputError, count, in_parts, located, shown, warn

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
    dropped: pd.DataFrame  # what was left out
    longer: Longer  # the files with text after the sixth column
    files: Sequence[int]  # the file of each run, by position; a table may hold several runs


#: of a packed file; ir_datasets' trec-browser-provider adds a further ending to files as they came
_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)(\.raw)?\Z")
_BY_TAG = "Pass names='file' to name runs by their files"
_BY_FILE = "Rename one of the files"
#: bytes of a file that are read at once, and of the longest line
_CHUNK, _LONGEST_LINE = 1 << 22, 1 << 30


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How run files are read; what is kept in a cache depends on it."""

    order: str = "trec_eval"  # the ranking order
    names: str = "tag"  # ``"tag"`` or ``"file"``, what names a run
    duplicates: str = "error"  # ``"error"`` or ``"best"``
    bad_lines: str = "error"  # ``"error"`` or ``"skip"``, of lines that are no run line
    other_files: str = "error"  # ``"error"`` or ``"skip"``, of files without a run line


@dataclass
class FileRun:
    """What came of a run file, or of one of the runs of a table."""

    path: Path  # the file
    tag: str | None = None  # its first tag, or the name that it has in its table; None where it is no run
    left_out: str | None = None  # why it is left out, None where it is not
    fault: InputError | None = None  # what is wrong with it, None where nothing is
    longer: tuple[int, int] = (0, 0)  # how many lines have text after the sixth column, and the first of them
    bad: Sequence[tuple[int, str]] = ()  # the lines that were left out, each with why
    table: bool = False  # whether the file is a table, which may hold several runs
    rows: Any = None  # the rows of its file, as :meth:`RunFiles.kept` keeps them
    number: int = 0  # which of the runs of these it is


def of_files(faults: Iterable[tuple[Path, InputError]], n_files: int) -> InputError:
    """Return the error of some of the files, of which each is told by its first fault."""
    first: dict[Path, InputError] = {}
    for path, fault in faults:
        first.setdefault(path, fault)
    return InputError.of_several([*first.values()], n_files, "files")


def file_run_names(paths: Sequence[Path]) -> list[str]:
    """Return the names that runs have by their files, all different, without a look into the files."""
    names = _names_of(paths)
    if faults := _twins([FileRun(path) for path in paths], names, _BY_FILE):
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
        # a frame has no lines
        return [
            f" (again in {f'line {line:,} of ' if line else ''}{self._runs[run].path})"
            for run, line in zip(repeats.run.tolist(), self._lines(repeats, topics).tolist(), strict=True)
        ]

    def dropped(self, topics: Sequence[str], repeats: Repeats, names: Sequence[str]) -> pd.DataFrame:
        """Return the rows as left out."""
        files = [str(run.path) for run in self._runs]
        return repeated(repeats, names, topics, files, self._lines(repeats, topics))

    def _lines(self, repeats: Repeats, topics: Sequence[str]) -> NDArray[np.int64]:
        """Return (n,): the line of each row, 0 where it is one of a table."""
        lines = np.zeros(len(repeats), dtype=np.int64)
        for r in np.unique(repeats.run).tolist():
            run, rows = self._runs[r], np.flatnonzero(repeats.run == r)
            if run.table:
                continue
            of_rows = [topics[t] for t in repeats.topic[rows].tolist()]
            try:
                chunks = chunks_of_lines(run.path, _CHUNK, _LONGEST_LINE)
                for fields, wanted, at in rows_in_file(chunks, self._order, of_rows, repeats.place[rows]):
                    lines[rows[wanted]] = fields.lines_of(at)
            except UnreadableError as error:
                raise InputError(f"the file {error}, though it was read before.", place=str(run.path)) from error
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
            how = "Rename one of the runs" if file.table or other.table else advice
            faults[i] = InputError(
                f"{other.path} and {file.path} both have a run {shown(name)}. {how}, or leave one out."
            )
    return faults


@dataclass
class RunFiles:
    """Reads run files and tables, several at once."""

    conventions: Conventions
    threads: int
    keep: Callable[[Iterator[RunPart]], Any]  # takes the rows of a file, and returns what stands for them
    chunk: int = _CHUNK  # bytes of a file that are parsed at once
    longest: int = _LONGEST_LINE  # bytes of the longest line

    def read(self, paths: Sequence[Path], *, verbose: bool) -> list[FileRun]:
        """Return what came of the files."""
        context, stopped = copy_context(), Event()
        with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

            def of(path: Path) -> list[FileRun]:
                with located(str(path)), in_memory():
                    return self._table(path) if is_table(path) else [self._text(path, stopped)]

            def read(path: Path) -> list[FileRun]:
                # a thread begins without the caller's context, which says where errors are
                found = context.copy().run(of, path)
                bar.update(1)
                return found

            pool = ThreadPoolExecutor(self.threads)
            try:
                return [run for found in pool.map(read, paths) for run in found]
            finally:
                # after ctrl-C, or on a full disk, the files not begun are not read
                stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)

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
            places = [f"{shown(tag)} from line {line:,}" for tag, line in list(parts.tags.items())[:3]]
            problem = (
                f"{count(len(parts.tags), 'run tag')} in the sixth column, {', '.join(places)}; a run file has one"
            )
            return FileRun(
                path, fault=InputError(f"{problem}. Split it, or pass names='file' to name the run by its file.")
            )
        tag, longer = next(iter(parts.tags)), (len(parts.longer), next(iter(parts.longer), 0))
        return FileRun(path, tag, longer=longer, bad=parts.bad, rows=rows)

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
    by_run = (
        [slice(None)]
        if isinstance(part.run, int)
        else np.split(np.argsort(part.run, kind="stable"), np.cumsum(np.bincount(part.run))[:-1])
    )
    found: list[RunRows] = []
    for rows in by_run:
        topics, topic, docs = part.topics, part.topic, part.docs
        if not isinstance(rows, slice):
            topic, held = pd.factorize(topic[rows])
            topics, docs = [topics[t] for t in held.tolist()], docs.take(rows, axis=0)
        of_run = FileRows(topics, topic.astype(np.int64, copy=False), docs, part.scores[rows])
        try:
            found.append(in_ranking_order("", of_run, None if part.ranks is None else part.ranks[rows], order))
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
    conventions = Conventions(order=order, names="file")
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
    again: Sequence[pd.DataFrame],
) -> ReadField:
    """Return a field with what is known of its runs, which are some of those that came of the files."""
    name_of = {id(run): name for run, name in zip(runs, names, strict=True)}
    place = {path: i for i, path in enumerate(paths)}
    parts = [left_out(1, file=str(file.path), reason=file.left_out) for file in files if file.left_out is not None]
    for file in files:
        if len(file.bad):
            lines, reasons = map(list, zip(*file.bad, strict=True))
            about = {"file": str(file.path), "name": name_of.get(id(file), "")}
            parts.append(left_out(len(lines), **about, line=lines, reason=reasons))
    every = stacked([*parts, *again])
    # in the order of the files and of their lines
    at = every["file"].map({str(path): i for path, i in place.items()})
    every = every.iloc[np.lexsort((every["line"].fillna(0), at))].reset_index(drop=True)
    longer = [(place[file.path], *file.longer) for file in files if file.longer[0]]
    return ReadField(field, names, every, longer, [place[run.path] for run in runs])


#: bytes of the least that can be given
LEAST = 64 * 10**6
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_TEXT = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(I?)B?\s*")
#: bytes of a file that are parsed at once, and of its longest line; a thread takes some twenty times a chunk
_CHUNK_BYTES, _LONGEST, _OF_THREAD = 1 << 20, 1 << 21, 32 * 10**6
#: bytes that coding a row takes, its document's name of up to 32 bytes included
_OF_ROW = 512


def memory_bytes(memory: Any) -> int:
    """Return a user's ``memory=`` in bytes, be it a number or a text such as ``"1.5 GiB"``, or say what is wrong."""
    size = 0
    found = _TEXT.fullmatch("" if isinstance(memory, bool | float) else str(memory).upper())
    if found and (found[2] or not found[3]):
        number, unit, binary = found.groups()
        exact = float(number) * (1024.0 if binary else 1000.0) ** _UNITS[unit]
        size = int(exact) if np.isfinite(exact) else 0
    if size < LEAST:
        least = f"{LEAST // 10**6} MB or more, in bytes or as '500MB' or '1.5 GiB'"
        raise InputError(f"memory must be {least}, got {shown(memory)}.", argument="memory")
    return size


def rows_at_once(memory: int) -> int:
    """Return how many rows a block may have; a topic that has more is a block of its own."""
    return memory // _OF_ROW


#: what stands in a row on the disk, in words of 8 bytes: its rank, its score, and the words of its document's name
_RANK, _SCORE, _DOCS = range(3)
#: what is known of a piece, the rows of one list in one chunk: run, topic, first byte, rows, words of a row
_RUN, _TOPIC, _BEGIN, _ROWS, _WIDTH = range(5)
Pieces = NDArray[np.int64]


class _Spool:
    """The rows of a file on the disk, piece by piece."""

    def __init__(self, path: Path, parts: Iterator[RunPart]):
        self.path, self.ranked = path, True
        self.topics: dict[str, int] = {}  # numbered as they appear
        pieces: list[Pieces] = [np.zeros((5, 0), dtype=np.int64)]
        with path.open("wb") as file:
            for part in parts:
                if len(part.topic):
                    pieces.append(self._append(file, part))
                del part  # before the next one is read
        self.pieces = np.concatenate(pieces, axis=1)

    def _append(self, file: Any, part: RunPart) -> Pieces:
        key = (part.run << 32) | part.topic
        order = np.argsort(key, kind="stable")
        rows = np.empty((len(key), _DOCS + part.docs.shape[1]), dtype="<u8")
        numbers = rows.view("<f8")
        numbers[:, _RANK] = np.nan if part.ranks is None else part.ranks[order]
        numbers[:, _SCORE], rows[:, _DOCS:] = part.scores[order], part.docs.take(order, axis=0)
        self.ranked = part.ranks is not None
        lists, first, sizes = np.unique(key[order], return_index=True, return_counts=True)
        begins = file.tell() + first * rows[0].nbytes
        file.write(rows.data)
        number = np.array([self.topics.setdefault(name, len(self.topics)) for name in part.topics], dtype=np.int64)
        topic = number[lists & 0xFFFFFFFF]
        return np.stack([lists >> 32, topic, begins, sizes, np.full(len(lists), rows.shape[1])])

    def rows(self, pieces: Pieces) -> Words:
        with self.path.open("rb", buffering=0) as file:
            found = []
            for begin, size, width in pieces[_BEGIN:].T.tolist():
                file.seek(begin)
                found.append(np.fromfile(file, "<u8", size * width).reshape(size, width))
        return tokens.stacked(found) if found else np.zeros((0, _DOCS + 1), dtype="<u8")

    def check_ranks(self) -> None:
        """Raise a TiedError for the first list in which two documents have one rank."""
        run, topic = self.pieces[:_BEGIN]
        lists, first, place = np.unique((run << 32) | topic, return_index=True, return_inverse=True)
        for i in np.lexsort((first, lists >> 32)).tolist():
            rows = self.rows(self.pieces[:, place == i])
            try:
                starts = np.array([0, len(rows)])
                check_places(starts, rank_places(starts, rows.view("<f8")[:, _RANK]))
            except NoPlaceError as error:
                name = list(self.topics)[int(lists[i] & 0xFFFFFFFF)]
                docno = tokens.decode(tokens.as_tokens(rows[error.row : error.row + 1, _DOCS:]))[0]
                raise TiedError(name, docno, error.row + 1, int(lists[i] >> 32)) from None


class BlocksWithin:
    """The runs of some files whose rows are on the disk, to be coded block by block."""

    def __init__(
        self, paths: Sequence[Path], folder: Path, conventions: Conventions, memory: int, *, threads: int, verbose: bool
    ):
        self._paths, self._conventions, self._threads, self._most = paths, conventions, threads, rows_at_once(memory)
        numbers = itertools.count()

        def kept(parts: Iterator[RunPart]) -> _Spool:
            spool = _Spool(folder / f"spool-{next(numbers)}", parts)
            if conventions.order == "rank":
                spool.check_ranks()
            return spool

        # a row group of a table may be large, and is read when nothing else is
        at_once = 1 if any(map(is_table, paths)) else max(1, min(threads, memory // _OF_THREAD))
        self._files = RunFiles(conventions, at_once, kept, _CHUNK_BYTES, _LONGEST).read(paths, verbose=verbose)
        self._number(*run_names_of(self._files, len(paths), conventions, self._repeated))

    def _repeated(self, runs: list[FileRun], names: list[str]) -> dict[int, InputError]:
        self._number(runs, names)
        for _ in self._coded():
            pass
        return self._faults()

    def _number(self, runs: list[FileRun], names: list[str]) -> None:
        """Number the topics of some of the runs in natural order, and sort the pieces by them."""
        self._runs, self._names = runs, names
        self._repeats: list[Repeats] = []
        number: dict[str, int] = {}
        every = []
        for r, run in enumerate(runs):
            spool = run.rows
            of_run = spool.pieces[:, spool.pieces[_RUN] == run.number]
            held, place = np.unique(of_run[_TOPIC], return_inverse=True)
            known = list(spool.topics)
            of_held = [number.setdefault(known[t], len(number)) for t in held.tolist()]
            of_run[_RUN], of_run[_TOPIC] = r, np.array(of_held, dtype=np.int64)[place]
            every.append(of_run)
        pieces, found = np.concatenate(every, axis=1), list(number)
        order = natural_order(found)
        place = np.empty(len(found), dtype=np.int64)
        place[order] = np.arange(len(found))
        pieces[_TOPIC] = place[pieces[_TOPIC]]
        self._pieces = pieces[:, np.argsort(pieces[_TOPIC], kind="stable")]
        self._topics = tuple(found[t] for t in order)
        self._parts = neighbours(np.bincount(pieces[_TOPIC], pieces[_ROWS], len(found)).astype(np.int64), self._most)

    @property
    def ranked(self) -> NDArray[np.bool_]:
        """Return (runs,): which runs have a rank column."""
        return np.array([run.rows.ranked for run in self._runs], dtype=np.bool_)

    def blocks(self, *, verbose: bool) -> Iterator[Field]:
        """Yield the blocks; after the last one raise for documents that stand in a list twice, if that is an error."""
        yield from pt.tqdm(self._coded(), total=len(self._parts), desc="coding runs", unit="block", disable=not verbose)
        if faults := self._faults():
            raise InputError.of_several([*faults.values()], len(self._runs), "runs")

    def _coded(self) -> Iterator[Field]:
        """Yield the blocks, and keep what stands in their lists again."""
        for part in self._parts:
            give_back()
            pieces = self._pieces[:, slice(*np.searchsorted(self._pieces[_TOPIC], [part.start, part.stop]))]
            pieces = pieces[:, np.argsort(pieces[_RUN], kind="stable")]
            of_run = np.split(pieces, np.searchsorted(pieces[_RUN], np.arange(1, len(self._runs))), axis=1)
            with ThreadPoolExecutor(self._threads) as pool:
                rows = list(pool.map(self._rows, range(len(self._runs)), of_run))
            block, again = build_field(rows, threads=self._threads)
            del rows
            if self._conventions.duplicates == "error":
                # the first of each run is told
                again = again.take(np.unique(again.run, return_index=True)[1])
            if len(again):
                self._repeats.append(Repeats(again.run, again.topic + part.start, again.docs, again.place))
            yield block

    def _rows(self, r: int, pieces: Pieces) -> RunRows:
        spool = self._runs[r].rows
        rows = spool.rows(pieces)
        held, place = np.unique(pieces[_TOPIC], return_inverse=True)
        numbers = rows.view("<f8")
        topic = np.repeat(place.astype(np.int64), pieces[_ROWS])
        file = FileRows([self._topics[t] for t in held.tolist()], topic, rows[:, _DOCS:], numbers[:, _SCORE])
        return in_ranking_order(
            self._names[r], file, numbers[:, _RANK] if spool.ranked else None, self._conventions.order
        )

    def _faults(self) -> dict[int, InputError]:
        """Return for each run with a document twice in a list what is wrong, if that is an error."""
        if not self._repeats or self._conventions.duplicates != "error":
            return {}
        lines = LinesInFiles(self._runs, self._conventions.order)
        return repeat_faults(self._topics, Repeats.joined(self._repeats), self._names, lines.told)

    def read_field(self) -> ReadField:
        """Return what is known of the runs, beside a field that lies elsewhere; all blocks must have been coded."""
        dropped = []
        if self._repeats:
            give_back()
            repeats, lines = Repeats.joined(self._repeats), LinesInFiles(self._runs, self._conventions.order)
            dropped = [lines.dropped(self._topics, repeats, self._names)]
        nowhere = Field.without_topics(self.ranked)
        return field_of_files(nowhere, self._paths, self._files, self._runs, self._names, dropped)
