"""The table of runs: team and type of each, and whether it was pooled, where somebody recorded it."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pt_reuse._check import count, did_you_mean, examples
from pt_reuse._errors import Argument, Aside, InputError, Option, Part, located, warn, wrong
from pt_reuse._files import user_path
from pt_reuse._saving import CsvReader
from pt_reuse.arrays import tokens
from pt_reuse.data.packed_files import UnreadableError, read_bytes

#: what names a column of run metadata: a mapping, a frame or series, or the path of a two-column file or CSV
RunLabels = Mapping[str, Any] | pd.Series | pd.DataFrame | str | Path


@dataclass(frozen=True)
class Labels:
    """What is said of runs."""

    of: Mapping[str, Any]  # run name -> value
    rest: Any = None  # what holds of runs that are not named; None: nothing is said of them


#: which runs there are -> what is said of them; by the names, a line of a file is told from a comment or a header
LabelsOf: TypeAlias = Callable[[Sequence[str]], Labels]
_WHITE = " \t\n\r\v\f"
#: what the column of run names may be called in a file with two columns
_RUN_WORDS = ("run", "tag", "name", "runtag", "run_tag", "runid", "run_id")
_SEPARATORS = (",", "\t", ";", "|")
_A_CSV = "the path of a CSV with a header, or a DataFrame"
_POOLED_FILE = "a file with one run name a line, or a two-column file"


def read_labels(labels: RunLabels, column: str, argument: str) -> LabelsOf:
    """Read what the user gave; what is returned says the value of each run, once it is known which runs there are."""
    if isinstance(labels, pd.DataFrame):
        labels = _with_names(labels)
        called = [name for name in labels.columns if str(name).lower() in _RUN_WORDS]
        named = labels.rename(columns={called[0]: "name"}) if len(called) == 1 else labels
        if not {"name", column} <= set(named.columns):
            raise wrong(
                argument,
                f" as a DataFrame must have the column {column!r}, and 'name' or run names as its index, got "
                f"{examples(labels.columns, 12)}.",
            )
        frame = _checked(named, argument)
        return _always(dict(zip(frame["name"], frame[column], strict=True)))
    if isinstance(labels, pd.Series | Mapping):
        found: dict[str, Any] = {}
        for name, value in labels.items():
            if str(name) in found:
                raise wrong(argument, f" has {str(name)!r} more than once. Keep one {column} per run.")
            found[str(name)] = value
        return _always(found)
    if isinstance(labels, str | Path):
        with located(str(labels)):
            return _of_file(read_lines(labels, argument, _two_columns(column)), str(labels), column, argument)
    raise wrong(
        argument,
        f" must be a dict, a Series, a DataFrame, or the path of a two-column file, got {type(labels).__name__}.",
    )


def read_pooled(pooled: RunLabels | Collection[str]) -> LabelsOf:
    """Read which runs were pooled, as :func:`read_labels` does; names alone are those of all pooled runs."""
    if isinstance(pooled, str | Path):
        place = str(pooled)
        with located(place):
            lines = read_lines(pooled, "pooled", _POOLED_FILE)

        def of_file(names: Sequence[str]) -> Labels:
            listed = [line.strip(_WHITE) for line in lines]
            listed = [line for line in listed if line and (not line.startswith("#") or line in names)]
            if any(line not in names and len(line.replace(",", " ").split()) > 1 for line in listed):
                with located(place):
                    of_names = _of_file(lines, place, "pooled", "pooled")
                return of_names(names)
            return _listed(listed)

        return of_file
    if isinstance(pooled, pd.DataFrame | pd.Series | Mapping):
        return read_labels(pooled, "pooled", "pooled")
    if isinstance(pooled, bytes) or not isinstance(pooled, Iterable):
        raise wrong(
            "pooled",
            f" must be run names, a mapping of run name to true or false, a file, or one bool, got {pooled!r}.",
        )
    given = _listed(str(name) for name in pooled)
    return lambda names: given


def _listed(names: Iterable[str]) -> Labels:
    # a list of the pooled runs says of the others that they were not pooled
    return Labels(dict.fromkeys(names, True), rest=False)


def _always(found: dict[str, Any]) -> LabelsOf:
    return lambda names: Labels(found)


def _with_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the names of runs as a column, where they are its index."""
    if any(str(column).lower() in _RUN_WORDS for column in frame.columns) or frame.index.nlevels > 1:
        return frame
    called = str(frame.index.name).lower() in _RUN_WORDS
    # numbers alone are row numbers, unless the index is called otherwise; among names they are names
    texts = [isinstance(name, str) for name in frame.index]
    if called or (any(texts) and all(text or is_whole(name) for text, name in zip(texts, frame.index, strict=True))):
        return frame.reset_index(names="name")
    return frame


