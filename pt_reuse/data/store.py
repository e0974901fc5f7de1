"""A store: a field in a folder, block by block, with a manifest that says of which files and how it was made."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import math
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pt_reuse._files import (
    STALE,
    Alone,
    alone,
    check_writable,
    is_stale,
    is_temporary,
    read_file,
    replacing,
    sweep_temporary,
)
from pt_reuse.arrays.field import Field
from pt_reuse.arrays.open_field import OpenField, forget_blocks
from pt_reuse.data.array_file import (
    ArrayFile,
    DamagedBlockError,
    DamagedError,
    StoredBlocks,
    block_name,
    checksums,
    write_arrays,
    write_block,
)
from pt_reuse.data.dropped import packed, unpacked
from pt_reuse.data.ir_metadata import real_paths
from pt_reuse.data.parsing import Conventions, Longer, ReadField, parse_files
from pt_reuse.data.within_memory import Budget, in_units, read_within
from pt_reuse.errors import InputError, warn

FORMAT = 8  # to be raised when the files, their arrays or the hash of names change
HEADER = "pt_reuse-runs.json"
_INDEX = "index"
#: folders of blocks, and of rows that are not coded yet; the third kind is of stores as they were made before
_PLACE = re.compile(r"arrays-[0-9a-f]{16}")
_OURS = re.compile(r"(arrays|spools|tables)-[0-9a-f]{16}")
#: files in these folders
_FILES = re.compile(rf"\d+-\d+\.block|{_INDEX}|(spool|block)-\d+|[a-z_]+\.npy")
_OVERTAKEN = 20  # times that another process may replace the store while it is being read


class StaleCacheError(Exception):
    """The store does not hold what was asked for; the message is a clause that says why."""


class DamagedStoreError(StaleCacheError):
    """The store is not as it was written."""


def fingerprints(paths: Sequence[str], threads: int) -> dict[str, str]:
    """Return the checksum of each source file by its path."""
    return dict(zip(paths, checksums(paths, threads), strict=True))


def load(folder: Path, sources: Mapping[str, str], settings: Mapping[str, Any]) -> ReadField:
    """Return what a store holds, whose blocks are not looked at; a StaleCacheError where it does not serve."""
    header = _header(folder, settings)
    try:
        if not _PLACE.fullmatch(header["place"]):  # it could point outside
            raise ValueError
        runs, topics, ends = header["runs"], tuple(header["topics"]), header["ends"]
        lengths, dropped = ArrayFile(folder / header["place"] / _INDEX).read("lengths", "dropped")
        source = _blocks(folder / header["place"], [range(a, b) for a, b in pairwise((0, *ends))])
        parts = [range(a, b) for a, b in pairwise((0, *ends))]
        lengths = lengths.reshape(len(topics), len(runs))
        field = OpenField(topics, parts, lengths, np.array(header["ranked"], dtype=np.bool_), source)
        read = ReadField(
            field,
            list(runs),
            unpacked(dropped, header["dropped"]),
            tuple(Longer(*item) for item in header["longer"]),
            tuple(header["commented"]),
            tuple(header["files"]),
        )
    except DamagedError as error:
        raise DamagedStoreError(f"its tables are damaged: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedStoreError("its header is damaged") from error
    if header["sources"] != list(map(list, sources.items())):
        raise StaleCacheError(_what_changed(dict(header["sources"]), sources))
    return read


def _blocks(place: Path, parts: Sequence[range]) -> StoredBlocks:
    # whoever loads a block may stand in another folder: this process later on, or a worker
    files = ((os.path.abspath(place / block_name(part.start, part.stop)), len(part)) for part in parts)
    return StoredBlocks(tuple(files))


def _write(folder: Path, place: Path, read: ReadField, sources: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    # what says that the blocks of a place are a whole store
    dropped, texts = packed(read.dropped)
    lengths = read.field.lengths.astype(np.int32).ravel()
    write_arrays(place / _INDEX, {"lengths": lengths, "dropped": dropped}, {})
    header = {
        "format": FORMAT,
        "settings": dict(settings),
        "place": place.name,
        "topics": list(read.field.topics),
        "ends": [part.stop for part in read.field.parts],
        "ranked": read.field.ranked.tolist(),
        "runs": read.names,
        "dropped": texts,
        "longer": [[item.file, item.lines, item.first] for item in read.longer],
        "commented": list(read.commented),
        "files": list(read.files),
        "sources": [list(item) for item in sources.items()],
    }
    with replacing(folder / HEADER) as file:
        file.write(json.dumps({**header, "check": _digest(header)}, indent=1).encode("ascii"))


def _header(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    if not (folder / HEADER).exists():
        raise StaleCacheError("it is empty")
    try:
        header = json.loads(read_file(folder / HEADER))
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedStoreError(f"its header cannot be read ({error})") from error
    if not isinstance(header, dict):
        raise DamagedStoreError("its header is damaged")
    written = header.get("format")
    if isinstance(written, int) and written > FORMAT:
        raise InputError(
            f"the cache {folder} was written by a newer version of pt_reuse (format {written}; this one reads "
            f"{FORMAT}). Give another folder, or install a newer version.",
            argument="cache",
        )
    if written != FORMAT:
        raise StaleCacheError(f"it has format {written!r}, this version writes {FORMAT}")
    if header.pop("check", None) != _digest(header):
        raise DamagedStoreError("its header is damaged")
    if header["settings"] != dict(settings):
        changed = [key for key in settings if header["settings"].get(key) != settings[key]]
        differences = ", ".join(f"{key}={header['settings'].get(key)!r}, now {settings[key]!r}" for key in changed)
        raise StaleCacheError(f"it was made with {differences or 'other settings'}")
    return header


def _digest(header: Mapping[str, Any]) -> str:
    try:
        return hashlib.sha256(json.dumps(header).encode("ascii")).hexdigest()
    except RecursionError as error:
        raise DamagedStoreError("its header is damaged") from error


def _what_changed(kept: Mapping[str, str], sources: Mapping[str, str]) -> str:
    new = [path for path in sources if path not in kept]
    missing = [path for path in kept if path not in sources]
    changed = [path for path in sources if path in kept and kept[path] != sources[path]]
    parts = [
        f"{len(paths):,} {what} ({os.path.basename(paths[0])}{', ...' if len(paths) > 1 else ''})"
        for paths, what in ((new, "new"), (missing, "missing"), (changed, "changed"))
        if paths
    ]
    return "of its run files " + ", ".join(parts) if parts else "its run files stand in another order"


def _sweep(folder: Path, whether: Alone) -> None:
    """Remove what the manifest does not name: of writers that ended, and of stores of before."""
    older = 0.0 if whether is Alone.YES else STALE
    with suppress(OSError):
        for path in _left_over(folder) if whether is not Alone.NO else ():
            with suppress(OSError):
                if is_stale(path, older):
                    _remove(path)
        sweep_temporary(folder)


def _sweep_in_passing(folder: Path) -> None:
    # what writers that were killed left in a store which is only read
    with suppress(OSError):
        if _left_over(folder):
            with alone(folder) as whether:
                _sweep(folder, whether)


def _left_over(folder: Path) -> list[Path]:
    place = None
    with suppress(FileNotFoundError, ValueError, RecursionError, AttributeError):
        header = json.loads(read_file(folder / HEADER))
        place = header.get("place")
    there = [folder / name for name in os.listdir(folder)]
    found = [path for path in there if path.name != place and (is_temporary(path.name) or _OURS.fullmatch(path.name))]
    kept = [path for path in there if path.name == place and path.is_dir()]
    return found + [path for one in kept for path in one.iterdir() if is_temporary(path.name)]


def _remove(path: Path) -> None:
    """Remove a folder or file of a store; a folder in which the user keeps something else stays, with that."""
    with suppress(OSError):
        if path.is_symlink():
            return
        if not path.is_dir():
            path.unlink(missing_ok=True)
            return
        for inner in path.iterdir():
            if _FILES.fullmatch(inner.name) or is_temporary(inner.name):
                inner.unlink(missing_ok=True)
        path.rmdir()


def load_whole(folder: Path, sources: Mapping[str, str], settings: Mapping[str, Any]) -> ReadField:
    """Return the field kept in `folder`, in memory; a StaleCacheError says why it does not serve."""
    for _ in range(_OVERTAKEN):
        seen = _manifest(folder)
        try:
            read = load(folder, sources, settings)
            field = _in_memory(read.field)
        except DamagedStoreError:
            # another process may have replaced the store since its manifest was read
            if _manifest(folder) == seen:
                raise
            continue
        _sweep_in_passing(folder)
        return dataclasses.replace(read, field=field)
    raise StaleCacheError("other processes keep replacing it")


def _manifest(folder: Path) -> bytes | None:
    try:
        return read_file(folder / HEADER)
    except OSError:
        return None


def _in_memory(field: Any) -> Field:
    try:
        if len(field.parts) == 1:
            # scores, two thirds of it, are read when somebody asks for them
            return field.source.load(0, hold=True)
        found = field.take_topics(range(field.n_topics))
        forget_blocks()
        return Field(**{item.name: getattr(found, item.name) for item in dataclasses.fields(Field)})
    except DamagedBlockError as error:
        raise DamagedStoreError(error.clause) from error


def keep_whole(folder: Path, read: ReadField, sources: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Keep a field in memory: the block goes to a new folder, then the manifest is replaced, then all others go."""
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder) as whether:
        if whether is not Alone.NO:
            with _new_place(folder, whether) as place:
                for i, part in enumerate(read.field.parts):
                    write_block(place / block_name(part.start, part.stop), read.field.part(i))
                _write(folder, place, read, sources, settings)


