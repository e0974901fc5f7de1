"""A coded field kept in a folder: plain arrays that are memory-mapped, and a small JSON header."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from pt_reuse.engine.field import Field
from pt_reuse.engine.files import fingerprint, replacing

FORMAT = 1
HEADER = "pt_reuse-runs.json"
_ARRAYS = {
    "vocabulary": "S", "topic_docs": "i", "doc_starts": "i", "starts": "i", "codes": "u", "scores": "f",
}  # fmt: skip
_FOLDER = re.compile(r"arrays-[0-9a-f]{16}")


class StaleCacheError(Exception):
    """The cache does not hold what was asked for; the message is a clause that says why."""


def fingerprints(paths: list[Path], threads: int) -> dict[str, str]:
    """Return the SHA-256 of each source file by its path."""
    with ThreadPoolExecutor(threads) as pool:
        return dict(zip([str(path) for path in paths], pool.map(fingerprint, paths), strict=True))


def load(folder: Path, sources: Mapping[str, str], settings: Mapping[str, Any]) -> tuple[Field, list[str]]:
    """Return the field and the run names kept in `folder`, or say why they do not serve."""
    header = _read_header(folder)
    if header.get("format") != FORMAT:
        raise StaleCacheError(f"it has format {header.get('format')!r}, this version writes {FORMAT}")
    if header.get("settings") != dict(settings):
        raise StaleCacheError(f"it was made with {header.get('settings')}, asked for is {dict(settings)}")
    kept = header.get("sources")
    if kept != dict(sources):
        raise StaleCacheError(_what_changed(kept if isinstance(kept, dict) else {}, sources))
    return _load_arrays(folder, header)


def store(folder: Path, field: Field, names: list[str], sources: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Keep a field: the arrays go to a new folder, then the header is replaced, then older arrays go."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = f"arrays-{secrets.token_hex(8)}"
    (folder / arrays).mkdir()
    try:
        for name in _ARRAYS:
            np.save(folder / arrays / f"{name}.npy", getattr(field, name), allow_pickle=False)
        header = {
            "format": FORMAT, "settings": dict(settings), "arrays": arrays, "runs": names,
            "topics": list(field.topics), "sources": dict(sources),
        }  # fmt: skip
        with replacing(folder / HEADER) as file:
            file.write(json.dumps(header, indent=1).encode("utf-8"))
    except BaseException:
        shutil.rmtree(folder / arrays, ignore_errors=True)
        raise
    for other in folder.iterdir():
        if _FOLDER.fullmatch(other.name) and other.name != arrays and other.is_dir():
            shutil.rmtree(other, ignore_errors=True)


def _read_header(folder: Path) -> dict[str, Any]:
    if not (folder / HEADER).exists():
        raise StaleCacheError("it is empty")
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StaleCacheError(f"its header cannot be read ({error})") from error
    if not isinstance(header, dict):
        raise StaleCacheError("its header is not a JSON object")
    return header


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


def _load_arrays(folder: Path, header: Mapping[str, Any]) -> tuple[Field, list[str]]:
    names, topics, place = header.get("runs"), header.get("topics"), header.get("arrays")
    texts = all(isinstance(item, list) and all(isinstance(text, str) for text in item) for item in (names, topics))
    # the folder's name is checked so that a header cannot point outside
    if not texts or not isinstance(place, str) or not _FOLDER.fullmatch(place):
        raise StaleCacheError("its header is damaged")
    arrays = {}
    for name, kind in _ARRAYS.items():
        try:
            array = np.load(folder / place / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise StaleCacheError(f"its array {name} cannot be read ({error})") from error
        if array.dtype.kind != kind or array.ndim != 1:
            raise StaleCacheError(f"its array {name} is damaged")
        # np.memmap subclasses cost microseconds at every slice: keep the map, drop the subclass
        arrays[name] = np.asarray(array)
    field = Field(n_runs=len(names or []), topics=tuple(topics or []), **arrays)
    if not _sound(field):
        raise StaleCacheError("its arrays do not fit each other")
    return field, list(names or [])


def _sound(field: Field) -> bool:
    starts, doc_starts = field.starts, field.doc_starts
    if len(starts) != field.n_topics * field.n_runs + 1 or len(doc_starts) != field.n_topics + 1:
        return False
    if starts[0] != 0 or doc_starts[0] != 0 or (np.diff(starts) < 0).any() or (np.diff(doc_starts) < 0).any():
        return False
    if len(field.codes) != starts[-1] or len(field.scores) != starts[-1] or len(field.topic_docs) != doc_starts[-1]:
        return False
    if len(field.topic_docs) and not 0 <= field.topic_docs.min() <= field.topic_docs.max() < len(field.vocabulary):
        return False
    n_docs = np.diff(doc_starts)
    tops = [field.codes[field.rows(t)].max(initial=0) < max(n, 1) for t, n in enumerate(n_docs.tolist())]
    return field.vocabulary.dtype.itemsize % 8 == 0 and all(tops)
