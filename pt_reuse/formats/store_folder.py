"""The folder of a store: what lies in it by which name, and what goes from it that nobody needs."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from pt_reuse._files import STALE, Alone, alone, is_stale, is_temporary, read_file, sweep_temporary
from pt_reuse.formats.stored_blocks import block_name

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

    Args:
        folder: of the store.
        whether: nobody else works in it; where that is not known only what is old goes.
        finished: no further call will go on with anything.
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