@contextmanager
def _new_place(folder: Path, whether: Alone) -> Iterator[Path]:
    _sweep(folder, whether)
    place = folder / f"arrays-{secrets.token_hex(8)}"
    place.mkdir()
    try:
        yield place
    except BaseException:
        _remove(place)
        raise
    _sweep(folder, whether)


def check_keeping(folder: Path) -> None:
    """Raise where nothing can be kept in a folder."""
    check_writable(folder, [HEADER], overwrite=True, argument="cache")


def _tell_stale(folder: Path, stale: StaleCacheError) -> bool:
    """Say why a store does not serve, and return whether it can be written anew."""
    # before the runs are read: it may be long until they are
    try:
        check_keeping(folder)
    except InputError as error:
        warn(f"the cache {folder} is not used: {stale}; the runs are read again, but cannot be kept: {error}")
        return False
    warn(f"the cache {folder} is not used: {stale}; the runs are read again and kept anew.")
    return True


def _real_sources(paths: Sequence[Path], folder: Path, threads: int) -> tuple[list[str], dict[str, str]]:
    """Return the real paths of run files that are to be kept in a folder, and the checksums by these."""
    real = real_paths(paths)
    top = os.path.join(os.path.realpath(folder), "")
    links = [os.path.realpath(path) for path in paths if path.is_symlink()]
    if any(path.startswith(top) for path in (*real, *links)):
        raise InputError(
            f"cache {folder} holds the run files themselves. Give another folder for the cache.", argument="cache"
        )
    try:
        return real, fingerprints(list(dict.fromkeys(real)), threads)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error


