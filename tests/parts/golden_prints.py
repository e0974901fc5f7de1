"""What a call of the golden harness comes to: its tables, settings, warnings and errors, exactly and as prints."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import pt_reuse as ptr

#: by how much numbers may differ from machine to machine
CLOSE = 1e-9


def outcome(call: Callable[[], Any]) -> dict[str, Any]:
    """Return what a call comes to: tables by name, settings, and kinds of warnings; or the error and its argument."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except Exception as error:  # whatever it is, it is what the user meets
            return {"error": type(error).__name__, "argument": getattr(error, "argument", None)}
    told = {f"{type(one.message).__name__} {getattr(one.message, 'argument', None) or ''}".strip() for one in caught}
    settings = dict(getattr(found, "settings", None) or {})
    # when a label was given is another time each time
    tables = {name: frame.drop(columns="time", errors="ignore") for name, frame in tables_of(found).items()}
    return {"tables": tables, "settings": settings, "warnings": sorted(told)}


def tables_of(found: Any) -> dict[str, pd.DataFrame]:
    """Return the tables of whatever a function of the package returns."""
    if isinstance(found, pd.DataFrame):
        return {"table": found}
    if isinstance(found, ptr.RunSet):
        return {"frame": found.to_frame(), "run_table": found.run_table}
    if hasattr(found, "tables"):
        return found.tables()
    return {"frame": found.to_frame()}


def prints(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return an outcome in a few numbers for each column, small enough to be kept beside the tests."""
    if "error" in found:
        return dict(found)
    tables = {name: _of_table(frame) for name, frame in found["tables"].items()}
    return {"tables": tables, "settings": sorted(found["settings"]), "warnings": found["warnings"]}


def _of_table(frame: pd.DataFrame) -> dict[str, Any]:
    """Return how many rows there are, a weighted sum of each column of numbers, and what tells all else apart."""
    columns = [(str(name), frame.iloc[:, n]) for n, name in enumerate(frame.columns)]
    numbers = {name: column for name, column in columns if pd.api.types.is_float_dtype(column)}
    rest = {name: column.astype(object).map(repr_of) for name, column in columns if name not in numbers}
    gaps = [np.flatnonzero(~np.isfinite(column.to_numpy(dtype=float, na_value=np.nan))) for column in numbers.values()]
    told = _digest(list(dict(columns)), *rest.values(), *(gap.astype(str) for gap in gaps))
    return {"rows": len(frame), "rest": told, **{name: _weighted(column) for name, column in numbers.items()}}


def _weighted(column: pd.Series) -> float:
    values = column.to_numpy(dtype=float, na_value=np.nan)
    weights = 1 + np.arange(len(values)) % 97 / 97
    return float(f"{(values * weights)[np.isfinite(values)].sum():.12g}")


def repr_of(value: Any) -> str:
    """Return a cell as text; numbers of whatever kind alike."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.9g}"
    return "missing" if value is None or value is pd.NA or value is pd.NaT else str(value)


def _digest(*texts: Any) -> str:
    return hashlib.sha256("\0".join("\n".join(part) for part in texts).encode("utf-8", "replace")).hexdigest()[:12]


def differences(now: Any, before: Any, place: str = "") -> list[str]:
    """Return where two prints differ, numbers by more than `CLOSE`."""
    if isinstance(now, dict) and isinstance(before, dict):
        found = [f"{place}/{name}: gone" for name in before.keys() - now.keys()]
        found += [f"{place}/{name}: new" for name in now.keys() - before.keys()]
        return found + [d for n in now.keys() & before.keys() for d in differences(now[n], before[n], f"{place}/{n}")]
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        return [d for n, pair in enumerate(zip(now, before, strict=True)) for d in differences(*pair, f"{place}[{n}]")]
    if isinstance(now, float) and isinstance(before, float):
        return [] if abs(now - before) <= CLOSE * max(1, abs(before)) else [f"{place}: {before} is now {now}"]
    return [] if now == before else [f"{place}: {before} is now {now}"]
