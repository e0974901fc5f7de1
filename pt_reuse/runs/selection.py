"""Which runs of a table meet conditions on name, team, type and pooled flag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import examples
from pt_reuse._errors import InputError

#: condition -> column of a table of runs
_COLUMNS = {"names": "name", "team": "team", "type": "type", "task": "task"}


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
        pooled: True for the runs that were pooled, False for the others.
        shown_by: what shows the table to the user.
        **conditions: ``names``, ``team``, ``type``, ``task``: a value or several.

    Raises:
        InputError: a value that no run has, or no run left.
    """
    chosen = np.ones(len(table), dtype=bool)
    for condition, wanted in conditions.items():
        if wanted is None:
            continue
        column = table[_COLUMNS[condition]]
        known = [value for value in dict.fromkeys(column) if isinstance(value, str) and value]
        values = _several(condition, wanted)
        for value in values:
            check_known("run" if condition == "names" else condition, value, known)
        chosen &= column.isin(values).to_numpy()
    if pooled is not None:
        if not isinstance(pooled, bool | np.bool_):
            raise InputError(f"pooled must be True or False, got {pooled!r}.")
        chosen &= table["pooled"].to_numpy(dtype=bool) == pooled
    if not chosen.any():
        raise InputError(f"no run meets all conditions. See {shown_by} for what there is.")
    return chosen


def check_known(what: str, value: Any, known: list[str]) -> None:
    """Raise when `value`, a `what`, is not among those known; the error names what is near."""
    if isinstance(value, str) and value in known:
        return
    if not known:
        advice = f" Give {what}s= when reading the runs." if what in ("team", "type") else ""
        raise InputError(f"no {what} {value!r}; no run has a {what}.{advice}")
    near = get_close_matches(str(value), known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"no {what} {value!r} among {examples(known)}.{hint}")


def _several(argument: str, given: Any) -> list[Any]:
    if isinstance(given, str):
        return [given]
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{argument} must be a text or several, got {given!r}.")
    return list(given)
