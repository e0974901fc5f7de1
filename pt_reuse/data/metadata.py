"""The table of runs: team and type of each, and whether it was pooled, as a user, a file or the catalogue says."""

from __future__ import annotations

import json
import os
import re
import stat
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from glob import glob
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from pt_reuse._files import user_path
from pt_reuse._text import shorten
from pt_reuse.data.frame_columns import as_ids
from pt_reuse.data.packed_files import (
    WHITE,
    UnreadableError,
    lines_of,
    parse_csv,
    read_beginning,
    read_text,
    separator_of,
)
from pt_reuse.errors import InputError, count, did_you_mean, examples, located, shown, warn


@lru_cache(maxsize=1)
def entries() -> dict[str, dict[str, Any]]:
    """Return what is on record of each collection of the catalogue, by its name."""
    found = json.loads(record("collections.json"))["collections"]
    return {entry["name"]: entry for entry in found}


def record(name: str) -> str:
    """Return the text of a file of the catalogue."""
    path = files("pt_reuse") / "collections" / "data" / "catalogue" / name
    return path.read_text(encoding="utf-8")


def judged_alike(n_topics: int, n_judged: int, n_relevant: int) -> list[str]:
    """Return the names of the collections whose judgments have these counts, all three."""
    wanted = {"n_topics": n_topics, "n_judged": n_judged, "n_relevant": n_relevant}
    return [name for name, entry in entries().items() if wanted.items() <= entry.items()]


def grade_of(n_topics: int, labels: NDArray[np.integer]) -> tuple[str, int] | None:
    """Return the collection whose judgments these are and the lowest label that its track counts as relevant.

    None where they are those of no known collection, and where its grade is 1, which counts without being stated.
    """
    # most judgments are binary, and need no look at the catalogue
    if labels.max(initial=0) < 2:
        return None
    for name in judged_alike(n_topics, len(labels), int((labels > 0).sum())):
        rel = entries()[name].get("rel", 1)
        if rel > 1:
            return name, int(rel)
    return None


def pool_depth_of(n_topics: int, labels: NDArray[np.integer]) -> tuple[str, int] | None:
    """Return the collection whose judgments these are and the depth of its pool, None where neither is known."""
    for name in judged_alike(n_topics, len(labels), int((labels > 0).sum())):
        if depth := entries()[name].get("pool_depth"):
            return name, int(depth)
    return None


#: what names a column of run metadata: a mapping, a frame or series, or the path of a two-column file or CSV
RunLabels = Mapping[str, Any] | pd.Series | pd.DataFrame | str | Path


@dataclass(frozen=True)
class Labels:
    """What is said of runs."""

    of: Mapping[str, Any]  # run name -> value
    rest: Any = None  # what holds of runs that are not named; None: nothing is said of them


#: what the column of run names may be called
_RUN_WORDS = ("run", "tag", "name", "runtag", "run_tag", "runid", "run_id")
#: column of a table of runs -> the argument that gives it
_ARGUMENTS = {"team": "teams", "type": "types", "pooled": "pooled"}
#: with more names that are no run's, it is another list, and not a misspelt name
_FEW = 20
_FLAGS = {
    **dict.fromkeys(("true", "yes", "y", "1", "1.0", "pooled"), True),
    **dict.fromkeys(("false", "no", "n", "0", "0.0", "unpooled"), False),
}


