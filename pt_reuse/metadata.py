"""Who stands behind a run: its team, its type, whether it was pooled, from whatever table the user has."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import InputError, ReuseWarning, count, examples

#: what names a column of run metadata: a mapping, a frame or series, or the path of a two-column file or CSV
Labels = Mapping[str, Any] | pd.Series | pd.DataFrame | str | Path
_TRUE, _FALSE = {"true", "yes", "y", "1", "pooled"}, {"false", "no", "n", "0", "unpooled"}


def run_table(
    names: Sequence[str],
    *,
    teams: Labels | None = None,
    types: Labels | None = None,
    pooled: Labels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
) -> pd.DataFrame:
    """Return one row per run: name, team, type, pooled and every further column of `metadata`.

    A team or type that nobody gave is None; without `pooled` every run counts as pooled.
    """
    table = pd.DataFrame({"name": pd.Series(list(names), dtype=object), "team": None, "type": None, "pooled": True})
    if metadata is not None:
        frame = _read_metadata(metadata)
        for column in frame.columns.drop("name"):
            mapping = dict(zip(frame["name"], frame[column], strict=True))
            table[column] = _values(names, mapping, column, "metadata", required=column in ("team", "pooled"))
    if teams is not None:
        table["team"] = _values(names, _mapping(teams, "team", "teams"), "team", "teams", required=True)
    if types is not None:
        table["type"] = _values(names, _mapping(types, "type", "types"), "type", "types", required=True)
    if isinstance(pooled, bool):
        table["pooled"] = pooled
    elif pooled is not None:
        table["pooled"] = _values(names, _pooled_mapping(names, pooled), "pooled", "pooled", required=True)
    table["pooled"] = pd.Series([_as_bool(n, v) for n, v in zip(names, table["pooled"], strict=True)], dtype=bool)
    for column in ("team", "type"):
        table[column] = pd.Series([None if _blank(v) else str(v) for v in table[column]], dtype=object)
    return table


def _read_metadata(metadata: pd.DataFrame | str | Path) -> pd.DataFrame:
    where = "metadata"
    if not isinstance(metadata, pd.DataFrame):
        where = f"metadata {metadata}"
        metadata = _read_csv(metadata, where)
    if "name" not in metadata.columns:
        raise InputError(
            f"{where}: no column 'name' among {examples(metadata.columns, 12)}. Rename the column that holds the run "
            f"tags to 'name'; 'team', 'type' and 'pooled' are used where present."
        )
    names = metadata["name"].astype(str)
    twice = names[names.duplicated()]
    if len(twice):
        raise InputError(f"{where}: {examples(dict.fromkeys(twice))} stands in more than one row. Keep one row per run.")
    return metadata.assign(name=names)


def _read_csv(path: str | Path, where: str) -> pd.DataFrame:
    if not Path(path).is_file():
        raise InputError(f"{where}: no such file. Give the path of a CSV with a header, or a DataFrame.")
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, sep=None, engine="python")
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise InputError(f"{where}: cannot be read as a CSV with a header ({error}).") from error


def _mapping(labels: Labels, column: str, argument: str) -> dict[str, Any]:
    if isinstance(labels, pd.DataFrame):
        if not {"name", column} <= set(labels.columns):
            raise InputError(
                f"{argument}: a DataFrame must have the columns 'name' and {column!r}, got {examples(labels.columns, 12)}."
            )
        labels = _read_metadata(labels).set_index("name")[column]
    if isinstance(labels, pd.Series):
        return {str(name): value for name, value in labels.items()}
    if isinstance(labels, Mapping):
        return {str(name): value for name, value in labels.items()}
    if isinstance(labels, str | Path):
        return _read_two_columns(Path(labels), column, argument)
    raise InputError(
        f"{argument}: expected a dict, a Series, a DataFrame, or the path of a two-column file, got {type(labels).__name__}."
    )


def _read_two_columns(path: Path, column: str, argument: str) -> dict[str, str]:
    where = f"{argument} {path}"
    if not path.is_file():
        raise InputError(f"{where}: no such file. Give a file with two columns, run tag and {column}, or a dict.")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: cannot be read ({error}).") from error
    header = [cell.strip() for cell in lines[0].split(",")] if lines else []
    if {"name", column} <= set(header):
        return _mapping(_read_csv(path, where), column, argument)
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.split(",")] if "," in line else line.split(None, 1)
        if not line.strip() or line.startswith("#"):
            continue
        if len(cells) != 2:
            raise InputError(f"{where}, line {number}: expected two columns, run tag and {column}, got {line.strip()!r}.")
        name, value = cells[0], cells[1].strip()
        if found.setdefault(name, value) != value:
            raise InputError(f"{where}, line {number}: run {name!r} was given {column} {found[name]!r} before, now {value!r}.")
    return found


def _pooled_mapping(names: Sequence[str], pooled: Labels | Collection[str]) -> dict[str, Any]:
    if isinstance(pooled, str | Path):
        path = Path(pooled)
        lines = path.read_text(encoding="utf-8-sig").splitlines() if path.is_file() else []
        listed = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        if not listed or any(len(line.replace(",", " ").split()) > 1 for line in listed):
            return _mapping(path, "pooled", "pooled")
        pooled = listed
    if isinstance(pooled, pd.DataFrame | pd.Series | Mapping):
        return _mapping(pooled, "pooled", "pooled")
    chosen = {str(name) for name in pooled}
    return {**dict.fromkeys(names, False), **dict.fromkeys(chosen, True)}


def _values(names: Sequence[str], mapping: Mapping[str, Any], column: str, argument: str, *, required: bool) -> list[Any]:
    known = [name for name in names if name in mapping]
    if mapping and not known:
        raise InputError(
            f"{argument}: names none of the {count(len(names), 'run')} read ({examples(names)}); it has {examples(mapping)}. "
            f"Are these the run tags? names='file' takes run names from the file names instead."
        )
    lacking = [name for name in names if name not in mapping or (required and _blank(mapping[name]))]
    if required and lacking:
        raise InputError(
            f"{argument}: no {column} for {count(len(lacking), 'run')}: {examples(lacking)}. Add them, or leave those runs out."
        )
    strangers = [name for name in mapping if name not in set(names)]
    if strangers:
        warnings.warn(
            f"{argument}: {count(len(strangers), 'name')} not among the runs: {examples(strangers)}.",
            ReuseWarning,
            stacklevel=5,
        )
    return [mapping.get(name) for name in names]


def _blank(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value) or str(value).strip() == ""


def _as_bool(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if text in {"1.0", "0.0"}:
        return text == "1.0"
    raise InputError(f"pooled: run {name!r} has {value!r}; expected true or false (yes/no, 1/0).")