def read_kept(
    paths: Sequence[Path],
    folder: Path,
    conventions: Conventions,
    *,
    threads: int,
    verbose: bool,
    memory: int | None = None,
) -> ReadField:
    """Return the field of some run files, kept in a folder: in memory, or within so many bytes block by block."""
    real, sources = _real_sources(paths, folder, threads)
    if memory is not None:
        reading = _Within(folder, conventions, Budget(memory, threads), sources, verbose=verbose)
        return reading.read(paths, real)
    settings = conventions.as_dict()
    if len(sources) < len(paths):
        # one file by two paths: reading it says what is wrong
        return parse_files(paths, conventions, threads=threads, verbose=verbose)
    try:
        return load_whole(folder, sources, settings).placed(dict(zip(real, map(str, paths), strict=True)))
    except StaleCacheError as stale:
        keeping = not (folder / HEADER).exists() or _tell_stale(folder, stale)
    found = parse_files(paths, conventions, threads=threads, verbose=verbose)
    if not keeping:
        return found
    try:
        if fingerprints(list(sources), threads) == sources:
            # another call may give the same files by other paths
            keep_whole(folder, found.placed(dict(zip(map(str, paths), real, strict=True))), sources, settings)
        else:
            warn(f"the run files changed while they were read, so they are not kept in {folder}. Read them again.")
    except OSError as error:
        warn(f"the runs were read but cannot be kept in {folder} ({error}).")
    return found