def is_missing(value: Any) -> bool:
    """Return whether a cell holds nothing: None, NaN or <NA>."""
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def is_blank(value: Any) -> bool:
    """Return whether a cell holds nothing, or white space only."""
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _read_labels(labels: Any, column: str) -> Labels:
    """Read what the user gave as one column of a table of runs."""
    argument = _ARGUMENTS[column]
    if isinstance(labels, str | Path):
        with located(str(labels)):
            return _read_labels(_of_file(labels, column, argument), column)
    if isinstance(labels, pd.DataFrame):
        frame = _with_names(labels)
        called = [name for name in frame.columns if str(name).lower() in _RUN_WORDS]
        frame = _checked(frame.rename(columns={called[0]: "name"}) if len(called) == 1 else frame, argument)
        if column not in frame:
            there = examples(frame.columns, 12)
            raise InputError(f"{argument} must have the column {column!r}, got {there}.", argument=argument)
        return Labels(dict(zip(frame["name"], frame[column], strict=True)))
    if isinstance(labels, pd.Series | Mapping):
        names = _names(labels.keys(), argument)
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise InputError(f"{argument} has {examples(twice)} more than once. Keep one per run.", argument=argument)
        return Labels(dict(zip(names, (value for _, value in labels.items()), strict=True)))
    if column == "pooled" and isinstance(labels, bool | np.bool_):
        return Labels({}, rest=bool(labels))
    if column == "pooled" and isinstance(labels, Iterable) and not isinstance(labels, bytes):
        return Labels(dict.fromkeys(_names(labels, argument), True), rest=False)
    kinds = "a dict, a Series, a DataFrame, or the path of a two-column file"
    kinds += ", a collection of run names, or one bool" if column == "pooled" else ""
    raise InputError(f"{argument} must be {kinds}, got {type(labels).__name__}.", argument=argument)


def _names(given: Iterable[Any], argument: str) -> list[str]:
    try:
        return as_ids("name of a run", given)
    except InputError as error:
        raise InputError(error.text, argument=argument) from error


def _with_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the names of runs as a column, where they are its index."""
    if any(str(column).lower() in _RUN_WORDS for column in frame.columns) or frame.index.nlevels > 1:
        return frame
    # numbers alone are row numbers, unless the index is called otherwise; among names they are names
    kinds = {pd.api.types.infer_dtype([name]) for name in frame.index}
    named = "string" in kinds and kinds <= {"string", "integer"}
    return frame.reset_index(names="name") if named or str(frame.index.name).lower() in _RUN_WORDS else frame


def _of_file(path: str | Path, column: str, argument: str) -> pd.DataFrame | dict[str, str] | list[str]:
    """Return the table of a file with a header; run -> value of one with two columns; the names of one with one."""
    lines = read_lines(path, argument, f"a file with two columns, run tag and {column}")
    if {"name", column} <= {cell.strip(' "') for cell in lines[0].split(separator_of(lines[0]))}:
        return _cells(lines, argument)
    rows = [(n, line.strip(WHITE)) for n, line in enumerate(lines, 1)]
    rows = [(n, line) for n, line in rows if line and not line.startswith("#")]
    if column == "pooled" and all(len(line.replace(",", " ").split()) == 1 for _, line in rows):
        return [line for _, line in rows]
    # tabs, commas, or else any white space; a no-break space is part of a name
    ways = [[re.split("\t+", line) for _, line in rows], [line.split(",") for _, line in rows]]
    ways.append([re.split(f"[{WHITE}]+", line, maxsplit=1) for _, line in rows])
    found: dict[str, str] = {}
    for (number, line), cells in zip(rows, next((w for w in ways if {*map(len, w)} == {2}), ways[-1]), strict=True):
        name, value = (cells[0].strip(WHITE), cells[-1].strip(WHITE))
        if not found and name.lower() in _RUN_WORDS and value.lower() in (column, f"{column}s"):
            continue
        if len(cells) != 2 or not name or not value or found.setdefault(name, value) != value:
            problem = f"expected a run tag and its one {column}, separated by white space or a comma, got {line!r}."
            raise InputError(problem, argument=argument, place=f"line {number:,}")
        if column == "pooled":
            with located(f"line {number:,}"):
                _as_flag(name, value, argument)
    return found


def read_metadata(metadata: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Return a frame with one row per run: ``name`` and whatever else the user has of each."""
    if isinstance(metadata, str | Path):
        with located(str(metadata)):
            lines = read_lines(metadata, "metadata", "the path of a CSV with a header, or a DataFrame")
            return _checked(_cells(lines, "metadata"), "metadata")
    if not isinstance(metadata, pd.DataFrame):
        raise InputError(f"metadata must be a DataFrame or a CSV, got {type(metadata).__name__}.", argument="metadata")
    return _checked(_with_names(metadata), "metadata")


