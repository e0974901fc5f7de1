"""How run files are read: in parallel, with an optional cache, into coded runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pt_reuse._check import choice, flag, positive
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse._files import user_path
from pt_reuse.formats.read_field import ReadField, tell_of_longer
from pt_reuse.formats.store_folder import HEADER
from pt_reuse.runs.budget import Budget, memory_bytes
from pt_reuse.runs.coded import CodedRuns
from pt_reuse.runs.coding import warn_of_twin_topics
from pt_reuse.runs.dropped import Dropped
from pt_reuse.runs.file_runs import Conventions, named_by_files
from pt_reuse.runs.how_pooled import UNKNOWN, HowPooled
from pt_reuse.runs.ir_metadata import labelled_table
from pt_reuse.runs.kept_runs import check_keeping, read_kept
from pt_reuse.runs.metadata import GivenMetadata
from pt_reuse.runs.ordering import check_order
from pt_reuse.runs.parsing import parse_files
from pt_reuse.runs.table_labels import TableLabels
from pt_reuse.runs.within_memory import MemoryReading


@dataclass(frozen=True, kw_only=True)
class FileReading:
    """How run files are read, as :func:`read_runs` takes it; one that is made has been checked.

    Attributes:
        order: the order that ranks documents.
        how_pooled: in which order and to which depth the pool was made, as far as somebody says.
        names: ``"tag"`` or ``"file"``.
        duplicates: ``"error"`` or ``"best"``.
        bad_lines: ``"error"`` or ``"skip"``, of lines that are no run line.
        other_files: ``"error"`` or ``"skip"``, of files without a run line.
        cache: a folder to keep the parsed field in, None for none.
        memory: how much may be held in memory, in bytes or as a text, None for the whole field.
        n_jobs: threads, None for all cores.
        verbose: show a progress bar.
    """

    order: str = "trec_eval"
    how_pooled: HowPooled = UNKNOWN
    names: str = "tag"
    duplicates: str = "error"
    bad_lines: str = "error"
    other_files: str = "error"
    cache: str | Path | None = None
    memory: int | str | None = None
    n_jobs: int | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        check_order("order", self.order)
        choice("names", self.names, ("tag", "file"))
        choice("duplicates", self.duplicates, ("error", "best"))
        choice("bad_lines", self.bad_lines, ("error", "skip"))
        choice("other_files", self.other_files, ("error", "skip"))
        if self.n_jobs is not None:
            positive("n_jobs", self.n_jobs, "threads")
        flag("verbose", self.verbose)
        if self.cache is not None:
            _check_cache(self.cache)
        if self.memory is not None:
            memory_bytes(self.memory)
            if self.cache is None:
                raise InputError(
                    Argument("memory"),
                    " needs a folder in which the field is kept. Pass ",
                    Option("cache", "FOLDER"),
                    ", too.",
                    argument="memory",
                )

    def coded(self, paths: Sequence[Path], labels: GivenMetadata) -> CodedRuns:
        """Return the runs of some files, labelled."""
        conventions = Conventions(self.order, self.names, self.duplicates, self.bad_lines, self.other_files)
        threads = (os.cpu_count() or 1) if self.n_jobs is None else int(self.n_jobs)
        tables = TableLabels.of(paths)
        how_pooled = tables.how_pooled(self.how_pooled)
        # names of files are known before these are read, and so is what is wrong with the labels
        names = named_by_files(paths, self.names, self.other_files)
        table = None if names is None else labelled_table(labels, names, paths, by_tag=False)
        if self.cache is None:
            found = parse_files(paths, conventions, threads=threads, verbose=self.verbose)
        else:
            found = self._kept(paths, user_path(self.cache), conventions, threads)
        dropped = Dropped(found.dropped)
        dropped.tell()
        tell_of_longer(found.longer)
        warn_of_twin_topics(found.field.topics)
        if table is None:
            of_runs = [paths[i] for i in found.files]
            commented = {of_runs[i] for i in found.commented}
            base = tables.base(found.names, of_runs)
            by_tag = self.names == "tag"
            table = labelled_table(labels, found.names, of_runs, by_tag=by_tag, commented=commented, base=base)
        tables.tell(self.order)
        return CodedRuns(found.field, table, self.order, how_pooled, dropped)

    def _kept(self, paths: Sequence[Path], folder: Path, conventions: Conventions, threads: int) -> ReadField:
        if self.memory is None:
            return read_kept(paths, folder, conventions, threads=threads, verbose=self.verbose)
        return MemoryReading(folder, conventions, Budget(memory_bytes(self.memory), threads), self.verbose).read(paths)


def _check_cache(cache: Any) -> None:
    if not isinstance(cache, str | os.PathLike) or not str(cache) or "\0" in str(cache):
        raise InputError(Argument("cache"), f" must be the path of a folder, got {cache!r}.", argument="cache")
    folder = user_path(cache)
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(
            Argument("cache"),
            f" {folder} is a file. Give a folder for the cache; it is made if missing.",
            argument="cache",
        )
    if not os.path.exists(folder / HEADER):
        # what is there already may be of use even where nothing can be written
        check_keeping(folder)
