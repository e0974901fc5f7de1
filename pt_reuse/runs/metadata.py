"""The table of runs: team and type of each, and whether it was pooled, where somebody recorded it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import Argument, InputError, Option, warn
from pt_reuse.runs.labels import LabelsOf, RunLabels, is_blank, is_missing, read_labels, read_metadata, read_pooled

#: column of a table of runs -> the argument that gives it
_ARGUMENTS = {"team": "teams", "type": "types", "pooled": "pooled"}
_TRUE = {"true", "yes", "y", "1", "1.0", "pooled"}
_FALSE = {"false", "no", "n", "0", "0.0", "unpooled"}


@dataclass(frozen=True)
class GivenMetadata:
    """What a user gives to label runs with, read and checked as far as that goes before the runs are known.

    Attributes:
        frame: what is given as ``metadata``, None where nothing is.
        labels: ``"team"``, ``"type"`` or ``"pooled"`` -> what says it of each run; those given alone.
        all_pooled: one flag for all runs, None where none is given.
    """

    frame: pd.DataFrame | None
    labels: Mapping[str, LabelsOf]
    all_pooled: bool | None

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs that are given, for some of the runs at least."""
        frame = pd.DataFrame() if self.frame is None else self.frame
        filled = {str(column) for column in frame.columns if not all(map(is_blank, frame[column]))}
        return filled | set(self.labels) | ({"pooled"} if self.all_pooled is not None else set())

    def table(self, names: Sequence[str], base: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return one row per run, as :func:`make_run_table` does."""
        if base is None:
            table = pd.DataFrame(
                {"name": pd.Series(list(names), dtype=object), "team": None, "type": None, "pooled": pd.NA}
            )
        else:
            table = base.copy()

        def fill(column: str, mapping: Mapping[str, Any], argument: str, *, required: bool) -> None:
            old = table[column].tolist() if column in table.columns else [None] * len(table)
            needed = required and not (base is not None and column in base.columns)
            values = _values(names, mapping, column, argument, needed=needed, kept=required, old=old)
            if column == "pooled":
                values = [_as_flag(name, value, argument) for name, value in zip(names, values, strict=True)]
            kinds = {type(value) for value in values if not is_missing(value)}
            if str in kinds:
                values = [None if is_missing(value) else value for value in values]
            # a column of texts stays one, whatever pandas makes of it
            table[column] = pd.Series(
                values, dtype=object if str in kinds or len(kinds) != 1 else None, index=table.index
            )

        if self.frame is not None:
            for column in self.frame.columns.drop("name"):
                mapping = dict(zip(self.frame["name"], self.frame[column], strict=True))
                fill(column, mapping, "metadata", required=column in ("team", "pooled"))
            _warn_of_strangers("metadata", self.frame["name"], names)
        for column, labels in self.labels.items():
            given = labels(names)
            fill(column, given, _ARGUMENTS[column], required=True)
            _warn_of_strangers(_ARGUMENTS[column], given, names)
        if self.all_pooled is not None:
            table["pooled"] = self.all_pooled
        table["pooled"] = table["pooled"].astype("boolean")
        for column in ("team", "type"):
            table[column] = pd.Series([None if is_blank(v) else str(v).strip() for v in table[column]], dtype=object)
        return table


def given_metadata(
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
) -> GivenMetadata:
    """Read what a user gives to label runs with, as :func:`make_run_table` takes it.

    Raises:
        InputError: something of another kind, a file that cannot be read, a run with two values.
    """
    frame = None if metadata is None else read_metadata(metadata)
    labels = {}
    for column, given in (("team", teams), ("type", types)):
        if given is not None:
            labels[column] = read_labels(given, column, _ARGUMENTS[column])
    if isinstance(pooled, bool | np.bool_):
        return GivenMetadata(frame, labels, bool(pooled))
    if pooled is not None:
        labels["pooled"] = read_pooled(pooled)
    return GivenMetadata(frame, labels, None)


def make_run_table(
    names: Sequence[str],
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    base: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return one row per run: ``name team type pooled`` and every further column of `metadata`.

    A team or type that nobody gave is None. ``pooled`` is of the dtype ``boolean``: True, False, or <NA> where nobody
    recorded it; an empty cell records nothing. With `base`, the table of the same runs, all that is not given stays as
    it is there, and a run that is not named anew keeps what it had.

    Args:
        names: the runs, in the order of the rows.
        teams: run name -> team, as :func:`read_runs` takes it.
        types: run name -> type.
        pooled: which runs contributed to the pool: names, run name -> true or false, or one bool for all.
        metadata: one row per run, with ``name`` and any of ``team``, ``type``, ``pooled`` and others.
        base: a table of the same runs.

    Raises:
        InputError: a run without the team, type or flag that others are given, a flag that is neither true nor false.
    """
    return given_metadata(teams=teams, types=types, pooled=pooled, metadata=metadata).table(names, base)


def record_in_words(pooled: pd.Series) -> str:
    """Return how many runs were pooled, as far as it is on record, in few words.

    Args:
        pooled: the column of a table of runs.
    """
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


def _values(
    names: Sequence[str],
    mapping: Mapping[str, Any],
    column: str,
    argument: str,
    *,
    needed: bool,
    kept: bool,
    old: list[Any],
) -> list[Any]:
    """Return the value of each run; `needed`: of every run, `kept`: an empty cell leaves the run what it had."""
    if not any(name in mapping for name in names):
        has = f"it has {examples(mapping)}" if mapping else "it is empty"
        raise InputError(
            Argument(argument),
            f" names none of the {count(len(names), 'run')} ({examples(names)}); {has}. Are these the run tags? ",
            Option("names", "file"),
            " takes run names from the file names instead.",
            argument=argument,
        )
    filled = {name for name in names if name in mapping and not (kept and is_blank(mapping[name]))}
    # an empty flag records nothing, and that may be said; an empty team may not
    lacking = [name for name in names if name not in (mapping if column == "pooled" else filled)]
    if needed and lacking:
        who = f"{count(len(lacking), 'run')}: {examples(lacking)}"
        problem = f" has no {column} for {who}. Add them, or leave those runs out."
        if column == "pooled":
            problem = f" says nothing of {who}. Add true or false, or nothing where nobody recorded it."
        raise InputError(Argument(argument), problem, argument=argument)
    return [mapping[name] if name in filled else old[i] for i, name in enumerate(names)]


def _warn_of_strangers(argument: str, given: Iterable[str], names: Sequence[str]) -> None:
    known = set(names)
    strangers = [name for name in given if name not in known]
    if strangers:
        warn(Argument(argument), f" has {count(len(strangers), 'name')} not among the runs: {examples(strangers)}.")


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