#: what the system says where a disk, or what a user may have of it, is full
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: seconds of waiting that nobody is told of: who only sweeps a folder has its lock for a moment
_NOT_TOLD = 1.0


@dataclasses.dataclass(frozen=True)
class _Within:
    """Reads run files into a store, block by block."""

    folder: Path
    conventions: Conventions
    budget: Budget
    sources: dict[str, str]
    verbose: bool

    def read(self, paths: Sequence[Path], real: Sequence[str]) -> ReadField:
        """Return the field of some run files, whose blocks lie in the folder."""
        shown = dict(zip(real, map(str, paths), strict=True))
        with suppress(StaleCacheError):
            kept = self._kept()
            _sweep_in_passing(self.folder)
            return kept.placed(shown)
        check_keeping(self.folder)
        with self._writing() as whether:
            try:
                return self._kept().placed(shown)  # another process has just done it
            except StaleCacheError as stale:
                if (self.folder / HEADER).exists():
                    _tell_stale(self.folder, stale)
            with _new_place(self.folder, whether) as place, self._spools() as spools:
                checks = [self.sources[path] for path in real]
                found = read_within(
                    paths, spools, place, self.conventions, self.budget, checks=checks, verbose=self.verbose
                )
                kept = found.placed(dict(zip(map(str, paths), real, strict=True)))
                _write(self.folder, place, kept, self.sources, self.conventions.as_dict())
            return found

    @contextmanager
    def _spools(self) -> Iterator[Path]:
        spools = self.folder / f"spools-{secrets.token_hex(8)}"
        spools.mkdir()
        try:
            yield spools
        finally:
            _remove(spools)

    def _kept(self) -> ReadField:
        read = load(self.folder, self.sources, self.conventions.as_dict())
        field: Any = read.field
        there = [Path(path) for path, _ in field.source.files]
        sizes = [path.stat().st_size if path.is_file() else 0 for path in there]
        if not all(sizes):
            raise StaleCacheError("a block of it is missing")
        if not self.budget.holds(max(sizes, default=0)):
            raise StaleCacheError(
                f"it has blocks of up to {in_units(max(sizes))}, with which one cannot work in "
                f"{in_units(self.budget.memory)}"
            )
        return read

    @contextmanager
    def _writing(self) -> Iterator[Alone]:
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
            why = error.strerror or str(error)
            if error.errno in _FULL:
                text = in_units(sum(os.path.getsize(path) for path in self.sources))
                free = in_units(shutil.disk_usage(self.folder).free)
                why = f"its disk is full; the run files have {text}, unpacked perhaps more, and {free} are free"
            raise InputError(
                f"the cache {self.folder} cannot be written: {why}. Make room and call again, or give another folder.",
                argument="cache",
            ) from error
