"""The files of runs, and what an ir_metadata header in them says of the run."""

from __future__ import annotations

import os
import stat
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from pt_reuse._check import examples, shown
from pt_reuse._files import user_path
from pt_reuse._text import shorten
from pt_reuse.data.metadata import GivenMetadata, given_metadata
from pt_reuse.data.packed_files import UnreadableError, read_beginning
from pt_reuse.errors import InputError, warn

#: bytes of the longest header that is read
MOST_BYTES = 1 << 16
_LONGEST = 200  # characters of a name
_BOM = b"\xef\xbb\xbf"
_TYPES = {**dict.fromkeys(("true", "yes", "on"), "automatic"), **dict.fromkeys(("false", "no", "off"), "manual")}
#: what stands where nobody filled in the form
_NOTHING = {"", "~", "null", "enter_value_here"}


def labelled_table(
    given: GivenMetadata, names: Sequence[str], paths: Sequence[Path], base: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the table of some runs: what the user gives, and what their files say where the user gives nothing."""
    headers = {path: header_of(path) for path in dict.fromkeys(paths)}
    known = given_metadata().table(names) if base is None else base.copy()
    for column in ("team", "type"):
        said = [headers[path].get(column) for path in paths]
        values = [before if value is None else value for value, before in zip(said, known[column], strict=True)]
        known[column] = pd.Series(values, dtype=object)
    return given.table(names, known)


def header_of(path: Path) -> Mapping[str, str]:
    """Return what the first lines of a run file say of its run: its ``team`` and ``type``, where they do."""
    if not (text := _header(path)):
        return {}
    try:
        # not the loader in C: it may crash where a text is nested without end; references are not followed
        root = next(iter(yaml.compose_all(text, Loader=yaml.SafeLoader)), None)
    except (yaml.YAMLError, ValueError, RecursionError):
        warn("its ir_metadata is left aside: it is no YAML.", place=str(path))
        return {}
    found = {"team": _value(root, "actor", "team")}
    found["type"] = _TYPES.get((_value(root, "method", "automatic") or "").lower())
    return {column: value for column, value in found.items() if value is not None}


def _header(path: Path) -> str:
    """Return the lines between the marks of ir_metadata, nothing where there are none."""
    try:
        # a pipe can be read once only, by whoever reads the run
        begins = read_beginning(path, len(_BOM) + 1) if stat.S_ISREG(path.stat().st_mode) else b""
        if not begins.removeprefix(_BOM).startswith(b"#"):
            return ""
        text = read_beginning(path, MOST_BYTES).removeprefix(_BOM).decode("utf-8", "replace")
    except (OSError, UnreadableError):
        # whoever reads the run says what is wrong with it
        return ""
    lines: list[str] | None = None
    for line in text.splitlines():
        if not line.startswith("#") or line[1:].strip() == "ir_metadata.end":
            break
        if lines is not None:
            lines.append(line[1:])
        elif line[1:].strip() == "ir_metadata.start":
            lines = []
    return textwrap.dedent("\n".join(lines or []))


def _value(node: yaml.Node | None, *keys: str) -> str | None:
    """Return the name to which some keys lead, None where there is none or nobody filled in the form."""
    for key in keys:
        items = node.value if isinstance(node, yaml.MappingNode) else []
        node = {name.value: value for name, value in items if isinstance(name, yaml.ScalarNode)}.get(key)
    value = node.value.strip() if isinstance(node, yaml.ScalarNode) else ""
    is_name = value.lower() not in _NOTHING and len(value) <= _LONGEST and value.isprintable()
    return value if is_name else None


def run_paths(source: str | Path | Iterable[str | Path], argument: str = "source") -> list[Path]:
    """Return the files that a source of :func:`read_runs` stands for."""
    try:
        return _paths(source, argument)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        # no permission to look, a name too long, a NUL byte in a name
        why = getattr(error, "strerror", error)
        raise InputError(f"{shorten(str(source), 200)} cannot be looked up: {why}.", argument=argument) from error


def _paths(source: Any, argument: str) -> list[Path]:
    def refused(problem: str) -> InputError:
        return InputError(f"{problem} Give a folder with run files, a pattern, or several files.", argument=argument)

    if isinstance(source, str | os.PathLike) and str(source):
        path = user_path(source)
        if path.is_file():
            return [path]
        if path.is_dir():
            with os.scandir(path) as entries:
                # whatever is no folder is meant to be a run: a dangling link or a pipe is told when it is read
                there = sorted(item.name for item in entries if not item.is_dir() and not item.name.startswith("."))
            found = [path / name for name in there]
        else:
            found = [Path(name) for name in sorted(glob(str(path), recursive=True))]
        if not found:
            what = "a folder without files" if path.is_dir() else "no file, and no file matches it as a pattern"
            raise refused(f"{path} is {what}.")
        if path.is_dir():
            return found
        source = found
    if not isinstance(source, Iterable) or isinstance(source, str | bytes | Mapping | pd.DataFrame):
        raise refused(f"got {shown(source)}, no files.")
    items = sorted(source, key=str) if isinstance(source, set | frozenset) else list(source)
    odd = [item for item in items if not isinstance(item, str | os.PathLike) or not str(item)]
    paths = [] if odd else [user_path(item) for item in items]
    folders, missing = [item for item in paths if item.is_dir()], [item for item in paths if not item.exists()]
    twice = [item for item, times in Counter(paths).items() if times > 1]
    if odd or not paths:
        raise refused(f"expected paths of files, got {examples(odd)}." if odd else "no files given.")
    if folders:
        raise refused(f"{folders[0]} is a folder among files.")
    if missing:
        raise refused(f"{missing[0]}: no such file.")
    if twice:
        raise refused(f"{examples(twice)} given more than once.")
    return paths


def real_paths(paths: Sequence[Path]) -> list[str]:
    """Return the paths as strings with links to folders followed, as they name the sources of a cache."""
    folders = {folder: os.path.realpath(folder) for folder in {path.parent for path in paths}}
    return [os.path.join(folders[path.parent], path.name) for path in paths]
