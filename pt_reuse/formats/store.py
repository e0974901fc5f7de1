"""A store: a field in a folder, block by block, with a manifest that says of which files and how it was made."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import InputError
from pt_reuse._files import replacing
from pt_reuse.engine.open_field import OpenField
from pt_reuse.formats.array_file import ArrayFile, DamagedError, write_arrays
from pt_reuse.formats.checksum import checksums
from pt_reuse.formats.dropped_rows import packed, unpacked
from pt_reuse.formats.read_field import Longer, ReadField
from pt_reuse.formats.store_folder import HEADER, LAYER, TABLES, new_name, read_manifest
from pt_reuse.formats.stored_blocks import StoredBlocks

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
