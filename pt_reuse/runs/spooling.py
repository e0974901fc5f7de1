"""Parse run files one after the other into spools on the disk, none of them ever whole in memory."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyterrier as pt

from pt_reuse._errors import InputError, located
from pt_reuse.formats.array_file import DamagedError
from pt_reuse.formats.checksum import checksums
from pt_reuse.formats.files import UnreadableError, in_memory
from pt_reuse.formats.line_chunks import chunks_of_lines
from pt_reuse.formats.line_search import rows_in_file
from pt_reuse.formats.run_parts import RunParts
from pt_reuse.formats.spool import Spool, SpoolWriter, spooling
from pt_reuse.formats.store import FORMAT
from pt_reuse.formats.trec import tied_rank
from pt_reuse.runs.budget import Budget
from pt_reuse.runs.file_runs import Conventions, FileRun, many_tags, no_run, packed_table, unreadable


class _StoppedError(Exception):
    """Another file, or the user, ended the reading."""


class _NeverLeftOutError(Exception):
    """A fault of a file that is told even where files without a run line are left out."""

    def __init__(self, fault: InputError):
        super().__init__(fault)
        self.fault = fault


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

        Args:
            files: the files.
            verbose: show a progress bar.

        Raises:
            OSError: a spool cannot be written.
        """
        context, stop = copy_context(), threading.Event()
        # two files of the same contents have one spool
        locks = {file.check: threading.Lock() for file in files}
        with pt.tqdm(total=len(files), desc="reading runs", unit="file", disable=not verbose) as bar:

            def read(file: ToRead) -> SpooledRun:
                # a thread begins without the caller's context, which says where errors are
                found = context.copy().run(self._file, file, locks[file.check], stop)
                bar.update(1)
                return found

            pool = ThreadPoolExecutor(self.budget.parsers)
            try:
                return list(pool.map(read, files))
            finally:
                # after ctrl-C, or on a full disk, files are not read to their end
                stop.set()
                pool.shutdown(wait=True, cancel_futures=True)

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
                    self._write(file, place, run, stop)
                except UnreadableError as error:
                    return SpooledRun(path, fault=unreadable(error))
                except _NeverLeftOutError as error:
                    return SpooledRun(path, fault=error.fault)
                except InputError as error:
                    if conventions.other_files == "error" or run.has_run_lines:
                        return SpooledRun(path, fault=error)
                    return SpooledRun(path, left_out=no_run(error))
                spool = Spool.opened(place, check=False)
            if conventions.names == "tag" and spool.n_tags > 1:
                return SpooledRun(path, fault=many_tags(spool.tags, spool.n_tags))
            tag, (bad, reasons) = next(iter(spool.tags)), spool.left_out()
            return SpooledRun(
                path,
                tag,
                commented=spool.commented,
                longer=spool.longer,
                bad=bad,
                reasons=reasons,
                spool=spool,
            )

    def _write(self, file: ToRead, place: Path, run: RunParts, stop: threading.Event) -> None:
        with spooling(place) as writer:
            for i, data in enumerate(self._chunks(file.path, file.begin)):
                if stop.is_set():
                    raise _StoppedError
                if not i and (fault := packed_table(data)):
                    raise _NeverLeftOutError(fault)
                part = run.take(data)
                if part is not None:
                    writer.append(part)
            run.finish()
        with _or_removed(writer):
            tied = writer.tied(run) if run.order == "rank" else None
            if tied is not None:
                raise self._tied(file.path, *tied)
            if checksums([file.path], 1) != [file.check]:
                raise _NeverLeftOutError(InputError("it changed while it was read. Read the runs again."))
            writer.seal(run)

    def _chunks(self, path: Path, begin: int = 0) -> Iterator[bytes]:
        return chunks_of_lines(path, self.budget.chunk, self.budget.longest, begin)

    def _tied(self, path: Path, topic: str, place: int) -> InputError:
        found = rows_in_file(self._chunks(path), "rank", [topic], np.array([place]))
        fields, _, rows = next(found)
        return tied_rank(fields, int(rows[0]))


@contextmanager
def _or_removed(writer: SpoolWriter) -> Iterator[None]:
    try:
        yield
    except BaseException:
        writer.remove()
        raise
