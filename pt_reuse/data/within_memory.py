"""Reading runs within a bound of memory into a store, and going on where an earlier call ended."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._errors import InputError, warn
from pt_reuse._files import Alone, alone, open_file
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field, Repeats, build_field
from pt_reuse.arrays.lists import natural_order, neighbours
from pt_reuse.arrays.places import Places, RunRows
from pt_reuse.data.array_file import DamagedError, block_name, check_block, checksums, write_block
from pt_reuse.data.budget import Budget, in_units
from pt_reuse.data.coding import repeat_faults
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.ir_metadata import real_paths
from pt_reuse.data.packed_files import give_back, packed_with
from pt_reuse.data.parsing import (
    Conventions,
    FileRun,
    LinesInFiles,
    Longer,
    ReadField,
    longer_lines,
    named_by_files,
    run_names_of,
)
from pt_reuse.data.spool import Spool
from pt_reuse.data.spooling import SpooledRun, Spooling, ToRead
from pt_reuse.data.store import (
    FORMAT,
    HEADER,
    SPOOLS,
    Layer,
    Source,
    StaleCacheError,
    Stored,
    check_keeping,
    check_sources,
    field_of,
    load,
    new_name,
    real_sources,
    sweep,
    sweep_in_passing,
    tell_stale,
    write,
)


@dataclass
class KeptRun(FileRun):
    """A run file of which a store has all; what was left out of it is on record there."""

    def dropped(self, name: str | None) -> Iterator[Dropped]:
        """Yield nothing."""
        yield from ()


@dataclass(frozen=True)
class Appending:
    """What a store has of some files.

    Attributes:
        stored: the store; None where all files are read.
        to_read: the files that are read, or their ends.
    """

    stored: Stored | None
    to_read: list[ToRead]

    @staticmethod
    def anew(paths: Sequence[Path], sources: Sequence[str]) -> Appending:
        """Read all files, of which the checksums are given."""
        return Appending(None, [ToRead(path, check) for path, check in zip(paths, sources, strict=True)])

    @staticmethod
    def to(stored: Stored, paths: Sequence[Path], sources: Mapping[str, str], threads: int) -> Appending:
        """Read what a store does not have.

        Raises:
            StaleCacheError: other files than those of the store have been changed otherwise than at their end.
        """
        kept = stored.sources
        if len(sources) < len(paths) or [path for path in sources if path in kept] != list(kept):
            check_sources(kept, sources)
        changed = [path for path in kept if kept[path].check != sources[path]]
        sizes = [kept[path].size for path in changed]
        if not all(map(_may_have_grown, changed, (kept[path] for path in changed))) or (
            checksums(changed, threads, sizes) != [kept[path].check for path in changed]
        ):
            check_sources(kept, sources)
        to_read = []
        for path, (real, check) in zip(paths, sources.items(), strict=True):
            if real not in kept:
                to_read.append(ToRead(path, check))
            elif real in changed:
                to_read.append(ToRead(path, check, kept[real].size, kept[real].lines))
        return Appending(stored, to_read)

    def files(self, paths: Sequence[Path], real: Sequence[str], read: Sequence[SpooledRun]) -> list[FileRun]:
        """Return what came of all files.

        Raises:
            StaleCacheError: what was added to a file does not do as a layer of its own.
        """
        found: dict[Path, list[SpooledRun]] = {}
        for file in read:
            found.setdefault(file.path, []).append(file)
        if self.stored is None:
            return list(read)
        files: list[FileRun] = []
        runs = self._runs()
        whole = self.stored.read.dropped
        reasons = dict(whole[whole["line"].isna()][["file", "reason"]].itertuples(index=False))
        for path, name in zip(paths, real, strict=True):
            if name not in self.stored.sources:
                files += found[path]
                continue
            kept = [
                KeptRun(path, self.stored.read.names[run], commented=run in self.stored.read.commented)
                for run in runs.get(name, ())
            ]
            if path in found:
                files.append(self._with_end(kept, name, found[path]))
            else:
                files += kept or [KeptRun(path, left_out=reasons.get(name))]
        return files

    def _with_end(self, kept: Sequence[KeptRun], real: str, ends: Sequence[SpooledRun]) -> SpooledRun:
        # a file that has grown: only the end of it is read, which must be of new topics alone
        stored, end = self.stored, ends[0]
        if stored is None or not kept or end.spool is None or end.fault is not None:
            raise StaleCacheError(self._grown(real))
        (column,) = self._runs()[real]
        had = {
            topic
            for layer in stored.layers
            if column in layer.columns
            for topic, n in zip(layer.topics, layer.lengths[:, layer.columns.index(column)].tolist(), strict=True)
            if n
        }
        if had.intersection(end.spool.sizes()[0]):
            raise StaleCacheError(self._grown(real))
        return replace(end, commented=kept[0].commented)

    def check_names(self, files: Sequence[FileRun], real: Sequence[str], *, by_tag: bool) -> None:
        """Raise where what was added to a file bears another name than what was there before.

        Raises:
            StaleCacheError: it does.
        """
        names, runs = [] if self.stored is None else self.stored.read.names, self._runs()
        for file, path in zip(files, real, strict=True):
            if by_tag and path in runs and file.tag not in [names[run] for run in runs[path]]:
                raise StaleCacheError(self._grown(path))

    def _grown(self, path: str) -> str:
        return f"of its run files 1 changed ({os.path.basename(path)}), not only by new topics at its end"

    def _runs(self) -> dict[str, list[int]]:
        # the runs of the store by the files from which they come
        runs: dict[str, list[int]] = {}
        if self.stored is not None:
            paths = list(self.stored.sources)
            for run, file in enumerate(self.stored.read.files):
                runs.setdefault(paths[file], []).append(run)
        return runs

    def layers(self, runs: Sequence[str]) -> tuple[Layer, ...]:
        """Return the layers of the store as those of a field of runs from some files, by their real paths."""
        if self.stored is None:
            return ()
        place: dict[str, list[int]] = {}
        for i, path in enumerate(runs):
            place.setdefault(path, []).append(i)
        columns: dict[int, int] = {}
        for path, had in self._runs().items():
            columns |= zip(had, place[path], strict=True)
        return tuple(
            replace(layer, columns=tuple(columns[column] for column in layer.columns)) for layer in self.stored.layers
        )

    def dropped(self, shown: Mapping[str, str]) -> list[Dropped]:
        """Return what the store has on record as left out, with the paths of files as they are shown."""
        return [] if self.stored is None else [Dropped(self.stored.read.placed(shown).dropped)]

    def longer(self, new: Sequence[Longer], shown: Mapping[str, str]) -> tuple[Longer, ...]:
        """Return which files have text after the sixth column, in the order of all files."""
        found = {} if self.stored is None else {item.file: item for item in self.stored.read.placed(shown).longer}
        for item in new:
            before = found.get(item.file)
            found[item.file] = item if before is None else replace(before, lines=before.lines + item.lines)
        return tuple(found[path] for path in shown.values() if path in found)


def _may_have_grown(path: str, kept: Source) -> bool:
    # a text that ended with a line's end, and is longer now
    if not kept.lines or os.path.getsize(path) <= kept.size:
        return False
    with open_file(path) as file:
        if packed_with(file.read(16)) is not None:
            return False
        file.seek(kept.size - 1)
        return file.read(1) == b"\n"


@dataclass
class Gathering:
    """The runs of some spools, topic by topic.

    Attributes:
        spools: of the runs.
        names: of the runs.
        columns: which runs these are of the field.
        lines: where documents stand in their files.
        conventions: how they were read.
        budget: what may be held in memory.
        topics: of all runs, in natural order.
        lengths: (topics, runs) rows of each list.
        parts: the topics of each block.
    """

    spools: Sequence[Spool]
    names: list[str]
    columns: tuple[int, ...]
    lines: LinesInFiles
    conventions: Conventions
    budget: Budget

    def __post_init__(self) -> None:
        held = [spool.sizes() for spool in self.spools]
        every = list(dict.fromkeys(name for names, _ in held for name in names))
        self.topics = tuple(every[i] for i in natural_order(every))
        place = {topic: t for t, topic in enumerate(self.topics)}
        self.lengths = np.zeros((len(self.topics), len(self.spools)), dtype=np.int32)
        for r, (names, sizes) in enumerate(held):
            self.lengths[[place[name] for name in names], r] = sizes
        del held
        width, tables = max((spool.width for spool in self.spools), default=1), 3 * self.lengths.nbytes
        rows = self.lengths.sum(axis=1, dtype=np.int64)
        if len(rows):
            largest = int(np.argmax(rows))
            self.budget.check_topic(self.topics[largest], int(rows[largest]), width, tables)
        self.parts = neighbours(rows, self.budget.rows(width, tables))
        self._repeats: list[Repeats] = []

    def layer(self, place: str) -> Layer:
        """Return them as a layer of a store, whose blocks are in a folder of it."""
        ends, ranked = tuple(part.stop for part in self.parts), tuple(spool.ranked for spool in self.spools)
        return Layer(place, self.columns, self.topics, ends, self.lengths, ranked)

    def write(self, folder: Path, *, verbose: bool) -> None:
        """Write the blocks to a folder; those that are there already stay.

        Raises:
            OSError: a block cannot be written.
        """
        with pt.tqdm(total=len(self.parts), desc="coding runs", unit="block", disable=not verbose) as bar:
            for part in self.parts:
                path = folder / block_name(part.start, part.stop)
                if not self._is_there(path, part):
                    give_back()
                    field, repeats = self._coded(part)
                    if len(repeats):
                        self._keep(part, repeats)
                    if not len(repeats) or self.conventions.duplicates == "best":
                        write_block(path, field)
                        self.lengths[part.start : part.stop] = field.lengths
                bar.update(1)

    def faults(self) -> dict[int, InputError]:
        """Return for each run with a document twice in a list what is wrong, the first such document, by position."""
        for part in self.parts:
            repeats = self._coded(part)[1]
            if len(repeats):
                self._keep(part, repeats)
        return self.found_faults()

    def found_faults(self) -> dict[int, InputError]:
        """Return the same as far as blocks were coded."""
        faults: dict[int, InputError] = {}
        for repeats in self._repeats:
            new = _some(repeats, ~np.isin(repeats.run, list(faults)))
            faults |= repeat_faults(self.topics, new, self.names, self.lines.told)
        return {self.columns[i]: fault for i, fault in sorted(faults.items())}

    def repeats(self) -> Repeats:
        """Return the rows of documents that stand in their list again, as far as blocks were coded."""
        none = np.zeros(0, dtype=np.int64)
        run, topic, place = (
            np.concatenate([none, *(getattr(found, name) for found in self._repeats)])
            for name in ("run", "topic", "place")
        )
        return Repeats(run, topic, tokens.stacked([found.docs for found in self._repeats]), place)

    def _keep(self, part: range, repeats: Repeats) -> None:
        found = Repeats(repeats.run, repeats.topic + part.start, repeats.docs, repeats.place)
        if self.conventions.duplicates == "error":
            first = np.zeros(len(found), dtype=np.bool_)
            first[np.unique(found.run, return_index=True)[1]] = True
            found = _some(found, first)
        self._repeats.append(found)

    def _is_there(self, path: Path, part: range) -> bool:
        # a block with fewer rows than the spools have is coded again, to tell which were left out
        try:
            lengths = check_block(path, self.topics[part.start : part.stop], len(self.names))
        except DamagedError:
            return False
        return bool((lengths == self.lengths[part.start : part.stop]).all())

    def _coded(self, part: range) -> tuple[Field, Repeats]:
        topics, held = self.topics[part.start : part.stop], self.lengths[part.start : part.stop] > 0
        before = np.count_nonzero(self.lengths[: part.start], axis=0)

        def rows(r: int) -> RunRows:
            here = np.flatnonzero(held[:, r])
            if not len(here):
                return _no_rows(self.names[r], ranked=self.spools[r].ranked)
            first, names = int(before[r]), [topics[t] for t in here.tolist()]
            return self.spools[r].rows(first, first + len(here), self.names[r], names, self.conventions.order)

        with ThreadPoolExecutor(self.budget.threads) as pool:
            runs = list(pool.map(rows, range(len(self.names))))
        return build_field(runs, threads=self.budget.threads)


def _no_rows(name: str, *, ranked: bool) -> RunRows:
    docs, starts = np.zeros((0, 1), dtype="<u8"), np.zeros(1, dtype=np.int64)
    return RunRows(name, [], starts, docs, np.zeros(0), Places.none(), Places.none() if ranked else None)


def _some(repeats: Repeats, chosen: NDArray[np.bool_]) -> Repeats:
    return Repeats(repeats.run[chosen], repeats.topic[chosen], repeats.docs[chosen], repeats.place[chosen])


#: what the system says where a disk, or what a user may have of it, is full
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: bytes of a store for each byte of run files as text, and of text for each byte of a packed file, about
_OF_TEXT, _OF_PACKED = 1.2, 4
#: seconds of waiting that nobody is told of: who only sweeps a folder has its lock for a moment
_NOT_TOLD = 1.0


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
            InputError: as :func:`parse_files`; a topic that is too large, a full disk.
        """
        named_by_files(paths, self.conventions.names, self.conventions.other_files)
        sources = real_sources(paths, self.folder, self.budget.threads)
        shown = dict(zip(sources, map(str, paths), strict=False))
        with suppress(StaleCacheError):
            kept = self._kept(sources)
            sweep_in_passing(self.folder)
            return kept.placed(shown)
        check_keeping(self.folder)
        with self._writing(paths) as whether:
            work = _Work(paths, real_paths(paths), sources, shown)
            try:
                appending = Appending.to(self._stored(), paths, sources, self.budget.threads)
                if not appending.to_read:  # another process has just done it
                    return self._kept(sources).placed(shown)
                return self._built(work, appending, whether)
            except StaleCacheError as stale:
                if (self.folder / HEADER).exists():
                    tell_stale(self.folder, stale)
            return self._built(work, Appending.anew(paths, [sources[path] for path in work.real]), whether)

    def _kept(self, sources: dict[str, str]) -> ReadField:
        stored = self._stored()
        check_sources(stored.sources, sources)
        return stored.read

    def _stored(self) -> Stored:
        stored = load(self.folder, self.conventions.as_dict())
        for layer in stored.layers:
            sizes = layer.blocks(self.folder).sizes()
            if not all(sizes):
                raise StaleCacheError("a block of it is missing")
            if not self.budget.holds(max(sizes)):
                raise StaleCacheError(
                    f"it has blocks of up to {in_units(max(sizes))}, with which one cannot work in "
                    f"{in_units(self.budget.memory)}"
                )
        return stored

    @contextmanager
    def _writing(self, paths: Sequence[Path]) -> Iterator[Alone]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with ExitStack() as held:
                whether = held.enter_context(alone(self.folder, patience=_NOT_TOLD))
                if whether is Alone.NO:
                    warn(
                        f"another process is writing the cache {self.folder}; waiting until it is done. To go on at "
                        "once, give another folder."
                    )
                    whether = held.enter_context(alone(self.folder, patience=math.inf))
                yield whether
        except OSError as error:
            if error.errno in _FULL:
                raise InputError(self._full(paths), argument="cache") from error
            if error.errno == errno.EFBIG:
                raise InputError(
                    f"a file of the cache {self.folder} would be larger than this process may write, or than its file "
                    f"system can hold. Raise the limit (ulimit -f) and call again, which goes on from there, or give "
                    f"another folder.",
                    argument="cache",
                ) from error
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

    def _built(self, work: _Work, appending: Appending, whether: Alone) -> ReadField:
        settings, by_tag = self.conventions.as_dict(), self.conventions.names == "tag"
        parts = [[file.check, file.begin] for file in appending.to_read]
        key = hashlib.sha256(json.dumps([FORMAT, settings, parts]).encode("ascii")).hexdigest()
        spools, place = self._spools(key), new_name("arrays", key)
        sweep(self.folder, whether)
        read = Spooling(spools, self.conventions, self.budget).read(appending.to_read, verbose=self.verbose)
        files = appending.files(work.paths, work.real, read)
        real_of = dict(zip(map(str, work.paths), work.real, strict=True))
        appending.check_names(files, [real_of[str(file.path)] for file in files], by_tag=by_tag)

        def repeated(runs: list[FileRun], names: list[str]) -> dict[int, InputError]:
            some = self._gathering(runs, names)
            return some.faults() if some.columns else {}

        runs, names = run_names_of(files, len(work.paths), self.conventions, repeated)
        gathering = self._gathering(runs, names)
        (self.folder / place).mkdir(exist_ok=True)
        gathering.write(self.folder / place, verbose=self.verbose)
        faults = gathering.found_faults() if self.conventions.duplicates == "error" else {}
        if faults:
            raise InputError.of_several(list(faults.values()), len(runs), "runs")
        layers = appending.layers([real_of[str(file.path)] for file in runs])
        if gathering.columns:
            layers += (gathering.layer(place),)
        dropped = self._dropped(files, runs, gathering, appending.dropped(work.shown))
        commented = tuple(i for i, file in enumerate(runs) if file.commented)
        longer = appending.longer(longer_lines(files), work.shown)
        number = {path: i for i, path in enumerate(work.paths)}
        of_files = tuple(number[file.path] for file in runs)
        found = ReadField(field_of(self.folder, layers), names, dropped.frame, longer, commented, of_files)
        kept = {} if appending.stored is None else dict(appending.stored.sources)
        kept |= {
            real_of[str(file.path)]: Source(
                work.sources[real_of[str(file.path)]],
                os.path.getsize(file.path),
                file.spool.n_lines if file.spool is not None else 0,
            )
            for file in read
        }
        in_order = {path: kept[path] for path in work.sources}
        write(self.folder, Stored(in_order, found.placed(real_of), layers), settings)
        sweep(self.folder, whether, finished=True)
        return found

    def _gathering(self, runs: Sequence[FileRun], names: list[str]) -> Gathering:
        read = [(i, file.spool, file) for i, file in enumerate(runs) if isinstance(file, SpooledRun)]
        spools = [spool for _, spool, _ in read if spool is not None]
        columns = tuple(i for i, _, _ in read)
        lines = LinesInFiles([file for _, _, file in read], self.conventions.order)
        return Gathering(spools, [names[i] for i in columns], columns, lines, self.conventions, self.budget)

    def _dropped(
        self, files: Sequence[FileRun], runs: Sequence[FileRun], gathering: Gathering, before: list[Dropped]
    ) -> Dropped:
        names, lines = gathering.names, gathering.lines
        name_of = {id(runs[i]): name for i, name in zip(gathering.columns, names, strict=True)}
        dropped = [*before, *(part for file in files for part in file.dropped(name_of.get(id(file))))]
        repeats = gathering.repeats()
        if len(repeats):
            give_back()
            at = lines.of_repeats(gathering.topics, repeats)
            dropped.append(Dropped.of_repeats(repeats, names, gathering.topics, files=lines.files, lines=at))
        return Dropped.stacked(dropped).by_file([*dict.fromkeys(str(file.path) for file in files)])

    def _spools(self, key: str) -> Path:
        # what another call has spooled serves this one
        spools = self.folder / new_name("spools", key)
        for name in os.listdir(self.folder):
            if SPOOLS.fullmatch(name) and not spools.exists():
                os.rename(self.folder / name, spools)
        spools.mkdir(exist_ok=True)
        return spools


@dataclass(frozen=True)
class _Work:
    """The files that are read.

    Attributes:
        paths: as the user has them.
        real: the same as a store has them.
        sources: their checksums, by these.
        shown: the paths of the user, by these.
    """

    paths: Sequence[Path]
    real: list[str]
    sources: dict[str, str]
    shown: dict[str, str]


def _text_bytes(path: Path) -> int:
    with open_file(path) as file:
        packed = packed_with(file.read(16))
    return os.path.getsize(path) * (1 if packed is None else _OF_PACKED)
