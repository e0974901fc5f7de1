"""A store: a field in a folder, block by block, with a manifest that says of which files and how it was made."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import Argument, InputError, warn
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
from pt_reuse.arrays.open_field import AnyField, OpenField, forget_blocks
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

FORMAT = 7  # to be raised when the files, their arrays or the hash of names change


class StaleCacheError(Exception):
    """The store does not hold what was asked for; the message is a clause that says why."""


class DamagedStoreError(StaleCacheError):
    """The store is not as it was written."""


@dataclass(frozen=True)
class Source:
    """A run file that a store was made of.

    Attributes:
        check: its checksum.
        size: its bytes.
        lines: its lines, 0 where nobody counted them.
    """

    check: str
    size: int = 0
    lines: int = 0


@dataclass(frozen=True)
class Layer:
    """Some of the runs and topics of a store, with blocks of their own.

    Attributes:
        place: the folder of the blocks.
        columns: the runs.
        topics: the topics.
        ends: of each block the number of the topic behind its last.
        lengths: (topics, columns) rows of each list.
        ranked: (columns,) which runs have a rank column.
    """

    place: str
    columns: tuple[int, ...]
    topics: tuple[str, ...]
    ends: tuple[int, ...]
    lengths: NDArray[np.int32]
    ranked: tuple[bool, ...]

    def blocks(self, folder: Path) -> StoredBlocks:
        """Return where its blocks are."""
        # whoever loads a block may stand in another folder: this process later on, or a worker
        return StoredBlocks(os.path.abspath(folder / self.place), tuple(pairwise((0, *self.ends))))

    def field(self, folder: Path) -> OpenField:
        """Return the field of the layer alone."""
        blocks = self.blocks(folder)
        ranked = np.array(self.ranked, dtype=np.bool_)
        return OpenField(self.topics, list(starmap(range, blocks.topics)), self.lengths, ranked, blocks)


@dataclass(frozen=True)
class Stored:
    """What the manifest of a store says.

    Attributes:
        sources: the run files by their paths.
        read: what was told of them; its field is that of all layers.
        layers: the parts of the field.
    """

    sources: dict[str, Source]
    read: ReadField
    layers: tuple[Layer, ...]


def fingerprints(paths: Sequence[str], threads: int) -> dict[str, str]:
    """Return the checksum of each source file by its path."""
    return dict(zip(paths, checksums(paths, threads), strict=True))


def field_of(folder: Path, layers: Sequence[Layer]) -> OpenField:
    """Return the field that layers of a store make."""
    fields = [layer.field(folder) for layer in layers]
    if len(fields) == 1:
        return fields[0]
    return OpenField.stacked(fields, [np.array(layer.columns, dtype=np.int64) for layer in layers])


def load(folder: Path, settings: Mapping[str, Any]) -> Stored:
    """Return what a store holds; its blocks are not looked at.

    Raises:
        StaleCacheError: there is none, it is damaged, or it was made in another way.
        InputError: it was written by a newer version.
    """
    header = _header(folder, settings)
    file = ArrayFile(folder / header["tables"])
    if not TABLES.fullmatch(header["tables"]):
        raise DamagedStoreError("its header is damaged")
    try:
        dropped, *lengths = file.read("dropped", *(f"lengths{i}" for i in range(len(header["layers"]))))
        layers = tuple(_layer(said, found) for said, found in zip(header["layers"], lengths, strict=True))
        rows = unpacked(dropped, header["dropped"])
    except DamagedError as error:
        raise DamagedStoreError(f"its tables are damaged: {error}") from error
    except ValueError as error:
        raise DamagedStoreError("its arrays do not fit each other") from error
    sources = {path: Source(*said) for path, said in header["sources"].items()}
    longer = tuple(Longer(*item) for item in header["longer"])
    commented, of_files = tuple(header["commented"]), tuple(header["files"])
    read = ReadField(field_of(folder, layers), list(header["runs"]), rows, longer, commented, of_files)
    return Stored(sources, read, layers)


def write(folder: Path, stored: Stored, settings: Mapping[str, Any]) -> None:
    """Write the manifest of a store whose blocks are there.

    Raises:
        OSError: it cannot be written.
    """
    read, tables = stored.read, new_name("tables")
    dropped, texts = packed(read.dropped)
    arrays = {f"lengths{i}": layer.lengths.ravel() for i, layer in enumerate(stored.layers)}
    write_arrays(folder / tables, {"dropped": dropped, **arrays}, {})
    header = {
        "format": FORMAT,
        "settings": dict(settings),
        "tables": tables,
        "layers": [
            {name: getattr(layer, name) for name in ("place", "columns", "topics", "ends", "ranked")}
            for layer in stored.layers
        ],
        "runs": read.names,
        "dropped": texts,
        "longer": [[item.file, item.lines, item.first] for item in read.longer],
        "commented": list(read.commented),
        "files": list(read.files),
        "sources": {path: [source.check, source.size, source.lines] for path, source in stored.sources.items()},
    }
    try:
        with replacing(folder / HEADER) as file:
            file.write(json.dumps({**header, "check": _digest(header)}, indent=1).encode("ascii"))
    except BaseException:
        (folder / tables).unlink(missing_ok=True)
        raise


def check_sources(kept: Mapping[str, Source], sources: Mapping[str, str]) -> None:
    """Raise unless a store was made of these files.

    Raises:
        StaleCacheError: of other files.
    """
    before = {path: source.check for path, source in kept.items()}
    if before != dict(sources) or list(before) != list(sources):
        raise StaleCacheError(_what_changed(before, sources))


def _layer(said: Mapping[str, Any], lengths: NDArray) -> Layer:
    columns, topics, ends, ranked = (tuple(said[name]) for name in ("columns", "topics", "ends", "ranked"))
    fits = len(lengths) == len(topics) * len(columns) and len(ranked) == len(columns)
    fits &= not topics or ends[-1] == len(topics)
    # the folder's name is checked so that a header cannot point outside
    if not LAYER.fullmatch(said["place"]) or not fits or list(ends) != sorted(set(ends)) or lengths.dtype != np.int32:
        raise DamagedStoreError("its header is damaged")
    return Layer(said["place"], columns, topics, ends, lengths.reshape(len(topics), len(columns)), ranked)


def _header(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    if not (folder / HEADER).exists():
        raise StaleCacheError("it is empty")
    try:
        header = read_manifest(folder)
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


HEADER = "pt_reuse-runs.json"
#: folders of blocks, and of runs as they were parsed, which a further call goes on with
LAYER = re.compile(r"arrays-[0-9a-f]{16}")
SPOOLS = re.compile(r"spools-[0-9a-f]{16}")
TABLES = re.compile(r"tables-[0-9a-f]{16}")
#: seconds after which nobody is expected to go on with what was begun
_GIVEN_UP = 7 * 86400.0
#: files in these folders: of blocks, of spools, and the arrays of stores as they were made before
_BLOCK = re.compile(r"\d+-\d+\.block")
_FILES = re.compile(
    rf"{_BLOCK.pattern}|rows|ranks|index|index-\d+|pieces"
    r"|(vocabulary|topic_docs|doc_starts|starts|codes|scores|long_names|dropped"
    r"|(file|rank)_(lists|starts|at|values))\.npy"
)
_SPOOL = re.compile(r"[0-9a-f]{32}")


def new_name(kind: str, of: str | None = None) -> str:
    """Return a name for ``"arrays"``, ``"spools"`` or ``"tables"``: one at random, or that of a key."""
    return f"{kind}-{secrets.token_hex(8) if of is None else of[:16]}"


def read_manifest(folder: Path) -> Any:
    """Return the manifest of a store, whatever it holds.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no JSON.
        RecursionError: it is too deep.
    """
    return json.loads(read_file(folder / HEADER))


def sweep_in_passing(folder: Path) -> None:
    """Remove what writers that were killed left in a store which is only read; see :func:`sweep`."""
    with suppress(OSError):
        if left_over(folder):
            with alone(folder) as whether:
                sweep(folder, whether)


def sweep(folder: Path, whether: Alone, *, finished: bool = False) -> None:
    """Remove what the manifest does not name: of writers that ended, and of stores of before.

    What was begun within memory stays for a week, so that a further call may go on with it.
    """
    if whether is Alone.NO:
        return
    older = 0.0 if whether is Alone.YES else STALE
    with suppress(OSError):
        for path in left_over(folder, finished=finished):
            with suppress(OSError):
                if is_stale(path, older):
                    remove(path)
        sweep_temporary(folder)


def left_over(folder: Path, *, finished: bool = False) -> list[Path]:
    """Return what :func:`sweep` removes.

    Raises:
        OSError: it may not be looked at.
    """
    named = _named(folder)
    there = os.listdir(folder)
    for name in there if not finished else ():
        key = name.removeprefix("spools-")
        if SPOOLS.fullmatch(name) and f"arrays-{key}" not in named and not is_stale(folder / name, _GIVEN_UP):
            named |= {name, f"arrays-{key}"}
    kinds = (LAYER, SPOOLS, TABLES)
    layers = [folder / name for name in there if name in named and LAYER.fullmatch(name)]
    return [
        *(
            folder / name
            for name in there
            if name not in named and (is_temporary(name) or any(kind.fullmatch(name) for kind in kinds))
        ),
        # blocks that never took their place
        *(path for layer in layers if layer.is_dir() for path in layer.iterdir() if is_temporary(path.name)),
        *(_other_blocks(folder) if finished else ()),
    ]


def _other_blocks(folder: Path) -> list[Path]:
    # a call that went on with less or more memory than the one before has cut the topics elsewhere
    held: dict[str, set[str]] = {}
    for layer in read_manifest(folder)["layers"]:
        names = {block_name(first, end) for first, end in pairwise((0, *layer["ends"]))}
        held.setdefault(layer["place"], set()).update(names)
    return [
        path
        for place, names in held.items()
        for path in (folder / place).iterdir()
        if _BLOCK.fullmatch(path.name) and path.name not in names
    ]


def remove(path: Path) -> None:
    """Remove a folder or file of a store; a folder in which the user keeps something else stays, with that."""
    with suppress(OSError):
        if path.is_symlink():
            return
        if not path.is_dir():
            path.unlink(missing_ok=True)
            return
        for inner in list(path.iterdir()):
            if _FILES.fullmatch(inner.name) or is_temporary(inner.name):
                inner.unlink(missing_ok=True)
            elif _SPOOL.fullmatch(inner.name):
                remove(inner)
        path.rmdir()


def _named(folder: Path) -> set[str]:
    """Return the names that the manifest of a store has, none where it cannot be read.

    Raises:
        OSError: there is one that may not be looked at.
    """
    try:
        header = read_manifest(folder)
    except (FileNotFoundError, ValueError, RecursionError):
        return set()
    if not isinstance(header, dict):
        return set()
    layers = header.get("layers")
    said = [layer.get("place") for layer in layers if isinstance(layer, dict)] if isinstance(layers, list) else []
    return {name for name in _texts([*said, header.get("tables"), header.get("arrays")])}


def _texts(values: Iterable[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


_OVERTAKEN = 20  # times that another process may replace the store while it is being read


def load_whole(folder: Path, sources: Mapping[str, str], settings: Mapping[str, Any]) -> ReadField:
    """Return the field kept in `folder`, or say why it does not serve.

    What writers that were killed left behind there is removed.

    Raises:
        StaleCacheError: it does not serve.
        InputError: it was written by a newer version.
    """
    for _ in range(_OVERTAKEN):
        seen = _manifest(folder)
        try:
            stored = load(folder, settings)
            check_sources(stored.sources, sources)
            field = _in_memory(stored.read.field)
        except DamagedStoreError:
            # another process may have replaced the store since its manifest was read
            if _manifest(folder) == seen:
                raise
            continue
        sweep_in_passing(folder)
        return dataclasses.replace(stored.read, field=field)
    raise StaleCacheError("other processes keep replacing it")


def keep_whole(folder: Path, read: ReadField, sources: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Keep a field in memory: the block goes to a new folder, then the manifest is replaced, then all others go.

    One process writes at a time. Where another one is writing now, nothing is kept.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder) as whether:
        if whether is Alone.NO:
            return
        sweep(folder, whether)
        place, field = new_name("arrays"), _in_memory(read.field)
        (folder / place).mkdir()
        try:
            write_block(folder / place / block_name(0, field.n_topics), field)
            columns, lengths = tuple(range(field.n_runs)), field.lengths.astype(np.int32)
            layer = Layer(place, columns, field.topics, (field.n_topics,), lengths, tuple(field.ranked.tolist()))
            write(folder, Stored({path: Source(check) for path, check in sources.items()}, read, (layer,)), settings)
        except BaseException:
            remove(folder / place)
            raise
        sweep(folder, whether)


def _in_memory(field: AnyField) -> Field:
    if isinstance(field, OpenField):
        try:
            blocks = len(field.parts)
            found = field.source.load(0) if blocks == 1 else field.take_topics(range(field.n_topics))
            forget_blocks()
            field = Field(**{item.name: getattr(found, item.name) for item in dataclasses.fields(Field)})
        except DamagedBlockError as error:
            raise DamagedStoreError(error.clause) from error
    return field


def _manifest(folder: Path) -> bytes | None:
    try:
        return read_file(folder / HEADER)
    except OSError:
        return None


def check_keeping(folder: Path) -> None:
    """Raise where nothing can be kept in a folder."""
    check_writable(folder, [HEADER], overwrite=True, argument="cache")


def tell_stale(folder: Path, stale: StaleCacheError) -> bool:
    """Say why a store does not serve, and return whether it can be written anew."""
    # before the runs are read: it may be long until they are
    try:
        check_keeping(folder)
    except InputError as error:
        warn(f"the cache {folder} is not used: {stale}; the runs are read again, but cannot be kept: ", error)
        return False
    warn(f"the cache {folder} is not used: {stale}; the runs are read again and kept anew.")
    return True


def real_sources(paths: Sequence[Path], folder: Path, threads: int) -> dict[str, str]:
    """Return the checksums of run files that are to be kept in a folder, by their real paths.

    Raises:
        InputError: the folder holds the run files, or one cannot be read.
    """
    real = real_paths(paths)
    top = os.path.join(os.path.realpath(folder), "")
    links = [os.path.realpath(path) for path in paths if path.is_symlink()]
    if any(path.startswith(top) for path in (*real, *links)):
        raise InputError(
            Argument("cache"),
            f" {folder} holds the run files themselves. Give another folder for the cache.",
            argument="cache",
        )
    try:
        return fingerprints(list(dict.fromkeys(real)), threads)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error


def read_kept(
    paths: Sequence[Path], folder: Path, conventions: Conventions, *, threads: int, verbose: bool
) -> ReadField:
    """Return the field of some run files, in memory, kept in a folder.

    Raises:
        InputError: as :func:`parse_files`; the store there was written by a newer version.
    """
    settings, sources = conventions.as_dict(), real_sources(paths, folder, threads)
    if len(sources) < len(paths):
        # one file by two paths: reading it says what is wrong
        return parse_files(paths, conventions, threads=threads, verbose=verbose)
    shown, real = dict(zip(sources, map(str, paths), strict=True)), dict(zip(map(str, paths), sources, strict=True))
    try:
        return load_whole(folder, sources, settings).placed(shown)
    except StaleCacheError as stale:
        keeping = not (folder / HEADER).exists() or tell_stale(folder, stale)
    found = parse_files(paths, conventions, threads=threads, verbose=verbose)
    if not keeping:
        return found
    try:
        if fingerprints(list(sources), threads) == sources:
            # another call may give the same files by other paths
            keep_whole(folder, found.placed(real), sources, settings)
        else:
            warn(f"the run files changed while they were read, so they are not kept in {folder}. Read them again.")
    except OSError as error:
        warn(f"the runs were read but cannot be kept in {folder} ({error}).")
    return found