def _checked(metadata: pd.DataFrame, argument: str) -> pd.DataFrame:
    """Return a frame with names as texts, of which each stands in one row; so does each column."""
    if "name" not in metadata.columns:
        there = examples(metadata.columns, 12)
        problem = f"{argument} has no column 'name' among {there}. Name the run tags so, or make them the index."
        raise InputError(problem, argument=argument)
    if len(twice := metadata.columns[metadata.columns.duplicated()].unique()):
        raise InputError(f"{argument} has more than one column {examples(twice)}. Drop one.", argument=argument)
    if bare := [row for row, name in enumerate(metadata["name"]) if is_blank(name)]:
        problem = "there is no run name. Fill it in, or drop the row."
        raise InputError(problem, argument=argument, place=f"row {bare[0]:,}")
    names = pd.Series(_names(metadata["name"].tolist(), argument), index=metadata.index, dtype=object)
    if len(again := names[names.duplicated()].unique()):
        raise InputError(f"{argument} has {examples(again)} more than once. Keep one row per run.", argument=argument)
    return metadata.assign(name=names)


def read_lines(path: str | Path, argument: str, expected: str) -> list[str]:
    """Return the lines of a text file that may be packed; bytes that are not UTF-8 are kept as in run files."""
    try:
        return lines_of(read_text(path))
    except UnreadableError as error:
        raise InputError(f"the file {error}. Give as {argument} {expected}.", argument=argument) from error


def _cells(lines: Sequence[str], argument: str) -> pd.DataFrame:
    return parse_csv(lines, argument).frame.apply(lambda column: column.str.strip(WHITE))


@dataclass(frozen=True)
class GivenMetadata:
    """What a user gives to label runs with, read and checked as far as that goes before the runs are known."""

    frame: pd.DataFrame | None  # what is given as ``metadata``, None where nothing is
    labels: Mapping[str, Labels]  # ``"team"``, ``"type"`` or ``"pooled"`` -> what is said of runs
    from_files: frozenset[str] = frozenset()  # the arguments that are given as a file

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs that are given, for some of the runs at least."""
        frame = pd.DataFrame() if self.frame is None else self.frame
        return {str(column) for column in frame.columns if not all(map(is_blank, frame[column]))} | set(self.labels)

    def table(
        self,
        names: Sequence[str],
        base: pd.DataFrame | None = None,
        *,
        complete: bool = True,
        strict: bool = False,
        noun: str = "run",
    ) -> pd.DataFrame:
        """Return one row per run: ``name team type pooled`` and every further column that is given.

        Where it is to be `complete`, a warning tells of runs that are left without what others are given. Where it is
        `strict`, a name that is nearly that of a run is an error, if it does not come of a file.
        """
        runs = pd.Series(list(names), dtype=object)
        bare = pd.DataFrame({"name": runs, "team": None, "type": None, "pooled": pd.NA})
        table = bare if base is None else base.copy()
        named: dict[str, set[str]] = {}
        labels = [(_ARGUMENTS[column], column, given) for column, given in self.labels.items()]
        if self.frame is not None:
            listed = self.frame["name"].tolist()
            _check_names("metadata", listed, names, noun, strict=strict and "metadata" not in self.from_files)
            cells = {column: self.frame[column] for column in self.frame.columns.drop("name")}
            of_frame = {column: Labels(dict(zip(listed, cells[column], strict=True))) for column in cells}
            labels = [*(("metadata", column, given) for column, given in of_frame.items()), *labels]
        for argument, column, given in labels:
            if argument != "metadata" and (given.of or given.rest is None):
                _check_names(argument, list(given.of), names, noun, strict=strict and argument not in self.from_files)
            table[column] = _filled(table, column, given, argument)
            # tables often have the type of some runs only
            if (argument, column) != ("metadata", "type"):
                named.setdefault(column, set()).update(given.of if given.rest is None else names)
        table["pooled"] = table["pooled"].astype("boolean")
        for column in {"team", "type", "family"} & set(table):
            table[column] = pd.Series([None if is_blank(v) else _as_text(v) for v in table[column]], dtype=object)
        if complete:
            _tell_lacking(table, named)
        return table


def _check_names(argument: str, given: Sequence[str], names: Sequence[str], noun: str, *, strict: bool) -> None:
    """Raise where no run is named, or one is misspelt and that counts; warn of other names that are no run's."""
    advice = "Use the run tags of files, or names='file'." if noun == "run" else f"Use the names of the {noun}s."
    known, named = set(names), set(given)
    strangers = [name for name in given if name not in known]
    # what is named already is not what another name means
    unnamed = [name for name in names if name not in named]
    hints = {name: did_you_mean(name, unnamed) for name in strangers} if len(strangers) < _FEW else {}
    strangers.sort(key=lambda name: not hints.get(name))
    hint = hints.get(strangers[0], "") if strangers else ""
    if hint and strict:
        raise InputError(f"{argument} names {strangers[0]!r}, which is no {noun}.{hint}", argument=argument)
    if len(strangers) == len(given):
        has = f"{argument} names none of the {noun}s {examples(names)}; it has {examples(given) if given else 'none'}"
        raise InputError(f"{has}.{hint} {advice}", argument=argument)
    if strangers:
        warn(f"{argument} has {count(len(strangers), 'name')} of no {noun}: {examples(strangers)}.{hint}")


