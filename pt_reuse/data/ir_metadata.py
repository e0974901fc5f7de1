"""The files of runs, and what ir_metadata beside or in them says."""

from __future__ import annotations

import os
import re
import stat
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from pt_reuse._check import count, examples, shown
from pt_reuse._files import user_path
from pt_reuse._text import shorten
from pt_reuse.data.lines import is_commented
from pt_reuse.data.metadata import GivenMetadata, given_metadata
from pt_reuse.data.packed_files import UnreadableError, read_beginning
from pt_reuse.data.tables import is_table
from pt_reuse.errors import InputError, warn

#: bytes of the longest header that is read
MOST_BYTES = 1 << 16
_LONGEST = 200  # characters of a name
_BOM = b"\xef\xbb\xbf"
_START, _END = "ir_metadata.start", "ir_metadata.end"
#: what ends the name of a packed file, and that of a text
_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)\Z")
_TEXT = re.compile(r"\.(txt|run|res|trec|tsv)\Z")
_YAML = (".yaml", ".yml")
_CALLED = ("ir_metadata", "ir-metadata")
#: of the one run of a folder
OF_FOLDER = tuple(f"{dot}{called}{ending}" for called in _CALLED for ending in _YAML for dot in ("", "."))
_TYPES = {**dict.fromkeys(("true", "yes", "on"), "automatic"), **dict.fromkeys(("false", "no", "off"), "manual")}
#: what stands where nobody filled in the form
_NOTHING = {"", "~", "null", "enter_value_here"}


@dataclass(frozen=True)
class Note:
    """What is said of one run; None where nothing is."""

    tag: str | None = None  # its name
    team: str | None = None  # who submitted it
    type: str | None = None  # ``"automatic"`` or ``"manual"``


class _BadYamlError(Exception):
    """A text that is no YAML, or not such as one reads from strangers; the message is a clause."""


