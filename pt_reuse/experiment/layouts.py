"""The two layouts of a frame of means: wide, a column per number of each measure; long, a row per measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import choice
from pt_reuse._errors import InputError, Option
from pt_reuse.experiment.columns import COUNTS, NO_FIELD, RANKS

#: what `layout=` may be, the default first
LAYOUTS = ("wide", "long")
#: what pt.Experiment adds to a measure beside a baseline
OF_BASELINE = ("+", "-", "p-value", "reject", "p-value corrected")
#: columns that follow from others, which a row of the long layout has no room for: it is rank + drop
_FOLLOWS = frozenset(f"LOU rank{end}" for end in ("", NO_FIELD))
#: columns of whole numbers, empty for the baseline itself or for a time
_WHOLE = (*RANKS, *COUNTS, "+", "-")
#: the mean response time, a column of pt.Experiment that is no measure
TIME = "mrt"


def check_layout(layout: Any, arguments: Mapping[str, Any]) -> None:
    """Raise unless `layout` is one, and possible for what else is asked of pt.Experiment."""
    choice("layout", layout, LAYOUTS)
    if layout != "long":
        return
    if not arguments["dataframe"]:
        raise InputError(
            "the dicts of ",
            Option("dataframe", False),
            " have no layout. Leave one of the two out.",
            argument="layout",
        )
    if arguments.get("highlight") is not None:
        raise InputError(
            "",
            Option("highlight", ...),
            " marks the best value of each column, and a column of the long layout holds several measures. Leave one "
            "of the two out.",
            argument="layout",
        )


def in_layout(result: Any, layout: str, perquery: bool | str, long: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    """Return a result in the layout asked for; a frame by topic has a row per measure in either."""
    if layout == "wide" or perquery is True:
        return result
    if perquery == "both":
        both = long(result[0]), result[1]
        return type(result)(*both) if hasattr(result, "_fields") else both
    return long(result)


def to_long(wide: pd.DataFrame, measures: Iterable[str], added: Iterable[str]) -> pd.DataFrame:
    """Return a frame of means as one row per system and measure, systems first.

    `wide`: ``name``, the measures, and for a measure m columns such as ``m p-value`` and ``m LOU``.
    """
    rows = [measure for measure in [*dict.fromkeys(measures), TIME] if measure in wide.columns]
    suffixes = [*OF_BASELINE, *(column for column in added if column not in _FOLLOWS)]
    parts = []
    for i, measure in enumerate(rows):
        part = pd.DataFrame({"name": wide["name"].to_numpy(), "measure": measure, "value": wide[measure].to_numpy()})
        for suffix in suffixes:
            if f"{measure} {suffix}" in wide.columns:
                part[suffix] = wide[f"{measure} {suffix}"].to_numpy()
        parts.append(part.set_index(np.arange(len(wide)) * len(rows) + i))
    long = pd.concat(parts).sort_index()
    there = [column for column in ("name", "measure", "value", *suffixes) if column in long.columns]
    long = long[there].reset_index(drop=True)
    for column in _WHOLE:
        if column in long.columns and not pd.api.types.is_integer_dtype(long[column]):
            long[column] = long[column].astype("Int64")
    long.attrs = dict(wide.attrs)
    return long
