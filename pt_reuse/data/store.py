"""A store: a field in one ``.npz`` file of arrays, block by block, with notes that say of which files it was made."""

from __future__ import annotations

import json
import os
import secrets
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from pt_reuse._files import TREE, open_file, replacing, sweep_temporary, temporary
from pt_reuse._jobs import folder_for_jobs
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField, Field, OpenField, Stacked, Stepped, StoredField, cut_topics, forget_blocks
from pt_reuse.data.dropped import left_out
from pt_reuse.data.metadata import real_paths
from pt_reuse.data.parsing import BlocksWithin, Conventions, ReadField, changed, parse_files, rows_at_once
from pt_reuse.errors import InputError, warn

_NOTES = "notes.json"


class DamagedError(Exception):
    """A file of arrays that is missing, altered or not what was asked for; the message is a clause about it."""


@contextmanager
def writing(path: Path) -> Iterator[ZipFile]:
    """Open a file of arrays, which takes its place only when it is whole."""
    with replacing(path) as file, ZipFile(file, "w") as archive:
        yield archive


def add_array(archive: ZipFile, name: str, array: NDArray) -> None:
    """Write an array to a file that is open."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def write_arrays(path: Path, arrays: Mapping[str, NDArray], notes: Mapping[str, Any]) -> None:
    """Write arrays and what JSON can hold; the file takes its place only when it is whole."""
    with writing(path) as archive:
        for name, array in arrays.items():
            add_array(archive, name, array)
        archive.writestr(_NOTES, json.dumps(notes))


class ArrayFile:
    """A file of arrays that is held open, so that it can be read when its path leads elsewhere."""

    def __init__(self, path: Path):
        self.path = path
        with _damage_told():
            file = open_file(path)
            try:
                self._archive = ZipFile(file)
            except BaseException:
                file.close()
                raise
        self._close = weakref.finalize(self, file.close)

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @cached_property
    def notes(self) -> dict[str, Any]:
        """Return what was written beside the arrays; raise a DamagedError where it cannot be read."""
        with _damage_told():
            return dict(json.loads(self._archive.read(_NOTES)))

    def read(self, *names: str) -> list[NDArray]:
        """Return some arrays; raise a DamagedError where one is not as it was written."""
        with _damage_told():
            return [_read(self._archive, name) for name in names]


def _read(archive: ZipFile, name: str) -> NDArray:
    # whole, which compares the checksum; the array is a view of it, which numpy's own reader would copy piece by piece
    data = archive.read(f"{name}.npy")
    member = BytesIO(data)
    np.lib.format.read_magic(member)
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
    return np.frombuffer(data, dtype, offset=member.tell()).reshape(shape, order="F" if fortran else "C")


@contextmanager
def _damage_told() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise DamagedError("it is missing") from error
    except OSError as error:
        raise DamagedError(f"it cannot be read ({error.strerror or error})") from error
    except Exception as error:
        # zipfile, numpy and json have classes of their own for what they find wrong; all mean damage
        raise DamagedError(f"it is damaged ({error})") from error


FORMAT = 11  # to be raised when the file, its arrays or the hash of names change
NAME = "pt_reuse-runs.npz"
_ARRAYS = ("vocabulary", "topic_docs", "doc_starts", "starts", "codes", "ranked", "scores", "file", "rank")
_CHUNK = 1 << 20  # bytes of a source file that are summed up at once
_ROWS = 1 << 21  # rows of a block that is written for workers


#: each source file, by its real path, with its size and checksum
Sources: TypeAlias = list[list[str]]


# ---- a field as a file


def write_field(
    path: Path, blocks: Iterable[Field], ranked: NDArray[np.bool_], more: Callable[[], dict[str, Any]] = dict
) -> None:
    """Write a field whose blocks come one by one, and `more` notes, asked for behind the last of them."""
    topics: list[str] = []
    ends, lengths = [], [np.zeros((0, len(ranked)), dtype=np.int32)]
    with writing(path) as archive:
        for i, block in enumerate(blocks):
            for name in _ARRAYS:
                add_array(archive, f"{i}/{name}", getattr(block, name))
            add_array(archive, f"{i}/long_names", np.frombuffer(b"\0".join(block._long_names()), dtype=np.uint8))
            topics += block.topics
            ends.append(len(topics))
            lengths.append(block.lengths.astype(np.int32))
        add_array(archive, "lengths", np.concatenate(lengths))
        field = {"topics": topics, "ends": ends, "ranked": ranked.tolist()}
        notes = {**field, "mark": secrets.token_hex(16), **more()}
        archive.writestr(_NOTES, json.dumps(notes))


def open_field(path: Path) -> OpenField:
    """Return the field in a file, whose blocks are read when they are needed; a DamagedError where it is none."""
    file = ArrayFile(path)
    notes = file.notes
    (lengths,) = file.read("lengths")
    parts = [range(a, b) for a, b in pairwise((0, *notes["ends"]))]
    blocks = StoredBlocks(file, tuple(range(len(parts))))
    return OpenField(notes["topics"], parts, lengths, np.array(notes["ranked"], dtype=np.bool_), blocks)


@dataclass(frozen=True, eq=False)
class StoredBlocks:
    """Blocks in a file, which is opened once in a process, however often this is copied to it."""

    file: ArrayFile
    blocks: tuple[int, ...]

    def only(self, blocks: Sequence[int]) -> StoredBlocks:
        """Return some of the blocks."""
        return StoredBlocks(self.file, tuple(self.blocks[i] for i in blocks))

    def load(self, i: int) -> Field:
        """Return a block, whose arrays are read when they are needed."""
        file, at = self.file, self.blocks[i]

        def read(name: str) -> Any:
            with _telling(file.path):
                if name == "vocabulary" and len((long_names := file.read(f"{at}/long_names"))[0]):
                    tokens.keep_long_names(long_names[0].tobytes().split(b"\0"))
                return file.read(f"{at}/{name}")[0]

        with _telling(file.path):
            first, end = (0, *file.notes["ends"])[at : at + 2]
            return StoredField.later(len(file.notes["ranked"]), tuple(file.notes["topics"][first:end]), read)

    def __reduce__(self) -> tuple[Any, ...]:
        # who gets it may stand in another folder
        return _opened_again, (os.path.abspath(self.file.path), self.file.notes["mark"], self.blocks)


def _opened_again(path: str, mark: str, blocks: tuple[int, ...]) -> StoredBlocks:
    return StoredBlocks(_file(path, mark), blocks)


@lru_cache(maxsize=4)
def _file(path: str, mark: str) -> ArrayFile:
    with _telling(Path(path)):
        file = ArrayFile(Path(path))
        same = file.notes.get("mark") == mark
    if not same:
        raise InputError(f"the cache {path} was made anew after these runs were read. Read the runs again.")
    return file


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except DamagedError as error:
        raise InputError(f"the cache {path} cannot be used: {error}. Delete it and read the runs again.") from error


@contextmanager
def on_disk(field: AnyField) -> Iterator[OpenField]:
    """Give a field whose blocks all lie on disk; those of a field in memory lie there while the context lasts."""
    if isinstance(field, OpenField) and not _holds_arrays(field):
        yield field
        return
    with folder_for_jobs() as folder:
        whole = map(field.part, range(len(field.parts)))
        blocks = (block.block(part) for block in whole for part in cut_topics(block, _ROWS))
        write_field(Path(folder) / NAME, blocks, field.ranked)
        yield open_field(Path(folder) / NAME)


def _holds_arrays(field: AnyField) -> bool:
    if isinstance(field, Field):
        return True
    source = field.source
    while isinstance(source, Stepped):
        source = source.source
    return isinstance(source, Stacked) and any(_holds_arrays(part) for part in source.fields)


# ---- a cache of run files


def fingerprints(paths: Sequence[str], threads: int) -> Sources:
    """Return each source file with its size and checksum."""
    # the checksum of the zip format, as fast as there is one
    try:
        from isal.isal_zlib import crc32
    except ImportError:
        from zlib import crc32

    def of(path: str) -> list[str]:
        check, size, buffer = 0, 0, memoryview(bytearray(_CHUNK))
        try:
            with open_file(path, buffering=0) as file:
                while n := file.readinto(buffer):
                    check, size = crc32(buffer[:n], check), size + n
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from error
        return [path, f"{size}-{check:08x}"]

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(of, paths))


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
    real, store = real_paths(paths), folder / NAME
    top = os.path.join(os.path.realpath(folder), "")
    if any(path.startswith(top) for path in (*real, *map(os.path.realpath, filter(os.path.islink, paths)))):
        raise InputError(f"cache {folder} holds the run files themselves. Give another folder.", argument="cache")
    settings = {option.name: getattr(conventions, option.name) for option in fields(Conventions)}
    made_of = {"format": FORMAT, "settings": settings, "sources": fingerprints(real, threads)}

    def write(blocks: Iterable[Field], ranked: NDArray[np.bool_], read_field: Callable[[], ReadField]) -> None:
        def notes() -> dict[str, Any]:
            read = read_field()
            found = {"runs": read.names, "longer": read.longer, "files": read.files}
            cells = read.dropped.astype(object).where(read.dropped.notna(), None).to_dict("list")
            # a file is its place among all
            place = {str(path): i for i, path in enumerate(paths)}
            cells["file"] = [place[file] for file in cells["file"]]
            return {**made_of, **found, "dropped": cells}

        # files that changed while they were read
        if fingerprints(real, threads) != made_of["sources"]:
            raise changed()
        folder.mkdir(parents=True, exist_ok=True)
        write_field(store, blocks, ranked, notes)

    try:
        return _kept(store, made_of, paths, memory)
    except DamagedError as stale:
        if store.exists():
            warn(f"the cache {folder} is not used: {stale}; the runs are read again.")
    if memory is None:
        read = parse_files(paths, conventions, threads=threads, verbose=verbose)
        try:
            write(map(read.field.part, range(len(read.field.parts))), read.field.ranked, lambda: read)
        except (InputError, OSError) as error:
            warn(f"the runs were read but cannot be kept in {folder}: {error}")
        return read
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with temporary(folder, of_files=True) as stage:
            (spools := stage / TREE).mkdir()
            made = BlocksWithin(paths, spools, conventions, memory, threads=threads, verbose=verbose)
            write(made.blocks(verbose=verbose), made.ranked, made.read_field)
    except OSError as error:
        raise InputError(
            f"the cache {folder} cannot be written: {error.strerror or error}. Make room.", argument="cache"
        ) from error
    return _kept(store, made_of, paths, memory)


def _kept(store: Path, made_of: Mapping[str, Any], paths: Sequence[Path], memory: int | None) -> ReadField:
    """Return what is kept, within so many bytes or in memory; a DamagedError says why it does not serve."""
    if not store.exists():
        raise DamagedError("it is empty")
    sweep_temporary(store.parent)
    try:
        field = open_field(store)
        source: Any = field.source
        notes = source.file.notes
        if odd := [key for key in made_of if notes[key] != made_of[key]]:
            what = {"format": "another version", "settings": "other settings"}.get(odd[0], "other run files")
            raise DamagedError(f"it was made of {what}, or these have changed")
        # a topic alone cannot be cut
        sizes = [int(field.lengths[part.start : part.stop].sum()) for part in field.parts if len(part) > 1]
        if memory is not None and max(sizes, default=0) > rows_at_once(memory):
            raise DamagedError(f"it has blocks of {max(sizes):,} rows, with which one cannot work in this memory")
        cells = notes["dropped"]
        dropped = left_out(len(cells["file"]), **{**cells, "file": [str(paths[i]) for i in cells["file"]]})
        kept: AnyField = field
        if memory is None:
            kept = source.load(0) if len(field.parts) == 1 else field.take_topics(range(field.n_topics))
            forget_blocks()
        return ReadField(kept, notes["runs"], dropped, notes["longer"], notes["files"])
    except (InputError, LookupError, TypeError, ValueError) as error:
        raise DamagedError("it is damaged") from error
