"""A coded field kept in a folder: plain arrays that are memory-mapped, and a small JSON header."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._files import STALE, Alone, alone, is_stale, is_temporary, replacing, sweep_temporary
from pt_reuse.engine import long_names, tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.places import Places
from pt_reuse.formats.checksum import checksums
from pt_reuse.formats.dropped_rows import packed, unpacked
from pt_reuse.formats.read_field import Beyond, ReadField

FORMAT = 7  # to be raised when the arrays, their order or the hash of names change
HEADER = "pt_reuse-runs.json"
#: array -> the kind of its numbers
_ARRAYS = {
    "vocabulary": "S",
    "topic_docs": "i",
    "doc_starts": "i",
    "starts": "i",
    "codes": "u",
    "scores": "f",
    "file_lists": "i",
    "file_starts": "i",
    "file_at": "u",
    "file_values": "u",
    "rank_lists": "i",
    "rank_starts": "i",
    "rank_at": "u",
    "rank_values": "u",
    "long_names": "u",
    "dropped": "i",
}
_PLACES = ("lists", "starts", "at", "values")
_FOLDER = re.compile(r"arrays-[0-9a-f]{16}")
_THREADS = 4  # that check arrays at once
_OVERTAKEN = 20  # times that another process may replace the arrays while they are being opened


class StaleCacheError(Exception):
    """The cache does not hold what was asked for; the message is a clause that says why."""


def fingerprints(paths: Sequence[str], threads: int) -> dict[str, str]:
    """Return the checksum of each source file by its path."""
    return dict(zip(paths, checksums(paths, threads), strict=True))


def load(folder: Path, sources: Mapping[str, str], settings: Mapping[str, Any]) -> ReadField:
    """Return the field kept in `folder`, or say why it does not serve.

    What writers that were killed left behind there is removed.
    """
    header = _read_header(folder, sources, settings)
    for _ in range(_OVERTAKEN):
        try:
            loaded = _load_arrays(folder, header)
        except StaleCacheError:
            # another process may have replaced the arrays since the header was read
            again = _read_header(folder, sources, settings)
            if again == header:
                raise
            header = again
        else:
            if _left_over(folder, header["arrays"]):
                with suppress(OSError), alone(folder) as whether:
                    _sweep(folder, whether)
            return loaded
    raise StaleCacheError("other processes keep replacing it")


def store(folder: Path, read: ReadField, sources: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Keep a field: the arrays go to a new folder, then the header is replaced, then all other arrays go.

    One process writes at a time. Where another one is writing now, nothing is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder) as whether:
        if whether is Alone.NO:
            return
        _sweep(folder, whether)
        _write(folder, read, sources, settings)
        _sweep(folder, whether)


def _write(folder: Path, read: ReadField, sources: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    before = _kept_place(folder)
    place = f"arrays-{secrets.token_hex(8)}"
    (folder / place).mkdir()
    try:
        dropped, texts = packed(read.dropped)
        for name, array in {**_arrays_of(read.field), "dropped": dropped}.items():
            np.save(_file_of(folder / place, name), array, allow_pickle=False)
        header = {
            "format": FORMAT,
            "settings": dict(settings),
            "arrays": place,
            "checksums": checksums([_file_of(folder / place, name) for name in _ARRAYS], _THREADS),
            "runs": read.names,
            "topics": list(read.field.topics),
            "dropped": texts,
            "beyond": read.beyond and asdict(read.beyond),
            "commented": list(read.commented),
            "files": list(read.files),
            "ranked": read.field.ranked.tolist(),
            "sources": dict(sources),
        }
        with replacing(folder / HEADER) as file:
            file.write(json.dumps({**header, "check": _digest(header)}, indent=1).encode("ascii"))
    except BaseException:
        _remove_arrays(folder / place)
        raise
    if before is not None and _FOLDER.fullmatch(before):
        _remove_arrays(folder / before)


def _left_over(folder: Path, place: str | None) -> list[Path]:
    # arrays that no header names, and files that never took their place
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in names if name != place and (_FOLDER.fullmatch(name) or is_temporary(name))]


def _sweep(folder: Path, whether: Alone) -> None:
    """Remove what writers left behind when they were killed; where there are no locks, what is old of it."""
    older = 0.0 if whether is Alone.YES else STALE
    if whether is Alone.NO:
        return
    try:
        place = _kept_place(folder)
    except OSError:
        return
    for path in _left_over(folder, place):
        with suppress(OSError):
            if _FOLDER.fullmatch(path.name) and is_stale(path, older):
                _remove_arrays(path)
    sweep_temporary(folder, older=older)


def _file_of(folder: Path, array: str) -> Path:
    return folder / f"{array}.npy"


def _remove_arrays(folder: Path) -> None:
    # only what this module wrote: a folder in which the user keeps something else stays
    try:
        if not folder.is_symlink():
            for name in _ARRAYS:
                _file_of(folder, name).unlink(missing_ok=True)
            folder.rmdir()
    except OSError:
        pass


def _kept_place(folder: Path) -> str | None:
    """Return the folder of arrays that the header names, None where there is none that could be read.

    Raises:
        OSError: there is a header that may not be looked at.
    """
    try:
        header = json.loads((folder / HEADER).read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    place = header.get("arrays") if isinstance(header, dict) else None
    return place if isinstance(place, str) else None


def _read_header(folder: Path, sources: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, Any]:
    if not (folder / HEADER).exists():
        raise StaleCacheError("it is empty")
    try:
        header = json.loads((folder / HEADER).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise StaleCacheError(f"its header cannot be read ({error})") from error
    if not isinstance(header, dict):
        raise StaleCacheError("its header is damaged")
    if header.get("format") != FORMAT:
        raise StaleCacheError(f"it has format {header.get('format')!r}, this version writes {FORMAT}")
    if header.pop("check", None) != _digest(header):
        raise StaleCacheError("its header is damaged")
    if header["settings"] != dict(settings):
        changed = [key for key in settings if header["settings"].get(key) != settings[key]]
        differences = ", ".join(f"{key}={header['settings'].get(key)!r}, now {settings[key]!r}" for key in changed)
        raise StaleCacheError(f"it was made with {differences or 'other settings'}")
    if header["sources"] != dict(sources) or list(header["sources"]) != list(sources):
        raise StaleCacheError(_what_changed(header["sources"], sources))
    return header


def _digest(header: Mapping[str, Any]) -> str:
    try:
        return hashlib.sha256(json.dumps(header).encode("ascii")).hexdigest()
    except RecursionError as error:
        raise StaleCacheError("its header is damaged") from error


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


def _load_arrays(folder: Path, header: Mapping[str, Any]) -> ReadField:
    # the folder's name is checked so that a header cannot point outside
    if not _FOLDER.fullmatch(header["arrays"]):
        raise StaleCacheError("its header is damaged")
    files = {name: _file_of(folder / header["arrays"], name) for name in _ARRAYS}
    for name, file in files.items():
        if not file.is_file():
            raise StaleCacheError(f"its array {name} is missing")
    try:
        found = checksums(list(files.values()), _THREADS)
    except OSError as error:
        raise StaleCacheError(f"its arrays cannot be read ({error})") from error
    for name, kept, now in zip(files, header["checksums"], found, strict=True):
        if kept != now:
            raise StaleCacheError(f"its array {name} is damaged")
    arrays = {name: _load_array(file, name) for name, file in files.items()}
    field = _field_of(arrays, topics=header["topics"], ranked=header["ranked"])
    if not _sound(field):
        raise StaleCacheError("its arrays do not fit each other")
    try:
        dropped = unpacked(arrays["dropped"], header["dropped"])
    except ValueError as error:
        raise StaleCacheError("its arrays do not fit each other") from error
    beyond = Beyond(**header["beyond"]) if header["beyond"] else None
    commented, of_files = tuple(header["commented"]), tuple(header["files"])
    return ReadField(field, list(header["runs"]), dropped, beyond, commented, of_files)


def _load_array(file: Path, name: str) -> NDArray:
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise StaleCacheError(f"its array {name} cannot be read ({error})") from error
    if array.dtype.kind != _ARRAYS[name] or array.ndim != 1:
        raise StaleCacheError(f"its array {name} is damaged")
    # np.memmap subclasses cost microseconds at every slice: keep the map, drop the subclass
    return np.asarray(array)


def _arrays_of(field: Field) -> dict[str, NDArray]:
    long = tokens.long_names_in(tokens.as_words(field.vocabulary))
    return {
        "vocabulary": field.vocabulary,
        "topic_docs": field.topic_docs,
        "doc_starts": field.doc_starts,
        "starts": field.starts,
        "codes": field.codes,
        "scores": field.scores,
        **{f"file_{part}": getattr(field.file, part) for part in _PLACES},
        **{f"rank_{part}": getattr(field.rank, part) for part in _PLACES},
        "long_names": np.frombuffer(b"\0".join(long), dtype=np.uint8),
    }


def _field_of(arrays: Mapping[str, NDArray], *, topics: Sequence[str], ranked: Sequence[bool]) -> Field:
    if len(arrays["long_names"]):
        long_names.keep(arrays["long_names"].tobytes().split(b"\0"))
    return Field(
        n_runs=len(ranked),
        topics=tuple(topics),
        vocabulary=arrays["vocabulary"],
        topic_docs=arrays["topic_docs"],
        doc_starts=arrays["doc_starts"],
        starts=arrays["starts"],
        codes=arrays["codes"],
        scores=arrays["scores"],
        file=Places(*(arrays[f"file_{part}"] for part in _PLACES)),
        rank=Places(*(arrays[f"rank_{part}"] for part in _PLACES)),
        ranked=np.array(ranked, dtype=np.bool_),
    )


def _sound(field: Field) -> bool:
    starts, doc_starts = field.starts, field.doc_starts
    if len(starts) != field.n_topics * field.n_runs + 1 or len(doc_starts) != field.n_topics + 1:
        return False
    if not _are_starts(starts, len(field.codes)) or not _are_starts(doc_starts, len(field.topic_docs)):
        return False
    if len(field.codes) != len(field.scores):
        return False
    if len(field.topic_docs) and not 0 <= field.topic_docs.min() <= field.topic_docs.max() < len(field.vocabulary):
        return False
    if field.vocabulary.dtype.itemsize % 8 or not all(_fit(places, starts) for places in (field.file, field.rank)):
        return False
    full = np.flatnonzero(np.diff(starts[:: field.n_runs]))
    tops = np.maximum.reduceat(field.codes, starts[full * field.n_runs]) if len(full) else field.codes
    return bool((tops < np.diff(doc_starts)[full]).all())


def _are_starts(starts: NDArray[np.int64], end: int) -> bool:
    return bool(starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())


def _fit(places: Places, starts: NDArray[np.int64]) -> bool:
    lists = places.lists
    if len(places.starts) != len(lists) + 1 or len(places.at) != len(places.values):
        return False
    if not _are_starts(places.starts, len(places.values)) or not np.diff(places.starts).all():
        return False
    if len(lists) and not (lists[0] >= 0 and lists[-1] < len(starts) - 1 and (np.diff(lists) > 0).all()):
        return False
    if not len(lists):
        return True
    # in each list the rows ascend from 1 on, and neither they nor their places go beyond its end
    ascend = places.at[1:] > places.at[:-1]
    ascend[places.starts[1:-1] - 1] = True
    ends = np.maximum(places.at[places.starts[1:] - 1], np.maximum.reduceat(places.values, places.starts[:-1]))
    return bool(ascend.all() and (places.at[places.starts[:-1]] > 0).all() and (ends <= np.diff(starts)[lists]).all())
