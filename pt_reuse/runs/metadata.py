"""Who stands behind a run: its team, its type, whether it was pooled, from whatever table the user has."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, warn
from pt_reuse.formats.files import UnreadableError, read_bytes

#: what names a column of run metadata: a mapping, a frame or series, or the path of a two-column file or CSV
RunLabels = Mapping[str, Any] | pd.Series | pd.DataFrame | str | Path
#: what the column ``pooled_source`` says of runs that count as pooled because nobody knows who was
ASSUMED = "assumed"
_TRUE = {"true", "yes", "y", "1", "1.0", "pooled"}
_FALSE = {"false", "no", "n", "0", "0.0", "unpooled"}
_WHITE = " \t\n\r\v\f"
#: what the column of run names may be called in a file with two columns
_RUN_WORDS = ("run", "tag", "name", "runtag", "run_tag", "runid", "run_id")
_SEPARATORS = (",", "\t", ";", "|")


def make_run_table(
    names: Sequence[str],
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    base: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return one row per run: name, team, type, pooled and every further column of `metadata`.

    A team or type that nobody gave is None; without `pooled` every run counts as pooled. With `base`, the table of the
    same runs, all that is not given stays as it is there, and a run that is not named anew keeps what it had.
    """
    if base is None:
        table = pd.DataFrame({"name": pd.Series(list(names), dtype=object), "team": None, "type": None, "pooled": True})
    else:
        table = base.copy()

    def fill(column: str, mapping: Mapping[str, Any], argument: str, *, required: bool) -> None:
        old = table[column].tolist() if base is not None and column in base.columns else None
        values = _values(names, mapping, column, argument, required=required, old=old)
        kinds = {type(value) for value in values if not _missing(value)}
        if str in kinds:
            values = [None if _missing(value) else value for value in values]
        # a column of texts stays one, whatever pandas makes of it
        table[column] = pd.Series(values, dtype=object if str in kinds or len(kinds) != 1 else None, index=table.index)

    if metadata is not None:
        frame = _read_metadata(metadata)
        for column in frame.columns.drop("name"):
            mapping = dict(zip(frame["name"], frame[column], strict=True))
            fill(column, mapping, "metadata", required=column in ("team", "pooled"))
    for column, argument, labels in (("team", "teams", teams), ("type", "types", types)):
        if labels is not None:
            fill(column, _mapping(labels, column, argument, names), argument, required=True)
    if base is not None and "pooled_source" in base.columns:
        said = pooled is not None or (metadata is not None and "pooled" in _read_metadata(metadata).columns)
        table = table.drop(columns="pooled_source") if said else table
    if isinstance(pooled, bool | np.bool_):
        table["pooled"] = bool(pooled)
    elif pooled is not None:
        fill("pooled", _pooled_mapping(names, pooled), "pooled", required=True)
    table["pooled"] = pd.Series([_as_bool(n, v) for n, v in zip(names, table["pooled"], strict=True)], dtype=bool)
    for column in ("team", "type"):
        table[column] = pd.Series([None if _blank(v) else str(v).strip() for v in table[column]], dtype=object)
    return table


def pool_note(table: pd.DataFrame) -> str:
    """Return what must be said of the pooled flags of a table of runs, nothing where somebody gave them."""
    assumed = "pooled_source" in table.columns and bool((table["pooled_source"] == ASSUMED).any())
    return "who was pooled is not on record: all count" if assumed else ""


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


def _read_metadata(metadata: pd.DataFrame | str | Path) -> pd.DataFrame:
    where = "metadata"
    if isinstance(metadata, str | Path):
        where = f"metadata {metadata}"
        metadata = _read_csv(metadata, where)
    elif not isinstance(metadata, pd.DataFrame):
        raise InputError(f"{where}: expected a DataFrame or the path of a CSV, got {type(metadata).__name__}.")
    if "name" not in metadata.columns:
        raise InputError(
            f"{where}: no column 'name' among {examples(metadata.columns, 12)}. Rename the column that holds the run "
            f"tags to 'name'; 'team', 'type' and 'pooled' are used where present."
        )
    if metadata.columns.duplicated().any():
        twice = metadata.columns[metadata.columns.duplicated()]
        raise InputError(f"{where}: {examples(dict.fromkeys(twice))} is more than one column. Rename or drop one.")
    if any(_blank(name) for name in metadata["name"]):
        row = next(i for i, name in enumerate(metadata["name"]) if _blank(name))
        raise InputError(f"{where}: row {row:,} has no run name. Fill in its 'name', or drop the row.")
    names = pd.Series([str(name) for name in metadata["name"]], index=metadata.index, dtype=object)
    twice = names[names.duplicated()]
    if len(twice):
        raise InputError(
            f"{where}: {examples(dict.fromkeys(twice))} stands in more than one row. Keep one row per run."
        )
    return metadata.assign(name=names)