def labelled_table(
    given: GivenMetadata,
    names: Sequence[str],
    paths: Sequence[Path],
    *,
    by_tag: bool,
    commented: Collection[Path] | None = None,
    base: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the table of some runs: what the user gives, and what their files say where the user gives nothing."""
    of_path = read_notes([path for path in dict.fromkeys(paths) if not is_table(path)], commented)
    notes = {name: of_path[path] for name, path in zip(names, paths, strict=True) if path in of_path}
    if not notes:
        return given.table(names, base)
    if by_tag:
        _warn_of_tags(names, notes)
    said = {
        column: {name: value for name, note in notes.items() if (value := getattr(note, column)) is not None}
        for column in ("team", "type")
    }
    known = given_metadata().table(names) if base is None else base
    for column, values in said.items():
        before = dict(zip(names, known[column], strict=True))
        known[column] = pd.Series([values.get(name, before[name]) for name in names], dtype=object)
    table = given.table(names, known)
    for column, values in said.items():
        _warn_of_conflicts(column, values, dict(zip(names, table[column], strict=True)))
    return table


def read_notes(paths: Sequence[Path], commented: Collection[Path] | None = None) -> dict[Path, Note]:
    """Return what the files of runs say of these, in their first lines or in a YAML file beside them."""
    notes: dict[Path, Note] = {}
    beside = _yaml_files(paths)
    for path in paths:
        header = _header(path) if commented is None or path in commented else None
        place = path if header is not None else beside.get(path)
        if place is None:
            continue
        try:
            notes[path] = _note(header if header is not None else _text_of(place))
        except _BadYamlError as error:
            warn(f"its ir_metadata is left aside: {error}.", place=str(place))
    return {path: note for path, note in notes.items() if note != Note()}


def yaml_files_of(names: Iterable[str]) -> set[str]:
    """Return which of the files of a folder are YAML files that say something of the runs among them."""
    names = set(names)
    stems = {stem for name in names if not name.endswith(_YAML) for stem in _stems(name)}
    found = {name for name in names for stem in _described_by(name) if stem in stems}
    return found | (names & set(OF_FOLDER) if stems else set())


def _stems(name: str) -> list[str]:
    # the run's file, without what says how it is packed, without what says that it is a text; and without NIST's prefix
    unpacked = _PACKED.sub("", name)
    stems = [name, unpacked, _TEXT.sub("", unpacked)]
    return list(dict.fromkeys([*stems, *(stem.removeprefix("input.") for stem in stems)]))


def _described_by(name: str) -> Iterator[str]:
    for ending in _YAML:
        if name.endswith(ending):
            stem = name.removesuffix(ending)
            yield stem
            for called in _CALLED:
                if stem.endswith(f".{called}"):
                    yield stem.removesuffix(f".{called}")


def _yaml_files(paths: Sequence[Path]) -> dict[Path, Path]:
    """Return the YAML file beside each run file that has one."""
    of_folder: dict[Path, list[Path]] = {}
    for path in paths:
        of_folder.setdefault(path.parent, []).append(path)
    found: dict[Path, Path] = {}
    for folder, files in of_folder.items():
        try:
            there = sorted(name for name in os.listdir(folder) if name.endswith(_YAML))
        except OSError:
            continue
        described = {stem: name for name in there for stem in _described_by(name)}
        whole = [name for name in there if name in OF_FOLDER]
        for path in files:
            name = next((described[stem] for stem in _stems(path.name) if stem in described), None)
            if name is None and whole and len(files) == 1:
                name = whole[0]
            if name is not None and folder / name != path:
                found[path] = folder / name
    return found


def _header(path: Path) -> str | None:
    # a pipe can be read once only, by whoever reads the run
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        if not is_commented(read_beginning(path, len(_BOM) + 1)):
            return None
        text = read_beginning(path, MOST_BYTES).removeprefix(_BOM).decode("utf-8", "replace")
    except (OSError, UnreadableError):
        # whoever reads the run says what is wrong with it
        return None
    lines: list[str] = []
    begun = False
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        said = line[1:]
        if said.strip() == _END:
            break
        if begun:
            lines.append(said)
        begun = begun or said.strip() == _START
    return textwrap.dedent("\n".join(lines)) if begun else None


def _text_of(path: Path) -> str:
    try:
        data = read_beginning(path, MOST_BYTES + 1) if path.is_file() else b""
    except (OSError, UnreadableError) as error:
        raise _BadYamlError(f"the file {error}") from error
    if len(data) > MOST_BYTES:
        raise _BadYamlError(f"the file has more than {MOST_BYTES:,} bytes")
    lines = data.removeprefix(_BOM).decode("utf-8", "replace").splitlines()
    return "\n".join(line for line in lines if line.strip() not in (_START, _END))


def _note(text: str) -> Note:
    try:
        # not the loader in C: it may crash where a text is nested without end
        root = next(iter(yaml.compose_all(text, Loader=yaml.SafeLoader)), None)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # libraries word it in several ways
        where = getattr(error, "problem_mark", None)
        raise _BadYamlError(f"it is no YAML{f' in its line {where.line + 1:,}' if where else ''}") from error
    automatic = _value(root, "method", "automatic")
    if automatic is not None and automatic.lower() not in _TYPES:
        raise _BadYamlError(f"method.automatic must be true or false, got {examples([automatic])}")
    kind = None if automatic is None else _TYPES[automatic.lower()]
    return Note(_value(root, "tag"), _value(root, "actor", "team"), kind)


def _value(node: yaml.Node | None, *keys: str) -> str | None:
    """Return the single value to which some names lead, None where there is none or nobody filled in the form."""
    for key in keys:
        items = node.value if isinstance(node, yaml.MappingNode) else []
        node = {name.value: value for name, value in items if isinstance(name, yaml.ScalarNode)}.get(key)
    value = node.value.strip() if isinstance(node, yaml.ScalarNode) else ""
    if value.lower() in _NOTHING:
        return None
    if len(value) > _LONGEST or not value.isprintable():
        what = f"must be one line of at most {_LONGEST} characters"
        raise _BadYamlError(f"{'.'.join(keys)} {what}, got {examples([value])}")
    return value


def _warn_of_tags(names: Sequence[str], notes: Mapping[str, Note]) -> None:
    others = [(name, notes[name].tag) for name in names if name in notes and notes[name].tag not in (None, name)]
    if others:
        pairs = _first_few(f"{name!r} is {tag!r} there" for name, tag in others)
        many = f"{count(len(others), 'run')} with another tag in the ir_metadata than in the sixth column"
        warn(f"{many}, which names the run: {pairs}.")


def _warn_of_conflicts(column: str, said: Mapping[str, str], used: Mapping[str, str | None]) -> None:
    others = [(name, value) for name, value in said.items() if value != used[name]]
    if column == "type":
        # "neural" is no denial of "automatic"
        others = [(name, value) for name, value in others if used[name] in _TYPES.values()]
    if others:
        pairs = _first_few(f"{name!r} is of {value!r} there, of {used[name]!r} here" for name, value in others)
        many = f"{count(len(others), 'run')} with another {column} in the ir_metadata than was given"
        warn(f"{many}; what was given is used: {pairs}.")


def _first_few(texts: Iterable[str]) -> str:
    several = list(texts)
    return ", ".join([*several[:3], *(["..."] if len(several) > 3 else [])])


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
        # whatever is no folder is meant to be a run: a dangling link or a pipe is told when it is read
        found = _in_folder(path) if path.is_dir() else _matching(str(path))
        if not found:
            raise refused(f"{path}: there is no such file, no file in it, or none that matches it.")
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


def _in_folder(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        there = {item.name for item in entries if not item.is_dir() and not item.name.startswith(".")}
    return [folder / name for name in sorted(there - yaml_files_of(there))]


def _matching(pattern: str) -> list[Path]:
    """Return what matches a pattern, but the YAML files that say something of the runs beside them."""
    names: dict[str, set[str]] = {}
    matching = sorted(glob(pattern, recursive=True))
    for found in matching:
        names.setdefault(os.path.dirname(found), set()).add(os.path.basename(found))
    about = {folder: yaml_files_of(there) for folder, there in names.items()}
    return [Path(found) for found in matching if os.path.basename(found) not in about[os.path.dirname(found)]]


def real_paths(paths: Sequence[Path]) -> list[str]:
    """Return the paths as strings with links to folders followed, as they name the sources of a cache."""
    folders = {folder: os.path.realpath(folder) for folder in {path.parent for path in paths}}
    return [os.path.join(folders[path.parent], path.name) for path in paths]
