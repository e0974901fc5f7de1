"""Which runs of a table meet conditions on name, team, type and pooled flag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, examples, flag, shown
from pt_reuse._errors import Aside, Call, InputError, Option, warn
from pt_reuse.runs.units import column_of, how_to_give

#: condition -> column of a table of runs
_COLUMNS = {"names": "name", "team": "team", "type": "type", "family": "family", "task": "task"}


def chosen_rows(
    table: pd.DataFrame,
    *,
    pooled: bool | None = None,
    shown_by: str = "`runs.run_table`",
    **conditions: str | Iterable[str] | None,
) -> NDArray[np.bool_]:
    """Return which rows of a table of runs meet every condition that is not None; at least one does.

    Args:
        table: one row per run.
        pooled: True for the runs on record as pooled, False for those on record as not pooled.
        shown_by: what shows the table to the user.
        **conditions: ``names``, ``team``, ``type``, ``family``, ``task``: a value or several.

    Raises:
        InputError: a value that no run has, `pooled` where nothing is on record, or no run left.
    """
    chosen = np.ones(len(table), dtype=bool)
    for condition, values in checked_conditions(pooled=pooled, **conditions).items():
        if condition == "pooled":
            continue
        column = column_of(table, condition) if condition == "family" else table[_COLUMNS[condition]]
        known = [value for value in dict.fromkeys(column) if isinstance(value, str) and value]
        for value in values:
            check_known("run" if condition == "names" else condition, value, known, argument=condition)
        chosen &= column.isin(values).to_numpy()
    if pooled is not None:
        chosen &= _recorded(table["pooled"], bool(pooled), chosen)
    if not chosen.any():
        raise InputError(f"no run meets all conditions. See {shown_by} for what there is.")
    return chosen


def checked_conditions(*, pooled: bool | None = None, **conditions: str | Iterable[str] | None) -> dict[str, Any]:
    """Return the conditions that are not None, each with a list of values, ``pooled`` with its flag.

    Raises:
        InputError: something that is no flag, or no text and not several.
    """
    checked: dict[str, Any] = {
        condition: _several(condition, wanted) for condition, wanted in conditions.items() if wanted is not None
    }
    return checked if pooled is None else {**checked, "pooled": flag("pooled", pooled)}


def _recorded(column: pd.Series, pooled: bool, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which runs are on record as pooled, or as not; tell of runs of which neither is on record."""
    unknown = column.isna().to_numpy()
    if unknown.all() and len(unknown):
        raise InputError(
            "who was pooled is not on record. Leave out ",
            Option("pooled", pooled),
            ", or say it first: ",
            Call("runs.with_metadata", "pooled=..."),
            "; ",
            Call("infer_pool", "runs, qrels"),
            " says which runs must have contributed.",
            argument="pooled",
        )
    left = int((unknown & among).sum())
    if left:
        warn(f"{count(left, 'run')} left out: not on record whether pooled.")
    return column.astype("boolean").fillna(not pooled).to_numpy(dtype=bool) == pooled


def check_known(what: str, value: Any, known: list[str], *, argument: str | None = None) -> None:
    """Raise when `value`, a `what`, is not among those known; the error names what is near."""
    if isinstance(value, str) and value in known:
        return
    if not known:
        advice = (
            (" Give ", *how_to_give(what), Aside(" when reading the runs"), ".")
            if what in ("team", "type", "family")
            else ()
        )
        raise InputError(f"no {what} {shown(value)}; no run has a {what}.", *advice, argument=argument)
    raise InputError(
        f"no {what} {shown(value)} among {examples(known)}.{did_you_mean(value, known)}", argument=argument
    )


def _several(argument: str, given: Any) -> list[Any]:
    if isinstance(given, str):
        return [given]
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{argument} must be a text or several, got {shown(given)}.", argument=argument)
    return list(given)