def read_metadata(metadata: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Return a frame with one row per run: ``name`` and whatever else the user has of each."""
    if isinstance(metadata, str | Path):
        with located(str(metadata)):
            return _checked(_read_csv(read_lines(metadata, "metadata", _A_CSV), "metadata"), "metadata", index="")
    if not isinstance(metadata, pd.DataFrame):
        raise wrong("metadata", f" must be a DataFrame or the path of a CSV, got {type(metadata).__name__}.")
    return _checked(_with_names(metadata), "metadata")


def _checked(metadata: pd.DataFrame, argument: str, index: str = ", or make it the index, as text") -> pd.DataFrame:
    if "name" not in metadata.columns:
        raise wrong(
            argument,
            f" has no column 'name' among {examples(metadata.columns, 12)}. Rename the column that holds "
            f"the run tags to 'name'{index}; 'team', 'type' and 'pooled' are used where present.",
        )
    if metadata.columns.duplicated().any():
        twice = metadata.columns[metadata.columns.duplicated()]
        raise wrong(argument, f" has more than one column {examples(dict.fromkeys(twice))}. Rename or drop one.")
    bare = [row for row, name in enumerate(metadata["name"]) if is_blank(name)]
    if bare:
        raise wrong(argument, " has no run name there. Fill in its 'name', or drop the row.", place=f"row {bare[0]:,}")
    names = pd.Series([str(name) for name in metadata["name"]], index=metadata.index, dtype=object)
    again = names[names.duplicated()]
    if len(again):
        raise wrong(argument, f" has more than one row for {examples(dict.fromkeys(again))}. Keep one row per run.")
    return metadata.assign(name=names)


def read_lines(path: str | Path, argument: str, expected: str) -> list[str]:
    """Return the lines of a text file that may be packed; bytes that are not UTF-8 are kept as in run files."""
    try:
        file = user_path(path)
        if "\0" in str(file) or not file.exists() or file.is_dir():
            expects = ("there is no such file. Give as ", Argument(argument), f" {expected}.")
            raise InputError(*expects, *_of_a_name(path, argument), argument=argument)
        data = read_bytes(file)
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}.", argument=argument) from error
    except UnreadableError as error:
        raise InputError(
            f"the file {error}. Give as ", Argument(argument), f" {expected}.", argument=argument
        ) from error
    if b"\0" in data:
        raise InputError(
            "the file has a NUL byte, so it is not a plain text file (UTF-16?). Give as ",
            Argument(argument),
            f" {expected}, as UTF-8.",
            argument=argument,
        )
    if not data.strip():
        raise InputError("the file is empty. Give as ", Argument(argument), f" {expected}.", argument=argument)
    text = tokens.as_texts([data.removeprefix(b"\xef\xbb\xbf")])[0]
    return [line.removesuffix("\r") for line in text.split("\n")]


def _of_a_name(path: str | Path, argument: str) -> tuple[Part, ...]:
    # what looks like the name of a run may be meant as one
    if argument != "pooled" or not isinstance(path, str) or os.path.dirname(path) or "\0" in path:
        return ()
    return (Aside(f" To say that run {path!r} was pooled, give a list: pooled=[{path!r}]."),)


def _read_csv(lines: Sequence[str], argument: str) -> pd.DataFrame:
    separator = max(_SEPARATORS, key=lines[0].count)
    rows: list[list[str]] = []
    reader = CsvReader((line + "\n" for line in lines), delimiter=separator, strict=True)
    try:
        for row in reader:
            cells = [cell.strip(_WHITE) for cell in row]
            if rows and any(cells) and len(cells) != len(rows[0]):
                raise InputError(
                    f"{count(len(cells), 'cell')} where the header has {len(rows[0]):,}. Give every line as many "
                    f"cells as the header.",
                    argument=argument,
                    place=f"line {reader.line_num:,}",
                )
            if any(cells) or not rows:
                rows.append(cells)
    except csv.Error as error:
        raise InputError(
            f"the line cannot be read as CSV ({error}). Mend it.",
            argument=argument,
            place=f"line {reader.line_num:,}",
        ) from error
    header = rows[0] if rows else []
    columns = {i: pd.Series([row[i] for row in rows[1:]], dtype=object) for i in range(len(header))}
    return pd.DataFrame(columns).set_axis(header, axis=1)


def _two_columns(column: str) -> str:
    return f"a file with two columns, run tag and {column}"


def _of_file(lines: Sequence[str], place: str, column: str, argument: str) -> LabelsOf:
    for separator in _SEPARATORS:
        if {"name", column} <= {cell.strip().strip('"') for cell in lines[0].split(separator)}:
            return read_labels(_read_csv(lines, argument), column, argument)

    def of_names(names: Sequence[str]) -> Labels:
        with located(place):
            return Labels(_in_two_columns(lines, column, argument, names))

    return of_names


def _in_two_columns(lines: Sequence[str], column: str, argument: str, names: Collection[str]) -> dict[str, Any]:
    found: dict[str, str] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        cells = _two_cells(line, names)
        if number == 1 and len(cells) == 2 and cells[0] not in names and _is_header(cells, column):
            continue
        if not line.strip(_WHITE) or (line.startswith("#") and cells[0] not in names):
            continue
        if len(cells) != 2 or not all(cells):
            raise InputError(
                f"expected two columns, run tag and {column}, got {line.strip(_WHITE)!r}. Separate them by white space "
                f"or one comma.",
                argument=argument,
                place=f"line {number:,}",
            )
        name, value = cells
        if found.setdefault(name, value) != value:
            raise InputError(
                f"run {name!r} has {column} {value!r} here and {found[name]!r} in line {first[name]:,}. Keep one line "
                f"per run.",
                argument=argument,
                place=f"line {number:,}",
            )
        first.setdefault(name, number)
    return found


def _is_header(cells: Sequence[str], column: str) -> bool:
    return cells[0].lower() in _RUN_WORDS and cells[1].lower() in (column, f"{column}s")


def _two_cells(line: str, names: Collection[str]) -> list[str]:
    # separated by tabs, by a comma or by any white space: the first way that gives a run and its value
    # (white space as in run files: a no-break space is part of a name)
    line = line.strip(_WHITE)
    tabbed = [cell for cell in line.split("\t") if cell.strip(_WHITE)]
    ways = [cells for cells in (tabbed, line.split(",")) if len(cells) > 1]
    ways = [[cell.strip(_WHITE) for cell in cells] for cells in (*ways, re.split(f"[{_WHITE}]+", line, maxsplit=1))]
    return next((cells for cells in ways if len(cells) == 2 and cells[0] in names), ways[0])


def is_missing(value: Any) -> bool:
    """Return whether a cell holds nothing: None, NaN or <NA>."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def is_whole(value: Any) -> bool:
    """Return whether a cell holds a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_blank(value: Any) -> bool:
    """Return whether a cell holds nothing, or white space only."""
    return is_missing(value) or (isinstance(value, str) and not value.strip())


#: column of a table of runs -> the argument that gives it
_ARGUMENTS = {"team": "teams", "type": "types", "pooled": "pooled"}


@dataclass(frozen=True, kw_only=True)
class Naming:
    """What is made of names that are not there, on either side."""

    noun: str = "run"  # what messages call a run
    strict: bool = False  # whether a key that is near the name of a run without a value is an error
    complete: bool = True


#: runs read from files; result frames and pipelines by name; changes to a table that there is
OF_FILES, OF_FRAMES, OF_CHANGES = Naming(), Naming(strict=True), Naming(complete=False)
#: the systems of an experiment; those of which nothing is said have the caller's default
OF_SYSTEMS = Naming(noun="system", strict=True, complete=False)
_TRUE = {"true", "yes", "y", "1", "1.0", "pooled"}
#: with more names that are no run's, it is another list, and not a misspelt name
_FEW = 20
_FALSE = {"false", "no", "n", "0", "0.0", "unpooled"}


@dataclass(frozen=True)
class GivenMetadata:
    """What a user gives to label runs with, read and checked as far as that goes before the runs are known."""

    frame: pd.DataFrame | None  # what is given as ``metadata``, None where nothing is
    labels: Mapping[str, LabelsOf]  # ``"team"``, ``"type"`` or ``"pooled"`` -> what says it of each run
    all_pooled: bool | None  # one flag for all runs, None where none is given
    from_files: frozenset[str] = frozenset()  # the arguments that are given as a file

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs that are given, for some of the runs at least."""
        frame = pd.DataFrame() if self.frame is None else self.frame
        filled = {str(column) for column in frame.columns if not all(map(is_blank, frame[column]))}
        return filled | set(self.labels) | ({"pooled"} if self.all_pooled is not None else set())

    def table(self, names: Sequence[str], base: pd.DataFrame | None = None, naming: Naming = OF_FILES) -> pd.DataFrame:
        """Return one row per run, as :func:`make_run_table` does."""
        if base is None:
            table = pd.DataFrame(
                {"name": pd.Series(list(names), dtype=object), "team": None, "type": None, "pooled": pd.NA}
            )
        else:
            table = base.copy()

        def fill(column: str, given: Labels, argument: str) -> None:
            old = table[column].tolist() if column in table.columns else [None] * len(table)
            values = [given.of.get(name, given.rest) for name in names]
            # an empty cell records nothing of a team or a flag; in other columns it may be a value
            nothing = is_blank if column in ("team", "pooled", "family") else is_missing
            values = [
                before if (name not in given.of and given.rest is None) or nothing(value) else value
                for name, value, before in zip(names, values, old, strict=True)
            ]
            if column == "pooled":
                values = [_as_flag(name, value, argument) for name, value in zip(names, values, strict=True)]
            kinds = {type(value) for value in values if not is_missing(value)}
            if str in kinds:
                values = [None if is_missing(value) else value for value in values]
            # a column of texts stays one, whatever pandas makes of it
            table[column] = pd.Series(
                values, dtype=object if str in kinds or len(kinds) != 1 else None, index=table.index
            )

        said: dict[str, set[str]] = {}
        if self.frame is not None:
            runs = self.frame["name"]
            self._check_names("metadata", Labels(dict.fromkeys(runs)), names, naming)
            for column in self.frame.columns.drop("name"):
                fill(column, Labels(dict(zip(runs, self.frame[column], strict=True))), "metadata")
                # tables often have the type of some runs only
                if column != "type":
                    said.setdefault(column, set()).update(runs)
        for column, labels in self.labels.items():
            given, argument = labels(names), _ARGUMENTS[column]
            self._check_names(argument, given, names, naming)
            fill(column, given, argument)
            said.setdefault(column, set()).update(given.of if given.rest is None else names)
        if self.all_pooled is not None:
            table["pooled"] = self.all_pooled
        table["pooled"] = table["pooled"].astype("boolean")
        for column in ("team", "type", *(("family",) if "family" in table else ())):
            table[column] = pd.Series([None if is_blank(v) else _as_text(v) for v in table[column]], dtype=object)
        if naming.complete:
            _tell_lacking(table, said, naming.noun)
        return table

    def _check_names(self, argument: str, given: Labels, names: Sequence[str], naming: Naming) -> None:
        """Raise where no run is named, or one is misspelt; warn of others that are not there."""
        known = set(names)
        strangers = [name for name in given.of if name not in known]
        # what is named already is not what another name means
        unnamed = [name for name in names if name not in given.of]
        hints = {name: did_you_mean(name, unnamed) for name in strangers} if len(strangers) < _FEW else {}
        strangers.sort(key=lambda name: not hints.get(name))
        hint = hints.get(strangers[0], "") if strangers else ""
        if hint and naming.strict and argument not in self.from_files:
            problem = f" names {strangers[0]!r}, which is not among the {naming.noun}s.{hint}"
            raise wrong(argument, problem)
        if len(strangers) == len(given.of) and (strangers or given.rest is None):
            raise _no_name_fits(argument, list(given.of), names, naming)
        if strangers:
            many = count(len(strangers), "name")
            warn(Argument(argument), f" has {many} not among the {naming.noun}s: {examples(strangers)}.{hint}")


def given_metadata(
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
) -> GivenMetadata:
    """Read what a user gives to label runs with, as :func:`make_run_table` takes it."""
    frame = None if metadata is None else read_metadata(metadata)
    given_as = {"teams": teams, "types": types, "pooled": pooled, "metadata": metadata}
    files = frozenset(name for name, value in given_as.items() if isinstance(value, str | Path))
    labels = {}
    for column, given in (("team", teams), ("type", types)):
        if given is not None:
            labels[column] = read_labels(given, column, _ARGUMENTS[column])
    if isinstance(pooled, bool | np.bool_):
        return GivenMetadata(frame, labels, bool(pooled), files)
    if pooled is not None:
        labels["pooled"] = read_pooled(pooled)
    return GivenMetadata(frame, labels, None, files)


def make_run_table(
    names: Sequence[str],
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    base: pd.DataFrame | None = None,
    naming: Naming = OF_FILES,
) -> pd.DataFrame:
    """Return one row per run: ``name team type pooled`` and every further column of `metadata`."""
    return given_metadata(teams=teams, types=types, pooled=pooled, metadata=metadata).table(names, base, naming)


def record_in_words(pooled: pd.Series) -> str:
    """Return how many runs were pooled, as far as it is on record, in few words."""
    unknown = int(pooled.isna().sum())
    if unknown and unknown == len(pooled):
        return "pooled: not on record"
    return f"{int(pooled.sum()):,} pooled" + (f", {unknown:,} not on record" if unknown else "")


def stack_tables(upper: pd.DataFrame, lower: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of two tables of runs, one after the other; a column that one of them lacks is None there."""
    columns = list(dict.fromkeys([*upper.columns, *lower.columns]))
    stacked = {}
    for column in columns:
        parts = [table[column] if column in table.columns else None for table in (upper, lower)]
        values = [
            value
            for table, part in zip((upper, lower), parts, strict=True)
            for value in (part if part is not None else [None] * len(table))
        ]
        same = parts[0] is not None and parts[1] is not None and parts[0].dtype == parts[1].dtype
        stacked[column] = pd.Series(values, dtype=parts[0].dtype if same and parts[0] is not None else object)
    return pd.DataFrame(stacked, columns=columns)


def _no_name_fits(argument: str, given: Sequence[str], names: Sequence[str], naming: Naming) -> InputError:
    has = f"it has {examples(given)}" if given else "it is empty"
    parts: list[Part] = [f" names none of the {count(len(names), naming.noun)} ({examples(names)}); {has}."]
    if naming.noun == "run" and not naming.strict:
        parts += [" Are these the run tags? ", Option("names", "file"), " takes run names from the file names instead."]
    else:
        parts.append(f" Use the names of the {naming.noun}s.")
    return wrong(argument, *parts)


def _tell_lacking(table: pd.DataFrame, said: Mapping[str, set[str]], noun: str) -> None:
    """Warn of runs without a team or type where others are given one, and of those that no record of pooling names."""
    for column in ("team", "type"):
        without = table["name"][table[column].isna()].tolist() if column in said else []
        if without and len(without) < len(table):
            who = f"{count(len(without), noun)} without a {column}, though {column}s are given: {examples(without)}. "
            what = " takes each for a team of its own." if column == "team" else " needs one of every run."
            warn(who, Option("by", column), what)
    # an empty flag says that nobody recorded it
    unnamed = [name for name in table["name"][table["pooled"].isna()] if name not in said.get("pooled", ())]
    if "pooled" in said and unnamed:
        warn(
            f"nothing is said of whether {count(len(unnamed), noun)} had been pooled, which is taken as not on record: "
            f"{examples(unnamed)}."
        )


def _as_text(value: Any) -> str:
    """Return a team, type or family as a text; of whole numbers pandas makes floats where a cell is empty."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _as_flag(name: str, value: Any, argument: str) -> Any:
    if is_blank(value):
        return pd.NA
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise InputError(
        f"pooled must be true or false (yes/no, 1/0), or empty where nobody recorded it, got {value!r}.",
        argument=argument,
        place=f"run {name!r}",
    )
