"""Run files read into a store within a budget of memory, however large they are."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pt_reuse._errors import InputError
from pt_reuse._files import Alone, alone
from pt_reuse.formats.files import packed_with
from pt_reuse.formats.read_field import ReadField
from pt_reuse.formats.spool import Spool
from pt_reuse.formats.store import (
    FORMAT,
    Layer,
    Source,
    StaleCacheError,
    Stored,
    check_sources,
    field_of,
    load,
    write,
)
from pt_reuse.formats.store_folder import HEADER, SPOOLS, new_name, sweep
from pt_reuse.runs.budget import Budget, in_units
from pt_reuse.runs.dropped import Dropped
from pt_reuse.runs.file_runs import Conventions, FileRun, LinesInFiles, file_run_names, longer_lines, run_names_of
from pt_reuse.runs.gathering import Gathering
from pt_reuse.runs.kept_runs import check_keeping, real_sources, tell_stale
from pt_reuse.runs.paths import real_paths
from pt_reuse.runs.spooling import SpooledRun, Spooling

#: what the system says where a disk, or what a user may have of it, is full
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: bytes of a store for each byte of run files as text, and of text for each byte of a packed file, about
_OF_TEXT, _OF_PACKED = 1.2, 4


@dataclass(frozen=True)
class MemoryReading:
    """Reads run files into a store.

    Attributes:
        folder: of the store.
        conventions: how the files are read.
        budget: what may be held in memory.
        verbose: show progress bars.
    """

    folder: Path
    conventions: Conventions
    budget: Budget
    verbose: bool

    def read(self, paths: Sequence[Path]) -> ReadField:
        """Return the field of some run files, whose blocks lie in the folder.

        Raises:
            InputError: as :func:`parse_files`; a topic that is too large, a full disk, another process at work there.
        """
        if self.conventions.names == "file" and self.conventions.other_files == "error":
            file_run_names(paths)
        sources = real_sources(paths, self.folder, self.budget.threads)
        try:
            return self._kept(sources).placed(dict(zip(sources, map(str, paths), strict=False)))
        except StaleCacheError as stale:
            if not (self.folder / HEADER).exists() or not tell_stale(self.folder, stale):
                check_keeping(self.folder)
        with self._writing(paths) as whether:
            return self._built(paths, sources, whether)

    def _kept(self, sources: dict[str, str]) -> ReadField:
        stored = load(self.folder, self.conventions.as_dict())
        check_sources(stored.sources, sources)
        for layer in stored.layers:
            sizes = layer.blocks(self.folder).sizes()
            if not all(sizes):
                raise StaleCacheError("a block of it is missing")
            if not self.budget.holds(max(sizes)):
                raise StaleCacheError(
                    f"it has blocks of up to {in_units(max(sizes))}, with which one cannot work in "
                    f"{in_units(self.budget.memory)}"
                )
        return stored.read

    @contextmanager
    def _writing(self, paths: Sequence[Path]) -> Iterator[Alone]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with alone(self.folder) as whether:
                if whether is Alone.NO:
                    raise InputError(
                        f"another process is writing the cache {self.folder}. Call again when it is done, or give "
                        f"another folder.",
                        argument="cache",
                    )
                yield whether
        except OSError as error:
            if error.errno in _FULL:
                raise InputError(self._full(paths), argument="cache") from error
            raise InputError(
                f"the cache {self.folder} cannot be written: {error.strerror or error}. What is there already serves "
                f"the next call.",
                argument="cache",
            ) from error

    def _full(self, paths: Sequence[Path]) -> str:
        needed = _OF_TEXT * sum(map(_text_bytes, paths))
        written = sum(item.stat().st_size for item in self.folder.rglob("*") if item.is_file())
        free = shutil.disk_usage(self.folder).free
        return (
            f"the disk of the cache {self.folder} is full: to read these runs takes about "
            f"{in_units(max(needed, written))} there, of which {in_units(written)} are written, and {in_units(free)} "
            f"are free. Make room and call again, which goes on from there, or give another folder."
        )

    def _built(self, paths: Sequence[Path], sources: dict[str, str], whether: Alone) -> ReadField:
        settings, real = self.conventions.as_dict(), real_paths(paths)
        checks = [sources[path] for path in real]
        key = hashlib.sha256(json.dumps([FORMAT, settings, checks]).encode("ascii")).hexdigest()
        spools, place = self._spools(key), new_name("arrays", key)
        sweep(self.folder, whether)
        files = Spooling(spools, self.conventions, self.budget).read(paths, checks, verbose=self.verbose)

        def repeated(runs: list[FileRun], names: list[str]) -> dict[int, InputError]:
            return self._gathering(runs, names).faults(LinesInFiles([file.path for file in runs]))

        runs, names = run_names_of(files, self.conventions, repeated)
        gathering, lines = self._gathering(runs, names), LinesInFiles([file.path for file in runs])
        (self.folder / place).mkdir(exist_ok=True)
        gathering.write(self.folder / place, verbose=self.verbose)
        faults = gathering.found_faults(lines) if self.conventions.duplicates == "error" else {}
        if faults:
            raise InputError.of_several(list(faults.values()), len(runs), "runs")
        ends = tuple(part.stop for part in gathering.parts)
        layer = Layer(place, tuple(range(len(runs))), gathering.topics, ends, gathering.lengths)
        dropped = self._dropped(files, runs, gathering, lines)
        commented = tuple(i for i, file in enumerate(runs) if file.commented)
        read = ReadField(field_of(self.folder, [layer]), names, dropped.frame, longer_lines(files), commented)
        n_lines = {id(file): file.spool.n_lines for file in files if file.spool is not None}
        kept = {
            path: Source(check, os.path.getsize(path), n_lines.get(id(file), 0))
            for (path, check), file in zip(sources.items(), files, strict=True)
        }
        real_of = dict(zip(map(str, paths), real, strict=True))
        write(self.folder, Stored(kept, read.placed(real_of), (layer,)), settings)
        sweep(self.folder, whether, finished=True)
        return read

    def _gathering(self, runs: Sequence[FileRun], names: list[str]) -> Gathering:
        return Gathering([_spool_of(file) for file in runs], names, self.conventions, self.budget)

    def _dropped(
        self, files: Sequence[FileRun], runs: Sequence[FileRun], gathering: Gathering, lines: LinesInFiles
    ) -> Dropped:
        names = gathering.names
        name_of = {file.path: name for file, name in zip(runs, names, strict=True)}
        dropped = [part for file in files for part in file.dropped(name_of.get(file.path))]
        repeats = gathering.repeats()
        if len(repeats):
            at = lines.of_repeats(gathering.topics, repeats, self.conventions.order)
            dropped.append(Dropped.of_repeats(repeats, names, gathering.topics, files=lines.files, lines=at))
        return Dropped.stacked(dropped).by_file([str(file.path) for file in files])

    def _spools(self, key: str) -> Path:
        # what another call has spooled serves this one
        spools = self.folder / new_name("spools", key)
        for name in os.listdir(self.folder):
            if SPOOLS.fullmatch(name) and not spools.exists():
                os.rename(self.folder / name, spools)
        spools.mkdir(exist_ok=True)
        return spools


def _spool_of(file: FileRun) -> Spool:
    if not isinstance(file, SpooledRun) or file.spool is None:
        raise TypeError("a file without rows is no run")
    return file.spool


def _text_bytes(path: Path) -> int:
    with path.open("rb") as file:
        packed = packed_with(file.read(16))
    return os.path.getsize(path) * (1 if packed is None else _OF_PACKED)
