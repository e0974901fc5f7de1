"""Parse run files one after the other into spools on the disk, none of them ever whole in memory."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyterrier as pt

from pt_reuse._errors import InputError, located
from pt_reuse.data.array_file import DamagedError, checksums
from pt_reuse.data.budget import Budget
from pt_reuse.data.packed_files import (
    LONGEST_START,
    UnreadableError,
    chunks_of_lines,
    in_memory,
    kind_of_table,
    read_beginning,
    read_blocks,
)
from pt_reuse.data.parsing import Conventions, FileRun, many_tags, no_run, no_table, packed_table, unreadable
from pt_reuse.data.run_parts import RunParts, rows_in_file
from pt_reuse.data.spool import Spool, SpoolWriter, TableSpoolWriter, TiedRowError, open_runs, spooling, spooling_table
from pt_reuse.data.store import FORMAT
from pt_reuse.data.table_rows import TableReading, rows_in_table, run_of_file, tied_row
from pt_reuse.data.tables import is_table
from pt_reuse.data.trec import tied_rank


class _StoppedError(Exception):
    """Another file, or the user, ended the reading."""


@dataclass
class SpooledRun(FileRun):
    """What came of a run file; its rows are on the disk.

    Attributes:
        spool: the rows, None where it is no run.
    """

    spool: Spool | None = None


@dataclass(frozen=True)
class ToRead:
    """A run file that is to be read, or its end.

    Attributes:
        path: the file.
        check: its checksum.
        begin: the byte with which to begin.
        lines: the lines before it.
    """

    path: Path
    check: str
    begin: int = 0
    lines: int = 0


@dataclass(frozen=True)
class Spooling:
    """Parses run files into spools.

    Attributes:
        folder: for the spools.
        conventions: how the files are read.
        budget: what may be held in memory.
    """

    folder: Path
    conventions: Conventions
    budget: Budget

    def read(self, files: Sequence[ToRead], *, verbose: bool) -> list[SpooledRun]:
        """Return what came of run files; those that were spooled before are not read again.

        Raises:
            OSError: a spool cannot be written.
        """
        stop = threading.Event()
        # two files of the same contents have one spool
        locks = {file.check: threading.Lock() for file in files}
        with pt.tqdm(total=len(files), desc="reading runs", unit="file", disable=not verbose) as bar:

            def read(file: ToRead) -> SpooledRun:
                found = self._file(file, locks[file.check], stop)
                bar.update(1)
                return found

            def read_table(file: ToRead) -> list[SpooledRun]:
                found = self._table(file)
                bar.update(1)
                return found

            in_tables = [is_table(file.path) for file in files]
            texts = [file for file, table in zip(files, in_tables, strict=True) if not table]
            read_texts = iter(self._in_threads(read, texts, stop))
            # a table may take all of the memory
            return [
                run
                for file, table in zip(files, in_tables, strict=True)
                for run in (read_table(file) if table else [next(read_texts)])
            ]

    def _in_threads(
        self, read: Callable[[ToRead], SpooledRun], files: Sequence[ToRead], stop: threading.Event
    ) -> list[SpooledRun]:
        context = copy_context()
        pool = ThreadPoolExecutor(self.budget.parsers)
        try:
            # a thread begins without the caller's context, which says where errors are
            return list(pool.map(lambda file: context.copy().run(read, file), files))
        finally:
            # after ctrl-C, or on a full disk, files are not read to their end
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _table(self, file: ToRead) -> list[SpooledRun]:
        conventions, path = self.conventions, file.path
        # where no column says it, the name of the run is that of the file
        key = [FORMAT, conventions.order == "rank", conventions.bad_lines, file.check, run_of_file(path)]
        place = self.folder / hashlib.sha256(json.dumps(key).encode("ascii")).hexdigest()[:32]
        with located(str(path)), in_memory():
            try:
                spools = open_runs(place, check=True)
            except DamagedError:
                try:
                    self._write_table(file, place)
                except (UnreadableError, InputError) as error:
                    return [SpooledRun(path, None, *no_table(error, conventions), table=True)]
                spools = open_runs(place, check=False)
            return [
                SpooledRun(path, next(iter(spool.tags)), None, None, False, (0, 0), *spool.left_out(), True, spool)
                for spool in spools
            ]

    def _write_table(self, file: ToRead, place: Path) -> None:
        order, skip, budget = self.conventions.order, self.conventions.bad_lines == "skip", self.budget
        with spooling_table(place) as writer:
            reading = TableReading(file.path, order, lambda rows, size: budget.check_group(rows, size, writer.held))
            for group in reading.groups():
                writer.append(group)
                del group
            reading.check(skip=skip)
        with _or_removed(writer):
            try:
                writer.seal(reading, budget.usable)
            except TiedRowError as error:
                raise self._tied_row(file.path, error) from None
            _check_unchanged(file)

    def _tied_row(self, path: Path, error: TiedRowError) -> InputError:
        reading = TableReading(path, "rank")
        for _, group, at in rows_in_table(reading, [(error.run, error.topic)], np.array([error.at])):
            rank = np.nan if group.ranks is None else float(group.ranks[at[0]])
            place = reading.place(int(group.row[at[0]]))
            return tied_row(error.run, error.topic, group.docs[at], rank, place)
        raise _changed()

    def _file(self, file: ToRead, one: threading.Lock, stop: threading.Event) -> SpooledRun:
        conventions, path = self.conventions, file.path
        key = [FORMAT, conventions.order == "rank", conventions.bad_lines, file.check, file.begin]
        place = self.folder / hashlib.sha256(json.dumps(key).encode("ascii")).hexdigest()[:32]
        with one, located(str(path)), in_memory():
            run = RunParts(conventions.order, skip=conventions.bad_lines == "skip", before=file.lines)
            try:
                spool = Spool.opened(place, check=True)
            except DamagedError:
                try:
                    if kind := _packed_table(path):
                        return SpooledRun(path, fault=packed_table(kind))
                    self._write(file, place, run, stop)
                except UnreadableError as error:
                    return SpooledRun(path, fault=unreadable(error))
                except InputError as error:
                    if conventions.other_files == "error" or run.has_run_lines:
                        return SpooledRun(path, fault=error)
                    return SpooledRun(path, left_out=no_run(error))
                spool = Spool.opened(place, check=False)
            if conventions.names == "tag" and spool.n_tags > 1:
                return SpooledRun(path, fault=many_tags(spool.tags, spool.n_tags))
            tag, (bad, reasons) = next(iter(spool.tags)), spool.left_out()
            return SpooledRun(path, tag, None, None, spool.commented, spool.longer, bad, reasons, spool=spool)

    def _write(self, file: ToRead, place: Path, run: RunParts, stop: threading.Event) -> None:
        with spooling(place) as writer:
            for data in self._chunks(file.path, file.begin):
                if stop.is_set():
                    raise _StoppedError
                part = run.take(data)
                if part is not None:
                    writer.append(part)
            run.finish()
        with _or_removed(writer):
            tied = writer.tied(run) if run.order == "rank" else None
            if tied is not None:
                raise self._tied(file.path, *tied)
            _check_unchanged(file)
            writer.seal(run)

    def _chunks(self, path: Path, begin: int = 0) -> Iterator[bytes]:
        return chunks_of_lines(path, self.budget.chunk, self.budget.longest, begin)

    def _tied(self, path: Path, topic: str, place: int) -> InputError:
        found = rows_in_file(self._chunks(path), "rank", [topic], np.array([place]))
        fields, _, rows = next(found)
        return tied_rank(fields, int(rows[0]))


def _packed_table(path: Path) -> str | None:
    kind = kind_of_table(read_beginning(path, LONGEST_START))
    for _ in read_blocks(path) if kind else ():
        pass  # what is wrong with its packing is told first
    return kind


def _check_unchanged(file: ToRead) -> None:
    if checksums([file.path], 1) != [file.check]:
        raise _changed()


def _changed() -> InputError:
    return InputError("it changed while it was read. Read the runs again.")


@contextmanager
def _or_removed(writer: SpoolWriter | TableSpoolWriter) -> Iterator[None]:
    try:
        yield
    except BaseException:
        writer.remove()
        raise