def _filled(table: pd.DataFrame, column: str, given: Labels, argument: str) -> pd.Series:
    """Return a column of a table of runs with what is given; where nothing is, what stands there stays."""
    old = table[column].tolist() if column in table.columns else [None] * len(table)
    # an empty cell records nothing of a team or a flag; in other columns it may be a value
    nothing = is_blank if column in ("team", "pooled", "family") else is_missing
    values = [given.of.get(name, given.rest) for name in table["name"]]
    values = [before if nothing(value) else value for value, before in zip(values, old, strict=True)]
    if column == "pooled":
        values = [_as_flag(name, value, argument) for name, value in zip(table["name"], values, strict=True)]
    kinds = {type(value) for value in values if not is_missing(value)}
    if str in kinds:
        values = [None if is_missing(value) else value for value in values]
    # a column of texts stays one, whatever pandas makes of it
    return pd.Series(values, dtype=object if str in kinds or len(kinds) != 1 else None, index=table.index)


def given_metadata(
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
) -> GivenMetadata:
    """Read what a user gives to label runs with."""
    frame = None if metadata is None else read_metadata(metadata)
    values: list[tuple[str, Any]] = [("team", teams), ("type", types), ("pooled", pooled)]
    labels = {column: _read_labels(value, column) for column, value in values if value is not None}
    every = {"teams": teams, "types": types, "pooled": pooled, "metadata": metadata}
    return GivenMetadata(
        frame, labels, frozenset(name for name, given in every.items() if isinstance(given, str | Path))
    )


def record_in_words(pooled: pd.Series) -> str:
    """Return how many runs were pooled, as far as it is on record, in few words."""
    unknown = int(pooled.isna().sum())
    if unknown and unknown == len(pooled):
        return "pooled: not on record"
    return f"{int(pooled.sum()):,} pooled" + (f", {unknown:,} not on record" if unknown else "")


