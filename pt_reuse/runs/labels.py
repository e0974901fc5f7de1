"""What a user gives to label runs with, as run name -> value: a mapping, a frame, a list of names or a file."""

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

from pt_reuse._check import count, examples
from pt_reuse._errors import Argument, Aside, InputError, Part, located
from pt_reuse._files import user_path
from pt_reuse._saving import CsvReader
from pt_reuse.engine import tokens
from pt_reuse.formats.files import UnreadableError, read_bytes

#: what names a column of run metadata: a mapping, a frame or series, or the path of a two-column file or CSV
RunLabels = Mapping[str, Any] | pd.Series | pd.DataFrame | str | Path


@dataclass(frozen=True)
class Labels:
    """What is said of runs.

    Attributes:
        of: run name -> value.
        rest: what holds of runs that are not named; None: nothing is said of them.
    """

    of: Mapping[str, Any]
    rest: Any = None


#: which runs there are -> what is said of them; by the names, a line of a file is told from a comment or a header
LabelsOf: TypeAlias = Callable[[Sequence[str]], Labels]
_WHITE = " \t\n\r\v\f"
#: what the column of run names may be called in a file with two columns
_RUN_WORDS = ("run", "tag", "name", "runtag", "run_tag", "runid", "run_id")
_SEPARATORS = (",", "\t", ";", "|")
_A_CSV = "the path of a CSV with a header, or a DataFrame"
_POOLED_FILE = "a file with one run name a line, or a two-column file"


def read_labels(labels: RunLabels, column: str, argument: str) -> LabelsOf:
    """Read what the user gave; what is returned says the value of each run, once it is known which runs there are.

    Args:
        labels: what the user gave.
        column: ``"team"``, ``"type"`` or ``"pooled"``.
        argument: the name of the user's argument, for errors.

    Raises:
        InputError: labels that are nothing of the kind, a run with two values, a file that cannot be read.
    """
    if isinstance(labels, pd.DataFrame):
        labels = _with_names(labels)
        called = [name for name in labels.columns if str(name).lower() in _RUN_WORDS]
        named = labels.rename(columns={called[0]: "name"}) if len(called) == 1 else labels
        if not {"name", column} <= set(named.columns):
            raise InputError(
                Argument(argument),
                f" as a DataFrame must have the column {column!r}, and 'name' or run names as its index, got "
                f"{examples(labels.columns, 12)}.",
                argument=argument,
            )
        frame = _checked(named, argument)
        return _always(dict(zip(frame["name"], frame[column], strict=True)))
    if isinstance(labels, pd.Series | Mapping):
        found: dict[str, Any] = {}
        for name, value in labels.items():
            if str(name) in found:
                raise InputError(
                    Argument(argument),
                    f" has {str(name)!r} more than once. Keep one {column} per run.",
                    argument=argument,
                )
            found[str(name)] = value
        return _always(found)
    if isinstance(labels, str | Path):
        with located(str(labels)):
            return _of_file(read_lines(labels, argument, _two_columns(column)), str(labels), column, argument)
    raise InputError(
        Argument(argument),
        f" must be a dict, a Series, a DataFrame, or the path of a two-column file, got {type(labels).__name__}.",
        argument=argument,
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
        raise InputError(
            Argument("pooled"),
            f" must be run names, a mapping of run name to true or false, a file, or one bool, got {pooled!r}.",
            argument="pooled",
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
    """Return a frame with one row per run: ``name`` and whatever else the user has of each.

    Raises:
        InputError: no column ``name``, a row without a name, two rows of one run, a file that is no CSV.
    """
    if isinstance(metadata, str | Path):
        with located(str(metadata)):
            return _checked(_read_csv(read_lines(metadata, "metadata", _A_CSV), "metadata"), "metadata", index="")
    if not isinstance(metadata, pd.DataFrame):
        raise InputError(
            Argument("metadata"),
            f" must be a DataFrame or the path of a CSV, got {type(metadata).__name__}.",
            argument="metadata",
        )
    return _checked(_with_names(metadata), "metadata")


def _checked(metadata: pd.DataFrame, argument: str, index: str = ", or make it the index, as text") -> pd.DataFrame:
    if "name" not in metadata.columns:
        raise InputError(
            Argument(argument),
            f" has no column 'name' among {examples(metadata.columns, 12)}. Rename the column that holds "
            f"the run tags to 'name'{index}; 'team', 'type' and 'pooled' are used where present.",
            argument=argument,
        )
    if metadata.columns.duplicated().any():
        twice = metadata.columns[metadata.columns.duplicated()]
        raise InputError(
            Argument(argument),
            f" has more than one column {examples(dict.fromkeys(twice))}. Rename or drop one.",
            argument=argument,
        )
    bare = [row for row, name in enumerate(metadata["name"]) if is_blank(name)]
    if bare:
        raise InputError(
            Argument(argument),
            " has no run name there. Fill in its 'name', or drop the row.",
            argument=argument,
            place=f"row {bare[0]:,}",
        )
    names = pd.Series([str(name) for name in metadata["name"]], index=metadata.index, dtype=object)
    again = names[names.duplicated()]
    if len(again):
        raise InputError(
            Argument(argument),
            f" has more than one row for {examples(dict.fromkeys(again))}. Keep one row per run.",
            argument=argument,
        )
    return metadata.assign(name=names)


def read_lines(path: str | Path, argument: str, expected: str) -> list[str]:
    """Return the lines of a text file that may be packed; bytes that are not UTF-8 are kept as in run files.

    Args:
        path: of the file.
        argument: that named it.
        expected: what such a file is.

    Raises:
        InputError: no such file, one that cannot be read or is no text, an empty one.
    """
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