def _read_text(path: str | Path, where: str, expected: str) -> list[str]:
    # the lines of a text file that may be packed; bytes that are not UTF-8 are kept as in run files
    try:
        if "\0" in str(path) or not Path(path).exists() or Path(path).is_dir():
            raise InputError(f"{where}: no such file. Give {expected}.")
        data = read_bytes(Path(path))
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}.") from error
    except UnreadableError as error:
        raise InputError(f"{where} {error}. Give {expected}.") from error
    if b"\0" in data:
        raise InputError(f"{where}: a NUL byte, so this is not a plain text file (UTF-16?). Give {expected}, as UTF-8.")
    if not data.strip():
        raise InputError(f"{where}: the file is empty. Give {expected}.")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _read_csv(path: str | Path, where: str) -> pd.DataFrame:
    lines = _read_text(path, where, "the path of a CSV with a header, or a DataFrame")
    separator = max(_SEPARATORS, key=lines[0].count)
    rows: list[list[str]] = []
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator, strict=True)
    try:
        for row in reader:
            cells = [cell.strip(_WHITE) for cell in row]
            if rows and any(cells) and len(cells) != len(rows[0]):
                raise InputError(
                    f"{where}, line {reader.line_num:,}: {count(len(cells), 'cell')} where the header has "
                    f"{len(rows[0]):,}. Give every line as many cells as the header."
                )
            if any(cells) or not rows:
                rows.append(cells)
    except csv.Error as error:
        raise InputError(
            f"{where}, line {reader.line_num:,}: cannot be read as CSV ({error}). Mend the line."
        ) from error
    header = rows[0] if rows else []
    columns = {i: pd.Series([row[i] for row in rows[1:]], dtype=object) for i in range(len(header))}
    return pd.DataFrame(columns).set_axis(header, axis=1)


def _mapping(labels: RunLabels, column: str, argument: str, names: Sequence[str]) -> dict[str, Any]:
    if isinstance(labels, pd.DataFrame):
        called = [name for name in labels.columns if str(name).lower() in _RUN_WORDS]
        named = labels.rename(columns={called[0]: "name"}) if len(called) == 1 else labels
        if not {"name", column} <= set(named.columns):
            raise InputError(
                f"{argument}: a DataFrame must have the columns 'name' and {column!r}, "
                f"got {examples(labels.columns, 12)}."
            )
        frame = _read_metadata(named)
        return dict(zip(frame["name"], frame[column], strict=True))
    if isinstance(labels, pd.Series | Mapping):
        found: dict[str, Any] = {}
        for name, value in labels.items():
            if str(name) in found:
                raise InputError(f"{argument}: {str(name)!r} stands more than once. Keep one {column} per run.")
            found[str(name)] = value
        return found
    if isinstance(labels, str | Path):
        return _read_two_columns(labels, column, argument, names)
    raise InputError(
        f"{argument}: expected a dict, a Series, a DataFrame, or the path of a two-column file, "
        f"got {type(labels).__name__}."
    )


def _read_two_columns(path: str | Path, column: str, argument: str, names: Sequence[str]) -> dict[str, Any]:
    where = f"{argument} {path}"
    lines = _read_text(path, where, f"a file with two columns, run tag and {column}, or a dict")
    for separator in _SEPARATORS:
        if {"name", column} <= {cell.strip().strip('"') for cell in lines[0].split(separator)}:
            return _mapping(_read_csv(path, where), column, argument, names)
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
                f"{where}, line {number:,}: expected two columns, run tag and {column}, got {line.strip(_WHITE)!r}. "
                f"Separate them by white space or one comma."
            )
        name, value = cells
        if found.setdefault(name, value) != value:
            raise InputError(
                f"{where}, line {number:,}: run {name!r} has {column} {value!r} here and {found[name]!r} in line "
                f"{first[name]:,}. Keep one line per run."
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


def _pooled_mapping(names: Sequence[str], pooled: RunLabels | Collection[str]) -> dict[str, Any]:
    if isinstance(pooled, str | Path):
        expected = "a file with one run name a line, a two-column file, a list of names, or a dict"
        lines = _read_text(pooled, f"pooled {pooled}", expected)
        listed = [line.strip(_WHITE) for line in lines]
        listed = [line for line in listed if line and (not line.startswith("#") or line in names)]
        if any(line not in names and len(line.replace(",", " ").split()) > 1 for line in listed):
            return _mapping(pooled, "pooled", "pooled", names)
        pooled = listed
    if isinstance(pooled, pd.DataFrame | pd.Series | Mapping):
        return _mapping(pooled, "pooled", "pooled", names)
    if isinstance(pooled, bytes) or not isinstance(pooled, Iterable):
        raise InputError(
            f"pooled: expected run names, a mapping of run name to true or false, a file, or one bool, got {pooled!r}."
        )
    chosen = dict.fromkeys((str(name) for name in pooled), True)
    known = set(names)
    if chosen and not known & set(chosen):
        raise InputError(
            f"pooled: names none of the {count(len(names), 'run')} ({examples(names)}); it has {examples(chosen)}. "
            f"Are these the run tags?"
        )
    return {**dict.fromkeys(names, False), **chosen}


def _values(
    names: Sequence[str],
    mapping: Mapping[str, Any],
    column: str,
    argument: str,
    *,
    required: bool,
    old: list[Any] | None,
) -> list[Any]:
    if not any(name in mapping for name in names):
        has = f"it has {examples(mapping)}" if mapping else "it is empty"
        raise InputError(
            f"{argument}: names none of the {count(len(names), 'run')} ({examples(names)}); {has}. "
            f"Are these the run tags? names='file' takes run names from the file names instead."
        )
    given = {name for name in names if name in mapping and not (required and _blank(mapping[name]))}
    lacking = [name for name in names if name not in given]
    if required and lacking and old is None:
        what = "pooled flag" if column == "pooled" else column
        raise InputError(
            f"{argument}: no {what} for {count(len(lacking), 'run')}: {examples(lacking)}. Add them, or leave those "
            f"runs out."
        )
    known = set(names)
    strangers = [name for name in mapping if name not in known]
    if strangers:
        warn(
            f"{argument}: {count(len(strangers), 'name')} not among the runs: {examples(strangers)}.",
        )
    return [mapping[name] if name in given else old[i] if old is not None else None for i, name in enumerate(names)]


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _blank(value: Any) -> bool:
    return _missing(value) or (isinstance(value, str) and not value.strip())


def _as_bool(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise InputError(f"pooled: run {name!r} has {value!r}; expected true or false (yes/no, 1/0).")