def stack_tables(upper: pd.DataFrame, lower: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of two tables of runs, one after the other; a column that one of them lacks is None there."""
    stacked = {}
    for column in dict.fromkeys([*upper.columns, *lower.columns]):
        above, below = (
            table[column] if column in table.columns else pd.Series([None] * len(table), dtype=object)
            for table in (upper, lower)
        )
        stacked[column] = pd.Series([*above, *below], dtype=above.dtype if above.dtype == below.dtype else object)
    return pd.DataFrame(stacked)


def _tell_lacking(table: pd.DataFrame, named: Mapping[str, set[str]]) -> None:
    """Warn of runs without a team or type where others are given one, and of those that no record of pooling names."""
    for column in ("team", "type"):
        without = table["name"][table[column].isna()].tolist() if column in named else []
        if without and len(without) < len(table):
            who = f"{count(len(without), 'run')} without a {column}, though {column}s are given: {examples(without)}. "
            what = " takes each for a team of its own." if column == "team" else " needs one of every run."
            warn(f"{who}by={column!r}{what}")
    # an empty flag says that nobody recorded it
    unnamed = [name for name in table["name"][table["pooled"].isna()] if name not in named.get("pooled", ())]
    if "pooled" in named and unnamed:
        who = f"whether {count(len(unnamed), 'run')} had been pooled"
        warn(f"nothing is said of {who}, which is taken as not on record: {examples(unnamed)}.")


def _as_text(value: Any) -> str:
    """Return a team, type or family as a text; of whole numbers pandas makes floats where a cell is empty."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _as_flag(name: str, value: Any, argument: str) -> Any:
    if is_blank(value):
        return pd.NA
    flag = _FLAGS.get(str(value).strip().lower())
    if flag is None:
        problem = "pooled must be true or false (yes/no, 1/0), or empty where nobody recorded it"
        raise InputError(f"{problem}, got {value!r}.", argument=argument, place=f"run {name!r}")
    return flag


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
        given_there = [headers[path].get(column) for path in paths]
        values = [before if value is None else value for value, before in zip(given_there, known[column], strict=True)]
        known[column] = pd.Series(values, dtype=object)
    return given.table(names, known)


def header_of(path: Path) -> Mapping[str, str]:
    """Return what the ir_metadata in a run file say of its run: its ``team`` and ``type``, where they do."""
    try:
        # a pipe can be read once only, by whoever reads the run
        begins = read_beginning(path, len(_BOM) + 1) if stat.S_ISREG(path.stat().st_mode) else b""
        if not begins.removeprefix(_BOM).startswith(b"#"):
            return {}
        lines = read_beginning(path, MOST_BYTES).removeprefix(_BOM).decode("utf-8", "replace").splitlines()
    except (OSError, UnreadableError):
        # whoever reads the run says what is wrong with it
        return {}
    header = [line[1:] for line in takewhile(lambda line: line.startswith("#"), lines)]
    marks = [line.strip() for line in header]
    if "ir_metadata.start" not in marks:
        return {}
    header = header[marks.index("ir_metadata.start") + 1 :]
    header = list(takewhile(lambda line: line.strip() != "ir_metadata.end", header))
    try:
        # not the loader in C: it may crash where a text is nested without end; references are not followed
        root = next(iter(yaml.compose_all(textwrap.dedent("\n".join(header)), Loader=yaml.SafeLoader)), None)
    except (yaml.YAMLError, ValueError, RecursionError):
        warn("its ir_metadata is left aside: it is no YAML.", place=str(path))
        return {}
    found = {"team": _value(root, "actor", "team")}
    found["type"] = _TYPES.get((_value(root, "method", "automatic") or "").lower())
    return {column: value for column, value in found.items() if value is not None}


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
        problem, paths = _paths(source)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        # no permission to look, a name too long, a NUL byte in a name
        why = getattr(error, "strerror", error)
        raise InputError(f"{shorten(str(source), 200)} cannot be looked up: {why}.", argument=argument) from error
    if problem:
        raise InputError(f"{problem}. Give a folder with run files, a pattern, or several files.", argument=argument)
    return paths


def _paths(source: Any) -> tuple[str, list[Path]]:
    """Return what is wrong with a source, if anything, and the files."""
    if isinstance(source, str | os.PathLike) and str(source):
        path = user_path(source)
        if path.is_file():
            return "", [path]
        if path.is_dir():
            with os.scandir(path) as entries:
                # whatever is no folder is meant to be a run: a dangling link or a pipe is told when it is read
                there = sorted(item.name for item in entries if not item.is_dir() and not item.name.startswith("."))
            return "" if there else f"{path} is a folder without files", [path / name for name in there]
        source = [Path(name) for name in sorted(glob(str(path), recursive=True))]
        if not source:
            return f"{path} is no file, and no file matches it as a pattern", []
    if not isinstance(source, Iterable) or isinstance(source, str | bytes | Mapping | pd.DataFrame):
        return f"got {shown(source)}, no files", []
    items = sorted(source, key=str) if isinstance(source, set | frozenset) else list(source)
    odd = [item for item in items if not isinstance(item, str | os.PathLike) or not str(item)]
    if odd or not items:
        return f"expected paths of files, got {examples(odd) if odd else 'none'}", []
    paths = [user_path(item) for item in items]
    for item, times in Counter(paths).items():
        if item.is_dir() or not item.exists() or times > 1:
            what = (
                "is a folder among files" if item.is_dir() else "is given more than once" if times > 1 else "is no file"
            )
            return f"{item} {what}", []
    return "", paths


def real_paths(paths: Sequence[Path]) -> list[str]:
    """Return the paths as strings with links to folders followed, as they name the sources of a cache."""
    folders = {folder: os.path.realpath(folder) for folder in {path.parent for path in paths}}
    return [os.path.join(folders[path.parent], path.name) for path in paths]
